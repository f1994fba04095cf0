"""Formats: pure functions from the players of a tournament and its pairings so far to further pairings.

Call a format at the start, and whenever a pairing ends or a player enters, withdraws or comes back. Add all
pairings that it returns to the tournament. It returns none while it waits for open pairings. The tournament
is over when no pairing is open and the format returns none.
"""

from collections import Counter, defaultdict, deque
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import chain, combinations
from typing import NamedTuple, Protocol, TypeAlias


class Pairing(NamedTuple):
    """Two players that play each other, or one that has a bye. Players have numbers from 0."""

    first: int
    """The player that has the first move in the first game."""
    second: int | None
    """None if `first` has a bye, which counts as a win."""
    round: int = 1
    """The number of the round, from 1."""


@dataclass(frozen=True, slots=True)
class Meeting:
    """A pairing of the tournament, and its result so far. Tuples are in the order of the two players."""

    pairing: Pairing
    is_over: bool
    """Whether all its games are over. Always true for a bye."""
    points: tuple[float, float] = (0.0, 0.0)
    """The game points of each player: 1, 0.5 or 0 for each game.

    The point of a forfeited game goes to the other player, or to neither if both were absent. For a bye, the
    first number is what the tournament grants for it, and the second one is 0.
    """
    thought: tuple[int, int] = (0, 0)
    """The thinking time of each player in these games, in milliseconds."""
    faults: tuple[int, int] = (0, 0)
    """The number of faults of each player in these games."""

    @property
    def score(self) -> tuple[float, float]:
        """The match points of each player: 1 for more game points, 0.5 for as many, but 0 if neither has any.

        A bye gives 1. The value has no meaning before the meeting is over.
        """
        one, two = self.points
        if self.pairing.second is None or one > two:
            return (1.0, 0.0)
        if one == two:
            return (0.5, 0.5) if one else (0.0, 0.0)
        return (0.0, 1.0)


class Field(NamedTuple):
    """The players of a tournament. They are numbered by seed: player 0 is the strongest."""

    players: int
    """The number of players that have entered. A latecomer gets the next number."""
    present: AbstractSet[int]
    """The players that have not withdrawn."""
    forbidden: AbstractSet[frozenset[int]] = frozenset()
    """The pairs of players that no format but the knockout pairs."""


Format: TypeAlias = Callable[[Field, Sequence[Meeting]], Sequence[Pairing]]
"""Takes the players and all meetings of a tournament; returns the pairings to be added."""


def fault_of(name: str, players: int, rounds: int | None = None) -> str | None:
    """Return in one line why so many players cannot play a format, or None if they can.

    `name` is "round-robin", "gauntlet", "swiss", "knockout" or "ladder". `rounds` is the number of rounds of
    a Swiss tournament if it has been chosen; no other format uses it.
    """
    title = {"round-robin": "round robin", "swiss": "Swiss tournament"}.get(name, name)
    if players < 2:
        return f"a {title} needs 2 players or more"
    if name != "swiss" or rounds is None:
        return None
    if rounds < 1:
        return "a Swiss tournament needs 1 round or more"
    # With an odd number each player also has a bye in one of the rounds.
    most = players - 1 + players % 2
    if rounds > most:
        plural = "" if most == 1 else "s"
        return f"{players} players can play {most} Swiss round{plural} without meeting twice, not {rounds}"
    return None


def swiss_fault() -> str | None:
    """Return in one line why no Swiss tournament can be played in this installation, or None if it can."""
    if find_spec("networkx") is None:
        return "Swiss needs networkx, which is not installed: pip install 'c4gateway[tournament]'"
    return None


# Round robin and gauntlet.


def round_robin(cycles: int = 1, groups: Sequence[Collection[int]] = ()) -> Format:
    """Return the format in which each two players meet `cycles` times, or each two of the same group.

    All pairings are added at once, in the order of Berger tables. A latecomer or a player that comes back
    gets the pairings with all present players that it has not had yet. If there are groups, each has a table
    of its own, all begin in round 1, and a player of no group does not play.
    """

    def added(field: Field, meetings: Sequence[Meeting]) -> list[Pairing]:
        pairs = list[tuple[int, int]]()
        for group in groups or (field.present,):
            present = sorted(field.present & {*group})
            pairs += ((present[one], present[two]) for one, two in chain(*berger(len(present))))
        return _complete(pairs, cycles, field, meetings)

    return added


def gauntlet(cycles: int = 1) -> Format:
    """Return the format in which player 0 meets each other player `cycles` times.

    All pairings are added at once. A latecomer or a player that comes back is paired with player 0, if that
    one is present.
    """

    def added(field: Field, meetings: Sequence[Meeting]) -> list[Pairing]:
        pairs = [(0, other) for other in sorted(field.present - {0})] if 0 in field.present else []
        return _complete(pairs, cycles, field, meetings)

    return added


def berger(players: int) -> list[list[tuple[int, int]]]:
    """Return the rounds of a Berger table: each two players meet once, and each player plays once in a round.

    With an odd number of players, one of them does not play in each round. Source: FIDE Handbook C.05, annex
    1.
    """
    count = players + players % 2
    last, half = count - 1, count // 2
    rounds = []
    for number in range(last):
        start = number * half % last
        circle = [(start + step) % last for step in range(last)]
        pairs = [(last, circle[0]) if number % 2 else (circle[0], last)]
        pairs += [(circle[step], circle[-step]) for step in range(1, half)]
        rounds.append([pair for pair in pairs if max(pair) < players])
    return rounds


def _complete(
    pairs: Sequence[tuple[int, int]], cycles: int, field: Field, meetings: Sequence[Meeting]
) -> list[Pairing]:
    """Return by rounds the pairings that are missing until each of `pairs` has been paired `cycles` times.

    Each pairing gets the earliest round in which neither player has another pairing. Rounds before that of
    the first open meeting are not used. The players change sides from cycle to cycle. Forbidden pairs are
    left out.
    """
    times = _count_pairings(meetings)
    latest = max((each.pairing.round for each in meetings), default=0)
    begin = min((each.pairing.round for each in meetings if not each.is_over), default=latest + 1)
    # Bit N of a player's number is set if the player has a pairing in round N.
    busy = defaultdict[int | None, int](int)
    for each in meetings:
        for player in each.pairing[:2]:
            busy[player] |= 1 << each.pairing.round
    added = []
    for cycle in range(cycles):
        for pair in pairs:
            if times[frozenset(pair)] > cycle or frozenset(pair) in field.forbidden:
                continue
            one, two = pair[::-1] if cycle % 2 else pair
            taken = busy[one] | busy[two] | ((1 << begin) - 1)
            lowest = ~taken & (taken + 1)  # the lowest bit that is not set
            busy[one] |= lowest
            busy[two] |= lowest
            added.append(Pairing(one, two, lowest.bit_length() - 1))
    return sorted(added, key=lambda pairing: pairing.round)


def _count_pairings(meetings: Iterable[Meeting]) -> Counter[frozenset[int | None]]:
    """Return how often each two players have been paired."""
    return Counter(frozenset(each.pairing[:2]) for each in meetings)


# Groups, and the players that go on from them to a second stage.


class Ranked(Protocol):
    """What `advancing` reads of a player's row of the standings."""

    @property
    def player(self) -> int: ...
    @property
    def points(self) -> float: ...
    @property
    def tie_breaks(self) -> Mapping[str, float]: ...


def split(players: Sequence[int], count: int) -> list[list[int]]:
    """Return `count` groups of the players, who are in the order of their seeds.

    The first players go to groups 1, 2, 3 and so on, the next ones to the groups from the last one back, and
    so to and fro. So the groups are about equally strong, and their sizes differ by one at most.
    """
    groups: list[list[int]] = [[] for _ in range(count)]
    for number, player in enumerate(players):
        row, column = divmod(number, count)
        groups[count - 1 - column if row % 2 else column].append(player)
    return groups


def group_name(number: int) -> str:
    """Return the name of a group by its number from 0: A to Z, then AA, AB and so on."""
    name = chr(ord("A") + number % 26)
    return name if number < 26 else group_name(number // 26 - 1) + name


def advancing(
    tables: Sequence[Sequence[Ranked]],
    advance: int,
    present: AbstractSet[int],
    meetings: Iterable[Meeting],
    *,
    is_bracket: bool,
) -> list[int]:
    """Return the players that go on to a second stage, in the order of their seeds in it.

    `tables` are the standings of each group, or those of all players if there are no groups. From each, the
    first `advance` players go on that are `present`, or all of them if it is 0; so the next player takes the
    place of one that has withdrawn. `meetings` are those of the first stage.

    Players are in the order of their places in the groups, then by their points for each meeting, and then by
    the tie breaks in their order, also for each meeting, since groups may differ in size. The points of
    opponents, too, are counted for each meeting of theirs. The direct comparison says nothing about players
    of different groups. Equal players are in the order of their numbers.

    If `is_bracket`, players of equal place change their seeds so that as few players as possible meet one of
    their own group in round 1 of a knockout.
    """
    groups = [[row for row in table if row.player in present][: advance or None] for table in tables]
    played = Counter(
        player for each in meetings if each.is_over for player in each.pairing[:2] if player is not None
    )

    def strength(row: Ranked) -> tuple[float, ...]:
        times = played[row.player] or 1
        values = [-row.points / times]
        for name, value in row.tie_breaks.items():
            if name in ("buchholz", "sonneborn-berger"):
                values.append(-value / times**2)
            elif name != "direct":
                values.append((value if name == "faults" else -value) / times)
        return *values, row.player

    rows = [
        (place, strength(row), number, row.player)
        for number, group in enumerate(groups)
        for place, row in enumerate(group)
    ]
    rows.sort()
    seeds = [player for _, _, _, player in rows]
    if is_bracket:
        group_of = {player: number for _, _, number, player in rows}
        _separate(seeds, [place for place, _, _, _ in rows], group_of)
    return seeds


def _separate(seeds: list[int], places: Sequence[int], group_of: Mapping[int, int]) -> None:
    """Exchange `seeds` of equal place so that as few of a group as possible meet in round 1 of a bracket.

    Where two players of a group meet, one of them is exchanged for another. That one is of another group, so
    only the player that left its seed can meet one of its own group again. Then one of these two is exchanged
    in turn. A breadth-first search finds the shortest such chain of exchanges.
    """
    last = len(order_seeds(len(seeds))) - 1
    for lower in range(last // 2 + 1, len(seeds)):
        group = group_of[seeds[lower]]
        queue, seen = deque([(seeds[:], lower)]), set[tuple[int, ...]]()
        while queue:
            order, seed = queue.popleft()
            met = last - seed
            if met >= len(order) or group_of[order[seed]] != group_of[order[met]]:
                seeds[:] = order
                break
            held = tuple(number for number, player in enumerate(order) if group_of[player] == group)
            if held in seen:
                continue
            seen.add(held)
            for old in sorted((seed, met), reverse=True):
                equal = [
                    number for number in range(len(order)) if places[number] == places[old] and number != old
                ]
                for new in sorted(equal, key=lambda number: abs(number - old)):
                    changed = order[:]
                    changed[old], changed[new] = changed[new], changed[old]
                    queue.append((changed, new))


# Swiss.


def swiss(rounds: int) -> Format:
    """Return the format of `rounds` rounds in which players with similar scores meet.

    A round is paired when the one before is over. With an odd number of players, one gets a bye: of the
    players with the fewest byes, the one with the lowest score, and of equal ones the one with the worst
    seed. If forbidden pairs leave no opponents for more players, there are further byes, as few as possible,
    for the next players in the same order.

    The other players are ranked by score, then by seed, and paired at the lowest cost. The cost of a round
    has three parts. The first one always outweighs the second, and the second the third. Each is a sum over
    pairs:

    - the square of the number of earlier pairings of the two players;
    - the square of their difference in score;
    - the distance in the ranking from the lower player to the place half a score group below the upper one.
      So the upper half of the players with the same score meets the lower half.

    Needs networkx: see `swiss_fault`.
    """

    def added(field: Field, meetings: Sequence[Meeting]) -> list[Pairing]:
        latest = max((each.pairing.round for each in meetings), default=0)
        if latest >= rounds or len(field.present) < 2 or not all(each.is_over for each in meetings):
            return []
        scores, byes = Counter[int](), Counter[int]()
        for each in meetings:
            first, second, _ = each.pairing
            scores[first] += round(2 * each.score[0])
            if second is None:
                byes[first] += 1
            else:
                scores[second] += round(2 * each.score[1])
        ranked = sorted(field.present, key=lambda player: (-scores[player], player))
        lowest = sorted(ranked, key=lambda player: (byes[player], scores[player], -player))
        free = lowest[: len(ranked) % 2]
        times = _count_pairings(meetings)
        pairs = _match([each for each in ranked if each not in free], scores, times, field.forbidden)
        if 2 * len(pairs) + len(free) < len(ranked):
            free = _find_byes(lowest, field.forbidden)
            pairs = _match([each for each in ranked if each not in free], scores, times, field.forbidden)
        return [
            *(Pairing(one, two, latest + 1) for one, two in pairs),
            *(Pairing(each, None, latest + 1) for each in free),
        ]

    return added


def _find_byes(players: Sequence[int], forbidden: AbstractSet[frozenset[int]]) -> list[int]:
    """Return the fewest players without whom the others can be paired; of these, the first in `players`.

    Sets of players that can be paired together are independent sets of a matroid. So the largest one with the
    greatest sum of places is the one that is left if each player is taken out, in order, where that costs no
    pair.
    """
    weights = [
        (one, two, players.index(one) + players.index(two))
        for one, two in combinations(players, 2)
        if frozenset((one, two)) not in forbidden
    ]
    paired = {*chain(*_match_edges(weights))}
    return [each for each in players if each not in paired]


def _match_edges(edges: Iterable[tuple[int, int, int]]) -> list[list[int]]:
    """Return as many pairs without a common member as possible, with the greatest sum of weights.

    An edge has the two members of a pair, and its weight. The pairs are in order.
    """
    if (fault := swiss_fault()) is not None:
        raise ImportError(fault)
    import networkx  # noqa: PLC0415  an extra

    graph: networkx.Graph[int] = networkx.Graph()
    graph.add_weighted_edges_from(edges)
    return sorted(sorted(pair) for pair in networkx.max_weight_matching(graph, maxcardinality=True))


def _match(
    ranked: Sequence[int],
    scores: Counter[int],
    times: Counter[frozenset[int | None]],
    forbidden: AbstractSet[frozenset[int]],
) -> list[tuple[int, int]]:
    """Pair all players of `ranked` at the lowest cost, without forbidden pairs. Scores are in half points."""
    if not ranked:
        return []
    # Costs are integers, so that the result is exact. Each weight is larger than the sum that the later parts
    # of the cost can reach in one round.
    group = Counter(scores[each] for each in ranked)
    difference_weight = len(ranked) ** 2
    largest = scores[ranked[0]] - scores[ranked[-1]]
    meeting_weight = difference_weight * (len(ranked) * largest**2 + 1)
    edges = list[tuple[int, int, int]]()
    for one, two in combinations(range(len(ranked)), 2):
        pair = frozenset((ranked[one], ranked[two]))
        if pair in forbidden:
            continue
        upper, lower = scores[ranked[one]], scores[ranked[two]]
        cost = (
            meeting_weight * times[pair] ** 2
            + difference_weight * (upper - lower) ** 2
            + abs(two - one - group[upper] // 2)
        )
        edges.append((one, two, -cost))
    return [(ranked[one], ranked[two]) for one, two in _match_edges(edges)]


# Knockout.


class Slot(NamedTuple):
    """Two players of a knockout that meet, and the one that goes on."""

    first: int | None
    """None if the player is not known yet."""
    second: int | None
    """None if the player is not known yet; in round 1, if there is none or it was absent at the start."""
    winner: int | None
    """The player that goes on to the next round. None if it is not known yet."""


def knockout(extra: int = 2) -> Format:
    """Return the format in which the loser of a meeting is out.

    Players are placed in a standard bracket, in which players 0 and 1 can meet only in the final. If there
    are more places than players, the strongest players get byes in round 1. Latecomers do not play. Two
    players are paired as soon as both are known, even while other pairings of an earlier round are open.

    If a meeting ends level, the players are paired again in the same round, up to `extra` times. If they are
    still level, the player with less thinking time goes on, and with equal times the one with the better
    seed.

    If one of two players is absent when they have to be paired, the other one gets a bye and goes on. If both
    are absent, the one with the better seed gets the bye.

    A forfeited meeting counts by its points, like any other. The loser of a meeting stays out even if the
    winner withdraws later.
    """

    def added(field: Field, meetings: Sequence[Meeting]) -> list[Pairing]:
        return _play_bracket(field, meetings, extra)[1]

    return added


def bracket_of(field: Field, meetings: Sequence[Meeting], extra: int) -> list[list[Slot]]:
    """Return the slots of each round of `knockout(extra)`, from round 1 to the final, from top to bottom.

    The winners of slots 2k and 2k + 1 meet in slot k of the next round. The list is empty with fewer than two
    players.
    """
    return _play_bracket(field, meetings, extra)[0]


def _play_bracket(
    field: Field, meetings: Sequence[Meeting], extra: int
) -> tuple[list[list[Slot]], list[Pairing]]:
    """Return the slots of each round, and the pairings to be added."""
    places = field.players
    if meetings:
        # The bracket does not grow with latecomers. Each slot of round 1 got a pairing in the first call. So
        # the number of these slots is that of the players in round 1, less one for each two that met.
        opening = {frozenset(each.pairing[:2]) - {None} for each in meetings if each.pairing.round == 1}
        places = 2 * (len(frozenset[int | None]().union(*opening)) - sum(len(each) == 2 for each in opening))
    players = [seed if seed < field.players else None for seed in order_seeds(places)]
    rounds, added = list[list[Slot]](), list[Pairing]()
    while len(players) > 1:
        number = len(rounds) + 1
        played = [each for each in meetings if each.pairing.round == number]
        slots = []
        for one, two in zip(players[::2], players[1::2], strict=True):
            slot, pairing = _play_slot(field, played, extra, number, one, two)
            slots.append(slot)
            if pairing is not None:
                added.append(pairing)
        rounds.append(slots)
        players = [each.winner for each in slots]
    return rounds, added


def order_seeds(places: int) -> list[int]:
    """Return the seeds from top to bottom of a bracket, whose size is `places` or the next power of 2.

    They are counted from 0.
    """
    order = [0]
    while len(order) < places:
        order = [each for seed in order for each in (seed, 2 * len(order) - 1 - seed)]
    return order


def _play_slot(
    field: Field, meetings: Sequence[Meeting], extra: int, number: int, one: int | None, two: int | None
) -> tuple[Slot, Pairing | None]:
    """Return a slot of round `number`, and the pairing to be added for it.

    `meetings` are those of the round. The slot has the places of `one` and `two`.
    """
    players = [each for each in (one, two) if each is not None]
    if len(players) < 2 and number > 1:
        return Slot(one, two, None), None
    met = [each for each in meetings if {*each.pairing[:2]} == {one, two}]
    byes = [each.pairing.first for each in meetings if each.pairing.second is None]
    winner, pairing = next((each for each in players if each in byes), None), None
    if winner is None and all(each.is_over for each in met):
        present = [each for each in players if each in field.present]
        points, thought = defaultdict[int | None, float](float), Counter[int | None]()
        for each in met:
            for player, game_points, milliseconds in zip(
                each.pairing[:2], each.points, each.thought, strict=True
            ):
                points[player] += game_points
                thought[player] += milliseconds
        if points[one] != points[two]:
            winner = max(players, key=points.__getitem__)
        elif len(met) > extra:
            winner = min(players, key=lambda player: (thought[player], player))
        elif len(present) == 2:
            pairing = Pairing(present[0], present[1], number)
        else:
            winner = min(present or players)
            pairing = Pairing(winner, None, number)
    if winner is not None and number == 1 and not met:
        return Slot(winner, None, winner), pairing
    return Slot(one, two, winner), pairing

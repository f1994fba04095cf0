"""Formats: pure functions from the players of a tournament and its pairings so far to further pairings.

Call a format at the start, and whenever a pairing ends or a player enters, withdraws or comes back. Add all
pairings that it returns to the tournament. It returns none while it waits for open pairings. The tournament
is over when no pairing is open and the format returns none.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import combinations
from typing import NamedTuple, TypeAlias


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


Format: TypeAlias = Callable[[Field, Sequence[Meeting]], Sequence[Pairing]]
"""Takes the players and all meetings of a tournament; returns the pairings to be added."""


def fault_of(name: str, players: int, rounds: int | None = None) -> str | None:
    """Return in one line why so many players cannot play a format, or None if they can.

    `name` is "round-robin", "gauntlet", "swiss" or "knockout". `rounds` is the number of rounds of a Swiss
    tournament if it has been chosen; no other format uses it.
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


def round_robin(cycles: int = 1) -> Format:
    """Return the format in which each two players meet `cycles` times.

    All pairings are added at once, in the order of Berger tables. A latecomer or a player that comes back
    gets the pairings with all present players that it has not had yet.
    """

    def added(field: Field, meetings: Sequence[Meeting]) -> list[Pairing]:
        present = sorted(field.present)
        pairs = [(present[one], present[two]) for table in berger(len(present)) for one, two in table]
        return _complete(pairs, cycles, meetings)

    return added


def gauntlet(cycles: int = 1) -> Format:
    """Return the format in which player 0 meets each other player `cycles` times.

    All pairings are added at once. A latecomer or a player that comes back is paired with player 0, if that
    one is present.
    """

    def added(field: Field, meetings: Sequence[Meeting]) -> list[Pairing]:
        pairs = [(0, other) for other in sorted(field.present - {0})] if 0 in field.present else []
        return _complete(pairs, cycles, meetings)

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


def _complete(pairs: Sequence[tuple[int, int]], cycles: int, meetings: Sequence[Meeting]) -> list[Pairing]:
    """Return the pairings that are missing until each of `pairs` has been paired `cycles` times.

    Each pairing gets the earliest round in which neither player has another pairing. Rounds before that of
    the first open meeting are not used. The players change sides from cycle to cycle.
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
            if times[frozenset(pair)] > cycle:
                continue
            one, two = pair[::-1] if cycle % 2 else pair
            taken = busy[one] | busy[two] | ((1 << begin) - 1)
            lowest = ~taken & (taken + 1)  # the lowest bit that is not set
            busy[one] |= lowest
            busy[two] |= lowest
            added.append(Pairing(one, two, lowest.bit_length() - 1))
    return added


def _count_pairings(meetings: Iterable[Meeting]) -> Counter[frozenset[int | None]]:
    """Return how often each two players have been paired."""
    return Counter(frozenset(each.pairing[:2]) for each in meetings)


# Swiss.


def swiss(rounds: int) -> Format:
    """Return the format of `rounds` rounds in which players with similar scores meet.

    A round is paired when the one before is over. With an odd number of players, one gets a bye: of the
    players with the fewest byes, the one with the lowest score, and of equal ones the one with the worst
    seed.

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
        free = []
        if len(ranked) % 2:
            free = [min(reversed(ranked), key=byes.__getitem__)]
            ranked.remove(free[0])
        pairs = _match(ranked, scores, _count_pairings(meetings))
        return [
            *(Pairing(one, two, latest + 1) for one, two in pairs),
            *(Pairing(each, None, latest + 1) for each in free),
        ]

    return added


def _match(
    ranked: Sequence[int], scores: Counter[int], times: Counter[frozenset[int | None]]
) -> list[tuple[int, int]]:
    """Pair all players of `ranked`, whose number is even, at the lowest cost. Scores are in half points."""
    if (fault := swiss_fault()) is not None:
        raise ImportError(fault)
    import networkx  # noqa: PLC0415  an extra

    # Costs are integers, so that the result is exact. Each weight is larger than the sum that the later parts
    # of the cost can reach in one round.
    group = Counter(scores[each] for each in ranked)
    difference_weight = len(ranked) ** 2
    largest = scores[ranked[0]] - scores[ranked[-1]]
    meeting_weight = difference_weight * (len(ranked) * largest**2 + 1)
    graph: networkx.Graph[int] = networkx.Graph()
    for one, two in combinations(range(len(ranked)), 2):
        upper, lower = scores[ranked[one]], scores[ranked[two]]
        cost = (
            meeting_weight * times[frozenset((ranked[one], ranked[two]))] ** 2
            + difference_weight * (upper - lower) ** 2
            + abs(two - one - group[upper] // 2)
        )
        graph.add_edge(one, two, weight=-cost)
    pairs = sorted(sorted(pair) for pair in networkx.max_weight_matching(graph, maxcardinality=True))
    return [(ranked[one], ranked[two]) for one, two in pairs]


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
    players = [seed if seed < field.players else None for seed in _order_seeds(places)]
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


def _order_seeds(places: int) -> list[int]:
    """Return the seeds from top to bottom of a bracket, whose size is `places` or the next power of 2."""
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

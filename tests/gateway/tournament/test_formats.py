"""Which pairings each format adds, in tournaments whose players come late, withdraw and come back."""

import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from itertools import chain, combinations, pairwise, permutations, product
from random import Random
from typing import TypeAlias

import networkx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.tournament.formats import (
    Field,
    Format,
    Meeting,
    Pairing,
    Slot,
    advancing,
    berger,
    bracket_of,
    fault_of,
    gauntlet,
    group_name,
    knockout,
    round_robin,
    split,
    swiss,
    swiss_fault,
)
from gateway.tournament.standings import Row

SEEDS = st.integers(0, 2**32)
PLAYERS = st.integers(2, 12) | st.integers(2, 64)
CHANGES = st.just(0) | st.integers(1, 12)
FORBIDDEN = st.just(0.0) | st.floats(0, 1)
"""The share of the pairs that are forbidden."""
FEW = settings(max_examples=60, deadline=None)
POINTS = [(2, 0), (1.5, 0.5), (1, 1), (1, 1), (0.5, 1.5), (0, 2), (0, 0)]

Check: TypeAlias = Callable[["Trial", Sequence[Pairing]], None]


@dataclass
class Trial:
    """A tournament with random results."""

    format: Format
    players: int
    lot: Random
    changes: int
    """How often at most a player enters, withdraws or comes back after the start."""
    check: Check = lambda trial, added: None
    """Called with the pairings that the format returns, before they are added."""
    points: Sequence[tuple[float, float]] = tuple(POINTS)
    """The results that are drawn from."""
    forbidden: frozenset[frozenset[int]] = frozenset()
    meetings: list[Meeting] = field(default_factory=list)
    present: set[int] = field(default_factory=set)
    present_then: list[frozenset[int]] = field(default_factory=list)
    """For each meeting, who was present when it was added."""

    @property
    def field(self) -> Field:
        return Field(self.players, frozenset(self.present), self.forbidden)

    def run(self) -> None:
        self.present = set(range(self.players))
        for _ in range(self.lot.randint(0, min(3, self.changes))):
            self.withdraw()
        self.add()
        while running := [number for number, each in enumerate(self.meetings) if not each.is_over]:
            if self.changes and self.lot.random() < 0.3:
                self.changes -= 1
                self.lot.choice([self.enter, self.withdraw, self.come_back])()
            else:
                for number in self.lot.sample(running, self.lot.randint(1, 1 + len(running) // 4)):
                    self.end(number, self.lot.choice(self.points))
            self.add()

    def add(self) -> None:
        added = self.format(self.field, tuple(self.meetings))
        self.check(self, added)
        for each in added:
            bye = each.second is None
            self.meetings.append(Meeting(each, bye, (2, 0) if bye else (0, 0)))
            self.present_then.append(frozenset(self.present))
        if added and all(each.second is None for each in added):
            self.add()  # a round of byes is over at once
        assert not self.format(self.field, tuple(self.meetings)), "nothing has changed"

    def end(self, number: int, points: tuple[float, float]) -> None:
        thought = (self.lot.randint(0, 2), self.lot.randint(0, 2))
        self.meetings[number] = Meeting(self.meetings[number].pairing, True, points, thought)

    def enter(self) -> None:
        self.present.add(self.players)
        self.players += 1

    def come_back(self) -> None:
        if absent := sorted(set(range(self.players)) - self.present):
            self.present.add(self.lot.choice(absent))

    def withdraw(self) -> None:
        if not self.present:
            return
        player = self.lot.choice(sorted(self.present))
        self.present.remove(player)
        for number, each in enumerate(self.meetings):
            if not each.is_over and player in each.pairing[:2]:
                won = (0, 2) if each.pairing.first == player else (2, 0)
                self.end(number, self.lot.choice([won, (0, 0)]))


def some_pairs(lot: Random, players: int, share: float) -> frozenset[frozenset[int]]:
    return frozenset(frozenset(each) for each in combinations(range(players), 2) if lot.random() < share)


def pairs_of(pairings: Sequence[Pairing]) -> Counter[frozenset[int]]:
    return Counter(frozenset((each.first, each.second)) for each in pairings if each.second is not None)


def pairings_of(meetings: Sequence[Meeting]) -> list[Pairing]:
    return [each.pairing for each in meetings]


def test_score_is_by_game_points_and_0_if_neither_player_has_any() -> None:
    points = [(2, 0), (0.5, 1.5), (1, 1), (0, 0)]
    scores = [Meeting(Pairing(0, 1), True, each).score for each in points]
    assert scores == [(1, 0), (0, 1), (0.5, 0.5), (0, 0)]
    assert Meeting(Pairing(0, None), True).score == (1, 0)


@pytest.mark.parametrize(
    ("name", "players", "rounds", "fault"),
    [
        ("round-robin", 1, 1, "a round robin needs 2 players or more"),
        ("gauntlet", 0, 1, "a gauntlet needs 2 players or more"),
        ("knockout", 1, 1, "a knockout needs 2 players or more"),
        ("ladder", 1, 1, "a ladder needs 2 players or more"),
        ("swiss", 1, 1, "a Swiss tournament needs 2 players or more"),
        ("swiss", 8, 0, "a Swiss tournament needs 1 round or more"),
        ("swiss", 6, 7, "6 players can play 5 Swiss rounds without meeting twice, not 7"),
        ("swiss", 7, 8, "7 players can play 7 Swiss rounds without meeting twice, not 8"),
        ("swiss", 2, 2, "2 players can play 1 Swiss round without meeting twice, not 2"),
        ("swiss", 6, 5, None),
        ("swiss", 6, None, None),
        ("swiss", 7, 7, None),
        ("knockout", 2, 9, None),
        ("ladder", 2, 9, None),
    ],
)
def test_fault_says_how_many_players_or_rounds_a_format_needs(
    name: str, players: int, rounds: int | None, fault: str | None
) -> None:
    assert fault_of(name, players, rounds) == fault


def test_swiss_without_networkx_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    assert swiss_fault() is None
    monkeypatch.setitem(sys.modules, "networkx", None)
    fault = "Swiss needs networkx, which is not installed: pip install 'c4gateway[tournament]'"
    assert swiss_fault() == fault
    with pytest.raises(ImportError) as raised:
        swiss(2)(Field(2, {0, 1}), [])
    assert str(raised.value) == fault


# Round robin and gauntlet.


def test_berger_table_of_6_players_is_the_published_one() -> None:
    published = "1-6 2-5 3-4, 6-4 5-3 1-2, 2-6 3-1 4-5, 6-5 1-4 2-3, 3-6 4-2 5-1"
    table = [[f"{one + 1}-{two + 1}" for one, two in pairs] for pairs in berger(6)]
    assert ", ".join(map(" ".join, table)) == published


@pytest.mark.parametrize("players", [*range(10), 63, 64])
def test_round_robin_without_changes_is_a_berger_table_for_each_cycle(players: int) -> None:
    added = round_robin(2)(Field(players, frozenset(range(players))), ())
    table = berger(players)
    assert sorted(added, key=lambda each: each.round) == [
        Pairing(*pair, number) for number, pairs in enumerate(table, 1) for pair in pairs
    ] + [Pairing(*pair[::-1], number) for number, pairs in enumerate(table, 1 + len(table)) for pair in pairs]
    assert pairs_of(added) == {frozenset(each): 2 for each in combinations(range(players), 2)}


@FEW
@given(
    SEEDS,
    st.integers(2, 12) | st.integers(2, 32),
    CHANGES,
    st.integers(1, 3),
    st.sampled_from(["round-robin", "gauntlet", "groups"]),
    FORBIDDEN,
)
def test_round_robin_and_gauntlet_pair_all_that_are_present_so_many_times(
    seed: int, players: int, changes: int, cycles: int, kind: str, share: float
) -> None:
    lot = Random(seed)
    forbidden = some_pairs(lot, players + changes, share)
    # Latecomers have a group, too. The last players have none.
    groups = [range(number, players + changes - 1, 3) for number in range(3)]

    def is_wanted(one: int, two: int) -> bool:
        fits = {
            "round-robin": True,
            "gauntlet": one == 0,
            "groups": any(one in group and two in group for group in groups),
        }
        return fits[kind] and frozenset((one, two)) not in forbidden

    def check(trial: Trial, added: Sequence[Pairing]) -> None:
        before = pairings_of(trial.meetings)
        pairs = pairs_of([*before, *added])
        wanted = [each for each in combinations(sorted(trial.present), 2) if is_wanted(*each)]
        assert all(pairs[frozenset(each)] == cycles for each in wanted)
        assert {*pairs_of(added)} <= {*map(frozenset, wanted)}
        assert max(pairs.values(), default=0) <= cycles
        plays = Counter((player, each.round) for each in [*before, *added] for player in each[:2])
        assert max(plays.values(), default=0) <= 1
        # A round that is over does not go on if no earlier one is open.
        running = [each.pairing.round for each in trial.meetings if not each.is_over]
        latest = max((each.round for each in before), default=0)
        assert all(each.round >= min(running, default=latest + 1) for each in added)
        assert [*added] == sorted(added, key=lambda each: each.round)

    form = {
        "round-robin": round_robin(cycles),
        "gauntlet": gauntlet(cycles),
        "groups": round_robin(cycles, groups),
    }[kind]
    Trial(form, players, lot, changes, check, forbidden=forbidden).run()


@given(st.integers(1, 40), st.integers(1, 9), st.integers(1, 3))
def test_each_group_plays_its_own_round_robin_from_round_1(players: int, count: int, cycles: int) -> None:
    groups = split(range(players), count)
    added = round_robin(cycles, groups)(Field(players, frozenset(range(players))), ())
    alone = [round_robin(cycles)(Field(players, frozenset(each)), ()) for each in groups]
    assert Counter(added) == Counter(chain(*alone))


def test_round_robin_adds_only_what_is_missing_and_only_to_rounds_that_are_not_over() -> None:
    three = Field(3, frozenset(range(3)))
    met = [Meeting(each, each.round == 1, (2, 0)) for each in round_robin()(three, ())]
    assert [each.pairing for each in met] == [Pairing(1, 2, 1), Pairing(0, 1, 2), Pairing(2, 0, 3)]
    # Round 1 is over, in which only player 0 was free.
    added = round_robin()(Field(4, frozenset(range(4))), met)
    rounds = {frozenset(each[:2]): each.round for each in added}
    assert rounds == {frozenset({2, 3}): 2, frozenset({1, 3}): 3, frozenset({0, 3}): 4}
    assert round_robin(2)(Field(2, frozenset({0, 1})), [Meeting(Pairing(0, 1), True)]) == [Pairing(1, 0, 2)]


# Groups, and the players that go on from them.


def test_groups_are_filled_to_and_fro() -> None:
    assert split([8, 6, 7, 5, 3, 0, 9, 1], 3) == [[8, 0, 9], [6, 3, 1], [7, 5]]
    assert split([4], 2) == [[4], []]


@given(st.integers(0, 128), st.integers(1, 32))
def test_each_group_has_one_of_each_row_of_seeds(players: int, count: int) -> None:
    groups = split(range(players), count)
    assert sorted(chain(*groups)) == [*range(players)]
    for group in groups:
        assert [each // count for each in group] == [*range(len(group))]
        assert len(group) in (players // count, -(-players // count))


def test_names_of_groups_are_those_of_columns() -> None:
    assert [group_name(each) for each in (0, 1, 25, 26, 27, 51, 52, 701, 702)] == (
        ["A", "B", "Z", "AA", "AB", "AZ", "BA", "ZZ", "AAA"]
    )


def table_of(*rows: tuple[int, float], **tie_breaks: Sequence[float]) -> list[Row]:
    """Return standings with these players, points and tie breaks, the best player first."""
    return [
        Row(
            player,
            rank,
            points,
            {name.replace("_", "-"): values[rank - 1] for name, values in tie_breaks.items()},
        )
        for rank, (player, points) in enumerate(rows, 1)
    ]


def of_each(times: Sequence[int]) -> list[Meeting]:
    """Return meetings of which each player has had so many. They are byes for simplicity."""
    return [Meeting(Pairing(each, None), True) for each, number in enumerate(times) for _ in range(number)]


TWO_OF_THREE = table_of((0, 2), (3, 1), (4, 0))
THREE_OF_FOUR = table_of((5, 3), (1, 2), (2, 1), (6, 0))
FOUR_AND_THREE_MEETINGS = of_each([2, 3, 3, 2, 2, 3, 3])


@pytest.mark.parametrize(
    ("advance", "absent", "seeds"),
    [
        (1, set(), [0, 5]),
        # Two thirds of the points are more than a half.
        (2, set(), [0, 5, 1, 3]),
        (0, set(), [0, 5, 1, 3, 2, 4, 6]),
        (2, {5, 3}, [0, 1, 2, 4]),
        (1, {0, 3, 4}, [5]),
        (2, {*range(7)}, []),
    ],
)
def test_players_go_on_by_place_and_then_by_points_of_each_meeting(
    advance: int, absent: set[int], seeds: Sequence[int]
) -> None:
    tables = [TWO_OF_THREE, THREE_OF_FOUR]
    present = {*range(7)} - absent
    assert advancing(tables, advance, present, FOUR_AND_THREE_MEETINGS, is_bracket=False) == seeds


@pytest.mark.parametrize(
    ("name", "values", "times", "seeds"),
    [
        ("game-points", (4, 5), (2, 3), [0, 1]),
        ("game-points", (4, 7), (2, 3), [1, 0]),
        ("faults", (2, 2), (2, 3), [1, 0]),
        ("faults", (2, 4), (2, 3), [0, 1]),
        # Opponents with half a point of each meeting.
        ("buchholz", (2, 4.5), (2, 3), [0, 1]),
        ("buchholz", (2, 5), (2, 3), [1, 0]),
        ("sonneborn-berger", (1, 2), (2, 3), [0, 1]),
        ("sonneborn-berger", (1, 3), (2, 3), [1, 0]),
        ("direct", (0, 1), (2, 3), [0, 1]),
    ],
)
def test_tie_breaks_of_groups_are_compared_for_each_meeting(
    name: str, values: Sequence[float], times: Sequence[int], seeds: Sequence[int]
) -> None:
    tables = [
        [Row(player, 1, number, {name: value})]
        for player, (number, value) in enumerate(zip(times, values, strict=True))
    ]
    assert advancing(tables, 1, {0, 1}, of_each(times), is_bracket=False) == seeds


def same_group(seeds: Sequence[int], group_of: dict[int, int]) -> int:
    """Return how many pairs of a group a knockout of these players has in round 1."""
    opening = knockout()(Field(len(seeds), frozenset(range(len(seeds)))), ())
    return sum(
        group_of[seeds[each.first]] == group_of[seeds[each.second]]
        for each in opening
        if each.second is not None
    )


@FEW
@given(SEEDS, st.lists(st.integers(0, 40), min_size=1, max_size=8), st.integers(0, 4))
def test_players_of_equal_place_change_seeds_so_that_few_of_a_group_meet(
    seed: int, sizes: Sequence[int], advance: int
) -> None:
    lot = Random(seed)
    players = lot.sample(range(sum(sizes)), sum(sizes))
    tables = [table_of(*((players.pop(), lot.randint(0, 3)) for _ in range(size))) for size in sizes]
    present = {row.player for table in tables for row in table if lot.random() < 0.9}
    meetings = of_each([lot.randint(0, 3) for _ in range(sum(sizes))])
    left = [[row.player for row in table if row.player in present][: advance or None] for table in tables]
    place_of = {player: place for each in left for place, player in enumerate(each)}
    group_of = {player: number for number, each in enumerate(left) for player in each}

    plain, bracket = (
        advancing(tables, advance, present, meetings, is_bracket=each) for each in (False, True)
    )
    for seeds in (plain, bracket):
        assert sorted(seeds) == sorted(place_of)
        places = [place_of[each] for each in seeds]
        assert places == sorted(places)
    met = same_group(bracket, group_of) if len(bracket) > 1 else 0
    assert len(sizes) > 1 or bracket == plain
    assert met or len(bracket) < 2 or same_group(plain, group_of) or bracket == plain
    blocks = [[each for each in plain if place_of[each] == place] for place in range(max(sizes))]
    if met and len(bracket) < 9:
        orders = product(*(permutations(each) for each in blocks))
        assert met == min(same_group([*chain(*each)], group_of) for each in orders)


def test_seeds_change_twice_if_once_is_not_enough() -> None:
    tables = [table_of((0, 1), (5, 1), (6, 1), (7, 1)), table_of((2, 1), (3, 1)), table_of((1, 1), (4, 1))]
    plain, bracket = (advancing(tables, 0, {*range(8)}, (), is_bracket=each) for each in (False, True))
    assert plain == [0, 1, 2, 3, 4, 5, 6, 7]
    # Players 0 and 7 would meet; if only 0 and 2 change seeds, so would 0 and 5.
    assert bracket == [2, 1, 0, 3, 5, 4, 6, 7]


# Swiss.


def matchings(players: Sequence[int]) -> Iterator[list[tuple[int, int]]]:
    """Return all ways to pair an even number of players."""
    if not players:
        yield []
    for other in players[1:]:
        for rest in matchings([each for each in players[1:] if each != other]):
            yield [(players[0], other), *rest]


@dataclass
class Before:
    """What Swiss goes by, counted anew from all meetings."""

    meetings: Sequence[Meeting]

    def score(self, player: int) -> float:
        return sum(
            score
            for each in self.meetings
            for who, score in zip(each.pairing[:2], each.score, strict=True)
            if who == player
        )

    def byes(self, player: int) -> int:
        return sum(each.pairing[:2] == (player, None) for each in self.meetings)

    def cost(self, pairs: Sequence[tuple[int, int]]) -> tuple[float, float, float]:
        players = [each for pair in pairs for each in pair]
        score = {each: self.score(each) for each in players}
        ranked = sorted(players, key=lambda each: (-score[each], each))
        times = pairs_of(pairings_of(self.meetings))
        met = difference = distance = 0.0
        for pair in pairs:
            upper, lower = sorted(pair, key=ranked.index)
            like = [each for each in players if score[each] == score[upper]]
            met += times[frozenset(pair)] ** 2
            difference += (score[upper] - score[lower]) ** 2
            distance += abs(ranked.index(lower) - ranked.index(upper) - len(like) // 2)
        return met, difference, distance


def most_pairs(players: AbstractSet[int], forbidden: AbstractSet[frozenset[int]]) -> int:
    """Return how many pairs of the players are possible at the same time."""
    allowed = (each for each in combinations(sorted(players), 2) if frozenset(each) not in forbidden)
    return len(networkx.max_weight_matching(networkx.Graph(allowed), maxcardinality=True))


def check_swiss_round(trial: Trial, added: Sequence[Pairing]) -> None:
    """Compare a round with what the rules say, and if few are present, with all other ways to pair them."""
    before = Before(trial.meetings)
    latest = max((each.pairing.round for each in trial.meetings), default=0)
    assert {each.round for each in added} <= {latest + 1}
    assert sorted(each for one in added for each in one[:2] if each is not None) == sorted(trial.present)

    byes = [each.first for each in added if each.second is None]
    pairs = [(one, two) for one, two, _ in added if two is not None]
    assert trial.forbidden.isdisjoint(map(frozenset, pairs))
    assert [each.second for each in added[len(pairs) :]] == [None] * len(byes)
    most = most_pairs(trial.present, trial.forbidden)
    assert len(pairs) == most
    playing, free = {*trial.present}, list[int]()
    for each in sorted(trial.present, key=lambda each: (before.byes(each), before.score(each), -each)):
        if len(playing) > 2 * most and most_pairs(playing - {each}, trial.forbidden) == most:
            playing.remove(each)
            free.append(each)
    assert byes == free

    if len(pairs) <= 4:
        others = [
            each for each in matchings(sorted(playing)) if trial.forbidden.isdisjoint(map(frozenset, each))
        ]
        assert before.cost(pairs) == min(map(before.cost, others))
    times = pairs_of(pairings_of(trial.meetings))
    if max(times.values(), default=0) <= 1 and not trial.forbidden:
        # As many pairs as possible meet for the first time.
        most = most_pairs(playing, times.keys())
        assert sum(not times[frozenset(each)] for each in pairs) == most


@FEW
@given(SEEDS, st.integers(2, 9) | st.integers(2, 64), CHANGES, st.integers(1, 9), FORBIDDEN)
def test_swiss_pairs_each_round_at_the_lowest_cost(
    seed: int, players: int, changes: int, rounds: int, share: float
) -> None:
    lot = Random(seed)
    forbidden = some_pairs(lot, players + changes, share)

    def check(trial: Trial, added: Sequence[Pairing]) -> None:
        latest = max((each.pairing.round for each in trial.meetings), default=0)
        waits = not all(each.is_over for each in trial.meetings)
        assert bool(added) == (not waits and latest < rounds and len(trial.present) > 1)
        if added:
            check_swiss_round(trial, added)

    Trial(swiss(rounds), players, lot, changes, check, forbidden=forbidden).run()


def test_swiss_has_byes_only_for_those_that_no_opponents_are_left_for() -> None:
    # Players 1 to 4 may only meet player 0. The lowest have the byes, and the next ones in the next round.
    five = Field(5, frozenset(range(5)), frozenset(map(frozenset, combinations(range(1, 5), 2))))
    first = swiss(2)(five, ())
    assert first == [Pairing(0, 1, 1), Pairing(4, None, 1), Pairing(3, None, 1), Pairing(2, None, 1)]
    second = swiss(2)(five, [Meeting(each, True, (2, 0)) for each in first])
    assert [each.first for each in second if each.second is None] == [1, 4, 3]
    all_pairs = frozenset(map(frozenset, combinations(range(5), 2)))
    alone = swiss(2)(five._replace(forbidden=all_pairs), ())
    assert alone == [Pairing(each, None, 1) for each in (4, 3, 2, 1, 0)]


def test_swiss_pairs_the_upper_half_with_the_lower_half_and_then_winners_with_winners() -> None:
    eight = Field(8, frozenset(range(8)))
    first = swiss(3)(eight, ())
    assert [each[:2] for each in first] == [(0, 4), (1, 5), (2, 6), (3, 7)]
    second = swiss(3)(eight, [Meeting(each, True, (2, 0)) for each in first])
    assert second == [Pairing(0, 2, 2), Pairing(1, 3, 2), Pairing(4, 6, 2), Pairing(5, 7, 2)]


def test_swiss_has_two_second_meetings_rather_than_a_third_one() -> None:
    met = [(0, 2), (0, 2), (0, 1), (2, 3), *3 * [(0, 3), (1, 2)]]
    meetings = [Meeting(Pairing(*each), True, (0, 0)) for each in met]
    assert swiss(9)(Field(4, frozenset(range(4))), meetings) == [Pairing(0, 1, 2), Pairing(2, 3, 2)]


# Knockout.

Tree: TypeAlias = "int | tuple[Tree, Tree]"


def tree_of(size: int, favourite: int = 0, favourites: int = 1) -> Tree:
    """Return the bracket of a power of 2 of players, of which `favourite` is the best in this part."""
    if favourites == size:
        return favourite
    other = 2 * favourites - 1 - favourite
    return tree_of(size, favourite, 2 * favourites), tree_of(size, other, 2 * favourites)


@dataclass
class Referee:
    """Says who goes on in a knockout that is over, by its rules one by one."""

    trial: Trial
    entered: int
    """The number of players at the start."""
    extra: int
    seen: list[int] = field(default_factory=list)
    """The meetings that the rules ask for."""
    slots: dict[int, list[Slot]] = field(default_factory=dict)

    def judge(self, tree: Tree) -> tuple[int, int | None]:
        """Return the number of rounds of a part of the bracket, and its winner."""
        if isinstance(tree, int):
            return 0, tree if tree < self.entered else None
        (number, one), (_, two) = map(self.judge, tree)
        number += 1
        winner, met = self.winner_of(number, one, two)
        shown = Slot(winner, None, winner) if number == 1 and not met else Slot(one, two, winner)
        self.slots.setdefault(number, []).append(shown)
        return number, winner

    def winner_of(self, number: int, one: int | None, two: int | None) -> tuple[int, int]:
        """Return who of two goes on in round `number`, and how often they have met."""
        mine = [
            index
            for index, each in enumerate(self.trial.meetings)
            if each.pairing.round == number and not {*each.pairing[:2]} - {one, two, None}
        ]
        self.seen += mine
        points, thought, met = defaultdict[int | None, float](float), Counter[int | None](), 0
        for index in mine:
            meeting, present = self.trial.meetings[index], self.trial.present_then[index]
            assert met <= self.extra
            assert points[one] == points[two], "it was decided before"
            if meeting.pairing.second is None:
                assert index == mine[-1]
                winner = meeting.pairing.first
                loser = two if winner == one else one
                assert loser is None or loser not in present
                assert winner in present or loser is None or winner < loser
                return winner, met
            assert {one, two} <= present
            met += 1
            for player, points_of, thought_of in zip(
                meeting.pairing[:2], meeting.points, meeting.thought, strict=True
            ):
                points[player] += points_of
                thought[player] += thought_of
        assert one is not None
        assert two is not None
        if points[one] != points[two]:
            return max(one, two, key=points.__getitem__), met
        assert met == self.extra + 1
        return min((thought[each], each) for each in (one, two))[1], met


@FEW
@given(SEEDS, PLAYERS, CHANGES, st.integers(0, 2))
def test_knockout_goes_on_with_who_wins(seed: int, players: int, changes: int, extra: int) -> None:
    brackets = list[list[list[Slot]]]()

    def check(trial: Trial, added: Sequence[Pairing]) -> None:
        brackets.append(bracket_of(trial.field, trial.meetings, extra))

    trial = Trial(knockout(extra), players, Random(seed), changes, check)
    trial.run()
    size = 2 ** (players - 1).bit_length()
    referee = Referee(trial, players, extra)
    rounds, winner = referee.judge(tree_of(size))
    assert sorted(referee.seen) == [*range(len(trial.meetings))]
    final = bracket_of(trial.field, trial.meetings, extra)
    assert final == list(referee.slots.values())
    assert len(final) == rounds
    assert final[-1][0].winner == winner
    # What the bracket shows does not change once pairings are added.
    for earlier, later in pairwise([*brackets[1:], final]):
        for was, now in zip(chain(*earlier), chain(*later), strict=True):
            assert all(one in (None, two) for one, two in zip(was, now, strict=True))


@pytest.mark.parametrize("players", [2, 3, 5, 8, 13, 64])
def test_strongest_players_have_byes_and_meet_late(players: int) -> None:
    # The first player of a pairing has the better seed as long as all favourites win.
    trial = Trial(knockout(), players, Random(1), 0, points=[(2, 0)])
    trial.run()
    left = 2 ** (players - 1).bit_length()
    for number in range(1, left.bit_length()):
        met = {each.pairing[:2] for each in trial.meetings if each.pairing.round == number}
        wanted = {(each, left - 1 - each) for each in range(left // 2)}
        assert met == {(one, two if two < players else None) for one, two in wanted}
        left //= 2


def test_bracket_decides_who_meets_also_if_the_pair_is_forbidden() -> None:
    assert knockout()(Field(2, frozenset({0, 1}), frozenset({frozenset({0, 1})})), ()) == [Pairing(0, 1, 1)]


def test_bracket_shows_places_whose_players_are_not_known_yet() -> None:
    three = Field(3, frozenset(range(3)))
    assert bracket_of(three, (), 2) == [[Slot(0, None, 0), Slot(1, 2, None)], [Slot(0, None, None)]]
    assert bracket_of(Field(1, frozenset({0})), (), 2) == []

"""Who meets on a ladder, and how the players change places."""

from collections import Counter
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from itertools import combinations, pairwise
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.tournament.ladder import NEAR, Ladder

SEEDS = st.integers(0, 2**32)
FEW = settings(max_examples=60, deadline=None)


def ladder_of(players: int, *meetings: tuple[int, int]) -> Ladder:
    """Return a ladder after these meetings, each won by the first player."""
    ladder = Ladder(players)
    for one, two in meetings:
        ladder.pair(one, two)
        ladder.finish(one, two, (1, 0))
    return ladder


@pytest.mark.parametrize(
    ("one", "two", "score", "order"),
    [
        (1, 3, (0, 1), [0, 3, 1, 2, 4]),
        (3, 1, (1, 0), [0, 3, 1, 2, 4]),
        (4, 0, (1, 0), [4, 0, 1, 2, 3]),
        (1, 2, (0, 1), [0, 2, 1, 3, 4]),
        (1, 3, (1, 0), [0, 1, 2, 3, 4]),
        (3, 1, (0.5, 0.5), [0, 1, 2, 3, 4]),
        (3, 1, (0, 0), [0, 1, 2, 3, 4]),
    ],
)
def test_lower_player_that_wins_takes_the_place_of_the_upper_one(
    one: int, two: int, score: tuple[float, float], order: Sequence[int]
) -> None:
    ladder = Ladder(5)
    ladder.pair(one, two)
    ladder.finish(one, two, score)
    assert ladder.order == order


def test_places_are_those_at_the_end_of_the_meeting() -> None:
    ladder = Ladder(4)
    ladder.pair(0, 1)
    ladder.pair(2, 3)
    ladder.finish(2, 3, (0, 1))
    ladder.add(4)
    ladder.pair(4, 3)
    ladder.finish(4, 3, (1, 0))
    assert ladder.order == [0, 1, 4, 3, 2]
    ladder.finish(0, 1, (0, 1))
    assert ladder.order == [1, 0, 4, 3, 2]


def test_what_cannot_happen_on_a_ladder_is_refused() -> None:
    ladder = Ladder(4)
    ladder.pair(0, 1)
    ladder.pair(2, 3)
    ladder.add(4)
    for one, two in [(0, 4), (4, 0), (4, 4), (4, 5)]:
        with pytest.raises(ValueError, match=f"players {one} and {two} cannot meet now"):
            ladder.pair(one, two)
    for one, two in [(0, 2), (0, 4)]:
        with pytest.raises(ValueError, match=f"players {one} and {two} are not in a meeting"):
            ladder.finish(one, two, (1, 0))
    with pytest.raises(ValueError, match="player 4 is on the ladder already"):
        ladder.add(4)


@pytest.mark.parametrize(
    ("meetings", "free", "resting", "pairings"),
    [
        pytest.param([], range(5), {}, [(0, 1), (2, 3)], id="neighbours"),
        pytest.param([(0, 1), (2, 3)], range(4), {}, [(0, 2), (1, 3)], id="least met, then nearest"),
        pytest.param([(0, 1), (2, 3), (0, 2)], [0, 1], {}, [(1, 0)], id="sides change"),
        pytest.param([(0, 1)], [0, 1], {}, [(1, 0)], id="again, as nobody else is there"),
        pytest.param([(0, 1)], [0, 1], {4}, [], id="not again, as somebody else rests"),
        pytest.param([], [0, 4], {1, 2, 3}, [], id="not far from each other"),
        pytest.param([], [0, 3], {1, 2}, [(0, 3)], id="3 places from each other"),
        pytest.param([], [0, 4], {2, 3}, [(0, 4)], id="without the absent player"),
        pytest.param([(1, 2), (3, 1), (1, 2), (3, 1), (1, 2)], [0, 4], {1, 2, 3}, [(0, 4)], id="waited"),
        pytest.param([(1, 2), (3, 1), (1, 2), (3, 1)], [0, 4], {1, 2, 3}, [], id="not waited enough"),
        pytest.param([], [0, 9], {}, [], id="not on the ladder"),
        pytest.param([], [], {}, [], id="nobody"),
    ],
)
def test_free_players_meet(
    meetings: Sequence[tuple[int, int]],
    free: Sequence[int],
    resting: Sequence[int],
    pairings: Sequence[tuple[int, int]],
) -> None:
    assert ladder_of(5, *meetings).next_pairings(free, resting=frozenset(resting)) == pairings


def test_forbidden_players_have_no_place_between_two_others() -> None:
    ladder = Ladder(6)
    forbidden = {frozenset((0, other)) for other in range(1, 5)}
    assert ladder.next_pairings([0, 5], forbidden, resting={1, 2, 3, 4}) == [(0, 5)]
    assert ladder.next_pairings([0, 4], forbidden) == []


@dataclass
class Trial:
    """A ladder with random meetings. Each pairing that it proposes is checked."""

    lot: Random
    ladder: Ladder
    forbidden: AbstractSet[frozenset[int]]
    players: int
    free: set[int] = field(default_factory=set)
    resting: set[int] = field(default_factory=set)
    playing: list[tuple[int, int]] = field(default_factory=list)
    past: list[tuple[int, int]] = field(default_factory=list)
    """All pairings, in the order in which they began."""
    ended: int = 0
    """The number of meetings that are over."""
    since: Counter[int] = field(default_factory=Counter)
    """How many meetings were over when each player was added, or its latest one ended."""
    calls: list[tuple[str, tuple[Any, ...]]] = field(default_factory=list)
    """All that has changed the ladder."""

    def run(self, steps: int, changes: int) -> None:
        self.free = set(range(self.players))
        for _ in range(steps):
            self.pair()
            if changes and self.lot.random() < 0.05:
                changes -= 1
                self.lot.choice([self.enter, self.leave, self.come_back])()
            elif self.resting and self.lot.random() < 0.5:
                self.rest()
            elif self.playing:
                self.end()
            elif self.resting:
                self.rest()

    def call(self, name: str, *arguments: Any) -> None:
        self.calls.append((name, arguments))
        getattr(self.ladder, name)(*arguments)

    def pair(self) -> None:
        added = self.ladder.next_pairings(self.free, self.forbidden, self.resting)
        self.check(added)
        for one, two in added:
            self.call("pair", one, two)
            self.free -= {one, two}
            self.playing.append((one, two))
            self.past.append((one, two))

    def end(self) -> None:
        one, two = self.playing.pop(self.lot.randrange(len(self.playing)))
        self.call("finish", one, two, self.lot.choice([(1.0, 0.0), (0.0, 1.0), (0.5, 0.5), (0.0, 0.0)]))
        self.ended += 1
        self.resting |= {one, two}
        self.since[one] = self.since[two] = self.ended

    def rest(self) -> None:
        player = self.lot.choice(sorted(self.resting))
        self.resting.remove(player)
        self.free.add(player)

    def enter(self) -> None:
        self.call("add", self.players)
        self.since[self.players] = self.ended
        self.free.add(self.players)
        self.players += 1

    def leave(self) -> None:
        if self.free:
            self.free.remove(self.lot.choice(sorted(self.free)))

    def come_back(self) -> None:
        busy = {each for pair in self.playing for each in pair} | self.resting | self.free
        if absent := sorted({*range(self.players)} - busy):
            self.free.add(self.lot.choice(absent))

    def check(self, added: Sequence[tuple[int, int]]) -> None:
        """Compare pairings with the rules, one by one."""
        here = self.free | self.resting | {each for pair in self.playing for each in pair}
        ranked = [each for each in self.ladder.order if each in here]

        def next_ones(one: int) -> set[int]:
            index = ranked.index(one)
            below = [each for each in ranked[index + 1 :] if self.may_meet(one, each)]
            above = [each for each in ranked[:index] if self.may_meet(one, each)]
            return {*below[:NEAR], *above[-NEAR:]}

        around = {one: next_ones(one) for one in self.free}
        near = {
            one: {two for two in self.free - {one} if two in around[one] or one in around[two]}
            for one in self.free
        }
        around = {one: around[one] | near[one] for one in self.free}
        waited = {each for each in self.free if self.ended - self.since[each] >= len(ranked)}
        latest = {player: other for pair in self.past for player, other in (pair, pair[::-1])}
        met = Counter(map(frozenset, self.past))

        def again(one: int, two: int) -> bool:
            return latest.get(one) == two or latest.get(two) == one

        left = {*self.free}
        for one, two in added:
            assert {one, two} <= left, "a player plays once"
            assert self.may_meet(one, two)
            times = met[frozenset((one, two))]
            assert one == (max if times % 2 else min)(one, two)
            upper, lower = sorted((one, two), key=ranked.index)
            fresh = [each for each in near[upper] & left if not again(upper, each)]
            if lower in fresh:
                assert times == min(met[frozenset((upper, each))] for each in fresh)
                like = [each for each in fresh if met[frozenset((upper, each))] == times]
                distance = ranked.index(lower) - ranked.index(upper)
                assert distance == min(abs(ranked.index(each) - ranked.index(upper)) for each in like)
            else:
                assert not fresh
                is_alone = two in near[one] and around[one] | around[two] <= left
                assert is_alone or {one, two} & waited
            left -= {one, two}
        for one, two in combinations(sorted(left), 2):
            if self.may_meet(one, two):
                assert not {one, two} & waited
                if two in near[one]:
                    assert again(one, two)
                    assert not (around[one] | around[two]) <= left
        if not self.playing and not self.resting:
            possible = [pair for pair in combinations(self.free, 2) if self.may_meet(*pair)]
            assert bool(added) == bool(possible), "the ladder goes on"

    def may_meet(self, one: int, two: int) -> bool:
        return frozenset((one, two)) not in self.forbidden


@FEW
@given(SEEDS, st.integers(0, 6) | st.integers(0, 24), st.integers(0, 9), st.just(0.0) | st.floats(0, 1))
def test_near_neighbours_meet_who_have_met_least_often(
    seed: int, players: int, changes: int, share: float
) -> None:
    lot = Random(seed)
    every = map(frozenset, combinations(range(players + changes), 2))
    forbidden = frozenset(each for each in every if lot.random() < share)
    trial = Trial(lot, Ladder(players), forbidden, players)
    trial.run(100, changes)
    again = Ladder(players)
    for name, arguments in trial.calls:
        getattr(again, name)(*arguments)
    assert again.order == trial.ladder.order
    assert again.next_pairings(trial.free) == trial.ladder.next_pairings(trial.free)


@pytest.mark.parametrize("players", [3, 4, 8, 20])
def test_opponents_change_though_two_become_free_at_about_the_same_time(players: int) -> None:
    trial = Trial(Random(players), Ladder(players), frozenset(), players)
    trial.run(300 + 30 * players, 0)
    opponents: list[list[int]] = [[] for _ in range(players)]
    for one, two in trial.past:
        opponents[one].append(two)
        opponents[two].append(one)
    assert min(map(len, opponents)) > 10
    again = [one == two for each in opponents for one, two in pairwise(each)]
    assert sum(again) / len(again) < 0.05

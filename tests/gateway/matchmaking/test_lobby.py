import random
import sys
from collections import Counter
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.game.commands import Wish
from gateway.matchmaking.lobby import ABOUT, CHOICE, LONGEST_HOLD, LONGEST_KEY, Lobby, Meetings, Pace, key
from gateway.matchmaking.pool import Seeker

Names = tuple[str, str]


class Pool:
    """A lobby whose pairs play at once, and come back when a test says so."""

    def __init__(self, cap: int = 10, seed: int = 0) -> None:
        self.lobby = Lobby(random.Random(seed), cap)
        self.paired: list[Seeker] = []

    def come(self, name: str, now: float = 0.0, *, wish: Wish | None = None, asked: bool = True) -> Seeker:
        seeker = Seeker(name, wish, asked)
        self.lobby.admit(seeker, now)
        return seeker

    def come_as_tester(self, name: str, now: float = 0.0) -> Seeker:
        seeker = Seeker(name, counted=False)
        self.lobby.admit(seeker, now)
        return seeker

    def met(self, first: str, second: str, times: int = 1) -> None:
        """Let the two have met before, `first` with the first move."""
        for _ in range(times):
            self.lobby.meetings.add(first, second)

    def pairs(self, now: float = 0.0) -> list[tuple[Seeker, Seeker]]:
        pairs = []
        for first, second in self.lobby.pair(now):
            self.lobby.meetings.add(first.name, second.name)
            self.lobby.playing(first.name, second.name)
            pairs.append((first, second))
            self.paired += first, second
        return pairs

    def names(self, now: float = 0.0) -> list[set[str]]:
        """Return who is paired, by name and whoever has the first move."""
        return [{first.name, second.name} for first, second in self.pairs(now)]

    def over(self, one: Seeker, two: Seeker, now: float) -> None:
        """Let the game of the two be over, and both wait again."""
        self.lobby.played(one.name, two.name)
        self.lobby.admit(one, now)
        self.lobby.admit(two, now)


@pytest.fixture
def pool() -> Pool:
    return Pool()


# Who may meet whom.


def test_two_of_different_names_are_paired_at_once(pool: Pool) -> None:
    pool.come("ann")
    assert pool.names() == []
    pool.come("bob")
    assert pool.names() == [{"ann", "bob"}]
    assert pool.names() == []


def test_two_of_one_name_never_meet(pool: Pool) -> None:
    pool.come("ann")
    pool.come("ann")
    assert pool.names(100) == []
    pool.come("bob", 100)
    assert pool.names(100) == [{"ann", "bob"}]


def test_names_are_what_they_are_spelled(pool: Pool) -> None:
    pool.come("ann")
    pool.come("Ann")
    assert pool.names() == [{"ann", "Ann"}]


def test_two_testers_of_one_name_may_meet(pool: Pool) -> None:
    pool.come_as_tester("TEST")
    assert pool.names() == []
    pool.come_as_tester("TEST")
    assert pool.names() == [{"TEST"}]


def test_any_number_of_testers_of_one_name_may_meet_at_a_time(pool: Pool) -> None:
    for _ in range(4):
        pool.come_as_tester("TEST")
    assert len(pool.names()) == 2


def test_a_tester_does_not_meet_a_counted_player_of_its_name(pool: Pool) -> None:
    pool.come("TEST")
    pool.come_as_tester("TEST")
    assert pool.names() == []
    pool.come_as_tester("TEST")
    assert pool.names() == [{"TEST"}]


def test_those_who_play_each_other_elsewhere_do_not_meet(pool: Pool) -> None:
    pool.lobby.playing("ann", "bob")
    pool.lobby.playing("bob", "ann")
    pool.come("ann")
    pool.come("bob")
    assert pool.names() == []
    pool.lobby.played("ann", "bob")
    assert pool.names() == []
    pool.lobby.played("ann", "bob")
    assert pool.names() == [{"ann", "bob"}]


def test_who_is_removed_meets_nobody(pool: Pool) -> None:
    ann = pool.come("ann")
    pool.lobby.remove(ann)
    pool.come("bob")
    assert pool.names() == []


def test_who_is_removed_before_it_is_looked_at_meets_nobody(pool: Pool) -> None:
    pool.come("bob")
    ann = pool.come("ann")
    pool.lobby.remove(ann)
    assert pool.names() == []


# Wishes.


def test_who_wishes_for_an_opponent_meets_no_other(pool: Pool) -> None:
    pool.come("ann", wish=Wish("bob"))
    pool.come("cid")
    assert pool.names(100) == []
    pool.come("bob", 100)
    pool.lobby.playing("bob", "cid")
    assert pool.names(100) == [{"ann", "bob"}]


def test_a_wish_counts_in_both_directions(pool: Pool) -> None:
    pool.come("ann", wish=Wish("bob"))
    pool.come("bob", wish=Wish("cid"))
    assert pool.names() == []
    pool.come("cid", wish=Wish("bob"))
    assert pool.names() == [{"bob", "cid"}]


def test_a_wish_is_spelled_exactly_unless_case_makes_no_difference(pool: Pool) -> None:
    pool.come("ann", wish=Wish("BOB"))
    pool.come("bob", wish=Wish("ANN"))
    assert pool.names() == []
    pool.come("cid", wish=Wish("BOB", any_case=True))
    pool.come("bob", wish=Wish("cid"))
    assert pool.names() == [{"bob", "cid"}]


def test_a_wish_in_any_case_finds_each_bearer(pool: Pool) -> None:
    pool.come("Bob", wish=Wish("zoe"))
    pool.come("BOB")
    pool.come("ann", wish=Wish("bob", any_case=True))
    assert pool.names() == [{"ann", "BOB"}]


def test_who_wishes_for_its_own_name_meets_nobody(pool: Pool) -> None:
    pool.come("ann", wish=Wish("ann"))
    pool.come("ann", wish=Wish("ann"))
    pool.come("bob")
    assert pool.names() == []


def test_a_tester_who_wishes_for_its_own_name_meets_another_tester(pool: Pool) -> None:
    for _ in range(2):
        pool.lobby.admit(Seeker("TEST", Wish("test", any_case=True), counted=False), 0)
    assert pool.names() == [{"TEST"}]


@pytest.mark.parametrize("wish", [Wish("random"), Wish("RANDOM"), Wish("Random", any_case=True)])
def test_a_wish_for_a_house_player_is_never_satisfied_by_another_of_its_name(pool: Pool, wish: Wish) -> None:
    pool.come("ann", wish=wish)
    pool.come("random", wish=Wish("ann"))
    pool.come("RANDOM", wish=Wish("ann"))
    assert pool.names() == []


def test_seeker_who_plays_a_visitor_waits_no_longer_and_moves_first_in_turn(pool: Pool) -> None:
    ann = pool.come("ann")
    pool.lobby.meetings.add("ann", "random")
    assert pool.lobby.pair_with_house(ann, "random", 0) is False
    pool.come("bob")
    assert pool.names() == []
    pool.lobby.meetings.add("random", "ann")
    pool.lobby.meetings.add("random", "ann")
    pool.lobby.admit(ann, 0)
    assert pool.lobby.pair_with_house(ann, "random", 0) is True


def test_who_bears_a_house_players_name_meets_those_without_a_wish(pool: Pool) -> None:
    pool.come("random")
    pool.come("ann")
    assert pool.names() == [{"ann", "random"}]


# Which of several.


def test_the_least_met_partner_comes_first(pool: Pool) -> None:
    pool.met("ann", "cid", 2)
    pool.met("dan", "cid", 1)
    pool.lobby.playing("ann", "dan")
    pool.come("ann", 0)
    pool.come("dan", 1)
    pool.come("cid", 2)
    assert pool.names(2) == [{"cid", "dan"}]


def test_of_partners_met_alike_the_longest_waiting_comes_first(pool: Pool) -> None:
    pool.met("ann", "cid", 1)
    pool.met("cid", "dan", 1)
    pool.met("cid", "zoe", 1)
    pool.lobby.playing("ann", "dan")
    pool.come("dan", 0)
    pool.come("ann", 1)
    pool.come("cid", 2)
    assert pool.names(2) == [{"cid", "dan"}]


def test_of_several_of_one_name_the_longest_waiting_comes_first(pool: Pool) -> None:
    first = pool.come("ann", 0)
    second = pool.come("ann", 1)
    pool.come("bob", 2)
    pool.pairs(2)
    assert (first.waiting, second.waiting) == (False, True)


def test_a_partner_who_wishes_for_it_is_no_better_than_another_who_waited_longer(pool: Pool) -> None:
    pool.come("ann", 0)
    pool.come("ann", 1, wish=Wish("bob"))
    pool.come("bob", 2)
    ((first, second),) = pool.pairs(2)
    assert {first.since, second.since} == {0, 2}


def test_of_several_pairs_the_one_that_met_least_is_paired(pool: Pool) -> None:
    pool.met("ann", "cid", 5)
    pool.met("ann", "bob", 9)
    ann, bob = pool.come("ann"), pool.come("bob")
    pool.pairs()
    pool.come("cid", 1)
    assert pool.names(1) == []
    pool.over(ann, bob, 2)
    assert pool.names(2) == [{"bob", "cid"}]


def test_a_new_name_keeps_the_time_of_waiting(pool: Pool) -> None:
    pool.met("ann", "x")
    pool.lobby.playing("bob", "cid")
    seeker = pool.come("ann", 0, wish=Wish("zoe"))
    pool.come("bob", 1, wish=Wish("zoe"))
    pool.lobby.rename(seeker, "cid", counted=True)
    assert pool.names(2) == []
    pool.come("zoe", 2)
    assert pool.names(2) == [{"cid", "zoe"}]


def test_a_new_name_is_looked_at_at_once(pool: Pool) -> None:
    pool.come("ann")
    seeker = pool.come("ann")
    assert pool.names() == []
    pool.lobby.rename(seeker, "bob", counted=True)
    assert pool.names() == [{"ann", "bob"}]


def test_who_takes_a_new_name_while_it_plays_waits_for_nobody(pool: Pool) -> None:
    ann = pool.come("ann")
    bob = pool.come("bob")
    pool.pairs()
    pool.lobby.rename(ann, "TEST", counted=False)
    pool.come("cid", 1)
    assert pool.names(1) == []
    pool.lobby.played("ann", "bob")
    pool.lobby.admit(ann, 2)
    assert pool.names(2) == [{"TEST", "cid"}]
    assert not bob.waiting


def test_a_seeker_with_a_wish_may_take_a_new_name(pool: Pool) -> None:
    seeker = pool.come("ann", wish=Wish("bob"))
    pool.lobby.rename(seeker, "cid", counted=True)
    pool.come("bob", wish=Wish("cid"))
    assert pool.names() == [{"bob", "cid"}]


# Those who are held back.


def meet(pool: Pool, until: float = 5.0) -> tuple[Seeker, Seeker]:
    """Let ann and bob play for the first time, so long, while cid and dan have begun a second later."""
    pool.come("ann")
    pool.come("bob")
    ((one, two),) = pool.pairs()
    pool.come("cid", 1)
    pool.come("dan", 1)
    pool.pairs(1)
    ann, bob = (one, two) if one.name == "ann" else (two, one)
    pool.over(ann, bob, until)
    return ann, bob


def playing(pool: Pool, name: str) -> Seeker:
    return next(seeker for seeker in pool.paired if seeker.name == name and not seeker.waiting)


def test_two_alone_meet_again_at_once(pool: Pool) -> None:
    ann, bob = pool.come("ann"), pool.come("bob")
    pool.pairs()
    pool.over(ann, bob, 5)
    assert pool.names(5) == [{"ann", "bob"}]


def test_two_are_held_back_for_somebody_less_met_who_is_soon_free(pool: Pool) -> None:
    meet(pool)
    assert pool.names(5) == []
    assert pool.lobby.next_retry() == 5 + LONGEST_HOLD
    assert pool.names(5.9) == []
    pool.over(playing(pool, "cid"), playing(pool, "dan"), 5.95)
    mixed = pool.names(5.95)
    assert len(mixed) == 2
    assert {"ann", "bob"} not in mixed
    assert pool.lobby.next_retry() is None


def test_nobody_is_held_back_for_more_than_a_second(pool: Pool) -> None:
    meet(pool)
    assert pool.names(5) == pool.names(5.99) == []
    assert pool.names(6) == [{"ann", "bob"}]


def test_nobody_is_held_back_for_much_longer_than_its_games_take(pool: Pool) -> None:
    ann, bob = pool.come("ann"), pool.come("bob")
    pool.pairs()
    pool.come("cid", 0.25)
    pool.come("dan", 0.25)
    pool.pairs(0.25)
    pool.over(ann, bob, 0.5)
    assert pool.names(0.5) == []
    assert pool.lobby.next_retry() == 0.5 + ABOUT * 0.5
    assert pool.names(1.125) == [{"ann", "bob"}]


def test_the_second_counts_from_when_there_was_somebody_to_meet(pool: Pool) -> None:
    _, bob = meet(pool)
    pool.lobby.remove(bob)
    assert pool.names(5) == []
    pool.come("bob", 5.75)
    assert pool.names(5.75) == pool.names(6.5) == []
    assert pool.lobby.next_retry() == 5.75 + LONGEST_HOLD
    assert pool.names(6.75) == [{"ann", "bob"}]


@pytest.mark.parametrize("stranger_to", ["ann", "bob"])
def test_two_are_held_back_while_either_has_met_somebody_much_less(pool: Pool, stranger_to: str) -> None:
    for name in {"ann", "bob"} - {stranger_to}:
        pool.met(name, "cid")
        pool.met(name, "dan")
    meet(pool)
    assert pool.names(5) == pool.names(5.9) == []
    assert pool.names(6) == [{"ann", "bob"}]


def test_nobody_is_held_back_for_one_who_would_not_meet_it(pool: Pool) -> None:
    ann, bob = pool.come("ann"), pool.come("bob")
    pool.pairs()
    pool.come("dan", 1)
    pool.come("cid", 1, wish=Wish("dan"))
    pool.met("ann", "dan")
    pool.met("dan", "bob")
    assert pool.names(1) == [{"cid", "dan"}]
    pool.over(ann, bob, 5)
    assert pool.names(5) == [{"ann", "bob"}]


@pytest.mark.parametrize(("often", "seldom", "is_held"), [(4, 3, False), (3, 2, True), (2, 1, True)])
def test_much_less_is_less_than_seven_tenths(pool: Pool, often: int, seldom: int, is_held: bool) -> None:
    pool.met("ann", "bob", often - 1)
    for name in ("ann", "bob"):
        for other in ("cid", "dan"):
            pool.met(name, other, seldom)
    pool.lobby.playing("ann", "dan")
    meet(pool)
    assert pool.names(5) == ([] if is_held else [{"ann", "bob"}])


@pytest.mark.parametrize(("usual", "is_held"), [(6.5, False), (7.5, True), (9.5, True), (10.5, False)])
def test_who_is_soon_free_shows_in_how_long_it_has_taken_before(
    pool: Pool, usual: float, is_held: bool
) -> None:
    cid, dan = pool.come("cid", -usual), pool.come("dan", -usual)
    pool.pairs(-usual)
    pool.over(cid, dan, 0)
    pool.pairs(0)
    ann, bob = pool.come("ann", 1), pool.come("bob", 1)
    pool.pairs(1)
    pool.over(ann, bob, 8.5)
    assert pool.names(8.5) == ([] if is_held else [{"ann", "bob"}])


def test_who_leaves_after_each_series_is_waited_for_while_it_may_be_back(pool: Pool) -> None:
    meet(pool)
    cid, dan = playing(pool, "cid"), playing(pool, "dan")
    for seeker in (cid, dan):
        pool.lobby.remove(seeker)
    pool.lobby.played("cid", "dan")
    assert pool.names(5) == []
    pool.come("cid", 5.25)
    assert len(pool.names(5.25)) == 1
    pool.come("dan", 5.5)
    assert len(pool.names(5.5)) == 1


def test_who_has_gone_for_good_is_waited_for_no_more(pool: Pool) -> None:
    meet(pool)
    for name in ("cid", "dan"):
        pool.lobby.remove(playing(pool, name))
    assert pool.names(5) == []
    assert pool.names(6) == [{"ann", "bob"}]
    pool.over(playing(pool, "ann"), playing(pool, "bob"), 6.5)
    assert pool.names(6.5) == [{"ann", "bob"}]


def test_who_comes_back_under_another_name_is_no_longer_taken_to_play(pool: Pool) -> None:
    ann, bob = meet(pool)
    pool.lobby.remove(playing(pool, "cid"))
    seeker = Seeker("eve")
    pool.lobby.rename(seeker, "cid", counted=True)
    pool.lobby.admit(seeker, 5)
    assert {"ann", "bob"} not in pool.names(5)
    assert [one.waiting for one in (ann, bob, seeker)].count(True) == 1


def test_a_newcomer_is_not_held_back(pool: Pool) -> None:
    pool.met("ann", "bob")
    pool.come("cid")
    pool.come("dan")
    pool.pairs()
    pool.come("ann", 1)
    pool.come("bob", 1)
    assert pool.names(1) == [{"ann", "bob"}]


# How often.


def standing_by(pool: Pool, games: int) -> list[Names]:
    """Let ann and bob stand by for so many games; return who had the first move in those they got."""
    ann, bob = pool.come("ann", asked=False), pool.come("bob", asked=False)
    played = []
    for number in range(games):
        for first, second in pool.pairs(number):
            played.append((first.name, second.name))
            pool.over(ann, bob, number + 1)
    return played


def test_two_who_stand_by_meet_so_often_in_each_order() -> None:
    games = standing_by(Pool(cap=3), 20)
    assert Counter(games) == {("ann", "bob"): 3, ("bob", "ann"): 3}


def test_no_cap_is_no_limit() -> None:
    assert len(standing_by(Pool(cap=0), 50)) == 50


@pytest.mark.parametrize("one_asked", [False, True])
def test_a_game_that_one_asked_for_is_not_capped(one_asked: bool) -> None:
    pool = Pool(cap=1)
    pool.met("ann", "bob", 5)
    pool.met("bob", "ann", 5)
    pool.come("ann", asked=one_asked)
    pool.come("bob", asked=True)
    assert pool.names(10) == [{"ann", "bob"}]


def test_a_capped_player_meets_others() -> None:
    pool = Pool(cap=1)
    pool.met("ann", "bob")
    pool.met("bob", "ann")
    pool.come("ann", asked=False)
    pool.come("bob", asked=False)
    assert pool.names(10) == []
    pool.come("cid", 10, asked=False)
    assert pool.names(10) == [{"ann", "cid"}]


def test_one_who_asked_is_found_behind_one_of_the_same_name_who_is_capped() -> None:
    pool = Pool(cap=1)
    pool.met("ann", "bob")
    pool.met("bob", "ann")
    pool.come("ann", asked=False)
    pool.come("ann", asked=True)
    pool.come("bob", asked=False)
    ((first, second),) = pool.pairs(10)
    assert first.asked or second.asked


# First move.


def test_who_moved_first_less_often_moves_first() -> None:
    for seed in range(8):
        pool = Pool(seed=seed)
        pool.met("ann", "bob", 2)
        pool.met("bob", "ann", 1)
        pool.come("ann")
        pool.come("bob")
        ((first, _),) = pool.pairs(10)
        assert first.name == "bob"


def test_first_move_alternates_between_two() -> None:
    games = standing_by(Pool(), 8)
    assert all(games[number] == games[number + 1][::-1] for number in range(7) if number % 2 == 0)


def test_first_move_of_two_alike_goes_by_lot() -> None:
    firsts: Counter[str] = Counter()
    for seed in range(100):
        pool = Pool(seed=seed)
        pool.come("ann")
        pool.come("bob")
        ((first, _),) = pool.pairs()
        firsts[first.name] += 1
    assert 30 < firsts["ann"] < 70
    assert firsts.total() == 100


def test_the_lot_is_the_seeds() -> None:
    assert standing_by(Pool(seed=3), 20) == standing_by(Pool(seed=3), 20)


# Meetings.


def test_meetings_are_counted_by_order_and_between_two(pool: Pool) -> None:
    meetings = pool.lobby.meetings
    meetings.add("ann", "bob")
    meetings.add("ann", "bob")
    meetings.add("bob", "ann")
    assert (meetings.ordered("ann", "bob"), meetings.ordered("bob", "ann")) == (2, 1)
    assert meetings.between("ann", "bob") == meetings.between("bob", "ann") == 3


# Everything at once, against the rules read naively.


@dataclass
class Naive:
    """The rules of pairing, looking through everybody each time."""

    cap: int
    present: list[Seeker] = field(default_factory=list)
    games: Counter[Names] = field(default_factory=Counter)
    playing: list[Names] = field(default_factory=list)

    def met(self, one: Seeker, two: Seeker) -> int:
        names = one.name, two.name
        return self.games[names] + self.games[names[::-1]]

    def start(self, names: Names) -> None:
        self.games[names] += 1
        self.playing.append(names)

    def may_meet(self, one: Seeker, two: Seeker) -> bool:
        if one is two or (one.name == two.name and (one.counted or two.counted)):
            return False
        names = one.name, two.name
        if one.name != two.name and (names in self.playing or names[::-1] in self.playing):
            return False
        if any(seeker.wish and not seeker.wish.grants(of.name) for seeker, of in ((one, two), (two, one))):
            return False
        return one.asked or two.asked or min(self.games[names], self.games[names[::-1]]) < self.cap

    def pairs(self) -> list[tuple[Seeker, Seeker]]:
        waiting = [seeker for seeker in self.present if seeker.waiting]
        return [
            (one, two)
            for number, one in enumerate(waiting)
            for two in waiting[number + 1 :]
            if self.may_meet(one, two)
        ]

    def is_best(self, first: Seeker, second: Seeker, pairs: list[tuple[Seeker, Seeker]]) -> bool:
        """Whether of the pairs the two met least, and of these waited longest."""
        ranks = [(self.met(*pair), min(seeker.since for seeker in pair)) for pair in pairs]
        return (self.met(first, second), min(first.since, second.since)) <= min(ranks)


WISHES = st.sampled_from([None, None, None, Wish("ann"), Wish("BOB", any_case=True), Wish("cid")])
STEPS = st.lists(
    st.tuples(
        st.sampled_from(["come", "come", "over", "over", "leave", "rename", "wait"]),
        st.sampled_from(["ann", "bob", "cid", "dan", "TEST"]),
        WISHES,
        st.booleans(),
        st.integers(0, 20),
    ),
    min_size=10,
    max_size=60,
)


@given(st.integers(1, 3), st.integers(0, 3), STEPS, st.sampled_from([0.0, LONGEST_HOLD]))
def test_pairing_follows_the_rules_read_naively(cap: int, seed: int, steps: list, hold: float) -> None:
    lobby = Lobby(random.Random(seed), cap, hold)
    naive = Naive(cap)
    held: dict[tuple[Seeker, float, Seeker, float], float] = {}
    on: list[tuple[Seeker, Seeker, Names]] = []
    now = 0.0
    for kind, name, wish, asked, number in steps:
        now += 0.125
        freed: set[str] = set()
        if kind == "come":
            seeker = Seeker(name, wish, asked, name != "TEST")
            naive.present.append(seeker)
            lobby.admit(seeker, now)
        elif kind == "wait":
            now += number / 16
        elif kind == "over" and on:
            one, two, names = on.pop(number % len(on))
            lobby.played(*names)
            naive.playing.remove(names)
            freed = set(names)
            for seeker in (one, two):
                lobby.admit(seeker, now)
        elif kind in ("leave", "rename") and naive.present:
            seeker = naive.present[number % len(naive.present)]
            if not any(seeker in game for game in on):
                if kind == "rename" and not any(other.name == name for other in naive.present):
                    lobby.rename(seeker, name, counted=name != "TEST")
                elif kind == "leave":
                    lobby.remove(seeker)
                    naive.present.remove(seeker)
        waiting = {seeker for seeker in naive.present if seeker.waiting}
        candidates = naive.pairs()
        for first, second in lobby.pair(now):
            assert {first, second} <= waiting
            assert (first, second) in candidates or (second, first) in candidates
            # Two who waited while namesakes of theirs played each other come after those who come back.
            fresh = [pair for pair in candidates if {seeker.name for seeker in pair} != freed]
            assert hold or not fresh or naive.is_best(first, second, fresh)
            assert naive.games[first.name, second.name] <= naive.games[second.name, first.name]
            waiting -= {first, second}
            names = (first.name, second.name)
            naive.start(names)
            lobby.meetings.add(*names)
            lobby.playing(*names)
            on.append((first, second, names))
            candidates = naive.pairs()
        assert waiting == {seeker for seeker in naive.present if seeker.waiting}
        waits = [(one, one.since, two, two.since) for one, two in naive.pairs()]
        held = {wait: held.get(wait, now) for wait in waits}
        retry = lobby.next_retry()
        assert retry is None or retry > now
        assert not held or (retry is not None and retry <= min(held.values()) + hold)


# What it costs.


class Counting(Lobby):
    """A lobby that counts how often it asks of two whether they may meet."""

    asked = 0

    def _may_meet(self, one: Seeker, two: Seeker) -> bool:
        self.asked += 1
        return super()._may_meet(one, two)


CROWDS = {
    "namesakes": lambda number: Seeker("ann"),
    "who wish for somebody absent": lambda number: Seeker(f"w{number}", Wish(f"absent{number}")),
    "namesakes who do": lambda number: Seeker("zed", Wish(f"absent{number}")),
    "who wish for another spelling": lambda number: Seeker(f"w{number}", Wish("ZED")),
    "who wish for a house player": lambda number: Seeker(f"w{number}", Wish("random")),
    "who wish for one of the two": lambda number: Seeker(f"w{number}", Wish("zed", any_case=True)),
    "who play": lambda number: Seeker(f"w{number}"),
}


def looks(crowd: str, size: int) -> int:
    """Return what it takes to let two play three games, beside a crowd."""
    lobby = Counting(random.Random(0), 10)
    for number in range(size):
        seeker = CROWDS[crowd](number)
        lobby.admit(seeker, 0.0)
        if crowd == "who play":
            lobby._unseat(seeker, 0.0)
    for _ in lobby.pair(0.0):
        pass
    lobby.asked = 0
    now = 1.0
    pair = Seeker("zed"), Seeker("joe")
    for _ in range(3):
        for seeker in pair:
            lobby.admit(seeker, now)
            for first, second in lobby.pair(now):
                lobby.meetings.add(first.name, second.name)
                lobby.playing(first.name, second.name)
                lobby.played(first.name, second.name)
        for seeker in pair:
            lobby.remove(seeker)
        now += 2.0
    return lobby.asked


@pytest.mark.parametrize("crowd", CROWDS)
def test_pairing_takes_no_longer_beside_a_larger_crowd(crowd: str) -> None:
    assert looks(crowd, 2 * CHOICE) == looks(crowd, 20 * CHOICE) <= 10 * CHOICE


def test_of_many_who_suit_the_least_met_among_the_first_come_is_taken(pool: Pool) -> None:
    for number in range(CHOICE + 1):
        if number != CHOICE - 1:
            pool.met("zed", f"w{number}", 2 if number < CHOICE else 0)
        pool.come(f"w{number}", number / 1000, wish=Wish("zed"))
    pool.come("zed", 1.0)
    assert pool.names(1.0) == [{"zed", f"w{CHOICE - 1}"}]


def test_those_who_may_not_meet_take_nobodys_place_in_the_choice(pool: Pool) -> None:
    for number in range(CHOICE):
        pool.lobby.playing("zed", f"w{number}")
        pool.come(f"w{number}", wish=Wish("zed"))
    pool.come("free", 1.0, wish=Wish("zed"))
    pool.come("zed", 1.0)
    assert pool.names(1.0) == [{"zed", "free"}]


def test_meetings_of_long_ago_are_forgotten_first() -> None:
    meetings = Meetings(limit=3)
    for second in ("bob", "cid", "bob", "dan", "eve"):
        meetings.add("ann", second)
    assert meetings.ordered("ann", "cid") == 0
    assert meetings.ordered("ann", "bob") == 2
    assert meetings.ordered("ann", "eve") == 1


def test_the_pace_of_long_ago_is_forgotten_first() -> None:
    pace = Pace(limit=2)
    for name in ("ann", "bob", "ann", "cid"):
        pace.add(name, 4.0)
    assert [pace.usual(name) for name in ("ann", "bob", "cid")] == [4.0, None, 4.0]


def test_what_is_usual_follows_what_comes() -> None:
    pace = Pace()
    pace.add("ann", 4.0)
    pace.add("ann", 8.0)
    assert pace.usual("ann") == 5.0
    for _ in range(30):
        pace.add("ann", 1.0)
    assert pace.usual("ann") == pytest.approx(1.0, rel=0.01)


def test_long_names_are_told_apart_and_not_kept() -> None:
    meetings = Meetings()
    one, two, three = (255 * "\U0001f600" + last for last in "123")
    meetings.add(one, two)
    meetings.add(one, three)
    meetings.add("ann", two)
    assert (meetings.ordered(one, two), meetings.ordered(two, one)) == (1, 0)
    assert meetings.between(two, three) == 0
    assert max(sys.getsizeof(name) for pair in meetings.latest() for name in pair) < 100


# Several nodes.


def at_home(name: str, home: str) -> Seeker:
    return Seeker(name, home=home)


def test_among_those_met_equally_often_one_of_the_same_node_comes_before_the_longest_waiting(
    pool: Pool,
) -> None:
    far, near, one = at_home("ann", "a"), at_home("bob", "b"), at_home("cid", "b")
    pool.lobby.playing("ann", "bob")
    for when, seeker in enumerate((far, near)):
        pool.lobby.admit(seeker, when)
        assert pool.names(when) == []
    pool.lobby.admit(one, 2.0)
    assert pool.names(2.0) == [{"bob", "cid"}]


def test_one_met_less_often_comes_before_one_of_the_same_node(pool: Pool) -> None:
    far, near, one = at_home("ann", "a"), at_home("bob", "b"), at_home("cid", "b")
    pool.lobby.playing("ann", "bob")
    pool.met("bob", "cid")
    for seeker in (far, near, one):
        pool.lobby.admit(seeker, 0.0)
    assert pool.names() == [{"ann", "cid"}]


def test_meetings_that_are_learnt_count_as_others_and_are_the_first_to_be_forgotten() -> None:
    meetings = Meetings(limit=3)
    meetings.add("ann", "bob")
    meetings.learn("ann", "bob", 2)
    meetings.learn("bob", "cid", 5)
    assert meetings.ordered("ann", "bob") == 3
    assert meetings.between("cid", "bob") == 5
    assert meetings.latest() == [("ann", "bob"), ("bob", "cid")]
    meetings.add("dan", "eve")
    meetings.add("eve", "dan")
    assert meetings.between("bob", "cid") == 0
    meetings.learn("fay", "gus", 1)
    assert meetings.between("fay", "gus") == 0


def test_what_stands_for_a_long_name_is_the_same_everywhere_and_no_name_that_is_kept() -> None:
    long = "n" * (LONGEST_KEY + 1)
    assert key(long) == key(long)
    assert key(long) != key(long + "\ud800")
    assert len(key(long)) == LONGEST_KEY + 1
    assert key(long[1:]) == long[1:]

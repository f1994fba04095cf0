"""How the lobby pairs: case by case, and against the rules read naively."""

import random
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.game.commands import Wish
from gateway.matchmaking.lobby import CHOICE, LONGEST_HOLD, LONGEST_KEY, Lobby, Meetings, Pace, key
from gateway.matchmaking.pool import Seeker

Names = tuple[str, str]
ANN_BOB = [{"ann", "bob"}]


class Room:
    """A lobby whose pairs play at once, and come back when a test says so."""

    def __init__(self, cap: int = 10, seed: int = 0) -> None:
        self.lobby = Lobby(random.Random(seed), cap)
        self.paired: dict[str, Seeker] = {}

    def come(self, name: str, now: float = 0.0, wish: Wish | None = None, **about: object) -> Seeker:
        seeker = Seeker(name, wish, **about)  # type: ignore[arg-type]
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
            self.paired |= {first.name: first, second.name: second}
        return pairs

    def names(self, now: float = 0.0) -> list[set[str]]:
        """Return who is paired, by name and whoever has the first move."""
        return [{first.name, second.name} for first, second in self.pairs(now)]

    def over(self, one: str, two: str, now: float) -> None:
        """Let the game of the two be over, and both wait again."""
        self.lobby.played(one, two)
        for name in (one, two):
            self.lobby.admit(self.paired[name], now)


@pytest.fixture
def room() -> Room:
    return Room()


def any_case(name: str) -> Wish:
    return Wish(name, any_case=True)


def opening(name: str) -> Seeker:
    return Seeker(name, opens=True)


ANN, BOB, CID, TEST = ("ann",), ("bob",), ("cid",), ("TEST", None, True, False)
WHO_MEETS = {
    "different names": ([ANN, BOB], ANN_BOB),
    "spelling makes a name": ([ANN, ("Ann",)], [{"ann", "Ann"}]),
    "a name does not meet itself": ([ANN, ANN, BOB], ANN_BOB),
    "testers meet testers of their name": ([TEST] * 4, [{"TEST"}] * 2),
    "a tester meets no counted namesake": ([TEST, ("TEST",)], []),
    "a wish is for nobody else": ([("ann", Wish("bob")), CID], []),
    "a wish is granted": ([("ann", Wish("bob")), BOB], ANN_BOB),
    "wishes have to agree": ([("ann", Wish("bob")), ("bob", Wish("cid"))], []),
    "a wish is exact": ([("ann", Wish("BOB")), ("bob", Wish("ann"))], []),
    "or in any case": ([("ann", any_case("BOB")), ("bob", Wish("ann"))], ANN_BOB),
    "for any bearer": (
        [("bob", Wish("zoe")), ("BOB", Wish("zoe")), ("Bob",), ("ann", any_case("bob"))],
        [{"ann", "Bob"}],
    ),
    "a wish for its own name": ([("ann", Wish("ann")), ("ann", Wish("ann")), BOB], []),
    "a tester's wish for its own name": ([("TEST", any_case("test"), True, False)] * 2, [{"TEST"}]),
    "a house player's name is met": ([("random",), ANN], [{"ann", "random"}]),
    "but satisfies no wish for one": ([("ann", any_case("Random")), ("random", Wish("ann"))], []),
}


@pytest.mark.parametrize(("seekers", "pairs"), WHO_MEETS.values(), ids=WHO_MEETS)
def test_who_meets_whom(room: Room, seekers: list[tuple], pairs: list[set[str]]) -> None:
    for each in seekers:
        room.lobby.admit(Seeker(*each), 0.0)
    assert room.names() == pairs
    assert room.names() == []


def test_those_who_play_each_other_elsewhere_do_not_meet(room: Room) -> None:
    room.lobby.playing("ann", "bob")
    room.lobby.playing("bob", "ann")
    room.come("ann")
    room.come("bob")
    for still in (True, False):
        assert room.names() == []
        room.lobby.played("ann", "bob")
        assert still or room.names() == ANN_BOB


def test_two_who_always_open_do_not_meet(room: Room) -> None:
    for name in ("ann", "bob"):
        room.lobby.admit(opening(name), 0)
    assert room.names() == []
    room.come("cid")
    assert room.names() == [{"ann", "cid"}]


def test_who_always_opens_does_so_whatever_was_before_and_it_counts(room: Room) -> None:
    room.met("ann", "bob", 5)
    for number in range(3):
        room.lobby.admit(opening("ann"), number)
        bob = room.come("bob", number)
        [(first, _)] = room.pairs(number)
        assert first.name == "ann"
        room.lobby.played("ann", "bob")
        room.lobby.remove(first)
        room.lobby.remove(bob)
    assert room.lobby.meetings.ordered("ann", "bob") == 8
    room.met("ann", "random", 2)
    ann = opening("ann")
    room.lobby.admit(ann, 9)
    assert room.lobby.pair_with_house(ann, "random", 9) is True


def test_seeker_who_plays_a_house_player_waits_no_longer_and_moves_first_in_turn(room: Room) -> None:
    ann = room.come("ann")
    room.met("ann", "random")
    assert room.lobby.pair_with_house(ann, "random", 0) is False
    room.come("bob")
    assert room.names() == []
    room.met("random", "ann", 2)
    room.lobby.admit(ann, 0)
    assert room.lobby.pair_with_house(ann, "random", 0) is True


CHOICES: dict[str, tuple[dict[Names, int], list[dict], str]] = {
    "least met": ({("ann", "cid"): 2, ("bob", "cid"): 1}, [{}, {}], "bob"),
    "then the longest waiting": ({("ann", "cid"): 1, ("cid", "bob"): 1}, [{}, {}], "ann"),
    "also of two who wish for it": ({}, [{}, {"wish": Wish("cid")}], "ann"),
    "but one of its node first": ({}, [{"home": "a"}, {}], "bob"),
    "unless met more often": ({("bob", "cid"): 1}, [{"home": "a"}, {}], "ann"),
}


@pytest.mark.parametrize(("met", "about", "chosen"), CHOICES.values(), ids=CHOICES)
def test_which_of_two_is_met(room: Room, met: dict[Names, int], about: list[dict], chosen: str) -> None:
    for names, times in met.items():
        room.met(*names, times)
    room.lobby.playing("ann", "bob")
    for now, (name, each) in enumerate(zip(("ann", "bob"), about, strict=True)):
        room.come(name, now, **each)
        assert room.names(now) == []
    room.come("cid", 2)
    assert room.names(2) == [{"cid", chosen}]


def test_new_name_is_looked_at_at_once_and_keeps_the_time_of_waiting(room: Room) -> None:
    first, _ = room.come("ann", 0), room.come("ann", 1)
    assert room.names(2) == []
    room.lobby.rename(first, "bob", counted=True)
    assert room.names(2) == ANN_BOB
    assert first.since == 0


def test_who_takes_a_new_name_while_it_plays_waits_for_nobody(room: Room) -> None:
    ann = room.come("ann")
    room.come("bob")
    room.pairs()
    room.lobby.rename(ann, "TEST", counted=False)
    room.come("cid", 1)
    assert room.names(1) == []
    room.lobby.played("ann", "bob")
    room.lobby.admit(ann, 2)
    assert room.names(2) == [{"TEST", "cid"}]


# Those who are held back.


def meet(room: Room, until: float = 5.0) -> None:
    """Let ann and bob play for the first time, so long, while cid and dan have begun a second later."""
    for now, names in enumerate((("ann", "bob"), ("cid", "dan"))):
        for name in names:
            room.come(name, now)
        assert room.names(now) == [{*names}]
    room.over("ann", "bob", until)


def held_until(room: Room, now: float) -> float:
    """Return until when ann and bob are held back, who are so now."""
    assert room.names(now) == []
    retry = room.lobby.next_retry()
    assert retry is not None
    assert room.names(retry - 0.01) == []
    assert room.names(retry) == ANN_BOB
    assert room.lobby.next_retry() is None
    return retry


def test_two_alone_meet_again_at_once(room: Room) -> None:
    room.come("ann")
    room.come("bob")
    room.pairs()
    room.over("ann", "bob", 5)
    assert room.names(5) == ANN_BOB


def test_two_are_held_back_for_a_second_at_most(room: Room) -> None:
    meet(room)
    assert held_until(room, 5) == 5 + LONGEST_HOLD


def test_two_are_held_back_until_somebody_less_met_is_free(room: Room) -> None:
    meet(room)
    assert room.names(5) == []
    room.over("cid", "dan", 5.5)
    mixed = room.names(5.5)
    assert len(mixed) == 2
    assert {"ann", "bob"} not in mixed


def test_nobody_is_held_back_for_much_longer_than_its_games_take(room: Room) -> None:
    for now in (0.0, 0.25):
        for name in ("cid", "dan") if now else ("ann", "bob"):
            room.come(name, now)
        room.pairs(now)
    room.over("ann", "bob", 0.5)
    assert 1.0 <= held_until(room, 0.5) <= 1.25


@pytest.mark.parametrize(("usual", "is_held"), [(6.5, False), (7.5, True), (9.5, True), (10.5, False)])
def test_who_is_soon_free_shows_in_how_long_it_has_taken_before(
    room: Room, usual: float, is_held: bool
) -> None:
    for name in ("cid", "dan"):
        room.come(name, -usual)
    room.pairs(-usual)
    room.over("cid", "dan", 0)
    room.pairs(0)
    for name in ("ann", "bob"):
        room.come(name, 1)
    room.pairs(1)
    room.over("ann", "bob", 8.5)
    assert room.names(8.5) == ([] if is_held else ANN_BOB)


@pytest.mark.parametrize("is_back", [True, False])
def test_who_left_after_its_series_is_waited_for_while_it_may_be_back(room: Room, is_back: bool) -> None:
    meet(room)
    for name in ("cid", "dan"):
        room.lobby.remove(room.paired[name])
    room.lobby.played("cid", "dan")
    assert room.names(5) == []
    if is_back:
        for now, name in ((5.25, "cid"), (5.5, "dan")):
            room.come(name, now)
            assert len(room.names(now)) == 1
    else:
        assert room.names(6) == ANN_BOB
        room.over("ann", "bob", 6.5)
        assert room.names(6.5) == ANN_BOB


def test_newcomers_are_not_held_back(room: Room) -> None:
    room.met("ann", "bob")
    for now, names in enumerate((("cid", "dan"), ("ann", "bob"))):
        for name in names:
            room.come(name, now)
        assert room.names(now) == [{*names}]


# How often, and who opens.


@pytest.mark.parametrize(("cap", "games"), [(3, 6), (0, 50)])
def test_two_who_stand_by_open_so_many_games_each_in_turn(cap: int, games: int) -> None:
    room, openers = Room(cap), list[str]()
    for name in ("ann", "bob"):
        room.come(name, asked=False)
    for now in range(50):
        for first, _ in room.pairs(now):
            openers.append(first.name)
            room.over("ann", "bob", now + 1)
    assert len(openers) == games
    assert all({*openers[number : number + 2]} == {"ann", "bob"} for number in range(0, games, 2))


def test_first_move_of_two_alike_goes_by_lot() -> None:
    firsts: Counter[str] = Counter()
    for seed in range(100):
        room = Room(seed=seed)
        room.come("ann")
        room.come("bob")
        ((first, _),) = room.pairs()
        firsts[first.name] += 1
    assert 30 < firsts["ann"] < 70
    assert firsts.total() == 100


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
        if one.opens and two.opens:
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


WISHES = st.sampled_from([None, None, None, Wish("ann"), any_case("BOB"), Wish("cid")])
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
            opens = asked and number % 3 == 0
            seeker = Seeker(name, wish, asked, name != "TEST", opens=opens)
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
            games = [naive.games[first.name, second.name], naive.games[second.name, first.name]]
            assert first.opens or (not second.opens and games[0] <= games[1])
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


class Watched(Seeker):
    """A seeker that counts how often its name is read."""

    looks = 0

    @property
    def name(self) -> str:
        Watched.looks += 1
        return self._name

    @name.setter
    def name(self, name: str) -> None:
        self._name = name


CROWDS: dict[str, Callable[[int], Seeker]] = {
    "namesakes": lambda number: Watched("ann"),
    "who wish for somebody absent": lambda number: Watched(f"w{number}", Wish(f"absent{number}")),
    "namesakes who do": lambda number: Watched("zed", Wish(f"absent{number}")),
    "who wish for another spelling": lambda number: Watched(f"w{number}", Wish("ZED")),
    "who wish for a house player": lambda number: Watched(f"w{number}", Wish("random")),
    "who wish for one of the two": lambda number: Watched(f"w{number}", any_case("zed")),
    "who play": lambda number: Watched(f"w{number}"),
}


def looks(crowd: str, size: int) -> int:
    """Return how often the names of a crowd are read while two play three games."""
    lobby = Lobby(random.Random(0), 10)
    for number in range(size):
        seeker = CROWDS[crowd](number)
        lobby.admit(seeker, 0.0)
        if crowd == "who play":
            lobby.pair_with_house(seeker, "random", 0.0)
    list(lobby.pair(0.0))
    Watched.looks = 0
    pair = Seeker("zed"), Seeker("joe")
    for now in (1.0, 3.0, 5.0):
        for seeker in pair:
            lobby.admit(seeker, now)
            for first, second in lobby.pair(now):
                lobby.meetings.add(first.name, second.name)
                lobby.playing(first.name, second.name)
                lobby.played(first.name, second.name)
        for seeker in pair:
            lobby.remove(seeker)
    return Watched.looks


@pytest.mark.parametrize("crowd", CROWDS)
def test_pairing_takes_no_longer_beside_a_larger_crowd(crowd: str) -> None:
    assert looks(crowd, 2 * CHOICE) == looks(crowd, 6 * CHOICE)


def test_of_many_who_suit_the_least_met_among_the_first_come_is_taken(room: Room) -> None:
    for number in range(CHOICE + 1):
        if number != CHOICE - 1:
            room.met("zed", f"w{number}", 2 if number < CHOICE else 0)
        room.come(f"w{number}", number / 1000, wish=Wish("zed"))
    room.come("zed", 1.0)
    assert room.names(1.0) == [{"zed", f"w{CHOICE - 1}"}]


def test_those_who_may_not_meet_take_nobodys_place_in_the_choice(room: Room) -> None:
    for number in range(CHOICE):
        room.lobby.playing("zed", f"w{number}")
        room.come(f"w{number}", wish=Wish("zed"))
    room.come("free", 1.0, wish=Wish("zed"))
    room.come("zed", 1.0)
    assert room.names(1.0) == [{"zed", "free"}]


# What is remembered.


def test_meetings_are_counted_by_order_and_those_of_long_ago_forgotten_first() -> None:
    meetings = Meetings(limit=3)
    for second in ("bob", "cid", "bob", "dan", "eve"):
        meetings.add("ann", second)
    assert (meetings.ordered("ann", "bob"), meetings.ordered("bob", "ann")) == (2, 0)
    assert meetings.between("ann", "bob") == meetings.between("bob", "ann") == 2
    assert [meetings.ordered("ann", name) for name in ("cid", "dan", "eve")] == [0, 1, 1]


def test_meetings_that_are_learnt_count_as_others_and_are_the_first_to_be_forgotten() -> None:
    meetings = Meetings(limit=3)
    meetings.add("ann", "bob")
    meetings.learn("ann", "bob", 2)
    meetings.learn("bob", "cid", 5)
    assert (meetings.ordered("ann", "bob"), meetings.between("cid", "bob")) == (3, 5)
    assert meetings.latest() == [("ann", "bob"), ("bob", "cid")]
    meetings.add("dan", "eve")
    meetings.add("eve", "dan")
    assert meetings.between("bob", "cid") == 0
    meetings.learn("fay", "gus", 1)
    assert meetings.between("fay", "gus") == 0


def test_pace_follows_what_comes_and_that_of_long_ago_is_forgotten_first() -> None:
    pace = Pace(limit=2)
    for name, seconds in (("ann", 4.0), ("bob", 4.0), ("ann", 8.0), ("cid", 4.0)):
        pace.add(name, seconds)
    assert [pace.usual(name) for name in ("ann", "bob", "cid")] == [5.0, None, 4.0]
    for _ in range(30):
        pace.add("ann", 1.0)
    assert pace.usual("ann") == pytest.approx(1.0, rel=0.01)


def test_long_names_are_told_apart_and_not_kept() -> None:
    meetings = Meetings()
    one, two, three = (255 * "\U0001f600" + last for last in "12\ud800")
    meetings.add(one, two)
    meetings.add(one, three)
    assert (meetings.ordered(one, two), meetings.ordered(two, one), meetings.between(two, three)) == (1, 0, 0)
    assert max(sys.getsizeof(name) for pair in meetings.latest() for name in pair) < 100
    assert len(key(one)) == LONGEST_KEY + 1  # longer than any name that is kept
    assert key("n" * LONGEST_KEY) == "n" * LONGEST_KEY

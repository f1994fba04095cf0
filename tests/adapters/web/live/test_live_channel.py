"""What viewers are told: complete, in order, at fixed places; and who fell behind begins anew."""

import sys
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from live_world import (
    NASTY,
    Browser,
    Games,
    events_in,
    game,
    hindered,
    identity,
    move,
    over,
    stands,
    waits,
)

from adapters.web.live import channel as channel_module
from adapters.web.live import live as live_module
from adapters.web.live.channel import FRESH, RING, Channel, Wanted
from adapters.web.live.live import KEPT
from adapters.web.live.state import HELD
from gateway.game.facts import Cause, Obstacle, Vanished

ALL = Wanted()


class Viewer:
    """One who watches, reads when a test says so, and hangs up after each time."""

    def __init__(self, all_of_them: Games, wanted: Wanted = ALL) -> None:
        self.browser = Browser()
        self._channels = all_of_them
        self._wanted = wanted

    def read(self, now: float = 0.0) -> Browser:
        watched = self._channels.open(self._wanted)
        self.browser.read(watched.since(watched.number_in(self.browser.last), now))
        self._channels.close(watched, now)
        return self.browser

    def new(self, now: float = 0.0) -> list[str]:
        """Return the kinds of events that came since the last look."""
        before = len(self.browser.kinds)
        return self.read(now).kinds[before:]

    def places(self, now: float = 0.0) -> dict[int, str]:
        return {place: each["game"] for place, each in self.read(now).games.items()}


def agree(all_of_them: Games, viewer: Viewer, now: float) -> None:
    """Check that a viewer knows what a new snapshot says."""
    seen = viewer.read(now)
    there = all_of_them.open(viewer._wanted)
    all_of_them.close(there, now)
    true = Browser()
    true.read(b"id: x-1\nevent: snapshot\ndata: " + _json(there, now) + b"\n\n")
    assert _lasting(seen) == _lasting(true)


def _json(there: Channel, now: float) -> bytes:
    return channel_module.event("snapshot", there.state(now)).split(b"data: ")[1].strip()


def _lasting(browser: Browser) -> object:
    return {place: {**each, "thinking": 0} for place, each in browser.games.items()}


def test_snapshot_is_kept_no_longer_than_it_serves_others() -> None:
    all_of_them = Games(stands(game(1)))
    watched = all_of_them.open(ALL)
    snapshot = watched.snapshot(5.0)
    all_of_them.tick(5.0 + FRESH)
    assert watched.snapshot(5.0 + FRESH) is snapshot
    all_of_them.tick(5.1 + FRESH)
    assert sys.getrefcount(snapshot) == 2  # the test's, and that of the call


def test_viewer_is_told_a_game_from_its_start_to_its_place_being_free() -> None:
    all_of_them = Games()
    viewer = Viewer(all_of_them)
    assert viewer.new() == ["snapshot"]
    all_of_them.hear([game(1), move(1, 0), move(1, 1), over(1)], 1.0)
    assert viewer.new() == ["started", "moved", "moved", "ended"]
    all_of_them.tick(1.0 + HELD - 0.1)
    assert "gone" not in viewer.new()
    all_of_them.tick(1.0 + HELD)
    assert viewer.new() == ["gone"]
    assert viewer.browser.games == {}


def test_what_a_move_says() -> None:
    all_of_them = Games(stands(game(1), (3, 3)))
    viewer = Viewer(all_of_them)
    viewer.read()
    all_of_them.hear([move(1, 0, 5)], 1.0)
    watched = all_of_them.open(ALL)
    [(_, kind, told)] = events_in(watched.since(watched.number_in(viewer.browser.last), 1.0))
    expected = {"game": identity(1), "number": 3, "side": 0, "column": 5, "used": 0.5, "left": None}
    assert (kind, told) == ("moved", expected)


def test_newest_games_have_the_first_places_and_the_others_are_counted() -> None:
    all_of_them = Games(*(stands(game(number)) for number in (3, 1, 4, 2)))
    viewer = Viewer(all_of_them, Wanted(most=2))
    assert viewer.places() == {0: identity(4), 1: identity(3)}
    assert viewer.browser.counts["playing"] == 4


def test_game_takes_a_free_place_and_keeps_it_while_others_go() -> None:
    all_of_them = Games(stands(game(1)))
    viewer = Viewer(all_of_them, Wanted(most=3))
    viewer.read()
    all_of_them.hear([game(2), game(3), game(4), over(1)], 1.0)
    assert viewer.places() == {0: identity(1), 1: identity(2), 2: identity(3)}
    all_of_them.hear([over(4)], 1.0)  # which had no place
    all_of_them.tick(1.0 + HELD)
    assert viewer.places() == {1: identity(2), 2: identity(3)}
    all_of_them.hear([game(5)], 10.0)
    assert viewer.places() == {0: identity(5), 1: identity(2), 2: identity(3)}


def test_place_of_a_game_that_ended_goes_to_the_newest_that_had_none() -> None:
    all_of_them = Games(stands(game(1)))
    viewer = Viewer(all_of_them, Wanted(most=1))
    viewer.read()
    all_of_them.hear([game(2), game(3), move(3, 0), over(1)], 1.0)
    viewer.read()
    all_of_them.tick(1.0 + HELD)
    assert "started" in viewer.new()
    assert "gone" not in viewer.browser.kinds
    [carried] = viewer.browser.games.values()
    assert (carried["game"], carried["moves"], carried["place"]) == (identity(3), "3", 0)


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        (ALL, {1, 2, 3}),
        (Wanted(player="ann"), {1, 2}),
        (Wanted(player="ANN"), set()),
        (Wanted(table="x"), {2, 3}),
        (Wanted(table="X"), {2, 3}),
        (Wanted(table="y"), set()),
        (Wanted(player="ann", table="x"), {2}),
        (Wanted(game=identity(3)), {3}),
        (Wanted(game=identity(3), player="ann"), set()),
        (Wanted(game=identity(9)), set()),
    ],
)
def test_viewer_is_told_of_the_games_that_it_wants(wanted: Wanted, found: set[int]) -> None:
    games = [game(1), game(2, ("bob", "ann"), "x"), game(3, ("carol", "dan"), "x")]
    early, late = Games(*map(stands, games)), Games()
    viewer, later = Viewer(early, wanted), Viewer(late, wanted)
    assert {each["game"] for each in viewer.read().games.values()} == {*map(identity, found)}
    later.read()
    late.hear(games, 1.0)
    assert {each["game"] for each in later.read(1.0).games.values()} == {*map(identity, found)}
    ends = [told for number in (1, 2, 3) for told in (move(number, 0), over(number))]
    late.hear(ends, 1.0)
    assert later.new(1.0) == ["moved", "ended"] * len(found)


def test_counts_are_told_when_they_change() -> None:
    all_of_them = Games(*waits(1, "ann"))
    viewer = Viewer(all_of_them)
    viewer.read()
    all_of_them.tick(1.0)  # who waits has waited for longer, and nothing else
    assert viewer.new(1.0) == []
    all_of_them.hear(waits(2, "bob"), 2.5)
    all_of_them.tick(3.0)
    assert viewer.new(3.0) == ["counts"]
    assert [each["name"] for each in viewer.browser.counts["lobby"]] == ["bob", "ann"]
    all_of_them.hear([hindered(2, Obstacle(Cause.ALONE, "x"))], 3.5)
    all_of_them.tick(4.0)
    assert viewer.new(4.0) == ["counts"]
    assert [each["why"] is None for each in viewer.browser.counts["lobby"]] == [False, True]


def test_those_who_want_the_same_share_a_channel_and_what_was_encoded() -> None:
    all_of_them = Games(stands(game(1)))
    one, other = all_of_them.open(ALL), all_of_them.open(Wanted())
    assert one is other
    assert one.since(None, 0.0) is one.since(None, FRESH / 2)
    all_of_them.hear([move(1, 0)], 1.0)
    assert one.since(0, 1.0) is one.since(0, 1.0)
    assert all_of_them.open(Wanted(most=3)) is not one


def test_snapshot_for_somebody_later_has_later_times() -> None:
    watched = Games(stands(game(1))).open(ALL)
    [first], [second] = (events_in(watched.since(None, now)) for now in (1.0, 2.0))
    assert [each[2]["games"][0]["thinking"] for each in (first, second)] == [1.0, 2.0]


def test_viewer_that_connects_again_misses_nothing_and_hears_nothing_twice() -> None:
    all_of_them = Games(stands(game(1)))
    viewer = Viewer(all_of_them)
    for number in range(12):
        assert viewer.new(float(number)) == (["moved"] if number else ["snapshot"])
        all_of_them.hear([move(1, number % 2, number % 7)], float(number))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "last", ["", "run", "run-1", "run-1-", "run-2-0", "other-1-0", "run-1-99", "run-1-\u0663", "run-1--1"]
)
def test_id_that_is_not_of_this_channel_gets_a_snapshot(last: str) -> None:
    watched = Games(stands(game(1))).open(ALL)
    assert watched.number_in("run-1-0") == 0
    [(_, kind, _)] = events_in(watched.since(watched.number_in(last), 0.0))
    assert kind == "snapshot"


def test_id_of_an_earlier_channel_for_the_same_gets_a_snapshot() -> None:
    all_of_them = Games(stands(game(1)))
    viewer = Viewer(all_of_them)
    viewer.read()
    all_of_them.tick(KEPT + 1)
    assert len(all_of_them.live.channels) == 0
    assert viewer.new(KEPT + 1) == ["snapshot"]


def test_viewer_that_falls_out_of_the_ring_gets_a_snapshot() -> None:
    all_of_them = Games(*(stands(game(number)) for number in range(50)))
    slow, quick = Viewer(all_of_them), Viewer(all_of_them)
    slow.read()
    for side in (0, 1) * 10:
        all_of_them.hear([move(number, side) for number in range(50)], 1.0)  # type: ignore[arg-type]
        quick.read(1.0)
    assert quick.browser.kinds.count("snapshot") == 1
    assert slow.new(1.0) == ["snapshot"]
    agree(all_of_them, quick, 1.0)


def test_ring_is_bounded_in_bytes() -> None:
    watched = Games(stands(game(1))).open(ALL)
    for _ in range(2000):
        watched.put(b"x" * 100)
    kept = [watched.since(number, 0.0) for number in range(watched.number)]
    kept = [data for data in kept if b"event: snapshot" not in data]
    assert len(kept) > 100
    assert max(map(len, kept)) <= RING
    watched.put(b"x" * (RING + 1))
    assert b"event: snapshot" in watched.since(watched.number - 1, 0.0)


def test_gap_gives_everybody_a_snapshot_and_until_then_nobody_sees_half_of_it() -> None:
    all_of_them = Games(stands(game(1)))
    viewer, late = Viewer(all_of_them), Viewer(all_of_them)
    viewer.read()
    all_of_them.live.begin(1)
    all_of_them.hear([stands(game(2), (1,))], 5.0)
    assert viewer.new(5.0) == []
    assert late.places(5.0) == {0: identity(1)}
    all_of_them.complete(6.0)
    assert viewer.new(6.0) == ["snapshot"]
    assert viewer.places(6.0) == late.places(6.0) == {0: identity(2)}


def test_channel_without_viewers_stays_for_as_long_as_a_browser_takes_to_come_again() -> None:
    all_of_them = Games()
    watched = all_of_them.open(ALL)
    all_of_them.tick(1000.0)
    all_of_them.close(watched, 1000.0)
    all_of_them.tick(1000.0 + KEPT - 0.1)
    assert len(all_of_them.live.channels) == 1
    all_of_them.tick(1000.0 + KEPT)
    assert len(all_of_them.live.channels) == 0


def test_channels_are_bounded_and_the_one_without_viewers_for_longest_makes_room(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(live_module, "CHANNELS", 2)
    all_of_them = Games()
    one, other = all_of_them.open(Wanted(most=1)), all_of_them.open(Wanted(most=2))
    all_of_them.close(other, 1.0)
    all_of_them.close(one, 2.0)
    all_of_them.open(Wanted(most=3))
    assert all_of_them.open(Wanted(most=1)) is one
    assert len(all_of_them.live.channels) == 2
    all_of_them.open(Wanted(most=4))  # while all are watched, none makes room
    assert all_of_them.open(Wanted(most=1)) is one


@pytest.mark.parametrize("name", NASTY)
def test_name_reaches_a_browser_as_it_is_and_breaks_no_event(name: str) -> None:
    all_of_them = Games(stands(game(1, (name, "bob"), name)), *waits(7, name, name))
    watched = all_of_them.open(ALL)
    all_of_them.hear([game(2, (name, name))], 1.0)
    for data in (watched.since(None, 1.0), watched.since(0, 1.0)):
        [(_, _, told)] = events_in(data)
        for each in told.get("games", [told]):
            assert each["players"][0]["name"] == name


steps = st.lists(
    st.one_of(
        st.sampled_from(["start", "start", "end", "tick", "gap"]),
        st.integers(0, 99),
    ),
    max_size=80,
)


@given(steps, st.lists(st.integers(0, 7), min_size=1, max_size=20), st.sampled_from([400, 2000, RING]))
def test_viewer_that_reads_now_and_then_knows_what_a_snapshot_says(
    steps: Sequence[str | int], pauses: Sequence[int], ring: int
) -> None:
    """Whatever falls out of the ring, is missed, or comes while it does not read."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(channel_module, "RING", ring)
        all_of_them = Games()
        viewers = [Viewer(all_of_them, wanted) for wanted in (ALL, Wanted(most=2), Wanted(player="p1"))]
        on, now, number = dict[int, int](), 0.0, 0
        for count, step in enumerate(steps):
            now += 0.7
            match step:
                case "start":
                    number += 1
                    on[number] = 0
                    all_of_them.hear([game(number, (f"p{number % 3}", "bob"))], now)
                case "tick":
                    all_of_them.tick(now)
                case "gap":
                    told = [stands(game(each, (f"p{each % 3}", "bob")), (3,) * on[each]) for each in on]
                    all_of_them.tell_all(*told, now=now)
                case "end" if on:
                    ended = [*on][number % len(on)]
                    del on[ended]
                    all_of_them.hear([over(ended)], now)
                case int(which) if on:
                    moved = [*on][which % len(on)]
                    all_of_them.hear([move(moved, on[moved] % 2)], now)  # type: ignore[arg-type]
                    on[moved] += 1
            if count % (pauses[count % len(pauses)] + 1) == 0:
                for viewer in viewers:
                    agree(all_of_them, viewer, now)
        for viewer in viewers:
            agree(all_of_them, viewer, now)


def test_games_and_players_of_a_lost_node_vanish_for_all_viewers() -> None:
    lost = [stands(game(number)) for number in (51, 52, 53)]
    all_of_them = Games(stands(game(1)), *waits(4, "here"), *lost, *waits(110, "there"))
    viewers = [Viewer(all_of_them, Wanted(most=most)) for most in (1, 9)]
    assert {viewer.read().counts["playing"] for viewer in viewers} == {4}
    all_of_them.hear([Vanished(100, 199)], 1.0)
    for viewer in viewers:
        assert viewer.new(1.0) == ["snapshot"]
        assert viewer.places(1.0) == {0: identity(1)}
        assert [each["name"] for each in viewer.browser.counts["lobby"]] == ["here"]
    all_of_them.hear([over(1)], 2.0)
    all_of_them.tick(2.0 + HELD)
    assert viewers[0].places(10.0) == {}


def test_what_a_node_tells_after_the_state_was_complete_is_shown_when_it_has_told_all() -> None:
    all_of_them = Games(stands(game(1)), *waits(4, "here", waited=1.0))
    viewer = Viewer(all_of_them)
    viewer.read()
    all_of_them.hear([stands(game(51), (3,)), *waits(110, "there", waited=9.0)], 1.0)
    assert viewer.new(1.0) == []
    all_of_them.complete(1.0)
    assert viewer.new(1.0) == ["snapshot"]
    assert {*viewer.places(1.0).values()} == {identity(1), identity(51)}
    assert [each["name"] for each in viewer.browser.counts["lobby"]] == ["here", "there"]

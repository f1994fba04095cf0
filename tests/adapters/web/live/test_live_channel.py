"""What viewers get: complete, in order, at fixed places; and who fell behind begins anew."""

import sys
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from live_world import (
    NASTY,
    Browser,
    Games,
    away,
    back,
    events_in,
    game,
    hindered,
    identity,
    move,
    over,
    stands,
    waits,
)

from adapters.web.live.channel import Wanted
from adapters.web.live.live import CHANNELS
from gateway.game.events import Reason
from gateway.game.facts import Cause, Obstacle, Vanished

ALL = Wanted()
LATER = 15.0
"""Seconds after which a game that is over is gone, and a channel that nobody watches is not."""
LONG = 1000.0
"""Seconds after which such a channel is gone."""


class Viewer:
    """One who watches, reads when a test says so, and hangs up after each time."""

    def __init__(self, games: Games, wanted: Wanted = ALL) -> None:
        self.browser = Browser()
        self.wanted = wanted
        self._games = games

    def read(self, now: float = 0.0) -> Browser:
        watched = self._games.open(self.wanted)
        self.browser.read(watched.since(watched.number_in(self.browser.last), now))
        self._games.close(watched, now)
        return self.browser

    def new(self, now: float = 0.0) -> list[str]:
        """Return the kinds of events that came since the last look."""
        before = len(self.browser.kinds)
        return self.read(now).kinds[before:]

    def places(self, now: float = 0.0) -> dict[int, str]:
        return {place: each["game"] for place, each in self.read(now).games.items()}


def agree(games: Games, viewer: Viewer, now: float) -> None:
    """Check that a viewer knows what a new one is told, but for what grows with time."""

    def lasting(game: dict[str, Any]) -> dict[str, Any]:
        return {**game, "thinking": 0, "away": [each and each["grace"] for each in game["away"]]}

    shown = [
        {place: lasting(game) for place, game in each.read(now).games.items()}
        for each in (viewer, Viewer(games, viewer.wanted))
    ]
    assert shown[0] == shown[1]


def test_viewer_is_told_a_game_from_its_start_to_its_place_being_free() -> None:
    games = Games()
    viewer = Viewer(games)
    assert viewer.new() == ["snapshot"]
    games.hear([game(1), move(1, 0), move(1, 1), over(1)], 1.0)
    assert viewer.new() == ["started", "moved", "moved", "ended"]
    games.tick(2.0)
    assert "gone" not in viewer.new()
    games.tick(LATER)
    assert viewer.new() == ["gone"]
    assert viewer.browser.games == {}


def test_viewer_is_told_of_the_absence_of_a_player_of_a_game_that_it_sees() -> None:
    games = Games(stands(game(1)), stands(game(2)))
    viewer = Viewer(games, Wanted(most=1))
    viewer.read()
    games.hear([away(2, 1), away(1, 0), away(9, 0)], 1.0)
    assert viewer.new(1.0) == ["away"]
    agree(games, viewer, 1.0)
    assert viewer.browser.named(identity(2))["away"] == [None, {"seconds": 0.0, "grace": 30.0}]
    games.hear([back(2, 1)], 4.0)
    assert viewer.new(4.0) == ["away"]
    agree(games, viewer, 4.0)
    games.hear([away(2, 0), over(2, 1, Reason.LEFT)], 5.0)
    assert viewer.new(5.0) == ["away", "ended"]
    agree(games, viewer, 5.0)


def test_newest_games_have_the_first_places_and_the_others_are_counted() -> None:
    games = Games(*(stands(game(number)) for number in (3, 1, 4, 2)))
    viewer = Viewer(games, Wanted(most=2))
    assert viewer.places() == {0: identity(4), 1: identity(3)}
    assert viewer.browser.counts["playing"] == 4


def test_game_takes_a_free_place_and_keeps_it_while_others_go() -> None:
    games = Games(stands(game(1)))
    viewer = Viewer(games, Wanted(most=3))
    viewer.read()
    games.hear([game(2), game(3), game(4), over(1)], 1.0)
    assert viewer.places() == {0: identity(1), 1: identity(2), 2: identity(3)}
    games.hear([over(4)], 1.0)  # which had no place
    games.tick(LATER)
    assert viewer.places() == {1: identity(2), 2: identity(3)}
    games.hear([game(5)], 10.0)
    assert viewer.places() == {0: identity(5), 1: identity(2), 2: identity(3)}


def test_place_of_a_game_that_ended_goes_to_the_newest_that_had_none() -> None:
    games = Games(stands(game(1)))
    viewer = Viewer(games, Wanted(most=1))
    viewer.read()
    games.hear([game(2), game(3), move(3, 0), over(1)], 1.0)
    viewer.read()
    games.tick(LATER)
    assert "started" in viewer.new()
    assert "gone" not in viewer.browser.kinds
    [carried] = viewer.browser.games.values()
    assert (carried["game"], carried["moves"], carried["place"]) == (identity(3), "3", 0)


def test_game_that_is_over_gets_no_place_that_becomes_free() -> None:
    games = Games(stands(game(1)), stands(game(2)))
    games.hear([over(1)], 1.0)
    viewer = Viewer(games, Wanted(most=1))
    viewer.read()
    games.hear([over(2)], 1.0)
    games.tick(LATER)
    assert "gone" in viewer.new()


def rating(sure: float) -> dict[str, float]:
    return {"rank": 1, "sure": sure, "mean": sure + 9}


def test_strongest_pair_gets_a_place_first_and_the_next_one_the_place_that_is_free() -> None:
    names = {1: ("ann", "bob"), 2: ("cem", "dan"), 3: ("eva", "fay"), 4: ("gil", "hal")}
    games = Games(*(stands(game(number, pair)) for number, pair in names.items()))
    games.live.rate({"ann": rating(20), "cem": rating(10), "dan": rating(8), "eva": rating(-1)})
    viewer = Viewer(games, Wanted(most=1))
    assert viewer.places() == {0: identity(1)}
    assert viewer.browser.named(identity(1))["ratings"] == [rating(20), None]
    games.hear([over(1)], 1.0)
    games.tick(LATER)
    assert viewer.places() == {0: identity(2)}  # 3 has less than a new player, and 4 has nothing


def test_games_of_chosen_players_get_places_before_those_of_strong_ones() -> None:
    games = Games(*(stands(game(number, (f"a{number}", "bob"))) for number in (1, 2, 3)))
    games.live.rate({"a2": rating(20)})
    wanted = Wanted(most=2, first=("nobody", "a1"))
    assert Viewer(games, wanted).places() == {0: identity(1), 1: identity(2)}


def test_ratings_that_change_are_sent_once_and_later_games_have_them() -> None:
    games = Games(stands(game(1)), stands(game(2, ("cem", "dan"))))
    viewer = Viewer(games)
    viewer.read()
    for _ in range(2):
        games.live.rate({"bob": rating(3), "eva": rating(4)})
    assert viewer.new() == ["rated"]
    games.hear([game(3, ("eva", "bob"))], 1.0)
    agree(games, viewer, 1.0)
    assert viewer.browser.named(identity(3))["ratings"] == [rating(4), rating(3)]


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
    games = Games(*waits(1, "ann"))
    viewer = Viewer(games)
    viewer.read()
    games.tick(1.0)  # who waits has waited for longer, and nothing else
    assert viewer.new(1.0) == []
    games.hear(waits(2, "bob"), 2.5)
    games.tick(3.0)
    assert viewer.new(3.0) == ["counts"]
    assert [each["name"] for each in viewer.browser.counts["lobby"]] == ["bob", "ann"]
    games.hear([hindered(2, Obstacle(Cause.ALONE, "x"))], 3.5)
    games.tick(4.0)
    assert viewer.new(4.0) == ["counts"]
    assert [each["why"] is None for each in viewer.browser.counts["lobby"]] == [False, True]


@pytest.mark.parametrize(
    "last", ["", "run", "run-1", "run-1-", "run-2-0", "other-1-0", "run-1-99", "run-1-\u0663", "run-1--1"]
)
def test_id_that_is_not_of_this_channel_gets_a_snapshot(last: str) -> None:
    watched = Games(stands(game(1))).open(ALL)
    assert watched.number_in("run-1-0") == 0
    [(_, kind, _)] = events_in(watched.since(watched.number_in(last), 0.0))
    assert kind == "snapshot"


def test_viewer_that_falls_out_of_the_ring_gets_a_snapshot() -> None:
    games = Games(*(stands(game(number)) for number in range(50)))
    slow, quick = Viewer(games), Viewer(games)
    slow.read()
    for side in (0, 1) * 10:
        games.hear([move(number, side) for number in range(50)], 1.0)  # type: ignore[arg-type]
        quick.read(1.0)
    assert quick.browser.kinds.count("snapshot") == 1
    assert slow.new(1.0) == ["snapshot"]
    agree(games, quick, 1.0)


def test_gap_gives_everybody_a_snapshot_and_until_then_nobody_sees_half_of_it() -> None:
    games = Games(stands(game(1)))
    viewer, late = Viewer(games), Viewer(games)
    viewer.read()
    games.live.begin(1)
    games.hear([stands(game(2), (1,))], 5.0)
    assert viewer.new(5.0) == []
    assert late.places(5.0) == {0: identity(1)}
    games.complete(6.0)
    assert viewer.new(6.0) == ["snapshot"]
    assert viewer.places(6.0) == late.places(6.0) == {0: identity(2)}


@pytest.mark.parametrize("name", NASTY)
def test_name_reaches_a_browser_as_it_is_and_breaks_no_event(name: str) -> None:
    games = Games(stands(game(1, (name, "bob"), name)), *waits(7, name, name))
    watched = games.open(ALL)
    games.hear([game(2, (name, name))], 1.0)
    for data in (watched.since(None, 1.0), watched.since(0, 1.0)):
        [(_, _, told)] = events_in(data)
        for each in told.get("games", [told]):
            assert each["players"][0]["name"] == name


def test_games_and_players_of_a_lost_node_vanish_for_all_viewers() -> None:
    lost = [stands(game(number)) for number in (51, 52, 53)]
    games = Games(stands(game(1)), *waits(4, "here"), *lost, *waits(110, "there"))
    viewers = [Viewer(games, Wanted(most=most)) for most in (1, 9)]
    assert {viewer.read().counts["playing"] for viewer in viewers} == {4}
    games.hear([Vanished(100, 199)], 1.0)
    for viewer in viewers:
        assert viewer.new(1.0) == ["snapshot"]
        assert viewer.places(1.0) == {0: identity(1)}
        assert [each["name"] for each in viewer.browser.counts["lobby"]] == ["here"]
    games.hear([over(1)], 2.0)
    games.tick(LATER)
    assert viewers[0].places(10.0) == {}


def test_what_a_node_tells_after_the_state_was_complete_is_shown_when_it_has_told_all() -> None:
    games = Games(stands(game(1)), *waits(4, "here", waited=1.0))
    viewer = Viewer(games)
    viewer.read()
    games.hear([stands(game(51), (3,)), *waits(110, "there", waited=9.0)], 1.0)
    assert viewer.new(1.0) == []
    games.complete(1.0)
    assert viewer.new(1.0) == ["snapshot"]
    assert {*viewer.places(1.0).values()} == {identity(1), identity(51)}
    assert [each["name"] for each in viewer.browser.counts["lobby"]] == ["here", "there"]


def test_those_who_want_the_same_share_a_channel_whose_snapshots_are_of_the_moment() -> None:
    games = Games(stands(game(1)))
    one, other = games.open(ALL), games.open(Wanted())
    assert one is other
    assert games.open(Wanted(most=3)) is not one
    assert one.since(None, 1.0) is one.since(None, 1.0)
    [first], [second] = (events_in(one.since(None, now)) for now in (1.0, 2.0))
    assert [told["games"][0]["thinking"] for _, _, told in (first, second)] == [1.0, 2.0]


def test_snapshot_is_kept_no_longer_than_it_serves_others() -> None:
    games = Games(stands(game(1)))
    watched = games.open(ALL)
    snapshot = watched.snapshot(5.0)
    games.tick(5.0)
    assert watched.snapshot(5.0) is snapshot
    games.tick(6.0)
    assert sys.getrefcount(snapshot) == 2  # the test's, and that of the call


def test_channel_without_viewers_stays_for_as_long_as_a_browser_takes_to_come_again() -> None:
    games = Games(stands(game(1)))
    viewer = Viewer(games)
    viewer.read(LONG)
    games.tick(LONG + 5.0)
    assert viewer.new(LONG + 5.0) == []
    games.tick(2 * LONG)
    assert viewer.new(2 * LONG) == ["snapshot"]


def test_channels_are_bounded_and_the_one_without_viewers_for_longest_makes_room() -> None:
    games = Games()
    first, second, *_ = [games.open(Wanted(most=most)) for most in range(1, CHANNELS + 1)]
    games.close(second, 1.0)
    games.close(first, 2.0)
    games.open(Wanted(player="ann"))
    assert games.open(Wanted(most=1)) is first
    assert games.open(Wanted(most=2)) is not second
    assert games.open(Wanted(most=1)) is first  # while all are watched, none makes room


@given(
    st.lists(
        st.sampled_from(["start", "start", "away", "back", "end", "tick", "gap", *range(20)]), max_size=80
    ),
    st.lists(st.integers(0, 7), min_size=1, max_size=20),
)
def test_viewer_that_reads_now_and_then_knows_what_a_new_one_is_told(
    steps: Sequence[str | int], pauses: Sequence[int]
) -> None:
    """Whatever is missed, or comes while it does not read."""
    games = Games()
    viewers = [Viewer(games, wanted) for wanted in (ALL, Wanted(most=2), Wanted(player="p1"))]
    on, now, number = dict[int, int](), 0.0, 0
    for count, step in enumerate(steps):
        now += 0.7
        match step:
            case "start":
                number += 1
                on[number] = 0
                games.hear([game(number, (f"p{number % 3}", "bob"))], now)
            case "tick":
                games.tick(now)
            case "gap":
                told = [stands(game(each, (f"p{each % 3}", "bob")), (3,) * on[each]) for each in on]
                games.tell_all(*told, now=now)
            case "away" | "back" if on:
                absent = [*on][number % len(on)]
                games.hear([away(absent, 0) if step == "away" else back(absent, 0)], now)
            case "end" if on:
                ended = [*on][number % len(on)]
                del on[ended]
                games.hear([over(ended)], now)
            case int(which) if on:
                moved = [*on][which % len(on)]
                games.hear([move(moved, on[moved] % 2)], now)  # type: ignore[arg-type]
                on[moved] += 1
        if count % (pauses[count % len(pauses)] + 1) == 0:
            for viewer in viewers:
                agree(games, viewer, now)
    for viewer in viewers:
        agree(games, viewer, now)


def test_viewers_of_one_game_get_the_time_of_each_move_and_how_many_they_are() -> None:
    games = Games(stands(game(1), (3, 4)), game(2))
    games.hear([move(1, 0), move(2, 0)], 1.0)
    one, every = Viewer(games, Wanted(game=identity(1))), Viewer(games)
    assert one.read(1.0).games[0]["used"] == [0.5, 0.5, move(1, 0).used]
    assert "used" not in every.read(1.0).games[0]
    agree(games, one, 1.0)
    with_two = [games.open(one.wanted) for _ in range(2)]
    games.tick(2.0)
    games.tick(3.0)
    assert "watching" in one.new(3.0)
    assert one.browser.watching == len(with_two)
    games.tick(4.0)
    assert "watching" not in one.new(4.0)

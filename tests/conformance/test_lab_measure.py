"""What is measured: the turns of two servers, and the arithmetic behind figures."""

import json
import math
from argparse import Namespace
from collections.abc import Sequence

import pytest

from conformance.lab.bots import couple
from conformance.lab.crowds import NAMES, renamed
from conformance.lab.measure.beside import Move, Sightings, allowed, delays
from conformance.lab.measure.moves import points_up_to, slower, transports
from conformance.lab.measure.scenario import Part, Scenario, measured
from conformance.lab.report import Row
from conformance.lab.workers import LoadError
from conformance.launch import COMMAND

GAME = {"game": "9k3fm-00002a", "table": "t1", "round": 2, "moves": "33"}


async def test_two_servers_are_measured_in_the_one_order_and_then_in_the_other() -> None:
    order: list[str] = []

    async def measure(_: Namespace, command: Sequence[str]) -> list[Row]:
        order.append("here" if command == COMMAND else "beside")
        return [Row("a", "x", len(order))]

    scenario = Scenario("", {"a": Part(measure, 3)}, lambda _: None)
    rows = await measured(scenario, Namespace(beside="python", only=["a"], times=None))
    assert order == ["here", "beside", "beside", "here", "here", "beside"]
    assert rows == [Row("a", "x", 4, beside=3)]


def test_ratio_of_a_mix_weighs_the_transports_by_connections() -> None:
    assert transports("droidcon") == {"tcp": 1.0}
    assert transports("mix") == {"tcp": 0.25, "websocket": 0.75}


@pytest.mark.parametrize(
    ("before", "after", "found"),
    [
        ([1.0, 1.2], [1.3, 1.5], 1.4 / 1.1),
        ([1.0, 1.4], [1.3, 1.7], 1.0),  # not in every run
        ([1.0, 1.4], [0.6, 0.6], 0.5),
        ([1.0, 2.0], [math.nan, math.nan], math.nan),
    ],
)
def test_play_is_slower_only_where_every_run_says_so(
    before: list[float], after: list[float], found: float
) -> None:
    assert slower(before, after) == pytest.approx(found, nan_ok=True)


@pytest.mark.parametrize(("quiet", "most"), [(1.0, 3.0), (10.0, 15.0)])
def test_move_may_take_half_as_long_again_or_two_milliseconds_more(quiet: float, most: float) -> None:
    assert not allowed("x", quiet, most).is_missed
    assert allowed("x", quiet, most + 0.1).is_missed


@pytest.mark.parametrize(
    ("many", "points"),
    [(500, [500]), (10_000, [10_000]), (60_000, [10_000, 20_000, 50_000, 60_000])],
)
def test_memory_is_looked_at_more_and_more_seldom(many: int, points: list[int]) -> None:
    assert points_up_to(many) == points


def test_the_two_of_a_pair_wish_for_each_other_under_every_name() -> None:
    one, two = couple("x", at_table=False)
    for number in range(NAMES):
        left, right = renamed(one, number), renamed(two, number)
        assert (left.name, left.against) == (right.against, right.name)
    assert {wish.table for wish in couple("x", at_table=True)} == {"x"}


# Viewers of the page.


def told(*events: tuple[str, object]) -> Sightings:
    """Return what a viewer has seen after these events, of which each came a second after the one before."""
    seen = Sightings()
    for now, (event, data) in enumerate(events):
        for line in ("id: 1-2", f"event: {event}", f"data: {json.dumps(data)}", "", ": nothing"):
            seen.line(line, float(now))
    return seen


def moved(number: int, game: str = GAME["game"]) -> tuple[str, object]:  # type: ignore[assignment]
    return "moved", {"game": game, "number": number, "side": 0, "column": 3}


def test_viewer_sees_the_moves_of_games_that_it_knows_by_snapshot_or_start() -> None:
    snapshot, started = ("snapshot", {"games": [GAME]}), ("started", {**GAME, "game": "b", "moves": ""})
    seen = told(snapshot, moved(3), started, moved(1, "b"))
    assert seen.seen == [(("t1", 2, 3), 1.0), (("t1", 2, 1), 3.0)]
    assert (seen.missed, seen.snapshots) == (0, 1)
    with pytest.raises(KeyError):
        told(snapshot, ("gone", {"game": GAME["game"]}), moved(3))


def test_moves_that_did_not_come_or_came_twice_are_counted() -> None:
    snapshot = ("snapshot", {"games": [GAME]})
    assert told(snapshot, moved(5)).missed == 2
    assert told(snapshot, moved(3), moved(3)).missed == 1
    again = ("snapshot", {"games": [{**GAME, "moves": "33333"}]})
    assert told(snapshot, moved(3), again, moved(6)).missed == 0


def test_delay_is_from_the_sending_of_that_move_in_that_round() -> None:
    sent = {"t1": [float(number) for number in range(84)]}
    seen: list[tuple[Move, float]] = [(("t1", 1, 42), 41.5), (("t1", 2, 1), 42.25), (("t1", 2, 42), 84.0)]
    assert delays(sent, seen, 42.0) == [0.25, 1.0]


@pytest.mark.parametrize("move", [("t1", 1, 3), ("t2", 1, 1)])
def test_move_that_nobody_made_is_an_error(move: Move) -> None:
    with pytest.raises(LoadError, match="nobody made"):
        delays({"t1": [1.0, 2.0]}, [(move, 3.0)], 0.0)

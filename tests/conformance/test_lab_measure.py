"""What is measured: one short run of each scenario, and the arithmetic behind its figures."""

import json
import sys
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path

import pytest

from conformance.__main__ import main
from conformance.lab.bots import couple
from conformance.lab.crowds import NAMES, renamed
from conformance.lab.measure.beside import Move, Sightings, allowed, delays
from conformance.lab.measure.command import measured
from conformance.lab.measure.moves import points_up_to, slower, transports
from conformance.lab.measure.scenario import Part, Scenario
from conformance.lab.report import Row
from conformance.lab.servers import redis_program
from conformance.lab.workers import LoadError
from conformance.launch import COMMAND

SHORT = {
    "bench": "--pairs 4 --seconds 0.2 --rate 200 --only mix",
    "store": "--pairs 4 --seconds 0.2 --rate 200 --only droidcon",
    "web": "--pairs 4 --games 60 --seconds 1 --rate 400 --only pages --times 1",
    "page": "--pairs 3 --rate 60 --viewers 2 --visitors 20 --seconds 0.5 --deaf 0.1 --times 1",
    "growth": "--games 21 --rate 200 --waiting 30 --many 60 --seconds 0.2 --times 1",
    "house": "--games 2 --seconds 1 --player aimafast",
    "cluster": "--games 4 --rate 200 --players 24 --seconds 0.2 --times 1 --only droidcon,pairing",
}
GAME = {"game": "9k3fm-00002a", "table": "t1", "round": 2, "moves": "33"}


@pytest.mark.lab
@pytest.mark.parametrize("scenario", SHORT)
def test_short_run_finds_all_figures(scenario: str, tmp_path: Path) -> None:
    """How fast it is here is no matter of this test, only whether the status tells."""
    if scenario == "cluster" and redis_program() is None:
        pytest.skip("no Redis server here")
    file = tmp_path / "report.json"
    status = main(["measure", scenario, *SHORT[scenario].split(), "--json", str(file)])
    rows = json.loads(file.read_text())["rows"]
    assert [row["part"] for row in rows if row["what"] == "could not be measured"] == []
    assert status == int(any(row["missed"] for row in rows))


@pytest.mark.lab
def test_server_beside_another_is_measured_in_turns(tmp_path: Path) -> None:
    file = tmp_path / "report.json"
    main(
        [
            "measure",
            "growth",
            "--only",
            "start",
            "--times",
            "1",
            "--beside",
            sys.executable,
            "--json",
            str(file),
        ]
    )
    rows = json.loads(file.read_text())["rows"]
    assert all(row["found"] > 0 and row["beside"] > 0 for row in rows)


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["chess"],
        ["growth", "--only", "chess"],
        ["growth", "--times", "0"],
        ["bench", "--pairs", "0"],
        ["bench", "--pid", "1"],
        ["bench", "--against", "chess", "127.0.0.1:1"],
        ["bench", "--against", "nac4", "nowhere"],
        ["bench", "--against", "nac4", "127.0.0.1:1", "--only", "nac4"],
        ["store", "--db", "none"],
        ["page", "--visitors", "none"],
        ["house", "--beside", "no-such-python"],
        ["web", "--db", "games.db", "--beside", sys.executable],
    ],
)
def test_bad_usage_is_status_2(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["measure", *words]) == 2
    assert "conformance: " in capsys.readouterr().err


def test_part_that_cannot_be_measured_misses_its_goal(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["measure", "bench", "--against", "droidcon", "127.0.0.1:1", "--seconds", "0.1"]) == 1
    told = capsys.readouterr()
    assert "cannot connect" in told.err
    assert "could not be measured" in told.out


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
        ([1.0, None], [None, None], None),
    ],
)
def test_play_is_slower_only_where_every_run_says_so(
    before: list[float | None], after: list[float | None], found: float | None
) -> None:
    assert slower(before, after) == (None if found is None else pytest.approx(found))


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

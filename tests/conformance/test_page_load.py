"""`page-load`: what a viewer sees, how it is held against what was played, and how it is judged."""

import json
from argparse import Namespace
from pathlib import Path

import pytest

from conformance.__main__ import main
from conformance.lab.figures import table
from conformance.lab.jobs import LoadError
from conformance.lab.page_load import command
from conformance.lab.page_load.figures import Stretch, Visits, Watched, delays, rows, rows_of_visits
from conformance.lab.page_load.sightings import Sightings

QUIET = Stretch(50e-6, 0.4e-3, 1e-3)
GAME = {"game": "9k3fm-00002a", "table": "t1", "round": 2, "moves": "33"}


def watched(cpu: float = 50e-6, p99: float = 1e-3, *late: float, missed: int = 0) -> Watched:
    """Return a stretch in which moves took so long to be seen."""
    return Watched(Stretch(cpu, 0.4e-3, p99), late or (0.02,), missed, 0)


def told(*events: tuple[str, object]) -> Sightings:
    """Return what a viewer has seen after these events, of which each came a second after the one before."""
    seen = Sightings()
    for now, (event, data) in enumerate(events):
        for line in ("id: 1-2", f"event: {event}", f"data: {json.dumps(data)}", "", ": nothing"):
            seen.line(line, float(now))
    return seen


def moved(number: int) -> tuple[str, object]:
    return "moved", {"game": GAME["game"], "number": number, "side": 0, "column": 3}


def missed(found: list[str]) -> set[str]:
    """Return the rows of a table that miss a goal."""
    return {line.partition("  ")[0] for line in found if line.endswith("missed")}


def verdict(*both: Watched | Stretch) -> set[str]:
    quiet = [each for each in both if isinstance(each, Stretch)]
    return missed(table(rows(quiet, [each for each in both if isinstance(each, Watched)])).splitlines())


def test_viewer_sees_the_moves_of_games_that_it_knows_by_snapshot_or_start() -> None:
    seen = told(("snapshot", {"games": [GAME]}), moved(3), ("started", {**GAME, "game": "b", "moves": ""}))
    seen.line("event: moved", 9.0)
    seen.line('data: {"game": "b", "number": 1}', 9.0)
    seen.line("", 9.5)
    assert seen.seen == [(("t1", 2, 3), 1.0), (("t1", 2, 1), 9.5)]
    assert (seen.missed, seen.snapshots) == (0, 1)


def test_moves_that_did_not_come_or_came_twice_are_counted() -> None:
    snapshot = ("snapshot", {"games": [GAME]})
    assert told(snapshot, moved(5)).missed == 2
    assert told(snapshot, moved(3), moved(3)).missed == 1
    assert (
        told(snapshot, moved(3), ("snapshot", {"games": [{**GAME, "moves": "33333"}]}), moved(6)).missed == 0
    )


def test_move_of_a_game_that_is_gone_is_no_event_of_the_stream() -> None:
    with pytest.raises(KeyError):
        told(("snapshot", {"games": [GAME]}), ("gone", {"game": GAME["game"]}), moved(3))


def test_delay_is_from_the_sending_of_that_move_in_that_round() -> None:
    sent = {"t1": [float(number) for number in range(84)]}
    seen = [(("t1", 1, 42), 41.5), (("t1", 2, 1), 42.25), (("t1", 2, 42), 84.0)]
    assert delays(sent, seen, 42.0) == [0.25, 1.0]


@pytest.mark.parametrize("move", [("t1", 1, 3), ("t2", 1, 1)])
def test_move_that_nobody_made_is_an_error(move: tuple[str, int, int]) -> None:
    with pytest.raises(LoadError, match="nobody made"):
        delays({"t1": [1.0, 2.0]}, [(move, 3.0)], 0.0)


def test_play_may_cost_a_twentieth_more_when_it_is_watched() -> None:
    assert verdict(QUIET, watched(52.4e-6)) == set()
    assert verdict(QUIET, watched(52.6e-6)) == {"cpu: watched over unwatched"}


def test_move_may_take_half_as_long_again_or_two_milliseconds_more() -> None:
    assert verdict(QUIET, watched(50e-6, 2.9e-3)) == set()
    assert verdict(QUIET, watched(50e-6, 3.1e-3)) == {"moves: p99 watched"}


def test_ninety_nine_of_a_hundred_moves_are_seen_within_a_tenth_of_a_second() -> None:
    assert verdict(QUIET, watched(50e-6, 1e-3, *[0.02] * 99, 5.0)) == set()
    assert verdict(QUIET, watched(50e-6, 1e-3, *[0.02] * 98, 0.11, 0.11)) == {"viewers: p99 until seen"}


def test_one_missed_move_misses_the_goal() -> None:
    assert verdict(QUIET, watched(missed=1)) == {"viewers: moves missed"}


def test_medians_of_stretches_are_compared() -> None:
    slow = Stretch(90e-6, 0.4e-3, 90e-3)
    assert verdict(QUIET, slow, QUIET, watched(), watched(90e-6, 90e-3), watched()) == set()


def test_viewers_who_saw_nothing_are_an_error() -> None:
    with pytest.raises(LoadError, match="saw no move"):
        rows([QUIET], [Watched(QUIET, [], 0, 0)])


def test_visitors_leave_no_memory_behind_and_a_deaf_one_is_let_go() -> None:
    assert missed(table(rows_of_visits(Visits(4.9, 4.9, False))).splitlines()) == set()
    assert len(missed(table(rows_of_visits(Visits(5.1, 5.1, True))).splitlines())) == 3


@pytest.mark.lab
async def test_short_run_follows_each_move_to_each_viewer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "WARM_UP", 2.0)
    monkeypatch.setattr(command, "PARTING", 0.1)
    few = {"pairs": 3, "rate": 60, "viewers": 2, "visitors": 20, "seconds": 0.5, "deaf": 0.1, "times": 1}
    found = {
        row.what: row.found for row in await command.measure(Namespace(**few), str(tmp_path / "page.db"))
    }
    assert found["moves seen"]
    assert found["moves missed"] == 0
    assert found["served though they do not read"] == 1  # a tenth of a second is too short to be let go


def test_words_that_make_no_sense_are_status_2(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["page-load", "--visitors", "none"]) == 2
    assert "--visitors" in capsys.readouterr().err

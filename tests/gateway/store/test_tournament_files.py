"""The games of a tournament in the order of its rounds, from reports."""

import re
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from empty_database import open_empty
from game_records import game, numbered, rows

from gateway.store import storing
from gateway.store.tournament_files import FORMATS, Placed, placed, rounds


def pairing(number: int, round: int, stage: int, games: list[str], **more: object) -> dict[str, Any]:
    """Return a pairing of a report."""
    about = [{"number": place, "game": each} for place, each in enumerate(games, 1)]
    usual = {"players": ["ann", "bob"], "awarded": [], "forfeits": [], "absent": [], "without_result": ["9"]}
    return {"number": number, "round": round, "stage": stage, "games": about, **usual, **more}


TWO = [
    pairing(3, 1, 2, ["5"]),
    pairing(2, 2, 1, ["3"]),
    pairing(1, 1, 1, ["1", "2"]),
    pairing(4, 2, 2, ["4", "8"]),
]
STAGES = [{"number": 1}, {"number": 2}]


@pytest.mark.parametrize(
    ("stages", "round", "stage", "places"),
    [
        (
            STAGES,
            None,
            None,
            {"1.1.1.1": "1", "1.1.1.2": "2", "1.2.2.1": "3", "2.1.3.1": "5", "2.2.4.1": "4"},
        ),
        (STAGES, 1, None, {"1.1.1.1": "1", "1.1.1.2": "2", "2.1.3.1": "5"}),
        (STAGES, None, 2, {"2.1.3.1": "5", "2.2.4.1": "4"}),
        (STAGES, 2, 1, {"1.2.2.1": "3"}),
        (STAGES[:1], 2, 1, {"2.2.1": "3"}),
    ],
)
def test_games_are_in_the_order_of_stages_rounds_and_pairings_without_those_that_are_not_stored(
    tmp_path: Path,
    stages: list[object],
    round: int | None,
    stage: int | None,
    places: dict[str, str],
) -> None:
    report = {"pairings": TWO, "stages": stages}
    with closing(open_empty(tmp_path / "games.db")) as database:
        with database.writing() as connection:
            storing.store(connection, rows(numbered([game()] * 5)))
        found = [*placed(database.reading, report, round, stage)]
    assert [(each.place, each.record.game) for each in found if isinstance(each, Placed)] == [*places.items()]


@pytest.mark.parametrize(
    ("more", "texts"),
    [
        ({"forfeits": [1, 2], "absent": ["bob"]}, ["ann bob 1-0 walkover", "bob ann 0-1 walkover"]),
        ({"forfeits": [1], "absent": ["ann"]}, ["ann bob 0-1 walkover"]),
        ({"forfeits": [2], "absent": ["ann", "bob"]}, ["bob ann * walkover"]),
        ({"awarded": [{"number": 2, "winner": "bob"}]}, ["bob ann 1-0 awarded"]),
        ({"awarded": [{"number": 1, "winner": None}]}, ["ann bob 1/2-1/2 awarded"]),
    ],
)
def test_games_that_were_not_played_are_in_pgn_with_the_result_that_counts(
    tmp_path: Path, more: dict[str, object], texts: list[str]
) -> None:
    report = {"name": "cup", "stages": STAGES[:1], "pairings": [pairing(7, 3, 1, [], **more)]}
    with closing(open_empty(tmp_path / "games.db")) as database:
        found = [*placed(database.reading, report)]
    assert [*FORMATS["jsonl"](report, iter(found))] == []
    tags = [dict(re.findall(r'\[(\w+) "(.*)"\]', text)) for text in FORMATS["pgn"](report, iter(found))]
    shown = [" ".join(each[tag] for tag in ("White", "Black", "Result", "Termination")) for each in tags]
    assert shown == texts
    assert {each["Round"].rpartition(".")[0] for each in tags} == {"3.7"}


@pytest.mark.parametrize(("stage", "latest"), [(None, 2), (1, 2), (2, 2), (3, 0)])
def test_latest_round_is_that_of_a_stage_or_of_all(stage: int | None, latest: int) -> None:
    assert rounds({"pairings": TWO}, stage) == latest

"""Figures: their statistics, how they stand beside their goals, and what is told of them."""

import json
import math
import tempfile
from argparse import Namespace
from contextlib import nullcontext
from pathlib import Path

import pytest

from conformance.lab.report import (
    Row,
    counted,
    finish,
    in_folder,
    medians,
    middle,
    percentile,
    ratio,
    some,
)
from conformance.lab.workers import LoadError


@pytest.mark.parametrize(
    ("found", "verdict", "is_missed"),
    [(1.3, "met", False), (1.31, "missed", True), (math.nan, "missed", True)],
)
def test_goal_is_met_up_to_it_and_missed_above_or_where_nothing_is_known(
    found: float, verdict: str, is_missed: bool
) -> None:
    row = Row("cpu", "ratio", found, most=1.3)
    assert (row.verdict, row.is_missed) == (verdict, is_missed)
    assert not Row("cpu", "few", found).is_missed


@pytest.mark.parametrize(("percent", "found"), [(1, 1.0), (50, 50.0), (99, 99.0), (100, 100.0)])
def test_percentile_is_what_so_many_do_not_exceed(percent: int, found: float) -> None:
    assert percentile([float(number) for number in range(100, 0, -1)], percent) == found
    assert percentile([7.0], percent) == 7.0
    assert math.isnan(percentile([], percent))


def test_what_is_computed_from_a_figure_that_is_not_known_is_not_known() -> None:
    assert (middle([3.0, math.nan, 1.0]), middle([1.0, 2.0]), ratio(3.0, 2.0)) == (2.0, 1.5, 1.5)
    assert [*map(math.isnan, (middle([math.nan]), ratio(math.nan, 2.0), ratio(3.0, 0.0)))] == [True] * 3


def test_medians_are_of_the_same_figure_in_all_runs_and_stand_beside_another_servers() -> None:
    runs = [[Row("a", "x", value, most=2.0), Row("a", "y", 0.0)] for value in (9.0, 1.0, 2.0)]
    assert medians(runs) == [Row("a", "x", 2.0, most=2.0), Row("a", "y", 0.0)]
    beside = [[Row("a", "x", value, most=2.0)] for value in (3.0, 5.0)]
    assert [row.beside for row in medians(runs, beside)] == [4.0, None]


@pytest.mark.parametrize("wide", [False, True])
def test_status_says_whether_a_goal_was_missed_and_files_say_it_all(wide: bool, tmp_path: Path) -> None:
    files = Namespace(
        json=tmp_path / "x.json",
        markdown=tmp_path / "x.md",
        seconds=5.0,
        db="postgresql://ann:secret@host/c4",
        server_options=["--seed", "1", "--db=postgresql://ann:secret@host/c4"],
    )
    rows = [counted("games", "played", 7), counted("games", "lost", 0, 0)]
    for more, status in (([], 0), ([counted("log", "errors", math.nan, 0)], 1)):
        found = [*rows, *more]
        both = ([], found) if wide else (found, [])
        assert finish("measure x", both[0], files, ["a note"], wide=both[1]) == status
    data = json.loads(files.json.read_text())
    assert [(row["found"], row["missed"]) for row in data["rows"]] == [(7, False), (0, False), (None, True)]
    assert data["options"] == {"seconds": 5.0, "db": "URL", "server_options": ["--seed", "1", "URL"]}
    text = files.markdown.read_text()
    assert text.startswith("`python -m conformance measure x`, 20")
    assert "commit" in text
    assert "a note" in text


def test_many_lines_of_one_kind_are_cut_short() -> None:
    assert some("lost", ["x"]) == ["lost: x"]
    assert some("lost", ["x"] * 30)[-1] == "lost: 10 more"


@pytest.mark.parametrize(("lost", "is_kept"), [(0, False), (1, True), (None, False)])
def test_folder_of_a_run_is_kept_only_where_a_goal_is_missed(
    lost: int | None, is_kept: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))

    def run(folder: Path) -> tuple[list[Row], list[str]]:
        (folder / "games.db").touch()
        if lost is None:
            raise LoadError("it did not come about")
        return [counted("games", "lost", lost, 0)], []

    with pytest.raises(LoadError) if lost is None else nullcontext():
        _, notes = in_folder("x-", run)
        assert len(notes) == is_kept
    assert len([*tmp_path.glob("x-*/games.db")]) == is_kept

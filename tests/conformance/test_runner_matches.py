"""The match table: the arithmetic, what is read from a bot's last words, and one small run."""

import json
from collections import Counter
from pathlib import Path

import pytest

from conformance.__main__ import main
from conformance.lab.matches import Game, Summary, Total, pairings, summary_in, table, totals

GAMES = [
    Game("a", "b", ("nac4", "arena"), 1.0, (0.1, 0.2)),
    Game("a", "b", ("arena", "nac4"), 0.5, (0.3, 0.2)),
    Game("b", "a", ("nac4", "arena"), 0.0, (0.5, 0.2)),
]


def test_totals_count_both_colours() -> None:
    assert totals(["a", "b"], GAMES) == [
        Total("a", 3, 2.5, pytest.approx(0.2)),
        Total("b", 3, 0.5, pytest.approx(0.3)),
    ]


def test_table_has_the_first_mover_in_the_row() -> None:
    assert table(["a", "b"], GAMES) == (
        "first \\ second    a      b  games  score  s a move\n"
        "a                 -  1.5/2      3    2.5     0.200\n"
        "b               0/1      -      3    0.5     0.300\n"
    )


def test_every_engine_meets_every_other_in_both_orders_and_other_dialects() -> None:
    pairs = list(pairings(["a", "b", "c"], 2))
    met = Counter(first.engine + second.engine for first, second in pairs)
    assert met == dict.fromkeys(["ab", "ac", "ba", "bc", "ca", "cb"], 2)
    spoken = Counter((first.dialect, second.dialect) for first, second in pairs)
    assert len(spoken) == 6
    assert all(first != second for first, second in spoken)


@pytest.mark.parametrize(
    ("result", "points"),
    [("1 won, 0 lost, 0 drawn", 1.0), ("0 won, 1 lost, 0 drawn", 0.0), ("0 won, 0 lost, 1 drawn", 0.5)],
)
def test_summary_of_a_bot_is_read(result: str, points: float) -> None:
    text = f"won as X\n1 game: {result}\nmoving second, 1 game: {result}\nmean time a move: 0.012 s\n"
    assert summary_in(text) == Summary(points, "second", 0.012)


@pytest.mark.parametrize("text", ["", "0 games: 0 won, 0 lost, 0 drawn", "moving first, 1 game: 1 won"])
def test_words_without_a_result_are_no_summary(text: str) -> None:
    with pytest.raises(ValueError, match="its one game"):
        summary_in(text)


@pytest.mark.lab
def test_small_run_plays_both_orders(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    report = tmp_path / "matches.json"
    words = ["--engines", "random,aimafast", "--games", "1", "--json", str(report)]
    assert main(["matches", *words]) == 0
    heading, *rows = capsys.readouterr().out.splitlines()
    assert heading.split() == [
        "first",
        "\\",
        "second",
        "random",
        "aimafast",
        "games",
        "score",
        "s",
        "a",
        "move",
    ]
    assert [row.split()[0] for row in rows] == ["random", "aimafast"]
    found = json.loads(report.read_text())
    assert [(game["first"], game["second"]) for game in found["games"]] == [
        ("random", "aimafast"),
        ("aimafast", "random"),
    ]
    assert sum(engine["score"] for engine in found["engines"]) == 2


@pytest.mark.lab
def test_bot_that_fails_is_told_in_its_own_words(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["matches", "--engines", "random,nonsense", "--games", "1"]) == 1
    error = capsys.readouterr().err
    assert error.startswith("conformance: nonsense (arena) exited with status 2: c4bot: error: ")
    assert error.count("\n") == 1


@pytest.mark.parametrize("engines", ["random", "random,random", "random,", "random,manual"])
def test_engines_have_to_be_two_or_more(engines: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["matches", "--engines", engines]) == 2
    assert "are not two or more different engines" in capsys.readouterr().err

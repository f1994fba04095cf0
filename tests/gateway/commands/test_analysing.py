"""`c4gateway analyse`: scores as Pascal Pons' solver gives them, or what a search finds."""

import io
import sys
from contextlib import nullcontext
from errno import ENOSPC
from pathlib import Path
from typing import Any

import pytest

from gateway.__main__ import main

NO_SOLVER = "the solver of the extra 'perfect' is not installed"


def analysed(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[str]:
    assert main(["analyse", *arguments]) == 0
    return capsys.readouterr().out.splitlines()


@pytest.mark.parametrize(
    ("position", "score", "end"),
    [
        ("4455", 18, "X wins with disc 7"),
        ("44455554221", -15, "X wins with disc 13"),
        ("2252576253462244111563365343671351441", -1, "X wins with disc 41"),
        ("7422341735647741166133573473242566", 1, "X wins with disc 41"),
        ("23163416124767223154467471272416755633", 0, "a draw"),
    ],
)
def test_scores_are_those_of_pons(
    position: str, score: int, end: str, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("bitbully", reason=NO_SOLVER)
    assert f"score {score}: {end}" in analysed(capsys, position)


def test_each_column_has_its_score(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("bitbully", reason=NO_SOLVER)
    assert analysed(capsys, "4455")[-7:] == [
        "     1     -4  O wins with disc 36",
        "     2     -3  O wins with disc 38",
        "     3     18  X wins with disc 7",
        "     4      2  X wins with disc 39",
        "     5      2  X wins with disc 39",
        "     6     18  X wins with disc 7",
        "     7     -3  O wins with disc 38",
    ]


def test_board_is_drawn_with_columns_from_1_and_a_full_one_is_said_to_be(
    capsys: pytest.CaptureFixture[str],
) -> None:
    pytest.importorskip("bitbully", reason=NO_SOLVER)
    lines = analysed(capsys, "4444445")
    assert lines[:9] == [
        "  . . . O . . .",
        "  . . . X . . .",
        "  . . . O . . .",
        "  . . . X . . .",
        "  . . . O . . .",
        "  . . . X X . .",
        "  1 2 3 4 5 6 7",
        "",
        "O is to move, with disc 8",
    ]
    assert "     4   full" in lines


@pytest.mark.parametrize(
    ("position", "seconds", "column", "words"),
    [
        ("4455", "0.02", 3, "X wins"),
        ("445566", "0.02", 3, "X wins"),
        ("44556", "0.02", 1, "X wins"),  # the opponent does
        ("2252576253462244111563365343671351", "20", 1, "O wins"),  # it ends as soon as it is certain
        ("2316341612476722315446747127241675563", "20", 3, "a draw"),
        ("4", "0.02", 4, "not certain; guessed at "),
    ],
)
def test_without_the_solver_a_search_tells_what_is_certain_from_what_is_a_guess(
    position: str,
    seconds: str,
    column: int,
    words: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setitem(sys.modules, "bitbully", None)
    lines = analysed(capsys, position, "--seconds", seconds)
    estimates = f"estimates of a search, {seconds} s for a column (perfect needs"
    assert any(line.startswith(estimates) for line in lines)
    assert not [line for line in lines if "score" in line]
    [row] = [line for line in lines[10:] if line.startswith(f"     {column}  ")]
    assert row.strip().startswith(f"{column}  {words}")


def test_game_that_is_over_has_nothing_to_analyse(capsys: pytest.CaptureFixture[str]) -> None:
    assert analysed(capsys, "1212121")[-1] == "the game is over: X has won"


@pytest.mark.parametrize(
    ("position", "message"),
    [
        ("1212121" * 1000, "move 8 comes after the end"),
        ("4444444", "move 7: column 4 is full"),
        ("40", "move 2, '0', is not a column from 1 to 7"),
    ],
)
def test_position_that_there_cannot_be_is_one_line_and_status_2(
    position: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["analyse", position])
    err = capsys.readouterr().err
    assert (ended.value.code, err.count("\n")) == (2, 1)
    assert f"there is no such position: {message}" in err
    assert len(err) < 200


@pytest.mark.parametrize(
    ("place", "said"),
    [("/dev/full", f"[Errno {ENOSPC}] No space left on device"), (None, "standard output is closed")],
)
def test_output_that_cannot_be_written_is_one_line_and_status_1(
    place: str | None,
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    if place is not None and not Path(place).exists():
        pytest.skip(f"needs {place}")
    with nullcontext() if place is None else open(place, "w") as out:
        monkeypatch.setattr(sys, "stdout", out)
        assert main(["analyse", "4455"]) == 1
    assert capsys.readouterr().err == f"c4gateway: error: {said}\n"


class Written(io.RawIOBase):
    """Standard output that keeps what comes at once."""

    def __init__(self) -> None:
        super().__init__()
        self.pieces: list[bytes] = []

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self.pieces.append(bytes(data))
        return len(data)


def test_each_piece_is_told_before_the_next_one_is_thought_about(monkeypatch: pytest.MonkeyPatch) -> None:
    out = Written()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BufferedWriter(out)))
    assert main(["analyse", "1212121"]) == 0
    board, over = out.pieces
    assert board.endswith(b"  1 2 3 4 5 6 7\n\n")
    assert over == b"the game is over: X has won\n"

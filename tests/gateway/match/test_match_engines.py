"""Engines against each other: openings, and the process that plays."""

import json
import os
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest
from served import ROOT

from gateway.engines import EngineLate, perfect
from gateway.game.board import Board
from gateway.match import worker
from gateway.match.openings import balanced, read
from gateway.match.worker import _Game


def test_openings_are_read_in_pons_notation() -> None:
    lines = ["4455 18\n", "# a word\n", "\n", "44455554221\n"]
    assert read(lines) == ["3344", "33344443110"]


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("4458", "column from 1 to 7"),
        ("4444444", "column 4 is full"),
        ("1212121", "the game is over"),
        ("x", "1 to 7"),
    ],
)
def test_line_that_is_no_position_is_named(line: str, why: str) -> None:
    with pytest.raises(ValueError, match=f"line 2: .*{why}"):
        read(["44\n", line])


def test_file_without_positions_is_none() -> None:
    with pytest.raises(ValueError, match="no position"):
        read(["# nothing\n"])


@pytest.fixture(params=["solver", "search"])
def judge(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "solver":
        pytest.importorskip("bitbully", reason="the solver of the extra 'perfect' is not installed")
    else:
        monkeypatch.setattr(perfect, "find_spec", lambda _: None)


@pytest.mark.usefixtures("judge")
def test_balanced_positions_have_their_discs_and_no_winning_move() -> None:
    for seed in range(3):
        board = board_at(balanced(8, Random(seed)))
        assert len(board.moves) == 8
        assert not board.over
        assert all(board.drop(each).winner is None for each in range(7) if board.has_room(each))
    assert balanced(0, Random(1)) == ""


@pytest.mark.parametrize("discs", [1, 2, 7, 12, 20])
def test_balanced_positions_are_drawn_where_the_solver_can_tell(discs: int) -> None:
    pytest.importorskip("bitbully", reason="the solver of the extra 'perfect' is not installed")
    board = board_at(balanced(discs, Random(1)))
    assert max(perfect.score_columns(board).values()) == 0


def board_at(columns: str) -> Board:
    board = Board()
    for column in columns:
        board = board.drop(int(column))
    return board


def leftmost(board: Board, _: float) -> int:
    return next(each for each in range(7) if board.has_room(each))


def rightmost(board: Board, _: float) -> int:
    return next(each for each in reversed(range(7)) if board.has_room(each))


def dawdles(_: Board, __: float) -> int:
    raise EngineLate("it did not answer in 1 s")


def fails(_: Board, __: float) -> int:
    raise RuntimeError("no\nidea")


def nonsense(_: Board, __: float) -> int:
    return 7


def test_game_of_two_engines_starts_from_its_opening() -> None:
    found = _Game([leftmost, rightmost], [1.0, 1.0], 5.0).play({"opening": "33", "first": 1})
    assert found["opening"] == "33"
    assert found["moves"] == "33606060" + "6"  # the second engine moves first
    assert (found["winner"], found["reason"], found["said"]) == (0, "four", "")


@pytest.mark.parametrize(
    ("engine", "reason", "said"),
    [
        (dawdles, "time", "it did not answer in 1 s"),
        (fails, "left", "the engine failed: RuntimeError: no idea"),
        (nonsense, "illegal", "the engine chose 7, which cannot be played"),
    ],
)
def test_engine_that_fails_loses_and_it_is_said_why(engine: worker.Engine, reason: str, said: str) -> None:
    found = _Game([leftmost, engine], [1.0, 1.0], 5.0).play({"opening": "", "first": 0})
    assert (found["moves"], found["winner"], found["reason"]) == ("0", 0, reason)
    assert found["said"] == said


def shouts(_: Board, __: float) -> int:
    raise RuntimeError("\x1b[2J" * 1_000_000)


def test_words_of_an_engine_are_few_and_control_no_terminal() -> None:
    said = _Game([leftmost, shouts], [1.0, 1.0], 5.0).play({"opening": "", "first": 0})["said"]
    assert said.startswith(r"the engine failed: RuntimeError: \x1b[2J\x1b[2J")
    assert len(said) < 4 * worker.SHOWN


def test_process_plays_as_long_as_it_is_asked() -> None:
    lines = [
        {"engines": ["random", "random"], "think": None, "idle": 5},
        {"opening": "", "first": 0},
        {"opening": None, "discs": 2, "lot": "x", "first": 1},
    ]
    asked = "".join(json.dumps(each) + "\n" for each in lines)
    words = [sys.executable, "-m", "gateway.match.worker"]
    run = subprocess.run(words, input=asked, capture_output=True, text=True, cwd=ROOT, check=True)
    one, two = (json.loads(line) for line in run.stdout.splitlines())
    assert one["opening"] == ""
    assert len(two["opening"]) == 2
    assert two["moves"].startswith(two["opening"])


def test_program_that_thinks_is_ended_with_the_process_that_asks_it(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pid")
    thinks = f"exec:sh -c 'echo $$ > {tmp_path}/pid; exec sleep 1000'"
    lines = [{"engines": [thinks, "random"], "think": 900, "idle": 1000}, {"opening": "", "first": 0}]
    words = [sys.executable, "-m", "gateway.match.worker"]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, cwd=ROOT) as process:
        assert process.stdin is not None
        process.stdin.write("".join(json.dumps(each) + "\n" for each in lines).encode())
        process.stdin.flush()
        program = int((tmp_path / "pid").read_text())
        process.terminate()
        assert process.wait() == 0
    with pytest.raises(ProcessLookupError):
        os.kill(program, 0)

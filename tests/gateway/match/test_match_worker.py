"""Engines against each other: openings, and the process that plays."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import pytest
from worlds.server import ROOT

from gateway.engines import Engine, EngineLate, perfect
from gateway.game.board import Board
from gateway.match.openings import balanced, read
from gateway.match.worker import MARGIN, SHOWN, Duel
from gateway.runtime.processes import running


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
    with pytest.raises(ValueError, match="no position"):
        read(["# nothing\n"])


@pytest.fixture(params=["solver", "search"])
def judge(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "solver":
        pytest.importorskip("bitbully", reason="the solver of the extra 'perfect' is not installed")
    else:
        monkeypatch.setitem(sys.modules, "bitbully", None)


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


def duel(*engines: Engine, think: float | None = None) -> Duel:
    return Duel(engines, budgets=[1.0, 1.0], idle=5.0, think=think)


def leftmost(board: Board, _: float) -> int:
    return next(each for each in range(7) if board.has_room(each))


def rightmost(board: Board, _: float) -> int:
    return next(each for each in reversed(range(7)) if board.has_room(each))


def dawdles(_: Board, __: float) -> int:
    raise EngineLate("it did not answer in 1 s")


def fails(_: Board, __: float) -> int:
    raise RuntimeError("no\nidea")


def shouts(_: Board, __: float) -> int:
    raise RuntimeError("\x1b[2J" * 1_000_000)


def nonsense(_: Board, __: float) -> int:
    return 7


def undecided(_: Board, __: float) -> int:
    return None  # type: ignore[return-value]  # code of others may return anything


def test_game_of_two_engines_starts_from_its_opening() -> None:
    found = duel(leftmost, rightmost).play({"opening": "33", "first": 1})
    assert found["opening"] == "33"
    assert found["moves"] == "33606060" + "6"  # the second engine moves first
    assert (found["winner"], found["reason"], found["why"]) == (0, "four", "")


@pytest.mark.parametrize(
    ("engine", "reason", "said"),
    [
        (dawdles, "time", "it did not answer in 1 s"),
        (fails, "left", "the engine failed: RuntimeError: no idea"),
        (nonsense, "illegal", "the engine chose 7, which cannot be played"),
        (undecided, "illegal", "the engine chose None, which cannot be played"),
        (shouts, "left", r"the engine failed: RuntimeError: \x1b[2J\x1b[2J"),
    ],
)
def test_engine_that_fails_loses_and_it_is_said_why(engine: Engine, reason: str, said: str) -> None:
    found = duel(leftmost, engine).play({"opening": "", "first": 0})
    assert (found["moves"], found["winner"], found["reason"]) == ("0", 0, reason)
    assert found["why"].startswith(said)
    assert len(found["why"]) < 4 * SHOWN


def slow(board: Board, _: float) -> int:
    time.sleep(0.02 + MARGIN)
    return rightmost(board, 0)


def test_moves_that_take_longer_than_they_may_are_counted() -> None:
    found = duel(leftmost, slow, think=0.01).play({"opening": "", "first": 0})
    assert (found["moves"], found["late"], found["why"]) == ("0606060", [0, 3], "")


def test_before_a_move_of_the_users_code_it_is_told_what_it_loses_if_it_ends_the_process() -> None:
    told: list[Any] = []
    announced = Duel([leftmost, rightmost], [1.0, 1.0], 5.0, announced=[False, True], tell=told.append)
    announced.play({"opening": "33", "first": 0})
    assert [(each["over"], each["moves"], each["winner"], each["reason"]) for each in told] == [
        (False, moves, 0, "left") for moves in ("330", "33060", "3306060")
    ]


def answers(asked: Sequence[object], words: Sequence[str], folder: Path) -> list[Any]:
    """Return what the process answers, line by line."""
    lines = "".join(json.dumps(each) + "\n" for each in asked)
    run = subprocess.run(words, input=lines, capture_output=True, text=True, cwd=folder, check=True)
    return [json.loads(line) for line in run.stdout.splitlines()]


SETTINGS: dict[str, object] = {"engines": ["random", "random"], "think": None, "idle": 5, "strict": False}


def test_process_plays_as_long_as_it_is_asked() -> None:
    lines = [
        SETTINGS,
        {"opening": "", "first": 0},
        {"opening": None, "discs": 2, "lot": "x", "first": 1},
    ]
    *loaded, one, two = answers(lines, [sys.executable, "-m", "gateway.match.worker"], ROOT)
    assert loaded == [None, None]
    assert one["opening"] == ""
    assert len(two["opening"]) == 2
    assert two["moves"].startswith(two["opening"])


NOISY = """
import os, subprocess, sys

def shout():
    print('{"over": true}', flush=True)
    os.write(1, b"null\\n")
    subprocess.run(["echo", "null"])
    print("null", file=sys.__stdout__, flush=True)
    assert sys.stdin.readline() == ""

shout()

def move(board, budget):
    shout()
    return next(each for each in range(7) if board.has_room(each))
"""


def test_what_the_users_code_prints_and_reads_comes_and_goes_by_no_pipe_of_the_process(
    tmp_path: Path,
) -> None:
    (tmp_path / "noisy.py").write_text(NOISY)
    for name in ("gateway", "adapters", "json"):  # the user's modules are found behind ours
        (tmp_path / f"{name}.py").write_text("raise SystemExit('not this one')")
    lines = [SETTINGS | {"engines": ["noisy:move", "noisy:move"]}, {"opening": "", "first": 0}]
    *loaded, last = answers(lines, running("gateway.match.worker"), tmp_path)
    assert loaded[:2] == [None, None]
    assert [each["over"] for each in loaded[2:]] == [False] * len(last["moves"])
    assert (last["over"], last["why"]) == (True, "")


@pytest.mark.parametrize(("idle", "limit"), [(1000, "the 0.01 s of --think"), (0.05, "0.05 s")])
def test_who_has_to_keep_to_its_time_is_not_waited_for(tmp_path: Path, idle: float, limit: str) -> None:
    (tmp_path / "sleeps.py").write_text("import time\ndef move(board, budget): time.sleep(1000)")
    limits = {"idle": idle, "think": 0.01, "strict": True}
    asked = [SETTINGS | limits | {"engines": ["random", "sleeps:move"]}, {"opening": "", "first": 0}]
    found = answers(asked, running("gateway.match.worker"), tmp_path)[-1]
    assert (len(found["moves"]), found["winner"], found["reason"]) == (1, 0, "time")
    assert found["why"] == f"the engine chose nothing within {limit}"


def test_process_says_which_engine_it_cannot_have(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("import no_such_library")
    asked = [SETTINGS | {"engines": ["random", "mine:move"]}]
    loaded, why = answers(asked, running("gateway.match.worker"), tmp_path)
    assert loaded is None
    assert "No module named 'no_such_library'; to install it where engines run: " in why
    assert why.endswith(f"{sys.executable} -m pip install no_such_library")


def test_program_that_thinks_is_ended_with_the_process_that_asks_it(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pid")
    thinks = f"exec:sh -c 'echo $$ > {tmp_path}/pid; exec sleep 1000'"
    limits = {"think": 900, "idle": 1000, "strict": False}
    lines = [{"engines": [thinks, "random"], **limits}, {"opening": "", "first": 0}]
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

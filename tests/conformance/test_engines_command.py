"""Both forms of Monte Carlo side by side: what is shown, and what the exit status says."""

import json
import sys
from pathlib import Path

import pytest

from conformance.__main__ import main
from conformance.lab.engines import command
from gateway import engines
from gateway.engines.catalogue import engine_named
from gateway.game.board import Board

SHORT = ("engines", "--simulations", "70", "--games", "2", "--think", "0.001", "--seed", "1")


def test_rates_and_a_match_are_shown_beside_their_goals(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "GOALS", {"mc": 1e-6, "mcts": 1e-6})
    monkeypatch.setattr(command, "SHARE", 0)
    report = tmp_path / "engines.json"
    assert main([*SHORT, "--json", str(report)]) == 0
    out = capsys.readouterr().out
    assert out.count("one by one") == 5
    assert out.count("met") == 3
    rows = json.loads(report.read_text())["rows"]
    assert [row["part"] for row in rows] == ["mc:70"] * 3 + ["mcts:70"] * 3 + ["mctstime, one by one"]


def test_goal_that_is_missed_is_the_exit_status(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(command, "GOALS", {"mc": 1e6, "mcts": 1e6})
    assert main(SHORT) == 1
    assert "missed" in capsys.readouterr().out


def test_without_numpy_a_line_says_what_to_install(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "numpy", None)
    monkeypatch.delattr(engines, "montecarlo", raising=False)
    for module in ("montecarlo", "playouts"):
        monkeypatch.delitem(sys.modules, f"gateway.engines.{module}", raising=False)
    assert main(SHORT) == 1
    assert "mc needs numpy" in capsys.readouterr().err


def test_points_are_those_of_the_first_mover() -> None:
    quick, sleepy = engine_named("aimafast"), lambda board, _budget: next(filter(board.has_room, range(7)))
    assert command._played(Board(), (quick, sleepy), 0.01) == 1
    assert command._played(Board(), (sleepy, quick), 0.01) == 0
    assert command._played(Board().drop(3), (quick, sleepy), 0.01) == 1

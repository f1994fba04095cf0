"""What stands in for a thought in the worker processes of tests; a new one imports this module."""

import os
import signal
from pathlib import Path

from adapters.house.worker import think
from gateway.game.board import Board


def endless(begun: Path, _engine: str, _board: Board, _budget: float) -> int:
    """Say that the thought has begun, and never find a column."""
    begun.touch()
    while True:
        signal.pause()


def cut_off(begun: Path, engine: str, board: Board, budget: float) -> int:
    """Lose the worker the first time."""
    if begun.exists():
        return think(engine, board, budget)
    begun.touch()
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError("no signal has come")

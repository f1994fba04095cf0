"""The work of a worker process: think about one move, with a low priority.

A game waits while a new process imports this module. So the module imports only what an engine needs.
"""

import os

from gateway.engines.catalogue import engine_named
from gateway.game.board import Board

_NICE = 10


def think(engine: str, board: Board, budget: float) -> int:
    """Return the column that `engine` plays after at most `budget` seconds."""
    if os.nice(0) < _NICE:
        os.nice(_NICE - os.nice(0))
    return engine_named(engine)(board, budget)

"""The work of a solver process: solve a position, at the lowest priority.

This module imports only the engine, because every new solver process loads all of its imports.
"""

import os

from gateway.engines.perfect import score, score_columns
from gateway.game.board import Board, boards_of

_NICE = 19


def solve(columns: str) -> dict[int, int]:
    """Return the value of each playable column after the moves in `columns`, as `score_columns` does."""
    return score_columns(_position(columns))


def solve_whole(columns: str) -> int:
    """Return the value of the position after the moves in `columns`, as `score` does."""
    return score(_position(columns))


def _position(columns: str) -> Board:
    if os.nice(0) < _NICE:
        os.nice(_NICE - os.nice(0))
    return boards_of(columns)[-1]

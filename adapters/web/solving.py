"""What a worker process of the web's does: work out a position, with the lowest priority there is.

A new process imports this module and what this imports: so this imports the engine and nothing else.
"""

import os

from gateway.engines.perfect import score_columns
from gateway.game.board import Board

_NICE = 19


def solve(columns: str) -> dict[int, int]:
    """Return what each playable column is worth after the moves in `columns`, as `score_columns` does."""
    if os.nice(0) < _NICE:
        os.nice(_NICE - os.nice(0))
    board = Board()
    for column in columns:
        board = board.drop(int(column))
    return score_columns(board)

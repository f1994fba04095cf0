"""What columns are worth, as far as a search finds out: for those who have not installed the solver.

Knows the search and the time it may take. The rule it keeps: what it calls certain is so, and the rest is a
guess, which may be as wrong as the move of an engine.
"""

from dataclasses import dataclass
from time import monotonic

from gateway.engines.bits import sides, urgent
from gateway.engines.search import WIN, Search
from gateway.game.board import COLUMNS, Board


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a column is worth to the side that plays it."""

    value: int
    """More than 0 is good, less is bad. Between columns the greater is the better."""
    is_certain: bool
    """Whether the game is won, lost (below 0) or drawn (0) with best play. When exactly is not known."""


def estimate_columns(board: Board, seconds: float) -> dict[int, Estimate]:
    """Return what each playable column of a board that is not over is worth, after `seconds` for each."""
    return {
        column: _estimate(board.drop(column), seconds) for column in range(COLUMNS) if board.has_room(column)
    }


def _estimate(after: Board, seconds: float) -> Estimate:
    """Return what the move that led to this board is worth."""
    if after.over:
        return Estimate(0 if after.winner is None else 2 * WIN, is_certain=True)
    mine, theirs = sides(after)
    reply = urgent(mine, theirs)
    if reply is not None and after.drop(reply).winner is not None:
        return Estimate(-2 * WIN, is_certain=True)
    search, deadline = Search(mine, theirs), monotonic() + seconds
    search.run(deadline)
    is_certain = abs(search.value) >= WIN or monotonic() < deadline
    return Estimate(-search.value, is_certain)

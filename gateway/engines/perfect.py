"""The perfect player: it wins as fast as possible and loses as late as possible.

Uses the solver bitbully, of the extra ``perfect``. The solver's licence is the AGPL, and it is imported only
when it is needed. The perfect player ignores its budget: with the book of the first twelve discs, which takes
180 MB, a move takes about a second at most.
"""

from functools import cache
from importlib.util import find_spec
from random import choice
from typing import TYPE_CHECKING

from gateway.engines import EngineUnavailable
from gateway.engines.bits import STRIDE, sides
from gateway.game.board import COLUMNS, ROWS, Board

if TYPE_CHECKING:
    from bitbully import BitBully
    from bitbully import Board as Position


def require() -> None:
    """Raise EngineUnavailable if the solver is not installed."""
    if find_spec("bitbully") is None:
        raise EngineUnavailable("perfect needs a solver that is not here: pip install bitbully")


def perfect(board: Board, _budget: float) -> int:
    """Return a random one of the best columns. Raises EngineUnavailable if the solver is not installed."""
    scores = score_columns(board)
    best = max(scores.values())
    return choice([column for column, score in scores.items() if score == best])


def has_book() -> bool:
    """Whether the solver is installed with its book, so that it scores any position within a second."""
    return all(map(find_spec, ("bitbully", "bitbully_databases")))


def score_columns(board: Board) -> dict[int, int]:
    """Return the score of each playable column, as `gateway.game.evaluation.Scores`.

    Raises EngineUnavailable.
    """
    scores = _solver().score_all_moves(_position(board))
    return {int(column): int(score) for column, score in scores.items()}


def score(board: Board) -> int:
    """Return the score, as in `score_columns`, of a board that is not over, for the side to move."""
    return int(_solver().mtdf(_position(board), first_guess=0))


@cache
def _solver() -> "BitBully":
    """Load the solver, with its book if that is installed."""
    require()
    from bitbully import BitBully  # noqa: PLC0415

    return BitBully("default" if find_spec("bitbully_databases") else None)


def _position(board: Board) -> "Position":
    from bitbully import Board as Position  # noqa: PLC0415  an optional package

    mine, theirs = sides(board)
    swap = mine.bit_count() != theirs.bit_count()
    return Position(_picture(theirs, mine) if swap else _picture(mine, theirs))


def _picture(first: int, second: int) -> list[list[int]]:
    """Return the columns, each from the bottom up: 1 and 2 for the two sides, 0 for an empty cell."""
    cells = [(first >> bit & 1) + 2 * (second >> bit & 1) for bit in range(COLUMNS * STRIDE)]
    return [cells[bottom : bottom + ROWS] for bottom in range(0, len(cells), STRIDE)]

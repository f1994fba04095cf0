"""The perfect player: never gives a won position away, wins as fast as it can and loses as late as it can.

Knows how to ask the solver bitbully, a library that is installed on request only (the extra ``perfect``)
because its licence, the AGPL, asks more of who runs a server than ours. Nothing of it is imported before
somebody asks for this player.

It takes the time it needs and ignores its budget: from a book for the first twelve discs, where that is
installed beside the solver, then about a second at most. The book costs a process 180 MB.
"""

from functools import cache
from importlib.util import find_spec
from random import choice
from typing import TYPE_CHECKING

from gateway.engines import EngineUnavailable
from gateway.engines.bits import STRIDE, sides
from gateway.game.board import CELLS, COLUMNS, ROWS, Board

if TYPE_CHECKING:
    from bitbully import BitBully
    from bitbully import Board as Position


def require() -> None:
    """Raise EngineUnavailable where the solver is not installed."""
    if find_spec("bitbully") is None:
        raise EngineUnavailable("perfect needs a solver that is not here: pip install bitbully")


def perfect(board: Board, _budget: float) -> int:
    """Return one of the best columns, by lot. Raises EngineUnavailable where the solver is missing."""
    scores = score_columns(board)
    best = max(scores.values())
    return choice([column for column, score in scores.items() if score == best])


def has_book() -> bool:
    """Whether the solver is installed with its book, and so scores any position within a second."""
    return all(map(find_spec, ("bitbully", "bitbully_databases")))


def score_columns(board: Board) -> dict[int, int]:
    """Return what each playable column is worth to the side to move.

    More than 0 is a win and less a loss, the further from 0 the sooner (see `last_move`); 0 is a tie. Raises
    EngineUnavailable.
    """
    scores = _solver().score_all_moves(_position(board))
    return {int(column): int(score) for column, score in scores.items()}


def score(board: Board) -> int:
    """Return what a board that is not over is worth to the side to move, as `score_columns` has it."""
    return int(_solver().mtdf(_position(board), first_guess=0))


def last_move(score: int, moves: int) -> int | None:
    """Return the number of the move that ends a game in which both play their best from now on.

    `score` is that of one column, not 0, after `moves` moves; None for a tie.
    """
    if score == 0:
        return None
    winner = moves % 2 if score > 0 else 1 - moves % 2
    return CELLS + 1 + winner - 2 * abs(score)


@cache
def _solver() -> "BitBully":
    """Load the solver, with its book where there is one. It knows no game, only positions."""
    require()
    from bitbully import BitBully  # noqa: PLC0415

    return BitBully("default" if find_spec("bitbully_databases") else None)


def _position(board: Board) -> "Position":
    from bitbully import Board as Position  # noqa: PLC0415  an extra, imported for those who ask

    mine, theirs = sides(board)
    swap = mine.bit_count() != theirs.bit_count()
    return Position(_picture(theirs, mine) if swap else _picture(mine, theirs))


def _picture(first: int, second: int) -> list[list[int]]:
    """Return the columns, each from the bottom up: 1 and 2 for the two sides, 0 for an empty cell."""
    cells = [(first >> bit & 1) + 2 * (second >> bit & 1) for bit in range(COLUMNS * STRIDE)]
    return [cells[bottom : bottom + ROWS] for bottom in range(0, len(cells), STRIDE)]

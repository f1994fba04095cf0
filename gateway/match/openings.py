"""Openings: positions from which two engines start, in a pair of games with swapped sides.

A file contains openings in Pascal Pons' notation: the columns played, counted from 1, as one word.
"""

from collections.abc import Iterable
from random import Random
from time import monotonic

from gateway.engines import perfect
from gateway.engines.bits import completing, landing, sides
from gateway.engines.search import Search
from gateway.game.board import COLUMNS, Board, board_at

MOST = 30
"""The most discs of an opening."""
_EVEN = 12
"""The largest value, for either side, with which a search counts a position as balanced."""
_THINK = 0.03
"""Seconds to search one position."""
_TRIES = 200


def read(lines: Iterable[str]) -> list[str]:
    """Return the openings of a file: the first word of each line, without empty lines and comments (#).

    They are converted to columns from 0, as in records. Raises ValueError, which names the line.
    """
    positions = []
    for number, line in enumerate(lines, 1):
        words = line.split()
        if words and not words[0].startswith("#"):
            try:
                board = board_at(words[0])
                if board.over:
                    raise ValueError(f"the game is over after {words[0]}")
                positions.append("".join(map(str, board.moves)))
            except ValueError as error:
                raise ValueError(f"line {number}: {error}") from None
    if not positions:
        raise ValueError("no position in it")
    return positions


def balanced(discs: int, lot: Random) -> str:
    """Return a random balanced position with `discs` discs, 0 to `MOST`, as columns from 0.

    With the solver installed, a position is balanced if perfect play draws it; without the solver, if a short
    search finds it about even. Neither side may have a winning move. If many tries find no balanced position,
    the last position without a winning move is returned.
    """
    has_book = perfect.has_book()
    position = ""
    for _ in range(_TRIES):
        board = _by_lot(discs, lot)
        if board is None:
            continue
        position = "".join(map(str, board.moves))
        if not discs or (perfect.score(board) == 0 if has_book else _is_even(board)):
            return position
    return position


def _by_lot(discs: int, lot: Random) -> Board | None:
    """Return a random position; None if it is won, or either side has a winning move."""
    board = Board()
    for _ in range(discs):
        board = board.drop(lot.choice([each for each in range(COLUMNS) if board.has_room(each)]))
        if board.over:
            return None
    mine, theirs = sides(board)
    cells = landing(mine | theirs)
    wins = completing(mine, mine | theirs) | completing(theirs, mine | theirs)
    return None if wins & cells else board


def _is_even(board: Board) -> bool:
    search = Search(*sides(board))
    search.run(monotonic() + _THINK)
    return abs(search.value) <= _EVEN

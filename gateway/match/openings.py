"""Openings, which are positions from which two engines start a pair of games with swapped sides.

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
"""The maximum number of discs in an opening."""
_EVEN = 12
"""A position counts as about even if the search gives neither side a larger value than this."""
_THINK = 0.03
"""The number of seconds for the search of one position."""
_TRIES = 200


def read(lines: Iterable[str]) -> list[str]:
    """Return the openings in a file: the first word of each line. Skips empty lines and comments (#).

    The openings are converted to columns counted from 0, as in records. Raises ValueError with the number of
    the wrong line.
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
    """Return a random balanced position with `discs` discs, 0 to `MOST`, as columns counted from 0.

    If the solver is installed, a balanced position is one that is drawn with perfect play. Otherwise it is
    one that a short search finds about even. Neither side has a winning move in it. If many tries find no
    balanced position, the last position without a winning move is returned.
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
    """Return a random position; None if it is already won or if either side has a winning move."""
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

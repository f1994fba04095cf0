"""Positions from which two engines start, each of them once with either colour.

In Pascal Pons' notation: the columns played, counted from 1, in one word. Balanced is a position that best
play draws, where the solver is installed, and else one in which a short search finds nobody ahead by much. In
neither can anybody win at once.
"""

from collections.abc import Iterable
from random import Random
from time import monotonic

from gateway.engines import perfect
from gateway.engines.bits import completing, landing, sides
from gateway.engines.search import Search
from gateway.game.board import COLUMNS, Board, board_at

MOST = 30
"""Discs of an opening at most: a game is to follow."""
_EVEN = 12
"""The value of a search up to which nobody is ahead by much."""
_THINK = 0.03
"""Seconds for the search of one position."""
_TRIES = 200


def read(lines: Iterable[str]) -> list[str]:
    """Return the openings of a file: the first word of each line, those left out that begin with #.

    As digits of columns from 0, as a record has its moves. Raises ValueError, which names the line.
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
    """Return the columns, from 0, of a balanced position with so many discs, from 0 to `MOST`, drawn by lot.

    Where none is found in many tries, the last position in which nobody wins at once.
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
    """Return a position by lot; None if somebody has won, or wins at once."""
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

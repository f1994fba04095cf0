"""Alpha-beta search, deeper and deeper until the time is up.

Knows positions and a deadline. Plays the best move of the deepest search that it finished, or a better one
that the search after that had already found. What it calls won or lost is so, with one disc or twenty to go;
everything else is a guess from the cells that would complete four in a row, and from those that are taken.

Every position is looked at in the light of the opponent's threats: one that can be carried out at once leaves
a single reply, which costs no depth, and a cell right below one is out of bounds. That sees two moves further
than the depth says, and makes most lines narrow. The table remembers what has been found out about a position
in this call, and the move to try first when the search comes back to it one move deeper.

Of moves that are worth the same it plays any, by lot. So a guess has to tell a good cell from a poor one.
"""

from dataclasses import dataclass
from random import choice, shuffle
from time import monotonic
from typing import TypeAlias

from gateway.engines.bits import (
    BOTTOM,
    CELLS_OF,
    CENTRE_FIRST,
    FULL,
    STRIDE,
    column_of,
    completing,
    landing,
    sides,
    urgent,
)
from gateway.game.board import CELLS, COLUMNS, ROWS, Board

WIN = 1000
"""The least value of a won position; a lost one is worth at most -WIN. Guesses are far smaller."""

_SOONEST = WIN + CELLS
_INFINITY = 10 * WIN
_ROOM = 400_000
"""Positions in a table, which keeps a search under 100 MB. One that is full starts afresh."""
_BETWEEN_LOOKS = 255
"""Positions between two looks at the time, one less than a power of 2. More than the first search takes."""
_ODD = BOTTOM * 0b010101
_EVEN = BOTTOM * 0b101010
_ROOFS = BOTTOM << ROWS
"""The bit above each column. Less some cells, that is every cell above the lowest of these in its column."""

_Entry: TypeAlias = tuple[int, int, int, int]
"""Depth of the search, least and greatest value that the position can have, best column."""


class _OutOfTime(Exception):
    pass


def alpha_beta(board: Board, budget: float, *, limit: float) -> int:
    """Return a column for the side to move, after at most `budget` and at most `limit` seconds."""
    deadline = monotonic() + min(budget, limit)
    mine, theirs = sides(board)
    column = urgent(mine, theirs)
    return Search(mine, theirs).run(deadline) if column is None else column


class Search:
    """The search for one move, where the side to move cannot win at once."""

    __slots__ = ("_best", "_deadline", "_mask", "_mine", "_nodes", "_table", "value")

    def __init__(self, mine: int, theirs: int) -> None:
        self._mine = mine
        self._mask = mine | theirs
        self._table: dict[int, _Entry] = {}
        self._nodes = 0
        self._deadline = 0.0
        self._best = [column_of(landing(self._mask))]
        """The best moves so far, all worth the same."""
        self.value = 0
        """What the last finished search found the position to be worth to the side to move."""

    def run(self, deadline: float) -> int:
        """Search until `deadline`, of `time.monotonic`, or until all is known; return a best column."""
        self._deadline = deadline
        cells = landing(self._mask)
        columns = [column for column in CENTRE_FIRST if cells & CELLS_OF[column]]
        try:
            for depth in range(1, CELLS - self._mask.bit_count() + 1):
                self.value = self._deepen(columns, depth)
                if abs(self.value) >= WIN:
                    break
                shuffle(self._best)
                columns = self._best + [column for column in columns if column not in self._best]
        except _OutOfTime:
            pass
        return choice(self._best)

    def _deepen(self, columns: list[int], depth: int) -> int:
        # The best moves of the search before this one are the first of `columns`. A better one may be
        # played even if this search is cut short: it has been compared with the first.
        theirs, cells = self._mask ^ self._mine, landing(self._mask)
        threats = completing(theirs, self._mask)
        best = -_INFINITY
        for column in columns:
            after = self._mask | cells & CELLS_OF[column]
            value = -self._value(theirs, after, depth - 1, (-_INFINITY, 1 - best), threats)
            if value > best:
                best, self._best = value, [column]
            elif value == best:
                self._best.append(column)
        return best

    def _value(self, mine: int, mask: int, depth: int, window: tuple[int, int], ours: int) -> int:
        """Return what a position is worth to the side that has `mine` and is to move.

        Values up to the first of `window` are upper bounds, values from the second on are lower bounds.
        `ours` are the cells that complete four in a row of that side; some may be taken.
        """
        self._nodes += 1
        if not self._nodes & _BETWEEN_LOOKS and monotonic() > self._deadline:
            raise _OutOfTime
        if mask == FULL:
            return 0
        cells = (mask + BOTTOM) & FULL
        if ours & cells:
            return _SOONEST - mask.bit_count() - 1
        threats = completing(mine ^ mask, mask)
        forced = threats & cells
        cells = (forced or cells) & ~(threats >> 1)
        if forced & (forced - 1) or not cells:
            return mask.bit_count() + 2 - _SOONEST
        if depth <= 0 and not forced:
            return _guess(ours & ~mask, threats, mask) + _places(mine, mine ^ mask)
        alpha, beta = window
        first = 0
        if entry := self._table.get(mine + mask):
            known, least, greatest, first = entry
            if known >= depth and (least >= beta or greatest <= alpha or least == greatest):
                return greatest if greatest <= alpha else least
        best, pick = self._moved(mine ^ mask, mask, depth + bool(forced), window, (cells, first, threats))
        if len(self._table) >= _ROOM:
            self._table.clear()
        # What is won or lost stays so, however deep one looks.
        self._table[mine + mask] = (
            CELLS if abs(best) >= WIN else depth,
            best if best > alpha else -_INFINITY,
            best if best < beta else _INFINITY,
            pick,
        )
        return best

    def _moved(
        self, theirs: int, mask: int, depth: int, window: tuple[int, int], moves: tuple[int, int, int]
    ) -> tuple[int, int]:
        top, beta = window
        cells, first, threats = moves
        best, pick = -_INFINITY, 0
        for column in _ORDERS[first]:
            cell = cells & column
            if cell:
                value = -self._value(theirs, mask | cell, depth - 1, (-beta, -top), threats)
                if value > best:
                    best, pick = value, column
                    if value > top:
                        top = value
                        if value >= beta:
                            break
        return best, pick


_BY_CENTRE = tuple(CELLS_OF[column] for column in CENTRE_FIRST)
_ORDERS = {0: _BY_CENTRE} | {
    first: (first, *(column for column in _BY_CENTRE if column != first)) for first in _BY_CENTRE
}
"""The columns' cells in the order to try them, by the column to try first, if any."""


_LINES = (
    (3, 4, 5, 5, 4, 3),
    (4, 6, 8, 8, 6, 4),
    (5, 8, 11, 11, 8, 5),
    (7, 10, 13, 13, 10, 7),
    (5, 8, 11, 11, 8, 5),
    (4, 6, 8, 8, 6, 4),
    (3, 4, 5, 5, 4, 3),
)
"""How many lines of four run through each cell."""


def _cells_with(least: int) -> int:
    """Return the cells through which so many lines run."""
    return sum(
        1 << column * STRIDE + row
        for column, cells in enumerate(_LINES)
        for row, lines in enumerate(cells)
        if lines >= least
    )


_FAIR, _GOOD, _BETTER, _BEST = map(_cells_with, (4, 6, 8, 11))


def _places(mine: int, theirs: int) -> int:
    """Return how much better the cells are that the side to move has taken."""
    value = (mine & _FAIR).bit_count() - (theirs & _FAIR).bit_count()
    value += (mine & _GOOD).bit_count() - (theirs & _GOOD).bit_count()
    value += (mine & _BETTER).bit_count() - (theirs & _BETTER).bit_count()
    return value + (mine & _BEST).bit_count() - (theirs & _BEST).bit_count()


def _guess(ours: int, threats: int, mask: int) -> int:
    """Return what a position promises to the side to move, from the cells that would complete four.

    When the columns fill up, the first mover gets to the cells of odd rows, counted from 1, and the second to
    those of even rows. Above such a cell of the opponent's, one's own comes too late. Where the first mover
    has none left, the second has the last word.
    """
    first, second = (threats, ours) if mask.bit_count() & 1 else (ours, threats)
    odd, even = first & _ODD, second & _EVEN
    early_odd, early_even = odd & ~(even | (_ROOFS - even)), even & ~(odd | (_ROOFS - odd))
    value = 6 * (early_odd.bit_count() - early_even.bit_count())
    value += 3 * ((first & _EVEN).bit_count() - (second & _ODD).bit_count())
    value += 15 * ((first & first >> 1).bit_count() - (second & second >> 1).bit_count())
    if not early_odd:
        value -= 12
    elif not early_even:
        value += 25
    return -value if mask.bit_count() & 1 else value


# What columns are worth, as far as a search finds out: for those who have not installed the solver.
#
# Knows the search and the time it may take. The rule it keeps: what it calls certain is so, and the rest is a
# guess, which may be as wrong as the move of an engine.


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

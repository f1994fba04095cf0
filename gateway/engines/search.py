"""Alpha-beta search with iterative deepening.

Knows positions and a deadline. A value of `WIN` or more, or of -`WIN` or less, is certain. Any other value is
an evaluation of threats and of the cells that are taken. Of moves with the same value a random one is played.
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
"""The least value of a won position; that of a lost one is at most -WIN. Evaluations are far smaller."""

_SOONEST = WIN + CELLS
_INFINITY = 10 * WIN
_ROOM = 400_000
"""The most positions in the table, which keeps a search under 100 MB. A full table is cleared."""
_BETWEEN_LOOKS = 255
"""Positions between two checks of the deadline. It is a power of 2 minus 1, and more than the search at depth
1 takes."""
_ODD = BOTTOM * 0b010101
_EVEN = BOTTOM * 0b101010
_ROOFS = BOTTOM << ROWS
"""The bit above each column. In each column, `_ROOFS - cells` has all cells from the lowest of `cells`
upwards."""

_Entry: TypeAlias = tuple[int, int, int, int]
"""The depth of the search, the lower and upper bound of the value, the best column."""


class _OutOfTime(Exception):
    pass


def alpha_beta(board: Board, budget: float, *, limit: float) -> int:
    """Return a column for the side to move, after at most the lesser of `budget` and `limit` seconds."""
    deadline = monotonic() + min(budget, limit)
    mine, theirs = sides(board)
    column = urgent(mine, theirs)
    return Search(mine, theirs).run(deadline) if column is None else column


class Search:
    """The search for one move in a position without an immediate win."""

    __slots__ = ("_best", "_deadline", "_mask", "_mine", "_nodes", "_table", "value")

    def __init__(self, mine: int, theirs: int) -> None:
        self._mine = mine
        self._mask = mine | theirs
        self._table: dict[int, _Entry] = {}
        self._nodes = 0
        self._deadline = 0.0
        self._best = [column_of(landing(self._mask))]
        """The best columns so far, all with the same value."""
        self.value = 0
        """The value of the position for the side to move, by the last finished search."""

    def run(self, deadline: float) -> int:
        """Search until `deadline` (`time.monotonic`) or until the value is certain; return a best column."""
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
        # The best moves of the previous search are first in `columns`. So if the time runs out, a better move
        # that this search has found already is still valid: it was compared with them.
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
        """Return the value of a position for the side to move, which has the discs `mine`.

        If the value is at most the first number in `window`, it is only an upper bound. If the value is at
        least the second number, it is only a lower bound. `ours` are the cells that complete four in a row of
        that side; some of them may be taken.

        If the opponent threatens to win at once, the only reply is played without using up depth. A cell
        right below a threat of the opponent is never played. So the search sees two moves further than its
        depth.
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
        # Wins and losses are certain at any depth.
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
"""All columns, as sets of cells, in the order to try them. The key is the column to try first; 0 for the
default order."""


_LINES = (
    (3, 4, 5, 5, 4, 3),
    (4, 6, 8, 8, 6, 4),
    (5, 8, 11, 11, 8, 5),
    (7, 10, 13, 13, 10, 7),
    (5, 8, 11, 11, 8, 5),
    (4, 6, 8, 8, 6, 4),
    (3, 4, 5, 5, 4, 3),
)
"""The number of lines of four through each cell, by column and row."""


def _cells_with(least: int) -> int:
    """Return the cells with at least `least` lines."""
    return sum(
        1 << column * STRIDE + row
        for column, cells in enumerate(_LINES)
        for row, lines in enumerate(cells)
        if lines >= least
    )


_FAIR, _GOOD, _BETTER, _BEST = map(_cells_with, (4, 6, 8, 11))


def _places(mine: int, theirs: int) -> int:
    """Return the value of the cells taken by the side to move, minus those of the opponent."""
    value = (mine & _FAIR).bit_count() - (theirs & _FAIR).bit_count()
    value += (mine & _GOOD).bit_count() - (theirs & _GOOD).bit_count()
    value += (mine & _BETTER).bit_count() - (theirs & _BETTER).bit_count()
    return value + (mine & _BEST).bit_count() - (theirs & _BEST).bit_count()


def _guess(ours: int, threats: int, mask: int) -> int:
    """Return an evaluation for the side to move, from the cells that would complete four in a row.

    When the columns fill up, the first mover gets the cells in odd rows, counted from 1, and the second mover
    those in even rows. A threat of this kind has no value if it is above such a threat of the opponent. If
    the first mover has no odd threat, the second mover has the advantage.
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


# Estimates of columns by the search, for use without the solver.


@dataclass(frozen=True, slots=True)
class Estimate:
    """The estimated value of a column for the side that plays it."""

    value: int
    """Above 0 is good, below 0 bad; the greater the better."""
    is_certain: bool
    """Whether the column is known to win (above 0), to lose (below 0) or to draw (0) with perfect play."""


def estimate_columns(board: Board, seconds: float) -> dict[int, Estimate]:
    """Return the estimate of each playable column of a board that is not over, with `seconds` for each."""
    return {
        column: _estimate(board.drop(column), seconds) for column in range(COLUMNS) if board.has_room(column)
    }


def _estimate(after: Board, seconds: float) -> Estimate:
    """Return the estimate of the move that led to this board."""
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

"""The arithmetic of cells: sets of them, as the bits of an integer.

Knows the board's layout (bit ``column * 7 + row``, see `gateway.game.board`) and what four in a row is. Does
not know how to play, beyond the two moves that need no thought: winning at once, and keeping the other side
from winning at once.

Throughout the engines `mine` are the discs of the side to move, `theirs` the opponent's, `mask` both.
"""

from gateway.game.board import COLUMNS, ROWS, Board

STRIDE = ROWS + 1
BOTTOM = sum(1 << (column * STRIDE) for column in range(COLUMNS))
"""The lowest cell of each column."""
FULL = BOTTOM * ((1 << ROWS) - 1)
"""All 42 cells."""
CELLS_OF = tuple(((1 << ROWS) - 1) << (column * STRIDE) for column in range(COLUMNS))
"""The cells of each column."""
CENTRE_FIRST = (3, 2, 4, 1, 5, 0, 6)
"""The columns in the order in which they are worth a look: most lines run through the middle."""

_STEPS = tuple((step, 2 * step, 3 * step) for step in (STRIDE, STRIDE - 1, STRIDE + 1))
"""From one cell of a line to the next, to the one after that and to the last."""


def sides(board: Board) -> tuple[int, int]:
    """Return the discs of the side to move and those of its opponent."""
    first, second = board.discs
    return (first, second) if first.bit_count() == second.bit_count() else (second, first)


def landing(mask: int) -> int:
    """Return the cells where a disc dropped now can come to rest, one in each column with room."""
    return (mask + BOTTOM) & FULL


def completing(discs: int, mask: int) -> int:
    """Return the empty cells, reachable or not, that would complete four in a row of `discs`."""
    cells = (discs << 1) & (discs << 2) & (discs << 3)
    for one, two, three in _STEPS:
        above = discs << one
        pairs = discs & above
        if pairs:
            cells |= (pairs << one) & (discs << three | discs >> one)
            cells |= (pairs >> two) & (discs >> three | above)
    return cells & (FULL ^ mask)


def column_of(cells: int) -> int:
    """Return the column of the most central of `cells`, which are not none."""
    return next(column for column in CENTRE_FIRST if cells & CELLS_OF[column])


def urgent(mine: int, theirs: int) -> int | None:
    """Return the column that wins at once, or else one that keeps the opponent from it, if there is one."""
    mask = mine | theirs
    for discs in (mine, theirs):
        if cells := completing(discs, mask) & landing(mask):
            return column_of(cells)
    return None

"""Sets of cells as the bits of an integer: bit ``column * 7 + row``, as in `gateway.game.board`.

Knows four in a row, and the two moves that need no search: one that wins at once, and one that prevents such
a move of the opponent. In all engines `mine` are the discs of the side to move, `theirs` those of the
opponent, `mask` both.
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
"""The columns in the order in which a search tries them: most lines run through the centre."""

_STEPS = tuple((step, 2 * step, 3 * step) for step in (STRIDE, STRIDE - 1, STRIDE + 1))
"""Distances in bits from the first cell of a line to the others, for horizontal and diagonal lines."""


def sides(board: Board) -> tuple[int, int]:
    """Return the discs of the side to move and those of its opponent."""
    first, second = board.discs
    return (first, second) if first.bit_count() == second.bit_count() else (second, first)


def landing(mask: int) -> int:
    """Return the cells where a disc can land now, one in each column with room."""
    return (mask + BOTTOM) & FULL


def completing(discs: int, mask: int) -> int:
    """Return the empty cells that would complete four in a row of `discs`, even if not reachable yet."""
    cells = (discs << 1) & (discs << 2) & (discs << 3)
    for one, two, three in _STEPS:
        above = discs << one
        pairs = discs & above
        if pairs:
            cells |= (pairs << one) & (discs << three | discs >> one)
            cells |= (pairs >> two) & (discs >> three | above)
    return cells & (FULL ^ mask)


def column_of(cells: int) -> int:
    """Return the column of the most central of `cells`, of which there is at least one."""
    return next(column for column in CENTRE_FIRST if cells & CELLS_OF[column])


def urgent(mine: int, theirs: int) -> int | None:
    """Return a column that wins at once, otherwise one that blocks an immediate win of the opponent.

    None if there is neither.
    """
    mask = mine | theirs
    for discs in (mine, theirs):
        if cells := completing(discs, mask) & landing(mask):
            return column_of(cells)
    return None

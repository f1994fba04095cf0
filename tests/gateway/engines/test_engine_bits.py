from engine_positions import boards, playable, pressing
from hypothesis import given
from hypothesis import strategies as st

from gateway.engines.bits import (
    CELLS_OF,
    FULL,
    STRIDE,
    column_of,
    completing,
    landing,
    sides,
    urgent,
)
from gateway.game.board import CELLS, COLUMNS, ROWS, Board


@given(boards())
def test_sides_and_where_discs_land_are_read_from_the_discs_alone(board: Board) -> None:
    mine, theirs = sides(Board(discs=board.discs))
    assert (mine, theirs) == (board.discs[board.turn], board.discs[1 - board.turn])
    cells = landing(mine | theirs)
    assert [column for column in range(COLUMNS) if cells & CELLS_OF[column]] == playable(board)
    for column in playable(board):
        after = board.drop(column).discs
        assert cells & CELLS_OF[column] == (after[0] | after[1]) ^ (mine | theirs)


@given(st.integers(0, FULL).map(lambda bits: bits & FULL), st.integers(0, FULL))
def test_completing_cells_are_those_that_make_four(discs: int, others: int) -> None:
    others &= FULL & ~discs
    found = completing(discs, discs | others)
    for column in range(COLUMNS):
        for row in range(ROWS):
            cell = 1 << (column * STRIDE + row)
            lines = any(
                _on_line(discs | cell, column - back * right, row - back * up, (right, up))
                for right, up in ((1, 0), (0, 1), (1, 1), (1, -1))
                for back in ((3,) if not right else range(4))  # nothing hangs in the air
            )
            assert bool(found & cell) == (lines and not (discs | others) & cell)


def _on_line(discs: int, column: int, row: int, direction: tuple[int, int]) -> bool:
    right, up = direction
    cells = [(column + step * right, row + step * up) for step in range(4)]
    return all(0 <= c < COLUMNS and 0 <= r < ROWS and discs >> (c * STRIDE + r) & 1 for c, r in cells)


@given(boards(least=6))
def test_what_is_urgent_is_a_win_or_else_a_block(board: Board) -> None:
    column = urgent(*sides(board))
    assert column in pressing(board) if pressing(board) else column is None


def test_the_most_central_column_is_preferred() -> None:
    assert column_of(FULL) == 3
    assert column_of(CELLS_OF[6] | CELLS_OF[5] | CELLS_OF[0]) == 5


def test_nothing_lands_on_a_full_board() -> None:
    assert landing(FULL) == 0
    assert FULL.bit_count() == CELLS

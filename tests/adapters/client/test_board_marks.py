"""The cells of a board, against the discs one by one."""

from collections.abc import Iterable

from hypothesis import given
from hypothesis import strategies as st

from adapters.client.board_marks import BoardMarks
from gateway.game.board import CELLS, ROWS, Board

MARKS = b".RY"


def played(columns: Iterable[int]) -> Board:
    board = Board()
    for column in columns:
        if not board.over and board.has_room(column):
            board = board.drop(column)
    return board


def disc_by_disc(board: Board) -> bytes:
    cells = [MARKS[0]] * CELLS
    for column, row, side in board.placed():
        cells[column * ROWS + row] = MARKS[side + 1]
    return bytes(cells)


@given(st.lists(st.integers(0, 6), max_size=80).map(played))
def test_every_disc_has_its_mark_in_its_place(board: Board) -> None:
    assert BoardMarks(MARKS).of(board) == disc_by_disc(board)


def test_empty_board_has_42_empty_cells() -> None:
    assert BoardMarks(MARKS).of(Board()) == b"." * 42


def test_full_board_has_no_empty_cell() -> None:
    board = played(map(int, "146660203633536103043506522512202545444111"))
    assert len(board.moves) == CELLS
    assert BoardMarks(MARKS).of(board) == disc_by_disc(board)


def test_column_0_comes_first_and_its_bottom_first_of_all() -> None:
    assert BoardMarks(MARKS).of(played([0, 0, 0, 1, 6])) == b"RYR..." + b"Y....." + b"......" * 4 + b"R....."


@given(st.permutations([0, 0, 1, 2, 3, 3]))
def test_cells_are_the_same_whatever_the_order_of_play(columns: list[int]) -> None:
    board = played(columns)
    assert BoardMarks(MARKS).of(Board((), board.discs)) == BoardMarks(MARKS).of(board)

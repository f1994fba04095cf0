"""The cells of a board, against the discs one by one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from worlds.events import boards, played

from adapters.client.board_marks import BoardMarks
from gateway.game.board import CELLS, ROWS, Board

MARKS = b".RY"


def disc_by_disc(board: Board) -> bytes:
    cells = [MARKS[0]] * CELLS
    for column, row, side in board.placed():
        cells[column * ROWS + row] = MARKS[side + 1]
    return bytes(cells)


@given(boards)
def test_every_disc_has_its_mark_in_its_place(board: Board) -> None:
    assert BoardMarks(MARKS).of(board) == disc_by_disc(board)


@pytest.mark.parametrize("moves", ["", "00016", "146660203633536103043506522512202545444111"])
def test_empty_and_full_columns_have_their_marks_too(moves: str) -> None:
    board = played(moves)
    assert len(board.moves) == len(moves)
    assert BoardMarks(MARKS).of(board) == disc_by_disc(board)


@given(st.permutations([0, 0, 1, 2, 3, 3]))
def test_cells_are_the_same_whatever_the_order_of_play(columns: list[int]) -> None:
    board = played(columns)
    assert BoardMarks(MARKS).of(Board((), board.discs)) == BoardMarks(MARKS).of(board)

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.game.board import Board, board_at, position_string


def test_columns_are_counted_from_1() -> None:
    assert position_string((0, 3, 6)) == "147"
    assert board_at("147").moves == (0, 3, 6)
    assert (position_string(()), board_at("")) == ("", Board())


@given(st.lists(st.integers(0, 6), max_size=42))
def test_board_is_that_of_the_moves_or_names_the_first_that_cannot_be(columns: list[int]) -> None:
    board = Board()
    for column in columns:
        if board.over or not board.has_room(column):
            with pytest.raises(ValueError, match=f"move {len(board.moves) + 1}"):
                board_at(position_string(columns))
            return
        board = board.drop(column)
    assert board_at(position_string(columns)) == board


@pytest.mark.parametrize(
    ("position", "message"),
    [
        ("44x", "move 3, 'x', is not a column from 1 to 7"),
        ("440", "move 3, '0', is not a column from 1 to 7"),
        ("48", "move 2, '8', is not a column from 1 to 7"),
        ("4 5", "move 2, ' ', is not a column from 1 to 7"),
        ("1\u0664", "move 2, '\u0664', is not a column from 1 to 7"),
        ("4444444", "move 7: column 4 is full"),
        ("11223344", "move 8 comes after the end: move 7 ended the game"),
    ],
)
def test_position_that_there_cannot_be_says_why(position: str, message: str) -> None:
    with pytest.raises(ValueError) as raised:
        board_at(position)
    assert str(raised.value) == message

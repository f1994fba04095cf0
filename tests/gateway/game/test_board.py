import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.game.board import CELLS, COLUMNS, FIRST, ROWS, SECOND, Board, board_at, other, position_string

DRAWN = "436014551160150155104632660465204242223333"


def play(columns: str) -> Board:
    board = Board()
    for column in columns:
        board = board.drop(int(column))
    return board


def naive_winner(moves: tuple[int, ...]) -> int | None:
    """Scan every line of four cells after all moves, disc by disc."""
    cells: dict[tuple[int, int], int] = {}
    heights = [0] * COLUMNS
    for number, column in enumerate(moves):
        cells[column, heights[column]] = number % 2
        heights[column] += 1
    for column in range(COLUMNS):
        for row in range(ROWS):
            for right, up in ((1, 0), (0, 1), (1, 1), (1, -1)):
                line = [cells.get((column + step * right, row + step * up)) for step in range(4)]
                if line[0] is not None and line.count(line[0]) == 4:
                    return line[0]
    return None


@pytest.mark.parametrize(
    ("columns", "winner"),
    [
        ("0101010", FIRST),
        ("0616263", FIRST),
        ("01122323363", FIRST),
        ("65544343303", FIRST),
        ("0011332", FIRST),  # the gap in a line is filled last
        ("40101010", SECOND),
        ("00011100016", None),  # no line wraps into the next column
    ],
)
def test_fourth_in_a_line_wins(columns: str, winner: int | None) -> None:
    assert play(columns[:-1]).winner is None
    board = play(columns)
    assert (board.winner, board.over) == (winner, winner is not None)


def test_line_does_not_wrap_into_the_next_column() -> None:
    assert Board((), (0b111 << 3 | 1 << 7, 0)).drop(6).winner is None


def test_full_board_without_four_is_a_tie() -> None:
    board = play(DRAWN)
    assert (board.over, board.winner, naive_winner(board.moves)) == (True, None, None)
    assert not play(DRAWN[:-1]).over


def test_turns_alternate() -> None:
    assert [play("0123456"[:plies]).turn for plies in range(4)] == [FIRST, SECOND, FIRST, SECOND]
    assert (other(FIRST), other(SECOND)) == (SECOND, FIRST)


@pytest.mark.parametrize(
    ("columns", "refused"),
    [
        ("", [-8, -7, -1, 7, 99, 10**30]),
        ("333333", [3]),
        ("0101010", range(COLUMNS)),
        (DRAWN, range(COLUMNS)),
    ],
)
def test_column_outside_or_full_or_after_the_end_is_refused(columns: str, refused: list[int]) -> None:
    board = play(columns)
    for column in refused:
        with pytest.raises(ValueError):
            board.drop(column)
    assert board == play(columns)


def test_discs_stack_from_the_bottom() -> None:
    assert list(play("3340").placed()) == [(3, 0, FIRST), (3, 1, SECOND), (4, 0, FIRST), (0, 0, SECOND)]


@given(st.lists(st.integers(0, COLUMNS - 1), max_size=3 * CELLS))
def test_any_game_agrees_with_a_naive_scan(columns: list[int]) -> None:
    board = Board()
    for column in columns:
        if board.over:
            break
        height = board.moves.count(column)
        assert board.has_room(column) == (height < ROWS)
        if height == ROWS:
            with pytest.raises(ValueError):
                board.drop(column)
            continue
        board = board.drop(column)
        assert board.winner == naive_winner(board.moves)
        assert board.over == (board.winner is not None or len(board.moves) == CELLS)
    first, second = board.discs
    assert not first & second
    assert (first | second).bit_count() == len(board.moves) == len(list(board.placed()))


def test_number_of_distinct_positions_and_of_games_after_each_ply_is_the_known_one() -> None:
    ways: dict[tuple[int, int], tuple[Board, int]] = {Board().discs: (Board(), 1)}
    counts = []
    for _ in range(6):
        counts.append(len(ways))
        after: dict[tuple[int, int], tuple[Board, int]] = {}
        for board, count in ways.values():
            for column in filter(board.has_room, range(COLUMNS)) if not board.over else ():
                successor = board.drop(column)
                after[successor.discs] = (successor, count + after.get(successor.discs, (None, 0))[1])
        ways = after
    assert [*counts, len(ways)] == [1, 7, 49, 238, 1120, 4263, 16422]
    assert sum(count for _, count in ways.values()) == 7**6


# Positions as text, with columns counted from 1.


@given(st.lists(st.integers(0, 6), max_size=42))
def test_position_string_is_read_back_or_names_the_first_move_that_cannot_be(columns: list[int]) -> None:
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
        ("1\u0664", "move 2, '\u0664', is not a column from 1 to 7"),
        ("4444444", "move 7: column 4 is full"),
        ("11223344", "move 8 comes after the end: move 7 ended the game"),
    ],
)
def test_position_that_there_cannot_be_says_why(position: str, message: str) -> None:
    with pytest.raises(ValueError) as raised:
        board_at(position)
    assert str(raised.value) == message
    assert position_string((0, 3, 6)) == "147"

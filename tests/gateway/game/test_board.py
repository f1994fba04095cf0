import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.game.board import CELLS, COLUMNS, FIRST, ROWS, SECOND, Board, other

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


def test_fourth_in_a_column_wins() -> None:
    assert play("010101").winner is None
    assert play("0101010").winner == FIRST


def test_fourth_in_a_row_wins() -> None:
    assert play("061626").winner is None
    assert play("0616263").winner == FIRST


def test_fourth_in_a_rising_diagonal_wins() -> None:
    assert play("0112232336").winner is None
    assert play("01122323363").winner == FIRST


def test_fourth_in_a_falling_diagonal_wins() -> None:
    assert play("6554434330").winner is None
    assert play("65544343303").winner == FIRST


def test_the_gap_in_a_line_filled_last_wins() -> None:
    assert play("0011336").winner is None
    assert play("00113362").winner is None
    assert play("0011332").winner == FIRST


def test_the_second_mover_wins_as_well() -> None:
    board = play("40101010")
    assert board.winner == SECOND
    assert board.over


def test_a_line_does_not_wrap_into_the_next_column() -> None:
    board = Board((), (0b111 << 3 | 1 << 7, 0))
    assert board.drop(6).winner is None
    assert play("000111" + "0001").winner is None


def test_a_full_board_without_four_is_a_tie() -> None:
    board = play(DRAWN)
    assert (board.over, board.winner) == (True, None)
    assert naive_winner(board.moves) is None


def test_a_board_with_room_and_without_four_goes_on() -> None:
    board = play(DRAWN[:-1])
    assert not board.over


def test_turns_alternate() -> None:
    assert [play("0123456"[:plies]).turn for plies in range(4)] == [FIRST, SECOND, FIRST, SECOND]
    assert (other(FIRST), other(SECOND)) == (SECOND, FIRST)


@pytest.mark.parametrize("column", [-8, -7, -1, 7, 99, 10**30])
def test_a_column_outside_the_board_is_refused(column: int) -> None:
    with pytest.raises(ValueError):
        Board().drop(column)


def test_a_full_column_is_refused() -> None:
    board = play("333333")
    assert not board.has_room(3)
    assert board.has_room(2)
    with pytest.raises(ValueError):
        board.drop(3)


@pytest.mark.parametrize("columns", ["0101010", DRAWN])
def test_nothing_is_dropped_once_the_game_is_over(columns: str) -> None:
    board = play(columns)
    for column in range(COLUMNS):
        with pytest.raises(ValueError):
            board.drop(column)


def test_a_drop_leaves_the_board_it_was_made_on_alone() -> None:
    before = play("34")
    after = before.drop(3)
    assert before == play("34")
    assert after.moves == (3, 4, 3)


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


def test_number_of_distinct_positions_after_each_ply_is_the_known_one() -> None:
    boards = {Board().discs: Board()}
    counts = []
    for _ in range(7):
        counts.append(len(boards))
        successors = (
            board.drop(column)
            for board in boards.values()
            if not board.over
            for column in range(COLUMNS)
            if board.has_room(column)
        )
        boards = {board.discs: board for board in successors}
    assert counts == [1, 7, 49, 238, 1120, 4263, 16422]
    assert len(boards) == 54859


def test_number_of_games_of_seven_plies_is_the_known_one() -> None:
    ways: dict[tuple[int, int], tuple[Board, int]] = {Board().discs: (Board(), 1)}
    for _ in range(7):
        after: dict[tuple[int, int], tuple[Board, int]] = {}
        for board, count in ways.values():
            if board.over:
                continue
            for column in filter(board.has_room, range(COLUMNS)):
                successor = board.drop(column)
                after[successor.discs] = (successor, count + after.get(successor.discs, (None, 0))[1])
        ways = after
    # The last disc into a full column is what 7**7 counts too much.
    assert sum(count for _, count in ways.values()) == 7**7 - 7 == 823_536

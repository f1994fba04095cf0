"""The perfect player, where its solver is installed."""

import random

import pytest
from engine_positions import dealt, play, playable

from gateway.engines.catalogue import engine_named
from gateway.engines.perfect import last_move, perfect, score_columns
from gateway.game.board import FIRST, Board

pytest.importorskip("bitbully", reason="the solver of the extra 'perfect' is not installed")


@pytest.fixture(autouse=True)
def _same_lot() -> None:
    random.seed(1)


def ending(board: Board) -> int:
    """Return when and how the game ends with best play: sooner wins are more, sooner losses less."""
    if board.over:
        return 0 if board.winner is None else len(board.moves) - 100
    return max(-ending(board.drop(column)) for column in playable(board))


@pytest.mark.parametrize("seed", range(5))
def test_the_fastest_win_and_the_slowest_loss_are_chosen(seed: int) -> None:
    board = dealt(seed, 33)
    assert -ending(board.drop(perfect(board, 1.0))) == ending(board)


def test_the_middle_is_the_only_winning_opening() -> None:
    assert perfect(Board(), 1.0) == 3
    assert [column for column, score in score_columns(Board()).items() if score > 0] == [3]


@pytest.mark.parametrize(
    ("moves", "column", "end"),
    [
        ("", 3, 41),  # the known value of the game: the first mover wins with its 21st disc
        ("3344", 2, 7),  # an open three, which one disc cannot stop
        ("010101", 0, 7),
        ("010101", 1, 38),
        ("01010", 6, 7),
        ("", 2, None),
    ],
)
def test_score_tells_when_the_game_ends(moves: str, column: int, end: int | None) -> None:
    assert last_move(score_columns(play(moves))[column], len(moves)) == end


@pytest.mark.parametrize("seed", range(5))
def test_score_tells_the_same_end_as_a_search_of_all_moves(seed: int) -> None:
    board = dealt(seed, 33)
    for column, score in score_columns(board).items():
        found = -ending(board.drop(column))
        assert (found > 0) - (found < 0) == (score > 0) - (score < 0)
        assert last_move(score, len(board.moves)) == (100 - abs(found) if found else None)


def test_a_full_column_has_no_score() -> None:
    assert sorted(score_columns(play("333333"))) == [0, 1, 2, 4, 5, 6]


def test_both_sides_are_told_apart_by_their_discs() -> None:
    board = play("33433")
    assert score_columns(Board(discs=board.discs)) == score_columns(board)
    assert perfect(play("010101"), 1.0) == 0
    assert perfect(play("01010"), 1.0) == 0


@pytest.mark.parametrize("opponent", ["random", "mc:50", "aimafast"])
def test_the_first_mover_always_wins(opponent: str) -> None:
    engines = (engine_named("perfect"), engine_named(opponent))
    board = Board()
    while not board.over:
        board = board.drop(engines[board.turn](board, 0.01))
    assert board.winner == FIRST

"""The perfect player, where its solver is installed."""

import pytest
from engine_positions import dealt, play, playable

from gateway.engines.catalogue import engine_named
from gateway.engines.perfect import perfect, score_columns
from gateway.game.board import FIRST, Board
from gateway.game.evaluation import last_move

pytest.importorskip("bitbully", reason="the solver of the extra 'perfect' is not installed")


def ending(board: Board) -> int:
    """Return when and how the game ends with best play: sooner wins are more, sooner losses less."""
    if board.over:
        return 0 if board.winner is None else len(board.moves) - 100
    return max(-ending(board.drop(column)) for column in playable(board))


@pytest.mark.parametrize("seed", range(5))
def test_scores_and_choice_are_those_of_a_search_of_all_moves(seed: int) -> None:
    board = dealt(seed, 33)
    assert -ending(board.drop(perfect(board, 1.0))) == ending(board)
    for column, score in score_columns(board).items():
        found = -ending(board.drop(column))
        assert (found > 0) - (found < 0) == (score > 0) - (score < 0)
        assert last_move(score, len(board.moves)) == (100 - abs(found) if found else None)


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
    board = play(moves)
    scores = score_columns(Board(discs=board.discs))
    assert last_move(scores[column], len(moves)) == end
    assert sorted(scores) == playable(board)


def test_only_the_middle_wins_from_the_start_and_does() -> None:
    assert [column for column, score in score_columns(Board()).items() if score > 0] == [3]
    engines = engine_named("perfect"), engine_named("aimafast")
    board = Board()
    while not board.over:
        board = board.drop(engines[board.turn](board, 0.01))
    assert (board.moves[0], board.winner) == (3, FIRST)

"""The scripted opponents lead a game where its scenario wants it."""

from random import Random

import pytest

from adapters.check.scenarios import balance, beat, fill, give
from gateway.game.board import COLUMNS, Board


def played(strategy, seed):
    """Return the end of a game against a player that plays anywhere, and the strategy's side."""
    lot, board, own = Random(seed), Board(), seed % 2
    while not board.over:
        free = [column for column in range(COLUMNS) if board.has_room(column)]
        board = board.drop(strategy(board, lot) if board.turn == own else lot.choice(free))
    return board, own


@pytest.mark.parametrize("seed", range(4))
def test_opponent_that_gives_never_wins_and_one_that_beats_never_loses(seed):
    board, own = played(give, seed)
    assert board.winner != own
    board, own = played(beat, seed)
    assert board.winner == own


def test_opponent_that_balances_draws_one_game_of_six_at_least():
    assert sum(played(balance, seed)[0].winner is None for seed in range(12)) >= 2


def test_opponent_that_must_win_wins():
    board = Board()
    for column in (0, 1, 0, 1, 0, 2):
        board = board.drop(column)
    for strategy in (give, balance, fill):
        assert strategy(board, Random(1)) != 0
    assert beat(board, Random(1)) == 0

import random
from time import monotonic
from typing import Protocol

import pytest
from engine_positions import boards, can_win, dealt, playable, pressing
from hypothesis import given, settings
from hypothesis import strategies as st
from trials import FEW

from gateway.engines import montecarlo
from gateway.engines.montecarlo import flat, uct
from gateway.game.board import Board

LONG = 60.0


class Counted(Protocol):
    def __call__(self, board: Board, budget: float, *, games: int | None = None) -> int: ...


both = pytest.mark.parametrize("engine", [flat, uct])


@pytest.fixture(autouse=True)
def _same_lot() -> None:
    random.seed(1)


@both
@settings(max_examples=FEW)
@given(board=boards(), games=st.integers(1, 30))
def test_the_column_is_playable_with_any_number_of_games(engine: Counted, board: Board, games: int) -> None:
    assert board.has_room(engine(board, LONG, games=games))


@both
@settings(max_examples=FEW)
@given(board=boards())
def test_the_column_is_playable_with_no_time(engine: Counted, board: Board) -> None:
    assert board.has_room(engine(board, 1e-9))


@both
@given(board=boards(least=6))
def test_no_win_and_no_block_is_missed_with_one_game(engine: Counted, board: Board) -> None:
    column = engine(board, LONG, games=1)
    assert not pressing(board) or column in pressing(board)


@both
def test_no_win_is_given_to_the_opponent(engine: Counted) -> None:
    for seed in range(20):
        board = dealt(seed, 24)
        options = {column: can_win(board.drop(column)) for column in playable(board)}
        assert not options[engine(board, LONG, games=500)] or all(options.values())


@both
def test_the_middle_is_the_best_opening(engine: Counted) -> None:
    assert engine(Board(), LONG, games=2000) == 3


@both
@pytest.mark.parametrize(("budget", "games"), [(0.02, None), (0.02, 10**9), (LONG, 50)])
def test_games_and_budget_both_end_the_thinking(engine: Counted, budget: float, games: int | None) -> None:
    began = monotonic()
    engine(Board(), budget, games=games)
    assert monotonic() - began < LONG / 2


@both
def test_so_many_games_are_played_and_no_more(engine: Counted, monkeypatch: pytest.MonkeyPatch) -> None:
    played = []

    def tie(mine: int, theirs: int) -> int:
        played.append((mine, theirs))
        return 0

    monkeypatch.setattr(montecarlo, "_random_game", tie)
    engine(Board(), LONG, games=70)
    assert len(played) == 70


def test_a_full_tree_plays_on_without_growing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(montecarlo, "_ROOM", 8)
    assert uct(Board(), LONG, games=300) in range(7)


@given(board=boards())
def test_a_random_game_is_won_by_whoever_has_four(board: Board) -> None:
    mine, theirs = board.discs[board.turn], board.discs[1 - board.turn]
    assert montecarlo._random_game(mine, theirs) in {-1, 0, 1}
    for column in playable(board):
        after = board.drop(column)
        if after.winner is not None:
            assert montecarlo._random_game(after.discs[after.turn], after.discs[1 - after.turn]) == -1

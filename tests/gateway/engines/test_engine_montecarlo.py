import random
from collections.abc import Iterator
from math import sqrt
from statistics import fmean
from time import monotonic
from typing import Protocol

import pytest
from engine_positions import boards, can_win, dealt, playable, pressing
from hypothesis import given, settings
from hypothesis import strategies as st
from trials import FEW

from gateway.engines import montecarlo
from gateway.engines.bits import sides
from gateway.engines.montecarlo import Playouts, flat, uct
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
@given(board=boards(), budget=st.sampled_from([1e-9, LONG]), games=st.integers(1, 30))
def test_column_is_playable_with_any_number_of_games_and_no_time(
    engine: Counted, board: Board, budget: float, games: int
) -> None:
    assert board.has_room(engine(board, budget, games=games))


@both
@settings(max_examples=FEW)
@given(board=boards(least=6))
def test_no_win_and_no_block_is_missed_with_one_game(engine: Counted, board: Board) -> None:
    column = engine(board, LONG, games=1)
    assert not pressing(board) or column in pressing(board)


@both
def test_no_win_is_given_to_the_opponent(engine: Counted) -> None:
    for seed in range(10):
        board = dealt(seed, 24)
        options = {column: can_win(board.drop(column)) for column in playable(board)}
        assert not options[engine(board, LONG, games=500)] or all(options.values())


@both
def test_the_middle_is_the_best_opening(engine: Counted) -> None:
    assert engine(Board(), LONG, games=5000) == 3


@both
@pytest.mark.parametrize(("budget", "games"), [(0.02, None), (0.02, 10**9), (LONG, 50)])
def test_games_and_budget_both_end_the_thinking(engine: Counted, budget: float, games: int | None) -> None:
    began = monotonic()
    engine(Board(), budget, games=games)
    assert monotonic() - began < LONG / 2


@both
def test_same_seed_repeats_the_thought(engine: Counted) -> None:
    def columns() -> list[int]:
        random.seed(7)
        return [engine(dealt(seed, 15), LONG, games=games) for seed, games in enumerate((300, 5000))]

    assert columns() == columns()


def test_a_full_tree_plays_on_without_growing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(montecarlo, "_ROOM", 8)
    assert uct(Board(), LONG, games=300) in range(7)


# Random games: one by one they are right, and together they come out as plain ones do.


@settings(max_examples=FEW)
@given(board=boards(least=34))
def test_a_random_game_ends_as_one_of_all_games_could(board: Board) -> None:
    mine, theirs = sides(board)
    found = {Playouts().points([mine], [theirs], 1)[0] for _ in range(20)}
    assert found <= set(endings(board))


def endings(board: Board) -> Iterator[int]:
    """Yield how each game that goes on from here ends, for the side to move: 1, -1 or 0."""
    if board.winner is not None:
        yield -1
    elif board.over:
        yield 0
    else:
        for column in playable(board):
            yield from (-end for end in endings(board.drop(column)))


@pytest.mark.parametrize("discs", [0, 18, 34])
def test_each_column_wins_as_often_as_in_plain_random_games(discs: int) -> None:
    """The difference of two means of values from -1 to 1 stays within five times its standard deviation."""
    many, few = 10_000, 300
    board = dealt(discs, discs)
    after = [board.drop(column) for column in playable(board)]
    mine, theirs = zip(*map(sides, after), strict=True)
    batched = Playouts().points(mine, theirs, many)
    bound = 5 * sqrt(1 / many + 1 / few)
    for position, points in zip(after, batched, strict=True):
        assert not position.over
        assert abs(points / many - fmean(played(position) for _ in range(few))) < bound


def played(board: Board) -> int:
    """Play on at random; return how the game ends for the side to move: 1, -1 or 0."""
    side = board.turn
    while not board.over:
        board = board.drop(random.choice(playable(board)))
    return 0 if board.winner is None else 1 if board.winner == side else -1

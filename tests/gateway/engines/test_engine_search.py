"""What the search says is compared with plain minimax to the end of the game, and with known positions."""

import random
from itertools import count
from time import monotonic

import pytest
from engine_positions import boards, can_win, dealt, play, playable, pressing
from hypothesis import given

from gateway.engines import search
from gateway.engines.bits import sides
from gateway.engines.search import WIN, Search, alpha_beta
from gateway.game.board import Board

LONG = 60.0


def solve(board: Board) -> int:
    """Return 1 where the side to move wins, -1 where it loses, 0 for a tie; by trying everything."""
    if board.winner is not None:
        return -1
    if board.over:
        return 0
    best = -1
    for column in playable(board):
        best = max(best, -solve(board.drop(column)))
        if best == 1:
            break
    return best


def verdict(value: int) -> int:
    return (value >= WIN) - (value <= -WIN)


@pytest.mark.parametrize("discs", [30, 31, 33, 34, 36, 38, 41])
def test_late_positions_are_played_and_judged_as_minimax_does(discs: int) -> None:
    for seed in range(4):
        board = dealt(seed, discs)
        thought = Search(*sides(board))
        column = thought.run(monotonic() + LONG)
        truth = solve(board)
        assert verdict(thought.value) == truth
        assert -solve(board.drop(column)) == truth


def test_a_small_table_changes_no_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "_ROOM", 3)
    for seed in range(4):
        board = dealt(seed, 31)
        thought = Search(*sides(board))
        thought.run(monotonic() + LONG)
        assert verdict(thought.value) == solve(board)


@given(boards())
def test_no_win_is_missed_or_given_to_the_opponent_in_no_time(board: Board) -> None:
    column = alpha_beta(board, 1e-9, limit=0.5)
    assert board.has_room(column)
    if pressing(board):
        assert column in pressing(board)
    else:
        assert not can_win(board.drop(column)) or all(can_win(board.drop(each)) for each in playable(board))


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let each look at the clock take a second, so that a search goes equally far on any machine."""
    monkeypatch.setattr(search, "monotonic", count().__next__)


def test_moves_worth_the_same_are_played_by_lot_which_a_seed_repeats(looks: None) -> None:
    """Of two mirrored moves each is as good as the other."""

    def columns() -> list[int]:
        random.seed(1)
        return [alpha_beta(play("33333"), LONG, limit=4) for _ in range(12)]

    played = columns()
    assert len({*played}) > 1
    assert {6 - column for column in played} == {*played}
    assert columns() == played


def test_two_in_the_open_are_stopped_before_they_are_three(looks: None) -> None:
    assert alpha_beta(play("332"), LONG, limit=20) in {1, 4}


def test_a_loss_is_put_off(looks: None) -> None:
    board = play("33224")  # 2-3-4 on the bottom row: either end of it will win
    after = board.drop(alpha_beta(board, LONG, limit=20))
    assert [column for column in playable(after) if after.drop(column).winner is not None] in ([1], [5])


@pytest.mark.parametrize(("budget", "limit"), [(0.02, LONG), (LONG, 0.02)])
def test_the_smaller_of_budget_and_limit_is_kept(budget: float, limit: float) -> None:
    began = monotonic()
    alpha_beta(Board(), budget, limit=limit)
    assert monotonic() - began < LONG / 2


def test_the_search_is_cut_short_by_its_deadline() -> None:
    thought = Search(*sides(Board()))
    assert thought.run(monotonic()) == 3
    assert abs(thought.value) < WIN  # all of it is won by the side to move

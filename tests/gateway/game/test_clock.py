from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.game.board import FIRST, SECOND
from gateway.game.clock import GRACE, Clock, TimeControl

SECONDS = st.floats(0, 20, allow_nan=False)


def test_nobodys_time_runs_at_first() -> None:
    clock = Clock(TimeControl(10))
    assert clock.deadline is None
    assert (clock.rest(FIRST), clock.rest(SECOND)) == (10, 10)


def test_time_runs_from_start_to_stop_for_one_side_only() -> None:
    clock = Clock(TimeControl(10))
    clock.start(SECOND, 100)
    assert clock.deadline == 110
    clock.stop(103)
    assert clock.deadline is None
    assert (clock.rest(FIRST), clock.rest(SECOND)) == (10, 7)
    assert (clock.spent(FIRST), clock.spent(SECOND)) == (0, 3)


def test_a_budget_is_for_all_moves_of_a_game() -> None:
    clock = Clock(TimeControl(10))
    clock.start(FIRST, 0)
    clock.stop(4)
    clock.start(FIRST, 50)
    assert clock.deadline == 56
    clock.stop(51)
    assert clock.rest(FIRST) == 5
    assert clock.spent(FIRST) == 5


def test_a_renewed_budget_is_for_each_move() -> None:
    clock = Clock(TimeControl(10, renewed=True))
    clock.start(FIRST, 0)
    clock.stop(4)
    clock.start(FIRST, 50)
    assert clock.deadline == 60
    clock.stop(51)
    assert clock.spent(FIRST) == 5


def test_a_move_read_late_leaves_a_tenth_of_a_second() -> None:
    clock = Clock(TimeControl(10))
    clock.start(FIRST, 0)
    clock.stop(10.5)
    assert clock.rest(FIRST) == GRACE == 0.1
    assert clock.spent(FIRST) == 10.5


def test_grace_gives_nobody_more_than_was_left() -> None:
    clock = Clock(TimeControl(10))
    clock.start(FIRST, 0)
    clock.stop(9.95)
    left = clock.rest(FIRST)
    clock.start(FIRST, 20)
    clock.stop(30)
    assert 0 < left < GRACE
    assert clock.rest(FIRST) == left


def test_stopping_twice_takes_time_once() -> None:
    clock = Clock(TimeControl(10))
    clock.start(FIRST, 0)
    clock.stop(1)
    clock.stop(9)
    assert clock.rest(FIRST) == 9


def test_a_move_read_before_its_request_had_left_takes_no_time() -> None:
    clock = Clock(TimeControl(10))
    clock.start(FIRST, 5)
    clock.stop(4.9)
    assert clock.rest(FIRST) == 10
    assert clock.spent(FIRST) == 0


def test_a_penalty_is_taken_from_the_rest_and_is_no_thinking() -> None:
    clock = Clock(TimeControl(10))
    assert not clock.charge(FIRST, 1)
    assert (clock.rest(FIRST), clock.rest(SECOND)) == (9, 10)
    assert clock.spent(FIRST) == 0


@pytest.mark.parametrize("penalty", [10, 10.5, 1000])
def test_a_penalty_that_uses_up_the_rest_says_so(penalty: float) -> None:
    clock = Clock(TimeControl(10))
    assert clock.charge(SECOND, penalty)
    assert clock.rest(SECOND) == 0


@given(st.lists(st.tuples(st.sampled_from([FIRST, SECOND]), SECONDS, SECONDS, st.booleans())))
def test_time_left_never_grows_within_a_budget(moves: list[tuple[int, float, float, bool]]) -> None:
    clock = Clock(TimeControl(42))
    now = 0.0
    rests = [(42.0, 42.0)]
    for side, pause, thought, illegal in moves:
        now += pause
        clock.start(side, now)
        assert clock.deadline == now + clock.rest(side)
        now += thought
        clock.stop(now)
        assert clock.rest(side) > 0 or rests[-1][side] == 0
        if illegal:
            assert clock.charge(side, 1) == (clock.rest(side) == 0)
        rests.append((clock.rest(FIRST), clock.rest(SECOND)))
    for before, after in pairwise(rests):
        assert after[FIRST] <= before[FIRST]
        assert after[SECOND] <= before[SECOND]
    for side in (FIRST, SECOND):
        total = sum(thought for mover, _, thought, _ in moves if mover == side)
        assert clock.spent(side) == pytest.approx(total)

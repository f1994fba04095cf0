from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.game.board import FIRST, SECOND
from gateway.game.clock import GRACE, Clock, TimeControl

SECONDS = st.floats(0, 20, allow_nan=False)


def test_time_runs_from_start_to_stop_for_one_side_only() -> None:
    clock = Clock(TimeControl(10))
    assert clock.deadline is None
    clock.start(SECOND, 100)
    assert clock.deadline == 110
    clock.stop(103)
    clock.stop(109)  # which takes no more
    assert clock.deadline is None
    assert (clock.rest(FIRST), clock.rest(SECOND)) == (10, 7)
    assert (clock.spent(FIRST), clock.spent(SECOND)) == (0, 3)


@pytest.mark.parametrize("renewed", [True, False])
def test_budget_is_for_all_moves_of_a_game_or_for_each(renewed: bool) -> None:
    clock = Clock(TimeControl(10, renewed=renewed))
    clock.start(FIRST, 0)
    clock.stop(4)
    clock.start(FIRST, 50)
    assert clock.deadline == (60 if renewed else 56)
    clock.stop(51)
    assert clock.spent(FIRST) == 5
    assert renewed or clock.rest(FIRST) == 5


@pytest.mark.parametrize(("read", "left", "spent"), [(10.5, GRACE, 10.5), (9.95, 0.05, 9.95), (-0.1, 10, 0)])
def test_move_read_late_leaves_a_moment_and_one_read_before_its_request_had_left_takes_no_time(
    read: float, left: float, spent: float
) -> None:
    clock = Clock(TimeControl(10))
    clock.start(FIRST, 0)
    clock.stop(read)
    assert clock.rest(FIRST) == pytest.approx(left)
    assert clock.spent(FIRST) == spent


@pytest.mark.parametrize(("penalty", "rest"), [(1, 9), (10, 0), (10.5, 0)])
def test_penalty_is_taken_from_the_rest_and_is_no_thinking(penalty: float, rest: float) -> None:
    clock = Clock(TimeControl(10))
    assert clock.charge(SECOND, penalty) == (not rest)
    assert (clock.rest(FIRST), clock.rest(SECOND), clock.spent(SECOND)) == (10, rest, 0)


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

"""When bytes arrived, as far as the turns of the loop tell, and how long the server kept others waiting."""

import pytest
import trio
import trio.testing

from gateway.runtime.turns import OVERDUE, SLACK, ArrivalTimes


class Loop:
    """A loop whose every turn the test makes."""

    def __init__(self, clock: trio.testing.MockClock) -> None:
        self.arrivals = ArrivalTimes()
        self._clock = clock
        self.turn(0, 0)

    def turn(self, work: float, look: float, timeout: float | None = None) -> None:
        """Work for some seconds, and look at the sockets for some, which was to take `timeout` at most."""
        timeout = look if timeout is None else timeout
        self._clock.jump(work)
        self.arrivals.before_io_wait(timeout)
        self._clock.jump(look)
        self.arrivals.after_io_wait(timeout)


async def test_bytes_that_were_waited_for_arrived_when_the_wait_was_over(
    mock_clock: trio.testing.MockClock,
) -> None:
    loop = Loop(mock_clock)
    loop.turn(work=0.003, look=0.04, timeout=0.05)
    assert loop.arrivals.arrived() == trio.current_time()


async def test_bytes_that_lay_there_may_have_come_when_the_work_began(
    mock_clock: trio.testing.MockClock,
) -> None:
    loop = Loop(mock_clock)
    begin = trio.current_time()
    loop.turn(work=2.0, look=0)
    assert loop.arrivals.arrived() == begin


async def test_bytes_found_after_a_standstill_may_have_come_since_the_look_before(
    mock_clock: trio.testing.MockClock,
) -> None:
    loop = Loop(mock_clock)
    begin = trio.current_time()
    loop.turn(work=0.25, look=0.05 + 2 * OVERDUE, timeout=0.05)
    assert loop.arrivals.arrived() == begin


async def test_longest_delay_counts_work_and_standing_still(mock_clock: trio.testing.MockClock) -> None:
    loop = Loop(mock_clock)
    begin = trio.current_time()
    loop.turn(work=0.5, look=1.25, timeout=0.25)
    loop.turn(work=0.125, look=0)
    assert loop.arrivals.delay_since(begin) == pytest.approx(1.5)


async def test_delay_that_was_over_before_is_no_excuse(mock_clock: trio.testing.MockClock) -> None:
    loop = Loop(mock_clock)
    loop.turn(work=2.0, look=0)
    then = trio.current_time() + 1
    loop.turn(work=0.25, look=3.0)
    loop.turn(work=0.125, look=0)
    assert loop.arrivals.delay_since(then) == 0.25
    assert loop.arrivals.delay_since(trio.current_time() + 1) == 0.0


async def test_short_turns_are_not_kept(mock_clock: trio.testing.MockClock) -> None:
    loop = Loop(mock_clock)
    for _ in range(10_000):
        loop.turn(work=SLACK / 2, look=0)
    assert len(loop.arrivals._delays) == 0


async def test_delays_that_are_kept_have_a_bound(mock_clock: trio.testing.MockClock) -> None:
    loop = Loop(mock_clock)
    for number in range(5000, 0, -1):
        loop.turn(work=number / 10, look=0)
    assert len(loop.arrivals._delays) <= 1000


async def test_without_a_loop_bytes_arrive_when_they_are_read() -> None:
    before = trio.current_time()
    assert before <= ArrivalTimes().arrived() <= trio.current_time()


async def test_look_that_was_broken_off_is_no_proof_that_nothing_was_there(
    mock_clock: trio.testing.MockClock,
) -> None:
    loop = Loop(mock_clock)
    loop.turn(work=0.001, look=0.05)
    seen = trio.current_time()
    loop.turn(work=0.001, look=2.0, timeout=0.05)  # stopped and continued: it found nothing
    loop.turn(work=0.001, look=0)
    assert loop.arrivals.arrived() == seen


async def test_slow_look_after_much_work_has_not_waited(mock_clock: trio.testing.MockClock) -> None:
    loop = Loop(mock_clock)
    loop.turn(work=0.001, look=0.05)
    seen = trio.current_time()
    loop.turn(work=0.5, look=0.03, timeout=0.05)
    assert loop.arrivals.arrived() == seen


async def test_look_that_was_not_to_wait_never_has(mock_clock: trio.testing.MockClock) -> None:
    loop = Loop(mock_clock)
    loop.turn(work=0.001, look=0.05)
    seen = trio.current_time()
    loop.turn(work=0.001, look=0.5, timeout=0)
    assert loop.arrivals.arrived() == seen

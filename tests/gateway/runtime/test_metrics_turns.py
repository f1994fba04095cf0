"""How long the loop kept clients waiting, as metrics tell it."""

import pytest
import trio.testing

from gateway.runtime.turns import TimedTurns
from gateway.runtime.histogram import BOUNDS, Histogram


def ends(durations: Histogram) -> list[float]:
    """Return the upper end of the interval of each duration."""
    return [bound for bound, count in zip(BOUNDS, durations.counts(), strict=False) for _ in range(count)]


async def test_each_turn_counts_once_with_its_work_and_with_the_wait_of_what_it_found(
    mock_clock: trio.testing.MockClock,
) -> None:
    turns = TimedTurns()
    for work, look, timeout in ((0.0, 0.0, 0.0), (0.15, 0.0, 0.0), (0.004, 0.3, 1.0), (0.03, 0.0, 0.0)):
        mock_clock.jump(work)
        turns.before_io_wait(timeout)
        mock_clock.jump(look)
        turns.after_io_wait(timeout)
    assert ends(turns.delays) == [0.0005, 0.005, 0.05, 0.2]
    assert turns.delays.total == pytest.approx(0.184)
    # What the second poll found may have come when the work before it began; the third found what came then.
    assert turns.answers.total == pytest.approx(0.15 + (0.15 + 0.004) + 0.03)


async def test_it_tells_when_bytes_arrived_as_it_does_without_metrics(
    mock_clock: trio.testing.MockClock,
) -> None:
    turns = TimedTurns()
    turns.before_io_wait(1.0)
    mock_clock.jump(0.5)
    turns.after_io_wait(1.0)
    assert turns.arrived() == trio.current_time()

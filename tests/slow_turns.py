"""An event loop that has much to do in each turn."""

from collections.abc import Iterator
from contextlib import contextmanager

import trio
import trio.testing


class _SlowTurns(trio.abc.Instrument):
    def __init__(self, clock: trio.testing.MockClock, seconds: float) -> None:
        self._clock = clock
        self._seconds = seconds

    def before_io_wait(self, timeout: float) -> None:
        self._clock.jump(self._seconds)


@contextmanager
def slow_turns(clock: trio.testing.MockClock, seconds: float) -> Iterator[None]:
    """Let each turn of the loop take so long by the clock."""
    slow = _SlowTurns(clock, seconds)
    trio.lowlevel.add_instrument(slow)
    yield
    trio.lowlevel.remove_instrument(slow)

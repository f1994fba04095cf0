"""Turns of the event loop that take as long as a test says, and what is done in each."""

from collections.abc import Iterator, Sized
from contextlib import contextmanager

import trio
import trio.testing

from gateway.runtime.turns import Turns


class _SlowTurns(Turns):
    def __init__(self, clock: trio.testing.MockClock, seconds: float, *, is_full: bool) -> None:
        super().__init__()
        self._clock, self._seconds, self._is_full = clock, seconds, is_full

    def before_io_wait(self, timeout: float) -> None:
        self._clock.jump(self._seconds)
        super().before_io_wait(timeout)

    def after_io_wait(self, timeout: float) -> None:
        super().after_io_wait(timeout)
        for budget in (self.accepting, self.results, self.deferred) if self._is_full else ():
            while budget.take(1.0):
                pass


class _Added(trio.abc.Instrument):
    def __init__(self, things: Sized) -> None:
        self.each_turn: list[int] = []
        self._things = things
        self._before = len(things)

    def before_io_wait(self, timeout: float) -> None:
        if added := len(self._things) - self._before:
            self.each_turn.append(added)
            self._before += added


@contextmanager
def slow_turns(clock: trio.testing.MockClock, seconds: float, *, is_full: bool = False) -> Iterator[Turns]:
    """Let each turn of the loop take so long by the clock, and see them; none has time left if `is_full`."""
    turns = _SlowTurns(clock, seconds, is_full=is_full)
    with _instrument(turns):
        yield turns


@contextmanager
def added_each_turn(things: Sized) -> Iterator[list[int]]:
    """Count how many things come in each turn of the loop in which any do."""
    added = _Added(things)
    with _instrument(added):
        yield added.each_turn


@contextmanager
def _instrument(instrument: trio.abc.Instrument) -> Iterator[None]:
    trio.lowlevel.add_instrument(instrument)
    try:
        yield
    finally:
        trio.lowlevel.remove_instrument(instrument)

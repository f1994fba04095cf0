"""Turns of the event loop: how long they take, and what is done in each."""

from collections.abc import Iterator, Sized
from contextlib import contextmanager

import trio
import trio.testing


class _SlowTurns(trio.abc.Instrument):
    def __init__(self, clock: trio.testing.MockClock, seconds: float) -> None:
        self._clock = clock
        self._seconds = seconds

    def before_io_wait(self, timeout: float) -> None:
        self._clock.jump(self._seconds)


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
def slow_turns(clock: trio.testing.MockClock, seconds: float) -> Iterator[None]:
    """Let each turn of the loop take so long by the clock."""
    with _instrument(_SlowTurns(clock, seconds)):
        yield


@contextmanager
def added_each_turn(things: Sized) -> Iterator[list[int]]:
    """Note how many things come in each turn of the loop in which any do."""
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

"""Where the server's own players think: worker processes, so that no engine holds up the event loop.

Knows engines by name, how many may think at once, and how long a move may take. Workers give way to the
server (their priority is low), and a search that nobody waits for any more is killed.

The rule it keeps: waiting for a worker is part of a move's time. A thought that has begun is never cut short
for another, so a game with hardly any time left can stand behind one that has plenty; an engine that finds no
worker in time plays what it sees at a glance instead of losing on time.
"""

import math
import os

import trio
import trio_parallel

from gateway.board import Board
from gateway.engines.catalogue import engine_named

INSTANT = frozenset({"random"})
"""Engines that take no time worth a worker."""
UNHURRIED = frozenset({"perfect"})
"""Engines that would rather be late than wrong."""
PART = 20
"""A move takes at most one part in so many of the time that is left, where there is a clock."""
PATIENCE = 120.0
"""Seconds in which a move should come where there is no clock, however many games wait for a worker."""

_HASTY = "aima"
_GLANCE = 0.001
_NICE = 10


class Thinker:
    """At most so many engines that think at the same time.

    Where there is no clock, a move that takes more than `idle` seconds loses its game.
    """

    def __init__(self, workers: int, idle: float) -> None:
        self._workers = workers
        self._limiter = trio.CapacityLimiter(workers)
        self._patience = min(PATIENCE, idle / 2)

    async def column(self, engine: str, board: Board, rest: float | None) -> int:
        """Return the column that `engine` plays who has `rest` seconds left, or no clock."""
        if engine in INSTANT:
            return engine_named(engine)(board, _GLANCE)
        time = self._patience if rest is None else rest / PART
        budget, late = self._share() * time, trio.current_time() + time
        with trio.CancelScope(deadline=math.inf if engine in UNHURRIED else late) as waiting:
            async with self._limiter:
                waiting.deadline = math.inf
                budget = max(_GLANCE, min(budget, late - trio.current_time()))
                column: int = await trio_parallel.run_sync(
                    _think, engine, board, budget, kill_on_cancel=True, limiter=trio.CapacityLimiter(1)
                )
                return column
        return engine_named(_HASTY)(board, _GLANCE)

    def _share(self) -> float:
        """Return which part of its time an engine may think.

        All of it where a worker is free. Otherwise so much that those who wait, if all have as much time,
        have waited and thought after half of it: the other half is for those who think already.
        """
        if self._limiter.available_tokens:
            return 1.0
        return self._workers / (2 * (self._workers + self._limiter.statistics().tasks_waiting))


def _think(engine: str, board: Board, budget: float) -> int:
    if os.nice(0) < _NICE:
        os.nice(_NICE - os.nice(0))
    return engine_named(engine)(board, budget)

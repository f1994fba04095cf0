"""Where the server's own players think: worker processes, so that no engine holds up the event loop.

Knows engines by name and how many may think at once. Workers give way to the server (their priority is
low), and a search that nobody waits for any more is killed.
"""

import os

import trio
import trio_parallel

from gateway.board import Board
from gateway.engines.catalogue import engine_named

INSTANT = frozenset({"random"})
"""Engines that take no time worth a worker."""

_NICE = 10


class Thinker:
    """At most so many engines that think at the same time."""

    def __init__(self, workers: int) -> None:
        self._workers = workers
        self._limiter = trio.CapacityLimiter(workers)

    def share(self) -> float:
        """Return which part of its time an engine may think, where others wait for a worker too."""
        waiting = self._limiter.statistics().tasks_waiting
        return self._workers / (self._workers + waiting)

    async def column(self, engine: str, board: Board, budget: float) -> int:
        """Return the column that `engine` plays within `budget` seconds, once a worker is free."""
        if engine in INSTANT:
            return engine_named(engine)(board, budget)
        column: int = await trio_parallel.run_sync(
            _think, engine, board, budget, kill_on_cancel=True, limiter=self._limiter
        )
        return column


def _think(engine: str, board: Board, budget: float) -> int:
    if os.nice(0) < _NICE:
        os.nice(_NICE - os.nice(0))
    return engine_named(engine)(board, budget)

"""The solver's process, and who may use it.

Knows the worker process and its memory; does not know games or HTTP. The process solves one position at a
time, so it never blocks the event loop. Its priority is the lowest: games and house players come first.
"""

import logging
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

import trio
import trio_parallel

from adapters.web.solving import solve, solve_whole
from gateway.engines import EngineUnavailable
from gateway.engines.perfect import has_book, require
from gateway.game.evaluation import Scores
from gateway.runtime.throttle import Throttle

IDLE = 60.0
"""Seconds after which an idle worker ends. A worker with the solver's book takes 200 MB."""
GRACE = 0.1
"""Seconds that a worker has to end when the web process ends."""
LIMIT = 25.0
"""The most seconds for one position. With its book, the solver takes a second at most."""

_LOST = (trio_parallel.BrokenWorkerError, OSError, ImportError, trio.TooSlowError)
"""The exceptions of a worker that has died, cannot be started or takes too long."""

T = TypeVar("T")

logger = logging.getLogger(__name__)


class NotInstalledError(Exception):
    """The solver is not installed. The text says how to install it."""


class Solver:
    """A worker process that scores positions."""

    def __init__(self) -> None:
        self.is_fast = has_book()
        """Whether any position takes a second at most."""
        self._turn = trio.Lock()
        self._warnings = Throttle(10.0)
        self._is_running = trio.Event()
        self._workers: trio_parallel.WorkerContext

    async def run(self) -> None:
        """Run a worker until cancelled, and then end it."""
        with suppress(trio_parallel.BrokenWorkerError):  # it was killed while it worked
            async with trio_parallel.open_worker_context(idle_timeout=IDLE, grace_period=GRACE) as workers:
                self._workers = workers
                self._is_running.set()
                await trio.sleep_forever()

    async def scores(self, columns: str) -> Scores | None:
        """Return the scores of a position; None if the worker fails, which is logged.

        Raises NotInstalledError. Cancelling kills the worker.
        """
        return await self._do(solve, columns)

    async def value(self, columns: str) -> int | None:
        """Return the score of a position as a whole, as `scores` does, in about a tenth of the time.

        Raises NotInstalledError also if the solver lacks its book, without which a position may take minutes.
        """
        if not self.is_fast:
            raise NotInstalledError(
                "perfect needs its solver with the book: pip install 'c4gateway[perfect]'"
            )
        return await self._do(solve_whole, columns)

    async def _do(self, work: Callable[[str], T], columns: str) -> T | None:
        try:
            require()
        except EngineUnavailable as error:
            raise NotInstalledError(str(error)) from error
        await self._is_running.wait()
        async with self._turn:
            try:
                with trio.fail_after(LIMIT):
                    found: T = await self._workers.run_sync(work, columns, kill_on_cancel=True)
            except _LOST as error:
                if self._warnings.passes(trio.current_time()):
                    about = {"event": "solver_lost", "error": repr(error)}
                    logger.warning("a position cannot be solved: %r", error, extra=about)
                return None
        return found

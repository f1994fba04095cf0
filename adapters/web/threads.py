"""Where to wait for the database: a few threads, so that they leave time for those who ask next."""

from collections.abc import Callable
from typing import TypeVar

import trio

T = TypeVar("T")


class Threads:
    """Up to so many threads at once; who comes when all are busy waits for one."""

    def __init__(self, most: int) -> None:
        self._limiter = trio.CapacityLimiter(most)

    async def do(self, work: Callable[[], T]) -> T:
        """Return what `work` returns. Who is cancelled leaves it alone, and its thread busy until then."""
        return await trio.to_thread.run_sync(work, limiter=self._limiter, abandon_on_cancel=True)

"""A request to remove all games and players, which the batcher's task carries out.

The batcher carries out the request after the games that were queued before. Until then the request can be
withdrawn. This module knows trio; it does not know the queue.
"""

import logging
from collections.abc import Awaitable, Callable
from typing import Literal

import trio

from gateway.store import StoreError
from gateway.store.records import Cleared

logger = logging.getLogger("gateway.store")


class Request:
    """A request to remove all games and players from the database."""

    def __init__(self) -> None:
        self._state: Literal["open", "begun", "withdrawn"] = "open"
        self._settled = trio.Event()
        self._outcome: Cleared | Exception = StoreError("it was withdrawn")

    @property
    def is_open(self) -> bool:
        """Whether the request still waits: it has not begun and was not withdrawn."""
        return self._state == "open"

    def withdraw(self) -> bool:
        """Withdraw the request; return False if it has already begun."""
        if self._state == "open":
            self._state = "withdrawn"
            self._settled.set()
        return self._state == "withdrawn"

    async def result(self) -> Cleared:
        """Wait until the request is carried out; return the numbers of removed games and players.

        If the caller is cancelled, the request is withdrawn. Raises StoreError if the request failed or was
        withdrawn.
        """
        try:
            await self._settled.wait()
        except trio.Cancelled:
            self.withdraw()
            raise
        if isinstance(self._outcome, Exception):
            raise self._outcome
        return self._outcome

    async def carry_out(self, clear: Callable[[], Awaitable[Cleared]]) -> None:
        """Call `clear`, unless the request was withdrawn, and pass the outcome to the task that waits."""
        if self._state != "open":
            return
        self._state = "begun"
        try:
            removed = await clear()
        except trio.Cancelled:
            self._settle(StoreError("the store is closed"))
            raise
        except Exception as error:  # `result` raises it in the waiting task
            self._settle(error if isinstance(error, StoreError) else StoreError(str(error)))
            return
        self._settle(removed)
        text = "all results are cleared: %d games of %d players"
        extra = {"event": "results_cleared", "games": removed.games, "players": removed.players}
        logger.warning(text, removed.games, removed.players, extra=extra)

    def _settle(self, outcome: Cleared | Exception) -> None:
        self._outcome = outcome
        self._settled.set()

"""A request to remove all games and players, between who makes it and the task that stores.

Knows trio, and that a request can be withdrawn until it has begun. Does not know what waits before it.
"""

import logging
from collections.abc import Awaitable, Callable
from typing import Literal

import trio

from gateway.store import StoreError
from gateway.store.records import Cleared

logger = logging.getLogger("gateway.store")


class Request:
    """A request to remove all games and players."""

    def __init__(self) -> None:
        self._state: Literal["open", "begun", "withdrawn"] = "open"
        self._settled = trio.Event()
        self._outcome: Cleared | Exception = StoreError("it was withdrawn")

    @property
    def is_open(self) -> bool:
        """Whether it is neither begun nor withdrawn."""
        return self._state == "open"

    def withdraw(self) -> bool:
        """Make sure that it is not carried out, and return True; False if it has begun."""
        if self._state == "open":
            self._state = "withdrawn"
            self._settled.set()
        return self._state == "withdrawn"

    async def result(self) -> Cleared:
        """Wait until it is carried out, and return what was removed. A cancelled caller withdraws it.

        Raises StoreError if it was not carried out, or failed.
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
        """Clear, unless the request was withdrawn, and pass the outcome to the task that waits."""
        if self._state != "open":
            return
        self._state = "begun"
        try:
            removed = await clear()
        except trio.Cancelled:
            self._settle(StoreError("the store is closed"))
            raise
        except Exception as error:  # it is for the caller
            self._settle(error if isinstance(error, StoreError) else StoreError(str(error)))
            return
        self._settle(removed)
        text = "all results are cleared: %d games of %d players"
        about = {"event": "results_cleared", "games": removed.games, "players": removed.players}
        logger.warning(text, removed.games, removed.players, extra=about)

    def _settle(self, outcome: Cleared | Exception) -> None:
        self._outcome = outcome
        self._settled.set()

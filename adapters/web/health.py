"""Whether results are taken in: the question of whoever watches over the server.

Knows what waits to be stored, and how to try the database. The rule it keeps: to ask costs the database one
try in `LASTING` seconds at most, however many ask, and never the thread that stores.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol

import trio

from gateway.store.errors import StoreError

LASTING = 1.0
"""Seconds for which one try tells how things are."""
PATIENCE = 2.0
"""Seconds after which a try has failed."""


class Queue(Protocol):
    """Games that wait to be stored."""

    @property
    def waiting(self) -> int:
        """How many there are."""

    @property
    def behind(self) -> bool:
        """Whether one of them waits for longer than anybody waits to hear of it."""


@dataclass(frozen=True, slots=True)
class Condition:
    """How the store is."""

    waiting: int
    error: str | None = None
    """Why it takes no results; None while it does."""


class Health:
    """How the store is, for the event loop's thread."""

    def __init__(self, queue: Queue, probe: Callable[[], Awaitable[None]]) -> None:
        """Ask of `queue`, and by `probe`, which raises StoreError where the database takes nothing."""
        self._queue = queue
        self._probe = probe
        self._one_at_a_time = trio.Lock()
        self._until = -1.0
        self._error: str | None = None

    async def condition(self) -> Condition:
        """Return how the store is."""
        if self._queue.behind:
            return Condition(self._queue.waiting, "results wait for the database")
        async with self._one_at_a_time:
            if trio.current_time() >= self._until:
                self._error = await self._tried()
                self._until = trio.current_time() + LASTING
        return Condition(self._queue.waiting, self._error)

    async def _tried(self) -> str | None:
        try:
            with trio.fail_after(PATIENCE):
                await self._probe()
        except StoreError:  # what it says is for the operator, not for everybody
            return "the database takes no results"
        except trio.TooSlowError:
            return "the database does not answer"
        return None

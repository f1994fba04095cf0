"""Whether the server lets players in and can store results, for whatever supervises it.

Knows how to ask the server what waits, and how to try the database. The rule it keeps: however many clients
ask, the server answers once in `FRESH` seconds, and the database is tried once in `LASTING`.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import trio

from adapters.web.remote import Queue
from gateway.store import StoreError

FRESH = 0.1
"""Seconds for which an answer of the server is used."""
LASTING = 1.0
"""Seconds for which the outcome of one try is used."""
PATIENCE = 2.0
"""Seconds after which a try has failed, and the server does not answer."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Condition:
    """How the server and its store are."""

    waiting: int | None
    """Games that wait; None if the server does not answer."""
    error: str | None = None
    """Why it takes no players, or no results; None if it does."""
    cluster: Mapping[str, Any] | None = None
    """As in `adapters.web.link.Answer`."""
    draining: bool | None = None
    """True while the server only finishes the games that are on."""


class Health:
    """How the server and its store are, for the event loop's thread."""

    def __init__(self, queue: Callable[[], Awaitable[Queue]], probe: Callable[[], Awaitable[None]]) -> None:
        """`queue` asks the server; `probe` raises StoreError if the database cannot be written to."""
        self._queue = Known(FRESH, queue)
        self._error = Known(LASTING, lambda: _tried(probe))

    async def condition(self) -> Condition:
        """Return how they are."""
        try:
            with trio.fail_after(PATIENCE):
                queue = await self._queue.value()
        except trio.TooSlowError:
            return Condition(None, "the server does not answer")
        if queue.draining:
            return Condition(
                queue.waiting, "the server drains and lets nobody in", queue.cluster, draining=True
            )
        if queue.behind:
            return Condition(queue.waiting, "results wait for the database", queue.cluster)
        return Condition(queue.waiting, await self._error.value(), queue.cluster)


class Known(Generic[T]):
    """A value that is kept for some seconds before it is asked for again."""

    def __init__(self, seconds: float, ask: Callable[[], Awaitable[T]]) -> None:
        self._seconds = seconds
        self._ask = ask
        self._one_at_a_time = trio.Lock()
        self._until = -1.0
        self._value: T

    async def value(self) -> T:
        """Return the value, at most `seconds` old."""
        async with self._one_at_a_time:
            if trio.current_time() >= self._until:
                self._value = await self._ask()
                self._until = trio.current_time() + self._seconds
            return self._value


async def _tried(probe: Callable[[], Awaitable[None]]) -> str | None:
    try:
        with trio.fail_after(PATIENCE):
            await probe()
    except StoreError:  # what it says is for the operator, not for everybody
        return "the database takes no results"
    except trio.TooSlowError:
        return "the database does not answer"
    return None

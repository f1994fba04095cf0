"""Reports whether the server admits players and can store results, for programs that supervise it.

Asks the server for its condition, and tries whether the database can be written to. The results are reused:
the server is asked at most once in `FRESH` seconds, and the database is tried at most once in `LASTING`
seconds.
"""

from collections.abc import Awaitable, Callable
from typing import Any, Generic, TypeVar

import trio

from adapters.web.link import Condition
from gateway.store import StoreError

FRESH = 0.1
"""Seconds for which an answer of the server is reused."""
LASTING = 1.0
"""Seconds for which the result of trying the database is reused."""
PATIENCE = 2.0
"""Seconds that the database or the server has to answer."""

T = TypeVar("T")


class Health:
    """Finds the condition of the server and its store. Only for the thread of the event loop."""

    def __init__(
        self, server: Callable[[], Awaitable[Condition]], probe: Callable[[], Awaitable[None]]
    ) -> None:
        """`server` asks the server; `probe` raises StoreError if the database cannot be written to."""

        async def tried() -> str | None:
            try:
                with trio.fail_after(PATIENCE):
                    await probe()
            except StoreError:  # its text is only for the operator
                return "the database takes no results"
            except trio.TooSlowError:
                return "the database does not answer"
            return None

        self._server = Known(FRESH, server)
        self._error = Known(LASTING, tried)

    async def condition(self) -> dict[str, Any]:
        """Return the condition, as ``/healthz`` reports it."""
        try:
            with trio.fail_after(PATIENCE):
                server = await self._server.value()
        except trio.TooSlowError:
            return {"ok": False, "error": "the server does not answer"}
        if server.is_draining:
            error: str | None = "the server drains and admits no players"
        elif server.is_behind:
            error = "results wait for the database"
        else:
            error = await self._error.value()
        about = {"waiting": server.waiting, "error": error, "cluster": server.cluster}
        known = {name: value for name, value in about.items() if value is not None}
        return {"ok": error is None, **known, **({"draining": True} if server.is_draining else {})}


class Known(Generic[T]):
    """A value that is kept for some seconds before it is requested again."""

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

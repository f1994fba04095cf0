"""A request to the store process, which the batcher's task carries out in the order of its queue.

Knows trio. A request can be withdrawn until it has begun. All games that were queued before it are stored by
then, including those in journals.
"""

from collections.abc import Awaitable, Callable
from typing import Generic, Literal, TypeVar

import trio

from gateway.store import StoreError
from gateway.store.process import StoreProcess

T = TypeVar("T")


class Request(Generic[T]):
    """A request, and its result."""

    def __init__(self, work: Callable[[StoreProcess], Awaitable[T]]) -> None:
        """`work` asks the store process. If it raises StoreError, it is not called again."""
        self._work = work
        self._state: Literal["open", "begun", "withdrawn"] = "open"
        self._settled = trio.Event()
        self._found: list[T] = []
        self._failure = StoreError("it was withdrawn")

    @property
    def is_open(self) -> bool:
        """Whether the request still waits: it has neither begun nor been withdrawn."""
        return self._state == "open"

    def withdraw(self) -> bool:
        """Withdraw the request; return False if it has already begun."""
        if self._state == "open":
            self._state = "withdrawn"
            self._settled.set()
        return self._state == "withdrawn"

    async def result(self) -> T:
        """Wait until the request is carried out; return the result.

        If the caller is cancelled, the request is withdrawn. Raises StoreError if the request was not carried
        out, or failed.
        """
        try:
            await self._settled.wait()
        except trio.Cancelled:
            self.withdraw()
            raise
        if not self._found:
            raise self._failure
        return self._found[0]

    async def carry_out(self, store: StoreProcess) -> None:
        """Ask the store process, unless the request was withdrawn, and pass on the result or the error."""
        if self._state != "open":
            return
        self._state = "begun"
        self._failure = StoreError("the store is closed")  # if this is cancelled
        try:
            self._found.append(await self._work(store))
        except Exception as error:  # raised by `result`
            self._failure = error if isinstance(error, StoreError) else StoreError(str(error))
        finally:
            self._settled.set()

"""Threads that wait for the database, and answers that are made there piece by piece.

Knows starlette and threads; does not know what is in a piece.
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import TypeVar

import trio
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

THREADS = 3
"""Threads that wait for the database."""

T = TypeVar("T")


class Threads:
    """Up to `most` threads that wait for the database. Work waits for a free one."""

    def __init__(self, most: int = THREADS) -> None:
        self._limiter = trio.CapacityLimiter(most)

    async def do(self, work: Callable[[], T]) -> T:
        """Return what `work` returns. A cancelled caller leaves it running, and its thread busy."""
        return await trio.to_thread.run_sync(work, limiter=self._limiter, abandon_on_cancel=True)


class Pieces(Response):
    """An answer in pieces. A thread makes each piece after the previous one was sent; an empty piece ends it.

    It stops between two pieces if the client has gone. It never cancels: starlette's own streaming cancels
    the task in which hypercorn closes or renews the connection, and the connection can then stay open for
    ever.
    """

    def __init__(self, first: str, rest: Iterator[str], threads: Threads, headers: dict[str, str]) -> None:
        super().__init__(media_type="application/x-ndjson", headers=headers)
        del self.headers["content-length"]
        self._first = first
        self._rest = rest
        self._threads = threads
        self._gone = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send all pieces, or stop when the client has gone."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._listen, receive)
            await send(
                {"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers}
            )
            piece = "" if scope["method"] == "HEAD" else self._first
            while piece and not self._gone:
                await send({"type": "http.response.body", "body": piece.encode(), "more_body": True})
                piece = await self._threads.do(partial(next, self._rest, ""))
            await send({"type": "http.response.body", "body": b"", "more_body": False})
            nursery.cancel_scope.cancel()

    async def _listen(self, receive: Receive) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        self._gone = True

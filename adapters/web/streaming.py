"""Threads that wait for the database, and answers that are made there piece by piece.

Knows starlette and threads; does not know what is in a piece.
"""

from collections.abc import Callable, Iterator, Mapping
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


class Streamed(Response):
    """An answer that is sent piece by piece, until its client goes."""

    def __init__(self, media_type: str, headers: Mapping[str, str]) -> None:
        super().__init__(media_type=media_type, headers=headers)
        del self.headers["content-length"]
        self.is_gone = False

    async def begin(self, send: Send) -> None:
        """Send the head."""
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})

    async def listen(self, receive: Receive) -> None:
        """Wait until the client has gone, and call `end`."""
        while (await receive())["type"] != "http.disconnect":
            pass
        self.end()

    def end(self) -> None:
        """Send no further piece."""
        self.is_gone = True


class Pieces(Streamed):
    """An answer whose pieces a thread makes, each after the previous one was sent. An empty piece ends it."""

    def __init__(
        self, media_type: str, headers: Mapping[str, str], first: str, rest: Iterator[str], threads: Threads
    ) -> None:
        super().__init__(media_type, headers)
        self._first = first
        self._rest = rest
        self._threads = threads

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send all pieces, or stop when the client has gone."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self.listen, receive)
            await self.begin(send)
            piece = "" if scope["method"] == "HEAD" else self._first
            while piece and not self.is_gone:
                await send({"type": "http.response.body", "body": piece.encode(), "more_body": True})
                piece = await self._threads.do(partial(next, self._rest, ""))
            await send({"type": "http.response.body", "body": b"", "more_body": False})
            nursery.cancel_scope.cancel()

"""An answer that is sent piece by piece, each made when the one before has left.

Knows ASGI. The rule it keeps: a client that has gone is noticed between two pieces, and nothing is ever
cancelled for it. (starlette's own streaming cancels the task in which hypercorn is just closing, or renewing,
the connection, which then can stay open for ever.)
"""

from collections.abc import Iterator
from functools import partial

import trio
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from adapters.web.threads import Threads


class Pieces(Response):
    """Sends what an iterator yields, asking it in a thread; an empty piece is the end."""

    def __init__(self, first: str, rest: Iterator[str], threads: Threads, headers: dict[str, str]) -> None:
        super().__init__(media_type="application/x-ndjson", headers=headers)
        del self.headers["content-length"]
        self._first = first
        self._rest = rest
        self._threads = threads
        self._gone = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send all of it, or as much as the client stays for."""
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

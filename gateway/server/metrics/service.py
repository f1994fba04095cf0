"""The port on which metrics are read, by HTTP/1.1.

Knows trio and h11, one request a connection, and one path. Does not know what the metrics are. The rules it
keeps:

- Nobody who plays waits for a reader: the loop turns between the parts of an answer, and the same answer
  serves all who ask within `FRESH` seconds.
- A connection ends after `PATIENCE` seconds, whatever its client does. Of more than `MOST` the oldest ends.
"""

import logging
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial

import h11
import trio

from gateway.access.heads import LONGEST_HEAD, NOT_KNOWN, answer, is_known, read_request, value_of
from gateway.runtime.accepting import accept
from gateway.runtime.addresses import is_loopback

PATH = b"/metrics"
FRESH = 0.1
"""Seconds for which an answer is given again."""
PATIENCE = 10.0
"""Seconds that a client has to ask, to read the answer and to hang up."""
MOST = 8
"""Connections at once."""
_ACCEPTED = 64
"""Connections, with those that are about to be closed."""
_CHUNK = 4096

logger = logging.getLogger(__name__)


class MetricsService:
    """Answers those who read metrics."""

    def __init__(
        self,
        listeners: Sequence[trio.SocketListener],
        texts: Callable[[], Iterator[bytes]],
        content_type: str,
        in_thread: Callable[[], bytes] | None = None,
        allowed: Collection[str] = (),
    ) -> None:
        """Listen with `listeners`, which are closed at the end, and answer with what `texts` returns.

        One step of that MUST take less than a millisecond. What takes longer is returned by `in_thread`,
        which is called in a thread. On this machine's own addresses alone, a request names the server as
        `is_known` says, with the origins that are `allowed`.
        """
        self._is_local = all(is_loopback(each.socket.getsockname()[0]) for each in listeners)
        self._allowed = allowed
        self._listeners = listeners
        self._texts = texts
        self._content_type = content_type
        self._in_thread = in_thread
        self._stopping = trio.Event()
        self._lives: dict[trio.CancelScope, None] = {}
        """The connections, the oldest first."""
        self._collecting = trio.Lock()
        self._text = b""
        self._fresh_until = 0.0

    def stop(self) -> None:
        """Hang up on everybody; then `run` returns."""
        self._stopping.set()

    async def run(self) -> None:
        """Answer until stopped."""
        room = trio.Semaphore(_ACCEPTED)
        async with trio.open_nursery() as nursery:
            for listener in self._listeners:
                nursery.start_soon(accept, listener, self.serve, nursery, room)
            await self._stopping.wait()
            nursery.cancel_scope.cancel()

    async def serve(self, stream: trio.SocketStream) -> None:
        """Answer one client. Raises nothing."""
        with trio.move_on_after(PATIENCE) as life:
            self._lives[life] = None
            if len(self._lives) > MOST:
                next(iter(self._lives)).cancel()
            try:
                await self._answer(stream)
            except (trio.BrokenResourceError, trio.ClosedResourceError):
                pass
            except Exception:  # a mistake of ours; it costs this answer alone
                logger.exception("metrics came to an internal error", extra={"event": "metrics_failed"})
            finally:
                del self._lives[life]
                await trio.aclose_forcefully(stream)

    async def _answer(self, stream: trio.SocketStream) -> None:
        http = h11.Connection(h11.SERVER, LONGEST_HEAD)
        try:
            request = await read_request(http, partial(stream.receive_some, _CHUNK))
        except h11.RemoteProtocolError as error:
            await stream.send_all(answer(error.error_status_hint, f"{error}\n".encode()))
        else:
            if request is not None:
                await stream.send_all(await self._response(request))
        await stream.send_eof()
        while await stream.receive_some(_CHUNK):
            pass  # to close while something is unread would destroy the answer

    async def _response(self, request: h11.Request) -> bytes:
        if self._is_local and not is_known(value_of(request, b"host"), self._allowed):
            return answer(421, f"{NOT_KNOWN}\n".encode())
        if request.method not in (b"GET", b"HEAD"):
            return answer(405, b"This port is read with GET.\n", {"Allow": "GET, HEAD"})
        is_bare = request.method == b"HEAD"
        if request.target.partition(b"?")[0] != PATH:
            return answer(404, b"The metrics are at %s\n" % PATH, is_bare=is_bare)
        body = await self._collected()
        return answer(200, body, {"Content-Type": self._content_type}, is_bare=is_bare)

    async def _collected(self) -> bytes:
        async with self._collecting:
            if trio.current_time() >= self._fresh_until:
                parts = []
                for part in self._texts():
                    parts.append(part)
                    await trio.lowlevel.checkpoint()
                if self._in_thread is not None:
                    parts.append(await trio.to_thread.run_sync(self._in_thread))
                self._text, self._fresh_until = b"".join(parts), trio.current_time() + FRESH
            return self._text

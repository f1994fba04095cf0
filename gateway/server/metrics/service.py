"""The HTTP/1.1 server for metrics.

Knows trio and h11; does not know the metrics. Serves one request per connection, and only one path. The parts
of an answer are made in several turns of the event loop, so that games are not delayed.
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
"""The number of seconds for which an answer is used again."""
PATIENCE = 10.0
"""The number of seconds after which a connection is closed."""
MOST = 8
"""The maximum number of connections. A further connection closes the oldest one."""
_ACCEPTED = 64
"""The maximum number of connections, including those that are being closed."""
_CHUNK = 4096

logger = logging.getLogger(__name__)


class MetricsService:
    """Serves the metrics to HTTP clients."""

    def __init__(
        self,
        listeners: Sequence[trio.SocketListener],
        texts: Callable[[], Iterator[bytes]],
        content_type: str,
        in_thread: Callable[[], bytes] | None = None,
        allowed: Collection[str] = (),
    ) -> None:
        """Accept clients at `listeners`, and answer with the parts that `texts` yields.

        Each part must take less than a millisecond. `in_thread` is called in a thread and returns a further
        part. If all listeners are on loopback addresses, requests are refused unless `is_known` accepts their
        Host with `allowed`. `run` closes the listeners at its end.
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
        """Close all connections and end `run`."""
        self._stopping.set()

    async def run(self) -> None:
        """Answer clients until `stop` is called."""
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
            except Exception:  # a bug, which must end this connection only
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
            pass  # closing with unread data would reset the connection, and the client may lose the answer

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

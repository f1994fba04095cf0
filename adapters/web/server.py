"""HTTP/1.1 on one connection, by hypercorn.

Knows hypercorn, and uses only its protocol. Sockets, tasks and the stop are ours; otherwise a client could
decide how long they last. The rules it keeps:

- It speaks only HTTP/1.1. It ignores an offer of HTTP/2, and refuses a client that begins with HTTP/2 or asks
  for a websocket.
- A connection ends when it is told to, whatever its client does: sending and receiving have deadlines.
- Nothing that a client sends puts a traceback into the log.
"""

import logging
import math
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, TypeAlias, cast

import h11
import trio
from hypercorn.config import Config
from hypercorn.events import Closed, Event, RawData, Updated
from hypercorn.protocol.h11 import H11Protocol
from hypercorn.trio.worker_context import WorkerContext
from hypercorn.typing import ConnectionState, LifespanState
from starlette.types import ASGIApp, Message, Scope

from adapters.client.boundary import contained
from adapters.net.fd_passing import PassedStream
from adapters.net.socket import address_of
from gateway.access.heads import HSTS, TWO_LENGTHS, has_two_lengths, try_later, with_hsts
from gateway.store import StoreError

SEND_LIMIT = 30.0
"""Seconds that a client has to read one piece of an answer, 40 KB of an export."""
IDLE_LIMIT = 15.0
"""Seconds that a client has to send the head of a request, and then its body."""
ALL_WAITING = 256 << 20
"""Bytes of answers that may wait for all clients together. Beyond that, the client with the most is hung up
on. With the longest names the largest answer has half of that."""
PARTING = 1.0
"""Seconds that a client has to read the last answer and hang up."""
PIECE = 1 << 14
"""Bytes read at once."""

_VERSIONS = (b"1.0", b"1.1")
_OFFERS = (b"upgrade", b"http2-settings")

Stream: TypeAlias = trio.SocketStream | PassedStream
"""A client's: of a connection that this process accepted, or that the server passed on."""
_Send: TypeAlias = Callable[[Message | None], Awaitable[None]]

logger = logging.getLogger(__name__)


class Web:
    """Serves connections."""

    def __init__(self, application: ASGIApp, seconds: float | None = None, *, hsts: bool = False) -> None:
        """A client has so many seconds for the head of a request, and for its body; or `IDLE_LIMIT`.

        With `hsts`, which is for servers that take clients by TLS alone, browsers are told to remember that.
        """
        self._application = application
        self._config = _config(seconds or IDLE_LIMIT, hsts=hsts)
        self._config_for_one = _config(seconds or IDLE_LIMIT, hsts=hsts)
        self._config_for_one.keep_alive_max_requests = 1
        self._context = WorkerContext(None)
        self._connections: dict[Connection, None] = {}

    async def serve(self, stream: Stream) -> None:
        """Serve one connection until it ends. Raises nothing."""
        is_single = isinstance(stream, PassedStream) and stream.is_single
        config = self._config_for_one if is_single else self._config
        connection = Connection(stream, self._application, config, self._context, self._bound)
        self._connections[connection] = None
        try:
            await contained("web", connection.run)
        finally:
            del self._connections[connection]

    def make_room(self) -> None:
        """Hang up on the client that has been idle for longest, if there is one."""
        idlest = min(self._connections, key=lambda each: each.idle_until, default=None)
        if idlest is not None and idlest.idle_until < math.inf:
            idlest.drop()

    def _bound(self) -> None:
        """Hang up on the client for whom most waits, if too much waits for all together."""
        if sum(each.waiting for each in self._connections) > ALL_WAITING:
            max(self._connections, key=lambda each: each.waiting).drop()

    async def refuse(self, stream: Stream, text: str) -> None:
        """Tell a client in a sentence why it is not served."""
        with trio.move_on_after(PARTING), suppress(trio.BrokenResourceError):
            await stream.send_all(_try_later(503, text, self._config))
            await _part(stream)

    async def stop(self) -> None:
        """Let every connection finish its answer and end."""
        await self._context.terminated.set()


class Connection:
    """One client: the sockets and tasks that hypercorn's protocol needs."""

    def __init__(
        self,
        stream: Stream,
        application: ASGIApp,
        config: "_Config",
        context: WorkerContext,
        grown: Callable[[], object],
    ) -> None:
        """`grown` is called when more waits for the client; it may `drop` this connection or another."""
        self.waiting = 0
        """Bytes that wait for the client to let them in."""
        self._grown = grown
        self._stream = stream
        self._application = application
        self._context = context
        self._is_idle = True
        self._is_gone = False
        """Whether nothing can be sent any more."""
        self._config = config
        self._limit = config.keep_alive_timeout
        self._reading = trio.CancelScope(deadline=trio.current_time() + self._limit)
        self._life = trio.CancelScope()
        self._sending = trio.Lock()
        self._answers: trio.Nursery
        state = ConnectionState(LifespanState())
        is_secure = isinstance(stream, PassedStream) and stream.is_secure
        self._protocol = H11Protocol(
            cast(Any, application),
            config,
            context,
            cast(Any, self),
            state,
            is_secure,
            (host_of(stream), 0),
            None,
            self._send,
        )
        self._protocol.connection = OnlyHttp11(h11.SERVER, config.h11_max_incomplete_size)

    @property
    def idle_until(self) -> float:
        """The deadline for the client's next request; infinite while nothing but an answer is due."""
        return self._reading.deadline

    async def run(self) -> None:
        """Serve the client until the connection ends."""
        try:
            with self._life:
                async with trio.open_nursery() as nursery:
                    nursery.start_soon(self._end_at_stop)
                    async with trio.open_nursery() as self._answers:
                        with self._reading:
                            await self._read()
                        await self._complain_of_half_a_head()
                        await self._protocol.handle(Closed())
                    if not self._is_gone:
                        await _part(self._stream)
                    nursery.cancel_scope.cancel()
        finally:
            self._stream.socket.close()

    def drop(self) -> None:
        """Hang up without a word."""
        self._life.cancel()

    async def spawn_app(self, _app: object, _config: object, scope: Scope, send: _Send) -> _Send:
        """Answer a request, for hypercorn; return the function that takes what follows the head.

        It drops a body, which no path needs. To keep one would mean waiting until it is read.
        """
        gone = trio.Event()

        async def put(message: Message | None) -> None:
            if message is not None and message["type"] == "http.disconnect":
                gone.set()
            elif message is not None and not message["more_body"]:
                self._reading.deadline = math.inf

        self._answers.start_soon(self._answer, scope, gone, send)
        return put

    async def _read(self) -> None:
        """Pass on what the client sends, until it sends no more."""
        try:
            while data := await self._stream.receive_some(PIECE):
                await self._protocol.handle(RawData(bytes(data)))
            await self._protocol.handle(RawData(b""))
        except trio.BrokenResourceError:
            self._is_gone = True

    async def _send(self, event: Event) -> None:
        """Carry out the protocol's next event."""
        match event:
            case RawData():
                await self._send_data(event.data)
            case Updated():
                self._is_idle = event.idle
                self._reading.deadline = trio.current_time() + self._limit  # for a head, or a body
                if event.idle and self._context.terminated.is_set():
                    self._reading.cancel()
            case _:
                self._reading.cancel()

    async def _send_data(self, data: bytes) -> None:
        async with self._sending:
            if self._is_gone:
                return
            self.waiting = len(data)
            if len(data) > PIECE:  # of smaller ones there are never too many
                self._grown()
            try:
                with trio.fail_after(SEND_LIMIT):
                    await self._stream.send_all(data)
            except (trio.BrokenResourceError, trio.TooSlowError):
                self._is_gone = True
                self._reading.cancel()
            finally:
                self.waiting = 0

    async def _answer(self, scope: Scope, gone: trio.Event, send: _Send) -> None:
        """Have the application answer. An error there ends only this connection."""
        is_new = True

        async def receive() -> Message:
            nonlocal is_new
            if is_new:
                is_new = False
                return {"type": "http.request", "body": b"", "more_body": False}
            await gone.wait()
            return {"type": "http.disconnect"}

        try:
            await self._application(scope, receive, send)
        except* StoreError as errors:
            cause = str(errors.exceptions[0])
            logger.warning(
                "an answer was cut off: %s", cause, extra={"event": "answer_cut_off", "error": cause}
            )
        except* Exception:
            logger.exception("a request came to an internal error", extra={"event": "request_failed"})
        await send(None)

    async def _end_at_stop(self) -> None:
        await self._context.terminated.wait()
        if self._is_idle:
            self._reading.cancel()

    async def _complain_of_half_a_head(self) -> None:
        """Tell a client that sent a part of a head, and no more in time."""
        late = trio.current_time() >= self._reading.deadline
        if late and self._is_idle and self._protocol.connection.trailing_data[0]:
            text = "The request did not come in time."
            await self._send_data(_try_later(408, text, self._config))


def host_of(stream: Stream) -> str:
    """Return the address of a client, without its port; nothing where nobody knows it."""
    return stream.address if isinstance(stream, PassedStream) else address_of(stream.socket)


async def _part(stream: Stream) -> None:
    """Close our half, then read on: unread data at a close would destroy the answer."""
    with trio.move_on_after(PARTING):
        try:
            await stream.send_eof()
            while await stream.receive_some(PIECE):
                pass
        except trio.BrokenResourceError:
            return  # it has hung up itself


class OnlyHttp11(h11.Connection):
    """HTTP/1.1 without upgrades."""

    def next_event(self) -> h11.Event | type[h11.NEED_DATA] | type[h11.PAUSED]:
        """Return the next event. Raises h11.RemoteProtocolError for a refused request."""
        event = super().next_event()
        if not isinstance(event, h11.Request):
            return event
        if has_two_lengths(event.headers):
            raise h11.RemoteProtocolError(TWO_LENGTHS, error_status_hint=400)
        return _without_offers(event)


def _without_offers(request: h11.Request) -> h11.Request:
    """Return the request without offers of other protocols."""
    if request.http_version not in _VERSIONS:
        raise h11.RemoteProtocolError("this is not HTTP/1.1", error_status_hint=505)
    kept = [(name, value) for name, value in request.headers if name not in _OFFERS]
    if len(kept) == len(request.headers):
        return request
    if any(name == b"upgrade" and b"websocket" in value.lower() for name, value in request.headers):
        raise h11.RemoteProtocolError("there is no websocket here", error_status_hint=400)
    return h11.Request(
        method=request.method, headers=kept, target=request.target, http_version=request.http_version
    )


class _Config(Config):
    """What hypercorn's protocol is to do."""

    hsts = False

    def response_headers(self, protocol: str) -> list[tuple[bytes, bytes]]:
        """Return the headers of every answer, errors too."""
        return [*super().response_headers(protocol), *([HSTS] if self.hsts else [])]


def _try_later(status: int, text: str, config: _Config) -> bytes:
    answer = try_later(status, text)
    return with_hsts(answer) if config.hsts else answer


def _config(seconds: float, *, hsts: bool) -> _Config:
    config = _Config()
    config.hsts = hsts
    config.keep_alive_timeout = seconds  # ours: hypercorn's protocol has none
    config.errorlog = logger
    config.include_server_header = False
    return config

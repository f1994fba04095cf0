"""Serves HTTP/1.1 connections to the page and the API. Each connection has one request at a time.

Knows h11 and ASGI. Does not know the content of answers. Ignores an offer of HTTP/2, and refuses a client
that begins with HTTP/2 or asks for a websocket. Each send and the receipt of each request have a deadline, so
a client that stalls is disconnected. Nothing that a client sends puts a traceback into the log.
"""

import logging
import math
import socket
import struct
from contextlib import suppress
from email.utils import formatdate
from typing import TypeAlias
from urllib.parse import unquote

import h11
import trio
from starlette.types import ASGIApp, Message, Scope

from adapters.client.boundary import contained
from adapters.net.fd_passing import PassedStream
from adapters.net.socket import address_of
from gateway.access.heads import HSTS, LONGEST_HEAD, read_request, try_later, value_of

SEND_LIMIT = 30.0
"""Seconds that a client has to read one piece of an answer, 40 KB of an export."""
IDLE_LIMIT = 15.0
"""Seconds that a client has to send the head of a request, and then its body."""
ALL_WAITING = 256 << 20
"""The most bytes of answers that may wait for all clients together. Beyond that, the client with the most
waiting bytes is disconnected. The largest possible answer has half this size."""
STUCK = 3.0
"""Seconds after which a client that does not read its answer may be disconnected to make room for another."""
PARTING = 1.0
"""Seconds that a client has to read the last answer and hang up."""
PIECE = 1 << 14
"""The most bytes that are read at once."""
MOST_REQUESTS = 1000
"""The most requests on one connection."""

_VERSIONS = (b"1.0", b"1.1")
_RESET = struct.pack("ii", 1, 0)
_NO_RESET = struct.pack("ii", 0, 0)
"""Values of `SO_LINGER`. With `_RESET`, closing the connection discards unsent bytes and resets it."""
_BOTH_DONE = {h11.CLIENT: h11.DONE, h11.SERVER: h11.DONE}

Stream: TypeAlias = trio.SocketStream | PassedStream
"""A client's stream. Either this process accepted the connection, or the server passed it on."""

logger = logging.getLogger(__name__)


class ClientGoneError(OSError):
    """Nothing can be sent to the client any more."""


class Web:
    """Serves connections."""

    def __init__(self, application: ASGIApp, seconds: float | None = None, *, hsts: bool = False) -> None:
        """`seconds` limits the time for the head of a request, and for its body; by default `IDLE_LIMIT`.

        With `hsts`, answers have the header Strict-Transport-Security, for servers that require TLS.
        """
        self.application = application
        self.limit = seconds or IDLE_LIMIT
        self.has_hsts = hsts
        self.is_stopping = False
        self._connections: dict[Connection, None] = {}

    async def serve(self, stream: Stream) -> None:
        """Serve one connection until it ends. Raises nothing."""
        connection = Connection(stream, self)
        self._connections[connection] = None
        try:
            await contained("web", connection.run)
        finally:
            del self._connections[connection]

    def make_room(self) -> None:
        """Hang up on the client that has been idle longest.

        If no client is idle, hang up on the one that has read nothing for longest, if that is at least
        `STUCK` seconds. Otherwise do nothing.
        """
        idlest = min(self._connections, key=lambda each: each.idle_until, default=None)
        if idlest is not None and math.isinf(idlest.idle_until):
            idlest = min(self._connections, key=lambda each: each.sending_since)
            if trio.current_time() < idlest.sending_since + STUCK:
                return
        if idlest is not None:
            idlest.drop()

    def bound(self) -> None:
        """Hang up on the client with the most waiting bytes, if all clients together exceed `ALL_WAITING`."""
        if sum(each.waiting for each in self._connections) > ALL_WAITING:
            max(self._connections, key=lambda each: each.waiting).drop()

    async def refuse(self, stream: Stream, text: str) -> None:
        """Send a client `text`, the reason why it is not served, and end the connection."""
        with trio.move_on_after(PARTING), suppress(trio.BrokenResourceError):
            await stream.send_all(try_later(503, text, hsts=self.has_hsts))
            await _part(stream)

    def stop(self) -> None:
        """End every connection after its current answer."""
        self.is_stopping = True
        for each in self._connections:
            each.stop_waiting()


class Connection:
    """One client, whose requests are answered one after another."""

    def __init__(self, stream: Stream, web: Web) -> None:
        self.waiting = 0
        """Bytes that wait for the client to read them."""
        self.sending_since = math.inf
        """The time since which bytes wait; infinite if no bytes wait."""
        self._stream = stream
        self._web = web
        self._http = h11.Connection(h11.SERVER, LONGEST_HEAD)
        is_single = isinstance(stream, PassedStream) and stream.is_single
        self._requests_left = 1 if is_single else MOST_REQUESTS
        self._is_gone = False
        """Whether nothing can be sent any more."""
        self._reading = trio.CancelScope()
        self._life = trio.CancelScope()

    @property
    def idle_until(self) -> float:
        """The deadline for receiving the client's request; infinite after the request is complete."""
        return self._reading.deadline

    @property
    def _must_reset(self) -> bool:
        """Whether the client would take a normal close for the end of an answer that is unfinished.

        This is the case with HTTP/1.0. A reset shows such a client that the answer is incomplete, except over
        TLS.
        """
        return self._http.our_state is h11.SEND_BODY and self._http.their_http_version == b"1.0"

    async def run(self) -> None:
        """Serve the client until the connection ends."""
        try:
            with self._life:
                while not (self._web.is_stopping or self._is_gone):
                    request = await self._next_request()
                    if request is None:
                        break
                    await self._answer(request)
                    if self._http.states != _BOTH_DONE:
                        break
                    self._http.start_next_cycle()
                if not (self._is_gone or self._must_reset):
                    await _part(self._stream)
        finally:
            self._stream.socket.close()

    def stop_waiting(self) -> None:
        """Stop waiting for a further request."""
        if self._http.our_state is h11.IDLE:
            self._reading.cancel()

    def drop(self) -> None:
        """Hang up at once."""
        self._life.cancel()

    async def _next_request(self) -> h11.Request | None:
        """Return the next request; None if no request came, or it was refused."""
        self._reading = trio.CancelScope(deadline=trio.current_time() + self._web.limit)
        try:
            with self._reading:
                request = await read_request(self._http, self._receive)
                if request is not None and request.http_version not in _VERSIONS:
                    raise h11.RemoteProtocolError("this is not HTTP/1.1", error_status_hint=505)
                if request is not None and "websocket" in value_of(request, b"upgrade").lower():
                    raise h11.RemoteProtocolError("there is no websocket here", error_status_hint=400)
                return request  # an offer of another protocol is ignored
        except h11.RemoteProtocolError as error:
            await self._refuse(error.error_status_hint)
            return None
        is_late = trio.current_time() >= self._reading.deadline
        if is_late and self._http.trailing_data[0]:
            text = "The request did not come in time."
            await self._send(try_later(408, text, hsts=self._web.has_hsts))
        return None

    async def _answer(self, request: h11.Request) -> None:
        """Call the application for a request, and watch whether the client leaves meanwhile."""
        self._requests_left -= 1
        self._reading = trio.CancelScope(deadline=trio.current_time() + self._web.limit)
        if self._http.they_are_waiting_for_100_continue:
            await self._send_events(h11.InformationalResponse(status_code=100, headers=self._headers()))
        ended = trio.Event()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._call, request, ended)
            await self._read_on()
            ended.set()

    async def _read_on(self) -> None:
        """Discard the request's body, then wait until the client disconnects or the answer ends.

        No path needs a body. Bytes after the body are not parsed until the answer is sent, because an error
        in them must not affect this answer.
        """
        try:
            with self._reading:
                while not isinstance(event := self._http.next_event(), h11.EndOfMessage):
                    if event is h11.NEED_DATA:
                        self._http.receive_data(await self._receive())
                self._reading.deadline = math.inf
                while len(self._http.trailing_data[0]) <= LONGEST_HEAD:
                    self._http.receive_data(data := await self._receive())
                    if not data:
                        return
                await trio.sleep_forever()
        except h11.RemoteProtocolError as error:
            await self._refuse(error.error_status_hint)

    async def _call(self, request: h11.Request, ended: trio.Event) -> None:
        """Call the application for one request. An error in the application ends only this connection.

        `ended` is set when the client has disconnected, or when the answer is complete. If nothing can be
        sent to the client, the application's call of `send` raises ClientGoneError.
        """
        is_new = True

        async def receive() -> Message:
            nonlocal is_new
            if is_new:
                is_new = False
                return {"type": "http.request", "body": b"", "more_body": False}
            await ended.wait()
            return {"type": "http.disconnect"}

        async def send(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = [*message["headers"], *self._headers()]
                if not self._requests_left:
                    headers.append((b"connection", b"close"))
                # Until the answer is complete, closing resets the connection, even if this process is killed
                if request.http_version == b"1.0":
                    self._stream.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
                await self._send_events(h11.Response(status_code=message["status"], headers=headers))
                return
            body = b"" if request.method == b"HEAD" else message.get("body", b"")
            events: list[h11.Data | h11.EndOfMessage] = [h11.Data(data=body)] if body else []
            if not message.get("more_body", False):
                events.append(h11.EndOfMessage())
                ended.set()
            await self._send_events(*events)
            if self._is_gone:
                raise ClientGoneError
            if request.http_version == b"1.0" and self._http.our_state is not h11.SEND_BODY:
                self._stream.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _NO_RESET)

        try:
            await self._web.application(self._scope(request), receive, send)
        except* ClientGoneError:
            pass
        except* Exception:
            logger.exception("a request came to an internal error", extra={"event": "request_failed"})
        if not ended.is_set():
            await self._refuse(500)
        self._reading.cancel()

    def _scope(self, request: h11.Request) -> Scope:
        path, _, query = request.target.partition(b"?")
        is_secure = isinstance(self._stream, PassedStream) and self._stream.is_secure
        return {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": request.http_version.decode(),
            "method": request.method.decode(),
            "scheme": "https" if is_secure else "http",
            "path": unquote(path.decode()),
            "raw_path": path,
            "query_string": query,
            "headers": list(request.headers),
            "client": (host_of(self._stream), 0),
        }

    def _headers(self) -> list[tuple[bytes, bytes]]:
        """Return the headers that all answers have, including errors."""
        return [(b"date", formatdate(usegmt=True).encode()), *([HSTS] if self._web.has_hsts else [])]

    async def _refuse(self, status: int) -> None:
        """Send an answer without a body, unless an answer has begun. The connection ends afterwards."""
        if self._http.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            headers = [(b"content-length", b"0"), (b"connection", b"close"), *self._headers()]
            await self._send_events(h11.Response(status_code=status, headers=headers), h11.EndOfMessage())

    async def _send_events(
        self, *events: h11.InformationalResponse | h11.Response | h11.Data | h11.EndOfMessage
    ) -> None:
        try:
            data = b"".join(self._http.send(event) for event in events)
        except h11.LocalProtocolError:
            if self._http.their_state is not h11.ERROR:
                raise
            await trio.lowlevel.checkpoint()  # the request was invalid, and has been refused
        else:
            await self._send(data)

    async def _send(self, data: bytes) -> None:
        if self._is_gone:
            await trio.lowlevel.checkpoint()
            return
        self.waiting, self.sending_since = len(data), trio.current_time()
        if len(data) > PIECE:  # smaller ones stay below the limit together
            self._web.bound()
        try:
            with trio.fail_after(SEND_LIMIT):
                await self._stream.send_all(data)
        except (trio.BrokenResourceError, trio.TooSlowError):
            self._is_gone = True
            self._reading.cancel()
        finally:
            self.waiting, self.sending_since = 0, math.inf

    async def _receive(self) -> bytes:
        """Return the next bytes from the client; empty if the connection has ended."""
        try:
            return await self._stream.receive_some(PIECE)
        except trio.BrokenResourceError:
            self._is_gone = True
            return b""


def host_of(stream: Stream) -> str:
    """Return the address of a client, without its port; empty if it is unknown."""
    return stream.address if isinstance(stream, PassedStream) else address_of(stream.socket)


async def _part(stream: Stream) -> None:
    """Close the sending half, and wait up to `PARTING` seconds until the client closes the other half.

    Closing a socket with unread bytes would discard the answer, so all bytes of the client are read.
    """
    with trio.move_on_after(PARTING):
        try:
            await stream.send_eof()
            while await stream.receive_some(PIECE):
                pass
        except trio.BrokenResourceError:
            return  # the client has hung up

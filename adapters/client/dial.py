"""The client's end of a connection, for bots, tests and tools.

Parses a server's address as people write it, opens a connection to the server, and exchanges one dialect's
messages with it. Only the dialect of the server is assumed. A parsed address is valid in a URL, and in the
first line of a websocket's handshake.
"""

import errno
import os
import ssl
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Generic, Protocol
from urllib.parse import parse_qs, quote, urlencode, urlsplit

import trio
import trio_websocket

from adapters.client.accepted import texts_of
from adapters.client.contract import SEND_LIMIT, C_contra, Codec, PeerGone, S_co
from adapters.client.framing import Lines
from adapters.net.socket import BROKEN, GOODBYE_LIMIT, Socket, taken
from adapters.net.tls_client import secure, trusting
from gateway.runtime.accepting import watch
from gateway.runtime.addresses import Address, address_in

_HTTP = b"HTTP/"
_WEB_PORTS = {"ws": 80, "wss": 443}

_NO_CLOSE_FRAME = 1006
"""Stands for the code of the close frame if there was none (RFC 6455, 7.4.1)."""

PATIENCE = 10.0
"""Seconds that a server has to accept a client."""


@dataclass(frozen=True, slots=True)
class Endpoint(Address):
    """The address of a server, and the path and query to request there."""

    target: str = "/"
    """Path and query of a URL."""
    is_tls: bool = False

    @property
    def place(self) -> str:
        """Host and port, as people write them."""
        return str(self)

    def asked(self, name: str) -> str | None:
        """Return a parameter of the URL, such as ``table`` or ``against``; None if missing."""
        return parse_qs(urlsplit(self.target).query).get(name, [None])[0]

    def url(self, **query: str | None) -> str:
        """Return the URL of a websocket, with the parameters in `query` that are not None."""
        more = urlencode({name: value for name, value in query.items() if value is not None})
        separator = "" if not more else "&" if "?" in self.target else "?"
        return f"{'wss' if self.is_tls else 'ws'}://{self}{self.target}{separator}{more}"


def endpoint_in(text: str, port: int, *, has_urls: bool) -> Endpoint:
    """Return the endpoint in `text`, which is a host and a port, or the URL of a websocket.

    `port` is the default port. ``wss://`` means TLS; for a dialect without URLs, so does ``tls://`` before
    the host. Raises ValueError with one line that says what is wrong.
    """
    schemes = ["ws", "wss"] if has_urls else ["tls"]
    wanted = ", ".join(f"{scheme}://HOST:PORT" for scheme in schemes)
    refusal = ValueError(f"{text!r} is not an address, which has to be HOST:PORT or {wanted}")
    scheme = text.partition("://")[0] if "://" in text else ""
    if not text.isprintable() or " " in text or scheme not in ("", *schemes):
        raise refusal
    parts = urlsplit(text if scheme else f"//{text}")
    try:
        has_port = parts.port != 0
    except ValueError:
        raise ValueError(f"{text!r} has no port from 1 to 65535") from None
    if not has_port or ((parts.path or parts.query or parts.fragment) and not has_urls):
        raise refusal
    try:
        address = address_in(parts.netloc.lower(), port=_WEB_PORTS.get(scheme, port))
    except ValueError:
        raise refusal from None
    target = quote(parts.path or "/", safe="/%")
    if parts.query:
        target += "?" + quote(parts.query, safe="=&%+")
    return Endpoint(address.host, address.port, target, is_tls=scheme == schemes[-1])


class Line(Protocol):
    """A connection to a server that carries texts."""

    @property
    def has_farewell(self) -> bool:
        """Whether the server has said that it ends the connection, so that the connection did not break."""

    async def receive(self) -> list[str]:
        """Wait for texts and return them; no texts if no more can come. Raises PeerGone, Flooded."""

    async def send(self, texts: Iterable[str]) -> None:
        """Send all texts. Raises PeerGone, also if sending takes longer than `SEND_LIMIT` seconds."""


class TcpLine:
    """The client's end of a connection with lines over TCP."""

    has_farewell = False  # lines have no farewell

    def __init__(self, sock: Socket) -> None:
        self._socket = sock
        self._lines = Lines()

    async def receive(self) -> list[str]:
        """Wait for lines and return them; no lines at the end of the stream."""
        texts: list[str] = []
        try:
            while not texts and not self._lines.ended:
                data = b"" if self._lines.has_more else await self._socket.receive_some()
                texts = texts_of(self._socket, self._lines, data)
        except BROKEN:
            raise PeerGone from None
        return texts

    async def send(self, texts: Iterable[str]) -> None:
        """Send each text as a line."""
        try:
            with trio.fail_after(SEND_LIMIT):
                await self._socket.send_all(self._lines.frame(texts))
        except (*BROKEN, trio.TooSlowError):
            raise PeerGone from None


class WebSocketLine:
    """The client's end of a websocket."""

    def __init__(self, websocket: trio_websocket.WebSocketConnection) -> None:
        self._websocket = websocket

    @property
    def has_farewell(self) -> bool:
        """Whether the server has sent a close frame."""
        closed = self._websocket.closed
        return closed is not None and closed.code != _NO_CLOSE_FRAME

    async def receive(self) -> list[str]:
        """Wait for a message and return it as the only text; no text once the websocket is closed.

        A binary message is decoded as UTF-8.
        """
        try:
            message = await self._websocket.get_message()
        except trio_websocket.ConnectionClosed:
            return []
        return [message if isinstance(message, str) else message.decode("utf-8", "surrogateescape")]

    async def send(self, texts: Iterable[str]) -> None:
        """Send each text as a frame."""
        try:
            with trio.fail_after(SEND_LIMIT):
                for text in texts:
                    await self._websocket.send_message(text)
        except (trio_websocket.ConnectionClosed, trio.TooSlowError):
            raise PeerGone from None

    async def close(self) -> None:
        """Close the websocket, in any state, within `GOODBYE_LIMIT` seconds."""
        try:
            with trio.move_on_after(GOODBYE_LIMIT):
                await self._websocket.aclose()
        except BROKEN:
            pass


class _Stream(trio.abc.Stream):
    """A stream for trio-websocket. It ends the handshake as soon as the server's answer cannot be HTTP.

    trio-websocket itself would wait for more bytes: it takes a line of another protocol for the beginning of
    an HTTP head, and does not notice the end of the stream, or that the connection is reset.
    """

    def __init__(self, sock: Socket) -> None:
        self.handshake = trio.CancelScope()
        self.has_answered = False
        """Whether the server has sent anything, or hung up."""
        self._socket = sock
        self._begin = b""

    async def receive_some(self, max_bytes: int | None = None) -> bytes:
        """Wait for bytes and return them; no bytes at the end of the stream. `max_bytes` is ignored."""
        try:
            data = await self._socket.receive_some()
        except BROKEN:
            self.handshake.cancel()
            raise
        self.has_answered = True
        self._begin = (self._begin + data)[: len(_HTTP)]
        if not data or not _HTTP.startswith(self._begin):
            self.handshake.cancel()
        return data

    async def send_all(self, data: bytes | bytearray | memoryview) -> None:
        """Send all of `data`."""
        try:
            await self._socket.send_all(bytes(data))
        except BROKEN:
            self.handshake.cancel()
            raise

    async def wait_send_all_might_not_block(self) -> None:
        """Wait until more bytes can be sent."""
        await self._socket.drain()

    async def aclose(self) -> None:
        """Close the socket."""
        self._socket.close()
        await trio.lowlevel.checkpoint()


class Client(Generic[C_contra, S_co]):
    """A connection to a server: sends the dialect's client messages, and receives its server messages."""

    def __init__(self, line: Line, codec: Codec[S_co, C_contra]) -> None:
        self._line = line
        self._codec = codec
        self._texts: list[str] = []

    @property
    def has_farewell(self) -> bool:
        """As `Line.has_farewell`."""
        return self._line.has_farewell

    async def send(self, *messages: C_contra) -> None:
        """Send messages. Raises PeerGone."""
        await self._line.send([self._codec.encode(message) for message in messages])

    async def receive(self) -> S_co:
        """Return the next message.

        Raises PeerGone when the server has hung up, and WireError for a text that is not a message of its
        dialect.
        """
        if not self._texts:
            self._texts = await self._line.receive()
            if not self._texts:
                raise PeerGone
        return self._codec.decode(self._texts.pop(0))


@asynccontextmanager
async def open_lines(host: str, port: int, tls: ssl.SSLContext | None = None) -> AsyncIterator[Line]:
    """Open a connection with lines to a TCP server, with TLS if `tls` is not None.

    Raises OSError if no server is there, and the errors of `secure`.
    """
    sock = await _reached(host, port)
    try:
        if tls is not None:
            await secure(sock, host, tls, PATIENCE)
        yield TcpLine(sock)
    finally:
        await sock.linger()


@asynccontextmanager
async def open_websocket(
    url: str, token: str | None = None, tls: ssl.SSLContext | None = None
) -> AsyncIterator[Line]:
    """Open a websocket at a URL such as ``ws://127.0.0.1:8080/``. A `token` is sent in its handshake.

    For ``wss://``, `tls` has the trusted authorities, by default those of the system. Raises OSError if no
    server is there, if it sends nothing, or if it takes no more clients; PeerGone if it does not speak
    websocket; and the errors of `secure`.
    """
    parts = urlsplit(url)
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    host, port = parts.hostname or "127.0.0.1", parts.port or _WEB_PORTS[parts.scheme]
    sock = await _reached(host, port)
    try:
        if parts.scheme == "wss":
            await secure(sock, host, tls or trusting(None), PATIENCE)
        async with trio.open_nursery() as nursery:
            line = WebSocketLine(await _upgraded(nursery, _Stream(sock), parts.netloc, target, token))
            try:
                yield line
            finally:
                await line.close()
            nursery.cancel_scope.cancel()
    except BaseExceptionGroup as group:  # callers do not know of the nursery, so raise the error alone
        if len(group.exceptions) > 1:
            raise
        (error,) = group.exceptions
        if isinstance(error, trio_websocket.ConnectionRejected) and error.status_code == 503:
            raise OSError(errno.EAGAIN, "what answers there takes no further client now") from None
        if isinstance(error, trio_websocket.ConnectionRejected) and error.status_code == 426:
            raise OSError(errno.EPROTO, "what answers there wants TLS, by wss://") from None
        if isinstance(error, trio_websocket.HandshakeError):
            raise PeerGone from None
        raise error from error.__cause__
    finally:
        sock.close()


async def _reached(host: str, port: int) -> Socket:
    try:
        with trio.fail_after(PATIENCE):
            stream = await trio.open_tcp_stream(host, port)
            watch(stream.socket)
            return Socket(taken(stream))
    except trio.TooSlowError:
        raise TimeoutError(errno.ETIMEDOUT, os.strerror(errno.ETIMEDOUT)) from None


async def _upgraded(
    nursery: trio.Nursery, stream: _Stream, host: str, target: str, token: str | None
) -> trio_websocket.WebSocketConnection:
    headers = [] if token is None else [(b"Authorization", b"Bearer " + token.encode())]
    stream.handshake.deadline = trio.current_time() + PATIENCE
    with stream.handshake:
        return await trio_websocket.wrap_client_stream(
            nursery,
            stream,  # type: ignore[arg-type]
            host,
            target,
            extra_headers=headers,
        )
    if stream.has_answered:
        raise PeerGone
    raise TimeoutError(errno.ETIMEDOUT, "it does not answer a websocket's handshake")

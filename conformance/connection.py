"""One client on the wire: a TCP connection, with or without a websocket on it.

Connects, sends bytes, leaves in good order or resets. A separate task reads what arrives and puts it into the
client's inbox at once, so the exchange is recorded when it happens, not when a step looks at it. Must not
know transcripts, and makes no judgement on what arrives.
"""

import math
import os
import socket
import struct
from collections.abc import Callable

import trio

from conformance.frames import FrameError, Handshake
from conformance.inbox import End, FrameInbox, Inbox, LineInbox, Received
from conformance.steps import Client
from conformance.targets import Address

_RESET_ON_CLOSE = struct.pack("ii", 1, 0)
_LONGEST_HANDSHAKE = 1 << 16


class CannotConnect(Exception):
    """The connection failed, or the server refused the websocket. The message says why."""


class CannotSend(Exception):
    """The connection is gone."""


class Connection:
    """A connected client. Create it with `connect`; the caller must run `read_on` in a task."""

    def __init__(self, client: Client, stream: trio.SocketStream, inbox: Inbox) -> None:
        self.client = client
        self.inbox = inbox
        # Set by steps of the transcript: this client has left, or the transcript ignores what it receives.
        self.left = False
        self.ignoring = False
        self.hangup_expected = False
        self._stream = stream
        self._sending = trio.Lock()
        self._news = trio.Event()
        self._finished = trio.Event()

    async def read_on(self) -> None:
        """Read until the stream ends, and answer pings and close frames."""
        try:
            async for data in self._stream:
                await self.take_in(bytes(data))
            self.inbox.end(End(how="without a close frame" if self.client.manner.websocket else ""))
        except trio.BrokenResourceError:
            self.inbox.end(End(how="the connection was reset"))
        except trio.ClosedResourceError:
            pass  # this side closed the stream: nothing was received
        self._finished.set()
        self._wake()

    async def take_in(self, data: bytes) -> None:
        answer = self.inbox.feed(data)
        self._wake()
        if answer:
            try:
                await self.send(answer)
            except CannotSend:
                return  # the next read finds the end of the stream

    async def send(self, data: bytes) -> None:
        """Put bytes on the TCP stream. Raises CannotSend."""
        try:
            async with self._sending:
                await self._stream.send_all(data)
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            raise CannotSend from None

    async def received(self, look: Callable[[], Received | None]) -> Received:
        """Wait until `look` finds something in the inbox, and return it without removing it."""
        while (found := look()) is None:
            await self._news.wait()
        return found

    async def leave(self) -> None:
        """Leave in good order: send a close frame, or end the sending side."""
        self.left = True
        try:
            if isinstance(self.inbox, FrameInbox):
                await self.send(self.inbox.farewell())
            else:
                await self._stream.send_eof()
        except (CannotSend, trio.BrokenResourceError, trio.ClosedResourceError):
            return  # the server closed first

    async def reset(self) -> None:
        """Reset the connection (TCP RST)."""
        self.left = True
        self._stream.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET_ON_CLOSE)
        await self._stream.aclose()

    async def server_gone(self) -> None:
        """Wait until the server has closed its side too."""
        await self._finished.wait()

    async def drop(self) -> None:
        await self._stream.aclose()

    def _wake(self) -> None:
        self._news.set()
        self._news = trio.Event()


async def connect(
    client: Client, address: Address, path: str | None, hear: Callable[[Received], None]
) -> Connection:
    """Connect one client, with a websocket handshake if its dialect has one. Raises CannotConnect."""
    where = f"{client.dialect} at {address.authority}"
    try:
        # One attempt at a time: a parallel attempt could reach the server as an unused second connection.
        stream = await trio.open_tcp_stream(address.host, address.port, happy_eyeballs_delay=math.inf)
    except OSError as error:
        raise CannotConnect(f"no connection to {where}: {_reason(error)}") from None
    if not client.manner.websocket:
        return Connection(client, stream, LineInbox(hear))
    connection = Connection(client, stream, FrameInbox(hear))
    opened = False
    try:
        handshake = Handshake(address.authority, address.resource(path))
        await connection.take_in(await _shake_hands(stream, handshake))
        opened = True
    except FrameError as error:
        raise CannotConnect(f"no websocket to {where}: {error}") from None
    except trio.BrokenResourceError:
        raise CannotConnect(f"no websocket to {where}: the connection was reset") from None
    finally:
        if not opened:
            await trio.aclose_forcefully(stream)
    return connection


async def _shake_hands(stream: trio.SocketStream, handshake: Handshake) -> bytes:
    """Open the websocket; return the bytes that arrived after the server's answer. Raises FrameError."""
    await stream.send_all(handshake.request)
    read = bytearray()
    while b"\r\n\r\n" not in read:
        data = await stream.receive_some()
        if not data or len(read) > _LONGEST_HANDSHAKE:
            raise FrameError("the server hung up instead of answering the handshake")
        read += data
    head, _, behind = bytes(read).partition(b"\r\n\r\n")
    handshake.accept(head)
    return behind


def _reason(error: OSError) -> str:
    """Return the system's error text. trio raises one error for each address; use the last."""
    tried = error.__cause__.exceptions if isinstance(error.__cause__, ExceptionGroup) else (error,)
    last = tried[-1]
    if isinstance(last, OSError) and last.errno and not isinstance(last, socket.gaierror):
        return os.strerror(last.errno).lower()
    return str(last).lower()

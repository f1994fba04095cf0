"""A client on a TCP connection with trio, optionally with a websocket or TLS."""

import ssl
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import trio

from conformance.frames import FrameError, Handshake
from conformance.lab.workers import LoadError
from conformance.targets import Address

PATIENCE = 15.0
"""Seconds within which a simple answer must arrive."""
_CHUNK = 65_536
_HEAD_END = b"\r\n\r\n"
_RESULTS = (b"YOU_WON", b"YOU_LOST", b"DRAW")


class HungUp(LoadError):
    """The server has closed the connection, or has refused the client."""

    def __init__(self, why: str = "the server hung up") -> None:
        super().__init__(why)


class Refusal(LoadError):
    """The server sent an error."""


class Client:
    """One connection."""

    def __init__(self, stream: trio.SocketStream | trio.SSLStream[trio.SocketStream]) -> None:
        self.stream = stream
        self._lines: list[bytes] = []
        """Lines received but not yet read, the next one last."""
        self._rest = b""

    async def say(self, data: bytes) -> None:
        """Send. Raises HungUp."""
        try:
            await self.stream.send_all(data)
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            raise HungUp from None

    async def leave(self) -> None:
        """End the sending side; with TLS close the whole connection. Raises HungUp."""
        try:
            if isinstance(self.stream, trio.SSLStream):
                await self.stream.aclose()
            else:
                await self.stream.send_eof()
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            raise HungUp from None

    async def heard(self, most: int = _CHUNK) -> bytes:
        """Receive at most `most` bytes. Raises HungUp at the end of the stream, including a reset."""
        try:
            data = await self.stream.receive_some(most)
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            data = b""
        if not data:
            raise HungUp
        return bytes(data)

    async def line(self) -> bytes:
        """Return the next line without its end. Raises HungUp."""
        while not self._lines:
            *lines, self._rest = (self._rest + await self.heard()).split(b"\n")
            self._lines = lines[::-1]
        return self._lines.pop()

    async def rest(self) -> bytes:
        """Return everything that is still unread, up to the end of the stream."""
        found = [line + b"\n" for line in self._lines[::-1]] + [self._rest]
        self._lines, self._rest = [], b""
        try:
            while True:
                found.append(await self.heard())
        except HungUp:
            return b"".join(found)

    async def drain(self) -> None:
        """Read and drop everything. Raises HungUp at the end of the stream."""
        while True:
            await self.heard()

    async def shake(self, host: str, resource: str) -> bytes:
        """Open a websocket; return the bytes that arrived after the answer. Raises HungUp."""
        handshake, head = Handshake(host, resource), b""
        await self.say(handshake.request)
        while _HEAD_END not in head:
            head += await self.heard()
        head, _, rest = head.partition(_HEAD_END)
        try:
            handshake.accept(head)
        except FrameError as error:
            raise HungUp(str(error)) from None
        return rest

    # Droidcon.

    async def reply(self) -> bytes:
        """Return the next line. Raises HungUp, or Refusal if the line is an error."""
        line = await self.line()
        if line.startswith(b"Error"):
            raise Refusal(f"the server said {line.decode(errors='replace')!r}")
        return line

    async def until(self, wanted: bytes) -> None:
        """Read lines up to `wanted`. Raises LoadError if it does not come within `PATIENCE` seconds."""
        with trio.move_on_after(PATIENCE):
            while await self.reply() != wanted:
                pass
            return
        raise LoadError(f"no {wanted.decode()!r} within {PATIENCE:g} s")

    async def enter(self, name: str) -> None:
        """Send a name, and wait until the server accepts it. Raises LoadError."""
        await self.say(b"NAME %s\n" % name.encode())
        await self.until(b"SUCCESS")


@asynccontextmanager
async def connected(
    address: Address, source: str | None = None, tls: ssl.SSLContext | None = None
) -> AsyncIterator[Client]:
    """Connect for as long as the block lasts. `source`: the address to connect from. Raises HungUp."""
    try:
        stream = await trio.open_tcp_stream(address.host, address.port, local_address=source)
    except OSError as error:
        raise HungUp(f"cannot connect: {error}") from None
    try:
        yield Client(stream if tls is None else trio.SSLStream(stream, tls, server_hostname=address.host))
    finally:
        await trio.aclose_forcefully(stream)


def request(path: str, web: Address, method: str = "GET", *headers: str) -> bytes:
    """Return an HTTP/1.0 request. The answer to it has a plain body, without chunked encoding."""
    lines = (f"{method} {path} HTTP/1.0", f"Host: {web.authority}", *headers, "", "")
    return "\r\n".join(lines).encode()


@asynccontextmanager
async def asked(web: Address, path: str) -> AsyncIterator[Client]:
    """Request a path, and read the head of the answer. The block reads the body. Raises LoadError."""
    async with connected(web) as client:
        await client.say(request(path, web))
        status = await client.line()
        if b" 200" not in status:
            raise LoadError(f"the web answers {status.decode(errors='replace').strip()!r} to {path}")
        while (await client.line()).strip():
            pass
        yield client


class HouseGames:
    """Plays games of clients against house players, and counts the games."""

    def __init__(self, pause: float = 0.0) -> None:
        """`pause`: seconds that a client waits before each move."""
        self.on = 0
        """Games that have begun and not yet ended."""
        self.begun = 0
        self.finished = 0
        self.answers = 0
        """Moves of house players."""
        self.times: list[float] = []
        """Seconds from a client's move to the house player's move."""
        self.asked: float | None = None
        """When the client moved, if it waits for the answer. Meaningful only with a single client."""
        self._pause = pause

    async def play(self, client: Client, player: str) -> None:
        """Play against a house player until the connection ends. Raises HungUp, Refusal."""
        await client.say(b"JOIN @%s\n" % player.encode())
        room = [6] * 7
        while True:
            line = await client.reply()
            if line == b"NEW_GAME":
                room, self.asked = [6] * 7, None
                self.on += 1
                self.begun += 1
            elif line == b"YOUR_MOVE":
                await trio.sleep(self._pause)
                column = max(range(7), key=room.__getitem__)
                room[column] -= 1
                self.asked = time.perf_counter()
                await client.say(b"PUT %d\n" % column)
            elif line.startswith(b"PUT "):
                room[int(line[4:])] -= 1
                self.answers += 1
                if self.asked is not None:
                    self.times.append(time.perf_counter() - self.asked)
                    self.asked = None
            elif line in _RESULTS:
                self.asked = None
                self.on -= 1
                self.finished += 1

    def owed(self) -> list[float]:
        """Return a list with the seconds since the client's unanswered move; empty if it has none."""
        return [] if self.asked is None else [time.perf_counter() - self.asked]

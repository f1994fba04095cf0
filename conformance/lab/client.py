"""A client on a TCP connection, by trio, with a websocket or TLS on it where that is asked for."""

import ssl
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import trio

from conformance.frames import FrameError, Handshake
from conformance.lab.workers import LoadError
from conformance.targets import Address

PATIENCE = 15.0
"""Seconds in which an answer has to come that needs no thought."""
_CHUNK = 65_536
_HEAD_END = b"\r\n\r\n"
_RESULTS = (b"YOU_WON", b"YOU_LOST", b"DRAW")


class HungUp(LoadError):
    """The server has closed the connection, or not let the client in."""

    def __init__(self, why: str = "the server hung up") -> None:
        super().__init__(why)


class Refusal(LoadError):
    """The server sent an error."""


class Client:
    """One connection."""

    def __init__(self, stream: trio.SocketStream | trio.SSLStream[trio.SocketStream]) -> None:
        self.stream = stream
        self._lines: list[bytes] = []
        """Lines that were received and not yet read, the next one last."""
        self._rest = b""

    async def say(self, data: bytes) -> None:
        """Send. Raises HungUp."""
        try:
            await self.stream.send_all(data)
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            raise HungUp from None

    async def leave(self) -> None:
        """Send no more; with TLS that is the end of the connection. Raises HungUp."""
        try:
            if isinstance(self.stream, trio.SSLStream):
                await self.stream.aclose()
            else:
                await self.stream.send_eof()
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            raise HungUp from None

    async def heard(self, most: int = _CHUNK) -> bytes:
        """Return what comes, so many bytes at most. Raises HungUp at the end, which may be a reset."""
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
        """Return all that was not read yet, once the server has hung up."""
        found = [line + b"\n" for line in self._lines[::-1]] + [self._rest]
        self._lines, self._rest = [], b""
        try:
            while True:
                found.append(await self.heard())
        except HungUp:
            return b"".join(found)

    async def drain(self) -> None:
        """Read and drop all that comes. Raises HungUp at its end."""
        while True:
            await self.heard()

    async def shake(self, host: str, resource: str) -> bytes:
        """Open a websocket; return what came behind the answer. Raises HungUp."""
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
        """Return the next line. Raises HungUp; Refusal where the line is an error."""
        line = await self.line()
        if line.startswith(b"Error"):
            raise Refusal(f"the server said {line.decode(errors='replace')!r}")
        return line

    async def until(self, wanted: bytes) -> None:
        """Read up to this line, which is to come soon. Raises LoadError."""
        with trio.move_on_after(PATIENCE):
            while await self.reply() != wanted:
                pass
            return
        raise LoadError(f"no {wanted.decode()!r} within {PATIENCE:g} s")

    async def enter(self, name: str) -> None:
        """Send a name, and wait until it is accepted. Raises LoadError."""
        await self.say(b"NAME %s\n" % name.encode())
        await self.until(b"SUCCESS")


@asynccontextmanager
async def connected(
    address: Address, source: str | None = None, tls: ssl.SSLContext | None = None
) -> AsyncIterator[Client]:
    """Connect for as long as the block lasts. `source`: the address to come from. Raises HungUp."""
    try:
        stream = await trio.open_tcp_stream(address.host, address.port, local_address=source)
    except OSError as error:
        raise HungUp(f"cannot connect: {error}") from None
    try:
        yield Client(stream if tls is None else trio.SSLStream(stream, tls, server_hostname=address.host))
    finally:
        await trio.aclose_forcefully(stream)


def request(path: str, web: Address) -> bytes:
    """Return a request in HTTP/1.0, which is answered by a body as it is, without a word on its pieces."""
    return f"GET {path} HTTP/1.0\r\nHost: {web.authority}\r\n\r\n".encode()


@asynccontextmanager
async def asked(web: Address, path: str) -> AsyncIterator[Client]:
    """Ask for a path; the client of the block receives the body next. Raises LoadError."""
    async with connected(web) as client:
        await client.say(request(path, web))
        status = await client.line()
        if b" 200" not in status:
            raise LoadError(f"the web answers {status.decode(errors='replace').strip()!r} to {path}")
        while (await client.line()).strip():
            pass
        yield client


class HouseGames:
    """Games between clients, which move at once, and house players, and counts of them."""

    def __init__(self, pause: float = 0.0) -> None:
        """`pause`: seconds before each of a client's moves."""
        self.on = 0
        """Games that have begun and not ended."""
        self.begun = 0
        self.finished = 0
        self.answers = 0
        """Moves of house players."""
        self.times: list[float] = []
        """Seconds from a client's move to the answer."""
        self.asked: float | None = None
        """When the client moved, if it waits for the answer; of one client alone."""
        self._pause = pause

    async def play(self, client: Client, player: str) -> None:
        """Play against a house player without end. Raises HungUp, Refusal."""
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
        """Return the seconds since the move that is not answered yet, in a list; empty where none is open."""
        return [] if self.asked is None else [time.perf_counter() - self.asked]

"""A client on a TCP connection, by trio: it says, hears, and opens a websocket where its dialect has one."""

import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import trio

from conformance.frames import FrameError, Handshake
from conformance.lab.jobs import LoadError
from conformance.targets import Address

_CHUNK = 65_536
_HEAD_END = b"\r\n\r\n"


class HungUp(LoadError):
    """The server has closed the connection, or not let the client in."""

    def __init__(self, why: str = "the server hung up") -> None:
        super().__init__(why)


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
        """Read all that comes, to no effect. Raises HungUp at its end."""
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


@asynccontextmanager
async def connected(
    address: Address, source: str | None = None, tls: ssl.SSLContext | None = None
) -> AsyncIterator[Client]:
    """A connection, for as long as the block lasts. `source`: the address to come from. Raises HungUp."""
    try:
        stream = await trio.open_tcp_stream(address.host, address.port, local_address=source)
    except OSError as error:
        raise HungUp(f"cannot connect: {error}") from None
    try:
        yield Client(stream if tls is None else trio.SSLStream(stream, tls, server_hostname=address.host))
    finally:
        await trio.aclose_forcefully(stream)


@asynccontextmanager
async def asked(web: Address, path: str) -> AsyncIterator[Client]:
    """A connection on which the body of what is at a path comes next. Raises LoadError."""
    async with connected(web) as client:
        # A server that is asked in HTTP/1.0 sends a body as it is, without a word on its pieces.
        await client.say(f"GET {path} HTTP/1.0\r\nHost: {web.authority}\r\n\r\n".encode())
        status = await client.line()
        if b" 200" not in status:
            raise LoadError(f"the web answers {status.decode(errors='replace').strip()!r} to {path}")
        while (await client.line()).strip():
            pass
        yield client

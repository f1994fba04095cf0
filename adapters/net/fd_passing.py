"""Passes clients' sockets from the server to the web process.

Knows both ends, and the data sent with a socket: the bytes already read from it, and the client's address.
Does not know HTTP. Each socket is sent in one datagram, over a pair of sockets that outlives the web process.
If the web process dies, its successor gets the sockets that are on their way.
"""

import socket
from enum import IntFlag

import trio

LONGEST = 1 << 16
"""The most bytes that may be sent with a socket."""
LIMIT = 15.0
"""Seconds to wait for room if many sockets were sent and the web process has not received them yet."""
PIECE = 1 << 14
"""The most bytes that `PassedStream.receive_some` reads by default."""


class _Marks(IntFlag):
    SECURE = 1
    SINGLE = 2


class FdPassing:
    """The server's end, which sends sockets. The attribute `socket` is the web process's end."""

    def __init__(self) -> None:
        """Create both ends. Raises OSError."""
        self._ours, self.socket = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 2 * LONGEST)
        self._ours.setblocking(False)
        self._turn = trio.Lock()

    async def give(
        self, number: int, begun: bytes, address: str, *, is_secure: bool, is_single: bool
    ) -> None:
        """Send a copy of the socket with file descriptor `number`, and its client's `address`.

        `begun` are the bytes that were already read from the socket. `begun` and `address` together have at
        most `LONGEST` bytes. Raises OSError, and TimeoutError if there is no room within `LIMIT` seconds.
        """
        marks = (_Marks.SECURE if is_secure else 0) | (_Marks.SINGLE if is_single else 0)
        place = address.encode()
        data = bytes((marks, len(place))) + place + begun
        with trio.move_on_after(LIMIT):
            if self._turn.locked() or not self._sends(data, number):
                async with self._turn:  # a lock costs a turn of the event loop, which may take long
                    while not self._sends(data, number):
                        await trio.lowlevel.wait_writable(self._ours)
            return
        raise TimeoutError

    def close(self) -> None:
        """Close both ends."""
        self._ours.close()
        self.socket.close()

    def _sends(self, data: bytes, number: int) -> bool:
        """Send at once; return False if there is no room."""
        try:
            socket.send_fds(self._ours, [data], [number])
        except BlockingIOError:
            return False
        return True


class PassedStream(trio.abc.HalfCloseableStream):
    """A client's stream. The server has already read its first bytes."""

    def __init__(self, taken: socket.socket, data: bytes) -> None:
        """Wrap the socket `taken`. `data` is the datagram that came with it."""
        marks, end = data[0], 2 + data[1]
        self._stream = trio.SocketStream(trio.socket.from_stdlib_socket(taken))
        self._begun = data[end:]
        self.socket = self._stream.socket
        self.address = data[2:end].decode()
        """The client's host, an IP address; empty if it is unknown."""
        self.is_secure = bool(marks & _Marks.SECURE)
        """Whether the client uses HTTPS."""
        self.is_single = bool(marks & _Marks.SINGLE)
        """Whether to answer only one request."""

    async def receive_some(self, max_bytes: int | None = None) -> bytes:
        """Return the next bytes; no bytes at the end of the stream."""
        if self._begun:
            data, self._begun = self._begun, b""
            await trio.lowlevel.checkpoint()
            return data
        return bytes(await self._stream.receive_some(max_bytes or PIECE))

    async def send_all(self, data: bytes | bytearray | memoryview) -> None:
        """Send all of `data`."""
        await self._stream.send_all(data)

    async def wait_send_all_might_not_block(self) -> None:
        """Wait until there may be room for more."""
        await self._stream.wait_send_all_might_not_block()

    async def send_eof(self) -> None:
        """Send the end of the stream to the client."""
        await self._stream.send_eof()

    async def aclose(self) -> None:
        """Close both directions."""
        await self._stream.aclose()


class PassedListener(trio.abc.Listener[PassedStream]):
    """The web process's end: a listener that returns the passed streams."""

    def __init__(self, taken: socket.socket) -> None:
        """Wrap the socket `taken`. `aclose` closes it."""
        self.socket = trio.socket.from_stdlib_socket(taken)
        self._taken = taken

    async def accept(self) -> PassedStream:
        """Return the next stream. Raises OSError."""
        while True:
            await trio.lowlevel.wait_readable(self.socket)
            try:
                data, numbers, _, _ = socket.recv_fds(self._taken, LONGEST + 2, 1)
            except BlockingIOError:
                continue
            if numbers:  # otherwise this process has too many open files to receive it
                return PassedStream(socket.socket(fileno=numbers[0]), data)

    async def aclose(self) -> None:
        """Close the socket."""
        self.socket.close()
        await trio.lowlevel.checkpoint()

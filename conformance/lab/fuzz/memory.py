"""A connection in memory. Its server's end has the methods of a socket."""

import errno
import socket
from collections.abc import Callable

import trio

from adapters.net.epoll import Ready

_TCP_INFO = 64
"""The length of the struct tcp_info that `getsockopt` returns, in bytes."""


class MemorySocket:
    """The server's end. The methods in the second half act as the client."""

    family, type, proto = socket.AF_INET, socket.SOCK_STREAM, 0

    def __init__(self, address: str = "192.0.2.1", capacity: int = 1 << 30) -> None:
        """`capacity`: bytes that the client's system buffers before the client reads them."""
        self.address = address
        self.capacity = capacity
        self.silence = 0.0
        """For how many seconds the client's system has acknowledged nothing."""
        self.unanswered_probes = 0
        self.sent = bytearray()
        """Bytes that the server has sent and the client has not taken."""
        self.has_ended = self.is_closed = self.is_reset = False
        """Whether the server has ended its sending side; has closed; whether the connection is reset."""
        self.closings = 0
        """How often waiting tasks were told that the socket is about to be closed."""
        self.arrived = bytearray()
        """Bytes that the client has sent and the server has not read."""
        self._client_ended = False
        self.changed = trio.lowlevel.ParkingLot()

    @property
    def is_readable(self) -> bool:
        """Whether `recv` would not block."""
        return bool(self.arrived) or self._client_ended or self.is_reset

    @property
    def is_writable(self) -> bool:
        """Whether `send` would not block."""
        return len(self.sent) < self.capacity or self.is_reset

    def recv(self, size: int, flags: int = 0) -> bytes:
        """Return received bytes, as a socket does. Raises BlockingIOError."""
        self.check()
        if not self.is_readable:
            raise BlockingIOError
        data = bytes(self.arrived[:size])
        if not flags & socket.MSG_PEEK:
            del self.arrived[:size]
        return data

    def send(self, data: bytes | bytearray) -> int:
        """Accept as many bytes as there is room for; return their number. Raises BlockingIOError."""
        self.check()
        taken = min(len(data), self.capacity - len(self.sent))
        if taken <= 0 < len(data):
            raise BlockingIOError
        self.sent += data[:taken]
        return taken

    def shutdown(self, how: int) -> None:
        """End the sending side."""
        self.check()
        self.has_ended = True

    def close(self) -> None:
        """Close both directions."""
        self.is_closed = True

    def fileno(self) -> int:
        """Return 0, or -1 after `close`."""
        return -1 if self.is_closed else 0

    def getpeername(self) -> tuple[str, int]:
        """Return the client's address."""
        return self.address, 50_000

    def getsockname(self) -> tuple[str, int]:
        """Return the server's address."""
        return "192.0.2.7", 8080

    def getsockopt(self, level: int, option: int, size: int = 0) -> bytes:
        """Return the struct tcp_info of the connection."""
        info = bytearray(_TCP_INFO)
        info[3] = self.unanswered_probes
        info[56:60] = int(self.silence * 1000).to_bytes(4, "little")
        return bytes(info[:size])

    def setsockopt(self, level: int, option: int, value: int) -> None:
        """Do nothing."""

    def check(self) -> None:
        """Raise the system's error if the connection is closed or reset."""
        if self.is_closed:
            raise OSError(errno.EBADF, "closed")
        if self.is_reset:
            raise ConnectionResetError

    # The client's end.

    def arrives(self, data: bytes) -> None:
        """Deliver bytes from the client."""
        self.arrived += data
        self.changed.unpark_all()

    def ends(self) -> None:
        """End the client's sending side."""
        self._client_ended = True
        self.changed.unpark_all()

    def resets(self) -> None:
        """Reset the connection."""
        self.is_reset = True
        self.arrived.clear()
        self.changed.unpark_all()

    def take(self) -> bytes:
        """Return everything that the server has sent, as if the client had read it."""
        data = bytes(self.sent)
        self.sent.clear()
        self.changed.unpark_all()
        return data


class MemoryPoller:
    """A `Poller` for sockets in memory."""

    def __init__(self) -> None:
        self._listening: set[object] = set()

    async def listen(self, sock: socket.socket, ready: Ready) -> None:
        """Call `ready` each time the socket is readable, until it returns False."""
        memory = _memory(sock)
        self._listening.add(sock)
        try:
            goes_on = True
            while goes_on:
                await trio.lowlevel.checkpoint()
                await _until(lambda: memory.is_readable, memory)
                goes_on = ready()
        finally:
            self._listening.discard(sock)

    def listens(self, sock: socket.socket) -> bool:
        """Return whether `listen` is active for the socket."""
        return sock in self._listening

    async def wait_writable(self, sock: socket.socket) -> None:
        """Wait until the socket is writable."""
        memory = _memory(sock)
        await trio.lowlevel.checkpoint()
        await _until(lambda: memory.is_writable, memory)

    def closing(self, sock: socket.socket) -> None:
        """End all waiting for a socket, before it is closed."""
        _memory(sock).closings += 1
        _memory(sock).changed.unpark_all()


async def _until(is_so: Callable[[], bool], memory: MemorySocket) -> None:
    closings = memory.closings
    while not is_so():
        if memory.closings > closings or memory.is_closed:
            raise trio.ClosedResourceError
        await memory.changed.park()


def _memory(sock: object) -> MemorySocket:
    assert isinstance(sock, MemorySocket)
    return sock

"""One client's TCP connection, with or without TLS.

Knows the system's socket, the bytes that wait to be sent, and when bytes arrived. Does not know what the
bytes mean. Methods without `async` do not wait. Bytes that cannot be sent at once stay in the backlog, in
order, until a task drains it. So cancelling a task never splits a message.
"""

import socket
import ssl
import sys
from contextlib import suppress
from math import inf

import trio

from adapters.net.epoll import Poller, Ready, TaskPoller
from adapters.net.tls import Session
from gateway.runtime.accepting import KEEPALIVE_INTERVAL
from gateway.runtime.addresses import origin_at
from gateway.runtime.turns import Turns

GOODBYE_LIMIT = 1.0
"""Seconds to wait for the end of the peer's stream before closing."""
BACKLOG_LIMIT = 64 * 1024 * 1024
"""The most bytes that may wait for all clients of a server together."""

ANSWERS_LIMIT = 256 * 1024
"""The most bytes that may wait for a client after the TLS session has added an answer. If more wait, the
client is treated as gone."""

_CHUNK = 4096
"""The most bytes read at once. Further bytes stay in the system's buffer."""
_WITH_ADDRESS = (socket.AF_INET, socket.AF_INET6)
_HAS_TCP_INFO = sys.platform == "linux"
"""Whether the system reports the state of a connection, in Linux's struct tcp_info."""
_INFO = 8
"""The number of bytes of struct tcp_info to read."""
_RETRANSMITS, _PROBES = 2, 3
"""Offsets in struct tcp_info: tcpi_retransmits, how often data was sent again, and tcpi_probes, the number of
keepalive probes in a row without an answer."""
_LAST_ACK = 56
"""Offset of tcpi_last_ack_recv: milliseconds since the peer's latest acknowledgement, 4 bytes."""


class Backlogs:
    """The sizes of all backlogs of a server, one for each client.

    If their sum exceeds `limit` bytes, the client with the largest backlog is given up.
    """

    def __init__(self, limit: int = BACKLOG_LIMIT) -> None:
        self._limit = limit
        self._sizes: dict[Socket, int] = {}
        self._total = 0

    @property
    def total(self) -> int:
        """The sum of the sizes. It may be too high: bytes sent since the latest `set_size` still count."""
        return self._total

    def set_size(self, sock: "Socket", size: int) -> None:
        """Record that `size` bytes wait for a socket. Give up sockets while the sum is too large."""
        self._total += size - self._sizes.pop(sock, 0)
        if size:
            self._sizes[sock] = size
        while self._total > self._limit:
            largest = max(self._sizes, key=lambda each: self._sizes[each])
            self._total -= self._sizes.pop(largest)
            largest.give_up()


BROKEN = trio.BrokenResourceError, trio.ClosedResourceError
"""The exceptions of a `Socket`'s methods."""


class Socket:
    """A connection.

    Its methods raise trio.BrokenResourceError if the peer is gone, trio.ClosedResourceError if this end is
    closed. Only one task may read at a time; any task may write.
    """

    __slots__ = (
        "_backlog",
        "_backlogs",
        "_drained",
        "_draining",
        "_lingers",
        "_poller",
        "_pushed",
        "_socket",
        "_tls",
        "address",
        "ended",
        "is_given_up",
        "read_at",
        "reads",
        "turns",
    )

    def __init__(
        self,
        sock: socket.socket,
        poller: Poller | None = None,
        turns: Turns | None = None,
        backlogs: Backlogs | None = None,
    ) -> None:
        """Wrap `sock`, which has to be non-blocking. `close` closes it."""
        self.address = address_of(sock)
        """The IP address of the peer, or of the client behind a trusted proxy; empty if unknown."""
        self.turns = turns or Turns()
        """The turns of the event loop. They limit the work that is done in each turn."""
        self.read_at = trio.current_time()
        """When the latest bytes arrived, in trio's time. If that is not known exactly, this is the earliest
        possible time."""
        self.reads = 0
        """How many times bytes were read. A change shows that the peer has sent something."""
        self.ended = False
        """Whether the end of the stream was read: no more bytes come."""
        self._socket = sock
        self._poller = poller or TaskPoller()
        self._backlogs = backlogs or Backlogs()
        self._tls: Session | None = None
        self._pushed = b""
        self._backlog = bytearray()
        self._draining = False
        self._drained = trio.lowlevel.ParkingLot()
        self._lingers = False
        self.is_given_up = False
        """Whether `give_up` was called: all backlogs together were too large, and this one was the
        largest."""

    @property
    def origin(self) -> str:
        """The address for which limits count the client; see `origin_at`."""
        return origin_at(self.address)

    @property
    def host(self) -> str:
        """The host at which the peer reached this server, in the form that URLs use."""
        if self._socket.family not in _WITH_ADDRESS:
            return "localhost"
        host = self._socket.getsockname()[0].partition("%")[0]
        return f"[{host}]" if self._socket.family == socket.AF_INET6 else host

    @property
    def is_secure(self) -> bool:
        """Whether the connection uses TLS."""
        return self._tls is not None

    def secure(self, session: Session, data: bytes = b"") -> None:
        """Use TLS from now on, with a `session` whose handshake is done.

        `data` are the bytes that arrived after the handshake. The next read returns them decrypted.
        """
        self._tls = session
        self._pushed = self._decrypted(data)

    # Whether the peer is there.

    @property
    def is_reachable(self) -> bool:
        """Whether the peer seems reachable: no probe is unanswered, and no data was resent more than once."""
        if not _HAS_TCP_INFO or self._socket.family not in _WITH_ADDRESS:
            return True
        try:
            info = self._socket.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _INFO)
        except OSError:
            return False
        return is_answered(info)

    @property
    def silence(self) -> float:
        """Seconds since the peer's system last acknowledged data; 0 if this system does not report that."""
        if not _HAS_TCP_INFO or self._socket.family not in _WITH_ADDRESS:
            return 0.0
        try:
            info = self._socket.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _LAST_ACK + 4)
        except OSError:
            return inf
        return int.from_bytes(info[_LAST_ACK:], sys.byteorder) / 1000

    def probe_after(self, seconds: int) -> None:
        """Set the seconds of silence after which the kernel probes the peer (TCP keep-alive)."""
        if _HAS_TCP_INFO and self._socket.family in _WITH_ADDRESS:
            with suppress(OSError):  # the socket is closed
                # A packet may be lost, so the kernel sends several probes before it gives up.
                self._socket.setsockopt(
                    socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, min(seconds, KEEPALIVE_INTERVAL)
                )
                self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, seconds)

    # Reading.

    @property
    def is_readable(self) -> bool:
        """Whether unread bytes have arrived, or the end of the stream."""
        try:
            self._socket.recv(1, socket.MSG_PEEK)
        except BlockingIOError:
            return False
        except OSError:
            pass
        return True

    @property
    def is_read(self) -> bool:
        """Whether a task listens, so that arriving bytes are read at once."""
        return self._poller.listens(self._socket)

    @property
    def is_quiet(self) -> bool:
        """Whether all bytes that arrived were read, and a task listens for more."""
        return self.is_read and not self.is_readable

    async def listen(self, ready: Ready) -> None:
        """Call `ready` each time there is something to read, until it returns False.

        `ready` has to call `read`. Raises the exceptions of both.
        """
        if (self._pushed or self.ended) and not ready():
            return
        if self._lingers:
            raise trio.ClosedResourceError
        await self._poller.listen(self._open_socket(), ready)

    def read(self) -> bytes:
        """Return the bytes that have arrived; no bytes if there are none, or the stream has `ended`."""
        if self._pushed:
            data, self._pushed = self._pushed, b""
            return data
        if self._lingers:
            raise trio.ClosedResourceError
        self.read_at = self.turns.arrived()
        return self._received()

    async def receive_some(self) -> bytes:
        """Wait for bytes and return them; no bytes at the end of the stream."""
        data = b""

        def ready() -> bool:
            nonlocal data
            data = self.read()
            return not (data or self.ended)

        await self.listen(ready)
        return data

    def push_back(self, data: bytes) -> None:
        """Put `data` back, so that the next read begins with it."""
        self._pushed = data

    def _received(self) -> bytes:
        try:
            data = self._socket.recv(_CHUNK)
        except BlockingIOError:
            return b""
        except OSError as error:
            raise self._error() from error
        if data:
            self.reads += 1
        else:
            self.ended = True
        return data if self._tls is None else self._decrypted(data)

    def _decrypted(self, data: bytes) -> bytes:
        """Decrypt `data`, and return everything that can be decrypted now.

        If decrypted bytes stayed in the session, they would be read only after the client has sent more.
        """
        assert self._tls is not None
        try:
            decrypted = self._tls.decrypt(data)
        except ssl.SSLError as error:
            raise trio.BrokenResourceError from error
        self.ended = self.ended or self._tls.has_ended
        if answer := self._tls.outgoing():  # TLS's own answer; bytes that are not sent wait for `drain`
            with suppress(*BROKEN):  # still return the decrypted bytes; the next write raises
                self._send(answer)
            if len(self._backlog) > ANSWERS_LIMIT:
                raise trio.BrokenResourceError
        return decrypted

    # Writing.

    @property
    def waiting(self) -> int:
        """The number of bytes that were written and are not sent yet."""
        return len(self._backlog)

    def write(self, data: bytes) -> bool:
        """Send `data` after the bytes that wait; return False if some of it waits for `drain`."""
        if self.is_given_up:
            raise trio.BrokenResourceError
        if self._tls is None:
            return self._send(data)
        try:
            return self._send(self._tls.encrypt(data))
        except ssl.SSLError as error:
            raise self._error() from error

    def _send(self, data: bytes) -> bool:
        sent = 0
        if not self._backlog:
            try:
                sent = self._socket.send(data)
            except BlockingIOError:
                pass
            except OSError as error:
                raise self._error() from error
            if sent == len(data):
                return True
        self._backlog += data[sent:]
        self._backlogs.set_size(self, len(self._backlog))
        return False

    async def drain(self) -> None:
        """Wait until all written bytes are sent."""
        while self._backlog:
            if self._draining:
                await self._drained.park()
                continue
            self._draining = True
            try:
                await self._send_some()
            finally:
                self._draining = False
                self._drained.unpark_all()
                if not self._backlog:
                    self._backlogs.set_size(self, 0)
        if self.is_given_up:
            raise trio.BrokenResourceError

    async def _send_some(self) -> None:
        """Wait until the system accepts bytes, then send some of the backlog."""
        await self._poller.wait_writable(self._open_socket())
        self._send_first(len(self._backlog))

    def _send_first(self, size: int) -> int:
        """Send bytes of the backlog without waiting, at most `size`; return how many were sent."""
        try:
            sent = self._socket.send(self._backlog[:size])
        except BlockingIOError:
            return 0
        except OSError as error:
            raise self._error() from error
        del self._backlog[:sent]
        return sent

    async def send_all(self, data: bytes) -> None:
        """Send `data`, and wait until all of it is sent."""
        if not self.write(data):
            await self.drain()

    def give_up(self) -> None:
        """Drop the backlog and treat the peer as gone. Waiting tasks get trio.ClosedResourceError."""
        self.is_given_up = True
        self._backlog.clear()
        self._poller.closing(self._socket)

    # Ending.

    def fileno(self) -> int:
        """Return the file descriptor, for another process. The connection MUST NOT use TLS."""
        assert self._tls is None
        return self._open_socket().fileno()

    def close(self) -> None:
        """Close both directions and drop the backlog."""
        self._backlog.clear()
        self._backlogs.set_size(self, 0)
        if self._socket.fileno() >= 0:
            self._poller.closing(self._socket)
            self._socket.close()

    async def linger(self) -> None:
        """Send the backlog and the end of the stream, then close the connection.

        Before closing, wait for the end of the peer's stream: closing earlier could reset the connection, and
        bytes on their way would be lost. The call takes at most `GOODBYE_LIMIT` seconds. Raises nothing.
        """
        self._lingers = True
        try:
            with trio.move_on_after(GOODBYE_LIMIT):
                await self._send_end()
                if not self.ended:
                    await self._poller.listen(self._open_socket(), self._drop_some)
        except BROKEN:
            pass
        finally:
            self.close()

    async def _send_end(self) -> None:
        """Send all written bytes and then the end of the stream."""
        if self._tls is not None and not self.is_given_up:
            self._send(self._tls.end())
        await self.drain()
        try:
            self._open_socket().shutdown(socket.SHUT_WR)
        except OSError as error:
            raise self._error() from error

    def _drop_some(self) -> bool:
        """Drop what has arrived; return whether more may come."""
        self._received()
        return not self.ended

    def _open_socket(self) -> socket.socket:
        if self._socket.fileno() < 0:
            raise trio.ClosedResourceError
        return self._socket

    def _error(self) -> Exception:
        """Return the exception to raise for an OSError.

        It is trio.ClosedResourceError if this end is closed, else trio.BrokenResourceError.
        """
        return trio.ClosedResourceError() if self._socket.fileno() < 0 else trio.BrokenResourceError()


def taken(stream: trio.SocketStream) -> socket.socket:
    """Take the socket out of a stream, and return it as a non-blocking socket.

    The stream is closed. trio has set TCP_NODELAY on the socket.
    """
    sock = stream.socket
    plain = socket.socket(sock.family, sock.type, sock.proto, sock.detach())
    plain.setblocking(False)
    return plain


def address_of(sock: socket.socket | trio.socket.SocketType) -> str:
    """Return the IP address of the peer; empty if it is unknown."""
    if sock.family not in _WITH_ADDRESS:
        return ""
    try:
        return str(sock.getpeername()[0])
    except OSError:  # the peer has gone
        return ""


def is_answered(info: bytes) -> bool:
    """Return whether a peer seems reachable. `info` has the first bytes of its connection's tcp_info."""
    return info[_PROBES] == 0 and info[_RETRANSMITS] <= 1

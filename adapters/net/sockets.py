"""A TCP connection that can be written to without waiting.

Knows sockets, and trio's way of waiting for one. Does not know what is sent, nor what waits to be sent. A
`DirectSocket` sends at once, in its caller's task. It also waits for bytes before it asks for them, where
trio.SocketStream asks first and mostly in vain, and lets epoll do the waiting where there is epoll.
"""

import socket
import sys
from contextlib import suppress
from functools import lru_cache
from ipaddress import IPv6Address, IPv6Network, ip_address
from math import inf

import trio

from adapters.net.epoll import EpollReader, Ready
from gateway.runtime.accepting import KEEPALIVE_INTERVAL

_WITH_ADDRESS = (socket.AF_INET, socket.AF_INET6)
_PREFIX = 64
"""Bits of an IPv6 address that name a network."""
_TELLS = sys.platform == "linux"
"""Whether the system says what a connection goes through, in Linux's words."""
_INFO = 8
"""Bytes of Linux's struct tcp_info that are looked at."""
_RETRANSMITS, _PROBES = 2, 3
"""Where in these stands how often data was sent anew, and how many probes in a row were not answered."""
_LAST_ACK = 56
"""Where in struct tcp_info stands how many milliseconds ago the peer acknowledged anything: 4 bytes."""


class DirectSocket:
    """A TCP connection. Takes the socket of `stream`, which is closed from then on.

    Errors of the connection are those of trio's streams.
    """

    __slots__ = ("_epoll", "_socket", "address")

    def __init__(self, stream: trio.SocketStream, epoll: EpollReader | None = None) -> None:
        taken = stream.socket  # trio has set TCP_NODELAY
        self.address = address_of(taken)
        """Where the peer is: see `address_of`."""
        self._socket = socket.socket(taken.family, taken.type, taken.proto, taken.detach())
        self._socket.setblocking(False)
        self._epoll = epoll

    @property
    def host(self) -> str:
        """The address at which the peer reached this server, as in a URL."""
        if self._socket.family not in _WITH_ADDRESS:
            return "localhost"
        host = self._socket.getsockname()[0].partition("%")[0]
        return f"[{host}]" if self._socket.family == socket.AF_INET6 else host

    @property
    def is_readable(self) -> bool:
        """Whether there is something to read, the end of the stream included."""
        try:
            self._socket.recv(1, socket.MSG_PEEK)
        except BlockingIOError:
            return False
        except OSError:
            pass
        return True

    @property
    def is_reachable(self) -> bool:
        """Whether the peer answers: no probe is without an answer, no data was sent anew more than once."""
        if not _TELLS or self._socket.family not in _WITH_ADDRESS:
            return True
        try:
            info = self._socket.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _INFO)
        except OSError:
            return False
        return is_answered(info)

    @property
    def silence(self) -> float:
        """Seconds since the system of the peer acknowledged anything; 0 where this system does not say."""
        if not _TELLS or self._socket.family not in _WITH_ADDRESS:
            return 0.0
        try:
            info = self._socket.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _LAST_ACK + 4)
        except OSError:
            return inf
        return int.from_bytes(info[_LAST_ACK:], sys.byteorder) / 1000

    def probe_after(self, seconds: int) -> None:
        """Let the system ask for an acknowledgement after so much silence, which the peer does not notice."""
        if _TELLS and self._socket.family in _WITH_ADDRESS:
            with suppress(OSError):  # it is closed
                # One packet may be lost, so there are several probes before anybody judges the peer.
                self._socket.setsockopt(
                    socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, min(seconds, KEEPALIVE_INTERVAL)
                )
                self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, seconds)

    @property
    def is_listened_to(self) -> bool:
        """Whether what arrives is read at once, where a task listens: not so while it has yet to go on."""
        return self._epoll is None or self._epoll.listens(self._socket)

    async def listen(self, ready: Ready) -> None:
        """Call `ready`, which reads, each time there is something to read, until it returns False.

        Raises what `ready` raises.
        """
        if self._epoll is not None:
            await self._epoll.listen(self._open_socket(), ready)
            return
        await trio.lowlevel.wait_readable(self._open_socket())
        while ready():
            await trio.lowlevel.wait_readable(self._open_socket())

    def read(self, max_bytes: int) -> bytes | None:
        """Return what has arrived, no bytes at the end of the stream.

        None where there is nothing after all.
        """
        try:
            return self._socket.recv(max_bytes)
        except BlockingIOError:
            return None
        except OSError as error:
            raise self._error() from error

    def send_some(self, data: bytes | bytearray) -> int:
        """Send as much of `data` as leaves at once; return how many bytes that were."""
        try:
            return self._socket.send(data)
        except BlockingIOError:
            return 0
        except OSError as error:
            raise self._error() from error

    async def send_more(self, data: bytes | bytearray) -> int:
        """Send some of `data`, when it can leave; return how many bytes that were."""
        await trio.lowlevel.wait_writable(self._open_socket())
        return self.send_some(data)

    async def send_eof(self) -> None:
        """Let the peer know that no more comes, at once."""
        try:
            self._open_socket().shutdown(socket.SHUT_WR)
        except OSError as error:
            raise self._error() from error

    def fileno(self) -> int:
        """Return the system's number of the socket. Raises trio.ClosedResourceError."""
        return self._open_socket().fileno()

    def close(self) -> None:
        """Close both directions."""
        if self._socket.fileno() >= 0:
            trio.lowlevel.notify_closing(self._socket)
            if self._epoll is not None:
                self._epoll.closing(self._socket)
            self._socket.close()

    def _open_socket(self) -> socket.socket:
        if self._socket.fileno() < 0:
            raise trio.ClosedResourceError
        return self._socket

    def _error(self) -> Exception:
        """Return what a failure of the system's means."""
        return trio.ClosedResourceError() if self._socket.fileno() < 0 else trio.BrokenResourceError()


def address_of(sock: trio.socket.SocketType) -> str:
    """Return the IP address of the peer; empty where nobody knows."""
    if sock.family not in _WITH_ADDRESS:
        return ""
    try:
        return str(sock.getpeername()[0])
    except OSError:  # the peer has gone
        return ""


@lru_cache(1024)
def origin_at(host: str) -> str:
    """Return what clients at `host`, an address, have in common: the address itself, or an IPv6 network.

    A client that has one address of an IPv6 network has all of them. Empty where `host` is.
    """
    if not host:
        return ""
    address = ip_address(host.partition("%")[0])
    if isinstance(address, IPv6Address):
        network = IPv6Network((int(address), _PREFIX), strict=False)
        return str(address.ipv4_mapped or network)
    return str(address)


def is_answered(info: bytes) -> bool:
    """Whether a peer answers, by the first bytes of Linux's struct tcp_info."""
    return info[_PROBES] == 0 and info[_RETRANSMITS] <= 1

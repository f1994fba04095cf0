"""Accepting connections.

Knows listeners and what a system says that cannot accept. Does not know what a connection is for. It takes
all who wait, up to `AT_ONCE`, in one turn of the loop, where trio.serve_listeners takes one: while a
thousand games are on a turn takes tens of milliseconds, and thousands who come at once would wait for a
minute.

A peer that has vanished without a word is found by the system: one that is sent nothing after 25 seconds, one
that is sent something 25 seconds after that. So it takes 50 seconds at most, whatever is said meanwhile.

The rule it keeps: no error of accept() ends a listener. One that concerns a single connection is passed over;
any other may last, so it is logged, now and then, and accept() is tried again after a pause.

A connection is an open file, of which a process may have so many. Some are kept for what the server opens
itself, so that clients cannot take them all; further connections wait until another has ended.
"""

import errno
import logging
import os
import resource
import socket
import sys
from collections.abc import Awaitable, Callable
from contextlib import suppress
from math import inf
from typing import TypeAlias

import trio

AT_ONCE = 16
"""Connections taken before others get a turn."""
PAUSE = 0.1
"""Seconds until the next attempt, where the system cannot accept."""
LOG_PERIOD = 60.0
"""Seconds for which an error is not logged again."""
RESERVE = 64
"""Files that are kept for the server: its listeners, its database, its log, its processes."""
RESERVE_PER_CORE = 12
"""Files that are kept for worker processes: one of each of four kinds, with three files each."""
LEAST = 4
"""One part in so many of all files is for connections, however many are kept."""

_KEEPALIVE = (
    (socket.SOL_SOCKET, "SO_KEEPALIVE", 1),
    (socket.IPPROTO_TCP, "TCP_KEEPIDLE", 10),
    (socket.IPPROTO_TCP, "TCP_KEEPALIVE", 10),  # what macOS calls the same
    (socket.IPPROTO_TCP, "TCP_KEEPINTVL", 5),
    (socket.IPPROTO_TCP, "TCP_KEEPCNT", 3),
    (socket.IPPROTO_TCP, "TCP_USER_TIMEOUT", 25_000),
)
"""Seconds of silence before the first probe, and between probes; how many; milliseconds that data may take.

A system that lacks one of these has its own figure."""

_PASSING = frozenset(
    getattr(errno, name)
    for name in (
        "ECONNABORTED",
        "ECONNRESET",
        "EHOSTDOWN",
        "EHOSTUNREACH",
        "ENETDOWN",
        "ENETUNREACH",
        "ENONET",
        "ENOPROTOOPT",
        "ENOSR",
        "EOPNOTSUPP",
        "EPERM",
        "EPROTO",
        "EPROTONOSUPPORT",
        "ESOCKTNOSUPPORT",
        "ETIMEDOUT",
    )
    if hasattr(errno, name)
)
"""What accept() says of one connection that came to nothing: the list of trio.SocketListener."""

_Serve: TypeAlias = Callable[[trio.SocketStream], Awaitable[None]]

logger = logging.getLogger(__name__)


def room_for_connections() -> trio.Semaphore:
    """Return what bounds the connections of all listeners together: how many more may be open."""
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return trio.Semaphore(connections_within(sys.maxsize if files == resource.RLIM_INFINITY else files))


def connections_within(files: int) -> int:
    """Return how many connections may be open where the process may have `files` open."""
    return max(files // LEAST, files - RESERVE - RESERVE_PER_CORE * (os.cpu_count() or 1), 1)


async def accept(
    listener: trio.SocketListener, serve: _Serve, nursery: trio.Nursery, room: trio.Semaphore
) -> None:
    """Serve all who connect, each in a task of `nursery`, until cancelled; then close the listener.

    A connection takes one of `room` until `serve` returns.
    """
    async with listener:
        with socket.socket(fileno=os.dup(listener.socket.fileno())) as listening:
            await _accept(listening, serve, nursery, room)


async def _accept(
    listening: socket.socket, serve: _Serve, nursery: trio.Nursery, room: trio.Semaphore
) -> None:
    listening.setblocking(False)
    troubles = Troubles()
    while True:
        await trio.lowlevel.wait_readable(listening)
        try:
            if not room.value:
                raise OSError(errno.EMFILE, "as many are open as the limit of open files allows")
            for _ in range(min(AT_ONCE, room.value)):
                stream = _next(listening)
                room.acquire_nowait()
                nursery.start_soon(_serve, serve, stream, room)
        except BlockingIOError:
            pass
        except OSError as error:
            if error.errno not in _PASSING:
                troubles.log(error)
                await trio.sleep(PAUSE)


async def _serve(serve: _Serve, stream: trio.SocketStream, room: trio.Semaphore) -> None:
    try:
        await serve(stream)
    finally:
        room.release()


class Troubles:
    """Errors of one listener, each kind of which is logged once in a while."""

    def __init__(self) -> None:
        self._logged: dict[int | None, float] = {}
        """When, by errno."""

    def log(self, error: OSError) -> None:
        """Log it, unless one of its kind was logged a little while ago."""
        now = trio.current_time()
        if now >= self._logged.get(error.errno, -inf) + LOG_PERIOD:
            self._logged[error.errno] = now
            words = error.strerror or str(error)
            logger.error(
                "cannot accept connections: %s", words, extra={"event": "cannot_accept", "error": words}
            )


def _next(listening: socket.socket) -> trio.SocketStream:
    """Return the next connection. Raises OSError, BlockingIOError where there is none."""
    connection, _ = listening.accept()
    watch(connection)
    return trio.SocketStream(trio.socket.from_stdlib_socket(connection))


def watch(connection: socket.socket | trio.socket.SocketType) -> None:
    """Let the system find out whether the peer has vanished."""
    for level, name, value in _KEEPALIVE:
        option = getattr(socket, name, None)
        if option is not None:
            with suppress(OSError):  # some systems refuse it once the peer has gone
                connection.setsockopt(level, option, value)

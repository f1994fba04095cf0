"""Accepting connections.

Knows listeners and the errors of accept(); no error ends a listener. Does not know what a connection is for.
Several connections are accepted in one turn of the event loop, because thousands of clients may connect at
once; trio.serve_listeners accepts only one.
"""

import errno
import logging
import os
import resource
import socket
import sys
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TypeAlias

import trio

from gateway.runtime.throttle import Throttle
from gateway.runtime.turns import Turns

COST = 0.0005
"""Estimate of the time, in seconds, from accepting a connection to the first answer to its client."""
PAUSE = 0.1
"""Seconds until the next attempt after an error."""
RESERVE = 64
"""Open files reserved for the server: listeners, database, log, processes."""
RESERVE_PER_CORE = 12
"""Open files reserved for each processor core: four worker processes with three files each."""
LEAST = 4
"""Connections always get at least 1 / `LEAST` of the open files, however large the reserve is."""

KEEPALIVE_IDLE = 10
"""Seconds of silence before the system sends the first keepalive probe."""
KEEPALIVE_INTERVAL = 5
"""Seconds between two keepalive probes."""
_KEEPALIVE = (
    (socket.SOL_SOCKET, "SO_KEEPALIVE", 1),
    (socket.IPPROTO_TCP, "TCP_KEEPIDLE", KEEPALIVE_IDLE),
    (socket.IPPROTO_TCP, "TCP_KEEPALIVE", KEEPALIVE_IDLE),  # the same option on macOS
    (socket.IPPROTO_TCP, "TCP_KEEPINTVL", KEEPALIVE_INTERVAL),
    (socket.IPPROTO_TCP, "TCP_KEEPCNT", 3),
    (socket.IPPROTO_TCP, "TCP_USER_TIMEOUT", 25_000),
)
"""Socket options for keepalive probes, and the time limit for the acknowledgement of data, in milliseconds.

With these options the system detects a vanished peer within 25 seconds. If data is sent to the peer, the 25
seconds begin when it is sent. A system that lacks an option uses its own default."""

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
"""Errors of accept() that concern only one connection. The list is that of trio.SocketListener."""

_Serve: TypeAlias = Callable[[trio.SocketStream], Awaitable[None]]

logger = logging.getLogger(__name__)


def room_for_connections() -> trio.Semaphore:
    """Return a semaphore that counts how many more connections all listeners together may accept."""
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return trio.Semaphore(connections_within(sys.maxsize if files == resource.RLIM_INFINITY else files))


def connections_within(files: int) -> int:
    """Return how many connections a process may have if it can open `files` files. The rest is reserved."""
    return max(files // LEAST, files - RESERVE - RESERVE_PER_CORE * (os.cpu_count() or 1), 1)


def _do_nothing() -> None:
    pass


async def accept(
    listener: trio.SocketListener,
    serve: _Serve,
    nursery: trio.Nursery,
    room: trio.Semaphore,
    paused: Callable[[], None] = _do_nothing,
    turns: Turns | None = None,
) -> None:
    """Serve each connection in a task of `nursery`, until cancelled; then close the listener.

    A connection holds one slot of `room` until `serve` returns. While no slot is free, further connections
    wait in the backlog. After an error that does not concern only one connection, `paused` is called, and the
    next attempt is made `PAUSE` seconds later.
    """
    async with listener:
        with socket.socket(fileno=os.dup(listener.socket.fileno())) as listening:
            await _accept(listening, serve, nursery, room, paused, turns or Turns())


async def _accept(
    listening: socket.socket,
    serve: _Serve,
    nursery: trio.Nursery,
    room: trio.Semaphore,
    paused: Callable[[], None],
    turns: Turns,
) -> None:
    listening.setblocking(False)
    troubles = Troubles()
    while True:
        await trio.lowlevel.wait_readable(listening)
        try:
            if not room.value:
                raise OSError(errno.EMFILE, "as many are open as the limit of open files allows")
            while room.value:
                stream = _next(listening)
                room.acquire_nowait()
                nursery.start_soon(_serve, serve, stream, room)
                if not turns.accepting.take(COST):
                    await trio.lowlevel.checkpoint()
        except BlockingIOError:
            pass
        except (OSError, MemoryError) as error:
            if isinstance(error, MemoryError) or error.errno not in _PASSING:
                paused()
                troubles.log(error)
                await trio.sleep(PAUSE)


async def _serve(serve: _Serve, stream: trio.SocketStream, room: trio.Semaphore) -> None:
    try:
        await serve(stream)
    finally:
        room.release()


class Troubles:
    """Logs the errors of one listener, each kind at most once a minute."""

    def __init__(self) -> None:
        self._log = Throttle()

    def log(self, error: OSError | MemoryError) -> None:
        """Log an error, unless one of its kind was logged within the last minute."""
        if isinstance(error, MemoryError):
            error = OSError(errno.ENOMEM, os.strerror(errno.ENOMEM))
        if self._log.passes(trio.current_time(), error.errno):
            words = error.strerror or str(error)
            logger.error(
                "cannot accept connections: %s", words, extra={"event": "cannot_accept", "error": words}
            )


def _next(listening: socket.socket) -> trio.SocketStream:
    """Return the next connection. Raises OSError; BlockingIOError if there is none."""
    connection, _ = listening.accept()
    watch(connection)
    return trio.SocketStream(trio.socket.from_stdlib_socket(connection))


def watch(connection: socket.socket | trio.socket.SocketType) -> None:
    """Set the socket options with which the system detects that the peer has vanished."""
    for level, name, value in _KEEPALIVE:
        option = getattr(socket, name, None)
        if option is not None:
            with suppress(OSError):  # some systems refuse it after the peer has closed the connection
                connection.setsockopt(level, option, value)

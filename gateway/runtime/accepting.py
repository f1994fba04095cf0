"""Functions that accept connections.

Knows listeners and the errors of accept(), none of which ends a listener; does not know the purpose of a
connection. Thousands of clients may connect at once, so several connections are accepted in one turn of the
event loop; trio.serve_listeners would accept only one.
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
"""The estimated time, in seconds, from accepting a connection to the first answer to its client."""
PAUSE = 0.1
"""The number of seconds until the next attempt after an error."""
RESERVE = 64
"""The number of open files that are reserved for listeners, database, log and processes."""
RESERVE_PER_CORE = 12
"""The number of open files reserved for each processor core: four worker processes use three files each."""
LEAST = 4
"""At least 1 / `LEAST` of the open files are for connections, even if less is left for the server."""

KEEPALIVE_IDLE = 10
"""The number of seconds without data before the system sends the first keepalive probe."""
KEEPALIVE_INTERVAL = 5
"""The number of seconds between two keepalive probes."""
_KEEPALIVE = (
    (socket.SOL_SOCKET, "SO_KEEPALIVE", 1),
    (socket.IPPROTO_TCP, "TCP_KEEPIDLE", KEEPALIVE_IDLE),
    (socket.IPPROTO_TCP, "TCP_KEEPALIVE", KEEPALIVE_IDLE),  # the same option on macOS
    (socket.IPPROTO_TCP, "TCP_KEEPINTVL", KEEPALIVE_INTERVAL),
    (socket.IPPROTO_TCP, "TCP_KEEPCNT", 3),
    (socket.IPPROTO_TCP, "TCP_USER_TIMEOUT", 25_000),
)
"""Socket options for keepalive probes, and the time limit for the acknowledgement of data, in milliseconds.

With these options the system detects within 25 seconds that a peer cannot be reached any more. If data is
sent to the peer, the 25 seconds begin when it is sent. A system that lacks an option uses its own default.
"""

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
"""The errors of accept() that concern only one connection. trio.SocketListener has the same list."""

_Serve: TypeAlias = Callable[[trio.SocketStream], Awaitable[None]]

logger = logging.getLogger(__name__)


def room_for_connections() -> trio.Semaphore:
    """Return a semaphore whose value is the number of connections that all listeners may still accept."""
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return trio.Semaphore(connections_within(sys.maxsize if files == resource.RLIM_INFINITY else files))


def connections_within(files: int) -> int:
    """Return the maximum number of connections of a process that can open `files` files."""
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
    wait in the backlog. If no slot is free, or after an error that concerns more than one connection,
    `paused` is called, and the next attempt is made `PAUSE` seconds later.
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
    """Logs the errors of one listener. Logs each kind of error at most once a minute."""

    def __init__(self) -> None:
        self._log = Throttle()

    def log(self, error: OSError | MemoryError) -> None:
        """Log an error, unless an error of the same kind was logged within the last minute."""
        if isinstance(error, MemoryError):
            error = OSError(errno.ENOMEM, os.strerror(errno.ENOMEM))
        if self._log.passes(trio.current_time(), error.errno):
            words = error.strerror or str(error)
            logger.error(
                "cannot accept connections: %s", words, extra={"event": "cannot_accept", "error": words}
            )


def _next(listening: socket.socket) -> trio.SocketStream:
    """Return the next connection. Raises BlockingIOError if no connection waits, or another OSError."""
    connection, _ = listening.accept()
    watch(connection)
    return trio.SocketStream(trio.socket.from_stdlib_socket(connection))


def watch(connection: socket.socket | trio.socket.SocketType) -> None:
    """Set the socket options by which the system detects that the peer cannot be reached any more."""
    for level, name, value in _KEEPALIVE:
        option = getattr(socket, name, None)
        if option is not None:
            with suppress(OSError):  # some systems refuse the option after the peer has closed the connection
                connection.setsockopt(level, option, value)

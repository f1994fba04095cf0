"""Accepting connections.

Knows listeners and what a system without files left says. Does not know what a connection is for. It takes
all who wait, up to `AT_ONCE`, in one turn of the loop, where trio.serve_listeners takes one: while a
thousand games are on a turn takes tens of milliseconds, and thousands who come at once would wait for a
minute.
"""

import errno
import logging
import os
import socket
from collections.abc import Awaitable, Callable

import trio

AT_ONCE = 64
"""Connections taken before others get a turn."""
PAUSE = 0.1
"""Seconds until the next attempt, where the system has no room for another connection."""

_NO_ROOM = (errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ENOBUFS)

logger = logging.getLogger(__name__)


async def accept(
    listener: trio.SocketListener,
    serve: Callable[[trio.SocketStream], Awaitable[None]],
    nursery: trio.Nursery,
) -> None:
    """Serve all who connect, each in a task of `nursery`, until cancelled; then close the listener."""
    async with listener:
        with socket.socket(fileno=os.dup(listener.socket.fileno())) as door:
            await _accept(door, serve, nursery)


async def _accept(
    door: socket.socket, serve: Callable[[trio.SocketStream], Awaitable[None]], nursery: trio.Nursery
) -> None:
    door.setblocking(False)
    while True:
        await trio.lowlevel.wait_readable(door)
        try:
            for _ in range(AT_ONCE):
                nursery.start_soon(serve, _next(door))
        except (BlockingIOError, ConnectionAbortedError):
            pass
        except OSError as error:
            if error.errno not in _NO_ROOM:
                raise
            logger.error(
                "no room for another connection: %s",
                error.strerror,
                extra={"event": "no_room_for_connection", "error": error.strerror},
            )
            await trio.sleep(PAUSE)


def _next(door: socket.socket) -> trio.SocketStream:
    """Return the next connection. Raises OSError, BlockingIOError where there is none."""
    connection, _ = door.accept()
    return trio.SocketStream(trio.socket.from_stdlib_socket(connection))

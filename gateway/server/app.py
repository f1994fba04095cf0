"""The one nursery: listeners, timekeeper, connections, shutdown.

Knows trio and the hub. Does not know dialects: a front end is a name, a port and a function that serves a
stream. All tasks run in the nursery of `run`, and none outlives it. At the stop, the listeners and the
timekeeper end first; then the connections, which get a moment to say good-bye.
"""

import errno
import logging
import signal
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import trio

from gateway.hub.interfaces import HubForTime
from gateway.hub.seat import Seat
from gateway.server.accepting import accept, room_for_connections

Stop: TypeAlias = Callable[[], Awaitable[None]]
"""Returns when the server is to stop."""

TICK = 0.05
"""The longest time between two ticks of the hub, in seconds."""
LEAST = 0.001
"""The shortest time between two ticks, in seconds."""
GOODBYE = 3.0
"""Seconds that all clients together have to notice that the server stops."""

logger = logging.getLogger(__name__)


class PortInUseError(OSError):
    """Another program listens on a port."""


@dataclass(frozen=True, slots=True)
class FrontEnd:
    """One dialect's port."""

    name: str
    port: int
    """0 for any free one."""
    serve: Callable[[trio.SocketStream], Awaitable[None]]
    """Serves one connection. Returns when it is over and raises nothing."""
    paused: Callable[[], None] = lambda: None
    """Is called when the system has no room for a further connection, and accepting pauses."""


class Service(Protocol):
    """A server beside the game, such as the web, with connections of its own."""

    async def run(self) -> None:
        """Serve until stopped. Raises nothing. Cancelled, it leaves nothing behind."""

    def stop(self) -> None:
        """Let `run` return soon."""


@dataclass(frozen=True, slots=True)
class Listening:
    """A front end and its open sockets."""

    front_end: FrontEnd
    listeners: list[trio.SocketListener]

    def addresses(self) -> list[str]:
        """Return where it listens, as ``127.0.0.1:8080`` or ``[::1]:8080``."""
        return addresses_of(self.listeners)


async def listen(front_end: FrontEnd, hosts: Sequence[str]) -> Listening:
    """Open the front end's port on all `hosts`. Raises OSError where the system refuses one."""
    return Listening(front_end, await open_port(front_end.port, hosts))


async def open_port(port: int, hosts: Sequence[str]) -> list[trio.SocketListener]:
    """Open a port, 0 for any free one, on all `hosts`. Raises OSError where the system refuses one.

    Where it is in use that is a PortInUseError.
    """
    listeners: list[trio.SocketListener] = []
    for host in hosts:
        try:
            listeners += await trio.open_tcp_listeners(port, host=host, backlog=1024)
        except (OSError, UnicodeError) as error:
            for listener in listeners:
                await listener.aclose()
            in_use = isinstance(error, OSError) and error.errno == errno.EADDRINUSE
            kind = PortInUseError if in_use else OSError
            raise kind(f"cannot listen on {host}, port {port}: {_cause(error)}") from error
    return listeners


def addresses_of(listeners: Sequence[trio.SocketListener]) -> list[str]:
    """Return where they listen, as ``127.0.0.1:8080`` or ``[::1]:8080``."""
    return [_address(listener.socket) for listener in listeners]


@asynccontextmanager
async def stop_asked_for() -> AsyncIterator[Stop]:
    """Cancel the block on SIGINT or SIGTERM; once the function that it gives is called, that returns instead.

    Further signals have no effect, not even after the block.
    """
    early: list[int] = []
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, _: early.append(number))  # while there is no receiver
    asked, is_waited_for = trio.Event(), False

    async def stop() -> None:
        nonlocal is_waited_for
        is_waited_for = True
        await asked.wait()

    async def watch(signals: AsyncIterator[int]) -> None:
        number = early[0] if early else await anext(signals)
        name = signal.Signals(number).name
        logger.info("stopping on %s", name, extra={"event": "stopping", "signal": name})
        asked.set()
        if not is_waited_for:
            nursery.cancel_scope.cancel()

    with trio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(watch, signals)
            yield stop
            nursery.cancel_scope.cancel()


async def run(
    hub: HubForTime,
    listening: Sequence[Listening],
    started: Callable[[], None],
    stop: Stop,
    services: Sequence[Service] = (),
) -> None:
    """Serve until `stop` returns, then say good-bye to all clients and return.

    Call `started` once connections are accepted. Run `services` for the same time.
    """
    room = room_for_connections()
    async with trio.open_nursery() as nursery:
        async with trio.open_nursery() as until_stopped:
            until_stopped.start_soon(keep_time, hub)
            for each in listening:
                until_stopped.start_soon(_accept, each, nursery, room)
            for service in services:
                nursery.start_soon(service.run)
            started()
            await stop()
            until_stopped.cancel_scope.cancel()
        hub.close(trio.current_time())
        for service in services:
            service.stop()
        nursery.cancel_scope.deadline = trio.current_time() + GOODBYE
    hub.feed.tell_ends(all_of_them=True)


async def keep_time(hub: HubForTime) -> None:
    """Tick the hub and let flags fall, until cancelled."""
    async with trio.open_nursery() as nursery:
        while True:
            now = trio.current_time()
            for seat in hub.tick(now):
                nursery.start_soon(_let_flag_fall, hub, seat)
            alarm = hub.next_alarm()
            await trio.sleep_until(now + TICK if alarm is None else min(max(alarm, now + LEAST), now + TICK))


async def _let_flag_fall(hub: HubForTime, seat: Seat) -> None:
    """Flag a seat after everything that its client sent in time has been read."""
    try:
        await seat.mailbox.settle()
    except Exception:  # it costs this game alone
        hub.fail(seat, trio.current_time())
    else:
        hub.flag(seat, trio.current_time())


async def _accept(listening: Listening, nursery: trio.Nursery, room: trio.Semaphore) -> None:
    """Accept connections, and serve each in `nursery`."""
    front_end = listening.front_end
    async with trio.open_nursery() as listeners:
        for listener in listening.listeners:
            listeners.start_soon(accept, listener, front_end.serve, nursery, room, front_end.paused)


def _cause(error: OSError | UnicodeError) -> str:
    if isinstance(error, UnicodeError):
        return "not a host name"
    return (error.strerror or str(error)).rpartition(": ")[2]


def _address(sock: trio.socket.SocketType) -> str:
    host, port, *_ = sock.getsockname()
    return f"[{host}]:{port}" if sock.family == socket.AF_INET6 else f"{host}:{port}"

"""The server's tasks: listeners, timekeeper, connections, shutdown.

Knows trio and the hub; does not know dialects. A front end is a name, a port and a function that serves a
stream. All tasks run in the nursery of `run` and end with it.
"""

import logging
import math
import signal
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from logging import INFO, WARNING
from typing import Protocol, TypeAlias

import trio

from gateway.hub.hub import Hub
from gateway.hub.seats import Seat
from gateway.runtime.accepting import accept, room_for_connections
from gateway.runtime.addresses import Address
from gateway.runtime.listening import adopted, bound, cannot_listen
from gateway.runtime.notifying import notify, stopping
from gateway.runtime.turns import Turns

Stop: TypeAlias = Callable[[], Awaitable[float]]
"""A function that waits for a request to stop, and returns the number of seconds that games may still take.

A second call waits for a further request, which ends these games at once.
"""

TICK = 0.05
"""The maximum time between two ticks of the hub, in seconds."""
LEAST = 0.001
"""The minimum time between two ticks of the hub, in seconds."""
BACKLOG = 1024
"""The maximum number of connections that wait to be accepted at one address of a port."""
GOODBYE = 3.0
"""The number of seconds that all connections together have to close when the server stops."""

logger = logging.getLogger(__name__)

# Draining, which lets games finish before the server stops.

PERIOD = 0.1
"""The number of seconds between two searches for players whose game is over."""
LOOKED_AT = 100
"""The number of seats that are checked in one turn of the loop."""


@dataclass(slots=True)
class Patience:
    """The time that games may take after the first SIGTERM."""

    seconds: float = 0.0
    by_operator: bool = False
    """Whether an operator's command sends the SIGTERM."""


async def drain(hub: Hub, seconds: float, again: Callable[[], Awaitable[object]]) -> None:
    """Stop new games, and wait until all games are over, `seconds` have passed, or `again` returns.

    Players without a game are disconnected, one in each turn of the event loop, so that thousands of messages
    do not delay the games.
    """
    hub.drain()
    with trio.move_on_after(seconds):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(_cut_short, again, nursery.cancel_scope)
            await _until_nobody_is_here(hub)
            nursery.cancel_scope.cancel()
    left = len(hub.seats())
    words = f"{left} players are cut off" if left else "all games are over"
    logger.log(WARNING if left else INFO, "drained: %s", words, extra={"event": "drained", "players": left})


async def _cut_short(again: Callable[[], Awaitable[object]], scope: trio.CancelScope) -> None:
    await again()
    scope.cancel()


async def _until_nobody_is_here(hub: Hub) -> None:
    while seats := hub.seats():
        for number, seat in enumerate(seats, 1):
            if hub.let_go(seat, trio.current_time()) or number % LOOKED_AT == 0:
                await trio.lowlevel.checkpoint()
        await trio.sleep(PERIOD)


# The nursery.


@dataclass(frozen=True, slots=True)
class FrontEnd:
    """An open port and the function that serves its clients."""

    name: str
    listeners: Sequence[trio.SocketListener]
    serve: Callable[[trio.SocketStream], Awaitable[None]]
    """Serves one connection, and returns when the connection is over. Must raise nothing."""
    paused: Callable[[], None] = lambda: None
    """Called when the port pauses because the system has no room for a further connection."""
    stays: bool = False
    """Whether the port also accepts connections during a drain."""


class Service(Protocol):
    """A further server in this process, such as the one for the page or the metrics."""

    async def run(self) -> None:
        """Serve until `stop` is called. Must raise nothing, and release its resources if cancelled."""

    def stop(self) -> None:
        """Make `run` return soon. Does not wait for it."""


async def open_port(port: int, hosts: Sequence[str], *, shared: bool = False) -> list[trio.SocketListener]:
    """Open a port on all `hosts`; 0 means any free port. With `shared`, other processes may open it, too.

    Raises PortInUseError if the port is in use, and OSError if the system refuses it.
    """
    listeners: list[trio.SocketListener] = []
    for host in hosts:
        try:
            if shared:
                sockets = partial(bound, port, host, shared=True, backlog=BACKLOG)
                listeners += map(_listener, await trio.to_thread.run_sync(sockets))
            else:
                listeners += await trio.open_tcp_listeners(port, host=host, backlog=BACKLOG)
        except (OSError, UnicodeError) as error:
            for listener in listeners:
                listener.socket.close()
            raise cannot_listen(host, port, error) from error
    return listeners


def adopt(numbers: Sequence[int]) -> list[trio.SocketListener]:
    """Return listeners for the sockets with these descriptors. Raises OSError if a socket does not listen."""
    with ExitStack() as opened:
        sockets = [opened.enter_context(adopted(number)) for number in numbers]
        opened.pop_all()
    return [*map(_listener, sockets)]


def _listener(listening: socket.socket) -> trio.SocketListener:
    return trio.SocketListener(trio.socket.from_stdlib_socket(listening))


def addresses_of(listeners: Sequence[trio.SocketListener]) -> list[str]:
    """Return the addresses of listeners, such as ``127.0.0.1:8080`` or ``[::1]:8080``."""
    return [str(Address(*listener.socket.getsockname()[:2])) for listener in listeners]


@asynccontextmanager
async def stop_asked_for(patience: Patience | None = None) -> AsyncIterator[Stop]:
    """Yield a function that waits for SIGINT or SIGTERM, and returns the seconds that games may still take.

    It returns `patience.seconds` for the first SIGTERM, and 0 for any other signal. Before the function is
    called, a signal cancels the block. After the block signals have no effect.
    """
    early, patience = list[int](), patience or Patience()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, _: early.append(number))  # until the receiver is open
    asked, next_asked = trio.open_memory_channel[int](math.inf)
    is_served = False

    async def stop() -> float:
        nonlocal is_served
        is_served = True
        number = await next_asked.receive()
        limit, patience.seconds = patience.seconds if number == signal.SIGTERM else 0.0, 0.0
        by_operator, patience.by_operator = patience.by_operator and number == signal.SIGTERM, False
        _say_that_it_stops(number, limit, by_operator=by_operator)
        return limit

    async def watch(signals: AsyncIterator[int]) -> None:
        number = early[0] if early else await anext(signals)
        while is_served:
            asked.send_nowait(number)
            number = await anext(signals)
        _say_that_it_stops(number, 0.0)
        nursery.cancel_scope.cancel()

    with trio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(watch, signals)
            yield stop
            nursery.cancel_scope.cancel()


def _say_that_it_stops(number: int, limit: float, *, by_operator: bool = False) -> None:
    name = "the operator's drain" if by_operator else signal.Signals(number).name
    notify(stopping(limit))
    if limit:
        logger.info(
            "stopping on %s; games that are on may be finished within %g s",
            *(name, limit),
            extra={"event": "draining", "signal": name, "seconds": limit},
        )
    else:
        logger.info("stopping on %s", name, extra={"event": "stopping", "signal": name})


async def run(
    hub: Hub,
    front_ends: Sequence[FrontEnd],
    started: Callable[[], None],
    stop: Stop,
    services: Sequence[Service] = (),
    turns: Turns | None = None,
) -> None:
    """Serve until `stop` returns, let games go on for as many seconds as it returns, then disconnect all.

    `started` is called when the server accepts connections. `services` run as long as the server. At the
    stop, listeners end first, then games, then the timekeeper, then connections.
    """
    room = room_for_connections()
    async with trio.open_nursery() as nursery:
        async with trio.open_nursery() as until_stopped:
            until_stopped.start_soon(keep_time, hub)
            for service in services:
                nursery.start_soon(service.run)
            async with trio.open_nursery() as accepting:
                for each in front_ends:
                    tasks = until_stopped if each.stays else accepting
                    for listener in each.listeners:
                        tasks.start_soon(accept, listener, each.serve, nursery, room, each.paused, turns)
                started()
                seconds = await stop()
                accepting.cancel_scope.cancel()
            if seconds:
                await drain(hub, seconds, stop)
            until_stopped.cancel_scope.cancel()
        hub.close(trio.current_time())
        for service in services:
            service.stop()
        nursery.cancel_scope.deadline = trio.current_time() + GOODBYE
    hub.feed.tell_ends(all_of_them=True)


async def keep_time(hub: Hub) -> None:
    """Tick the hub, and end the games of players whose time is up, until cancelled."""
    async with trio.open_nursery() as nursery:
        while True:
            now = trio.current_time()
            for seat in hub.tick(now):
                nursery.start_soon(_let_flag_fall, hub, seat)
            alarm = hub.next_alarm()
            await trio.sleep_until(now + TICK if alarm is None else min(max(alarm, now + LEAST), now + TICK))


async def _let_flag_fall(hub: Hub, seat: Seat) -> None:
    """End a seat's game on time, after the messages that its client sent in time were carried out."""
    try:
        await seat.mailbox.settle()
    except Exception:  # a bug, which must end this game only
        hub.fail(seat, trio.current_time())
    else:
        hub.flag(seat, trio.current_time())

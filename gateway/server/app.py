"""The server's nursery: listeners, timekeeper, connections, shutdown.

Knows trio and the hub. Does not know dialects: a front end is a name, a port and a function that serves a
stream. All tasks run in the nursery of `run`, and none outlives it.
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
"""Waits for a request to stop; returns for how many seconds games may go on. A second call waits for another
request, after which the games are ended."""

TICK = 0.05
"""The longest time between two ticks of the hub, in seconds."""
LEAST = 0.001
"""The shortest time between two ticks, in seconds."""
BACKLOG = 1024
"""The most connections that wait to be accepted, at one address of a port."""
GOODBYE = 3.0
"""Seconds for all connections together to close when the server stops."""

logger = logging.getLogger(__name__)

# Draining: games are finished before the server stops.

PERIOD = 0.1
"""Seconds between two searches for players whose game is over."""
LOOKED_AT = 100
"""The number of seats that are checked in one turn of the loop."""


@dataclass(slots=True)
class Patience:
    """How long games may go on after the first SIGTERM."""

    seconds: float = 0.0
    by_operator: bool = False
    """Whether the operator asked for the stop by a command. The command then sends the signal."""


async def drain(hub: Hub, seconds: float, again: Callable[[], Awaitable[object]]) -> None:
    """Begin no further games; return when all games are over, after `seconds`, or when `again` returns.

    Players without a game are disconnected, one in a turn of the loop, so that games are not delayed by
    thousands of messages.
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
    """An open port, and the function that serves its clients."""

    name: str
    listeners: Sequence[trio.SocketListener]
    serve: Callable[[trio.SocketStream], Awaitable[None]]
    """Serves one connection. Returns when it is over, and raises nothing."""
    paused: Callable[[], None] = lambda: None
    """Called when accepting pauses because the system has no room for a further connection."""
    stays: bool = False
    """Whether the port also accepts connections during a drain."""


class Service(Protocol):
    """A server with connections of its own, such as the page or the metrics."""

    async def run(self) -> None:
        """Serve until stopped. Raises nothing, and releases everything if cancelled."""

    def stop(self) -> None:
        """End `run` soon."""


async def open_port(port: int, hosts: Sequence[str], *, shared: bool = False) -> list[trio.SocketListener]:
    """Open a port on all `hosts`. 0 means any free one. With `shared`, other processes may open it, too.

    Raises OSError if the system refuses the port, PortInUseError if it is in use.
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
    """Return the listeners of sockets that were handed over. Raises OSError if one does not listen."""
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
    """Yield a function that waits for SIGINT or SIGTERM. `patience` limits the games after the first SIGTERM.

    A signal before the first call of the function cancels the block. After the block signals have no effect.
    """
    early, patience = list[int](), patience or Patience()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, _: early.append(number))  # while there is no receiver
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
    """Serve until `stop` returns, then finish games for as many seconds as it returns, then disconnect all.

    `started` is called when the server accepts connections. `services` run for the same time as the server.
    At the stop, listeners end first, then games, then the timekeeper, then connections.
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
    """Tick the hub and flag players whose time is up, until cancelled."""
    async with trio.open_nursery() as nursery:
        while True:
            now = trio.current_time()
            for seat in hub.tick(now):
                nursery.start_soon(_let_flag_fall, hub, seat)
            alarm = hub.next_alarm()
            await trio.sleep_until(now + TICK if alarm is None else min(max(alarm, now + LEAST), now + TICK))


async def _let_flag_fall(hub: Hub, seat: Seat) -> None:
    """Flag a seat after all messages that its client sent in time have been carried out."""
    try:
        await seat.mailbox.settle()
    except Exception:  # a bug, which must end this game only
        hub.fail(seat, trio.current_time())
    else:
        hub.flag(seat, trio.current_time())

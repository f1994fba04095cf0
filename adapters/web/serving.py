"""The program of the web process: accepts clients and answers them until the server stops.

Combines the parts of the web. Knows the link to the server, the listening sockets, and the priority and the
log of this process. The module `process` is the counterpart in the server.
"""

import gc
import logging
import secrets
import socket
import sys
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from functools import partial
from ipaddress import ip_network

import trio

from adapters.entrance.admission import Admission, NotLetIn
from adapters.net.fd_passing import PassedListener
from adapters.web import answers
from adapters.web.admin import Admin
from adapters.web.analysing import analyse_all
from adapters.web.application import Application
from adapters.web.health import Health
from adapters.web.link import (
    LONGEST,
    WRONG_TOKEN,
    Analysed,
    Answered,
    Begun,
    Complete,
    Condition,
    Done,
    Facts,
    Failed,
    Messages,
    Orders,
    Reached,
    Removed,
    Stop,
    Watch,
)
from adapters.web.live.evaluations import Evaluations
from adapters.web.live.live import Live
from adapters.web.live.state import Json
from adapters.web.origins import Origins
from adapters.web.perfect import Perfect
from adapters.web.remote import Remote
from adapters.web.server import Stream, Web, host_of
from adapters.web.site import Front, Site, in_thread
from adapters.web.solver import Solver
from gateway.access.limits import limited_connections
from gateway.game.facts import GameStarted
from gateway.runtime.accepting import PAUSE, Troubles, room_for_connections, watch
from gateway.runtime.addresses import is_loopback, origin_at
from gateway.runtime.child import Link, LinkError
from gateway.runtime.processes import give_way
from gateway.server.acts import Notice
from gateway.server.logs import set_up_logging
from gateway.store import StoreError
from gateway.store.database import Database, Place, open_again
from gateway.store.records import Solved

NICENESS = 15
"""The niceness of this process, so that games and storing come first on a shared processor."""
PERIOD = 1.0
"""Seconds between two messages with counts to the server."""
MOST = 1024
"""The most connections at once. A further client waits until one ends, or until an idle one is closed."""

logger = logging.getLogger(__name__)


def main() -> int:
    """Serve until the server stops; return the exit status, 1 after an internal error."""
    give_way(NICENESS)
    gc.freeze()
    link, *listeners = (socket.socket(fileno=int(number)) for number in sys.argv[1:])
    stream = trio.SocketStream(trio.socket.from_stdlib_socket(link))
    try:
        trio.run(_serve, Messages(Link(stream, LONGEST)), listeners)
    except Exception:  # a bug; the interpreter would not write it to the log
        logger.exception("the web ends after an internal error", extra={"event": "web_failed"})
        return 1
    return 0


async def _serve(messages: Messages, listeners: Sequence[socket.socket]) -> None:
    try:
        orders = await messages.receive()
        if isinstance(orders, Orders):
            set_up_logging(orders.log_level, as_json=orders.log_json)
            database = None if orders.where is None else open_again(Place(orders.where, orders.file))
            hosts = [each.getsockname()[0] for each in listeners if not _passes_on(each)]
            is_local = all(map(is_loopback, (*hosts, *orders.hosts)))
            await Serving(messages, database, orders, is_local=is_local).run(listeners)
            if database is not None:
                database.close()
    except* LinkError:
        pass  # the server is gone


class Serving:
    """The running parts of the web."""

    def __init__(
        self, messages: Messages, database: Database | None, orders: Orders, *, is_local: bool = False
    ) -> None:
        """`is_local` is whether only this machine can connect."""
        self._messages = messages
        self._remote = remote = Remote(messages)
        self._live = Live(secrets.token_hex(4), lambda number: remote.send(Watch(number)))
        self._solver = Solver()
        trusted = [ip_network(each) for each in orders.trusted]
        self._admission = Admission(limited_connections(0, *orders.limits), Counter(), trusted=trusted)
        admin = None
        if orders.token is not None:
            refused = partial(self._admission.count, WRONG_TOKEN, "page")
            admin = Admin(orders.token, remote.clear, remote.act, orders.audit, trusted, refused)
        perfect = Perfect(self._solver.scores, None if database is None else self._keep)
        evaluations = Evaluations(
            self._solver.value, perfect.asking, self._hides_winning, is_possible=self._solver.is_fast
        )
        self._site = site = Site(
            database,
            self._live,
            tuple(Front(*each) for each in orders.fronts),
            tuple(orders.house),
            idle=orders.idle,
            perfect=perfect,
            evaluations=evaluations if orders.evaluates else None,
        )
        probe: Callable[[], Awaitable[None]] = trio.lowlevel.checkpoint
        if database is not None:
            probe = partial(in_thread, database.probe, trio.CapacityLimiter(1))
        health = Health(remote.condition, probe)
        origins = Origins(frozenset(orders.origins), is_local=is_local)
        application = Application(site, health, admin, origins)
        self._requests = application.requests if orders.counting else None
        self._web = Web(application, orders.request, hsts=orders.hsts)
        self._room = trio.Semaphore(places())
        self._accepting = trio.CancelScope()

    async def run(self, listeners: Sequence[socket.socket]) -> None:
        """Serve until the server stops or is gone. If the link fails, raises a group with LinkError."""
        paused = partial(self._admission.count, "limit_system", "page")
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._heed, nursery)
            nursery.start_soon(self._live.run)
            if self._site.database is not None:
                nursery.start_soon(self._live.keep_ratings, self._ratings)
            nursery.start_soon(self._solver.run)
            if self._site.database is not None and self._solver.is_fast:
                nursery.start_soon(analyse_all, self._site)
            nursery.start_soon(self._send_counts)
            async with trio.open_nursery() as connections:
                take = partial(
                    accept,
                    serve=self._serve_one,
                    nursery=connections,
                    room=self._room,
                    make_room=self._web.make_room,
                    paused=paused,
                )
                with self._accepting:
                    async with trio.open_nursery() as accepting:
                        for each in listeners:
                            accepting.start_soon(take, _opened(each))
            nursery.cancel_scope.cancel()

    async def _heed(self, nursery: trio.Nursery) -> None:
        """Carry out the messages of the server."""
        while (message := await self._messages.receive()) is not None:
            match message:
                case Condition() | Removed() | Done() | Failed():
                    self._remote.hear(message)
                case Notice():
                    self._site.notice = message
                case Facts(encoded):
                    self._live.hear(encoded)
                case Begun(number):
                    self._live.begin(number)
                case Complete():
                    self._live.complete()
                case Stop(limit):
                    nursery.cancel_scope.deadline = trio.current_time() + limit
                    self._accepting.cancel()
                    self._live.stop()
                    self._web.stop()
                case _:
                    raise LinkError(f"{type(message).__name__} is not for the web")
        nursery.cancel_scope.cancel()

    async def _ratings(self, names: Collection[str]) -> Mapping[str, Json] | None:
        """Return the ratings of players by name; None if the database cannot be used at the moment."""
        try:
            return await self._site.do(partial(answers.ratings, self._site.reading, names))
        except StoreError:
            return None  # every page that needs the database says so, and the log too

    async def _hides_winning(self, started: GameStarted) -> bool:
        return await self._site.do(partial(self._site.hides_winning, started))

    async def _keep(self, solved: Solved) -> None:
        """Let the server store the analysis of a game."""
        await self._remote.send(Analysed(solved.game, solved.moves, solved.scores.hex()))

    async def _send_counts(self) -> None:
        """Send the server counts of reached limits, wrong tokens and requests, every `PERIOD` seconds."""
        counts = self._admission.counts
        while True:
            await trio.sleep(PERIOD)
            for what, port in tuple(counts):
                await self._remote.send(Reached(what, counts.pop((what, port))))
            if self._requests is not None and (rows := self._requests.take()):
                await self._remote.send(Answered(rows))

    async def _serve_one(self, stream: Stream) -> None:
        host = host_of(stream)
        try:
            async with self._admission.admit("page", host):
                await self._web.serve(stream)
        except NotLetIn as refusal:
            await self._admission.say_why(origin_at(host), partial(self._web.refuse, stream, str(refusal)))
        finally:
            stream.socket.close()
            self._room.release()


async def accept(
    listener: trio.SocketListener | PassedListener,
    serve: Callable[[Stream], Awaitable[None]],
    nursery: trio.Nursery,
    room: trio.Semaphore,
    make_room: Callable[[], None],
    paused: Callable[[], None],
) -> None:
    """Accept clients until cancelled, and serve each in a task of `nursery`.

    `room` limits the connections: each client takes one unit, which `serve` must release. If a client arrives
    while there is no room, `make_room` is called to hang up on another client. Otherwise many silent
    clients could keep all others out. An error of accept() is logged, `paused` is called, and accepting goes
    on after a pause. As in `gateway.runtime.accepting`, a client that vanishes is detected.
    """
    troubles = Troubles()
    async with listener:
        while True:
            if not room.value:
                await trio.lowlevel.wait_readable(listener.socket)
                make_room()
            with trio.move_on_after(PAUSE) as waiting:
                await room.acquire()
            if waiting.cancelled_caught:
                continue
            try:
                stream = await listener.accept()
            except (OSError, MemoryError) as error:
                room.release()
                paused()
                troubles.log(error)
                await trio.sleep(PAUSE)
            else:
                watch(stream.socket)
                nursery.start_soon(serve, stream)


def places() -> int:
    """Return the most connections at once: `MOST`, or fewer if this process may open only few files."""
    return min(MOST, room_for_connections().value)


def _opened(sock: socket.socket) -> trio.SocketListener | PassedListener:
    if _passes_on(sock):
        return PassedListener(sock)
    return trio.SocketListener(trio.socket.from_stdlib_socket(sock))


def _passes_on(sock: socket.socket) -> bool:
    """Whether the server passes connections on over this socket."""
    return sock.family == socket.AF_UNIX


if __name__ == "__main__":
    sys.exit(main())

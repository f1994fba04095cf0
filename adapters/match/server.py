"""The private server of a match: a hub, and a port for each player at each table.

Keeps nothing and shows no page. All its ports are on this machine alone, and each takes every dialect.
"""

from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from functools import partial

import trio

from adapters.dialects import DIALECTS
from adapters.entrance.admission import without_limits
from adapters.entrance.entrance import Entrance
from adapters.entrance.handshake import HttpPort
from adapters.entrance.one_port import OnePort
from adapters.entrance.preamble import Preamble
from adapters.match.tables import PortHub, Table, Tables
from adapters.net.epoll import Poller, polling
from adapters.net.socket import Backlogs, Socket, taken
from gateway.game.clock import Terms
from gateway.game.facts import Fact, GameStarted, Missed
from gateway.game.ids import GameId
from gateway.game.results import Finished, NoResults
from gateway.hub.hub import Hub
from gateway.options.server import parse
from gateway.runtime.accepting import accept, room_for_connections
from gateway.runtime.turns import Turns
from gateway.server.app import keep_time, open_port
from gateway.server.logs import log_fault

HOST = "127.0.0.1"
CONNECTIONS = 8
"""Connections that one player of a table may have at once: nobody takes those of the others."""


class Server:
    """The server. `run` has to run for as long as anybody plays."""

    def __init__(
        self,
        terms: Terms,
        games: Iterator[GameId],
        over: Callable[[Finished], None],
        failed: Callable[[Exception], None],
    ) -> None:
        """`over` is told of each game that ends, `failed` of an error that it raised."""
        self._tables = Tables()
        self._hub = Hub(terms, self._tables, NoResults(), log_fault, games)
        self._over = over
        self._failed = failed
        self._turns = Turns()
        self._poller: Poller
        """Set by `run`."""
        self._backlogs = Backlogs()
        self._room = room_for_connections()
        self._options = parse(["--db", "none", "--no-web"], DIALECTS)
        self._facts = self._hub.feed.subscribe(self._hear, (GameStarted, Finished))

    async def run(self) -> None:
        """Serve until cancelled."""
        trio.lowlevel.add_instrument(self._turns)
        try:
            async with polling(self._turns) as self._poller:
                await keep_time(self._hub)
        finally:
            trio.lowlevel.remove_instrument(self._turns)

    async def listen(self, nursery: trio.Nursery, name: str, table: Table, side: int) -> int:
        """Open a port for one player of a table, and serve its clients in `nursery`; return its number.

        Raises OSError.
        """
        hub = PortHub(self._hub, name, table, side)
        fronts = [(each, each.front_end(hub, self._options.dialects[each.name], None)) for each in DIALECTS]
        one_port = OnePort.of(fronts, HttpPort(is_closed=lambda: self._hub.is_closed))
        preamble = Preamble(None, Counter())
        entrance = Entrance(name, one_port.receive, self._open_socket, without_limits(), preamble)
        few = partial(_serve_few, entrance.serve, trio.Semaphore(CONNECTIONS))
        (listener,) = await open_port(0, [HOST])
        self._tables.add(name, table, side)
        nursery.start_soon(accept, listener, few, nursery, self._room)
        port: int = listener.socket.getsockname()[1]
        return port

    def close(self, name: str) -> None:
        """Pair nobody any more who came by a port."""
        self._tables.remove(name)

    def _hear(self) -> None:
        """Take in what happened. The feed would note an error, and tell nothing more."""
        try:
            for fact in self._facts.take():
                self._tell(fact)
        except Exception as error:
            self._failed(error)

    def _tell(self, fact: Fact | Missed) -> None:
        if isinstance(fact, GameStarted):
            found = self._tables.find(fact.players[0])
            if found is not None:
                table, opener = found
                table.started(fact.game, opener)
        elif isinstance(fact, Finished):
            self._over(fact)

    def _open_socket(self, stream: trio.SocketStream) -> Socket:
        return Socket(taken(stream), self._poller, self._turns, self._backlogs)


async def _serve_few(
    serve: Callable[[trio.SocketStream], Awaitable[None]], room: trio.Semaphore, stream: trio.SocketStream
) -> None:
    """Serve a client; close its connection where there is no room."""
    if not room.value:
        await trio.aclose_forcefully(stream)
        return
    async with room:
        await serve(stream)

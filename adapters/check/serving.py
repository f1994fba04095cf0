"""Serving the bots that are checked: their connections, and the checkup that each belongs to.

Knows transports, and what of a dialect makes a connection. Does not know what is checked.
"""

from argparse import Namespace

import trio

from adapters.check.checkup import Checkup
from adapters.check.rules import Book
from adapters.check.visit import Visit
from adapters.check.watching import WatchedCodec, WatchedTranslator
from adapters.check.wire import CheckedWire
from adapters.connection import Connection
from adapters.contract import PeerGone, Transport
from adapters.dialect import Dialect
from adapters.sockets import DirectSocket
from adapters.transports import LineTransport
from adapters.upgrade import Endpoint, serve_websocket
from gateway.server.app import keep_time

_TEXT = "This port checks bots of a Connect-Four dialect, by websocket.\n"
NAMELESS = "(no name)"


class Desk:
    """All bots that are checked, and the check's options."""

    def __init__(self, dialect: Dialect, book: Book, options: Namespace) -> None:
        self.dialect, self.book, self.options = dialect, book, options
        self.patience: float = options.patience
        self.slow: float = options.slow
        self.checkups: dict[str, Checkup] = {}
        self.is_done = trio.Event()
        """Set when there is nothing more to see."""
        self._open = 0
        self._closed = 0

    def of(self, name: str | None) -> Checkup:
        """Return the checkup of a bot. Where there is one bot, all connections are its own."""
        name = name or NAMELESS
        if self.options.bots == 1 and self.checkups:
            (only,) = self.checkups.values()
            only.name = name if only.name == NAMELESS else only.name
            return only
        return self.checkups.setdefault(name, Checkup(name, self.book.rules))

    def connections(self) -> int:
        """Return how many connections there have been."""
        return self._open + self._closed

    async def serve(self, stream: trio.SocketStream) -> None:
        """Serve a connection."""
        self._open += 1
        wire = self._wired(stream)
        try:
            await self._serve(wire)
        except* PeerGone:
            pass
        finally:
            wire.close()
            self._open -= 1
            self._closed += 1
        await self._wait_for_more(self._closed)

    async def _wait_for_more(self, closed: int) -> None:
        """Let the check end if all is seen, or if no bot comes any more."""
        over = [each for each in self.checkups.values() if each.is_over]
        if len(over) < self.options.bots:
            await trio.sleep(self.options.wait)
            if self._open or self._closed != closed:
                return
        self.is_done.set()

    def _wired(self, stream: trio.SocketStream) -> CheckedWire:
        wire = CheckedWire(DirectSocket(stream))
        wire.prepare(frames=bool(self.dialect.scheme), patience=self.patience)
        return wire

    async def _serve(self, wire: CheckedWire) -> None:
        async with trio.open_nursery() as nursery:
            visits: list[Visit] = []

            async def talk(transport: Transport, target: str) -> None:
                book, options = self.book, self.options
                usual, original = (book.translator(options, target, old) for old in (False, True))
                visit = Visit(self, wire, nursery, usual.manners)
                visits.append(visit)
                nursery.start_soon(keep_time, visit.hub)
                translator = WatchedTranslator(usual, original, visit)
                await Connection(visit.hub, transport, WatchedCodec(book.codec(), visit), translator).run()

            try:
                if self.dialect.scheme:
                    await serve_websocket(wire, Endpoint(talk, _TEXT))
                else:
                    await talk(LineTransport(wire), "")
            finally:
                for visit in visits:
                    visit.ended()
            nursery.cancel_scope.cancel()

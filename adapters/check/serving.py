"""Serves the connections of the checked bots, and decides when no further bot will come.

Knows transports, and the parts of a dialect that make a connection. Does not know what is checked. If the
first bytes of a connection do not fit the dialect, the client is called a stranger. Reports show strangers
only if a bot is missing.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial

import trio

from adapters.check.bots import Bots
from adapters.check.checkup import Checkup
from adapters.check.driver import BotHub, Driver
from adapters.check.options import CheckOptions
from adapters.check.record import HUNG_UP, Fault
from adapters.check.wire import CheckedSocket
from adapters.client.accepted import Accepted
from adapters.client.connection import Connection
from adapters.client.contract import PeerGone, WireError
from adapters.client.dialect import Dialect
from adapters.client.framing import Lines
from adapters.client.rules import Topic
from adapters.entrance.admission import Admitted, without_limits
from adapters.entrance.handshake import HttpPort
from adapters.entrance.one_port import receive_request
from adapters.entrance.preamble import Preamble
from adapters.net.socket import taken
from adapters.net.tls import TLS
from gateway.access.certificates import Certificate
from gateway.access.heads import is_http
from gateway.server.app import keep_time

# Functions that tell from the first bytes of a connection whether it is from a bot of the dialect.
#
# They do no I/O. They know how TLS and HTTP begin, and try to decode a text in the other dialects.

_SHOWN = 60
"""The most bytes of a text that are shown."""


def in_words(first: bytes, dialect: Dialect, others: Iterable[Dialect], *, takes_tls: bool) -> str:
    """Return what is wrong with a connection that begins with `first`.

    The result is empty if a client of the dialect may begin with `first`. `takes_tls` says whether the port
    takes TLS. If it does, TLS in `first` means that the handshake has failed.
    """
    if first.startswith(TLS) and takes_tls:
        return "its handshake of TLS failed; let it trust the certificate"
    if first.startswith(TLS):
        return "it began TLS, which this port does not take; connect without, or give the check --tls-cert"
    begins_http = bool(is_http(first))
    if begins_http and not dialect.scheme:
        asks = b"upgrade: websocket" in first.lower()
        return f"it asked by HTTP{' for a websocket' if asks else ''}; this dialect is plain lines over TCP"
    said = first[:_SHOWN].decode("latin-1").splitlines()[:1]
    if begins_http and dialect.scheme:
        return f"it sent {said[0]!r}, which is no valid request for a websocket"
    if first and dialect.scheme:
        return f"it sent {said[0]!r}, which is no request for a websocket{hint(said[0], others)}"
    return ""


def hint(text: str, others: Iterable[Dialect]) -> str:
    """Return words that name the other dialect to which a text belongs; empty if there is none."""
    for other in others:
        try:
            other.requirements().codec().decode(text)
        except WireError:
            continue
        except Exception:
            continue
        return f"; that is {other.short}: c4gateway check {other.name}"
    return ""


# The bots.

_TEXT = "This port checks bots of a Connect-Four dialect, by websocket.\n"
_NO_MESSAGE = f"{HUNG_UP} before its first message"
_SILENT = f"{HUNG_UP} without a message"
_PROBES = 3
"""Connections without a text count only if there are at least this many. Fewer may be port scans."""
_KEPT = 20
"""The most strangers that are kept of each kind, and the most kinds. Thousands may connect."""
_START = 60.0
"""If the check starts bots, the seconds in which the first of them has to connect."""


class Check:
    """A port that checks the bots that connect to it."""

    def __init__(
        self,
        dialect: Dialect,
        options: CheckOptions,
        others: Sequence[Dialect] = (),
        certificate: Certificate | None = None,
    ) -> None:
        """`others` are dialects that bots may speak by mistake."""
        self.bots = Bots(options, dialect.requirements(), partial(hint, others=others))
        self._dialect, self._options, self._others = dialect, options, others
        self._preamble = Preamble(certificate, Counter())
        self._strangers: dict[str, list[Fault]] = {}
        """The strangers' faults; the key is the words of a fault."""
        self._stranger_count = self._ended = 0
        """The number of strangers' connections, and the number of ended connections of unfinished bots."""
        self._open: set[BotHub] = set()
        """The hubs of the open connections, and of those that were cut while the bot may come back."""

    def conclude(self) -> list[Checkup]:
        """Return the final checkups of all bots, sorted by name."""
        strangers = [fault for faults in self._strangers.values() for fault in faults]
        return self.bots.conclude(strangers, self._stranger_count)

    async def wait_for_first(self) -> None:
        """End the check if no bot connects at all within `_START` seconds."""
        await trio.sleep(_START)
        if not self.bots.connections:
            self.bots.is_done.set()

    async def serve(self, stream: trio.SocketStream) -> None:
        """Serve a connection."""
        self.bots.connections += 1
        if self.bots.is_done.is_set():  # the check is over
            await trio.sleep_forever()
        is_framed = bool(self._dialect.scheme)
        wire = CheckedSocket(taken(stream))
        wire.prepare(frames=is_framed, patience=self._options.patience)
        hubs: list[BotHub] = []
        try:
            async with without_limits().admit("check", "") as entry:
                if await self._preamble.passed(wire, entry, self._options.patience):
                    wire.begin()
                    await self._serve(wire, entry, hubs)
                else:
                    await wire.linger()
        except* PeerGone:
            pass
        finally:
            wire.close()
        drivers = [hub.driver for hub in hubs]
        comes_back = [
            driver.wire is not wire or (driver.is_away and await driver.comes_back(self._options.wait))
            for driver in drivers
        ]
        self._open.difference_update(hubs)
        if any(comes_back):
            return  # the check goes on at the bot's next connection
        known = [driver for driver in drivers if self._is_known(driver)]
        may_be_last = known or self._note_stranger(wire, has_come=is_framed and bool(drivers))
        if may_be_last or len(self.bots):  # an earlier wait may have ended while this connection was open
            self._ended += any(not self._is_over(driver) for driver in known)
            await self._wait_for_more(self._ended)

    async def _serve(self, wire: CheckedSocket, entry: Admitted, hubs: list[BotHub]) -> None:
        async with trio.open_nursery() as nursery:

            async def serve(client: Accepted) -> None:
                driver = Driver(self.bots, wire, nursery, client.target)
                hub = BotHub(driver, self._open)
                hubs.append(hub)
                self._open.add(hub)
                nursery.start_soon(keep_time, driver.hub)
                await Connection(hub, client, driver.tap, driver.tap).run()

            try:
                if self._dialect.scheme:
                    entry.limits = replace(entry.limits, request=self._options.patience)
                    await receive_request(serve, HttpPort(_TEXT), wire, entry)
                else:
                    await serve(Accepted(wire, Lines()))
            finally:
                for driver in (hub.driver for hub in hubs):
                    if driver.wire is wire and self._is_known(driver):
                        driver.ended()
            nursery.cancel_scope.cancel()

    def _is_known(self, driver: Driver) -> bool:
        """Return whether a bot has spoken. Otherwise the client may be a port scan or another program."""
        return driver.bot is not None or (driver.has_spoken and not self._is_lost(driver.wire))

    def _is_over(self, driver: Driver) -> bool:
        """Return whether the check of a connection's bot is over."""
        if self._is_lost(driver.wire):
            return True
        return driver.bot is not None and driver.checkup().is_over

    def _is_lost(self, wire: CheckedSocket) -> bool:
        """Return whether the dialect uses lines, and the connection's first bytes do not fit it."""
        return not self._dialect.scheme and bool(self._stranger_fault(wire))

    def _stranger_fault(self, wire: CheckedSocket) -> str:
        takes_tls = not self._preamble.is_plain
        return in_words(wire.first, self._dialect, self._others, takes_tls=takes_tls)

    def _note_stranger(self, wire: CheckedSocket, *, has_come: bool) -> bool:
        """Record a connection on which no bot spoke; return whether it may be from an expected bot.

        `has_come` says whether a websocket was opened on the connection.
        """
        self._stranger_count += 1
        is_gone = wire.has_hung_up and not wire.is_cut_off
        silence = _SILENT if is_gone else "it sent nothing in time"
        words = _NO_MESSAGE if has_come else self._stranger_fault(wire) or silence
        kind = self._strangers.get(words, [])
        if len(kind) < _KEPT and (kind or len(self._strangers) < _KEPT):
            index = len(kind)
            kind.append(Fault(Topic.ENTRY if has_come else Topic.TRANSPORT, words))
            self._strangers[words] = kind

            def crashed(how: str) -> None:
                kind[index] = replace(kind[index], crash=how)

            if not wire.is_cut_off:
                self.bots.hung_up(crashed)
        return words != silence or not is_gone or self._stranger_count >= _PROBES

    async def _wait_for_more(self, ended: int) -> None:
        """End the check if all bots are finished, or if no further bot connects in time."""
        if not self.bots.end_if_over():
            await trio.sleep(self._options.wait)
            if self._ended == ended and all(self._is_over(hub.driver) for hub in self._open):
                self.bots.is_done.set()

"""Serving the bots that are checked: their connections, and the checkup that each belongs to.

Knows transports, and what of a dialect makes a connection. Does not know what is checked. A connection on
which no client of the dialect speaks is a stranger's. Strangers are told of only where a bot is missing.
"""

from collections import Counter, deque
from collections.abc import Iterable, Sequence
from dataclasses import replace

import trio

from adapters.check.checkup import Checkup
from adapters.check.options import CheckOptions
from adapters.check.record import HUNG_UP, Fault, HangUp
from adapters.check.report import Failures
from adapters.check.visit import Visit
from adapters.check.watching import WatchedCodec, WatchedTranslator
from adapters.check.wire import CheckedSocket
from adapters.client.accepted import Accepted
from adapters.client.connection import Connection
from adapters.client.contract import PeerGone, WireError
from adapters.client.dialect import Dialect
from adapters.client.framing import Lines
from adapters.client.rules import Book, Topic
from adapters.entrance.admission import Admitted, without_limits
from adapters.entrance.handshake import HttpPort
from adapters.entrance.one_port import receive_request
from adapters.entrance.preamble import Preamble
from adapters.net.socket import taken
from adapters.net.tls import TLS
from gateway.access.certificates import Certificate
from gateway.access.heads import is_http
from gateway.server.app import keep_time

# Connections that are no bot's of the dialect, told by what came first on them.
#
# Pure. Knows how TLS and HTTP begin, and asks other dialects whether a text is theirs.

_SHOWN = 60
"""Bytes that are shown of what was said."""


def in_words(first: bytes, dialect: Dialect, others: Iterable[Dialect], *, takes_tls: bool) -> str:
    """Return what is wrong with a connection that begins so; empty if a client of the dialect may.

    Where the port takes TLS, what begins TLS has failed at it.
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
        return f"it said {said[0]!r}, and asked for no websocket, or not as it should"
    if first and dialect.scheme:
        return f"it said {said[0]!r}, and asked for no websocket{hint(said[0], others)}"
    return ""


def hint(text: str, others: Iterable[Dialect]) -> str:
    """Return which other dialect a text is of, as the end of a sentence; empty if of none."""
    for other in others:
        try:
            other.book().codec().decode(text)
        except WireError:
            continue
        return f"; that is {other.short}: c4gateway check {other.name}"
    return ""


# The bots.

_TEXT = "This port checks bots of a Connect-Four dialect, by websocket.\n"
NAMELESS = "(no name)"
_FURTHER = "(further names)"
_WORDLESS = f"{HUNG_UP} before its first message"
_PROBES = 3
"""Connections without a word until they are no accident: one may look which ports are open."""
_KEPT = 20
"""Strangers of a kind that are kept, and kinds of them, and of failures; there may be thousands."""
_START = 60.0
"""Seconds in which a bot that the check itself starts has to connect."""
_CRASH = 1.0
"""Seconds at most from when a bot hangs up until its process ends, if the reason for both is the same."""


class Desk:
    """All bots that are checked, and the check's options."""

    def __init__(
        self,
        dialect: Dialect,
        options: CheckOptions,
        others: Sequence[Dialect] = (),
        certificate: Certificate | None = None,
    ) -> None:
        """`others` are dialects that bots may speak by mistake."""
        self.dialect, self.options = dialect, options
        self.book: Book = dialect.book()
        self.patience = options.patience
        self.slow = options.slow
        self.checkups: dict[str, Checkup] = {}
        self.is_done = trio.Event()
        """Set when there is nothing more to see."""
        self.may_be_slow = True
        """Whether a bot that has said nothing yet is given more time than its patience."""
        self.failures: Failures = {}
        """What bots said last that failed, by how they ended and the last line."""
        self._others = others
        self._preamble = Preamble(certificate, Counter())
        self._strangers: dict[str, list[Fault]] = {}
        """What is told of them, by its words."""
        self._is_closing = False
        """Whether connections are left alone, because nothing more is to be seen."""
        self._hang_ups: deque[HangUp] = deque(maxlen=_KEPT)
        """The latest."""
        self._visits: set[Visit] = set()
        """The connections that are open."""
        self._connections = self._ended = self._strange = self._missing = 0
        """All there have been, those of bots that are over, those of strangers; and bots that cannot come."""

    def of(self, name: str | None) -> Checkup:
        """Return the checkup of a bot. Where there is one bot, all connections are its own.

        Where more names come than there are bots, the further ones share a checkup: a bot with another name
        on each connection would have the check begin anew for ever.
        """
        name = name or NAMELESS
        if self.options.bots == 1 and self.checkups:
            (found,) = self.checkups.values()
            found.name = name if found.name == NAMELESS else found.name
        elif name in self.checkups or name == NAMELESS or self._names < self.options.bots:
            found = self.checkups.setdefault(name, Checkup(name, self.book.rules))
        else:
            found = self.checkups.setdefault(_FURTHER, Checkup(_FURTHER, self.book.rules))
            found.mixed = "more names than bots"
        if any(each.plays(found) for each in self._visits):
            found.mixed = found.mixed or "several connections at once"
        return found

    @property
    def _names(self) -> int:
        return len(self.checkups.keys() - {NAMELESS, _FURTHER})

    def strange(self, first: bytes) -> str:
        """Return what is wrong with a connection that begins so; empty if a bot's may."""
        return in_words(first, self.dialect, self._others, takes_tls=not self._preamble.is_plain)

    def hint(self, text: str) -> str:
        """Return of which other dialect a text is, if it is of one."""
        return hint(text, self._others)

    def connections(self) -> int:
        """Return how many connections there have been."""
        return self._connections

    def give_up(self) -> None:
        """Note that a bot cannot come."""
        self._missing += 1
        self._is_over()

    def failed(self, command: str, how: str, words: Sequence[str]) -> None:
        """Note how a bot that had connected ended, where it failed, and the lines that it said last."""
        if len(self.failures) < _KEPT:
            self.failures.setdefault((f"{command!r} {how}", *words[-1:]), words)
        recent, is_alone = self._recent_hang_ups(), self.options.bots == 1
        if recent and (is_alone or len(recent) == 1):  # otherwise it may have been another bot
            recent[-1].crash = ": ".join(
                [f"{'its process' if is_alone else repr(command)} {how}", *words[-1:]]
            )

    def hung_up(self) -> HangUp:
        """Note that a bot has hung up, and return that: it may turn out that its process has failed."""
        self._hang_ups.append(HangUp(trio.current_time()))
        return self._hang_ups[-1]

    def _recent_hang_ups(self) -> list[HangUp]:
        """Return those of which it may yet turn out that a process has failed."""
        since = trio.current_time() - _CRASH
        return [each for each in self._hang_ups if each.at >= since and not each.crash]

    async def wait_for_crash(self) -> None:
        """Give bots that have just hung up time to end, so that it is known how."""
        self._is_closing = True
        if self._recent_hang_ups():
            await trio.sleep(_CRASH)

    def conclude(self) -> list[Checkup]:
        """Return what is known of the bots, by their names, after all."""
        if self._strangers and len(self.checkups) < self.options.bots:
            stranger = self.checkups.setdefault(NAMELESS, Checkup(NAMELESS, self.book.rules))
            stranger.connections += self._strange
            stranger.faults += (fault for faults in self._strangers.values() for fault in faults)
        for checkup in self.checkups.values():
            checkup.conclude()
        return sorted(self.checkups.values(), key=lambda each: each.name)

    async def wait_for_first(self) -> None:
        """Let the check end if no bot connects at all, though some have been started."""
        await trio.sleep(_START)
        if not self._connections:
            self.is_done.set()

    async def serve(self, stream: trio.SocketStream) -> None:
        """Serve a connection."""
        self._connections += 1
        if self._is_closing:
            await trio.sleep_forever()
        wire = CheckedSocket(taken(stream))
        wire.prepare(frames=bool(self.dialect.scheme), patience=self.patience)
        visits: list[Visit] = []
        try:
            async with without_limits().admit("check", "") as entry:
                if await self._preamble.passed(wire, entry, self.patience):
                    wire.is_watched, wire.first = True, b""
                    await self._serve(wire, entry, visits)
                else:
                    await wire.linger()
        except* PeerGone:
            pass
        finally:
            wire.close()
            self._visits.difference_update(visits)
        is_known = any(visit.is_known for visit in visits)
        may_be_last = is_known or self._note_stranger(wire, has_come=wire.frames and bool(visits))
        if may_be_last or self.checkups:  # a bot's own wait may have ended while this one was there
            self._ended += is_known and any(not visit.is_over for visit in visits)
            await self._wait_for_more(self._ended)

    def _note_stranger(self, wire: CheckedSocket, *, has_come: bool) -> bool:
        """Note a connection on which no bot spoke; return whether it may be the bot that is waited for.

        It `has_come` where its websocket was opened.
        """
        self._strange += 1
        is_gone = wire.has_hung_up and not wire.is_cut_off
        silence = f"{HUNG_UP} without a word" if is_gone else "it said nothing in time"
        words = _WORDLESS if has_come else self.strange(wire.first) or silence
        if words in self._strangers or len(self._strangers) < _KEPT:
            kind = self._strangers.setdefault(words, [])
            topic = Topic.ENTRY if has_come else Topic.TRANSPORT
            hang_up = None if wire.is_cut_off else self.hung_up()
            kind += [Fault(topic, words, "", (), hang_up=hang_up)] if len(kind) < _KEPT else []
        return words != silence or not is_gone or self._strange >= _PROBES

    def _is_over(self) -> bool:
        over = sum(each.is_over for each in self.checkups.values())
        if over + self._missing < self.options.bots:
            return False
        self.is_done.set()
        return True

    async def _wait_for_more(self, ended: int) -> None:
        """Let the check end if all is seen, or if no bot comes any more."""
        if not self._is_over():
            await trio.sleep(self.options.wait)
            if self._ended == ended and all(visit.is_over for visit in self._visits):
                self.is_done.set()

    async def _serve(self, wire: CheckedSocket, entry: Admitted, visits: list[Visit]) -> None:
        async with trio.open_nursery() as nursery:

            async def serve(client: Accepted) -> None:
                book, own = self.book, self.options.own
                usual, original = (book.translator(own, client.target, old) for old in (False, True))
                visit = Visit(self, wire, nursery, usual.manners)
                visits.append(visit)
                self._visits.add(visit)
                nursery.start_soon(keep_time, visit.hub)
                translator = WatchedTranslator(usual, original, visit)
                await Connection(visit.hub, client, WatchedCodec(book.codec(), visit), translator).run()

            try:
                if self.dialect.scheme:
                    entry.limits = replace(entry.limits, request=self.patience)
                    await receive_request(serve, HttpPort(_TEXT), wire, entry)
                else:
                    await serve(Accepted(wire, Lines()))
            finally:
                for visit in visits:
                    visit.ended()
            nursery.cancel_scope.cancel()

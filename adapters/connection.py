"""One client's connection: a reader, an outbox, and codec and translator between them and the hub.

The transport calls it with what arrives. From there to the sockets of other players everything is
synchronous, in the task that found the bytes. A task writes only while a client is slow to take something, so
most moves need none. Knows no dialect.

What waits for a client is bounded. Events become bytes at once, so that they can be counted, unless a result
is still to be stored. A client that does not take what it is told is not read any more; the connection hangs
up when that takes too long or becomes too much.

The connection numbers the client's messages. A refusal comes back with such a number, and then the translator
gets the message: the latest one, or one of the few that were carried out while a result was still to be
stored.

What happens to one connection stays its own: it is the mailbox of its seat, never blocks and never calls the
hub from there. The boundary where our own mistakes end is here.
"""

import logging
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from itertools import accumulate, count
from typing import Generic

import trio

from adapters.connection_log import Stay
from adapters.contract import (
    STOPPED_READING,
    C,
    Codec,
    Farewell,
    Flooded,
    PeerGone,
    S,
    Translator,
    Transport,
    WireError,
)
from adapters.pacing import Pace
from adapters.transports import never
from adapters.wire import Wire
from adapters.wire_log import NOTED, TURNING, Hide, WireLog
from gateway.game.commands import Command, Leave, Unreadable
from gateway.game.events import Dismissed, Ended, Event, Moved, Refused, Started, ToMove
from gateway.game.ids import GameId
from gateway.hub.interfaces import HubForPlayers

OUTBOX_LIMIT = 256
"""Events that may wait for a result; with one more the connection hangs up."""
BACKLOG_LIMIT = 256 * 1024
"""Bytes that may wait for a client; the connection hangs up when there are more."""
FULL = 32 * 1024
"""While more bytes wait for a client it is not read."""
UNREAD = 4096
"""Characters of a client's that are carried out while its events wait for a result."""
AT_FIRST = 4
"""Texts of one client that are carried out as soon as they arrive."""
AT_ONCE = 64
"""Texts that are carried out in one turn of the loop, of all clients that sent more than `AT_FIRST`."""
AT_LENGTH = 256
"""Characters of one client's that are carried out in one turn, unless a single text has more."""

logger = logging.getLogger(__name__)
_ids = count(1)


class Connection(Generic[C, S]):
    """The mailbox of a client on a wire, and the tasks that move its messages."""

    __slots__ = (
        "_codec",
        "_dismissed",
        "_drained",
        "_drains",
        "_failure",
        "_farewell",
        "_holds",
        "_hub",
        "_kind",
        "_latest",
        "_messages",
        "_number",
        "_nursery",
        "_outbox",
        "_pace",
        "_request",
        "_scope",
        "_seat",
        "_stay",
        "_translator",
        "_transport",
        "_unanswered",
        "_unheard",
        "_wire_log",
    )

    def __init__(
        self,
        hub: HubForPlayers,
        transport: Transport,
        codec: Codec[C, S],
        translator: Translator[C, S],
        *,
        hide: Hide | None = None,
    ) -> None:
        """`hide` takes a text of the client's, and returns it as it may be recorded."""
        self._hub = hub
        self._transport = transport
        self._codec = codec
        self._translator = translator
        results = hub.results
        self._wire_log = WireLog(results.enclose, hide) if results.takes_evidence else None
        self._outbox: list[Event] = []
        self._unheard: list[str] = []
        """Texts of the client that are to be carried out later."""
        self._number = 0
        """The number of the latest message that was carried out."""
        self._latest: C | str = ""
        """That message; the text, if it was not a message."""
        self._messages: dict[int, C | str] = {}
        """Messages by number that were carried out while events wait: refusals of them may wait too."""
        self._unanswered = 0
        """Characters of these messages."""
        self._drained = trio.lowlevel.ParkingLot()
        self._drains = False
        """Whether bytes wait, and with them what follows once the client was told of the next two."""
        self._request: ToMove | None = None
        self._dismissed: Dismissed | None = None
        self._holds = True
        """Whether events wait: for a result to be stored, or because no task serves the client."""
        self._nursery: trio.Nursery | None = None
        self._scope = trio.CancelScope()
        self._failure: Exception | None = None
        self._farewell = Farewell(1011, "internal error")
        now = trio.current_time()
        self._stay = Stay(now)
        self._kind = translator.manners.kind
        self._pace = Pace(transport.limits, now)
        self._seat = hub.open(self, translator.manners, now, transport.origin)
        hub.feed.counts["connections", self._kind] += 1

    @property
    def is_reachable(self) -> bool:
        """Whether nothing says that the client has vanished."""
        return self._transport.is_reachable

    def deliver(self, event: Event) -> None:
        """Queue an event for the client. Hang up on a client that is too slow."""
        outbox = self._outbox
        if self._wire_log is not None and event.__class__ in NOTED:
            self._wire_log.note(trio.current_time(), event)
        if not outbox:
            self._hub.expect(self)
        elif len(outbox) >= OUTBOX_LIMIT:
            self._give_up()
            return
        outbox.append(event)

    def flush(self) -> None:
        """Tell the client of the queued events, now or later, in order.

        The end of a game, and what is behind it, waits until the result is stored.

        This runs in the task that caused the events; so an error is kept for the client's own task.
        """
        if self._holds:
            return
        wire_log = self._wire_log
        events, self._outbox = self._outbox, []
        texts: list[str] = []
        request: ToMove | None = None
        dismissed: Dismissed | None = None
        asked: C | str | None = None
        try:
            for event in events:
                if isinstance(event, ToMove):
                    request = event  # an older one has been answered or withdrawn
                elif not isinstance(event, Moved):  # which most are
                    if isinstance(event, Ended) and self._hub.results.is_open(event.game):
                        self._outbox = events[events.index(event) :]
                        self._hold(event.game)
                        break
                    asked = self._asked(event)
                    dismissed = event if isinstance(event, Dismissed) else dismissed
                    if wire_log is not None and isinstance(event, TURNING):
                        wire_log.mark(len(texts), event)
                for message in self._translator.observe(event, asked):
                    texts.append(self._codec.encode(message))  # noqa: PERF401  a comprehension is a call more
            left = not texts or self._transport.write(texts)
            now = 0.0 if request is None and wire_log is None else trio.current_time()
            if wire_log is not None:
                wire_log.said(now, texts, request)  # now that nothing says that the client is gone
            if not left or self._drains:
                self._tell_later(request, dismissed)
                return
            if request is not None:
                self._hub.handed(self._seat, request, now)
            if dismissed is not None:
                self._part(dismissed)
        except Exception as error:
            self._holds = True
            self._failure = error
            self._stay.ends("vanished" if isinstance(error, PeerGone) else "internal error")
            self._scope.cancel()

    def _asked(self, event: Event) -> C | str | None:
        """Return the client's message, or its text if that is not one, to which an event is the answer.

        Note what the operator wants to know of the event.
        """
        if isinstance(event, Started):
            self._stay.plays(event.game)
        if not isinstance(event, Refused):
            return None
        self._hub.feed.counts["refused", (event.objections.name or "").lower()] += 1
        return self._latest if event.to == self._number else self._messages.get(event.to)

    def resume(self) -> None:
        """Read the client again."""
        self._drained.unpark_all()

    async def settle(self) -> None:
        """Return when everything the client had sent before the call has been carried out."""
        await self._transport.settle()

    async def run(self) -> None:
        """Serve the client until it leaves or is dismissed. Raises PeerGone where it vanished."""
        self._transport.thinks = self._thinks
        try:
            with self._scope:
                async with trio.open_nursery() as self._nursery:
                    self._holds = False
                    self.flush()
                    await self._read()
                    while self._holds:  # one that sends no more may still want to hear
                        await self._drained.park()
        finally:
            self._holds = True
            now = trio.current_time()
            self._hub.submit(self._seat, Leave(), now)
            self._tell_operator(now)
            if self._wire_log is not None:
                self._wire_log.close(now)  # with what could not be told any more
            self._nursery = None
            self._outbox, self._unheard = [], []  # which would wait for the garbage collector
            self._messages.clear()
            self._transport.thinks = never
            await self._transport.close(self._farewell)
        if self._failure is not None:
            try:
                raise self._failure
            finally:
                self._failure = None  # whose traceback knows the connection

    async def _read(self) -> None:
        words = "the connection ended"
        flooded = False
        try:
            more = True
            while more:
                more = await self._transport.listen(self._heard)
                while self._unheard or self._seat.is_held:
                    await self._room()
                    await self._pace.ready(self._number, self._transport.origin)
                    await self._transport.turn()
                    texts, self._unheard = self._unheard, []
                    self._heard(texts, AT_ONCE)
            words = self._transport.ended
        except Flooded:
            words, flooded = "sent too much without an end of the message", True
        finally:
            self._note(words)
        if flooded:
            self._latest, self._number = "", self._number + 1
            self._hub.submit(self._seat, Unreadable(self._number), self._transport.read_at)
        self._hub.submit(self._seat, Leave(), self._transport.read_at)

    def _heard(self, texts: list[str], limit: int = AT_FIRST) -> bool:
        """Carry out at most `limit` texts of the client; return whether these were all."""
        now, wire_log, pace = self._transport.read_at, self._wire_log, self._pace
        if len(texts) > 1:
            limit = _few(texts, limit)
        for index, text in enumerate(texts):
            if (
                index == limit
                or ((self._drains or self._holds) and self._is_full)
                or (self._number >= pace.upto and not pace.allows(self._number, now))
            ):
                self._unheard = texts[index:]
                return False
            if wire_log is not None:
                wire_log.heard(now, text)
            number = self._number = self._number + 1
            command: Command
            try:
                message = self._latest = self._codec.decode(text)
            except WireError:
                self._latest, command = text, Unreadable(number)
            else:
                command = self._translator.receive(message, number)
            waits = self._hub.submit(self._seat, command, now)
            if self._holds:
                self._unanswered += len(text)
                self._messages[self._number] = self._latest
            if waits:
                self._unheard = texts[index + 1 :]
                return False
        return True

    def _tell_operator(self, now: float) -> None:
        """Count the connection as over, and log it."""
        counts = self._hub.feed.counts
        counts["connections_over", self._kind] += 1
        if self._stay.cause == STOPPED_READING:
            counts["dropped", self._kind] += 1
        self._stay.log(self._kind, self._seat.name, self._transport.origin, now)

    def _thinks(self) -> bool:
        """Return whether the client may think about a move: it is to move, or may not know that it is not."""
        return self._holds or self._seat.is_asked

    def _note(self, words: str) -> None:
        self._stay.ends(words)
        if self._wire_log is not None:
            self._wire_log.remark(trio.current_time(), words)

    @property
    def _is_full(self) -> bool:
        """Whether the client is not to be read.

        Either so much waits for it that it has to let that in first, or nobody has decided yet whether it may
        enter.
        """
        return (
            self._transport.waiting > FULL
            or len(self._outbox) > OUTBOX_LIMIT // 2
            or self._unanswered > UNREAD
            or self._seat.is_held
        )

    async def _room(self) -> None:
        """Wait until there is room for answers."""
        while self._is_full:
            await self._drained.park()

    def _part(self, dismissed: Dismissed) -> None:
        """Hang up, now that the client was told all that it is to hear."""
        self._stay.ends(dismissed.why.value)
        self._farewell = self._translator.farewell(dismissed)
        self._scope.cancel()

    def _tell_later(self, request: ToMove | None, dismissed: Dismissed | None) -> None:
        """Count the client as told of these once all that waits has left."""
        self._request = request or self._request
        self._dismissed = dismissed or self._dismissed
        if self._transport.waiting > BACKLOG_LIMIT:
            self._give_up()
        elif not self._drains:
            assert self._nursery is not None
            self._drains = True
            self._nursery.start_soon(self._drain)

    async def _drain(self) -> None:
        try:
            await self._transport.drain()
        except PeerGone as gone:
            self._stay.ends(str(gone))
            raise
        request, dismissed = self._request, self._dismissed
        self._drains, self._request, self._dismissed = False, None, None
        if request is not None:
            self._hub.handed(self._seat, request, trio.current_time())
        if dismissed is not None:
            self._part(dismissed)
        self._drained.unpark_all()

    def _hold(self, game: GameId) -> None:
        """Hold the queued events until the result of a game is stored."""
        self._holds = True
        self._hub.results.when_stored(game, self._stop_holding)

    def _stop_holding(self) -> None:
        """Tell the client of what was held."""
        if self._nursery is None or self._scope.cancel_called:  # the client is gone, or given up
            return
        self._holds = False
        self._unanswered = 0
        self.flush()
        if not self._outbox:
            self._messages = {}
        self._hub.feed.tell_ends()
        self._drained.unpark_all()

    def _give_up(self) -> None:
        """Hang up on a client that has stopped reading."""
        self._farewell = Farewell(1008, STOPPED_READING)
        self._holds = True
        if not self._scope.cancel_called:
            self._note(STOPPED_READING)
        self._scope.cancel()


def _few(texts: Sequence[str], limit: int) -> int:
    """Return how many texts may be carried out in one turn, `limit` at most."""
    lengths = accumulate(map(len, texts[:limit]))
    return max(1, sum(length <= AT_LENGTH for length in lengths))


async def serve_connection(
    name: str,
    serve: Callable[[Wire], Awaitable[None]],
    wired: Callable[[trio.SocketStream], Wire],
    stream: trio.SocketStream,
) -> None:
    """Serve a client's stream until it is closed; let no error reach any other client."""
    wire = wired(stream)
    try:
        await guarded(name, partial(serve, wire))
    finally:
        await trio.aclose_forcefully(wire)


async def guarded(name: str, work: Callable[[], Awaitable[None]]) -> None:
    """Do the work of one player; let no error reach any other."""
    number = next(_ids)
    about = {"front_end": name, "connection": number}
    logger.debug("%s connection %d opened", name, number, extra={"event": "connection_opened", **about})
    try:
        await work()
    except* PeerGone:
        logger.debug("%s connection %d lost", name, number, extra={"event": "connection_lost", **about})
    except* Exception:
        words = "%s connection %d closed after an internal error"
        logger.exception(words, name, number, extra={"event": "connection_failed", **about})
    finally:
        logger.debug("%s connection %d closed", name, number, extra={"event": "connection_closed", **about})

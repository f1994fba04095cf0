"""The outbox of a connection: the mailbox of its seat, and all that one client is told.

Knows events, the codec and the translator that make texts of them, and how much may wait. Does not know how a
client is read. A task writes only while a client is slow to take something, so most moves need none.

What waits for a client is bounded. Events become bytes at once, so that they can be counted, unless a result
is still to be stored. A client that does not take what it is told is not to be read any more (`is_full`); the
connection hangs up when that takes too long or becomes too much.

A refusal comes back with the number of a message, and then the translator gets the message: the latest one,
or one of the few that were carried out while a result was still to be stored.

The rule it keeps: what the hub calls never blocks, and calls of the hub's methods only `expect` and `handed`.
"""

import logging
from math import inf
from typing import Generic

import trio

from adapters.client.contract import (
    PROBE_LIMIT,
    STOPPED_READING,
    C,
    Codec,
    Farewell,
    PeerGone,
    S,
    Translator,
    Transport,
)
from adapters.client.wire_log import NOTED, TURNING, Hide, WireLog
from gateway.game.events import Dismissed, Ended, Event, Moved, Refused, Started, ToMove
from gateway.game.ids import GameId
from gateway.game.text import quoted
from gateway.hub.hub import HubForPlayers

logger = logging.getLogger("gateway.connections")


# The line of the log that a player's connection leaves: who came from where, why it ended, which games.
#
# Knows names, words and ids of games. Does not know how a connection works. A connection whose client never
# gave a name is told of for debugging alone, so that strangers cannot fill the log.


class Stay:
    """What is remembered of a connection for its line."""

    __slots__ = ("_came", "_game", "_games", "cause")

    def __init__(self, now: float) -> None:
        self._came = now
        self._games = 0
        self._game: GameId | None = None
        self.cause = ""
        """Why the connection ends, once that is known."""

    def ends(self, cause: str) -> None:
        """Note why the connection ends: the first cause counts."""
        self.cause = self.cause or cause

    def plays(self, game: GameId) -> None:
        """Note that the player was told of the start of a game."""
        self._games += 1
        self._game = game

    def log(self, kind: str, name: str | None, origin: str, now: float) -> None:
        """Log the end of the connection, of a dialect called `kind`."""
        level = logging.DEBUG if name is None else logging.INFO
        if not logger.isEnabledFor(level):
            return
        seconds = now - self._came
        who = "nobody" if name is None else quoted(name)
        last = f", the last one {self._game}" if self._games else ""
        logger.log(
            level,
            "%s: %s at %s is gone after %.1f s: %s; games: %d%s",
            *(kind, who, origin or "no address", seconds, self.cause, self._games, last),
            extra={
                "event": "player_gone",
                "front_end": kind,
                "player": name,
                "origin": origin,
                "cause": self.cause,
                "games": self._games,
                "game": self._game,
                "seconds": round(seconds, 3),
            },
        )


# The outbox.

OUTBOX_LIMIT = 256
"""Events that may wait for a result; with one more the connection hangs up."""
BACKLOG_LIMIT = 256 * 1024
"""Bytes that may wait for a client; the connection hangs up when there are more."""
FULL = 32 * 1024
"""While more bytes wait for a client it is not read."""
UNANSWERED = "did not answer when its name was asked for"
"""What is said of a client that has vanished, as another of its name has shown."""
UNREAD = 4096
"""Characters of a client's that are carried out while its events wait for a result."""


class Outbox(Generic[C, S]):
    """What waits for one client, and what it was told."""

    __slots__ = (
        "_codec",
        "_dismissed",
        "_drained",
        "_events",
        "_hub",
        "_is_probed",
        "_messages",
        "_nursery",
        "_probed",
        "_request",
        "_translator",
        "_transport",
        "_unanswered",
        "drains",
        "failure",
        "farewell",
        "holds",
        "latest",
        "latest_number",
        "scope",
        "seat",
        "stay",
        "wire_log",
    )

    def __init__(
        self,
        hub: HubForPlayers,
        transport: Transport,
        codec: Codec[C, S],
        translator: Translator[C, S],
        hide: Hide | None,
    ) -> None:
        self.latest_number = 0
        """The number of the client's latest message that was carried out."""
        self.latest: C | str = ""
        """That message; the text, if it was not a message."""
        self.drains = False
        """Whether bytes wait, and with them what follows once they have left: `_request`, `_dismissed`."""
        self.holds = True
        """Whether events wait: for a result to be stored, or because no task serves the client."""
        self.scope = trio.CancelScope()
        """What ends when the client is to be hung up on."""
        self.farewell = Farewell(1011, "internal error")
        """How to do that."""
        self.failure: Exception | None = None
        """An error of `flush`, which runs in another client's task."""
        self.stay = Stay(trio.current_time())
        self.wire_log = WireLog(hub.results.enclose, hide) if hub.results.takes_evidence else None
        self._hub = hub
        self._transport = transport
        self._codec = codec
        self._translator = translator
        self._events: list[Event] = []
        self._messages: dict[int, C | str] = {}
        """Messages by number that were carried out while events wait: refusals of them may wait too."""
        self._unanswered = 0
        """Characters of these messages."""
        self._drained = trio.lowlevel.ParkingLot()
        self._request: ToMove | None = None
        self._dismissed: Dismissed | None = None
        self._nursery: trio.Nursery | None = None
        self._is_probed = False
        """Whether the client has a probe to answer."""
        self._probed = -inf
        """When it answered the last one."""
        self.seat = hub.open(self, translator.manners, trio.current_time(), transport.origin)

    @property
    def is_reachable(self) -> bool:
        """Whether nothing says that the client has vanished."""
        return self._transport.is_reachable

    @property
    def is_full(self) -> bool:
        """Whether the client is not to be read.

        Either so much waits for it that it has to let that in first, or nobody has decided yet whether it may
        enter.
        """
        return (
            self._transport.waiting > FULL
            or len(self._events) > OUTBOX_LIMIT // 2
            or self._unanswered > UNREAD
            or self.seat.is_held
        )

    def open(self, nursery: trio.Nursery) -> None:
        """Tell the client of what waits, and of what comes from now on, in tasks of `nursery` if need be."""
        self._nursery = nursery
        self.holds = False
        self.flush()

    def end(self) -> None:
        """Tell the client nothing more, and start no task for it."""
        self.holds = True
        self._nursery = None

    def close(self, now: float) -> None:
        """Forget what waits for a client that nobody serves any more, before the garbage collector does."""
        if self.wire_log is not None:
            self.wire_log.close(now)  # with what could not be told any more
        self._events = []
        self._messages.clear()

    def deliver(self, event: Event) -> None:
        """Queue an event for the client. Hang up on a client that is too slow."""
        events = self._events
        if self.wire_log is not None and event.__class__ in NOTED:
            self.wire_log.note(trio.current_time(), event)
        if not events:
            self._hub.expect(self)
        elif len(events) >= OUTBOX_LIMIT:
            self._give_up(STOPPED_READING)
            return
        events.append(event)

    def flush(self) -> None:
        """Tell the client of the queued events, now or later, in order.

        The end of a game, and what is behind it, waits until the result is stored.
        """
        if self.holds:
            return
        wire_log = self.wire_log
        events, self._events = self._events, []
        texts: list[str] = []
        request: ToMove | None = None
        dismissed: Dismissed | None = None
        asked: C | str | None = None
        try:
            for event in events:
                if isinstance(event, ToMove):
                    request = event  # an older one has been answered or withdrawn
                elif not isinstance(event, Moved):  # which most are
                    if isinstance(event, Ended):
                        if self._hub.results.is_open(event.game):
                            self._events = events[events.index(event) :]
                            self._hold(event.game)
                            break
                        event = self._hub.results.as_stored(event)  # noqa: PLW2901
                    asked = self._asked(event, len(texts))
                    dismissed = event if isinstance(event, Dismissed) else dismissed
                for message in self._translator.observe(event, asked):
                    texts.append(self._codec.encode(message))  # noqa: PERF401  a comprehension is a call more
            left = not texts or self._transport.write(texts)
            now = 0.0 if request is None and wire_log is None else trio.current_time()
            if wire_log is not None:
                wire_log.said(now, texts, request)  # now that nothing says that the client is gone
            if not left or self.drains:
                self._tell_later(request, dismissed)
                return
            if request is not None:
                self._hub.handed(self.seat, request, now)
            if dismissed is not None:
                self._part(dismissed)
        except Exception as error:
            self._fail(error)

    def resume(self) -> None:
        """Let the client be read again."""
        self._drained.unpark_all()

    def probe(self) -> None:
        """Begin to find out whether the client has vanished; hang up if it has."""
        if self._nursery is not None and not self._is_probed:
            self._is_probed = True
            self._nursery.start_soon(self._probe)

    async def _probe(self) -> None:
        if trio.current_time() >= self._probed + PROBE_LIMIT:  # however often somebody asks for the name
            if not await self._transport.answers(lambda: self.holds or self.seat.may_think):
                self._give_up(UNANSWERED)
                return
            self._probed = trio.current_time()
        self._is_probed = False
        self._hub.alive(self.seat, trio.current_time())

    async def settle(self) -> None:
        """Return when everything the client had sent before the call has been carried out."""
        await self._transport.settle()

    async def room(self) -> None:
        """Return when there is room for answers."""
        while self.is_full:
            await self._drained.park()

    async def released(self) -> None:
        """Return when no events wait for a result any more."""
        while self.holds:
            await self._drained.park()

    def remember(self, text: str) -> None:
        """Keep the latest message, whose text is given: its refusal may have to wait for a result."""
        self._unanswered += len(text)
        self._messages[self.latest_number] = self.latest

    def note(self, words: str) -> None:
        """Note how the connection ends, for the operator and the evidence."""
        self.stay.ends(words)
        if self.wire_log is not None:
            self.wire_log.remark(trio.current_time(), words)

    def _asked(self, event: Event, texts: int) -> C | str | None:
        """Return the client's message, or its text if that is not one, to which an event is the answer.

        Note what the operator and the evidence want to know of the event, which `texts` of its flush precede.
        """
        if self.wire_log is not None and isinstance(event, TURNING):
            self.wire_log.mark(texts, event)
        if isinstance(event, Started):
            self.stay.plays(event.game)
        if not isinstance(event, Refused):
            return None
        self._hub.feed.counts["refused", (event.objections.name or "").lower()] += 1
        return self.latest if event.to == self.latest_number else self._messages.get(event.to)

    def _part(self, dismissed: Dismissed) -> None:
        """Hang up, now that the client was told all that it is to hear."""
        self.stay.ends(dismissed.why.value)
        self.farewell = self._translator.farewell(dismissed)
        self.scope.cancel()

    def _fail(self, error: Exception) -> None:
        """Keep an error for the client's own task: it came about in the task that caused the events."""
        self.holds = True
        self.failure = error
        self.stay.ends("vanished" if isinstance(error, PeerGone) else "internal error")
        self.scope.cancel()

    def _tell_later(self, request: ToMove | None, dismissed: Dismissed | None) -> None:
        """Count the client as told of these once all that waits has left."""
        self._request = request or self._request
        self._dismissed = dismissed or self._dismissed
        if self._transport.waiting > BACKLOG_LIMIT:
            self._give_up(STOPPED_READING)
        elif not self.drains:
            assert self._nursery is not None
            self.drains = True
            self._nursery.start_soon(self._drain)

    async def _drain(self) -> None:
        try:
            await self._transport.drain()
        except PeerGone as gone:
            self.stay.ends(str(gone))
            raise
        request, dismissed = self._request, self._dismissed
        self.drains, self._request, self._dismissed = False, None, None
        if request is not None:
            self._hub.handed(self.seat, request, trio.current_time())
        if dismissed is not None:
            self._part(dismissed)
        self._drained.unpark_all()

    def _hold(self, game: GameId) -> None:
        """Hold the queued events until the result of a game is stored."""
        self.holds = True
        self._hub.results.when_stored(game, self._stop_holding)

    def _stop_holding(self) -> None:
        """Tell the client of what was held."""
        if self._nursery is None or self.scope.cancel_called:  # the client is gone, or given up
            return
        self.holds = False
        self._unanswered = 0
        self.flush()
        if not self._events:
            self._messages = {}
        self._hub.feed.tell_ends()
        self._drained.unpark_all()

    def _give_up(self, words: str) -> None:
        """Hang up on a client that has stopped reading or answering, as `words` say."""
        self.farewell = Farewell(1008, words)
        self.holds = True
        if not self.scope.cancel_called:
            self.note(words)
        self.scope.cancel()

"""One client's connection: turns its texts into commands, and sends it the events of its seat.

Knows one client's socket, framing, codec and translator. Does not know dialects. Texts are carried out at
once, in the task that read them. Events wait in the outbox until the hub is done, and are then sent. Further
tasks of a connection send pings, probe the client, and send what a slow client did not accept at once.
"""

import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any, Generic, Protocol

import trio

from adapters.client.accepted import TURN, Accepted, hang_up, texts_of
from adapters.client.contract import (
    PROBE_LIMIT,
    SEND_LIMIT,
    STOPPED_READING,
    C,
    C_contra,
    Codec,
    Farewell,
    Flooded,
    HangUp,
    PeerGone,
    S,
    Translator,
    WireError,
)
from adapters.client.rate_limit import RateLimit
from adapters.client.wire_log import NOTED, TURNING, Hide, WireLog
from adapters.net.socket import BROKEN
from gateway.game.commands import Command, Leave, Unreadable
from gateway.game.events import Dismissed, Ended, Event, Moved, Refused, Resumed, Shown, Started, ToMove
from gateway.game.ids import GameId
from gateway.game.text import quoted
from gateway.hub.hub import HubForPlayers
from gateway.hub.seats import Seat
from gateway.runtime.accepting import KEEPALIVE_IDLE

OUTBOX_LIMIT = 256
"""The most events that may wait until a result is stored. With one more, the server hangs up."""
BACKLOG_LIMIT = 256 * 1024
"""The most bytes that may wait for a client. With more, the server hangs up."""
FULL = 32 * 1024
"""While more than this many bytes wait for a client, nothing is read from the client."""
HELD_SIZE = 4096
"""The most characters of texts that are carried out while the client's events wait for a result, with the
answers of `Queries` to them. With more, nothing is read from the client."""
PING_PERIOD = 20.0
"""Seconds between two pings. A client that sends nothing in that time is gone, unless it may be thinking."""
PONG_LIMIT = 5.0
"""Seconds that a client has to answer a ping. A client that is silent for longer is not paired."""
NO_ANSWER = "did not answer when its name was asked for"
"""The logged cause if a client does not answer a probe."""

_TEXT, _CHARACTER = 0.000_04, 0.000_000_4
"""Estimated seconds to carry out a text, and additional seconds for each of its characters."""
_PROBE_PAUSES = *(0.01 * 2**look for look in range(8)), PROBE_LIMIT - 0.01 * 255
"""Seconds before each check for the answer to a probe. Their sum is `PROBE_LIMIT`."""
_SLACK = 0.02
"""Seconds by which `Socket.silence` may be wrong."""
_SETTLE_LIMIT = 100
"""The most turns of the loop that `settle` waits. A turn takes about a millisecond. Turns are counted, not
seconds, because time also passes while the server stands still."""

logger = logging.getLogger("gateway.connections")


class Queries(Protocol[C_contra]):
    """Answers the messages of a dialect that are no commands, such as a question for the list of players.

    Such an answer depends on more than the client's seat. Its front end may also `Connection.tell` a client
    more later, such as the moves in all games.
    """

    def answer(self, message: C_contra, client: "Connection[Any, Any]") -> Sequence[str] | None:
        """Return the texts that answer a client's message, perhaps none; None if it is a command."""


@dataclass(frozen=True, slots=True)
class _Told:
    """Texts for the client that no event of its seat causes. They wait in the outbox as events do."""

    texts: Sequence[str]


class _Summary:
    """The data about a connection that are logged when it has ended."""

    __slots__ = ("_came", "_game", "_games", "cause")

    def __init__(self, now: float) -> None:
        self.cause = ""
        """Why the connection ends; the first cause counts."""
        self._came = now
        self._games = 0
        self._game: GameId | None = None
        """The latest game whose start was sent to the client."""

    def ends(self, cause: str) -> None:
        """Record why the connection ends; the first cause counts."""
        self.cause = self.cause or cause

    def plays(self, game: GameId) -> None:
        """Record that the start of a game was sent to the client."""
        self._games, self._game = self._games + 1, game

    def log(self, kind: str, name: str | None, origin: str, now: float) -> None:
        """Log the end of a connection of the dialect `kind`.

        Without a name the level is DEBUG, so that clients that never enter cannot fill the log.
        """
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


class Connection(Generic[C, S]):
    """A client's connection. It is the mailbox of the client's seat."""

    __slots__ = (
        "_changed",
        "_codec",
        "_dismissed",
        "_drains",
        "_events",
        "_excused",
        "_failure",
        "_farewell",
        "_framing",
        "_has_left",
        "_held_size",
        "_holds",
        "_hub",
        "_is_probed",
        "_kind",
        "_latest",
        "_messages",
        "_number",
        "_nursery",
        "_pinged",
        "_probed",
        "_queries",
        "_rate",
        "_reads",
        "_request",
        "_scope",
        "_seat",
        "_socket",
        "_summary",
        "_translator",
        "_unheard",
        "_wire_log",
    )

    def __init__(
        self,
        hub: HubForPlayers,
        client: Accepted,
        codec: Codec[C, S],
        translator: Translator[C, S],
        *,
        hide: Hide | None = None,
        queries: Queries[C] | None = None,
    ) -> None:
        """Open a seat for the client. `hide` removes secrets from a client's text before it is recorded.

        `queries` answers the dialect's messages that are no commands, if it has such messages.
        """
        now = trio.current_time()
        self._hub = hub
        self._socket = client.socket
        self._framing = client.framing
        self._codec = codec
        self._translator = translator
        self._queries = queries
        self._kind = client.kind(translator.manners)
        self._rate = RateLimit(client.limits, now)
        self._wire_log = WireLog(hub.results.enclose, hide) if hub.results.takes_evidence else None

        # Texts from the client.
        self._unheard = client.texts
        """Texts that were read and are not carried out yet."""
        self._number = 0
        """The number of the latest message that was carried out."""
        self._latest: C | str = ""
        """The latest message that was carried out; its text, if it was not a valid message."""
        self._messages: dict[int, C | str] = {}
        """The messages, by number, that were carried out while events wait. Waiting refusals refer to
        them."""
        self._held_size = 0
        """The number of characters in the texts of `_messages`."""

        # Events for the client.
        self._events: list[Event | _Told] = []
        self._holds = True
        """Whether events wait, because a result is not stored yet or no task serves the client."""
        self._drains = False
        """Whether a task waits until the backlog is sent. It then handles `_request` and `_dismissed`."""
        self._request: ToMove | None = None
        self._dismissed: Dismissed | None = None
        self._changed = trio.lowlevel.ParkingLot()
        """Tasks that wait for a change of `_holds`, `_drains` or `_is_full`."""

        # Whether the client is there.
        self._pinged = -inf
        """When the latest ping was sent."""
        self._reads = -1
        """The value of `Socket.reads` when the latest ping was sent."""
        self._excused = False
        """Whether the client had to move when the latest ping was sent. Then it may not have read the
        ping."""
        self._is_probed = False
        """Whether a probe of the client is under way."""
        self._probed = -inf
        """When the client last answered a probe."""

        # How it ends.
        self._nursery: trio.Nursery | None = None
        self._scope = trio.CancelScope()
        """Cancelled to hang up on the client."""
        self._farewell = Farewell(1011, "internal error")
        self._has_left = False
        self._failure: Exception | SystemExit | None = None
        """The error that ends the connection. `flush` may store it from another client's task."""
        self._summary = _Summary(now)

        self._seat = hub.open(self, translator.manners, now, client.socket.origin)
        hub.feed.counts["connections", self._kind] += 1

    async def run(self) -> None:
        """Serve the client until it leaves or is dismissed. Raises PeerGone if the client vanishes."""
        try:
            with self._scope:
                async with trio.open_nursery() as nursery:
                    self._nursery = nursery
                    self._holds = False
                    if self._framing.ping():
                        nursery.start_soon(self._keep_pinging)
                    self.flush()
                    try:
                        await self._read()
                        # A client that sends no more may still want to read
                        while self._holds or self._drains:
                            await self._changed.park()
                    except (Exception, SystemExit) as error:  # a plug-in's code may raise SystemExit
                        # If the error were raised here, the nursery would put it into a group with other
                        # errors. Through trio's frames, that group would form a reference cycle with the
                        # connection.
                        self._failure = self._failure or error
                    finally:
                        # The hub may get `Leave` a turn after the nursery is closed.
                        self._holds, self._nursery = True, None
                    nursery.cancel_scope.cancel()
        finally:
            now = trio.current_time()
            # Not dismissed, so the connection broke, or this process had to give up on it.
            self._leave(now, is_broken=True)
            counts = self._hub.feed.counts
            counts["connections_over", self._kind] += 1
            if self._summary.cause == STOPPED_READING:
                counts["dropped", self._kind] += 1
            self._summary.log(self._kind, self._seat.name, self._socket.origin, now)
            if self._wire_log is not None:  # this also stores the logs of games whose end was not sent
                self._wire_log.close(now, is_kept=not self._seat.is_gone)
            # Otherwise only the cyclic garbage collector would free the events and the texts.
            self._events, self._unheard = [], []
            self._messages.clear()
            await hang_up(self._socket, self._framing, self._farewell)
        if self._failure is not None:
            try:
                raise self._failure
            finally:
                self._failure = None  # its traceback refers to the connection

    # Reading.

    async def _read(self) -> None:
        words, refused = "the connection ended", False
        try:
            texts, self._unheard = self._unheard, []
            self._hear(texts)  # the texts that came with the client's request
            await self._carry_out_later()
            while not self._framing.ended:
                try:
                    await self._socket.listen(self._ready)
                except BROKEN:
                    words = self._loss or words
                    raise PeerGone(words) from None
                await self._carry_out_later()
            words = self._framing.ended
            # The server has answered everything that the client sent before its close frame. It may send
            # nothing after its own close frame.
            self._send(self._framing.close(self._farewell))
        except Flooded:
            words, refused = "sent too much without an end of the message", True
        except HangUp as error:
            words, refused = str(error), True
        finally:
            self._note(words)
        if refused:
            self._latest, self._number = "", self._number + 1
            self._hub.submit(self._seat, Unreadable(self._number), self._socket.read_at)
        self._leave(self._socket.read_at, is_broken=not (refused or self._framing.is_final))

    def _ready(self) -> bool:
        """Read what has arrived and carry it out; return whether to keep listening."""
        texts = texts_of(self._socket, self._framing, self._socket.read())
        goes_on = not texts or self._hear(texts)
        if self._framing.replies or self._socket.waiting:
            self._reply()
        return goes_on and not (self._framing.ended or self._framing.has_more or self._socket.waiting > FULL)

    def _reply(self) -> None:
        """Send the automatic answers of the framing and of TLS, such as pongs.

        Call this after the texts of the same read are carried out, so that they count even if sending fails.
        """
        replies, self._framing.replies = self._framing.replies, b""
        self._send(replies)
        if self._socket.waiting and not self._drains:
            self._wait_for_drain(None, None)

    async def _carry_out_later(self) -> None:
        """Carry out the texts that were not carried out at once. Clients take turns."""
        turns = self._socket.turns
        while (
            self._unheard
            or self._framing.has_more
            or self._seat.is_held
            or (self._is_full and not self._framing.ended)  # a client that has hung up leaves without waiting
        ):
            while self._is_full:
                await self._changed.park()
            await self._rate.wait(self._number, self._socket.origin)
            await turns.wait(TURN)
            texts, self._unheard = self._unheard, []
            began = trio.current_time()
            self._hear(texts or texts_of(self._socket, self._framing, b""), granted=TURN)
            self._reply()
            turns.deferred.take(max(0.0, trio.current_time() - began - TURN))  # the time beyond `TURN`

    def _hear(self, texts: list[str], granted: float = 0.0) -> bool:
        """Carry out texts of the client; return whether all are done and reading may continue.

        The first text is never delayed for lack of time, because it may be a move. Each further text uses up
        time: the `granted` seconds if the client has waited for its turn, else the budget of this turn.
        """
        now, rate, deferred = self._socket.read_at, self._rate, self._socket.turns.deferred
        began = trio.current_time() if len(texts) > 1 else now
        spent = charged = 0.0
        is_over = False
        for index, text in enumerate(texts):
            if index:
                # Charge the longer of the estimate and the measured time: some texts take ten times longer.
                estimate = spent + _TEXT + _CHARACTER * len(texts[index - 1])
                spent = max(estimate, trio.current_time() - began)
                is_over = spent >= granted if granted else not deferred.take(spent - charged)
                charged = spent
            if (
                is_over
                or ((self._drains or self._holds) and self._is_full)
                or (self._number >= rate.upto and not rate.allows(self._number, now))
            ):
                self._unheard = texts[index:]
                return False
            if self._wire_log is not None:
                self._wire_log.heard(now, text)
            number = self._number = self._number + 1
            command: Command
            try:
                message = self._latest = self._codec.decode(text)
            except HangUp:
                raise
            except WireError:
                self._latest, command = text, Unreadable(number)
            else:
                if self._queries is not None:
                    answer = self._queries.answer(message, self)
                    if answer is not None:
                        self.tell(answer)
                        if self._holds:
                            self._held_size += len(text) + sum(map(len, answer))
                        continue
                command = self._translator.receive(message, number)
            waits = self._hub.submit(self._seat, command, now)
            if self._holds:  # the answer may have to wait for a result
                self._held_size += len(text)
                self._messages[number] = self._latest
            if waits:
                self._unheard = texts[index + 1 :]
                return False
        return True

    @property
    def _is_full(self) -> bool:
        """Whether nothing is read from the client for now.

        Either too much waits for it, or the hub has not decided yet whether it may enter.
        """
        return (
            self._socket.waiting > FULL
            or len(self._events) > OUTBOX_LIMIT // 2
            or self._held_size > HELD_SIZE
            or self._seat.is_held
        )

    @property
    def has_name(self) -> bool:
        """Whether the client is a player with a name."""
        return self._seat.name is not None

    @property
    def game(self) -> Shown | None:
        """The client's game, if it is on and on this node."""
        return self._seat.game

    @property
    def unreadable(self) -> str:
        """The client's latest text, if it was not a valid message; empty if it was valid, or too long."""
        return self._latest if isinstance(self._latest, str) else ""

    def resume(self) -> None:
        """Resume reading from the client."""
        self._changed.unpark_all()

    def move_to(self, seat: Seat) -> None:
        """Use the seat that the player had before its earlier connection broke."""
        self._seat = seat

    def conclude(self, ended: Ended, *, is_last: bool) -> None:
        """Store the evidence of the game that was on when the connection broke."""
        if self._wire_log is not None:
            self._wire_log.end(trio.current_time(), ended, is_last=is_last)

    async def settle(self) -> None:
        """Wait until everything that arrived before the call is carried out.

        The wait ends when the socket was quiet in three turns of the loop in a row.
        """
        quiet = 0
        for _ in range(_SETTLE_LIMIT):
            await trio.lowlevel.checkpoint()
            quiet = quiet + 1 if self._socket.is_quiet else 0
            if quiet == 3:
                return
            if not quiet:
                await trio.sleep(0.001)

    # Sending. Methods that the hub calls never block. The only methods of the hub that they call are `expect`
    # and `handed`.

    def deliver(self, event: Event) -> None:
        """Queue an event for the client. If the client is too slow, hang up."""
        events = self._events
        if self._wire_log is not None and event.__class__ in NOTED:
            self._wire_log.note(trio.current_time(), event)
        if not events:
            self._hub.expect(self)
        elif len(events) >= OUTBOX_LIMIT:
            self._give_up(STOPPED_READING)
            return
        events.append(event)

    def tell(self, texts: Sequence[str]) -> None:
        """Send texts that no event of the client's seat causes, after the events that wait.

        The hub and other code that publishes facts must not call this. If the client is too slow, hang up.
        """
        if len(self._events) >= OUTBOX_LIMIT:
            self._give_up(STOPPED_READING)
        elif texts and not self._has_left:
            self._events.append(_Told(texts))
            self.flush()

    def start_soon(self, work: Callable[[], Awaitable[object]]) -> None:
        """Start a task that is cancelled when the connection ends. Do nothing if it has ended."""
        if self._nursery is not None:
            self._nursery.start_soon(work)

    def flush(self) -> None:
        """Send the queued events to the client, in order.

        The end of a game, and every event after it, waits until the result is stored. Other events become
        bytes at once, because the number of waiting bytes is limited. This method runs in the task that
        caused the events. An error is stored, and ends this connection in its own task.
        """
        if self._holds:
            return
        wire_log = self._wire_log
        events, self._events = self._events, []
        texts: list[str] = []
        request: ToMove | None = None
        dismissed: Dismissed | None = None
        asked: C | str | None = None
        try:
            for event in events:
                if isinstance(event, ToMove):
                    request = event  # an older request has been answered or withdrawn
                elif not isinstance(event, Moved):  # most events are `Moved`
                    if isinstance(event, _Told):
                        texts += event.texts
                        continue
                    if isinstance(event, Ended):
                        if self._hub.results.is_open(event.game):
                            self._events = events[events.index(event) :]
                            self._hold(event.game)
                            break
                        event = self._hub.results.as_stored(event)  # noqa: PLW2901
                    asked = self._answered_message(event, len(texts))
                    dismissed = event if isinstance(event, Dismissed) else dismissed
                for message in self._translator.observe(event, asked):
                    texts.append(self._codec.encode(message))
            left = not texts or self._socket.write(self._framing.frame(texts))
            now = 0.0 if request is None and wire_log is None else trio.current_time()
            if wire_log is not None:
                wire_log.said(now, texts, request)  # after `write`, which raises if the client is gone
            if not left or self._drains:
                self._wait_for_drain(request, dismissed)
                return
            if request is not None and not self._has_left:
                self._hub.handed(self._seat, request, now)
            if dismissed is not None:
                self._dismiss(dismissed)
        except BROKEN:
            self._summary.ends(self._loss)
            self._fail(PeerGone())
        except (Exception, SystemExit) as error:
            self._fail(error)

    def _answered_message(self, event: Event, texts: int) -> C | str | None:
        """Return the client's message that an event refuses; None if the event is not a refusal.

        If the message was not valid, return its text. Also record the event for the operator and the
        evidence. `texts` is the number of texts before it in the same flush.
        """
        if self._wire_log is not None and isinstance(event, TURNING):
            self._wire_log.mark(texts, event)
        if isinstance(event, Started | Resumed):
            self._summary.plays(event.game)
        if not isinstance(event, Refused):
            return None
        self._hub.feed.counts["refused", (event.objections.name or "").lower()] += 1
        return self._latest if event.to == self._number else self._messages.get(event.to)

    def _send(self, data: bytes) -> None:
        """Send bytes other than texts, if there are any. Raises PeerGone."""
        try:
            if data and not self._socket.write(data):
                self._wait_for_drain(None, None)
        except BROKEN:
            raise PeerGone from None

    def _wait_for_drain(self, request: ToMove | None, dismissed: Dismissed | None) -> None:
        """Start a task that waits until the backlog is sent, and then starts the clock or hangs up.

        If the backlog is too large, give up on the client.
        """
        self._request = request or self._request
        self._dismissed = dismissed or self._dismissed
        if self._socket.waiting > BACKLOG_LIMIT:
            self._give_up(STOPPED_READING)
        elif not self._drains and self._nursery is not None:
            self._drains = True
            self._nursery.start_soon(self._drain)

    async def _drain(self) -> None:
        try:
            with trio.fail_after(SEND_LIMIT):
                await self._socket.drain()
        except trio.TooSlowError:
            self._summary.ends(STOPPED_READING)
            raise PeerGone(STOPPED_READING) from None
        except BROKEN:
            self._summary.ends(self._loss)
            raise PeerGone(self._loss) from None
        request, dismissed = self._request, self._dismissed
        self._drains, self._request, self._dismissed = False, None, None
        if request is not None and not self._has_left:
            self._hub.handed(self._seat, request, trio.current_time())
        if dismissed is not None:
            self._dismiss(dismissed)
        self._changed.unpark_all()

    def _hold(self, game: GameId) -> None:
        """Hold the queued events until the result of a game is stored."""
        self._holds = True
        self._hub.results.when_stored(game, self._stop_holding)

    def _stop_holding(self) -> None:
        """Send the held events."""
        if self._nursery is None or self._scope.cancel_called:  # the client is gone, or given up
            return
        self._holds = False
        self._held_size = 0
        self.flush()
        if not self._events:
            self._messages = {}
        self._hub.feed.tell_ends()
        self._changed.unpark_all()

    # Whether the client is there. Any bytes that arrive show that it is. Many clients do not read while they
    # think, and so do not answer pings. Then only TCP's acknowledgements show that the client is there.

    @property
    def is_reachable(self) -> bool:
        """Whether the client seems to be there: neither a pong nor the answer to a TCP probe is overdue."""
        is_late = self._is_silent and trio.current_time() > self._pinged + PONG_LIMIT
        return not is_late and self._socket.is_reachable

    @property
    def _is_silent(self) -> bool:
        """Whether the client should answer the latest ping, and has sent nothing since that ping."""
        return self._socket.reads == self._reads and self._socket.is_read and not self._has_to_move

    @property
    def _has_to_move(self) -> bool:
        """Whether the client may be thinking about a move.

        Either the client has to move, or the event that ended its turn may not have been sent yet.
        """
        return self._holds or self._seat.is_asked

    async def _keep_pinging(self) -> None:
        """Send a ping every `PING_PERIOD` seconds. Raises PeerGone if the client has vanished."""
        while True:
            await trio.sleep(PING_PERIOD)
            await self.settle()
            if self._is_silent and not self._excused:
                raise PeerGone
            self._pinged, self._excused, self._reads = (
                trio.current_time(),
                self._has_to_move,
                self._socket.reads,
            )
            self._send(self._framing.ping())

    def probe(self) -> None:
        """Start a probe, which hangs up if the client has vanished."""
        if self._nursery is not None and not self._is_probed:
            self._is_probed = True
            self._nursery.start_soon(self._probe)

    async def _probe(self) -> None:
        # At most one probe in `PROBE_LIMIT` seconds, however often the name is requested. If the seat would
        # be kept, its connection may have broken since the last one, so the next probe waits.
        pause = self._probed + PROBE_LIMIT - trio.current_time()
        is_anew = self._seat.might_be_kept
        if pause > 0 and is_anew:
            await trio.sleep(pause)
        if pause <= 0 or is_anew:
            if not await self._answers():
                self._give_up(NO_ANSWER)
                return
            self._probed = trio.current_time()
        self._is_probed = False
        if not self._has_left:
            self._hub.alive(self._seat, trio.current_time())

    async def _answers(self) -> bool:
        """Probe the client; return whether it answers within `PROBE_LIMIT` seconds.

        Any bytes from the client are an answer. If the client may not be reading now, or uses lines, which
        have no pings, an acknowledgement by its TCP is an answer, too.
        """
        sock, reads = self._socket, self._socket.reads
        acknowledged = trio.current_time() - sock.silence
        if sock.silence <= 2 * _SLACK:
            await trio.sleep(2 * _SLACK)  # so that the answer can be told from what was acknowledged before
        ping = self._framing.ping()
        if ping:
            self._send(ping)
        else:
            sock.probe_after(1)
        try:
            # Pauses instead of a deadline, because no client can answer while the server stands still.
            for pause in _PROBE_PAUSES:
                await trio.sleep(pause)
                # A seat that would be kept belongs to its player as long as its connection holds, even if
                # its program reads nothing.
                may_not_read = (
                    not ping
                    or self._holds
                    or self._seat.may_think
                    or sock.waiting > 0
                    or self._seat.might_be_kept
                )
                is_acknowledged = trio.current_time() - sock.silence > acknowledged + _SLACK
                if sock.reads != reads or (may_not_read and is_acknowledged):
                    return True
            return sock.is_readable and not sock.ended
        finally:
            if not ping:
                sock.probe_after(KEEPALIVE_IDLE)

    # Ending.

    def _leave(self, now: float, *, is_broken: bool) -> None:
        """Leave the hub, once: after that the seat may belong to another connection."""
        if self._has_left:
            return
        self._has_left = True
        self._hub.submit(self._seat, Leave(is_broken), now)
        if not self._seat.is_gone:  # it is kept; only the ends of earlier games are still to be sent
            ends = [index for index, event in enumerate(self._events, 1) if isinstance(event, Ended)]
            del self._events[max(ends, default=0) :]

    def _dismiss(self, dismissed: Dismissed) -> None:
        """Hang up on a client after everything was sent to it."""
        self._summary.ends(dismissed.why.value)
        self._farewell = self._translator.farewell(dismissed)
        self._scope.cancel()

    @property
    def _loss(self) -> str:
        """Why the connection is broken; empty if that is not known."""
        return STOPPED_READING if self._socket.is_given_up else ""

    def _fail(self, error: Exception | SystemExit) -> None:
        """Store an error that occurred in another task, and let the client's own task end with it."""
        self._holds = True
        self._failure = error
        self._summary.ends("vanished" if isinstance(error, PeerGone) else "internal error")
        self._scope.cancel()

    def _give_up(self, words: str) -> None:
        """Hang up on a client that has stopped reading or answering. `words` is the cause."""
        self._farewell = Farewell(1008, words)
        self._holds = True
        if not self._scope.cancel_called:
            self._note(words)
        self._scope.cancel()

    def _note(self, words: str) -> None:
        """Record how the connection ends, for the operator's log and the evidence."""
        self._summary.ends(words)
        if self._wire_log is not None:
            self._wire_log.remark(trio.current_time(), words)

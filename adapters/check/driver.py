"""The server's side of one checked connection: a private hub, and an opponent that follows a scenario.

Knows the hub, as any front end does, and the games that the bot still has to play. Records what happens. Does
not judge it. If the bot comes back to a game whose connection was cut, the driver of that game serves the new
connection.
"""

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from random import Random
from typing import Any

import trio

from adapters.check.bots import Bot, Bots
from adapters.check.checkup import Checkup
from adapters.check.judging import STUCK, refusals
from adapters.check.record import (
    Began,
    Closed,
    Crashed,
    Late,
    Line,
    Mark,
    Overdue,
    Part,
    Refusal,
    Returned,
    Task,
    Way,
    What,
)
from adapters.check.scenarios import NO_GAME, Conduct
from adapters.check.wire import CheckedSocket
from adapters.client.contract import Farewell, WireError
from adapters.client.rules import ClientText, Topic
from gateway.game.board import COLUMNS, FIRST, Side, other
from gateway.game.clock import Terms
from gateway.game.commands import Command, Enter, InLobby, Leave, Place, Play
from gateway.game.events import (
    NOTHING,
    Dismissed,
    Ended,
    Event,
    Introduced,
    Moved,
    Objection,
    Overlooked,
    Reason,
    Refused,
    Shown,
    Started,
    ToMove,
    Why,
)
from gateway.game.facts import Snapshot
from gateway.game.manners import Afterwards, Manners
from gateway.game.results import Results
from gateway.hub.feed import Feed
from gateway.hub.hub import Hub
from gateway.hub.seats import Mailbox, Outgoing, Seat, Seated
from gateway.matchmaking.matchmaker import Answer, Decision, Entry, HousePair, Matchmaker, Returning, Turn
from gateway.matchmaking.matchmaker import Opponent as Host
from gateway.server.app import keep_time

NAME = "checker"
_SLOW_FACTOR = 4
"""A bot that may be slow gets this many times its patience."""
_SLOW_LIMIT = 30.0
"""The most seconds that a slow bot gets, unless its patience is longer."""
_PROPOSED_FACTOR = 3
"""The recommended patience is this many times the time that was too short."""
_REJOIN = 5.0
"""The bot's seat is kept for this many seconds longer than the bot may take to ask for another game."""
_READ_TIME = 0.5
"""Seconds that the bot gets to read the opponent's illegal move before the server goes on."""
_BEYOND_ANY_CLOCK = 1e9
"""A number of seconds that is more than any game clock has."""
_BOTH_MOVED, _BOTH_MOVED_TWICE = 2, 4
"""The fewest discs on the board at the special event: 2 on the opponent's turn, 4 on the bot's turn."""


@dataclass(frozen=True, slots=True, eq=False)
class _Expected:
    """The next action that is expected of the bot."""

    topic: Topic | None
    words: str
    """The words of the fault if the bot does not act."""


class Driver(Matchmaker):
    """Makes a bot play on a connection, and records what happens there.

    The driver is the matchmaker of a hub whose only client is this bot. It also opens the seats of the bot's
    opponents, as the house does for the server's own players.
    """

    def __init__(self, bots: Bots, wire: CheckedSocket, nursery: trio.Nursery, target: str) -> None:
        """`target` is the request target of the bot's handshake: its path and query."""
        self.wire, self.nursery, self.slow = wire, nursery, bots.options.slow
        self.tap = Tap(self, bots, target)
        self.manners = self.tap.manners
        self.record: list[What] = []
        self.bot: Bot | None = None
        """The bot of this connection, once its name is known."""
        self.patience = bots.options.patience
        self.hub = Hub(Terms(rejoin=longest(self.patience) + _REJOIN), self)
        self.hub.engage(self)
        self._name = NAME
        """The name of the opponent."""
        self._answers: list[tuple[float, Answer]] = []
        """Answers of this matchmaker, each with the time when it is due."""
        self._bots = bots
        self._connected = trio.current_time()
        self._expected: _Expected | None = None
        self._overdue: float | None = None
        """When the bot was first expected to act, once the patience has passed; None before that."""
        self._unreadable = 0
        """The number of texts since the bot's latest legal move that were not valid messages."""
        self._absence: trio.Event | None = None
        """The event in `Bots.absences` while the bot is away."""
        self._cut_at = 0.0
        """When the connection was cut."""
        self._kept: Seat | None = None
        """The seat that is kept for the bot, which is away."""
        self._is_replay = False
        """Whether the next game is the one that is played again for a bot that has come back."""
        self.expect(Topic.ENTRY, "it asked for no game")

    def add(self, what: What) -> None:
        """Record an entry. Do nothing once the check is over, because its end interrupts games."""
        if not self._bots.is_done.is_set():
            self.record.append(what)

    def add_line(self, way: Way, text: str) -> None:
        """Record a text that went over the wire, or a note."""
        self.add(Line(trio.current_time() - self._connected, way, text))

    @property
    def part(self) -> Part:
        """The entries of the current game, or the entries before the first game if no game has begun."""
        return Part.latest(self.record)

    def identify(self, name: str | None = None) -> Bot:
        """Return the bot of this connection. The first `name` given on the connection identifies the bot."""
        if self.bot is None:
            self.bot = self._bots.of(name)
            self.bot.add(self.record)
        return self.bot

    def checkup(self) -> Checkup:
        """Return the checkup of the bot so far."""
        return self._bots.checkup(self.identify())

    @property
    def has_spoken(self) -> bool:
        """Whether the bot is known, has sent anything but blanks, or has not acted in time."""
        said = (what.text.strip() for what in self.record if isinstance(what, Line) and what.way == "->")
        return self.bot is not None or any(said) or any(isinstance(what, Overdue) for what in self.record)

    @property
    def is_closing(self) -> bool:
        """Whether the server is hanging up."""
        return Mark.CLOSING in self.record

    # Who plays whom.

    def enter(self, entry: Entry) -> None:
        """Admit the bot, or refuse it if the check requires that. A bot that was cut gets its seat back."""
        if self._kept is not None:
            kept = self._kept.number
            back = Returning(entry.seat, kept, entry.origin, entry.proven, entry.resumes)
            self._answers.append((0.0, back))
            return
        if not entry.waits:  # it asks for its name only
            self.identify(entry.name)
            self._answers.append((0.0, Decision(entry.seat, entry.against)))
            return
        wish = entry.place.wish if isinstance(entry.place, InLobby) else None
        self._name = NAME if wish is None else wish.name
        self._answers.append((0.0, Decision(entry.seat, entry.against or self._objection(entry.name))))

    def _objection(self, name: str) -> Objection:
        """Record the bot's request for a game. Return the objection to it; `NOTHING` admits the bot."""
        self.identify(name)
        self._record_expected()
        was_declined = Mark.DECLINED in self.part.whats
        self.add(Mark.ENTERED)
        checkup = self.checkup()
        if was_declined or not checkup.wants_refusal or not checkup.has_seen(Topic.CLOSE):
            return NOTHING
        self.add(Mark.DECLINED)
        self.add_line("--", "this is refused, to see what comes next")
        self.expect(Topic.REFUSED, "it sent nothing more, and did not hang up")
        return Objection.TABLE_FULL

    def wait(self, turn: Turn, since: float) -> None:
        """Send an opponent if the bot has a game left to play; otherwise hang up."""
        self._expected = self._overdue = None
        checkup, is_first = self.checkup(), not self.part.began.place
        task = checkup.next_task(is_first=is_first)
        if task is None or not (is_first or checkup.plays_on):
            self.nursery.start_soon(self.close)
            return
        if task.is_late:
            self.add(Mark.KEPT_WAITING)
        due = since + self.slow if task.is_late else since
        self._answers.append((due, HousePair(turn, self._name, checkup.opens(task))))

    def leave(self, seat: int) -> None:
        """Do nothing: a seat that has left is never paired again."""

    def next_due(self) -> float | None:
        """Return when the next answer is due; None if there is none."""
        return min((due for due, _ in self._answers), default=None)

    def answers(self, now: float) -> Iterator[Answer]:
        """Yield the answers that are due now."""
        while ready := [each for each in self._answers if each[0] <= now]:
            self._answers.remove(ready[0])
            yield ready[0][1]

    def has(self, name: str, opponent: Host) -> bool:
        """Return True: the bot may ask for any opponent."""
        return True

    def lobby_player(self, opponent: Host) -> str | None:
        """Return None: `wait` already provides the opponent."""
        return None

    def open_seat(self, name: str, opponent: Host, now: float) -> Seat:
        """Return the seat of a new opponent for one series."""
        return Opponent(self).seat

    # What happens in a game.

    def begins(self, side: Side) -> None:
        """Begin a game in which the bot plays `side`."""
        if self._is_replay:
            self._is_replay = False
            return
        self._expected = self._overdue = None
        checkup = self.checkup()
        place = self.part.began.place + 1
        task = checkup.next_task(side == FIRST, is_first=place == 1)
        self.add(Began(task or Task(NO_GAME), checkup.games + 1, place, side == FIRST))
        if task is None:
            self.nursery.start_soon(self.close)
        else:
            self.wire.change_pace(task.scenario.pace)

    def moved(self, moved: Moved) -> None:
        """Record a legal move of the bot."""
        self._unreadable = 0
        self._record_expected()
        self.add(moved)

    def over(self, ended: Ended) -> None:
        """Record the end of a game."""
        if ended.reason is Reason.REPLAYED:
            self._is_replay = True
            return
        self._expected = self._overdue = None
        if self.part.is_on and not self.is_closing and not self._bots.is_done.is_set():
            if ended.leaver == self.part.side:
                self._hung_up()
            self.add(ended)
            self.expect(None, "it asked for no other game")

    def on_event(self, event: Event, asked: Any) -> None:
        """Record an event before its messages are sent. For a refusal, `asked` is the refused message."""
        part = self.part
        match event:
            case Introduced(name):
                self.identify(name)
            case Shown() | Overlooked():
                self.add(event)
            case Started() if part.is_on:  # only now has the bot received the end of the previous game
                self.add_line("--", f"game {part.began.number}: {part.scenario.title}")
            case ToMove():
                self.add(event)
                self.expect(Topic.REPLY, "no move came")
                is_due = len(event.board.moves) >= _BOTH_MOVED_TWICE
                if is_due and part.scenario.conduct is Conduct.BOT_LOSES_ON_TIME:
                    self.nursery.start_soon(self._let_flag_fall, event)
            case Refused(objections) if not isinstance(asked, str):
                self.add(Refusal(ClientText(self.tap.latest, asked), objections))
                if len(refusals(self.part, self._bots.requirements)) == STUCK:
                    self.nursery.start_soon(self.close)
            case Dismissed(why):
                self._expected = self._overdue = None  # `CheckedSocket` waits until the bot hangs up
                if why is not Why.LEFT:
                    self.add(Mark.DISMISSED)
                    if self.manners.afterwards is Afterwards.ONE_GAME:  # its process ends with its only game
                        self._bots.hung_up(lambda how: self.record.append(Crashed(how)))
                if self._may_be_slow:
                    self.wire.patience = longest(self.patience)
            case _:
                pass

    def on_unreadable(self, sent: ClientText) -> None:
        """Record a text that is not a message. Hang up after `STUCK` such texts without a legal move."""
        self.add(Refusal(sent, Objection.UNREADABLE))
        self._unreadable += 1
        if self._unreadable == STUCK:
            self.nursery.start_soon(self.close)

    async def _let_flag_fall(self, request: ToMove) -> None:
        """Make the bot lose on time just before the request to move is sent."""
        now = trio.current_time()
        for seat in self.hub.seats():
            if seat.is_asked and not seat.manners.house:
                self.hub.handed(seat, request, now - _BEYOND_ANY_CLOCK)
                self.hub.flag(seat, now)

    def ping(self) -> None:
        """Ping the bot, if its dialect has pings."""
        if self.wire.frames and not self.is_closing:
            self.wire.ping()
            self.nursery.start_soon(self.wire.flush)

    async def relay(self) -> None:
        """Send the opponent's illegal move as the original server does, and give the bot time to read it."""
        text = self._bots.requirements.relay
        self.add_line("<-", text)
        self.wire.write(text.encode())
        await self.wire.flush()
        await trio.sleep(_READ_TIME)

    # A connection that is cut.

    def cut(self) -> None:
        """Cut the connection, as if the network broke. The hub keeps the bot's seat."""
        for seat in self.hub.seats():
            if isinstance(seat.situation, Seated):
                seat.situation.series.grace = math.inf  # `comes_back` ends the wait
        self.add(Mark.CUT)
        self.add_line("--", "the connection is cut, to see whether the bot comes back")
        self._expected = self._overdue = None
        self._absence, self._cut_at = trio.Event(), trio.current_time()
        self._bots.absences.add(self._absence)
        self._bots.hung_up(lambda how: self.record.append(Crashed(how)))
        self.wire.cut()

    def away(self, seat: int) -> None:
        """Record that the hub keeps the bot's seat."""
        self._kept = next(each for each in self.hub.seats() if each.number == seat)

    @property
    def is_away(self) -> bool:
        """Whether the connection was cut, and the bot may still come back."""
        return self._absence is not None

    def awaits(self, name: str | None, place: Place) -> bool:
        """Return whether a bot that asks for a game by this name and at this place gets its seat back."""
        return self._kept is not None and (self._kept.name, self._kept.place) == (name, place)

    def take_over(self, other: "Driver", seat: Seat, now: float) -> Seat:
        """Go on with the bot on the connection of another driver; return its new seat in this driver's hub.

        `seat` is its seat in the other driver's hub.
        """
        mailbox = seat.hand_over()
        other.hub.submit(seat, Leave(), now)
        other._expected = other._overdue = None
        for what in other.record:
            if isinstance(what, Line):
                self.add_line(what.way, what.text)
        self.wire, self.nursery, self.tap = other.wire, other.nursery, other.tap
        self.tap.driver = self
        self.nursery.start_soon(keep_time, self.hub)
        return self.hub.open(mailbox, self.manners, now, seat.origin)

    def returned(self, seat: int, origin: str, *, proven: bool) -> None:
        """Record that the bot has come back."""
        seconds = trio.current_time() - self._cut_at
        self.add(Returned(seconds))
        self.add_line("--", f"the bot is back, {seconds:.1f} s after the cut")
        self._end_absence()

    async def comes_back(self, seconds: float) -> bool:
        """Wait until the bot comes back; return whether it does so within `seconds`."""
        assert self._absence is not None
        with trio.move_on_after(seconds) as waiting:
            await self._absence.wait()
        if not self.is_away:
            return True
        how = f"within {seconds:g} s" if waiting.cancelled_caught else "before its process ended"
        self.add(Overdue(Topic.BACK, f"it did not come back {how}"))
        self._end_absence()
        return False

    def _end_absence(self) -> None:
        assert self._absence is not None
        self._absence.set()
        self._bots.absences.discard(self._absence)
        self._absence = self._kept = None

    # Expected actions.

    @property
    def _may_be_slow(self) -> bool:
        """Whether the bot gets more time than its patience. False after it has exceeded that time, too."""
        return not self._bots.silent if self.bot is None else self.checkup().may_be_slow

    def expect(self, topic: Topic | None, words: str) -> None:
        """Expect the bot to act once all messages are sent. `words` describe the fault if it does not act."""
        self._expected, self._overdue = _Expected(topic, words), None
        self.nursery.start_soon(self._wait_for, self._expected)

    def _record_expected(self) -> None:
        """Record that the bot did what was expected."""
        since = self._overdue
        self._expected = self._overdue = None
        if since is not None:
            self.add(Late(trio.current_time() - since))
            if self.checkup().is_too_slow:
                self.nursery.start_soon(self.close)

    async def _wait_for(self, expected: _Expected) -> None:
        await self.wire.flush()
        since, waited, hint = trio.current_time(), self.patience, ""
        await trio.sleep(waited)
        if self._expected is expected and expected.topic is not Topic.REFUSED and self._may_be_slow:
            self._overdue, waited = since, longest(waited)
            hint = f"; if it takes longer than that, try --patience {math.ceil(_PROPOSED_FACTOR * waited)}"
            await trio.sleep_until(since + waited)
        if self._expected is not expected or self.is_closing:
            return
        self._bots.silent += self.bot is None
        words = f"{expected.words} within {waited:g} s{hint}"
        if refused := refusals(self.part, self._bots.requirements):
            words = f"{words}, but for {len(refused)} refused"
        self.add_line("--", words)
        self.add(Overdue(expected.topic, words, self.wire.unfinished))
        await self.close()

    # The end.

    async def close(self) -> None:
        """Hang up on the bot."""
        self.add(Mark.CLOSING)
        await trio.lowlevel.checkpoint()
        self.add_line("--", "the server hangs up")
        self.hub.close(trio.current_time())

    def _hung_up(self) -> None:
        """Record that the bot has ended the connection."""
        if Mark.HUNG_UP not in self.part.whats:
            self.add(Mark.HUNG_UP)
            self._bots.hung_up(lambda how: self.record.append(Crashed(how)))

    def ended(self) -> None:
        """Record that the connection of a bot is over."""
        self.identify()
        if self._bots.is_done.is_set() or self.is_away:
            return
        if Mark.DISMISSED not in self.part.whats:
            self._hung_up()
        elif self.wire.lasted > self.patience:
            self.add(Late(self.wire.lasted))
        wire = self.wire
        self.add(Closed(wire.pings, wire.has_ponged, wire.has_hung_up, wire.patience))


def longest(patience: float) -> float:
    """Return how many seconds a slow bot gets."""
    return max(patience, min(_SLOW_FACTOR * patience, _SLOW_LIMIT))


class BotHub:
    """The hub as a bot's connection sees it: its driver's.

    If the bot comes back to a game whose connection was cut, it is the driver of that game from then on.
    """

    def __init__(self, driver: Driver, open_hubs: Iterable["BotHub"]) -> None:
        """`open_hubs` are those of all bots that are connected, or may come back."""
        self.driver = driver
        self._open_hubs = open_hubs

    @property
    def results(self) -> Results:
        """The service that stores results, which stores none."""
        return self.driver.hub.results

    @property
    def feed(self) -> Feed:
        """The feed, which has no subscribers."""
        return self.driver.hub.feed

    @property
    def expect(self) -> Callable[[Outgoing], None]:
        """As `Hub.expect`."""
        return self.driver.hub.expect

    def open(self, mailbox: Mailbox, manners: Manners, now: float, origin: str = "") -> Seat:
        """Return a seat for the bot."""
        return self.driver.hub.open(mailbox, manners, now, origin)

    def submit(self, seat: Seat, command: Command, now: float) -> bool:
        """Carry out or refuse a command; return whether the connection has to wait for `resume`."""
        if isinstance(command, Enter):
            name = seat.name if command.name is None else command.name
            drivers = (hub.driver for hub in self._open_hubs)
            kept = next((each for each in drivers if each.awaits(name, command.place)), None)
            if kept is not None:
                self.driver.identify(name)
                seat = kept.take_over(self.driver, seat, now)
                self.driver, command = kept, replace(command, name=name)
        return self.driver.hub.submit(seat, command, now)

    def handed(self, seat: Seat, request: ToMove, now: float) -> None:
        """Start the clock for `request`."""
        self.driver.hub.handed(seat, request, now)

    def alive(self, seat: Seat, now: float) -> None:
        """Record that the bot has answered a probe."""
        self.driver.hub.alive(seat, now)

    def seats(self) -> tuple[Seat, ...]:
        """Return the seats of the bot and its opponent."""
        return self.driver.hub.seats()

    def snapshot(self, now: float, seats: Iterable[Seat] | None = None) -> Snapshot:
        """Return the state of these seats."""
        return self.driver.hub.snapshot(now, seats)


class Tap:
    """The codec and the translator of a connection. They record all messages and events.

    They change no message, so the bot meets the same server as in real games. Only in a scenario with
    `as_original` does the bot get the messages of the original server.
    """

    def __init__(self, driver: Driver, bots: Bots, target: str) -> None:
        self.latest = ""
        """The latest text from the bot."""
        self.driver = driver
        requirements, own = bots.requirements, bots.options.own
        self._codec, self._hint = requirements.codec(), bots.hint
        self._usual, self._original = (requirements.translator(own, target, each) for each in (False, True))
        self._speaks_as_original = False

    @property
    def manners(self) -> Manners:
        """The manners of the bot's dialect."""
        return self._usual.manners

    def decode(self, text: str) -> Any:
        """Return the message in `text`. Raises WireError."""
        driver, self.latest = self.driver, text
        driver.add_line("->", text)
        try:
            return self._codec.decode(text)
        except WireError:
            hint = "" if driver.part.began.place else self._hint(text)
            driver.on_unreadable(ClientText(text, None, hint))
            raise

    def encode(self, message: Any) -> str:
        """Return the text of a message."""
        text = self._codec.encode(message)
        self.driver.add_line("<-", text)
        return text

    def receive(self, message: Any, number: int = 0) -> Command:
        """Return the command for a message."""
        return self._usual.receive(message, number)

    def observe(self, event: Event, asked: Any = None) -> Iterable[Any]:
        """Return the messages to send for an event. For a refusal, `asked` is the refused message."""
        self.driver.on_event(event, asked)
        if isinstance(event, Started):
            self._speaks_as_original = self.driver.part.scenario.as_original
        usual, original = list(self._usual.observe(event, asked)), list(self._original.observe(event, asked))
        return original if self._speaks_as_original else usual

    def farewell(self, dismissed: Dismissed) -> Farewell:
        """Return the close code and reason for a dismissal."""
        return self._usual.farewell(dismissed)


class Opponent:
    """An opponent that plays one series. Each game of the series has a scenario of its own."""

    is_reachable = True

    def __init__(self, driver: Driver) -> None:
        self._driver, self._hub, self._lot = driver, driver.hub, Random(1)
        self._side: Side = 0
        self._request: ToMove | None = None
        bot = driver.manners
        ends = bot.afterwards is Afterwards.HANG_UP
        manners = Manners(bot.illegal, Afterwards.HANG_UP if ends else Afterwards.STAND_BY, house=True)
        self.seat = self._hub.open(self, manners, trio.current_time())

    def deliver(self, event: Event) -> None:
        """Start a move when the hub requests one, and report the other events to the driver."""
        match event:
            case Started(_, side):
                self._side = side
                self._driver.begins(other(side))
            case ToMove():
                self._request = event
                self._driver.nursery.start_soon(self._move, event)
            case Moved(mover=mover) if mover != self._side:
                self._driver.moved(event)
            case Ended(game, board, column=column):
                if column is not None and board.turn == self._side:
                    self._driver.moved(Moved(game, other(self._side), column, board))
                self._driver.over(event)
            case _:
                pass

    def resume(self) -> None:
        """Do nothing: the opponent never asks to enter."""

    def probe(self) -> None:
        """Do nothing: the hub probes only seats that may belong to an earlier connection of a client."""

    def move_to(self, seat: Seat) -> None:
        """Do nothing: the opponent never asks to enter."""

    def conclude(self, ended: Ended, *, is_last: bool) -> None:
        """Do nothing: the opponent has no connection."""

    async def settle(self) -> None:
        """Return at once."""
        await trio.lowlevel.checkpoint()

    async def _leave(self) -> None:
        await trio.lowlevel.checkpoint()
        self._driver.add(Mark.ODD)
        self._hub.submit(self.seat, Leave(), trio.current_time())

    async def _move(self, request: ToMove) -> None:
        await trio.lowlevel.checkpoint()  # the hub is still in the call that delivered the event
        driver, part, discs = self._driver, self._driver.part, len(request.board.moves)
        conduct = part.scenario.conduct
        if not part.is_on:
            return
        is_due = Mark.ODD not in part.whats and (discs >= _BOTH_MOVED or conduct is Conduct.ABORT)
        match conduct if is_due else Conduct.PLAIN:
            case Conduct.LEAVE | Conduct.ABORT:
                await self._leave()
                return
            case Conduct.LOSE_ON_TIME:
                driver.add(Mark.ODD)
                self._hub.handed(self.seat, request, trio.current_time() - _BEYOND_ANY_CLOCK)
                return
            case Conduct.THINK_LONG:
                driver.add(Mark.ODD)
                await trio.sleep(driver.slow / 2)
                driver.ping()
                await trio.sleep(driver.slow / 2)
            case Conduct.PLAY_ILLEGAL:
                driver.add(Mark.ODD)
                self._hub.handed(self.seat, request, trio.current_time())
                if part.scenario.as_original:
                    await driver.relay()
                self._play(COLUMNS)
            case _:
                pass
        if request is self._request:  # no newer request has come meanwhile
            self._hub.handed(self.seat, request, trio.current_time())
            self._play(part.scenario.strategy(request.board, self._lot))
            is_due = part.is_on and discs + 1 >= _BOTH_MOVED_TWICE
            if conduct is Conduct.LEAVE_ASKED and is_due:
                await self._leave()
            elif conduct is Conduct.CUT and is_due and Mark.CUT not in part.whats:
                driver.cut()

    def _play(self, column: int) -> None:
        self._hub.submit(self.seat, Play(column), trio.current_time())

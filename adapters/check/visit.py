"""One connection of a bot: what is asked of it there, what it does, and what is made of that.

Knows the hub's events and the rules of the dialect. Does not know how anything is written. What the bot does
wrong is held against it once for each game, because one mistake leads to others.
"""

from collections.abc import Callable
from typing import Protocol

import trio

from adapters.check.checkup import Checkup, Task
from adapters.check.expected import Expected, longest
from adapters.check.pairing import BotHub
from adapters.check.play import Play
from adapters.check.record import HUNG_UP, Exchange, Fault, HangUp
from adapters.check.scenarios import Deed
from adapters.check.wire import CheckedSocket
from adapters.client.rules import Book, Message, Topic, in_words
from gateway.game.board import FIRST, Board, Side
from gateway.game.clock import Terms
from gateway.game.events import (
    NOTHING,
    Dismissed,
    Ended,
    Event,
    Introduced,
    Objection,
    Refused,
    Shown,
    Started,
    ToMove,
    Why,
)
from gateway.game.manners import Afterwards, Manners

# Whose a connection is, and what is held against that bot.
#
# Knows the desk's checkups, the game that is on, and what went over the wire. Does not know the hub. The rule
# it keeps: who begins as no client of the dialect does is no bot, and nothing is held against anybody for it.


class Desk(Protocol):
    """Where the checkups are."""

    patience: float
    """Seconds in which a bot has to do something."""
    slow: float
    """Seconds that a slow opponent takes."""
    may_be_slow: bool
    """Whether a bot that has said nothing yet is given more time than its patience."""
    book: Book
    is_done: trio.Event
    """Set when the check is over, which ends all connections."""

    def of(self, name: str | None) -> Checkup:
        """Return the checkup of a bot, by its name if that is known."""

    def strange(self, first: bytes) -> str:
        """Return what is wrong with a connection that begins so; empty if a bot's may."""

    def hint(self, text: str) -> str:
        """Return of which other dialect a text is, as the end of a sentence; empty if of none."""

    def hung_up(self) -> HangUp:
        """Note that a bot has hung up, and return that: it may turn out that its process has failed."""


class Guest:
    """Who is at the other end of a connection."""

    def __init__(self, desk: Desk, wire: CheckedSocket) -> None:
        self.exchange = Exchange(trio.current_time)
        self._desk, self._wire = desk, wire
        self._checkup: Checkup | None = None
        self._early: list[Fault] = []
        """What it did wrong before it gave a name."""
        self._hang_up: HangUp | None = None
        """Its own end of the connection, if that came first."""
        self._play = Play(is_on=False)

    @property
    def is_known(self) -> bool:
        """Whether a bot has spoken; others may look which ports are open, or be lost."""
        spoke = bool(self._early or self.exchange.latest)
        return self._checkup is not None or (spoke and not self._is_lost)

    @property
    def is_over(self) -> bool:
        """Whether nothing more is to be seen of the bot."""
        return self._is_lost or (self._checkup is not None and self._checkup.is_over)

    def plays(self, checkup: Checkup) -> bool:
        """Whether a game of this bot is on here. None is once the server has ended the connection.

        The bot may open another one before it closes its end of this.
        """
        return self._checkup is checkup and self._play.is_on

    @property
    def _is_lost(self) -> bool:
        return not self._wire.frames and bool(self._desk.strange(self._wire.first))

    def fault(self, topic: Topic, words: str, *, is_grave: bool | None = None) -> None:
        """Hold something against the bot, once in a game."""
        rule, play = self._desk.book.rules.get(topic), self._play
        if rule is None or self._is_lost or (not is_grave and (play.is_faulted or topic in play.remarked)):
            return
        grave = rule.is_grave if is_grave is None else is_grave
        play.remarked.add(topic)
        play.is_faulted = play.is_faulted or grave
        fault = self._fault(topic, words, is_grave=grave)
        if self._checkup is None:
            self._early.append(fault)
        else:
            self._checkup.wrong(fault)

    def _known(self, name: str | None = None) -> Checkup:
        """Return the bot's checkup, of the first name that it gives here."""
        if self._checkup is None:
            self._checkup = self._desk.of(name)
            self._checkup.connections += 1
            self._checkup.right(Topic.TRANSPORT)
            for fault in self._early:
                self._checkup.wrong(fault)
        return self._checkup

    def _fault(self, topic: Topic, words: str, *, is_grave: bool = True) -> Fault:
        lines = self.exchange.lines()
        return Fault(topic, words, self._play.title, lines, is_grave, hang_up=self._hang_up)

    def _hung_up(self) -> None:
        """Note that the bot ended the connection."""
        self._hang_up = self._hang_up or self._desk.hung_up()


# What is asked of the bot on its connection.

_STUCK = 200
"""Refused messages in a row after which the bot is taken to go on for ever."""
_MORE = 3
"""Messages that are excused where the bot was told what the original server would tell."""
_MOMENT = 0.5
"""Seconds that a bot has to fall over what it has just been told."""
_REJOIN = 5.0
"""Seconds that the bot's seat is kept, beyond those that it is given to ask again."""


class Visit(Guest):
    """A connection that is on."""

    def __init__(self, desk: Desk, wire: CheckedSocket, nursery: trio.Nursery, manners: Manners) -> None:
        self.slow, self.nursery, self.manners = desk.slow, nursery, manners
        super().__init__(desk, wire)
        self.hub = BotHub(Terms(rejoin=longest(desk.patience) + _REJOIN), self)
        self.speaks_as_original = False
        """Whether the bot is told what the original server would tell."""
        self._games = self._excused = 0
        """Games so far, and messages that may be refused because of what the server itself said."""
        self._was_original = False
        """Whether the bot was told of the game before as by the original server."""
        self._before = ""
        """The title of the game before."""
        self._opponent_leaves: Callable[[], None] = lambda: None
        self._pending: frozenset[Topic] = frozenset()
        """What the last game showed, if the bot goes on after it."""
        self._was_refused = self._closes = self._is_dismissed = self._is_kept_waiting = False
        self._expected = Expected(nursery, wire, desk.patience, self)
        self._expected.next(Topic.ENTRY, "it asked for no game")

    # What the hub says of the bot.

    def enters(self, name: str) -> Objection:
        """Take note that the bot asks for a game; return why it gets none."""
        checkup = self._known(name)
        self._expected.came()
        checkup.right(Topic.ENTRY)
        if self._was_refused:
            checkup.right(Topic.REFUSED)
        self._stays()
        if self._was_refused or not checkup.wants_refusal or not checkup.has_seen(Topic.CLOSE):
            return NOTHING
        self._was_refused = True
        self.exchange.note("this is refused, to see what comes next")
        self._expected.next(Topic.REFUSED, "it said nothing more, nor did it hang up")
        return Objection.TABLE_FULL

    def waits(self) -> tuple[bool, float] | None:
        """Take note that the bot waits; return whether it moves first, and in how many seconds. None where
        there is no game left.
        """
        self._expected.done()
        checkup = self._known()
        fresh = not self._games
        opens = checkup.opens(fresh=fresh)
        if opens is None or (self._games and not checkup.plays_on):
            self.nursery.start_soon(self._close)
            return None
        self._is_kept_waiting = checkup.is_late(fresh=fresh)
        return opens, self.slow if self._is_kept_waiting else 0.0

    def begins(self, side: Side, leave: Callable[[], None]) -> Task | None:
        """Take note that a game begins; return what is to be played. `leave` lets the opponent leave."""
        self._expected.done()
        checkup = self._known()
        task = checkup.take(bot_opens=side == FIRST, fresh=not self._games)
        self._before, self._opponent_leaves = self._play.title, leave
        self._was_original = self.speaks_as_original
        self._play = Play(task, checkup.games, side == FIRST, is_done=self._is_kept_waiting)
        self._is_kept_waiting = False
        self._games += 1
        if task is None:
            self.nursery.start_soon(self._close)
        else:
            self._wire.change_pace(task.scenario.pace)
        return task

    def moved(self, board: Board) -> None:
        """Take note of the bot's legal move."""
        self._expected.came()
        checkup = self._known()
        checkup.right(Topic.REPLY if len(board.moves) > 1 else Topic.OPENING)
        self._play.moved(board)
        self._stays()
        if self._games > 1:
            checkup.right(Topic.NEXT)

    def over(self, ended: Ended) -> None:
        """Take note of a game's end."""
        self._expected.done()
        play = self._play
        if play.task is None or self._closes or self._desk.is_done.is_set():
            return
        if self.manners.afterwards is Afterwards.STEP_OUT:  # elsewhere the hub itself drops what crosses
            self._excused += play.crosses + _MORE * self.speaks_as_original
        play.is_on = play.is_asked = False
        if play.is_lost_on_time(ended):
            self._fail(play.task, "it did not move before its time was up")
        elif ended.leaver == play.side:
            self._hung_up()
            is_between = bool(self._pending) and not play.has_moved
            words = "when the next game had begun" if is_between else "before the game was over"
            leaves_series = self.manners.afterwards is Afterwards.HANG_UP
            self._fail(play.task, f"{HUNG_UP} {words}", is_grave=leaves_series or not is_between)
        elif play.is_forfeited(ended):
            self._known().spoiled(play.task)
        else:
            self._pending = play.seen(ended)
            self._known().finished(play.task, self._pending)
            self._expected.next(None, "it asked for no other game")

    # What the bot says, and is told.

    def told(self, event: Event, asked: Message | str | None) -> None:
        """Hear of an event that the bot is told of."""
        match event:
            case Introduced(name):
                self._known(name)
            case Shown():
                self._excused += 1  # a bot that asks may hear of one turn twice, and answer both
            case Started():
                task = self._play.task
                self.speaks_as_original = task is not None and task.scenario.as_original
                if task is not None:  # now that the bot has been told how the game before ended
                    self.exchange.note(f"game {self._play.number}: {task.scenario.title}")
            case ToMove():
                self._play.asked(event.board)
                self._expected.next(Topic.REPLY, "no move came")
                if self._play.is_due(Deed.LEAVE_ASKED):
                    self._opponent_leaves()
                elif self._play.is_due(Deed.BOT_LOSES_ON_TIME):
                    self.nursery.start_soon(self.hub.let_flag_fall, event)
            case Refused(objections) if not isinstance(asked, str):
                self._refuses(objections, asked)
            case Dismissed(why):
                self._is_dismissed = why is not Why.LEFT
                self._expected.done()  # but that the bot hangs up, too, for which the wire waits
                if self.may_be_slow:
                    self._wire.patience = longest(self._desk.patience)
            case _:
                pass

    def unreadable(self, text: str) -> None:
        """Hear that the bot said something that is no message."""
        hint = "" if self._games else self._desk.hint(text)
        words = f"it said '{text[:80].rstrip()}', which is no message here{hint}"
        self.fault(self._desk.book.unreadable(text), words)

    def _refuses(self, objections: Objection, asked: Message) -> None:
        topic = self._desk.book.refused(asked, objections)
        if topic is None or Objection.TABLE_FULL in objections:
            return
        self._play.refusals += 1
        self._play.refused = topic
        if self._excused:
            self._excused -= 1
            return
        words = f"it said {self.exchange.latest[:80]}, but {in_words(objections)}"
        self.fault(topic, words)
        if self._play.refusals == _STUCK:
            if not self._play.is_faulted:
                self.fault(topic, f"{words}, and so were {_STUCK} messages in a row", is_grave=True)
            self.nursery.start_soon(self._close)

    def deed_done(self) -> None:
        """Take note that the opponent has done what is odd about it."""
        self._play.is_done = True

    def ping(self) -> None:
        """Ping the bot."""
        if self._wire.frames and not self._closes:
            self._wire.ping()
            self.nursery.start_soon(self._wire.flush)

    async def relay(self) -> None:
        """Tell the bot of an illegal move as the original server does."""
        self.exchange.said(self._desk.book.relay)
        self._wire.write(self._desk.book.relay.encode())
        await self._wire.flush()
        await trio.sleep(_MOMENT)

    # What is expected.

    def _stays(self) -> None:
        if self._pending:
            self._known().stayed(self._pending)
            self._pending = frozenset()

    @property
    def may_be_slow(self) -> bool:
        """Whether the bot is given more time than its patience: until it has had that once, in vain."""
        return self._desk.may_be_slow if self._checkup is None else self._checkup.may_be_slow

    def came_late(self, seconds: float) -> None:
        """Take note that the bot did what was expected, but only after so many seconds."""
        checkup = self._known()
        checkup.came_late(seconds, self._desk.patience)
        if checkup.is_too_slow:
            self.nursery.start_soon(self._close)

    async def failed_to(self, topic: Topic | None, words: str) -> None:
        """Make something of it that the bot did not do what was expected."""
        if self._closes:
            return
        if self._checkup is None:
            self._desk.may_be_slow = False
        else:
            self._checkup.may_be_slow = False
        words = f"{words}, but for {self._play.refusals} refused" if self._play.refusals else words
        self.exchange.note(words)
        if self._wire.unfinished:
            unfinished = self._wire.unfinished[:60].decode(errors="backslashreplace")
            self.fault(Topic.ENDS, f"{words}, only '{unfinished}' without an end")
        elif self._play.is_on and self._play.task is not None:
            self._fail(self._play.task, words)
        elif topic is not None:
            self.fault(topic, words)
        elif self._pending:
            self._known().left(self._pending, self._fault(Topic.NEXT, words))
            self._pending = frozenset()
        await self._close()

    async def _close(self) -> None:
        """Hang up on the bot."""
        self._closes, self._play.is_on = True, False
        await trio.lowlevel.checkpoint()
        self.exchange.note("the server hangs up")
        self.hub.close(trio.current_time())

    # What it comes to.

    def _fail(self, task: Task, words: str, *, is_grave: bool = True) -> None:
        """Hold against the bot that it did not go on with a game, which is not grave if it may leave then."""
        play, checkup = self._play, self._known()
        if play.is_faulted:
            return
        play.is_faulted = True
        is_confused = self._was_original and self.manners.afterwards is Afterwards.STEP_OUT
        if is_confused and not play.has_moved:
            checkup.spoiled(task)
            return
        after = frozenset[Topic]() if play.has_moved else self._pending
        title = self._before if after else play.title
        lines, hang_up = self.exchange.lines(), self._hang_up
        fault = Fault(play.reason(), words, title, lines, is_grave, is_stall=True, hang_up=hang_up)
        self._pending = frozenset()
        if play.refused is Topic.FULL:  # that is why, in whichever game it happens
            checkup.wrong(fault)
            checkup.spoiled(task)
        else:
            checkup.failed(task, fault, None if self._games == 1 else after)

    def ended(self) -> None:
        """Take note that the connection is over."""
        if not self.is_known:
            return
        checkup = self._known()
        if self._desk.is_done.is_set():
            return
        if not self._is_dismissed:
            self._hung_up()
        if not self._play.is_faulted:
            checkup.went(self._fault(Topic.ENTRY, f"{HUNG_UP} before it had asked for a game"))
        if self._wire.has_ponged:
            checkup.right(Topic.PING)
        elif self._wire.pings and self._is_dismissed:
            self.fault(Topic.PING, "no pong came", is_grave=True)
        if self._is_kept_waiting and not self._is_dismissed:
            checkup.gave_up(self._fault(Topic.WAIT, f"{HUNG_UP} while it waited for an opponent"))
        if self._pending and self._is_dismissed:
            checkup.unsettled(self._pending)
        elif self._pending:
            checkup.left(self._pending, self._fault(Topic.NEXT, f"{HUNG_UP} after the game"))
        if self._was_refused and (not self._is_dismissed or self._wire.has_hung_up):
            checkup.right(Topic.REFUSED)
        if self._is_dismissed:
            self._was_dismissed(checkup)

    def _was_dismissed(self, checkup: Checkup) -> None:
        """Take note of what the bot did when the server had hung up."""
        if self._wire.has_hung_up:
            checkup.right(Topic.CLOSE)
            if self._wire.lasted > self._desk.patience:
                checkup.came_late(self._wire.lasted, self._desk.patience)
            return
        checkup.may_be_slow = False
        if not self._play.is_faulted:
            self.fault(Topic.CLOSE, f"its end was still open after {self._wire.patience:g} s")

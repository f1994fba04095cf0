"""One connection of a bot: what is asked of it there, what it does, and what is made of that.

Knows the hub's events and the rules of the dialect. Does not know sockets, nor how anything is written. What
the bot does wrong is held against it once for each game, because one mistake leads to others.
"""

from collections.abc import Callable
from typing import Protocol

import trio

from adapters.check.checkup import Checkup, Task
from adapters.check.pairing import BotHub
from adapters.check.record import Exchange, Fault
from adapters.check.rules import Book, Message, Topic
from adapters.check.scenarios import Deed, Pace
from adapters.check.wire import CheckedWire
from gateway.game.board import COLUMNS, FIRST, Board, Side
from gateway.game.clock import Terms
from gateway.game.events import (
    NOTHING,
    Dismissed,
    Ended,
    Event,
    Objection,
    Reason,
    Refused,
    Started,
    ToMove,
    Why,
)
from gateway.game.manners import Manners

_STUCK = 40
"""Refused messages in a row after which the bot is taken to go on for ever."""
_MORE = 3
"""Messages that are excused where the bot was told what the original server would tell."""
_THIRD = 3
"""The request to move at which its opponent leaves, or its time is up, where that is to be."""


class Desk(Protocol):
    """Where the checkups are."""

    patience: float
    """Seconds in which a bot has to do something."""
    slow: float
    """Seconds that a slow opponent takes."""
    book: Book

    def of(self, name: str | None) -> Checkup:
        """Return the checkup of a bot, by its name if that is known."""


class Visit:
    """A connection that is on."""

    def __init__(self, desk: Desk, wire: CheckedWire, nursery: trio.Nursery, manners: Manners) -> None:
        self.slow, self.nursery, self.manners = desk.slow, nursery, manners
        self.exchange = Exchange(trio.current_time)
        self.hub = BotHub(Terms(rejoin=desk.patience + 5), self)
        self.checkup: Checkup | None = None
        self._desk, self._wire = desk, wire
        self._task: Task | None = None
        self._title = ""
        self._opens = False
        self._board = Board()
        self._games = self._requests = self._refusals = 0
        self._done = False
        """Whether what is odd about the game has happened."""
        self._full = self._moved = self._faulted = False
        self._remarked = set[Topic]()
        self._opponent_leaves: Callable[[], None] = lambda: None
        self._pending: frozenset[Topic] = frozenset()
        """What the last game showed, if the bot goes on after it."""
        self._original = self._asked = False
        self._excused = 0
        """Messages that may still be refused, because they crossed the end of the last game."""
        self._refused = self._closes = self._dismissed = False
        self._expected = 0
        """Counts what the bot was expected to do, or did: what was expected at another number is over."""
        self._expect(Topic.ENTRY, "it said nothing")

    # What the hub says of the bot.

    def enters(self, name: str) -> Objection:
        """Take note that the bot asks for a game; return why it gets none."""
        self._expected += 1
        if self.checkup is None:
            self.checkup = self._desk.of(name)
            self.checkup.connections += 1
        self.checkup.right(Topic.ENTRY)
        if self._refused:
            self.checkup.right(Topic.REFUSED)
        self._stays()
        if not self.checkup.wants_refusal or self._refused or not self.checkup.has_seen(Topic.CLOSE):
            return NOTHING
        self._refused = True
        self.exchange.note("this is refused, to see what comes next")
        self._expect(Topic.REFUSED, "it said nothing more, nor did it hang up")
        return Objection.TABLE_FULL

    def waits(self) -> bool | None:
        """Take note that the bot waits; return whether it moves first, None where there is no game left."""
        assert self.checkup is not None
        self._expected += 1
        opens = self.checkup.opens(fresh=not self._games)
        if opens is None or (self._games and not self.checkup.plays_on):
            self.nursery.start_soon(self._close)
            return None
        return opens

    def begins(self, side: Side, leave: Callable[[], None]) -> Task | None:
        """Take note that a game begins; return what is to be played. `leave` lets the opponent leave."""
        assert self.checkup is not None
        self._expected += 1
        self._task = self.checkup.take(bot_opens=side == FIRST, fresh=not self._games)
        self._opens, self._board = side == FIRST, Board()
        self._games += 1
        self._opponent_leaves = leave
        self._requests = self._refusals = 0
        self._done = self._full = self._moved = self._faulted = self._asked = False
        self._remarked.clear()
        if self._task is None:
            self.nursery.start_soon(self._close)
        else:
            scenario = self._task.scenario
            self._title = scenario.title
            self.exchange.note(f"game {self.checkup.games}: {scenario.title}")
            self._wire.pace = scenario.pace
        return self._task

    def moved(self, board: Board) -> None:
        """Take note of the bot's legal move."""
        assert self.checkup is not None
        self._expected += 1
        before = len(board.moves) - 1
        self.checkup.right(Topic.REPLY if before else Topic.OPENING)
        self._full = self._full or _is_filled(self._board)
        self._board, self._moved, self._asked, self._refusals = board, True, False, 0
        self._stays()
        if self._games > 1:
            self.checkup.right(Topic.NEXT)

    def over(self, ended: Ended) -> None:
        """Take note of a game's end."""
        task, self._expected = self._task, self._expected + 1
        crosses = task is not None and task.scenario.deed in (Deed.LEAVE_ASKED, Deed.BOT_LOSES_ON_TIME)
        self._excused, self._asked = crosses * self._asked + _MORE * self._original, False
        own = FIRST if self._opens else 1
        if task is None or self._closes:
            return
        assert self.checkup is not None
        self._task = None
        broken = ended.leaver == own
        if ended.reason is Reason.TIME and ended.winner != own:
            if task.scenario.deed is not Deed.BOT_LOSES_ON_TIME:
                self._fail(task, "its time was up")
                return
            self._done = True
        if broken:
            self._fail(task, "it hung up in the middle of the game")
            return
        if ended.reason is Reason.ILLEGAL and ended.winner != own:
            return
        topics = self._seen(task, ended, own)
        self.checkup.finished(task, topics)
        self._pending = topics
        self._expect(None, "it asked for no other game")

    def _seen(self, task: Task, ended: Ended, own: Side) -> frozenset[Topic]:
        """Return the topics of which a game has shown what there is to see."""
        scenario, topics = task.scenario, set[Topic]()
        if ended.reason is Reason.FULL:
            topics.add(Topic.DRAW)
        elif ended.reason is Reason.FOUR:
            topics.add(Topic.WIN if ended.winner == own else Topic.LOSS)
        if self._full and not self._faulted:
            topics.add(Topic.FULL)
        if self._done or scenario.pace is not Pace.MESSAGES:
            topics.add(scenario.topic)
        return frozenset(topics)

    # What the bot says, and is told.

    def told(self, event: Event, asked: Message | str | None) -> None:
        """Hear of an event that the bot is told of."""
        match event:
            case Started():
                self._original = self._task is not None and self._task.scenario.as_original
            case ToMove():
                self._requests += 1
                self._board, self._asked = event.board, True
                self._expect(Topic.REPLY, "no move came")
                if self._is_third(Deed.LEAVE_ASKED):
                    self._opponent_leaves()
                elif self._is_third(Deed.BOT_LOSES_ON_TIME):
                    self.nursery.start_soon(self.hub.let_flag_fall, event)
            case Refused(objections) if not isinstance(asked, str):
                self._was_refused(objections, asked)
            case Dismissed(why):
                self._dismissed = why is not Why.LEFT
            case _:
                pass

    def unreadable(self, text: str) -> None:
        """Hear that the bot said something that is no message."""
        self.fault(self._desk.book.unreadable(text), f"it said {text[:80].rstrip()!r}, which is no message")

    def _was_refused(self, objections: Objection, asked: Message) -> None:
        topic = self._desk.book.refused(asked, objections)
        if topic is None or Objection.TABLE_FULL in objections:
            return
        if self._excused:
            self._excused -= 1
            return
        self._refusals += 1
        self.fault(topic, f"it said {self.exchange.latest[:80]}: {_words(objections)}")
        if self._refusals == _STUCK:
            if not self._faulted:
                words = (
                    f"{self._refusals} messages in a row were refused, such as {self.exchange.latest[:80]}"
                )
                self.fault(topic, words, is_grave=True)
            self.nursery.start_soon(self._close)

    def deed_done(self) -> None:
        """Take note that the opponent has done what is odd about it."""
        self._done = True

    def ping(self) -> None:
        """Ping the bot."""
        if self._wire.frames:
            self._wire.ping()
            self.nursery.start_soon(self._wire.drain)

    def is_as_original(self) -> bool:
        """Whether the bot is to be told what the original server would tell."""
        return self._original

    def _is_third(self, deed: Deed) -> bool:
        """Whether it is time for a deed while the bot is to move."""
        return self._task is not None and self._task.scenario.deed is deed and self._requests == _THIRD

    # What is expected.

    def _stays(self) -> None:
        if self._pending:
            assert self.checkup is not None
            self.checkup.stayed(self._pending)
            self._pending = frozenset()

    def _expect(self, topic: Topic | None, words: str) -> None:
        """Expect the bot to do something in time."""
        self._expected += 1
        self.nursery.start_soon(self._wait, self._expected, topic, words)

    async def _wait(self, number: int, topic: Topic | None, words: str) -> None:
        await trio.sleep(self._desk.patience)
        if self._expected != number or self._closes:
            return
        task, self._task = self._task, None
        words = f"{words} within {self._desk.patience:g} s"
        self.exchange.note(words)
        if self._wire.unfinished:
            self.fault(Topic.ENDS, f"{words}, only {self._wire.unfinished[:60]!r} without an end")
        elif task is not None:
            self._fail(task, words)
        elif topic is not None:
            self.fault(topic, words)
        elif self._pending:
            self._checkup().left(self._pending, self._fault(Topic.NEXT, words))
            self._pending = frozenset()
        await self._close()

    async def _close(self) -> None:
        """Hang up on the bot."""
        self._closes = True
        await trio.lowlevel.checkpoint()
        self.exchange.note("the server hangs up")
        self.hub.close(trio.current_time())

    # What it comes to.

    def fault(self, topic: Topic, words: str, *, is_grave: bool | None = None) -> None:
        """Hold something against the bot, once in a game."""
        rule = self._desk.book.rules.get(topic)
        if rule is None or (not is_grave and (self._faulted or topic in self._remarked)):
            return
        grave = rule.is_grave if is_grave is None else is_grave
        self._remarked.add(topic)
        self._faulted = self._faulted or grave
        self._checkup().wrong(self._fault(topic, words, is_grave=grave))

    def _fail(self, task: Task, words: str) -> None:
        """Hold against the bot that it did not go on with a game."""
        if self._faulted:
            return
        self._faulted = True
        fault = self._fault(self._reason(task), words, task)
        after = frozenset[Topic]() if self._moved else self._pending
        self._checkup().failed(task, fault, None if self._games == 1 else after)
        self._pending = frozenset()

    def _reason(self, task: Task) -> Topic:
        """Return what a bot that does not go on seems not to cope with."""
        scenario = task.scenario
        if self._done or scenario.pace is not Pace.MESSAGES:
            return scenario.topic
        if _is_filled(self._board):
            return Topic.FULL
        return Topic.OPENING if not self._board.moves else Topic.REPLY

    def ended(self) -> None:
        """Take note that the connection is over."""
        checkup = self._checkup()
        if self._wire.has_ponged:
            checkup.right(Topic.PING)
        elif self._wire.pings and self._dismissed:
            self.fault(Topic.PING, "no pong came", is_grave=True)
        if self._pending and self._dismissed:
            checkup.right(*self._pending)
        elif self._pending:
            checkup.left(self._pending, self._fault(Topic.NEXT, "it hung up after the game"))
        if self._refused and (not self._dismissed or self._wire.has_hung_up):
            checkup.right(Topic.REFUSED)
        if self._dismissed and self._wire.has_hung_up:
            checkup.right(Topic.CLOSE)
        elif self._dismissed and not self._faulted:
            self.fault(Topic.CLOSE, f"its end was still open after {self._desk.patience:g} s")

    def _checkup(self) -> Checkup:
        if self.checkup is None:
            self.checkup = self._desk.of(None)
            self.checkup.connections += 1
        return self.checkup

    def _fault(self, topic: Topic, words: str, task: Task | None = None, *, is_grave: bool = True) -> Fault:
        title = self._title if task is None else task.scenario.title
        return Fault(topic, words, title, self.exchange.lines(), is_grave)


def _is_filled(board: Board) -> bool:
    """Whether a column is full."""
    return any(not board.has_room(column) for column in range(COLUMNS))


def _words(objections: Objection) -> str:
    return " and ".join(str(each.name).lower().replace("_", " ") for each in objections)

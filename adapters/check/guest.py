"""Whose a connection is, and what is held against that bot.

Knows the desk's checkups, the game that is on, and what went over the wire. Does not know the hub. The rule
it keeps: who begins as no client of the dialect does is no bot, and nothing is held against anybody for it.
"""

from typing import Protocol

import trio

from adapters.check.checkup import Checkup
from adapters.check.play import Play
from adapters.check.record import Exchange, Fault, HangUp
from adapters.check.wire import CheckedWire
from adapters.client.rules import Book, Topic


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

    def __init__(self, desk: Desk, wire: CheckedWire) -> None:
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

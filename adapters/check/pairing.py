"""A hub for one bot: a matchmaker that lets it in and has an opponent come, each time that it waits.

Knows the hub, and asks the visit what is next. Does not know what is checked.
"""

from collections.abc import Iterator
from typing import Protocol

import trio

from adapters.check.opponent import NAME, Opponent, Player
from gateway.game.clock import Terms
from gateway.game.commands import InLobby
from gateway.game.events import Objection, ToMove
from gateway.game.manners import Manners
from gateway.hub.hub import Hub
from gateway.hub.seats import Seat
from gateway.matchmaking.matchmaker import Answer, Decision, Entry, HousePair, Matchmaker, Turn
from gateway.matchmaking.matchmaker import Opponent as Host

_FAR = 1e9
"""Seconds that are more than any clock has."""


class Waiter(Player, Protocol):
    """What is asked when the bot enters and waits."""

    manners: Manners

    def enters(self, name: str) -> Objection:
        """Take note that the bot asks for a game; return why it gets none."""

    def waits(self) -> tuple[bool, float] | None:
        """Take note that it waits; return whether it moves first in the next game, and in how many seconds
        that begins. None for no game.
        """


class BotHub(Hub):
    """Has one bot, and lets its time be up where a scenario asks for that."""

    def __init__(self, terms: Terms, waiter: Waiter) -> None:
        super().__init__(terms, OneBot(waiter))
        self.engage(House(waiter, self))

    async def let_flag_fall(self, request: ToMove) -> None:
        """Let the bot lose on time, which is about to be told of a request to move."""
        now = trio.current_time()
        for seat in self.seats():
            if seat.is_asked and not seat.manners.house:
                self.handed(seat, request, now - _FAR)
                self.flag(seat, now)


class House:
    """Has one opponent for each series."""

    def __init__(self, waiter: Waiter, hub: Hub) -> None:
        self._waiter, self._hub = waiter, hub

    def has(self, name: str, opponent: Host) -> bool:
        """Whether there is such a player."""
        return True

    def lobby_player(self, opponent: Host) -> str | None:
        """Return nobody: who comes is in the matchmaker's answer."""
        return None

    def open_seat(self, name: str, opponent: Host, now: float) -> Seat:
        """Return the seat of a new opponent."""
        return Opponent(self._waiter, self._hub, self._waiter.manners).seat


class OneBot(Matchmaker):
    """The matchmaker of a hub with one bot."""

    def __init__(self, waiter: Waiter) -> None:
        self._waiter = waiter
        self._name = NAME
        self._answers: list[tuple[float, Answer]] = []
        """And when they are due."""

    def leave(self, seat: int) -> None:
        """Take no notice."""

    def next_due(self) -> float | None:
        """Return when there is an answer."""
        return min((when for when, _ in self._answers), default=None)

    def enter(self, entry: Entry) -> None:
        """Let the bot in, unless it is to be refused."""
        wish = entry.place.wish if isinstance(entry.place, InLobby) else None
        self._name = NAME if wish is None else wish.name
        against = entry.against or self._waiter.enters(entry.name)
        self._answers.append((0.0, Decision(entry.seat, against)))

    def wait(self, turn: Turn, since: float) -> None:
        """Have an opponent come, if there is a game left."""
        if (game := self._waiter.waits()) is not None:
            opens, delay = game
            self._answers.append((since + delay, HousePair(turn, self._name, opens)))

    def answers(self, now: float) -> Iterator[Answer]:
        """Yield the answers there are now."""
        while due := [each for each in self._answers if each[0] <= now]:
            self._answers.remove(due[0])
            yield due[0][1]

"""Bots in pairs: some answer at once, some think a little, and a few fall asleep and are to lose.

Know what they hear and the time that they have used. A loss on time ends a pair, and another one takes its
place under other names, so that a name loses once at most, and the server's log can be held against it. Do
not know what is done to the server meanwhile.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from time import perf_counter

from conformance.dialects.script import SHORT, Outcome, Place, Wish
from conformance.lab.bots import PLAIN, Bot, BotLoop, Reading, Readings, script_of
from conformance.lab.fairness.used import Fault, Look, UsedTime
from conformance.targets import Address

SLEEPERS = 50
"""In so many games' beginnings that players hear of, one falls asleep in its game."""
THINKING = 0.1
"""The longest thought, as a share of the clock; every other move is made without any."""
LEAST_MOVES = 3
"""So many moves of a short game does each of its players make at least."""


@dataclass(slots=True)
class Counts:
    """What all pairs together came to."""

    games: int = 0
    moves: int = 0
    begun: int = 0
    """Players that heard of the start of a game."""
    slept: int = 0
    """Players who did not answer a request, on purpose."""
    told: int = 0
    """Those of them that heard of a loss on time."""
    losers: list[str] = field(default_factory=list)
    """The names of these players."""
    faults: dict[Fault, list[str]] = field(default_factory=lambda: {fault: [] for fault in Fault})
    """The facts about players that had not slept, or heard of it before their time was up."""


class Table:
    """What all pairs share."""

    def __init__(
        self, addresses: dict[str, Address], lot: random.Random, clock: float, may_sleep: Callable[[], bool]
    ) -> None:
        """`may_sleep`: whether it is still time for a player to fall asleep."""
        self.group = BotLoop[Player]()
        self.counts = Counts()
        self.lot = lot
        self.clock = clock
        self.may_sleep = may_sleep
        self.addresses = addresses
        scripts = {dialect: script_of(kind, SHORT, timed=True) for dialect, kind in PLAIN.items()}
        self.books = {dialect: Readings(dialect, script) for dialect, script in scripts.items()}


class Player(Bot):
    """One bot. `over` is called when it has lost on time, or a pair of it can play no more."""

    def __init__(
        self, table: Table, dialect: str, wish: Wish, over: Callable[[], None], *, clocked: bool
    ) -> None:
        super().__init__(table.books[dialect], wish, table.addresses[dialect])
        self._table = table
        self._over = over
        self._clocked = clocked
        self._used = self._new_time()
        self._requests = 0
        self._sleeps_at: int | None = None
        self._sleeps = False
        self.is_gone = False

    def take(self, reading: Reading, before: Place) -> None:
        """Play, sleep, lose."""
        if self.is_gone:
            return
        look = Look(perf_counter(), self._table.group.looked_before)
        match reading.outcome:
            case Outcome.LATE:
                self._lose(look)
                return
            case Outcome():
                self._end(reading.outcome)
        if reading.begun:
            self._begin()
        if reading.move:
            self._request(reading.move, look)
        elif reading.again:
            self.say(self.readings.script.opening(self.wish))

    def come_back(self) -> None:
        """Go: its opponent has lost on time."""
        self._table.group.remove(self)
        self.is_gone = True

    def _new_time(self) -> UsedTime:
        return UsedTime(self._table.clock, renewed=not self._clocked)

    def _begin(self) -> None:
        table = self._table
        table.counts.begun += 1
        self._sleeps, self._requests = False, 0
        self._used = self._new_time()
        falls_asleep = table.counts.begun % SLEEPERS == SLEEPERS // 2 and table.may_sleep()
        self._sleeps_at = table.lot.randint(1, LEAST_MOVES) if falls_asleep else None

    def _request(self, move: bytes, look: Look) -> None:
        self._used.asked(look)
        self._requests += 1
        lot, clock = self._table.lot, self._table.clock
        if self._requests == self._sleeps_at:
            self._sleeps = True
            self._table.counts.slept += 1
        elif lot.random() < 0.5:
            self._move(move, self._used)
        else:
            later = perf_counter() + lot.random() * THINKING * clock
            self._table.group.at(later, partial(self._move, move, self._used))

    def _move(self, move: bytes, used: UsedTime) -> None:
        """Answer the request that stands in `used`, if the game is still on."""
        if self.is_gone or used is not self._used or not used.is_open:
            return
        self.say(move)
        used.answered(perf_counter())
        self._table.counts.moves += 1

    def _end(self, outcome: Outcome) -> None:
        self.has_played = True
        if self._sleeps:
            raise self.wrong(f"slept, and was told: {outcome.value}")
        if outcome is Outcome.LOST:
            self._table.counts.games += 1

    def _lose(self, look: Look) -> None:
        counts, fault = self._table.counts, self._used.lost(look)
        counts.games += 1
        counts.losers.append(self.wish.name)
        if self._sleeps:
            counts.told += 1
        if not self._sleeps or fault is Fault.SERVER:
            counts.faults[fault].append(f"{self} {self._used}")
        self._over()


class Pair:
    """Two players at a table, and those who come after them."""

    def __init__(self, table: Table, kinds: tuple[str, str], number: int) -> None:
        self._table = table
        self._kinds = kinds
        self._number = number
        self._life = 0
        self._players: list[Player] = []

    def begin(self) -> None:
        """Let the next two come."""
        self._life += 1
        name = f"p{self._number}-{self._life}"
        clocked = "nac4" in self._kinds
        for letter, kind in zip("ab", self._kinds, strict=True):
            player = Player(self._table, kind, Wish(name + letter, table=name), self._again, clocked=clocked)
            self._players.append(player)
            self._table.group.add(player)

    def _again(self) -> None:
        for player in self._players:
            player.is_gone = True
        self._table.group.close(self._players)
        self._players.clear()
        self.begin()

"""Bots in pairs: some answer at once, some think a little, and a few fall asleep and are to lose.

Know what they hear and the time that they have used. A loss on time ends a pair, and another one takes its
place under other names, so that a name loses once at most, and the server's log can be held against it. Do
not know what is done to the server meanwhile.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from time import perf_counter

from conformance.lab.crowd.crowd import Crowd
from conformance.lab.crowd.dialects import speech_of
from conformance.lab.crowd.member import Look, Member
from conformance.lab.crowd.speech import MOVES_OF_SECOND, Heard, Wish
from conformance.lab.fairness.ledger import Fault, Ledger

SLEEPERS = 50
"""In so many games' beginnings that players hear of, one falls asleep in its game."""
THINKING = 0.1
"""The longest thought, as a share of the clock; every other move is made without any."""


@dataclass(slots=True)
class Tally:
    """What all pairs together came to."""

    games: int = 0
    moves: int = 0
    begun: int = 0
    """Players who were told of a game's beginning."""
    slept: int = 0
    """Players who did not answer a request, on purpose."""
    told: int = 0
    """Those of them who were told that they had lost on time."""
    losers: list[str] = field(default_factory=list)
    """Names of all who were told so."""
    faults: dict[Fault, list[str]] = field(default_factory=lambda: {fault: [] for fault in Fault})
    """What is known of those who had not slept, or were told so before their time was up."""


@dataclass(slots=True)
class Table:
    """What a pair's two players share."""

    crowd: Crowd
    tally: Tally
    lot: random.Random
    addresses: dict[str, tuple[str, int]]
    clock: float
    may_sleep: Callable[[], bool]
    """Whether it is still time for somebody to fall asleep."""


class Player(Member):
    """One bot. `over` is called when it has lost on time, or a pair of it can play no more."""

    def __init__(
        self, table: Table, kind: str, wish: Wish, over: Callable[[], None], *, clocked: bool
    ) -> None:
        super().__init__(*table.addresses[kind], speech_of(kind, wish))
        self._table = table
        self._over = over
        self._clocked = clocked
        self._ledger = self._new_ledger()
        self._requests = 0
        self._sleeps_at: int | None = None
        self._sleeps = False
        self._plays = False
        self._has_played = False
        self.is_gone = False

    def hears(self, heard: Heard, look: Look) -> None:
        """Play, sleep, lose."""
        if self.is_gone:
            return
        match heard:
            case Heard.BEGUN:
                self._begin()
            case Heard.ASKED:
                self._request(look)
            case Heard.WON | Heard.LOST:
                self._end(heard)
            case Heard.LATE:
                self._lose(look)
            case Heard.FREE:
                self.say(self.speech.opening())
            case Heard.ENTERED:
                pass

    def is_left(self) -> None:
        """Go, where it was hung up on after a game: its opponent has lost on time. Raises OutOfStep."""
        if self._plays or not self._has_played:
            super().is_left()
        self._table.crowd.dismiss(self)
        self.is_gone = True

    def _new_ledger(self) -> Ledger:
        return Ledger(self._table.clock, renewed=not self._clocked)

    def _begin(self) -> None:
        table = self._table
        table.tally.begun += 1
        self._plays, self._sleeps, self._requests = True, False, 0
        self._ledger = self._new_ledger()
        falls_asleep = table.tally.begun % SLEEPERS == SLEEPERS // 2 and table.may_sleep()
        self._sleeps_at = table.lot.randint(1, MOVES_OF_SECOND) if falls_asleep else None

    def _request(self, look: Look) -> None:
        self._ledger.asked(look)
        self._requests += 1
        lot, clock = self._table.lot, self._table.clock
        if self._requests == self._sleeps_at:
            self._sleeps = True
            self._table.tally.slept += 1
        elif lot.random() < 0.5:
            self._move(self._ledger)
        else:
            ledger = self._ledger
            self._table.crowd.at(perf_counter() + lot.random() * THINKING * clock, lambda: self._move(ledger))

    def _move(self, ledger: Ledger) -> None:
        """Answer the request that stands in `ledger`, if the game is still on."""
        if self.is_gone or ledger is not self._ledger or not ledger.is_open:
            return
        self.say(self.speech.move())
        ledger.answered(perf_counter())
        self._table.tally.moves += 1

    def _end(self, heard: Heard) -> None:
        self._plays, self._has_played = False, True
        if self._sleeps:
            raise self.wrong(f"slept, and was told: {heard.value}")
        if heard is Heard.LOST:
            self._table.tally.games += 1

    def _lose(self, look: Look) -> None:
        tally, fault = self._table.tally, self._ledger.lost(look)
        tally.games += 1
        tally.losers.append(self.speech.wish.name)
        if self._sleeps:
            tally.told += 1
        if not self._sleeps or fault is Fault.SERVER:
            tally.faults[fault].append(f"{self} {self._ledger}")
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
            self._table.crowd.admit(player)

    def _again(self) -> None:
        for player in self._players:
            player.is_gone = True
        self._table.crowd.close(self._players)
        self._players.clear()
        self.begin()

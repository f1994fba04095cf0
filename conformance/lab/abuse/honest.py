"""The process of honest games: pairs that play on whatever happens, and say how long their moves took.

`python -m conformance.lab.abuse.honest` takes its plan as a line on stdin, then "begin" and "end", each a
line; after `end` it says what happened in between. Unlike the benchmark's load it goes on when a bot is out
of step: that pair is noted, and another one takes its place when the next `begin` comes. Moves that the host
of a virtual machine may have held up are left out: how long they took says nothing of the server.
"""

import gc
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import cycle, islice
from time import perf_counter, time_ns
from typing import Any

from conformance.dialects.script import OutOfStep, Wish
from conformance.lab.abuse.figures import with_missed
from conformance.lab.bots import NAP, Readings, script_of
from conformance.lab.jobs import from_words
from conformance.lab.load import MIX, Couple, TimedBot, TimedLoop
from conformance.lab.meters import stolen, used_by
from conformance.targets import Address

BEAT = 0.1
"""Seconds between two moves of a pair."""
STILL = 10.0
"""Seconds without a move after which a game counts as cut off."""
LOOK = 0.02
"""Seconds between two looks at how much time the host has taken."""
_NAP = 0.5
_STDIN = 0
_WAVE = 0.01
_GOLDEN = 0.618
"""Spreads the pairs evenly over a beat, however many there are."""


class Honest(TimedBot):
    """A bot whose pair is lost when it is out of step, and plays no longer."""

    pair: "Pair"

    def ready(self) -> None:
        with self._losing():
            super().ready()

    def say(self, data: bytes) -> None:
        with self._losing():
            if self.pair.is_on:
                super().say(data)

    def push(self) -> bool:
        with self._losing():
            return super().push()
        return True

    @contextmanager
    def _losing(self) -> Iterator[None]:
        try:
            yield
        except OutOfStep as error:
            self.pair.games.lose(self.pair, str(error))

    @property
    def is_unanswered(self) -> bool:
        """Whether its move is on its way to the opponent."""
        return self.place.discs > self.peer.place.discs and self.sent_at >= self.due


class Pair:
    """Two bots at a table of their own."""

    def __init__(self, games: "Games", couple: Couple, number: int, life: int) -> None:
        self.games = games
        self.couple = couple
        self.number = number
        self.life = life
        self.is_on = True
        table = f"{games.token}n{number}x{life}"
        self.bots: list[Honest] = []
        for kind, letter in zip(couple, "ab", strict=True):
            bot = Honest(games.books[kind], Wish(table + letter, table=table), games.addresses[kind], games)
            bot.pair = self
            self.bots.append(bot)
        self.bots[0].peer, self.bots[1].peer = self.bots[1], self.bots[0]

    def late(self, now: float) -> float:
        """Return for how many seconds a move has been on its way; 0 where none is."""
        return max((now - bot.sent_at for bot in self.bots if bot.is_unanswered), default=0.0)


class Undisturbed:
    """Leaves out of `times` what may be the fault of the host of a virtual machine.

    That is what ended while it gave the cores to others, or within one look before or after, as the system
    counts such time late and in ticks of mostly 10 ms. A time longer than `BEAT` is kept all the same: the
    host does not explain it. What ended since the last look but one is kept, too.
    """

    def __init__(self, times: list[float]) -> None:
        self._times = times
        self._left_out = 0
        self._taken = stolen()
        self._calm = 1
        """Spans since anything was taken."""
        self._kept = 0
        """How many times are known to stay."""
        self._ended = 0
        """How many there were at the latest look."""
        self._looked = perf_counter()

    @property
    def left_out(self) -> float:
        """The share of all times that was left out."""
        return self._left_out / ((self._left_out + len(self._times)) or 1)

    def clear(self) -> None:
        """Begin anew, when the times have been cleared."""
        self._left_out = self._kept = self._ended = 0

    def look(self, now: float) -> None:
        """Leave out what was disturbed, if it is time to look."""
        if now - self._looked >= LOOK:
            self._looked = now
            taken = stolen()
            self._calm = self._calm + 1 if taken == self._taken else 0
            self._taken = taken
            if self._calm < 2:
                self._leave_out()
            else:
                self._kept = self._ended
            self._ended = len(self._times)

    def _leave_out(self) -> None:
        latest = self._times[self._kept :]
        self._times[self._kept :] = kept = [time for time in latest if time > BEAT]
        self._kept += len(kept)
        self._left_out += len(latest) - len(kept)


class Games(TimedLoop):
    """All pairs, and the orders by which they are measured."""

    def __init__(
        self, addresses: Mapping[str, Address], pairs: int, couples: Sequence[Couple] = MIX, orders: int = 0
    ) -> None:
        """`orders` is the file descriptor by which they come; stdin if nothing is said."""
        super().__init__()
        self.interval = BEAT
        self.token = f"h{time_ns() // 1000 % 10**9}"
        self.addresses = addresses
        self.books = {kind: Readings(kind, script_of(kind)) for couple in couples for kind in couple}
        self._lost: list[str] = []
        self._pairs = [
            Pair(self, couple, number, 0) for number, couple in enumerate(islice(cycle(couples), pairs))
        ]
        self._undisturbed = Undisturbed(self.times.moves)
        self._is_over = False
        self._began = 0.0
        self._waited = 0.0
        self._orders = orders
        self._half = b""

    def lose(self, pair: Pair, why: str) -> None:
        """Note that a pair cannot go on, and hang up."""
        if pair.is_on:
            pair.is_on = False
            self._lost.append(why)
            self.close(pair.bots)

    def play(self) -> None:
        """Play until the orders end, then hang up."""
        self.watch(self._orders, self)
        try:
            for pair in self._pairs:
                self._admit(pair)
                self.turn(_WAVE)
            while not self._is_over:
                self.turn(_NAP)
        finally:
            self.close()

    def turn(self, longest: float = NAP) -> bool:
        found = super().turn(longest)
        self._undisturbed.look(perf_counter())
        return found

    def ready(self) -> None:
        """Take in what has come of the orders."""
        self._obey(os.read(self._orders, 4_096))

    def _obey(self, data: bytes) -> None:
        *orders, self._half = (self._half + data).split(b"\n")
        self._is_over = self._is_over or not data
        for order in orders:
            if json.loads(order) == "begin":
                self._begin()
            else:
                print(json.dumps(self._end()), flush=True)

    def _begin(self) -> None:
        """Begin to measure, with as many pairs as ever."""
        for place, pair in enumerate(self._pairs):
            if not pair.is_on:
                self._pairs[place] = Pair(self, pair.couple, pair.number, pair.life + 1)
                self._admit(self._pairs[place])
        self.times.clear()
        self._undisturbed.clear()
        self._lost.clear()
        self._began, self._waited = perf_counter(), _waited()

    def _end(self) -> object:
        """Return what was measured."""
        now = perf_counter()
        late = [pair.late(now) for pair in self._pairs if pair.is_on]
        for pair in self._pairs:
            if pair.is_on and all(now - bot.sent_at > STILL for bot in pair.bots):
                self.lose(pair, f"no move was made for {STILL:g} s at {pair.bots[0]}'s table")
        times = with_missed([*self.times.moves, *(time for time in late if time > BEAT)], BEAT)
        seconds = now - self._began
        return {
            "times": times,
            "left_out": self._undisturbed.left_out,
            "lost": self._lost[:],
            "waited": (_waited() - self._waited) / seconds if seconds else None,
        }

    def _admit(self, pair: Pair) -> None:
        try:
            for bot in pair.bots:
                self.add(bot)
                bot.due = bot.sent_at + BEAT * (pair.number * _GOLDEN % 1)
        except OutOfStep as error:
            self.lose(pair, str(error))


def _first_line() -> bytes:
    """Return the first line of stdin, and leave the rest where it is."""
    line = b""
    while not line.endswith(b"\n"):
        line += os.read(_STDIN, 1)
    return line


def _waited() -> float:
    used = used_by(os.getpid())
    return 0.0 if used is None else used.waited


def main() -> None:
    """Play what the first line asks for."""
    words: Any = json.loads(_first_line())
    if words["core"] is not None:
        os.sched_setaffinity(0, {words["core"]})
    gc.freeze()
    gc.disable()  # what is kept are numbers
    Games(from_words(words["addresses"]), words["pairs"]).play()


if __name__ == "__main__":
    main()

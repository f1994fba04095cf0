"""Honest games beside attackers: pairs that play on whatever happens, and a guest of the house.

The process obeys "begin" and "end", and replies what happened in between. Unlike the load of a benchmark it
goes on when a bot is out of step: that pair is noted, and another one takes its place at the next "begin".
"""

import gc
import math
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import cycle, islice
from time import perf_counter, time_ns

import trio

from conformance.dialects.script import OutOfStep, Wish
from conformance.lab.bots import NAP, readings_of
from conformance.lab.client import HouseGames, connected
from conformance.lab.load import MIX, Addresses, Couple, TimedBot, TimedLoop
from conformance.lab.meters import stolen, used_by
from conformance.lab.workers import LoadError, received, reply, say
from conformance.targets import Address

BEAT = 0.1
"""Seconds between two moves of a pair."""
STILL = 10.0
"""Seconds without a move after which a game counts as cut off."""
LOOK = 0.02
"""Seconds between two looks at how much time the host of a virtual machine has taken."""
PLAYER = "aimafast"
"""The house player whom the guest plays."""
_AGAIN = 1.0
_GUEST = "guest"
_PAUSE = 0.2
"""Seconds before each of the guest's moves."""
_NAP = 0.5
_STDIN = 0
_WAVE = 0.01
_GOLDEN = 0.618
"""Spreads the pairs evenly over a beat, however many there are."""


class Guest:
    """An honest client that plays a house player until cancelled, and comes back when it is hung up on."""

    def __init__(self, address: Address) -> None:
        self.games = HouseGames(pause=_PAUSE)
        self.lost: list[str] = []
        """What ended its games otherwise than by the rules."""
        self.refused: list[str] = []
        """Why it got no game: there are too many other clients, or guests."""
        self.is_over = False
        """To be set when the server is to stop: what is lost from now on is no fault of its."""
        self._address = address

    async def run(self) -> None:
        """Play until cancelled."""
        while True:
            await self._play()
            await trio.sleep(_AGAIN)

    async def _play(self) -> None:
        """Play a series."""
        games, finished = self.games, self.games.finished
        try:
            async with connected(self._address) as client:
                await client.enter(_GUEST)
                await games.play(client, PLAYER)
        except LoadError as error:
            what = f"{_GUEST} against {PLAYER}: {error}"
            if games.on and not self.is_over:
                self.lost.append(what)
                say(f"hurt: {what}")
            elif games.finished == finished:  # otherwise the series is over
                self.refused.append(what)
            games.on, games.asked = 0, None

    def begin(self) -> None:
        """Begin to measure."""
        self.games.times.clear()
        self.lost.clear()

    @property
    def times(self) -> list[float]:
        """How long moves took since then, the one that is owed included."""
        return [*self.games.times, *self.games.owed()]


# In the process of games.


@dataclass(frozen=True, slots=True)
class Seen:
    """What honest games came to in some time."""

    times: Sequence[float]
    """How long moves took, in seconds, those included that could not be made meanwhile."""
    left_out: float
    """The share of all moves that is not there, as the host of this machine may have held them up."""
    lost: Sequence[str]
    """Games that were cut off or lost by no fault of the players: what happened."""
    waited: float | None
    """How much of the time this process had work and no core: that much of the times is not the server's."""


def with_missed(times: Sequence[float], beat: float) -> list[float]:
    """Return the times, and those of the moves that could not be made meanwhile.

    A move that takes long holds up those that would have followed it, which nobody then measures. So a time
    that is longer than a pair's beat stands for the later ones too, each shorter by one beat.
    """
    found = [*times]
    for time in times:
        found += [time - beat * missed for missed in range(1, math.ceil(time / beat))]
    return found


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
        """Looks since anything was taken."""
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
        if now - self._looked < LOOK:
            return
        self._looked, taken = now, stolen()
        self._calm = self._calm + 1 if taken == self._taken else 0
        self._taken = taken
        if self._calm < 2:
            latest = self._times[self._kept :]
            kept = [time for time in latest if time > BEAT]
            self._times[self._kept :] = kept
            self._kept += len(kept)
            self._left_out += len(latest) - len(kept)
        else:
            self._kept = self._ended
        self._ended = len(self._times)


class HonestBot(TimedBot):
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


class Pair:
    """Two bots at a table of their own."""

    def __init__(self, games: "Games", couple: Couple, number: int, life: int) -> None:
        self.games = games
        self.couple = couple
        self.number = number
        self.life = life
        self.is_on = True
        table = f"{games.token}n{number}x{life}"
        self.bots: list[HonestBot] = []
        for kind, letter in zip(couple, "ab", strict=True):
            wish = Wish(table + letter, table=table)
            bot = HonestBot(games.readings[kind], wish, games.addresses[kind], games)
            bot.pair = self
            self.bots.append(bot)
        self.bots[0].peer, self.bots[1].peer = self.bots[1], self.bots[0]

    def late(self, now: float) -> float:
        """Return for how many seconds a move has been on its way to the opponent; 0 where none is."""
        return max(
            (
                now - bot.sent_at
                for bot in self.bots
                if bot.place.discs > bot.peer.place.discs and bot.sent_at >= bot.due
            ),
            default=0.0,
        )


def play(addresses: Addresses, pairs: int, core: int | None, couples: Sequence[Couple] = MIX) -> None:
    """Play so many games until the orders end."""
    if core is not None:
        os.sched_setaffinity(0, {core})
    gc.disable()  # what is kept are numbers
    Games(addresses, pairs, couples).play()


class Games(TimedLoop):
    """All pairs, and the orders by which they are measured."""

    def __init__(self, addresses: Addresses, pairs: int, couples: Sequence[Couple] = MIX) -> None:
        super().__init__()
        self.interval = BEAT
        self.token = f"h{time_ns() // 1000 % 10**9}"
        self.addresses = addresses
        self.readings = readings_of(kind for couple in couples for kind in couple)
        self._lost: list[str] = []
        self._pairs = [
            Pair(self, couple, number, 0) for number, couple in enumerate(islice(cycle(couples), pairs))
        ]
        self._undisturbed = Undisturbed(self.times.moves)
        self._is_over = False
        self._began = 0.0
        self._waited = 0.0

    def lose(self, pair: Pair, why: str) -> None:
        """Note that a pair cannot go on, and hang up."""
        if pair.is_on:
            pair.is_on = False
            self._lost.append(why)
            self.close(pair.bots)

    def play(self) -> None:
        """Play until the orders end, then hang up."""
        self.watch(_STDIN, self)
        try:
            for pair in self._pairs:
                self._add(pair)
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
        """Obey an order."""
        try:
            order = received()
        except EOFError:
            self._is_over = True
            return
        if order == "begin":
            self.begin()
        else:
            reply(self.end())

    def begin(self) -> None:
        """Begin to measure, with as many pairs as ever."""
        for at, pair in enumerate(self._pairs):
            if not pair.is_on:
                self._pairs[at] = Pair(self, pair.couple, pair.number, pair.life + 1)
                self._add(self._pairs[at])
        self.times.clear()
        self._undisturbed.clear()
        self._lost.clear()
        self._began, self._waited = perf_counter(), _waited()

    def end(self) -> Seen:
        """Return what was measured."""
        now = perf_counter()
        late = [pair.late(now) for pair in self._pairs if pair.is_on]
        for pair in self._pairs:
            if pair.is_on and all(now - bot.sent_at > STILL for bot in pair.bots):
                self.lose(pair, f"no move was made for {STILL:g} s at {pair.bots[0]}'s table")
        seconds = now - self._began
        return Seen(
            times=with_missed([*self.times.moves, *(time for time in late if time > BEAT)], BEAT),
            left_out=self._undisturbed.left_out,
            lost=self._lost[:],
            waited=(_waited() - self._waited) / seconds if seconds else None,
        )

    def _add(self, pair: Pair) -> None:
        try:
            for bot in pair.bots:
                self.add(bot)
                bot.due = bot.sent_at + BEAT * (pair.number * _GOLDEN % 1)
        except OutOfStep as error:
            self.lose(pair, str(error))


def _waited() -> float:
    used = used_by(os.getpid())
    return 0.0 if used is None else used.waited

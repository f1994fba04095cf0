"""Honest games beside attackers: pairs of bots that play all the time, and a client of a house player.

The process takes the orders "begin" and "end", and replies with measurements of the time in between. Unlike a
benchmark it continues if a bot is out of step: it records the pair as lost, and replaces it at the next
"begin".
"""

import gc
import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count, cycle, islice
from time import perf_counter, time_ns

import trio

from conformance.dialects.script import Wish
from conformance.lab.bots import NAP, BotError, readings_of
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
"""Seconds between two checks of how much time the host of a virtual machine has taken."""
PLAYER = "aimafast"
"""The house player that the guest plays against."""
_AGAIN = 1.0
_GUEST = "guest"
_PAUSE = 0.2
"""Seconds that the guest waits before each move."""
_NAP = 0.5
_STDIN = 0
_WAVE = 0.01
_GOLDEN = 0.618
"""The golden ratio. Multiples of it spread any number of pairs evenly over a beat."""


class Guest:
    """An honest client that plays a house player until cancelled. It reconnects after a hang-up."""

    def __init__(self, address: Address) -> None:
        self.games = HouseGames(pause=_PAUSE)
        self.lost: list[str] = []
        """Descriptions of games that did not end by the rules."""
        self.refused: list[str] = []
        """Why the guest got no game, for example because of too many other clients."""
        self.is_over = False
        """Set this before the server is stopped. Games that break off after that do not count as lost."""
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
            elif games.finished == finished:  # otherwise the series has ended
                self.refused.append(what)
            games.on, games.asked = 0, None

    def begin(self) -> None:
        """Begin to measure."""
        self.games.times.clear()
        self.lost.clear()

    @property
    def times(self) -> list[float]:
        """How long moves took since `begin`. A move that is not answered yet counts with its time so far."""
        return [*self.games.times, *self.games.owed()]


# In the process of games.


@dataclass(frozen=True, slots=True)
class Seen:
    """Measurements of honest games over a period."""

    times: Sequence[float]
    """How long moves took, in seconds. The function `with_missed` has added the times of moves that a slow
    move delayed."""
    left_out: float
    """The share of the moves that are not in `times`, because the host may have held them up."""
    lost: Sequence[str]
    """Descriptions of games that were cut off, or lost without a fault of the players."""
    waited: float
    """The share of the time in which this process had work but no core: a delay not caused by the server."""


def with_missed(times: Sequence[float], beat: float) -> list[float]:
    """Return the times, with added times for the moves that a slow move delayed.

    A slow move delays the next moves of its pair, and these are not measured. For each time that is longer
    than a beat (the time between two moves of a pair), the delayed moves are added. Each of them is one beat
    shorter than the one before.
    """
    found = [*times]
    for time in times:
        found += [time - beat * missed for missed in range(1, math.ceil(time / beat))]
    return found


class Undisturbed:
    """Removes from `times` the moves that the host of a virtual machine may have held up.

    These are the moves that ended between two looks if the host took a core in that interval, or in the
    interval before or after it. The neighbours count because the system reports such time late, in ticks of
    usually 10 ms. A time longer than `BEAT` is always kept, because the host alone cannot explain it.
    """

    def __init__(self, times: list[float]) -> None:
        self._times = times
        self._looks: list[tuple[int, bool]] = []
        """For each look: the length of `times`, and whether the host had taken a core before the look."""
        self._taken = stolen()
        self._looked = perf_counter()

    def clear(self) -> None:
        """Forget all looks, because `times` has been emptied."""
        self._looks.clear()

    def look(self, now: float) -> None:
        """If the next look is due, record whether the host has taken a core since the last look."""
        if now - self._looked >= LOOK:
            self._looked, before, self._taken = now, self._taken, stolen()
            self._looks.append((len(self._times), self._taken != before))

    def kept(self) -> list[float]:
        """Return the times, without those that the host may have held up."""
        looks = [*self._looks, (len(self._times), False)]
        found, start = [], 0
        for at, (end, _) in enumerate(looks):
            is_disturbed = any(disturbed for _, disturbed in looks[max(0, at - 1) : at + 2])
            found += [time for time in self._times[start:end] if time > BEAT or not is_disturbed]
            start = end
        return found


class HonestBot(TimedBot):
    """One of the two bots of a pair."""

    pair: int


def play(addresses: Addresses, pairs: int, core: int | None, couples: Sequence[Couple] = MIX) -> None:
    """Play games of `pairs` pairs until no more orders come."""
    if core is not None:
        os.sched_setaffinity(0, {core})
    gc.disable()  # the kept objects are numbers, which form no cycles
    Games(addresses, pairs, couples).play()


class Games(TimedLoop):
    """All pairs, and the orders that control the measurement. A pair that is out of step is replaced."""

    def __init__(self, addresses: Addresses, pairs: int, couples: Sequence[Couple]) -> None:
        super().__init__()
        self.interval = BEAT
        self._token = f"h{time_ns() // 1000 % 10**9}"
        self._addresses = addresses
        self._couples = [*islice(cycle(couples), pairs)]
        self._readings = readings_of(kind for couple in couples for kind in couple)
        self._pairs: dict[int, list[HonestBot]] = {}
        """The pairs that play, by number."""
        self._tables = count()
        self._lost: list[str] = []
        self._undisturbed = Undisturbed(self.times.moves)
        self._is_over = False
        self._began = 0.0
        self._waited = 0.0

    def lose(self, error: BotError) -> None:
        """Record that a pair cannot continue, and close its connections."""
        assert isinstance(error.bot, HonestBot)
        pair = self._pairs.get(error.bot.pair, [])
        if error.bot in pair:
            del self._pairs[error.bot.pair]
            self._lost.append(str(error))
            self.close(pair)

    def play(self) -> None:
        """Play until no more orders come, then hang up."""
        self.watch(_STDIN, self._obey)
        try:
            for number in range(len(self._couples)):
                self._come(number)
                self.turn(_WAVE)
            while not self._is_over:
                self.turn(_NAP)
        finally:
            self.close()

    def turn(self, longest: float = NAP) -> bool:
        found = super().turn(longest)
        self._undisturbed.look(perf_counter())
        return found

    def _obey(self) -> None:
        try:
            order = received()
        except EOFError:
            self._is_over = True
            return
        if order == "begin":
            self._begin()
        else:
            reply(self._seen())

    def _begin(self) -> None:
        """Begin to measure. Replace lost pairs first, so that the number of pairs stays the same."""
        for number in range(len(self._couples)):
            if number not in self._pairs:
                self._come(number)
        self.times.clear()
        self._undisturbed.clear()
        self._lost.clear()
        self._began, self._waited = perf_counter(), used_by(os.getpid()).waited

    def _seen(self) -> Seen:
        """Return the measurements since `begin`."""
        now, late = perf_counter(), list[float]()
        for pair in [*self._pairs.values()]:
            late += [
                now - bot.sent_at  # how long a move has been on its way to the opponent
                for bot in pair
                if bot.place.discs > bot.peer.place.discs and bot.sent_at >= bot.due
            ]
            if all(now - bot.sent_at > STILL for bot in pair):
                self.lose(pair[0].wrong(f"is still: no move was made at its table for {STILL:g} s"))
        seconds, kept = now - self._began, self._undisturbed.kept()
        return Seen(
            times=with_missed([*kept, *(time for time in late if time > BEAT)], BEAT),
            left_out=1 - len(kept) / len(self.times.moves) if self.times.moves else 0.0,
            lost=self._lost[:],
            waited=(used_by(os.getpid()).waited - self._waited) / seconds,
        )

    def _come(self, number: int) -> None:
        """Connect a new pair to a table of its own."""
        table = f"{self._token}n{number}x{next(self._tables)}"
        pair = []
        for kind, letter in zip(self._couples[number], "ab", strict=True):
            wish = Wish(table + letter, table=table)
            pair.append(HonestBot(self._readings[kind], wish, self._addresses[kind], self))
            pair[-1].pair = number
        pair[0].peer, pair[1].peer = pair[1], pair[0]
        self._pairs[number] = pair
        try:
            for bot in pair:
                self.add(bot)
                bot.due = bot.sent_at + BEAT * (number * _GOLDEN % 1)
        except BotError as error:
            self.lose(error)

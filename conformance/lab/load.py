"""The process of timed bots: it carries out a plan, and counts.

Knows sockets that can be read, stretches of time and a server's process number; does not know dialects.
The rule it keeps: counts and the server's CPU time are read in the same instant, and a bot that is out of
step, or stands still, ends everything.
"""

import gc
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import cycle
from time import perf_counter
from typing import Any, ClassVar

from conformance.dialects.script import OutOfStep, Phase, Wish
from conformance.lab import meters
from conformance.lab.book import Book
from conformance.lab.bots import script_of
from conformance.lab.echo import ECHOES
from conformance.lab.figures import percentile
from conformance.lab.jobs import from_words, serve, settle_on
from conformance.lab.plan import Counted, Plan, Report, Stretch, plan_of
from conformance.lab.timed import TimedBot, TimedGroup
from conformance.targets import Address

STARTING = 30.0
"""Seconds in which the games have to begin."""
STILL = 10.0
"""Seconds in which every bot has to make a move, where all play at once."""
STAGGER = 0.1
"""Seconds between the two starts of a pair where the server is not ours: an original may lose both."""

_LOOK_AROUND = 0.5
_WAVES, _WAVE = 100, 0.005
"""Bots come in so many times so many seconds, or all games would begin and end at the same time."""


@dataclass(frozen=True, slots=True)
class _Instant:
    """What clocks and meters show at one time. In seconds."""

    now: float
    server: meters.Used | None
    own: float
    more: Sequence[float]


class Load(TimedGroup):
    """The bots of a plan, in pairs, with names and tables that no other run has."""

    bot: ClassVar[type[TimedBot]] = TimedBot

    def __init__(self, plan: Plan, token: str) -> None:
        """`token` is of letters and digits, and in no other run."""
        super().__init__()
        self._plan = plan
        places = [from_words(words) for words in (plan.addresses, plan.others or plan.addresses)]
        self._bots = list(self._made(places, token))
        self._idle = 0.0
        """Seconds for which nothing had come."""

    def carry_out(self) -> Report:
        """Play the whole plan. Raises OutOfStep, NoSuchProcess."""
        rss_before = self._rss()
        self._begin()
        counted = [self._counted(stretch) for stretch in self._plan.stretches]
        return Report(len(self._bots), rss_before, self._rss(), counted)

    def ask_again(self, bot: TimedBot) -> None:
        if not self._plan.is_gateway and bot.wish.name > bot.peer.wish.name:
            self.at(perf_counter() + STAGGER, bot.ask)
        else:
            bot.ask()

    def come_back(self, bot: TimedBot) -> None:
        """Connect a bot that was hung up on after a series, at another table. Raises OutOfStep."""
        table, _, series = (bot.wish.table or "").partition("-")
        bot.wish = replace(bot.wish, table=f"{table}-{int(series or 0) + 1}")
        self.dismiss(bot)
        self.admit(bot)

    def _made(self, places: Sequence[Mapping[str, Address]], token: str) -> Iterator[TimedBot]:
        """Yield the bots; where there are two servers, each of them has the first of every other pair."""
        scripts = {kind: ECHOES[kind]() if kind in ECHOES else script_of(kind) for kind in places[0]}
        books = {kind: Book(kind, script) for kind, script in scripts.items()}
        for couple, number in zip(cycle(self._plan.couples), range(self._plan.pairs), strict=False):
            names = [f"{token}n{number}{letter}" for letter, _ in zip("ab", couple, strict=False)]
            pair = [
                self.bot(books[kind], self._wish(books[kind], own, other), places[at % 2][kind], self)
                for at, (kind, own, other) in enumerate(
                    zip(couple, names, reversed(names), strict=True), number
                )
            ]
            pair[0].peer, pair[-1].peer = pair[-1], pair[0]
            yield from pair

    def _wish(self, book: Book, name: str, other: str) -> Wish:
        """Return where a bot plays: at a table, or, at an original, where that has any such thing."""
        if self._plan.is_gateway or book.script.may_hang_up:
            return Wish(name, table=name[:-1])
        return Wish(name, against=None if book.kind == "nac4" else other)

    # The loop.

    def _play(self, seconds: float) -> None:
        """Play for so long. Raises OutOfStep."""
        now = perf_counter()
        end, look = now + seconds, now + _LOOK_AROUND
        # At full speed, on a core of its own, the load does not sleep. To wake a core that sleeps is a
        # third of the server's time for a move on a virtual machine, and the faster the server, the less
        # often that happens: it says something of the machine, and nothing of the server.
        longest = 0.0 if self._plan.cores is not None and self.interval is None else _LOOK_AROUND
        while now < end:
            begun = now
            is_busy = self.turn(min(longest, end - now))
            now = perf_counter()
            if not is_busy:
                self._idle += now - begun
            if now > look:
                look = now + _LOOK_AROUND
                self._complain_of(bot for bot in self._bots if now - bot.sent_at > self._patience)

    @property
    def _patience(self) -> float:
        """Seconds in which a bot has to make a move."""
        # An original lets one pair play at a time.
        return STILL + 3 * (self.interval or 0.0) if self._plan.is_gateway else float("inf")

    def _complain_of(self, still: Iterable[TimedBot]) -> None:
        bots = list(still)
        if bots:
            names = f"{len(bots)} of {len(self._bots)} bots have not moved for {self._patience:g} s"
            raise OutOfStep(f"{names}; {bots[0]} is {bots[0].place}")

    def _begin(self) -> None:
        """Let everybody in and play until the games have begun. Raises OutOfStep."""
        idle, limit = list(self._bots), perf_counter() + STARTING
        wave = max(1, len(idle) // _WAVES)
        for at in range(0, len(idle), wave):
            for bot in idle[at : at + wave]:
                self.admit(bot)
            self._play(_WAVE)
            while self.is_waiting_for_connections and perf_counter() < limit:
                self._play(_WAVE)
        while idle and (self._plan.is_gateway or len(idle) == len(self._bots)):
            if perf_counter() > limit:
                raise OutOfStep(f"{len(idle)} of {len(self._bots)} bots had no game within {STARTING:g} s")
            self._play(0.01)
            idle = [bot for bot in idle if bot.place.phase is not Phase.PLAYING]

    def _set_pace(self, rate: float | None) -> None:
        """Let all bots together make so many moves a second; None: as many as they can."""
        if rate is None:
            self.interval = None
            self.hurry()
            return
        pairs, now = self._plan.pairs, perf_counter()
        self.interval = pairs / rate
        for number, bot in enumerate(self._bots):
            # Spread evenly, a pair's two bots alike.
            bot.due = now + self.interval * (number * pairs // len(self._bots) / pairs - 1)

    def _counted(self, stretch: Stretch) -> Counted:
        self._set_pace(stretch.rate)
        self._play(stretch.warm_up)
        self.times.clear()
        begun = self._instant()
        self._play(stretch.seconds)
        ended = self._instant()
        used = ended.server.since(begun.server) if ended.server and begun.server else None
        plays, results = self.times.moves, self.times.results
        times = plays + self.times.lasts
        if not times:
            raise self._stalled(ended.now - begun.now, used)
        return Counted(
            seconds=ended.now - begun.now,
            moves=len(times),
            games=len(results) / 2,
            server_cpu=used.cpu if used else None,
            server_waited=used.waited if used else None,
            load_cpu=ended.own - begun.own,
            p50=percentile(times, 50),
            p99=percentile(times, 99),
            loop_cpu=used.first if used else None,
            play_p50=percentile(plays, 50) if plays else None,
            play_p99=percentile(plays, 99) if plays else None,
            result_p50=percentile(results, 50) if results else None,
            result_p99=percentile(results, 99) if results else None,
            more_cpu=[after - before for before, after in zip(begun.more, ended.more, strict=True)],
        )

    def _stalled(self, seconds: float, used: meters.Used | None) -> OutOfStep:
        bot = self._bots[0]
        server = (
            f"; the server used {used.cpu:.2f} s and waited {used.waited:.2f} s for a core" if used else ""
        )
        return OutOfStep(f"no move was passed on within {seconds:.2f} s{server}; {bot} is {bot.place}")

    def _instant(self) -> _Instant:
        server = None if self._plan.pid is None else meters.used_by(self._plan.pid)
        more = [used.cpu for pid in self._plan.more if (used := meters.used_by(pid)) is not None]
        return _Instant(perf_counter(), server, time.process_time() - self._idle, more)

    def _rss(self) -> int | None:
        return None if self._plan.pid is None else meters.rss_bytes(self._plan.pid)


def main() -> None:
    """Carry out the plan that stdin names. As lean as Python allows, so that the server is what limits."""
    gc.disable()  # what is kept are numbers
    serve(carry_out)


def carry_out(words: Any) -> object:
    """Carry out a plan. Raises OutOfStep, NoSuchProcess."""
    plan = plan_of(words)
    settle_on(plan.cores, plan.pid, *plan.more)
    load = Load(plan, f"x{time.time_ns() % 10**9}")
    try:
        return asdict(load.carry_out())
    finally:
        load.close()


if __name__ == "__main__":
    main()

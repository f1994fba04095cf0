"""All bots of one process, and the loop that plays them.

Knows sockets that can be read, stretches of time and a server's process number; does not know dialects.
The rule it keeps: counts and the server's CPU time are read in the same instant, and a bot that is out of
step, or stands still, ends everything.
"""

import time
from collections.abc import Iterable
from dataclasses import dataclass, replace
from time import perf_counter

from conformance.lab import meters
from conformance.lab.bench.bots import Bot, Tally
from conformance.lab.bench.pace import Pace
from conformance.lab.bench.plan import Counted, Plan, Report, Stretch
from conformance.lab.bench.poller import poller
from conformance.lab.bench.roster import roster
from conformance.lab.bench.script import OutOfStep, Phase
from conformance.lab.house_load import percentile

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


class Load:
    """Bots on their connections."""

    def __init__(self, plan: Plan, token: str) -> None:
        self.tally = Tally()
        self.pace = Pace()
        self._plan = plan
        self._poller = poller()
        self._bots = {bot.ticket.name: bot for bot in roster(plan, token, self)}
        self._by_socket: dict[int, Bot] = {}
        self._idle = 0.0
        """Seconds for which nothing had come."""

    def run(self) -> Report:
        """Play the whole plan. Raises OutOfStep, NoSuchProcess."""
        rss_before = self._rss()
        for bot in self._bots.values():
            self._connect(bot)
        self._begin()
        counted = [self._counted(stretch) for stretch in self._plan.stretches]
        return Report(len(self._bots), rss_before, self._rss(), counted)

    def close(self) -> None:
        """Hang up on the server."""
        for bot in self._by_socket.values():
            bot.close()

    # What a bot needs of the others.

    def ask_again(self, bot: Bot) -> None:
        """Let the bot ask for its next game. Raises OutOfStep."""
        words, now = bot.book.script.again(bot.ticket), perf_counter()
        if not self._plan.is_gateway and bot.ticket.name > bot.ticket.partner:
            self.pace.delay(bot, words, now + STAGGER)
        else:
            bot.sent_at = now
            bot.say(words)

    def find(self, name: str) -> Bot:
        """Return the bot of this name. Raises OutOfStep."""
        if name not in self._bots:
            raise OutOfStep(f"was paired with {name}, who is none of us")
        return self._bots[name]

    def come_back(self, bot: Bot) -> None:
        """Connect a bot that was hung up on after a series, at another table. Raises OutOfStep."""
        table, _, series = bot.ticket.table.partition("-")
        bot.ticket = replace(bot.ticket, table=f"{table}-{int(series or 0) + 1}")
        number = next(number for number, other in self._by_socket.items() if other is bot)
        self._poller.remove(number)
        del self._by_socket[number]
        bot.close()
        self._connect(bot)
        bot.open()

    def _connect(self, bot: Bot) -> None:
        number = bot.connect(*self._plan.addresses[bot.book.kind])
        self._by_socket[number] = bot
        self._poller.add(number)

    # The loop.

    def _play(self, seconds: float) -> None:
        """Play for so long. Raises OutOfStep."""
        now = perf_counter()
        end, look = now + seconds, now + _LOOK_AROUND
        while now < end:
            bots, begun = self._by_socket, now
            ready = self._poller.wait(self._rest(end - now, now))
            for number, _ in ready:
                bots[number].ready()
            now = perf_counter()
            if not ready:
                self._idle += now - begun
            self.pace.send_due(now)
            if now > look:
                look = now + _LOOK_AROUND
                self._complain_of(bot for bot in self._bots.values() if now - bot.sent_at > self._patience)

    def _rest(self, longest: float, now: float) -> float:
        """Return for how many seconds to sleep until something comes: not at all at full speed, on a core
        of its own.

        To wake a core that sleeps is a third of the server's time for a move on a virtual machine, and the
        faster the server, the less often that happens: it says something of the machine, and nothing of the
        server.
        """
        if self._plan.cores is not None and self.pace.interval is None:
            return 0.0
        return min(longest, self.pace.until_due(now), _LOOK_AROUND)

    @property
    def _patience(self) -> float:
        """Seconds in which a bot has to make a move."""
        # An original lets one pair play at a time.
        return STILL + 3 * (self.pace.interval or 0.0) if self._plan.is_gateway else float("inf")

    def _complain_of(self, still: Iterable[Bot]) -> None:
        bots = list(still)
        if bots:
            names = f"{len(bots)} of {len(self._bots)} bots have not moved for {self._patience:g} s"
            raise OutOfStep(f"{names}; {bots[0]} is {bots[0].place}")

    def _begin(self) -> None:
        """Let everybody in and play until the games have begun. Raises OutOfStep."""
        idle, limit = list(self._bots.values()), perf_counter() + STARTING
        wave = max(1, len(idle) // _WAVES)
        for at in range(0, len(idle), wave):
            for bot in idle[at : at + wave]:
                bot.open()
            self._play(_WAVE)
        while idle and (self._plan.is_gateway or len(idle) == len(self._bots)):
            if perf_counter() > limit:
                raise OutOfStep(f"{len(idle)} of {len(self._bots)} bots had no game within {STARTING:g} s")
            self._play(0.01)
            idle = [bot for bot in idle if bot.place.phase is not Phase.PLAYING]

    def _set_pace(self, rate: float | None) -> None:
        """Let all bots together make so many moves a second; None: as many as they can."""
        if rate is None:
            self.pace.interval = None
            self.pace.send_all(perf_counter())
            return
        pairs, now = self._plan.pairs, perf_counter()
        self.pace.interval = pairs / rate
        for number, bot in enumerate(self._bots.values()):
            # Spread evenly, a pair's two bots alike.
            bot.due = now + self.pace.interval * (number * pairs // len(self._bots) / pairs - 1)

    def _counted(self, stretch: Stretch) -> Counted:
        self._set_pace(stretch.rate)
        self._play(stretch.warm_up)
        self.tally.clear()
        begun = self._instant()
        self._play(stretch.seconds)
        ended = self._instant()
        used = ended.server.since(begun.server) if ended.server and begun.server else None
        plays, results = self.tally.times, self.tally.results
        times = plays + self.tally.lasts
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
        )

    def _stalled(self, seconds: float, used: meters.Used | None) -> OutOfStep:
        bot = next(iter(self._bots.values()))
        server = (
            f"; the server used {used.cpu:.2f} s and waited {used.waited:.2f} s for a core" if used else ""
        )
        return OutOfStep(f"no move was passed on within {seconds:.2f} s{server}; {bot} is {bot.place}")

    def _instant(self) -> _Instant:
        server = None if self._plan.pid is None else meters.used_by(self._plan.pid)
        return _Instant(perf_counter(), server, time.process_time() - self._idle)

    def _rss(self) -> int | None:
        return None if self._plan.pid is None else meters.rss_bytes(self._plan.pid)

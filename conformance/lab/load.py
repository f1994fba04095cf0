"""Timed bots: pairs in a separate process that play a drawn game over and over.

Bots move at once (*saturated*), or each pair makes its moves at a fixed interval (*paced*). The counts and
the server's CPU time are read at the same instant. A bot that is out of step, or stands still, ends the run.
"""

import gc
import math
import time
from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import cycle
from time import perf_counter

from conformance.dialects.script import DRAWN, OutOfStep, Phase, Place, Wish
from conformance.lab import meters
from conformance.lab.bots import KINDS, Bot, BotLoop, Reading, Readings, script_of
from conformance.lab.echo import ECHOES
from conformance.lab.workers import many_files, run, say, settle_on
from conformance.launch import Server, running
from conformance.targets import Address

Couple = tuple[str, ...]
"""The kinds of the two bots of a pair; or the kind of a single bot, which is its own opponent."""
Addresses = Mapping[str, Address]
"""The addresses of a server, by kind of bot or by dialect."""

MOVES = len(DRAWN.moves)
MIX: Sequence[Couple] = (
    ("droidcon", "nac4"),
    ("arena-json", "droidcon"),
    ("nac4", "arena-edn"),
    ("arena-edn", "arena-json"),
)
COUPLES: Mapping[str, Sequence[Couple]] = {
    **{kind: [(kind, kind)] for kind in ("droidcon", "nac4", "arena-json", "arena-edn")},
    "mix": MIX,
}
"""The pairs to measure: each kind of bot against itself; `mix` has all kinds, also across dialects."""
ENDLESS = ("--rounds", "1000000", "--games-per-pair", "0", "--clock", "1000000")
"""Options with which no series ends and no game is lost on time during a measurement."""
SATURATED = 0.9
"""The least share of the time that a server must be busy. Otherwise it did not limit the speed."""

STARTING = 30.0
"""Seconds within which all games must begin."""
STILL = 10.0
"""Seconds within which every bot must make a move in a saturated stretch."""
DISTURBED = 0.05
"""If other processes keep a server off its core for a larger share of a measurement, the measurement is in
doubt."""
_LOOK_AROUND = 0.5
_WAVES, _WAVE = 100, 0.005
"""Bots connect in this many waves, with this many seconds between two. Otherwise all games would begin and
end at the same time."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """A period in which the bots play in one way and are measured."""

    seconds: float
    rate: float | None = None
    """Moves a second of all bots together; None: each bot answers at once."""
    warm_up: float = 1.0
    """Seconds of play before the measurement."""


@dataclass(frozen=True, slots=True)
class Plan:
    """A server, the bots that play there, and how they play."""

    couples: Sequence[Couple]
    """The kinds of the pairs, assigned to the pairs in turn."""
    pairs: int
    addresses: Addresses
    stretches: Sequence[Stretch]
    pid: int
    """The process id of the server."""
    cores: tuple[int, int] | None = None
    """The cores to pin the server and this process to; None: do not pin."""
    others: Addresses | None = None
    """The addresses of a second server, where one bot of each pair plays; None: there is none."""
    more: Sequence[int] = ()
    """Further processes to pin and measure with the server's process."""
    notes_moves: bool = False
    """Whether to report when each move was sent."""


@dataclass(frozen=True, slots=True)
class Counted:
    """The figures of a stretch. Times are in seconds. For an echo server, a move is a round trip."""

    seconds: float
    moves: int
    """Moves that the server passed on."""
    games: float
    """Games that ended: half a game for each player that received the result."""
    load_cpu: float
    times: Sequence[float]
    """Time from the sending of a move to the opponent's receipt, for all moves, sorted."""
    plays: Sequence[float]
    """The same for all moves except the last ones of games."""
    results: Sequence[float]
    """Time from the sending of a game's last move to a player's receipt of the result, sorted."""
    server: meters.Used
    """The resources that the server's process used in the stretch."""
    more_cpu: Sequence[float] = ()
    """The CPU time of each further process."""

    @property
    def rate(self) -> float:
        """Moves a second."""
        return self.moves / self.seconds

    @property
    def cpu_us(self) -> float:
        """The server's CPU time for a move, in microseconds."""
        return 1e6 * self.server.cpu / self.moves

    @property
    def waited_share(self) -> float:
        """The share of the time in which the server was ready to run and had no core."""
        return self.server.waited / self.seconds

    @property
    def server_share(self) -> float:
        """The share of a core that the server used."""
        return self.server.cpu / self.seconds

    @property
    def load_share(self) -> float:
        """The share of a core that the bots used."""
        return self.load_cpu / self.seconds


@dataclass(frozen=True, slots=True)
class Report:
    """The figures of a plan."""

    connections: int
    rss_before: int
    """Bytes of the server's memory before any bot had connected."""
    rss_playing: int
    stretches: Sequence[Counted]
    sent: Mapping[str, Sequence[float]] = field(default_factory=dict)
    """When each move was sent, by table, if the plan has `notes_moves`."""
    now: float = 0.0
    """When the plan was finished, on the clock of the times in `sent`."""

    @property
    def kb_per_connection(self) -> float:
        """The growth of the server's memory for each connection, in units of 1,024 bytes."""
        return (self.rss_playing - self.rss_before) / self.connections / 1024


def at_gateway(server: Server, couples: Sequence[Couple], pairs: int, *stretches: Stretch) -> Plan:
    """Return a plan for a gateway on this machine. It pins the processes to two cores if there are two."""
    return Plan(couples, pairs, by_kind(server), stretches, server.process.pid, meters.two_cores())


def by_kind(server: Server) -> Addresses:
    """Return the address for each kind of bot."""
    return {kind: server.addresses[dialect] for kind, (dialect, _) in KINDS.items()}


def both_stretches(options: Namespace) -> tuple[Stretch, Stretch]:
    """Return a saturated and a paced stretch of the same length, with the times and rate of `options`."""
    warm_up = min(1.0, options.seconds)
    return Stretch(options.seconds, None, warm_up), Stretch(options.seconds, options.rate, warm_up)


async def played(plan: Plan) -> Report:
    """Carry out a plan in a separate process. Raises LoadError."""
    with many_files():
        return await run(carry_out, plan)


async def played_at_new(
    kind: str, pairs: int, options: Namespace, command: Sequence[str], *words: str
) -> Report:
    """Start a gateway with further options, and play a saturated stretch and a paced one there.

    Warns on stderr if the saturated measurement is in doubt. Raises LoadError or ServerError, which may be in
    an ExceptionGroup.
    """
    async with running([*ENDLESS, *words], command) as server:
        report = await played(at_gateway(server, COUPLES[kind], pairs, *both_stretches(options)))
    saturated = report.stretches[0]
    if saturated.server_share + saturated.waited_share < SATURATED:
        say(f"  {kind}: NOT SATURATED, the load used {saturated.load_share:.0%} of its core")
    if saturated.waited_share > DISTURBED:
        say(f"  {kind}: others kept the server off its core for {saturated.waited_share:.0%} of the time")
    return report


# In the process of bots.


def carry_out(plan: Plan) -> Report:
    """Carry out a plan with as little work in this process as possible, so that the server limits the speed.

    Raises OutOfStep, NoSuchProcess.
    """
    gc.disable()  # the kept objects are numbers, which form no cycles
    settle_on(plan.cores, plan.pid, *plan.more)
    load = Load(plan, f"x{time.time_ns() % 10**9}")
    try:
        return load.carry_out()
    finally:
        load.close()


@dataclass(slots=True)
class Times:
    """The times of all bots since the last `clear`, in seconds."""

    moves: list[float] = field(default_factory=list)
    """Time from the sending of a move to the opponent's receipt, for all moves except the last of a game."""
    lasts: list[float] = field(default_factory=list)
    """The same for the last moves of games."""
    results: list[float] = field(default_factory=list)
    """Time from the sending of a last move to a player's receipt of the result: two for each game."""

    def clear(self) -> None:
        self.moves.clear()
        self.lasts.clear()
        self.results.clear()


class TimedLoop(BotLoop["TimedBot"]):
    """The loop of timed bots."""

    def __init__(self) -> None:
        super().__init__()
        self.times = Times()
        self.interval: float | None = None
        """Seconds between two moves of a pair; None: moves are sent at once."""


class TimedBot(Bot):
    """One player. `peer` is its opponent."""

    def __init__(self, readings: Readings, wish: Wish, address: Address, loop: TimedLoop) -> None:
        super().__init__(readings, wish, address)
        self.peer = self
        self.sent_at = math.inf  # a bot that has not connected cannot stand still
        """When the bot sent its latest move."""
        self.due = 0.0
        """When the latest move was due, if moves are paced."""
        self.games = 0
        """How many results the bot has received."""
        self.closed_at = 0.0
        """When the last move of the bot's latest finished game was sent."""
        self._loop = loop
        self._times = loop.times

    def connect(self) -> int:
        number = super().connect()
        self.sent_at = perf_counter()  # standing still is counted from here
        return number

    def ask(self) -> None:
        """Ask for another game. Raises OutOfStep."""
        self.sent_at = perf_counter()
        self.say(self.readings.script.asking(self.wish))

    def send(self, move: bytes) -> None:
        """Make a move. Raises OutOfStep."""
        self.sent_at = perf_counter()
        self.say(move)

    def take(self, reading: Reading, before: Place) -> None:
        now = perf_counter()
        if reading.outcome is not None or (
            reading.told and reading.place.discs == MOVES and not reading.move
        ):
            self._count_end(reading, before, now)
        elif reading.told:
            self._times.moves.append(now - self.peer.sent_at)
        if reading.move:
            if self._loop.interval is None:
                self.send(reading.move)
            else:
                self.send_in_turn(reading.move, now, self._loop.interval)
        elif reading.again:
            self.ask()

    def send_in_turn(self, move: bytes, now: float, interval: float) -> None:
        """Send a move one interval after the pair's latest move was due."""
        # A bot that makes the last move of a game also makes the first move of the next.
        self.due = max(self.due, self.peer.due) + interval
        if interval and (late := now - self.due) > interval:
            # The move is late by more than an interval. Skip whole intervals: the pair keeps its own beat,
            # and pairs do not start to move all at the same time.
            self.due += late // interval * interval
        self._loop.at(self.due, partial(self.send, move))

    def _count_end(self, reading: Reading, before: Place, now: float) -> None:
        """Record the times of a game's last move, of its result, and of the next game's first move."""
        times, told = self._times, reading.told
        # The player of the last move may have received the result earlier, and have sent its next move.
        if not before.opens:
            closed_at = self.sent_at
        elif self.peer.games > self.games:
            closed_at = self.peer.closed_at
        else:
            closed_at = self.peer.sent_at
        if told and before.opens and before.discs < MOVES:  # the second mover makes the last of 42 moves
            times.lasts.append(now - closed_at)
            told -= 1
        if reading.outcome is not None:
            times.results.append(now - closed_at)
            self.closed_at = closed_at
            self.games += 1
            self.has_played = True
        if told:
            times.moves.append(now - self.peer.sent_at)


class _NotingBot(TimedBot):
    """Records when it sends its moves, by table. Only the two bots of a pair play at a table."""

    def send(self, move: bytes) -> None:
        assert isinstance(self._loop, Load)
        assert self.wish.table is not None
        super().send(move)
        self._loop.sent.setdefault(self.wish.table, []).append(self.sent_at)


class Load(TimedLoop):
    """The bots of a plan, in pairs. Their names and tables are unique to this run."""

    def __init__(self, plan: Plan, token: str) -> None:
        """`token`, of letters and digits, must be unique to this run."""
        super().__init__()
        self.sent: dict[str, list[float]] = {}
        self._plan = plan
        self._bots = list(self._made(token))
        self._idle = 0.0
        """Processor time of turns in which nothing arrived."""

    def _made(self, token: str) -> Iterator[TimedBot]:
        """Yield the bots. With two servers, the bots of a pair are at different servers."""
        plan = self._plan
        servers = plan.addresses, plan.others or plan.addresses
        make = _NotingBot if plan.notes_moves else TimedBot
        readings = {
            kind: Readings(kind, ECHOES[kind]() if kind in ECHOES else script_of(kind))
            for kind in plan.addresses
        }
        for couple, number in zip(cycle(plan.couples), range(plan.pairs), strict=False):
            table = f"{token}n{number}"
            names = [table + letter for letter, _ in zip("ab", couple, strict=False)]
            pair = []
            for at, (kind, name) in enumerate(zip(couple, names, strict=True), number):
                pair.append(make(readings[kind], Wish(name, table=table), servers[at % 2][kind], self))
            pair[0].peer, pair[-1].peer = pair[-1], pair[0]
            yield from pair

    def carry_out(self) -> Report:
        """Play the whole plan. Raises OutOfStep, NoSuchProcess."""
        rss_before = meters.rss_bytes(self._plan.pid)
        self._begin()
        counted = [self._counted(stretch) for stretch in self._plan.stretches]
        return Report(
            len(self._bots), rss_before, meters.rss_bytes(self._plan.pid), counted, self.sent, perf_counter()
        )

    def _play(self, seconds: float) -> None:
        """Play for `seconds`. Raises OutOfStep."""
        now = perf_counter()
        end, look = now + seconds, now + _LOOK_AROUND
        # In a saturated stretch, with a core of its own, the load does not sleep. On a virtual machine,
        # waking a sleeping core costs the server a third of the time of a move. That cost depends on the
        # machine, and must not count as the server's.
        longest = 0.0 if self._plan.cores is not None and self.interval is None else _LOOK_AROUND
        used = time.process_time()
        while now < end:
            is_busy = self.turn(min(longest, end - now))
            now, before, used = perf_counter(), used, time.process_time()
            if not is_busy:
                self._idle += used - before
            if now > look:
                look = now + _LOOK_AROUND
                patience = STILL + 3 * (self.interval or 0.0)
                still = [bot for bot in self._bots if now - bot.sent_at > patience]
                if still:
                    names = f"{len(still)} of {len(self._bots)} bots have not moved for {patience:g} s"
                    raise OutOfStep(f"{names}; {still[0]} is {still[0].place}")

    def _begin(self) -> None:
        """Connect all bots, and play until all games have begun. Raises OutOfStep."""
        idle, limit = list(self._bots), perf_counter() + STARTING
        wave = max(1, len(idle) // _WAVES)
        for at in range(0, len(idle), wave):
            for bot in idle[at : at + wave]:
                self.add(bot)
            self._play(_WAVE)
            while self.is_waiting_for_connections and perf_counter() < limit:
                self._play(_WAVE)
        while idle:
            if perf_counter() > limit:
                raise OutOfStep(f"{len(idle)} of {len(self._bots)} bots had no game within {STARTING:g} s")
            self._play(0.01)
            idle = [bot for bot in idle if bot.place.phase is not Phase.PLAYING]

    def _counted(self, stretch: Stretch) -> Counted:
        pairs, now = self._plan.pairs, perf_counter()
        if stretch.rate is None:
            self.interval = None
            self.hurry()
        else:
            self.interval = pairs / stretch.rate
            for number, bot in enumerate(self._bots):
                # Spread the pairs evenly over the interval. The two bots of a pair have the same time.
                bot.due = now + self.interval * (number * pairs // len(self._bots) / pairs - 1)
        self._play(stretch.warm_up)
        self.times.clear()
        begun, server, own, more = self._instant()
        self._play(stretch.seconds)
        ended, server_later, own_later, more_later = self._instant()
        used = server_later.since(server)
        times = self.times.moves + self.times.lasts
        if not times:
            limits = f"the server used {used.cpu:.2f} s and waited {used.waited:.2f} s"
            bot = self._bots[0]
            raise OutOfStep(
                f"no move was passed on within {ended - begun:.2f} s; {limits}; {bot} is {bot.place}"
            )
        return Counted(
            seconds=ended - begun,
            moves=len(times),
            games=len(self.times.results) / 2,
            load_cpu=own_later - own,
            times=sorted(times),
            plays=sorted(self.times.moves),
            results=sorted(self.times.results),
            server=used,
            more_cpu=[after - before for before, after in zip(more, more_later, strict=True)],
        )

    def _instant(self) -> tuple[float, meters.Used, float, Sequence[float]]:
        """Return the time, and the CPU time of the server, the load and the further processes."""
        more = [meters.used_by(pid).cpu for pid in self._plan.more]
        return perf_counter(), meters.used_by(self._plan.pid), time.process_time() - self._idle, more

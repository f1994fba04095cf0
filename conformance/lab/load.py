"""Timed bots: pairs that play the drawn game over and over, in a process of their own, and are counted.

A bot moves at once (*saturated*), or so that its pair makes a move in so many seconds (*paced*). Counts and
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
"""The kinds of two bots that meet; or one alone, which is its own opponent."""
Addresses = Mapping[str, Address]
"""Where a server listens, by kind of bot or by dialect."""

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
"""What is measured: each kind of bot against itself, and all in equal parts and across dialects."""
ENDLESS = ("--rounds", "1000000", "--games-per-pair", "0", "--clock", "1000000")
"""No series ends, and no clock cuts, while it is measured."""
SATURATED = 0.9
"""The share of the time in which a server that is the limit has work at least."""

STARTING = 30.0
"""Seconds in which the games have to begin."""
STILL = 10.0
"""Seconds in which every bot has to make a move, where all play at once."""
DISTURBED = 0.05
"""The share of the time off its core from which on a measurement is in doubt."""
_LOOK_AROUND = 0.5
_WAVES, _WAVE = 100, 0.005
"""Bots come in so many times so many seconds, or all games would begin and end at the same time."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """A time in which the bots play in one way, and what they do is counted."""

    seconds: float
    rate: float | None = None
    """Moves a second of all bots together; None: each answers at once."""
    warm_up: float = 1.0
    """Seconds before that, uncounted."""


@dataclass(frozen=True, slots=True)
class Plan:
    """One server, the bots that play there, and how."""

    couples: Sequence[Couple]
    """Dealt round to the pairs."""
    pairs: int
    addresses: Addresses
    stretches: Sequence[Stretch]
    pid: int
    """The server's process."""
    cores: tuple[int, int] | None = None
    """Where to pin the server and this process; None: nowhere."""
    others: Addresses | None = None
    """Where one bot of each pair plays, if that is another server."""
    more: Sequence[int] = ()
    """Further processes that are pinned and measured beside the server's."""
    notes_moves: bool = False
    """Whether to report when each move was sent."""


@dataclass(frozen=True, slots=True)
class Counted:
    """The figures of a stretch. Times are in seconds; for an echo, a move is a round trip."""

    seconds: float
    moves: int
    """That the server passed on."""
    games: float
    """Games that ended: half a game for each player that heard of it."""
    load_cpu: float
    times: Sequence[float]
    """From a move's being sent to the opponent's hearing of it, of all moves, in order of length."""
    plays: Sequence[float]
    """The same of the moves that were not a game's last."""
    results: Sequence[float]
    """From a game's last move to a player's hearing of the result."""
    server: meters.Used
    """What the server's process used meanwhile."""
    more_cpu: Sequence[float] = ()
    """What the further processes used, each."""

    @property
    def rate(self) -> float:
        """Moves a second."""
        return self.moves / self.seconds

    @property
    def cpu_us(self) -> float:
        """Microseconds of server CPU for a move."""
        return 1e6 * self.server.cpu / self.moves

    @property
    def waited_share(self) -> float:
        """The share of the time in which the server was ready to run and had no core."""
        return self.server.waited / self.seconds

    @property
    def server_share(self) -> float:
        """What the server used of a core."""
        return self.server.cpu / self.seconds

    @property
    def load_share(self) -> float:
        """What the bots used of theirs."""
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
    """When each move was sent, by table, where the plan asks for that."""
    now: float = 0.0
    """When all was over, on the same clock."""

    @property
    def kb_per_connection(self) -> float:
        """What the server's memory grew by for each connection, in units of 1,024 bytes."""
        return (self.rss_playing - self.rss_before) / self.connections / 1024


def at_gateway(server: Server, couples: Sequence[Couple], pairs: int, *stretches: Stretch) -> Plan:
    """Return a plan for a gateway that runs here, and two cores where there are two."""
    return Plan(couples, pairs, by_kind(server), stretches, server.process.pid, meters.two_cores())


def by_kind(server: Server) -> Addresses:
    """Return where each kind of bot connects."""
    return {kind: server.addresses[dialect] for kind, (dialect, _) in KINDS.items()}


def both_stretches(options: Namespace) -> tuple[Stretch, Stretch]:
    """Return a saturated stretch and a paced one, of `seconds` each, at a `rate`."""
    warm_up = min(1.0, options.seconds)
    return Stretch(options.seconds, None, warm_up), Stretch(options.seconds, options.rate, warm_up)


async def played(plan: Plan) -> Report:
    """Carry out a plan in a process of bots. Raises LoadError."""
    with many_files():
        return await run(carry_out, plan)


async def played_at_new(
    kind: str, pairs: int, options: Namespace, command: Sequence[str], *words: str
) -> Report:
    """Play a saturated stretch and a paced one at a gateway that is started with these further options.

    Says on stderr what puts the saturated one in doubt. Raises LoadError, ServerError, wrapped.
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
    """Carry out a plan, as lean as Python allows, so that the server is what limits.

    Raises OutOfStep, NoSuchProcess.
    """
    gc.disable()  # what is kept are numbers
    settle_on(plan.cores, plan.pid, *plan.more)
    load = Load(plan, f"x{time.time_ns() % 10**9}")
    try:
        return load.carry_out()
    finally:
        load.close()


@dataclass(slots=True)
class Times:
    """What all bots did since it was cleared. In seconds."""

    moves: list[float] = field(default_factory=list)
    """From a move's being sent to the opponent's hearing of it: of each move but a game's last."""
    lasts: list[float] = field(default_factory=list)
    """The same for the last moves."""
    results: list[float] = field(default_factory=list)
    """From a last move's being sent to a player's hearing of the result: two for each game."""

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
        """Seconds between two moves of one pair; None: moves are sent at once."""


class TimedBot(Bot):
    """One player. `peer` is its opponent."""

    def __init__(self, readings: Readings, wish: Wish, address: Address, loop: TimedLoop) -> None:
        super().__init__(readings, wish, address)
        self.peer = self
        self.sent_at = math.inf  # a bot that has not come in yet is not waited for
        """When it sent its latest move."""
        self.due = 0.0
        """When it was to send that, where moves are paced."""
        self.games = 0
        """How many results it was told."""
        self.closed_at = 0.0
        """When the last move of the latest of these games was sent."""
        self._loop = loop
        self._times = loop.times

    def connect(self) -> int:
        number = super().connect()
        self.sent_at = perf_counter()  # it may be let in later, and is not still until then
        return number

    def ask(self) -> None:
        """Ask for another game. Raises OutOfStep."""
        self.sent_at = perf_counter()
        self.say(self.readings.script.opening(self.wish))

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
        """Send a move when the pair's interval has passed since its latest was due."""
        # One bot makes a game's last move and the next's first.
        self.due = max(self.due, self.peer.due) + interval
        if interval and (late := now - self.due) > interval:
            # A whole turn was missed. Pairs keep to their own beat all the same, or they would fall into one.
            self.due += late // interval * interval
        self._loop.at(self.due, partial(self.send, move))

    def _count_end(self, reading: Reading, before: Place, now: float) -> None:
        """Count a game's last move and its result, as far as they came, and the next game's first move."""
        times, told = self._times, reading.told
        # The one who made the last move may have been told of the result before, and gone on.
        if not before.opens:
            closed_at = self.sent_at
        elif self.peer.games > self.games:
            closed_at = self.peer.closed_at
        else:
            closed_at = self.peer.sent_at
        if told and before.opens and before.discs < MOVES:  # the last of 42 moves is the other's
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
    """Notes its moves at its table, where only the two of a pair ever play."""

    def send(self, move: bytes) -> None:
        assert isinstance(self._loop, Load)
        assert self.wish.table is not None
        super().send(move)
        self._loop.sent.setdefault(self.wish.table, []).append(self.sent_at)


class Load(TimedLoop):
    """The bots of a plan, in pairs, with names and tables that no other run has."""

    def __init__(self, plan: Plan, token: str) -> None:
        """`token` is of letters and digits, and in no other run."""
        super().__init__()
        self.sent: dict[str, list[float]] = {}
        self._plan = plan
        self._bots = list(self._made(token))
        self._idle = 0.0
        """Processor time of turns in which nothing had come."""

    def _made(self, token: str) -> Iterator[TimedBot]:
        """Yield the bots; where there are two servers, each of them has the first of every other pair."""
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
        """Play for so long. Raises OutOfStep."""
        now = perf_counter()
        end, look = now + seconds, now + _LOOK_AROUND
        # At full speed, on a core of its own, the load does not sleep. To wake a core that sleeps is a
        # third of the server's time for a move on a virtual machine, and the faster the server, the less
        # often that happens: it says something of the machine, and nothing of the server.
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
                # Spread evenly, a pair's two bots alike.
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
        """Return what clocks and meters show: the time, and what server, load and other processes used."""
        more = [meters.used_by(pid).cpu for pid in self._plan.more]
        return perf_counter(), meters.used_by(self._plan.pid), time.process_time() - self._idle, more

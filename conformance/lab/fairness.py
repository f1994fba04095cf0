"""`python -m conformance fairness`: does nobody lose on time because the server was busy?

Half of the games are played while the gateway is stopped now and then for longer than anybody's clock, half
on an overloaded machine. Some bots answer at once, some think a little, and a few fall asleep and are to
lose. In place of one gateway there may be a cluster: a node for each dialect, so that six in nine pairs
play between nodes, and one node is stopped at a time.
"""

import os
import random
import signal
import subprocess
import sys
from argparse import Namespace
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from enum import Enum
from functools import partial
from itertools import cycle, product
from time import perf_counter

import trio

from conformance.arguments import Parser
from conformance.dialects import DIALECTS
from conformance.dialects.script import SHORT, Outcome, OutOfStep, Place, Wish
from conformance.lab.bots import PLAIN, Bot, BotLoop, Reading, couple, readings_of
from conformance.lab.load import Addresses
from conformance.lab.meters import NoSuchProcess
from conformance.lab.report import Row, counted, finish, some
from conformance.lab.servers import Gateway, Log, cluster, gateway
from conformance.lab.workers import LoadError, run, say
from conformance.launch import COMMAND

BURNER = (sys.executable, "-c", "import os\nstarter = os.getppid()\nwhile os.getppid() == starter: pass")
"""Keeps a core busy while the process that started it lives."""
ENDLESS = ("--rounds", "1000000", "--games-per-pair", "0")
AT_CLUSTER = 1.0, 0.6, 300
"""At a cluster: seconds of a stall and of a clock, and games at once.

If a node stands still or is late for longer, another one may begin to pair, and games that are being agreed
on are called off; these bots take nothing of the kind.
"""
LOSS = (
    r"game '[^']*' beats '(?P<loser>[^']*)': time"
    r"(?: \(after [0-9.]+ s, the server was deaf for (?P<deaf>[0-9.]+) s\), moving )?"
)
"""A line of the gateway's log on a game that was lost on time, with its own delay."""
GAPS = 0.3, 1.0
"""Seconds between two stalls, from and to."""
STANDING = 60.0
"""Seconds in which some game has to end."""
SLEEPERS = 50
"""In so many games' beginnings that players hear of, one falls asleep in its game."""
THINKING = 0.1
"""The longest thought, as a share of the clock; every other move is made without any."""
LEAST_MOVES = 3
"""So many moves of a short game does each of its players make at least."""


class Fault(Enum):
    """Whose fault a loss on time is."""

    SERVER = "by the server's fault"
    """The bot's time was not up."""
    PLAYER = "by their own"
    """Its time was up."""
    UNKNOWN = "nobody can tell"
    """The bots' own process was too busy to know."""


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
    """The names of the players that heard of one."""
    faults: dict[Fault, list[str]] = field(default_factory=lambda: {fault: [] for fault in Fault})
    """The facts about players that had not slept, or heard of it before their time was up."""
    stalls: int = 0
    seconds: float = 0.0


def main(argv: Sequence[str]) -> int:
    """Run the command line; returns the exit status."""
    stall, clock, at_once = AT_CLUSTER if "--cluster" in argv else (2.0, 1.5, 1000)
    parser = Parser.of("fairness", "does nobody lose on time because the server was busy?")
    parser.count("--games", 10_000, "games in all")
    parser.count("--at-once", at_once, "games at once")
    parser.count("--stalls", 10, "stalls at least")
    parser.seconds("--stall", stall, "length of one")
    parser.seconds("--clock", clock, "seconds that a player has")
    parser.count("--burners", 2 * (os.cpu_count() or 1), "processes that overload")
    parser.count("--seed", 1, "seed of all lots")
    parser.add_argument("--cluster", action="store_true", help="at three nodes, one for each dialect")
    parser.report()
    options = parser.parse_args(argv)
    rows, notes = trio.run(measure, options)
    return finish("fairness", rows, options, notes)


async def measure(options: Namespace) -> tuple[list[Row], list[str]]:
    """Play all games; return the figures, and lines on what went wrong.

    Raises LoadError, ServerError, wrapped.
    """
    half = (options.games + 1) // 2
    say(f"playing {half} games with stalls ...")
    stalled = rows_of("stalled", *await _stretch(options, half, options.stalls))
    say(f"playing {half} games beside {options.burners} processes that take the cores ...")
    with _burning(options.burners):
        overloaded = rows_of("overloaded", *await _stretch(options, half, 0))
    return [*stalled[0], *overloaded[0]], [*stalled[1], *overloaded[1]]


async def _stretch(
    options: Namespace, games: int, stalls: int
) -> tuple[Counts, list[tuple[str, float | None]]]:
    """Return what the bots counted, and the losses on time in the log, with the server's own delay."""
    clock = ("--clock", str(options.clock), "--idle", str(options.clock))
    words = (*ENDLESS, *clock, "--seed", str(options.seed))
    async with _serving(words, is_cluster=options.cluster) as servers:
        addresses = {
            dialect: server.addresses[dialect]
            for dialect, server in zip(DIALECTS, cycle(servers), strict=False)
        }
        pids = [server.pid for server in servers]
        counts = await run(play, addresses, pids, games, stalls, options)
        for server in servers:
            _, status = await server.stop()
            if status != 0:
                raise LoadError(f"{server} exited with status {status}")
    losses = [match for server in servers for match in server.log.found]
    return counts, [(loss["loser"], None if loss["deaf"] is None else float(loss["deaf"])) for loss in losses]


@asynccontextmanager
async def _serving(words: Sequence[str], *, is_cluster: bool) -> AsyncIterator[Sequence[Gateway]]:
    if is_cluster:
        names = "abc"[: len(DIALECTS)]
        async with cluster(names, words, logs=[Log(LOSS) for _ in names]) as found:
            yield found.nodes
    else:
        async with gateway(words, COMMAND, Log(LOSS)) as server:
            yield [server]


@contextmanager
def _burning(number: int) -> Iterator[None]:
    """Run so many processes that use all the time that they get, for as long as the block lasts."""
    burners = [subprocess.Popen(BURNER, stdin=subprocess.DEVNULL) for _ in range(number)]
    try:
        yield
    finally:
        for burner in burners:
            burner.kill()
            burner.wait()


def rows_of(
    part: str, counts: Counts, losses: Sequence[tuple[str, float | None]]
) -> tuple[list[Row], list[str]]:
    """Return the figures of a stretch of games, and lines on what is not as it should be."""
    delays = [deaf for _, deaf in losses if deaf is not None]
    unlogged = sorted((Counter(counts.losers) - Counter(loser for loser, _ in losses)).elements())
    bare = [loser for loser, deaf in losses if deaf is None]
    bad = {
        Fault.SERVER.value: counts.faults[Fault.SERVER],
        Fault.UNKNOWN.value: counts.faults[Fault.UNKNOWN],
        "not in the log": unlogged,
        "logged without the server's delay": bare,
    }
    return [
        counted(part, "games", counts.games),
        counted(part, "moves", counts.moves),
        Row(part, "took", counts.seconds, "s", form=".1f"),
        counted(part, "stalls", counts.stalls),
        counted(part, "slept on purpose", counts.slept),
        counted(part, "others who lost on time", len(counts.losers) - counts.told),
        counted(part, Fault.PLAYER.value, len(counts.faults[Fault.PLAYER])),
        *(counted(part, what, len(lines), 0) for what, lines in bad.items()),
        counted(part, "slept and were not told", counts.slept - counts.told, 0),
        counted(part, "nobody slept, so no loss was seen", int(not counts.slept), 0),
        Row(part, "longest delay in the log", max(delays, default=None), "s", form=".3f"),
    ], [line for what, lines in bad.items() for line in some(f"{part}, {what}", lines)]


# In the process of bots.


@dataclass(frozen=True, slots=True)
class Look:
    """When a loop looked at its sockets. Seconds of `time.perf_counter`."""

    now: float
    """When what it found is being dealt with."""
    before: float
    """When it had looked at all of them before: what it finds now had not come by then."""


@dataclass(slots=True)
class UsedTime:
    """How much time a bot has used in a game, as far as it can know, in seconds.

    When a message came is known to within two looks at the sockets: it had not come at the look before, and
    was read after the present one. So what a bot has used is known by two bounds, and so is whose fault a
    loss is.
    """

    clock: float
    """What it has: for all moves of a game, or for each where `renewed`."""
    renewed: bool
    moves: int = 0
    """Answers whose bytes the system has taken."""
    least: float = 0.0
    """What it has used at least, for answered requests."""
    most: float = 0.0
    _asked: Look | None = field(default=None, repr=False)
    """When the request that is open was read."""

    @property
    def is_open(self) -> bool:
        """Whether a request waits for its answer."""
        return self._asked is not None

    def asked(self, look: Look) -> None:
        """Note that a request to move was read."""
        if self.renewed:
            self.least = self.most = 0.0
        self._asked = look

    def answered(self, now: float) -> None:
        """Note that the system has taken all bytes of the answer."""
        if self._asked is not None:
            self.least += now - self._asked.now
            self.most += now - self._asked.before
            self._asked = None
            self.moves += 1

    def lost(self, look: Look) -> Fault:
        """Return whose fault it is that the server has told of a loss on time."""
        least, most = self.least, self.most
        if self._asked is not None:
            least += max(0.0, look.before - self._asked.now)
            most += look.now - self._asked.before
        if most < self.clock:
            return Fault.SERVER
        return Fault.PLAYER if least >= self.clock else Fault.UNKNOWN

    def __str__(self) -> str:
        state = "had not answered" if self.is_open else f"had answered within {self.least:.3f} s"
        return f"{state}, after {self.moves} moves, of {self.clock:g} s"


class Games:
    """All pairs, and what they share."""

    def __init__(self, addresses: Addresses, lot: random.Random, clock: float) -> None:
        self.loop = BotLoop[Player]()
        self.counts = Counts()
        self.may_sleep = True
        """Whether it is still time for a player to fall asleep."""
        self.lot = lot
        self.clock = clock
        self.addresses = addresses
        self.readings = readings_of(PLAIN, [SHORT], timed=True)

    def begin(self, kinds: tuple[str, str], number: int, life: int = 1) -> None:
        """Let two come to a table. A loss on time ends the pair, and another one comes under other names.

        So a name loses once at most, and the server's log can be held against it.
        """
        players: list[Player] = []

        def end() -> None:
            for player in players:
                player.is_gone = True
            self.loop.close(players)
            self.begin(kinds, number, life + 1)

        for wish, kind in zip(couple(f"p{number}-{life}", at_table=True), kinds, strict=True):
            players.append(Player(self, kind, wish, end, clocked="nac4" in kinds))
            self.loop.add(players[-1])


class Player(Bot):
    """One bot. `over` is called when it has lost on time, and its pair can play no more."""

    def __init__(
        self, games: Games, dialect: str, wish: Wish, over: Callable[[], None], *, clocked: bool
    ) -> None:
        super().__init__(games.readings[dialect], wish, games.addresses[dialect])
        self.is_gone = False
        self._all = games
        self._over = over
        self._renewed = not clocked
        self._used = UsedTime(games.clock, self._renewed)
        self._requests = 0
        self._sleeps_at: int | None = None
        self._sleeps = False

    def take(self, reading: Reading, before: Place) -> None:
        """Play, sleep, lose."""
        if self.is_gone:
            return
        counts = self._all.counts
        look = Look(perf_counter(), self._all.loop.looked_before)
        match reading.outcome:
            case Outcome.LATE:
                self._lose(look)
                return
            case Outcome():
                self.has_played = True
                if self._sleeps:
                    raise self.wrong(f"slept, and was told: {reading.outcome.value}")
                counts.games += reading.outcome is Outcome.LOST
        if reading.begun:
            counts.begun += 1
            self._sleeps, self._requests = False, 0
            self._used = UsedTime(self._all.clock, self._renewed)
            falls_asleep = counts.begun % SLEEPERS == SLEEPERS // 2 and self._all.may_sleep
            self._sleeps_at = self._all.lot.randint(1, LEAST_MOVES) if falls_asleep else None
        if reading.move:
            self._request(reading.move, look)
        elif reading.again:
            self.say(self.readings.script.opening(self.wish))

    def come_back(self) -> None:
        """Go: its opponent has lost on time."""
        self._all.loop.remove(self)
        self.is_gone = True

    def _request(self, move: bytes, look: Look) -> None:
        self._used.asked(look)
        self._requests += 1
        lot = self._all.lot
        if self._requests == self._sleeps_at:
            self._sleeps = True
            self._all.counts.slept += 1
        elif lot.random() < 0.5:
            self._move(move, self._used)
        else:
            later = perf_counter() + lot.random() * THINKING * self._all.clock
            self._all.loop.at(later, partial(self._move, move, self._used))

    def _move(self, move: bytes, used: UsedTime) -> None:
        """Answer the request that stands in `used`, if the game is still on."""
        if self.is_gone or used is not self._used or not used.is_open:
            return
        self.say(move)
        used.answered(perf_counter())
        self._all.counts.moves += 1

    def _lose(self, look: Look) -> None:
        counts, fault = self._all.counts, self._used.lost(look)
        counts.games += 1
        counts.losers.append(self.wish.name)
        counts.told += self._sleeps
        if not self._sleeps or fault is Fault.SERVER:
            counts.faults[fault].append(f"{self} {self._used}")
        self._over()


class Stalls:
    """Stops one of some processes again and again, for so many seconds each time.

    A stall is a real one: the process gets SIGSTOP, and SIGCONT later, and the bots' answers wait in its
    sockets.
    """

    def __init__(self, games: Games, pids: Sequence[int], seconds: float) -> None:
        self._games = games
        self._pids = pids
        self._pid = pids[0]
        self._seconds = seconds
        self._is_over = False

    def begin(self) -> None:
        """Wait a little, then stop a process."""
        self._pid = self._games.lot.choice(self._pids)
        self._games.loop.at(perf_counter() + self._games.lot.uniform(*GAPS), self._stop)

    def end(self) -> None:
        """Let all processes run from now on."""
        self._is_over = True
        self._signal(signal.SIGCONT)

    def _stop(self) -> None:
        if not self._is_over:
            self._signal(signal.SIGSTOP)
            self._games.loop.at(perf_counter() + self._seconds, self._resume)

    def _resume(self) -> None:
        self._signal(signal.SIGCONT)
        self._games.counts.stalls += 1
        self.begin()

    def _signal(self, number: signal.Signals) -> None:
        try:
            os.kill(self._pid, number)
        except ProcessLookupError:
            raise NoSuchProcess(f"there is no process {self._pid}") from None


def play(addresses: Addresses, pids: Sequence[int], least: int, stalls: int, options: Namespace) -> Counts:
    """Play so many games, and on until there were enough stalls and all who slept were told of their loss."""
    games = Games(addresses, random.Random(options.seed), options.clock)
    counts, stalling = games.counts, Stalls(games, pids, options.stall)
    begun = perf_counter()
    for number, kinds in zip(range(options.at_once), cycle(product(PLAIN, PLAIN)), strict=False):
        games.begin(kinds, number)
    try:
        # They come in before the first stall.
        _play_until(games, lambda: counts.begun >= 2 * options.at_once)
        if stalls:
            stalling.begin()
        _play_until(games, lambda: counts.games >= least and counts.stalls >= stalls)
        games.may_sleep = False
        _play_until(games, lambda: counts.told == counts.slept)
    finally:
        stalling.end()
    counts.seconds = perf_counter() - begun
    games.loop.close()
    return counts


def _play_until(games: Games, is_over: Callable[[], bool]) -> None:
    """Let everybody act until it is over. Raises OutOfStep, also where no game has ended for a long time."""
    ended, since = games.counts.games, perf_counter()
    while not is_over():
        games.loop.turn()
        if games.counts.games > ended:
            ended, since = games.counts.games, perf_counter()
        elif perf_counter() - since > STANDING:
            raise OutOfStep(f"{ended} games have ended, and none for {STANDING:g} s")

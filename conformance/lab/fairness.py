"""Does nobody lose on time because the server was busy?

Half of the games are played while the gateway's process is stopped now and then for longer than a player's
clock, half while other processes take all cores. Some bots answer at once, some think for up to a tenth of
the clock. Now and then one does not answer, on purpose, and has to lose. With --cluster there is a node for
each dialect, so that six in nine pairs play between nodes, and one node at a time is stopped.

    by the server's fault  losses of bots that had used less than their time, even counted from the look at
                           their sockets before the one that found the request
    by their own           losses of bots that had used their time, even counted from reading the request
    nobody can tell        all other losses: the bots' own process was too busy
    not in the log         losses that a bot was told of and the gateway did not log
"""

import math
import os
import random
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
from conformance.dialects.script import SHORT, Outcome, Place, Wish
from conformance.lab.bots import PLAIN, Bot, BotLoop, Reading, Readings, couple, readings_of
from conformance.lab.load import Addresses
from conformance.lab.report import UNKNOWN, Row, counted, finish, some
from conformance.lab.servers import Gateway, Log, cluster, gateway, until
from conformance.lab.workers import LoadError, reply, say, worker
from conformance.launch import COMMAND
from conformance.targets import Address

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
"""Seconds in which something has to come to one of the bots."""
_STDIN = 0
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
    """What all pairs together have counted."""

    games: int = 0
    moves: int = 0
    begun: int = 0
    """Players that received the start of a game."""
    slept: int = 0
    """Players who did not answer a request, on purpose."""
    told: int = 0
    """Those of them that received a loss on time."""
    losers: list[str] = field(default_factory=list)
    """The names of the players that received one."""
    faults: dict[Fault, list[str]] = field(default_factory=lambda: {fault: [] for fault in Fault})
    """Losses of players that had not slept, or whose time was not up."""
    seconds: float = 0.0


def main(argv: Sequence[str]) -> int:
    """Run the command line; return the exit status."""
    stall, clock, at_once = AT_CLUSTER if "--cluster" in argv else (2.0, 1.5, 1000)
    parser = Parser.of("fairness", __doc__)
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
) -> tuple[Counts, int, list[tuple[str, float | None]]]:
    """Play so many games, and on until there were so many stalls.

    Returns what the bots counted, the stalls, and the losses on time in the log with the server's own delay.
    """
    clock = ("--clock", str(options.clock), "--idle", str(options.clock))
    words = (*ENDLESS, *clock, "--seed", str(options.seed))
    async with _serving(words, is_cluster=options.cluster) as servers:
        addresses = {
            dialect: server.addresses[dialect]
            for dialect, server in zip(DIALECTS, cycle(servers), strict=False)
        }
        done: list[float] = []
        async with worker(play, addresses, games, options) as bots:
            await bots.receive()  # all play
            async with trio.open_nursery() as nursery:
                if stalls:
                    nursery.start_soon(_stall, servers, options.stall, random.Random(options.seed), done)
                await bots.receive()  # enough games have ended
                await until(lambda: len(done) >= stalls, math.inf)
                nursery.cancel_scope.cancel()
            counts: Counts = await bots.finish()
        for server in servers:
            _, status = await server.stop()
            if status != 0:
                raise LoadError(f"{server} exited with status {status}")
    losses = [match for server in servers for match in server.log.found]
    delays = [(loss["loser"], None if loss["deaf"] is None else float(loss["deaf"])) for loss in losses]
    return counts, len(done), delays


async def _stall(servers: Sequence[Gateway], seconds: float, lot: random.Random, done: list[float]) -> None:
    """Stop one of the servers again and again: its process gets SIGSTOP, and later SIGCONT."""
    while True:
        await trio.sleep(lot.uniform(*GAPS))
        server = lot.choice(servers)
        server.halt()
        try:
            await trio.sleep(seconds)
        finally:
            server.resume()
        done.append(seconds)


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
    part: str, counts: Counts, stalls: int, losses: Sequence[tuple[str, float | None]]
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
        counted(part, "stalls", stalls),
        counted(part, "slept on purpose", counts.slept),
        counted(part, "others who lost on time", len(counts.losers) - counts.told),
        counted(part, Fault.PLAYER.value, len(counts.faults[Fault.PLAYER])),
        *(counted(part, what, len(lines), 0) for what, lines in bad.items()),
        counted(part, "slept and were not told", counts.slept - counts.told, 0),
        counted(part, "nobody slept, so no loss was seen", int(not counts.slept), 0),
        Row(part, "longest delay in the log", max(delays, default=UNKNOWN), "s", form=".3f"),
    ], [line for what, lines in bad.items() for line in some(f"{part}, {what}", lines)]


# In the process of bots.


@dataclass(frozen=True, slots=True)
class Look:
    """When a loop looked at its sockets. Seconds of `time.perf_counter`."""

    now: float
    """When the messages that it found are read."""
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
        """Record that a request to move was read."""
        if self.renewed:
            self.least = self.most = 0.0
        self._asked = look

    def answered(self, now: float) -> None:
        """Record that the system has taken all bytes of the answer."""
        if self._asked is not None:
            self.least += now - self._asked.now
            self.most += now - self._asked.before
            self._asked = None
            self.moves += 1

    def lost(self, look: Look) -> Fault:
        """Return whose fault a loss on time is."""
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


class Games(BotLoop["Player"]):
    """All pairs, and what they share."""

    def __init__(self, addresses: Addresses, lot: random.Random, clock: float) -> None:
        super().__init__()
        self.counts = Counts()
        self.may_sleep = True
        """Whether it is still time for a player to fall asleep."""
        self.lot = lot
        self.clock = clock
        self._addresses = addresses
        self._readings = readings_of(PLAIN, [SHORT], timed=True)

    def begin(self, kinds: tuple[str, str], number: int, life: int = 1) -> None:
        """Connect two players of these dialects to a table."""
        wishes = couple(f"p{number}-{life}", at_table=True)
        pair = [
            Player(self._readings[kind], wish, self._addresses[kind], self, renewed="nac4" not in kinds)
            for kind, wish in zip(kinds, wishes, strict=True)
        ]
        for player in pair:
            player.replace = partial(self._replace, pair, kinds, number, life)
            self.add(player)

    def _replace(self, pair: Sequence["Player"], kinds: tuple[str, str], number: int, life: int) -> None:
        """Connect another pair under other names, so that a name loses once at most."""
        self.close(pair)
        self.begin(kinds, number, life + 1)


class Player(Bot):
    """One bot. `replace` is called when it has lost on time, so that its pair can play no more."""

    replace: Callable[[], None]

    def __init__(
        self, readings: Readings, wish: Wish, address: Address, games: Games, *, renewed: bool
    ) -> None:
        super().__init__(readings, wish, address)
        self._games = games
        self._renewed = renewed
        self._used = UsedTime(games.clock, renewed)
        self._requests = 0
        self._sleeps_at: int | None = None
        self._sleeps = False

    def take(self, reading: Reading, before: Place) -> None:
        """Answer a request at once, later or never, and count what happens."""
        games, counts = self._games, self._games.counts
        look = Look(perf_counter(), games.looked_before)
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
            self._used = UsedTime(games.clock, self._renewed)
            falls_asleep = counts.begun % SLEEPERS == SLEEPERS // 2 and games.may_sleep
            self._sleeps_at = games.lot.randint(1, LEAST_MOVES) if falls_asleep else None
        if reading.move:
            self._request(reading.move, look)
        elif reading.again:
            self.say(self.readings.script.opening(self.wish))

    def close(self) -> None:
        super().close()
        self._used = UsedTime(self._games.clock, self._renewed)  # so that no answer leaves that was delayed

    def come_back(self) -> None:
        """Leave, as the opponent has lost on time."""
        self._games.remove(self)

    def _request(self, move: bytes, look: Look) -> None:
        self._used.asked(look)
        self._requests += 1
        games = self._games
        if self._requests == self._sleeps_at:
            self._sleeps = True
            games.counts.slept += 1
        elif games.lot.random() < 0.5:
            self._move(move, self._used)
        else:
            later = perf_counter() + games.lot.random() * THINKING * games.clock
            games.at(later, partial(self._move, move, self._used))

    def _move(self, move: bytes, used: UsedTime) -> None:
        """Answer the request that stands in `used`, if the game is still on."""
        if used is self._used and used.is_open:
            self.say(move)
            used.answered(perf_counter())
            self._games.counts.moves += 1

    def _lose(self, look: Look) -> None:
        counts, fault = self._games.counts, self._used.lost(look)
        counts.games += 1
        counts.losers.append(self.wish.name)
        counts.told += self._sleeps
        if not self._sleeps or fault is Fault.SERVER:
            counts.faults[fault].append(f"{self} {self._used}")
        self.replace()


def play(addresses: Addresses, least: int, options: Namespace) -> Counts:
    """Play at least so many games, until stdin ends and each player that slept has received its loss.

    Reply when all play, and when so many games have ended.
    """
    games = Games(addresses, random.Random(options.seed), options.clock)
    counts = games.counts
    is_over: list[bool] = []
    games.watch(_STDIN, lambda: is_over.append(True))  # there is nothing to read but the end
    begun = perf_counter()
    for number, kinds in zip(range(options.at_once), cycle(product(PLAIN, PLAIN)), strict=False):
        games.begin(kinds, number)
    games.run(lambda: counts.begun >= 2 * options.at_once, STANDING)
    reply("all play")
    games.run(lambda: counts.games >= least, STANDING)
    reply("enough games have ended")
    games.run(lambda: bool(is_over), STANDING)
    games.may_sleep = False
    games.run(lambda: counts.told == counts.slept, STANDING)
    counts.seconds = perf_counter() - begun
    games.close()
    return counts

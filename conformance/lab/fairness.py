"""Does a player ever lose on time because the server was busy?

Half of the games are played while the gateway's process is stopped from time to time, for longer than a
player's clock. The other half are played while other processes take all cores. Some bots answer at once,
others think for up to a tenth of the clock. From time to time a bot deliberately does not answer, and must
lose. With --cluster there is a node for each dialect: six of nine pairs play between nodes, and one node at
a time is stopped.

    by the server's fault  losses of bots that had time left, even if the request arrived as early as possible
    by their own           losses of bots without time left, even if the request arrived as late as possible
    nobody can tell        all other losses: the bots' own process was too busy to know
    not in the log         losses that a bot received and the gateway did not log
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
"""The command of a process that keeps a core busy until the process that started it ends."""
ENDLESS = ("--rounds", "1000000", "--games-per-pair", "0")
AT_CLUSTER = 1.0, 0.6, 300
"""With a cluster: the seconds of a stall, the seconds of a clock, and the number of games at once.

After a longer stall another node may begin to pair. The cluster then calls off games that are about to start,
and these bots do not accept that.
"""
LOSS = (
    r"game '[^']*' beats '(?P<loser>[^']*)': time"
    r"(?: \(after [0-9.]+ s, the server was deaf for (?P<deaf>[0-9.]+) s\), moving )?"
)
"""Matches a log line of the gateway that says that a player lost on time. `deaf` is the gateway's own delay
in seconds."""
GAPS = 0.3, 1.0
"""The shortest and the longest time between two stalls, in seconds."""
STANDING = 60.0
"""Seconds within which at least one of the bots must receive something."""
_STDIN = 0
SLEEPERS = 50
"""Each time that so many players have begun a game, one falls asleep: it will not answer a request."""
THINKING = 0.1
"""The longest time to think, as a share of the clock. Half of the moves are made at once."""
LEAST_MOVES = 3
"""The least number of moves that a player makes in a short game."""


class Fault(Enum):
    """Who caused a loss on time."""

    SERVER = "by the server's fault"
    """The server: the bot's time was not up."""
    PLAYER = "by their own"
    """The bot: its time was up."""
    UNKNOWN = "nobody can tell"
    """Unknown: the bots' own process was too busy to tell."""


@dataclass(slots=True)
class Counts:
    """Counts of all pairs together."""

    games: int = 0
    moves: int = 0
    begun: int = 0
    """Players that received the start of a game."""
    slept: int = 0
    """Players that deliberately did not answer a request."""
    told: int = 0
    """Players among `slept` that then received the message that they had lost on time."""
    losers: list[str] = field(default_factory=list)
    """The names of all players that received the message that they had lost on time."""
    faults: dict[Fault, list[str]] = field(default_factory=lambda: {fault: [] for fault in Fault})
    """Losses of players that had not slept, or that had time left."""
    seconds: float = 0.0


def main(argv: Sequence[str]) -> int:
    """Run the command line; return the exit status."""
    stall, clock, at_once = AT_CLUSTER if "--cluster" in argv else (2.0, 1.5, 1000)
    parser = Parser.of("fairness", __doc__)
    parser.count("--games", 10_000, "games in all")
    parser.count("--at-once", at_once, "games at once")
    parser.count("--stalls", 10, "stalls at least")
    parser.seconds("--stall", stall, "seconds of one stall")
    parser.seconds("--clock", clock, "seconds that a player has for a game")
    parser.count("--burners", 2 * (os.cpu_count() or 1), "processes that load the cores")
    parser.count("--seed", 1, "seed of all random choices")
    parser.add_argument("--cluster", action="store_true", help="use three nodes, one for each dialect")
    parser.report()
    options = parser.parse_args(argv)
    rows, notes = trio.run(measure, options)
    return finish("fairness", rows, options, notes)


async def measure(options: Namespace) -> tuple[list[Row], list[str]]:
    """Play all games; return the figures, and lines about problems.

    Raises LoadError or ServerError, which may be in an ExceptionGroup.
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
    """Play until at least `games` games have ended and `stalls` stalls have happened.

    Returns the bots' counts, the number of stalls, and from the log the players that lost on time, with the
    server's delay.
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
            await bots.receive()  # all players are in a game
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
    """Stop one of the servers repeatedly: send SIGSTOP to its process, and later SIGCONT."""
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
    """Run `number` processes that keep a core busy, for as long as the block lasts."""
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
    """Return the figures of a stretch of games, and lines about problems."""
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
    """The times of a loop's two latest looks at its sockets, in seconds of `time.perf_counter`."""

    now: float
    """When the bots read the messages that the latest look found."""
    before: float
    """When the loop made the previous look at all sockets. The messages found now arrived after it."""


@dataclass(slots=True)
class UsedTime:
    """The time that a bot has used in a game, as two bounds, in seconds.

    A bot does not know exactly when a message arrived: it was after the previous look at the sockets, and
    before the bot read it. The time used therefore has a lower and an upper bound. The cause of a loss is
    known only if both bounds agree.
    """

    clock: float
    """The time that the bot has: for all moves of a game, or for each move if `renewed`."""
    renewed: bool
    moves: int = 0
    """The number of answers that the system has accepted in full."""
    least: float = 0.0
    """The lower bound of the time used for answered requests. `most` is the upper bound."""
    most: float = 0.0
    _asked: Look | None = field(default=None, repr=False)
    """When the open request was read; None if no request is open."""

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
        """Record that the system has accepted all bytes of the answer."""
        if self._asked is not None:
            self.least += now - self._asked.now
            self.most += now - self._asked.before
            self._asked = None
            self.moves += 1

    def lost(self, look: Look) -> Fault:
        """Return who caused the loss on time that was received at this look."""
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
    """All pairs, and their common state."""

    def __init__(self, addresses: Addresses, lot: random.Random, clock: float) -> None:
        super().__init__()
        self.counts = Counts()
        self.may_sleep = True
        """Whether players may still fall asleep."""
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
        """Replace a pair by a pair with other names, so that a name loses on time at most once."""
        self.close(pair)
        self.begin(kinds, number, life + 1)


class Player(Bot):
    """One bot. It calls `replace` when it has lost on time, because its pair cannot continue then."""

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
        """Answer a request at once, later or never, and update the counts."""
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
            self.say(self.readings.script.asking(self.wish))

    def close(self) -> None:
        super().close()
        self._used = UsedTime(self._games.clock, self._renewed)  # so that no delayed answer is sent

    def come_back(self) -> None:
        """Leave after the server has hung up, because a hang-up means that the opponent has lost on time."""
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
        """Answer the open request of `used`, if the game has not ended."""
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
    """Play until stdin ends, and until every player that did not answer has lost on time.

    Reply once when all players are in a game, and again when `least` games have ended.
    """
    games = Games(addresses, random.Random(options.seed), options.clock)
    counts = games.counts
    is_over: list[bool] = []
    games.watch(_STDIN, lambda: is_over.append(True))  # stdin is readable only at its end
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

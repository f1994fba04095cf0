"""`python -m conformance web-load`: do those who read results by web cost those who play?

Knows a gateway as a subprocess, the benchmark's process of bots, and a process of readers. Stretches without
readers and with them take turns on one server, and medians are compared, because machines drift.
"""

import json
import subprocess
import sys
from argparse import Namespace
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import trio

from conformance.arguments import Parser
from conformance.lab import meters
from conformance.lab.figures import aligned
from conformance.lab.jobs import LoadError, as_words, say
from conformance.lab.plan import COUPLES, WARM_UP, Counted, Plan, Stretch, played
from conformance.lab.short_games import SHORT_SERIES, fill
from conformance.launch import COMMAND, Server, running
from conformance.targets import WEB

TIMES, MORE_MS = 1.5, 2.0
"""So many times as long as in quiet, or so many milliseconds longer, a move may take, 99 of 100."""
OPTIONS = ("--rounds", "1000000", "--web", "0")
JOB = (sys.executable, "-m", "conformance.lab.web_load.job")
LEAD = 1.0
"""Seconds for which readers read before and behind what is measured."""


@dataclass(frozen=True, slots=True)
class Readers:
    """The readers, and what they read."""

    name: str
    number: int
    path: str


READERS = (
    Readers("20 pages", 20, "/api/games?limit=1000"),
    Readers("50 exports", 50, "/api/export.jsonl"),
)


@dataclass(frozen=True, slots=True)
class Row:
    """One stretch. Times are in milliseconds, of moves that end no game, and of results."""

    name: str
    p50: float
    p99: float
    result_p99: float
    answers: float = 0
    """That the readers had whole."""
    megabytes: float = 0.0
    """That they had in a second."""
    memory: float = 0.0
    """Megabytes of the largest process beside the server's."""


@dataclass(frozen=True, slots=True)
class Kind:
    """All stretches with the same readers, or none, as medians."""

    name: str
    rows: Sequence[Row]

    def of(self, figure: Callable[[Row], float]) -> float:
        """Return the median of a figure."""
        return median(map(figure, self.rows))

    @property
    def p99(self) -> float:
        """What 99 of 100 moves took at most, in milliseconds."""
        return self.of(lambda row: row.p99)


def main(argv: Sequence[str]) -> int:
    """Run the command line; returns the exit status."""
    options = _parse(argv)
    with TemporaryDirectory() as folder:
        rows = trio.run(measure, options, options.db or str(Path(folder) / "web.db"))
    quiet, *loaded = kinds_of(rows)
    print(readable(quiet, loaded), end="")
    return 1 if any(kind.p99 > goal(quiet) for kind in loaded) else 0


def _parse(argv: Sequence[str]) -> Namespace:
    parser = Parser.of("web-load", __doc__)
    parser.count("--pairs", 50, "pairs of bots")
    parser.count("--rate", 1000, "their moves a second")
    parser.count("--games", 64_000, "stored games")
    parser.seconds("--seconds", 5.0, "how long to measure each")
    parser.count("--times", 3, "how often")
    parser.add_argument("--db", metavar="FILE", help="a database in which they are already")
    return parser.parse_args(argv)


def kinds_of(rows: Sequence[Row]) -> list[Kind]:
    """Return the rows by kind; the first is the quiet one."""
    names = dict.fromkeys(row.name for row in rows)
    return [Kind(name, [row for row in rows if row.name == name]) for name in names]


def goal(quiet: Kind) -> float:
    """Return how many milliseconds 99 of 100 moves may take beside readers."""
    return max(TIMES * quiet.p99, quiet.p99 + MORE_MS)


def readable(quiet: Kind, loaded: Sequence[Kind]) -> str:
    """Return a table and a line, with their ends."""
    head = ("", "move p50 ms", "p99 ms", "result p99 ms", "", "answers", "MB/s", "web MB")
    words = [head, (*_figures(quiet), "", "", "", "")]
    for kind in loaded:
        verdict = "missed" if kind.p99 > goal(quiet) else "met"
        web = (
            f"{sum(row.answers for row in kind.rows):.0f}",
            f"{kind.of(lambda row: row.megabytes):.1f}",
            f"{max(row.memory for row in kind.rows):.0f}",
        )
        words.append((*_figures(kind), verdict, *web))
    return f"{aligned(words)}\ngoal: p99 of {goal(quiet):.2f} ms\n"


def _figures(kind: Kind) -> tuple[str, str, str, str]:
    p50, result = kind.of(lambda row: row.p50), kind.of(lambda row: row.result_p99)
    return kind.name, f"{p50:.2f}", f"{kind.p99:.2f}", f"{result:.2f}"


async def measure(options: Namespace, where: str, command: Sequence[str] = COMMAND) -> list[Row]:
    """Measure what the options ask for. Raises LoadError, ServerError, wrapped."""
    if options.db is None:
        async with running([*SHORT_SERIES, "--db", where], command) as server:
            await fill(server, options.games)
    async with running([*OPTIONS, "--db", where], command) as server:
        port = server.addresses[WEB].port
        rows = []
        for _ in range(options.times):
            rows.append(await _quiet(server, options))
            rows += [await _beside(readers, port, server, options) for readers in READERS]
    return rows


async def _quiet(server: Server, options: Namespace) -> Row:
    say("playing, nobody reads ...")
    return _row("quiet", await _play(server, options))


async def _beside(readers: Readers, port: int, server: Server, options: Namespace) -> Row:
    """Play while these read."""
    say(f"playing beside {readers.name} ...")
    words = {
        "port": port,
        "path": readers.path,
        "readers": readers.number,
        "seconds": options.seconds + WARM_UP + 2 * LEAD,
    }
    process = await trio.lowlevel.open_process(JOB, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdin is not None
    assert process.stdout is not None
    async with process.stdin as stdin:
        await stdin.send_all(json.dumps(words).encode())
    await trio.sleep(LEAD)
    counted = await _play(server, options)
    memory = max((meters.rss_bytes(each) or 0 for each in meters.children_of(server.process.pid)), default=0)
    async with process.stdout as stdout:
        got = json.loads(b"".join([bytes(data) async for data in stdout]))
    await process.wait()
    if got["error"] is not None or not got["bytes"]:
        raise LoadError(f"those who read by web: {got['error'] or 'they got nothing'}")
    rate = got["bytes"] / words["seconds"] / 2**20
    return _row(readers.name, counted, got["answers"], rate, memory / 2**20)


async def _play(server: Server, options: Namespace) -> Counted:
    stretch = Stretch(options.seconds, WARM_UP, options.rate)
    addresses = as_words({"droidcon": server.addresses["droidcon"]})
    return (await played(Plan(COUPLES["droidcon"], options.pairs, addresses, [stretch]))).stretches[0]


def _row(name: str, counted: Counted, *web: float) -> Row:
    """Return a stretch in milliseconds. Raises LoadError where too little was played."""
    if counted.play_p50 is None or counted.play_p99 is None or counted.result_p99 is None:
        raise LoadError("no game ended; let them play for longer, or faster")
    return Row(name, 1000 * counted.play_p50, 1000 * counted.play_p99, 1000 * counted.result_p99, *web)

"""`python -m conformance web-load`: do those who read results by web cost those who play?

Knows a gateway as a subprocess, the benchmark's process of bots, and a process of readers. Stretches without
readers and with them take turns on one server, and medians are compared, because machines drift.
"""

from argparse import Namespace
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import trio

from conformance.arguments import Parser
from conformance.lab import meters
from conformance.lab.figures import Row, finished
from conformance.lab.jobs import LoadError, as_words, process, say
from conformance.lab.plan import COUPLES, WARM_UP, Counted, Plan, Stretch, played
from conformance.lab.short_games import SHORT_SERIES, fill
from conformance.launch import COMMAND, Server, running
from conformance.targets import WEB

TIMES, MORE_MS = 1.5, 2.0
"""So many times as long as in quiet, or so many milliseconds longer, a move may take, 99 of 100."""
OPTIONS = ("--rounds", "1000000", "--web", "0")
JOB = "conformance.lab.web_load.job"
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
class Read:
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


def main(argv: Sequence[str]) -> int:
    """Run the command line; returns the exit status."""
    options = _parse(argv)
    with TemporaryDirectory() as folder:
        stretches = trio.run(measure, options, options.db or str(Path(folder) / "web.db"))
    return finished(rows(stretches), options)


def _parse(argv: Sequence[str]) -> Namespace:
    parser = Parser.of("web-load", __doc__)
    parser.count("--pairs", 50, "pairs of bots")
    parser.count("--rate", 1000, "their moves a second")
    parser.count("--games", 64_000, "stored games")
    parser.seconds("--seconds", 5.0, "how long to measure each")
    parser.count("--times", 3, "how often")
    parser.add_argument("--db", metavar="FILE", help="a database in which they are already")
    parser.report()
    return parser.parse_args(argv)


def rows(stretches: Sequence[Read]) -> list[Row]:
    """Return medians of the stretches with the same readers; the first had none."""
    found: list[Row] = []
    most = None
    for name in dict.fromkeys(one.name for one in stretches):
        same = [one for one in stretches if one.name == name]
        p99 = median(one.p99 for one in same)
        found += [
            Row(name, "move p50", median(one.p50 for one in same), "ms"),
            Row(name, "move p99", p99, "ms", most),
            Row(name, "result p99", median(one.result_p99 for one in same), "ms"),
        ]
        if most is None:
            most = round(max(TIMES * p99, p99 + MORE_MS), 2)
            continue
        found += [
            Row(name, "answers", sum(one.answers for one in same), "", form=".0f"),
            Row(name, "what they got", median(one.megabytes for one in same), "MB/s", form=".1f"),
            Row(name, "memory of the web", max(one.memory for one in same), "MB", form=".0f"),
        ]
    return found


async def measure(options: Namespace, where: str, command: Sequence[str] = COMMAND) -> list[Read]:
    """Measure what the options ask for. Raises LoadError, ServerError, wrapped."""
    if options.db is None:
        async with running([*SHORT_SERIES, "--db", where], command) as server:
            await fill(server, options.games)
    async with running([*OPTIONS, "--db", where], command) as server:
        port = server.addresses[WEB].port
        found = []
        for _ in range(options.times):
            found.append(await _quiet(server, options))
            found += [await _beside(readers, port, server, options) for readers in READERS]
    return found


async def _quiet(server: Server, options: Namespace) -> Read:
    say("playing, nobody reads ...")
    return _row("quiet", await _play(server, options))


async def _beside(readers: Readers, port: int, server: Server, options: Namespace) -> Read:
    """Play while these read."""
    say(f"playing beside {readers.name} ...")
    words = {
        "port": port,
        "path": readers.path,
        "readers": readers.number,
        "seconds": options.seconds + WARM_UP + 2 * LEAD,
    }
    async with process(JOB, words) as others:
        await trio.sleep(LEAD)
        counted = await _play(server, options)
        children = meters.children_of(server.process.pid)
        memory = max((meters.rss_bytes(each) or 0 for each in children), default=0)
        got = await others.answer()
    if not got["bytes"]:
        raise LoadError("those who read by web got nothing")
    rate = got["bytes"] / words["seconds"] / 2**20
    return _row(readers.name, counted, got["answers"], rate, memory / 2**20)


async def _play(server: Server, options: Namespace) -> Counted:
    stretch = Stretch(options.seconds, WARM_UP, options.rate)
    addresses = as_words({"droidcon": server.addresses["droidcon"]})
    return (await played(Plan(COUPLES["droidcon"], options.pairs, addresses, [stretch]))).stretches[0]


def _row(name: str, counted: Counted, *web: float) -> Read:
    """Return a stretch in milliseconds. Raises LoadError where too little was played."""
    if counted.play_p50 is None or counted.play_p99 is None or counted.result_p99 is None:
        raise LoadError("no game ended; let them play for longer, or faster")
    return Read(name, 1000 * counted.play_p50, 1000 * counted.play_p99, 1000 * counted.result_p99, *web)

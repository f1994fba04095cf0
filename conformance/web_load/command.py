"""`python -m conformance web-load`: do those who read results by web cost those who play?

Knows a gateway as a subprocess, the benchmark's process of bots, and a process of readers. Quiet stretches
stand before and behind each one with readers, all on one server in one run, because machines drift.
"""

import argparse
import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import trio

from conformance.arguments import Parser, count, guarded, seconds
from conformance.bench import meters
from conformance.bench.plan import Counted, Plan, Stretch
from conformance.bench.processes import played
from conformance.bench.table import aligned
from conformance.crowd.job import done
from conformance.house_load import LoadError
from conformance.launch import COMMAND, Server, ServerError, running

TIMES, MORE_MS = 1.5, 2.0
"""So many times as long as in quiet, or so many milliseconds longer, a move may take, 99 of 100."""
OPTIONS = ("--rounds", "1000000", "--web", "0")
JOB = (sys.executable, "-m", "conformance.web_load.job")
WARM_UP = 1.0
LEAD = 3.0
"""Seconds for which readers read before and behind what is measured."""


@dataclass(frozen=True, slots=True)
class Readers:
    """Who reads what."""

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
    web: str = ""
    """What the readers got, and what memory the process had that served them."""

    def is_missed(self, quiet: float) -> bool:
        """Whether moves take too much longer than in quiet."""
        return self.p99 > max(TIMES * quiet, quiet + MORE_MS)


def main(argv: Sequence[str]) -> int:
    """Run the command line; returns the exit status."""
    return guarded(_main, argv, LoadError, ServerError)


def _main(argv: Sequence[str]) -> int:
    options = _parse(argv)
    with TemporaryDirectory() as folder:
        rows = trio.run(measure, options, options.db or str(Path(folder) / "web.db"))
    print(readable(rows), end="")
    return 1 if any(row.is_missed(quiet(rows)) for row in rows if row.web) else 0


def _parse(argv: Sequence[str]) -> argparse.Namespace:
    parser = Parser(prog="conformance web-load", description=__doc__.splitlines()[0], allow_abbrev=False)
    parser.add_argument("--pairs", type=count, default=50, metavar="N", help="pairs of bots (50)")
    parser.add_argument("--rate", type=count, default=1000, metavar="N", help="their moves a second (1000)")
    parser.add_argument("--games", type=count, default=64_000, metavar="N", help="stored games (64000)")
    parser.add_argument("--seconds", type=seconds, default=10.0, help="how long to measure each (10)")
    parser.add_argument("--db", metavar="FILE", help="a database in which they are already")
    return parser.parse_args(argv)


def quiet(rows: Sequence[Row]) -> float:
    """Return what p99 was without readers."""
    return median(row.p99 for row in rows if not row.web)


def readable(rows: Sequence[Row]) -> str:
    """Return the rows as lines with their ends."""
    head = ("", "move p50 ms", "p99 ms", "result p99 ms", "", "")
    calm = quiet(rows)
    words = [
        (
            row.name,
            f"{row.p50:.2f}",
            f"{row.p99:.2f}",
            f"{row.result_p99:.2f}",
            "" if not row.web else "missed" if row.is_missed(calm) else "met",
            row.web,
        )
        for row in rows
    ]
    goal = max(TIMES * calm, calm + MORE_MS)
    return f"{aligned([head, *words])}\ngoal: p99 of {goal:.2f} ms, with {calm:.2f} in quiet\n"


async def measure(options: argparse.Namespace, where: str, command: Sequence[str] = COMMAND) -> list[Row]:
    """Measure what the options ask for. Raises LoadError, ServerError, wrapped."""
    async with running([*OPTIONS, "--db", where], command) as server:
        if options.db is None:
            await _fill(server, options.games)
        port = await _web_port(server)
        rows = [await _quiet(server, options)]
        for readers in READERS:
            rows += [await _beside(readers, port, server, options), await _quiet(server, options)]
    return rows


async def _fill(server: Server, games: int) -> None:
    """Let so many short games be played and stored."""
    _say(f"playing {games} games ...")
    addresses = {name: (address.host, address.port) for name, address in server.addresses.items()}
    words = {"job": "last", "pairs": 20, "points": [games], "addresses": addresses}
    await done("conformance.growth.job", {**words, "pid": server.process.pid, "cores": None})


async def _web_port(server: Server) -> int:
    """Return the port that the gateway names behind those of the dialects."""
    while True:
        for line in server.printed:
            name, *words = line.split()
            if name == "web":
                return int(words[0].rpartition(":")[2])
        await trio.sleep(0.01)


async def _quiet(server: Server, options: argparse.Namespace) -> Row:
    _say("playing, nobody reads ...")
    return _row("quiet", await _play(server, options))


async def _beside(readers: Readers, port: int, server: Server, options: argparse.Namespace) -> Row:
    """Play while these read."""
    _say(f"playing beside {readers.name} ...")
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
    return _row(readers.name, counted, f"{got['answers']} answers, {rate:.1f} MB/s, {memory / 2**20:.0f} MB")


async def _play(server: Server, options: argparse.Namespace) -> Counted:
    address = server.addresses["droidcon"]
    report = await played(
        Plan(
            couples=[("droidcon", "droidcon")],
            pairs=options.pairs,
            addresses={"droidcon": (address.host, address.port, address.path)},
            stretches=[Stretch(options.seconds, WARM_UP, options.rate)],
        )
    )
    return report.stretches[0]


def _row(name: str, counted: Counted, web: str = "") -> Row:
    """Return a stretch in milliseconds. Raises LoadError where too little was played."""
    if counted.play_p50 is None or counted.play_p99 is None or counted.result_p99 is None:
        raise LoadError("no game ended; let them play for longer, or faster")
    return Row(name, 1000 * counted.play_p50, 1000 * counted.play_p99, 1000 * counted.result_p99, web)


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)

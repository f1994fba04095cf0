"""`python -m conformance store-cost`: what it costs to keep results in a database.

Knows a gateway as a subprocess, started with a database and without one in turns, each for one measurement
by the benchmark's load. Every kind is measured without, with, with, without, so that a machine which grows
slower or faster during the run does so to both sides.

A move that ends no game is the same with and without a database, so what keeping costs is told by the game,
and play is judged by how long those other moves take.
"""

from argparse import Namespace
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from tempfile import TemporaryDirectory
from typing import TypeAlias

import trio

from conformance.arguments import Parser, UsageError, write_json
from conformance.lab.figures import aligned, number
from conformance.lab.jobs import say
from conformance.lab.plan import COUPLES, DISTURBED, Counted, Report, saturated_and_paced
from conformance.lab.timed import MOVES
from conformance.launch import COMMAND

TOLERANCE = 1.05
"""So many times as long takes play that is slower."""
PLAY = {"play_p50_ms": "p50", "play_p99_ms": "p99"}
SATURATED = {
    "moves_per_second": ("moves/s", ".0f"),
    "cpu_us": ("us/move", ".2f"),
    "loop_us": ("of the loop", ".2f"),
    "aside_us": ("us/game aside", ".0f"),
    "result_p50_ms": ("result p50 ms", ".2f"),
    "result_p99_ms": ("p99 ms", ".2f"),
}
PACED = {
    "play_p50_ms": ("move p50 ms", ".2f"),
    "play_p99_ms": ("p99 ms", ".2f"),
    "paced_result_p50_ms": ("result p50 ms", ".2f"),
    "paced_result_p99_ms": ("p99 ms", ".2f"),
}
"""The figures of a table: a heading, and how a number is written."""


Run: TypeAlias = Mapping[str, float | None]
"""One measurement: the figures of both tables, and the most of the time, 0 to 1, in which the server had work
and no core (`waited`). None where something is not known. Microseconds are of server CPU, for a move of all
threads, of the first one alone, and for a game of all others. Results are timed from a game's last move to a
player's hearing of them, moves where they were not a game's last.
"""


def run_of(report: Report) -> Run:
    """Return what a saturated and a paced stretch came to."""
    full, paced = report.stretches
    cpu, loop = full.server_cpu, full.loop_cpu
    return {
        "moves_per_second": full.moves / full.seconds,
        "cpu_us": _micro(cpu, full.moves),
        "loop_us": _micro(loop, full.moves),
        "aside_us": None if cpu is None or loop is None else _micro(cpu - loop, full.games),
        "result_p50_ms": _milli(full.result_p50),
        "result_p99_ms": _milli(full.result_p99),
        "play_p50_ms": _milli(paced.play_p50),
        "play_p99_ms": _milli(paced.play_p99),
        "paced_result_p50_ms": _milli(paced.result_p50),
        "paced_result_p99_ms": _milli(paced.result_p99),
        "waited": None if full.server_waited is None else max(map(_waited, report.stretches)),
    }


@dataclass(frozen=True, slots=True)
class Cost:
    """One kind of pairs, without a database and with one."""

    kind: str
    without: Sequence[Run]
    kept: Sequence[Run]

    @property
    def slower(self) -> Sequence[str]:
        """What of play itself is slower: in every run with a database than in any without, and by 5 %."""
        return [name for name in PLAY if _is_more(_known(self.without, name), _known(self.kept, name))]

    @property
    def game_us(self) -> float | None:
        """Microseconds of server CPU, all threads, that keeping a game costs at saturation."""
        before, after = mean_of(self.without, "cpu_us"), mean_of(self.kept, "cpu_us")
        return None if before is None or after is None else (after - before) * MOVES


def mean_of(runs: Sequence[Run], name: str) -> float | None:
    """Return the mean of a figure; None where it is not known of any run."""
    known = _known(runs, name)
    return mean(known) if known else None


def readable(costs: Sequence[Cost]) -> str:
    """Return two tables and a line or two for each kind, with their ends."""
    tables = _table("at saturation", SATURATED, costs), _table("paced", PACED, costs)
    parts = [*tables, "\n".join(map(_lines, costs))]
    return "\n\n".join(parts) + "\n"


def as_data(costs: Sequence[Cost]) -> list[dict[str, object]]:
    """Return the same for JSON, with every run."""
    return [
        {
            "kind": cost.kind,
            "without": [*cost.without],
            "kept": [*cost.kept],
            "game_us": cost.game_us,
            "slower": [*cost.slower],
        }
        for cost in costs
    ]


def _table(title: str, figures: Mapping[str, tuple[str, str]], costs: Sequence[Cost]) -> str:
    rows = [(title, "results", *(heading for heading, _ in figures.values()))]
    for cost in costs:
        for word, runs in (("not kept", cost.without), ("kept", cost.kept)):
            words = [number(mean_of(runs, name), form) for name, (_, form) in figures.items()]
            rows.append((cost.kind, word, *words))
    return aligned(rows)


def _lines(cost: Cost) -> str:
    game = "an unknown time" if cost.game_us is None else f"{cost.game_us:.0f} us"
    if cost.slower:
        play = f"play itself is SLOWER, in its {' and '.join(PLAY[name] for name in cost.slower)}"
    else:
        play = "play itself is no slower"
    most = max(_known([*cost.without, *cost.kept], "waited"), default=0.0)
    line = f"{cost.kind}: {play}; to keep a game costs the server {game}"
    if most <= DISTURBED:
        return line
    return f"{line}\n{cost.kind}: others kept the server off its core for up to {most:.0%} of the time"


def _is_more(before: Sequence[float], after: Sequence[float]) -> bool:
    if not (before and after):
        return False
    return min(after) > max(before) and mean(after) > TOLERANCE * mean(before)


def _known(runs: Sequence[Run], name: str) -> list[float]:
    return [value for run in runs if (value := run[name]) is not None]


def _waited(counted: Counted) -> float:
    return (counted.server_waited or 0.0) / counted.seconds


def _micro(seconds: float | None, times: float) -> float | None:
    return 1e6 * seconds / times if seconds is not None and times else None


def _milli(seconds: float | None) -> float | None:
    return None if seconds is None else 1000 * seconds


NOWHERE = "none"
TURNS = (False, True, True, False)
"""Whether there is a database, measurement by measurement."""


def main(argv: Sequence[str]) -> int:
    """Run the command line; returns the exit status."""
    options = _parse(argv)
    with TemporaryDirectory() as folder:
        where = options.db or str(Path(folder) / "cost.db")
        costs = trio.run(measure, options, where)
    print(readable(costs), end="")
    data = {"pairs": options.pairs, "seconds": options.seconds, "rate": options.rate, "kinds": as_data(costs)}
    write_json(options.json, data)
    return 1 if any(cost.slower for cost in costs) else 0


def _parse(argv: Sequence[str]) -> Namespace:
    parser = Parser.of("store-cost", __doc__)
    parser.count("--pairs", 100, "pairs of bots")
    parser.seconds("--seconds", 5.0, "how long to measure each")
    parser.count("--rate", 1000, "paced moves a second")
    parser.only(COUPLES)
    parser.report()
    parser.add_argument("--db", metavar="FILE|URL", help="the database (a new file, removed at the end)")
    options = parser.parse_args(argv)
    if options.db == NOWHERE:
        raise UsageError("a database is needed to keep results in")
    return options


async def measure(options: Namespace, where: str, command: Sequence[str] = COMMAND) -> list[Cost]:
    """Measure what the options ask for. Raises LoadError, ServerError, wrapped."""
    costs = []
    for kind in options.only:
        runs: dict[str, list[Run]] = {NOWHERE: [], where: []}
        for database in (where if is_kept else NOWHERE for is_kept in TURNS):
            say(f"measuring {kind}, results kept: {database} ...")
            report = await saturated_and_paced(kind, options, ["--db", database], command)
            runs[database].append(run_of(report))
        costs.append(Cost(kind, runs[NOWHERE], runs[where]))
    return costs

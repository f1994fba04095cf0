"""`python -m conformance store-cost`: what it costs to keep results in a database.

Knows a gateway as a subprocess, started with a database and without one in turns, each for one measurement
by the benchmark's load. Every kind is measured without, with, with, without, so that a machine which grows
slower or faster during the run does so to both sides.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import trio

from conformance.arguments import Parser, UsageError, count, file, guarded, seconds, write
from conformance.lab.bench.command import KINDS, at_gateway, kinds_in
from conformance.lab.bench.keeping import Cost, Run, as_data, readable, run_of
from conformance.lab.house_load import LoadError
from conformance.launch import COMMAND, ServerError

NOWHERE = "none"
TURNS = (False, True, True, False)
"""Whether there is a database, measurement by measurement."""


def main(argv: Sequence[str]) -> int:
    """Run the command line; returns the exit status."""
    return guarded(_main, argv, LoadError, ServerError)


def _main(argv: Sequence[str]) -> int:
    options = _parse(argv)
    with TemporaryDirectory() as folder:
        where = options.db or str(Path(folder) / "cost.db")
        costs = trio.run(measure, options, where)
    print(readable(costs), end="")
    data = {"pairs": options.pairs, "seconds": options.seconds, "rate": options.rate, "kinds": as_data(costs)}
    write(options.json, json.dumps(data, indent=2) + "\n")
    return 1 if any(cost.slower for cost in costs) else 0


def _parse(argv: Sequence[str]) -> argparse.Namespace:
    parser = Parser(prog="conformance store-cost", description=__doc__.splitlines()[0], allow_abbrev=False)
    parser.add_argument("--pairs", type=count, default=100, metavar="N", help="pairs of bots (100)")
    parser.add_argument("--seconds", type=seconds, default=5.0, help="how long to measure each (5)")
    parser.add_argument("--rate", type=count, default=1000, metavar="N", help="paced moves a second (1000)")
    parser.add_argument(
        "--only", type=kinds_in, default=[*KINDS], metavar="KINDS", help=f"some of {','.join(KINDS)}"
    )
    parser.add_argument("--db", metavar="FILE|URL", help="the database (a new file, removed at the end)")
    parser.add_argument("--json", type=file, metavar="FILE", help="write a JSON report as well")
    options = parser.parse_args(argv)
    if options.db == NOWHERE:
        raise UsageError("a database is needed to keep results in")
    return options


async def measure(options: argparse.Namespace, where: str, command: Sequence[str] = COMMAND) -> list[Cost]:
    """Measure what the options ask for. Raises LoadError, ServerError, wrapped."""
    costs = []
    for kind in options.only:
        runs: dict[str, list[Run]] = {NOWHERE: [], where: []}
        for database in (where if is_kept else NOWHERE for is_kept in TURNS):
            print(f"measuring {kind}, results kept: {database} ...", file=sys.stderr, flush=True)
            report = await at_gateway(kind, options, ["--db", database], command)
            runs[database].append(run_of(report))
        costs.append(Cost(kind, runs[NOWHERE], runs[where]))
    return costs

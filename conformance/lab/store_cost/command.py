"""`python -m conformance store-cost`: what it costs to keep results in a database.

Knows a gateway as a subprocess, started with a database and without one in turns, each for one measurement
by the benchmark's load. Every kind is measured without, with, with, without, so that a machine which grows
slower or faster during the run does so to both sides.
"""

from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import trio

from conformance.arguments import Parser, UsageError, write_json
from conformance.lab.jobs import say
from conformance.lab.plan import COUPLES, saturated_and_paced
from conformance.lab.store_cost.figures import Cost, Run, as_data, readable, run_of
from conformance.launch import COMMAND

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

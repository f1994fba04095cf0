"""`measure store`: what it costs to keep results in a database.

Every kind is measured without a database, twice with one, and once more without, so that a machine which
grows slower or faster does so to both sides. A move that ends no game is the same with and without one, so
what keeping costs is told by the game, and play is judged by how long those other moves take.
"""

from argparse import Namespace
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from statistics import mean
from tempfile import TemporaryDirectory

from conformance.arguments import Parser, UsageError
from conformance.lab.load import COUPLES, ENDLESS, MOVES, Report, at_gateway, both_stretches, ms, played
from conformance.lab.measure.bench import warn
from conformance.lab.measure.scenario import Part, Scenario
from conformance.lab.report import Row, difference, ratio, times
from conformance.launch import running

MOST_SLOWER = 1.05
"""So many times as long takes play that is slower."""
_NOWHERE = "none"


async def _measure(kind: str, options: Namespace, command: Sequence[str]) -> list[Row]:
    reports: dict[bool, list[Report]] = {False: [], True: []}
    with TemporaryDirectory(prefix="store-") as folder:
        place = options.db or str(Path(folder) / "cost.db")
        for keeps in (False, True, True, False):
            words = [*ENDLESS, "--db", place if keeps else _NOWHERE]
            async with running(words, command) as server:
                plan = at_gateway(server, COUPLES[kind], options.pairs, *both_stretches(options))
                reports[keeps].append(await played(plan))
    both = {keeps: _figures(found) for keeps, found in reports.items()}
    rows = [
        Row(f"{kind}, {'kept' if keeps else 'not'}", what, _mean(values))
        for keeps, figures in both.items()
        for what, values in figures.items()
    ]
    for report in (each for some in reports.values() for each in some):
        warn(kind, report.stretches[0])
    game = difference(_mean(both[True]["us a move"]), _mean(both[False]["us a move"]))
    rows += [
        Row(
            f"{kind}, kept",
            f"{what} slower",
            slower(both[False][what], both[True][what]),
            most=MOST_SLOWER,
        )
        for what in ("move p50", "move p99")
    ]
    return [*rows, Row(f"{kind}, kept", "game us", times(MOVES, game), form=".0f")]


def _figures(reports: Sequence[Report]) -> dict[str, list[float | None]]:
    found: dict[str, list[float | None]] = {}
    for full, paced in (report.stretches for report in reports):
        used = full.server
        aside = None if used is None or not full.games else 1e6 * (used.cpu - used.first) / full.games
        for what, value in {
            "moves/s": full.rate,
            "us a move": full.cpu_us,
            "loop us": None if used is None else 1e6 * used.first / full.moves,
            "aside us": aside,
            "result p50": ms(full.results, 50),
            "result p99": ms(full.results, 99),
            "move p50": ms(paced.plays, 50),
            "move p99": ms(paced.plays, 99),
        }.items():
            found.setdefault(what, []).append(value)
    return found


def slower(before: Sequence[float | None], after: Sequence[float | None]) -> float | None:
    """Return how many times as long it takes; 1 at most unless each run is longer than all before."""
    known, later = ([value for value in some if value is not None] for some in (before, after))
    if not (known and later):
        return None
    found = ratio(mean(later), mean(known))
    return found if found is None or min(later) > max(known) else min(found, 1.0)


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return mean(known) if known else None


def _options(parser: Parser) -> None:
    parser.count("--pairs", 100, "pairs of bots")
    parser.seconds("--seconds", 5.0, "how long to measure each")
    parser.count("--rate", 1000, "paced moves a second")
    parser.add_argument("--db", metavar="FILE|URL", help="the database (a new file, removed at the end)")


def _check(options: Namespace) -> None:
    if options.db == _NOWHERE:
        raise UsageError("a database is needed to keep results in")


STORE = Scenario(
    "what it costs to keep results in a database",
    {kind: Part(partial(_measure, kind)) for kind in COUPLES},
    _options,
    wide=True,
    check=_check,
)

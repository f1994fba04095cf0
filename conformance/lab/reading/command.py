"""`python -m conformance reading`: does a text cost more time than it may, in any dialect?

Knows the goals, and prints for each dialect and length the worst text that was found.
"""

import argparse
import json
from collections.abc import Mapping, Sequence
from functools import partial
from importlib.util import find_spec

from conformance.arguments import Parser, count, file, guarded, write
from conformance.lab.crowd.job import say
from conformance.lab.growth.rows import Row, as_data, table
from conformance.lab.reading import families
from conformance.lab.reading.meter import GOALS, READERS, best, cost

_SHOWN = 40
"""Characters of a text that a row shows."""


class SearchError(Exception):
    """What is needed for the search is not there; says what."""


class Worst:
    """The text that took longest, of all that were tried."""

    def __init__(self, dialect: str) -> None:
        self._dialect = dialect
        self.text = ""
        self.cost = 0.0
        self.tried = 0

    def try_(self, text: str) -> float:
        """Return the milliseconds that a text took, in several tries if it is to become the worst."""
        self.tried += 1
        found = cost(self._dialect, text)
        if found > self.cost:
            found = min(found, best(self._dialect, text))
        if found > self.cost:
            self.text, self.cost = text, found
        return found


def main(argv: Sequence[str], goals: Mapping[int, float] = GOALS) -> int:
    """Run the command line; returns the exit status."""
    return guarded(partial(_main, goals=goals), argv, SearchError)


def _main(argv: Sequence[str], goals: Mapping[int, float]) -> int:
    options = _parse(argv)
    if find_spec("hypothesis") is None:
        raise SearchError("the search needs hypothesis: pip install hypothesis")
    rows = [_row(dialect, *goal, options) for dialect in options.only for goal in goals.items()]
    print(table(rows), end="")
    write(options.json, json.dumps(as_data(rows), indent=2) + "\n")
    return 1 if any(row.is_missed for row in rows) else 0


def _parse(argv: Sequence[str]) -> argparse.Namespace:
    parser = Parser(prog="conformance reading", description=__doc__.splitlines()[0], allow_abbrev=False)
    parser.add_argument(
        "--examples",
        type=count,
        default=1000,
        metavar="N",
        help="texts to search through for each row (1000)",
    )
    parser.add_argument("--seed", type=count, default=1, metavar="N", help="where the search begins (1)")
    parser.add_argument(
        "--only", type=_dialects, default=[*READERS], metavar="DIALECTS", help=",".join(READERS)
    )
    parser.add_argument("--json", type=file, metavar="FILE", help="write a JSON report as well")
    return parser.parse_args(argv)


def _row(dialect: str, length: int, goal: float, options: argparse.Namespace) -> Row:
    from conformance.lab.reading.search import searched  # noqa: PLC0415  not where hypothesis is missing

    say(f"{dialect}, {length} characters ...")
    worst = Worst(dialect)
    for text in families.texts(dialect, length):
        worst.try_(text)
    searched(dialect, length, options.examples, options.seed, worst.try_)
    what = f"{length} characters, worst of {worst.tried}: {ascii(worst.text)[1:-1][:_SHOWN]}"
    return Row(dialect, what, worst.cost, "ms", goal)


def _dialects(text: str) -> list[str]:
    dialects = [word.strip() for word in text.split(",")]
    for dialect in dialects:
        if dialect not in READERS:
            raise argparse.ArgumentTypeError(f"{dialect!r} is none of {', '.join(READERS)}")
    return dialects

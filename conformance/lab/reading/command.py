"""`python -m conformance reading`: does a text cost more time than it may, in any dialect?

Knows the goals, and prints for each dialect and length the worst text that was found.
"""

from argparse import Namespace
from collections.abc import Mapping, Sequence
from importlib.util import find_spec

from conformance.arguments import Parser, write_json
from conformance.lab.figures import Row, as_data, table
from conformance.lab.jobs import LoadError, say
from conformance.lab.reading import families
from conformance.lab.reading.meter import GOALS, READERS, best, cost

_SHOWN = 40
"""Characters of a text that a row shows."""


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
    options = _parse(argv)
    if find_spec("hypothesis") is None:
        raise LoadError("the search needs hypothesis: pip install hypothesis")
    rows = [_row(dialect, *goal, options) for dialect in options.only for goal in goals.items()]
    print(table(rows), end="")
    write_json(options.json, as_data(rows))
    return 1 if any(row.is_missed for row in rows) else 0


def _parse(argv: Sequence[str]) -> Namespace:
    parser = Parser.of("reading", __doc__)
    parser.count("--examples", 1000, "texts to search through for each row")
    parser.count("--seed", 1, "where the search begins")
    parser.only(READERS)
    parser.report()
    return parser.parse_args(argv)


def _row(dialect: str, length: int, goal: float, options: Namespace) -> Row:
    from conformance.lab.reading.search import searched  # noqa: PLC0415  not where hypothesis is missing

    say(f"{dialect}, {length} characters ...")
    worst = Worst(dialect)
    for text in families.texts(dialect, length):
        worst.try_(text)
    searched(dialect, length, options.examples, options.seed, worst.try_)
    what = f"{length} characters, worst of {worst.tried}: {ascii(worst.text)[1:-1][:_SHOWN]}"
    return Row(dialect, what, worst.cost, "ms", goal)

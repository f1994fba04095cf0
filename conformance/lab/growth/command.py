"""`python -m conformance growth`: does the gateway stay as good with more games, more who wait, more time?

Knows the parts and their goals, and prints what they came to as one table.
"""

from argparse import Namespace
from collections.abc import Sequence

import trio

from conformance.arguments import Parser
from conformance.lab import meters
from conformance.lab.figures import Row, finished
from conformance.lab.growth.parts import PARTS
from conformance.lab.jobs import LoadError, first_cause, say


def main(argv: Sequence[str]) -> int:
    """Run the command line; returns the exit status."""
    options = _parse(argv)
    if not meters.has_proc():
        print("There is no /proc here: server CPU and memory are not known.")
    rows = trio.run(measure, options)
    return finished(rows, options)


def _parse(argv: Sequence[str]) -> Namespace:
    parser = Parser.of("growth", __doc__)
    parser.count("--games", 2000, "games at once")
    parser.count("--rate", 2000, "paced moves a second")
    parser.count("--waiting", 10_000, "players who wait")
    parser.count("--many", 1_000_000, "games over the life of a server")
    parser.count("--times", 3, "how often to measure what is compared")
    parser.seconds("--seconds", 5.0, "how long to measure each figure")
    parser.only(PARTS)
    parser.report()
    return parser.parse_args(argv)


async def measure(options: Namespace) -> list[Row]:
    """Measure what the options ask for. Raises ServerError, wrapped."""
    rows: list[Row] = []
    for part in options.only:
        say(f"measuring {part} ...")
        rows += await _rows(part, options)
    return rows


async def _rows(part: str, sizes: Namespace) -> list[Row]:
    """Return what a part came to: one row that misses its goal where it came to nothing."""
    rows = [Row(part, "could not be measured", None, "", 0.0)]
    try:
        rows = await PARTS[part](sizes)
    except* LoadError as errors:
        say(f"conformance: {first_cause(errors)}")
    return rows

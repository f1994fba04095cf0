"""`python -m conformance growth`: does the gateway stay as good with more games, more who wait, more time?

Knows the parts and their goals, and prints what they came to as one table.
"""

import argparse
import json
from collections.abc import Sequence

import trio

from conformance.arguments import Parser, count, file, first_cause, guarded, seconds, write
from conformance.lab import meters
from conformance.lab.crowd.job import say
from conformance.lab.growth.parts import PARTS
from conformance.lab.growth.rows import Row, as_data, table
from conformance.lab.growth.sizes import Sizes
from conformance.lab.house_load import LoadError
from conformance.launch import ServerError


def main(argv: Sequence[str]) -> int:
    """Run the command line; returns the exit status."""
    return guarded(_main, argv, ServerError)


def _main(argv: Sequence[str]) -> int:
    options = _parse(argv)
    if not meters.has_proc():
        print("There is no /proc here: server CPU and memory are not known.")
    rows = trio.run(measure, options)
    print(table(rows), end="")
    words = {name: value for name, value in vars(options).items() if name != "json"}
    write(options.json, json.dumps({"options": words, "rows": as_data(rows)}, indent=2) + "\n")
    return 1 if any(row.is_missed for row in rows) else 0


def _parse(argv: Sequence[str]) -> argparse.Namespace:
    parser = Parser(prog="conformance growth", description=__doc__.splitlines()[0], allow_abbrev=False)
    for option, default, text in (
        ("--games", 2000, "games at once"),
        ("--rate", 2000, "paced moves a second"),
        ("--waiting", 10_000, "players who wait"),
        ("--many", 1_000_000, "games over the life of a server"),
        ("--times", 3, "how often to measure what is compared"),
    ):
        parser.add_argument(option, type=count, default=default, metavar="N", help=f"{text} ({default})")
    parser.add_argument("--seconds", type=seconds, default=5.0, help="how long to measure each figure (5)")
    parser.add_argument("--only", type=_parts, default=[*PARTS], metavar="PARTS", help=",".join(PARTS))
    parser.add_argument("--json", type=file, metavar="FILE", help="write a JSON report as well")
    return parser.parse_args(argv)


def _parts(text: str) -> list[str]:
    parts = [word.strip() for word in text.split(",")]
    for part in parts:
        if part not in PARTS:
            raise argparse.ArgumentTypeError(f"{part!r} is none of {', '.join(PARTS)}")
    return parts


async def measure(options: argparse.Namespace) -> list[Row]:
    """Measure what the options ask for. Raises ServerError, wrapped."""
    sizes = Sizes(options.games, options.rate, options.waiting, options.many, options.seconds, options.times)
    rows: list[Row] = []
    for part in options.only:
        say(f"measuring {part} ...")
        rows += await _rows(part, sizes)
    return rows


async def _rows(part: str, sizes: Sizes) -> list[Row]:
    """Return what a part came to: one row that misses its goal where it came to nothing."""
    rows = [Row(part, "could not be measured", None, "", 0.0)]
    try:
        rows = await PARTS[part](sizes)
    except* LoadError as errors:
        say(f"conformance: {first_cause(errors)}")
    return rows

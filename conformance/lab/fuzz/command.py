"""`python -m conformance fuzz`: do any bytes make a reader fail, take long, or keep memory?

For each reader one process hunts for inputs that take new paths, short ones and then long ones, and another
one judges what was found. Knows these processes and the goals, and prints one line for each reader.
"""

import os
from argparse import Namespace
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import trio

from conformance.arguments import Parser, write_json
from conformance.lab.figures import aligned, number
from conformance.lab.fuzz.targets import TARGETS
from conformance.lab.jobs import LoadError, Process, process, say
from conformance.lab.reading.meter import GOALS

SHORT, LONG = GOALS
"""Bytes of an input at most."""
ONE_IN = 400
"""Of so many inputs one may be long."""
MOST_KEPT = 256 * 1024
"""Bytes by which a process may be larger each time that it has read what was found once more."""
_FEWEST = 20
_HUNTER, _JUDGE = "conformance.lab.fuzz.hunter", "conformance.lab.fuzz.judge"


@dataclass(frozen=True, slots=True)
class Row:
    """What came of one reader."""

    name: str
    tried: int
    seconds: float
    """Of hunting."""
    worst: Mapping[int, float] = field(default_factory=dict)
    """Milliseconds, by length."""
    kept: int = 0
    """Bytes."""
    faults: Mapping[str, str] = field(default_factory=dict)
    """The first input of each, in hexadecimal digits."""

    @property
    def missed(self) -> list[str]:
        """Return what went wrong, each item in a few words."""
        slow = [
            f"{most} bytes took {found:.1f} ms" for most, found in self.worst.items() if found > GOALS[most]
        ]
        kept = [f"{self.kept / 1024:.0f} KB kept"] if self.kept > MOST_KEPT else []
        return [*self.faults, *slow, *kept]


def main(argv: Sequence[str]) -> int:
    """Run the command line; returns the exit status."""
    options = _parse(argv)
    if find_spec("atheris") is None:
        raise LoadError("fuzzing needs atheris: pip install '.[fuzz]'")
    began = perf_counter()
    rows = trio.run(fuzz, options)
    print(readable(rows, perf_counter() - began), end="")
    write_json(options.json, {"seed": options.seed, "rows": [asdict(row) for row in rows]})
    return 1 if any(row.missed for row in rows) else 0


def _parse(argv: Sequence[str]) -> Namespace:
    parser = Parser.of("fuzz", __doc__)
    parser.count("--inputs", 10_000_000, "how many in all")
    parser.count("--processes", os.cpu_count() or 1, "how many at once")
    parser.count("--seed", 1, "where the hunt begins")
    parser.only(TARGETS)
    parser.report()
    return parser.parse_args(argv)


async def fuzz(options: Namespace) -> list[Row]:
    """Hunt and judge, the readers with the slowest inputs first. Raises LoadError, wrapped."""
    left = sorted(options.only, key=lambda name: TARGETS[name].share, reverse=True)
    whole = sum(TARGETS[name].share for name in left)
    rows: dict[str, Row] = {}

    async def work() -> None:
        async with process(_HUNTER) as hunter, process(_JUDGE) as judge:
            while left:
                name = left.pop()
                say(f"{name} ...")
                inputs = -(-options.inputs * TARGETS[name].share // whole)
                rows[name] = await _row(name, inputs, options.seed, (hunter, judge))

    async with trio.open_nursery() as nursery:
        for _ in range(min(options.processes, len(left))):
            nursery.start_soon(work)
    return [rows[name] for name in options.only]


async def _row(name: str, inputs: int, seed: int, by: tuple[Process, Process]) -> Row:
    hunter, judge = by
    long = max(_FEWEST, inputs // ONE_IN)
    with TemporaryDirectory(prefix=f"fuzz-{name}-") as folder:
        words = {"name": name, "folder": str(Path(folder, "inputs")), "seed": seed}
        hunts = [
            await _told(hunter, words | {"inputs": inputs, "longest": SHORT, "is_long": False}),
            await _told(hunter, words | {"inputs": long, "longest": LONG, "is_long": True}),
        ]
        judged = await _told(judge, words)
    return Row(
        name,
        sum(hunt["tried"] for hunt in hunts),
        sum(hunt["seconds"] for hunt in hunts),
        {int(most): found for most, found in judged["worst"].items()},
        judged["kept"],
        {what: data for hunt in hunts for what, data in hunt["faults"].items()},
    )


async def _told(process: Process, words: Mapping[str, object]) -> Any:
    """Return what a process says to this. Raises LoadError."""
    await process.say(words)
    return await process.answer()


def readable(rows: Sequence[Row], seconds: float) -> str:
    """Return what came of it, lines with their ends."""
    head = ("reader", "inputs", "a second", "ms of 4 KB", "ms of 64 KB", "KB kept", "faults", "")
    lines = [aligned([head, *map(_words, rows)]), ""]
    tried, faults = sum(row.tried for row in rows), sum(len(row.faults) for row in rows)
    goals = ", ".join(f"{goal:g} ms for {most} bytes" for most, goal in GOALS.items())
    lines.append(f"{tried} inputs in {seconds:.0f} s, faults: {faults}. At most {goals}.")
    for row in rows:
        lines += [f"MISSED {row.name}: {what}" for what in row.missed]
        lines += [f"  {bytes.fromhex(data)[:60]!r}, {len(data) // 2} bytes" for data in row.faults.values()]
    return "\n".join(lines) + "\n"


def _words(row: Row) -> tuple[str, ...]:
    rate = row.tried / row.seconds if row.seconds else None
    times = [number(row.worst.get(most), ".2f") for most in GOALS]
    kept = f"{row.kept / 1024:.0f}"
    return (
        row.name,
        str(row.tried),
        number(rate, ".0f"),
        *times,
        kept,
        str(len(row.faults)),
        "missed" if row.missed else "met",
    )

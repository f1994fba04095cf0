"""`python -m conformance fuzz`: do any bytes make a reader fail, take long, or keep memory?

For each reader one process hunts for inputs that take new paths, short ones and then long ones, and another
one judges what was found, and what was made by hand.
"""

import os
from argparse import Namespace
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

import trio

from conformance.arguments import Parser
from conformance.lab.fuzz.judge import judge
from conformance.lab.fuzz.targets import GOALS, TARGETS
from conformance.lab.report import Row, counted, finish
from conformance.lab.workers import LoadError, run, say, worker

SHORT, LONG = GOALS
"""Bytes of an input at most."""
ONE_IN = 400
"""Of so many inputs one may be long."""
MOST_KEPT = 256
"""KB by which a process may be larger each time that it has read what was found once more."""
_FEWEST = 20


def main(argv: Sequence[str]) -> int:
    """Run the command line; returns the exit status."""
    parser = Parser.of("fuzz", "do any bytes make a reader fail, take long, or keep memory?")
    parser.count("--inputs", 10_000_000, "how many in all")
    parser.count("--processes", os.cpu_count() or 1, "how many at once")
    parser.count("--seed", 1, "where the hunt begins")
    parser.only(TARGETS)
    parser.report()
    options = parser.parse_args(argv)
    if find_spec("atheris") is None:
        raise LoadError("fuzzing needs atheris: pip install '.[fuzz]'")
    rows, notes = trio.run(fuzz, options)
    return finish("fuzz", [], options, notes, wide=rows)


async def fuzz(options: Namespace) -> tuple[list[Row], list[str]]:
    """Hunt and judge, the readers with the slowest inputs first. Raises LoadError, wrapped."""
    left = sorted(options.only, key=lambda name: TARGETS[name].share, reverse=True)
    whole = sum(TARGETS[name].share for name in left)
    rows: dict[str, list[Row]] = {}
    notes: list[str] = []

    async def work() -> None:
        while left:
            name = left.pop()
            say(f"{name} ...")
            inputs = -(-options.inputs * TARGETS[name].share // whole)
            rows[name] = await _measured(name, inputs, options.seed, notes)

    async with trio.open_nursery() as nursery:
        for _ in range(min(options.processes, len(left))):
            nursery.start_soon(work)
    return [row for name in options.only for row in rows[name]], notes


async def _measured(name: str, inputs: int, seed: int, notes: list[str]) -> list[Row]:
    """Return the figures of one reader; add the faults to the notes. Raises LoadError."""
    from conformance.lab.fuzz.hunter import hunt  # noqa: PLC0415  not where atheris is missing

    sizes = (inputs, SHORT), (max(_FEWEST, inputs // ONE_IN), LONG)
    with TemporaryDirectory(prefix=f"fuzz-{name}-") as place:
        folder = Path(place, "inputs")
        async with worker(hunt, name, folder, seed, sizes) as hunter:
            hunts = [await hunter.receive() for _ in sizes]
        worst, kept = await run(judge, name, folder)
    faults = {what: data for found in hunts for what, data in found.faults.items()}
    tried, seconds = (
        sum(each) for each in zip(*((found.tried, found.seconds) for found in hunts), strict=True)
    )
    notes += [
        f"{name}: {what}: {data[:60]!r}, {len(data)} bytes: {data.hex()}" for what, data in faults.items()
    ]
    return [
        counted(name, "inputs", tried),
        Row(name, "a second", tried / seconds if seconds else None, form=".0f"),
        *(
            Row(name, f"ms of {most // 1024} KB", worst[most], most=goal)
            for most, goal in GOALS.items()
            if worst
        ),
        Row(name, "KB kept", kept / 1024, most=MOST_KEPT, form=".0f"),
        counted(name, "faults", len(faults), 0),
    ]

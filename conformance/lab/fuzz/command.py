"""Does any input make a reader of the gateway fail, take long, or leak memory?

For each reader one process searches with atheris for inputs that take new paths through the code. It tries
short inputs, then long ones (one in 400). A second process, without instrumentation, then reads the inputs
that were found and the slowest ones. For a dialect it also reads some thousand texts written by hand.

    ms of 4 KB, of 64 KB  processor time of the slowest input up to that length, the shortest of several tries
    KB kept               growth of the second process each time that it reads some of the inputs again
    faults                inputs that make a reader raise an error other than its own, or take 20 s. A line
                          below the table shows the bytes of each
"""

import gc
import os
from argparse import Namespace
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from importlib.util import find_spec
from itertools import chain, pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from time import thread_time

import trio

from conformance.arguments import Parser
from conformance.lab.fuzz.readers import GOALS, TARGETS, Target
from conformance.lab.meters import rss_bytes
from conformance.lab.report import Row, counted, finish, ratio
from conformance.lab.workers import LoadError, run, say, worker

TIMES = 5
"""How often a slow input is timed. The shortest time counts."""
ROUNDS = 3
"""How often the inputs are read again to measure growth."""
_MOST = 200
"""The most inputs to read again."""


def judge(name: str, folder: Path) -> tuple[dict[int, float], int]:
    """Return the milliseconds of the slowest input for each length, and the memory growth in bytes.

    The inputs are those in the folder, and some written by hand.
    """
    return judged(TARGETS[name], [path.read_bytes() for path in sorted(folder.iterdir())])


def judged(target: Target, inputs: Sequence[bytes]) -> tuple[dict[int, float], int]:
    """Return the same figures as `judge`, for a target and inputs."""
    worst: dict[int, float] = {}
    least = -1
    for most in GOALS if target.reads is not None else ():
        found = (data for data in inputs if least < len(data) <= most)
        worst[most] = _worst(target.reads, chain(found, target.hard(most) if target.hard else ()))
        least = most
    return worst, _kept(target.try_, inputs[-_MOST:])


def _worst(reads: Callable[[bytes], object] | None, inputs: Iterable[bytes]) -> float:
    found = 0.0
    assert reads is not None
    for data in inputs:
        found = max(found, cost(reads, data, found))
    return found


def cost(reads: Callable[[bytes], object], data: bytes, limit: float) -> float:
    """Return the time that an input takes, in milliseconds.

    If the time exceeds `limit`, read the input again several times, and return the shortest time.
    """
    found, times = 0.0, 0
    while times == 0 or (found > limit and times < TIMES):
        began = thread_time()
        with suppress(Exception):  # already reported by the hunter
            reads(data)
        spent = 1e3 * (thread_time() - began)
        found, times = (min(found, spent) if times else spent), times + 1
    return found


def _kept(try_: Callable[[bytes], None], inputs: Sequence[bytes]) -> int:
    """Read the inputs in several rounds; return the smallest growth of the process in a round, in bytes.

    A leak adds memory in every round.
    """
    sizes = []
    for _ in range(1 + ROUNDS):
        for data in inputs:
            with suppress(Exception):  # already reported by the hunter
                try_(data)
        gc.collect()
        sizes.append(rss_bytes(os.getpid()))
    return min(after - before for before, after in pairwise(sizes))


SHORT, LONG = GOALS
"""The greatest length of a short input, and of a long input, in bytes."""
ONE_IN = 400
"""One input in this many may be long."""
MOST_KEPT = 256
"""KB by which a process may grow each time that it reads the inputs again."""
_FEWEST = 20


def main(argv: Sequence[str]) -> int:
    """Run the command line; return the exit status."""
    parser = Parser.of("fuzz", __doc__)
    parser.count("--inputs", 10_000_000, "inputs in all")
    parser.count("--processes", os.cpu_count() or 1, "processes at once")
    parser.count("--seed", 1, "seed of the search")
    parser.only({name: target.try_.__doc__ for name, target in TARGETS.items()})
    parser.report()
    options = parser.parse_args(argv)
    if find_spec("atheris") is None:
        raise LoadError("fuzzing needs atheris: pip install '.[fuzz]'")
    rows, notes = trio.run(fuzz, options)
    return finish("fuzz", [], options, notes, wide=rows)


async def fuzz(options: Namespace) -> tuple[list[Row], list[str]]:
    """Search for inputs and time them for each reader, slow readers first.

    Raises LoadError, which may be in an ExceptionGroup.
    """
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
    """Search and time for one reader; return its figures, and add its faults to `notes`. Raises LoadError."""
    from conformance.lab.fuzz.hunter import hunt  # noqa: PLC0415  needs atheris

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
        Row(name, "a second", ratio(tried, seconds), form=".0f"),
        *(
            Row(name, f"ms of {most // 1024} KB", worst[most], most=goal)
            for most, goal in GOALS.items()
            if worst
        ),
        Row(name, "KB kept", kept / 1024, most=MOST_KEPT, form=".0f"),
        counted(name, "faults", len(faults), 0),
    ]

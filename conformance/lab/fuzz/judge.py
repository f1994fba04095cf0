"""A process that reads what was found once more, unwatched: what does it cost, and is any of it kept?

Each line of stdin names a reader and a folder of inputs; what came of them goes out by stdout.
"""

import gc
import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from time import thread_time
from typing import Any

from conformance.lab.fuzz.targets import TARGETS, Target
from conformance.lab.meters import rss_bytes
from conformance.lab.reading.meter import GOALS

TIMES = 5
"""How often what takes long is timed; the least counts."""
ROUNDS = 3
"""How often all is read after the first time."""
_MOST = 200
"""Inputs that are read again and again."""


def main() -> None:
    """Judge what each line of stdin says."""
    for line in sys.stdin:
        words: Any = json.loads(line)
        inputs = [path.read_bytes() for path in sorted(Path(words["folder"]).iterdir())]
        print(json.dumps(judged(TARGETS[words["name"]], inputs)), flush=True)


def judged(target: Target, inputs: Sequence[bytes]) -> dict[str, object]:
    """Return the milliseconds of the worst input of each length, and the bytes that are kept of all."""
    worst = {} if target.reads is None else dict(_worst(target.reads, inputs))
    return {"worst": worst, "kept": _kept(target.try_, inputs[-_MOST:])}


def _worst(reads: Callable[[bytes], object], inputs: Sequence[bytes]) -> Iterator[tuple[int, float]]:
    least = -1
    for most in sorted(GOALS):
        timed = [(_once(reads, data), data) for data in inputs if least < len(data) <= most]
        found = 0.0
        for time, data in timed:
            if time > found:
                found = max(found, min(time, *(_once(reads, data) for _ in range(TIMES))))
        yield most, found
        least = most


def _once(reads: Callable[[bytes], object], data: bytes) -> float:
    began = thread_time()
    with suppress(Exception):  # which the hunter has told of
        reads(data)
    return 1e3 * (thread_time() - began)


def _kept(try_: Callable[[bytes], None], inputs: Sequence[bytes]) -> int:
    """Return the least bytes that a round has added: what leaks does so in each of them."""
    sizes = [_all(try_, inputs) for _ in range(1 + ROUNDS)]
    return min(after - before for before, after in pairwise(sizes))


def _all(try_: Callable[[bytes], None], inputs: Sequence[bytes]) -> int:
    for data in inputs:
        with suppress(Exception):  # which the hunter has told of
            try_(data)
    gc.collect()
    return rss_bytes(os.getpid()) or 0


if __name__ == "__main__":
    main()

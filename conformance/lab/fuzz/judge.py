"""A process that reads what was found once more, unwatched: what does it cost, and is any of it kept?"""

import gc
import os
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from itertools import chain, pairwise
from pathlib import Path
from time import thread_time

from conformance.lab.fuzz.targets import GOALS, TARGETS, Target
from conformance.lab.meters import rss_bytes

TIMES = 5
"""How often what takes long is timed; the least counts."""
ROUNDS = 3
"""How often all is read after the first time."""
_MOST = 200
"""Inputs that are read again and again."""


def judge(name: str, folder: Path) -> tuple[dict[int, float], int]:
    """Return the milliseconds of the worst input of each length, and the bytes that are kept of all.

    Beside what is in the folder the inputs are timed that were made by hand.
    """
    return judged(TARGETS[name], [path.read_bytes() for path in sorted(folder.iterdir())])


def judged(target: Target, inputs: Sequence[bytes]) -> tuple[dict[int, float], int]:
    """Return the same for a target and inputs."""
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
    """Return the milliseconds that an input takes: at best, if it takes longer than the limit once."""
    found, times = 0.0, 0
    while times == 0 or (found > limit and times < TIMES):
        began = thread_time()
        with suppress(Exception):  # which the hunter has told of
            reads(data)
        spent = 1e3 * (thread_time() - began)
        found, times = (min(found, spent) if times else spent), times + 1
    return found


def _kept(try_: Callable[[bytes], None], inputs: Sequence[bytes]) -> int:
    """Return the least bytes that a round has added: what leaks does so in each of them."""
    sizes = []
    for _ in range(1 + ROUNDS):
        for data in inputs:
            with suppress(Exception):  # which the hunter has told of
                try_(data)
        gc.collect()
        sizes.append(rss_bytes(os.getpid()) or 0)
    return min(after - before for before, after in pairwise(sizes))

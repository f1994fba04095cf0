"""What nodes cost without a game, the more of them there are: each asks Redis, and is linked with all others.

Knows processes, and two figures of what Redis says of itself. Does not know what the nodes ask.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import mean
from time import perf_counter

import trio

from conformance.lab.cluster.nodes import Cluster
from conformance.lab.figures import Row
from conformance.lab.jobs import LoadError
from conformance.lab.meters import cpu_seconds

COUNTS = (2, 4, 8)
"""How many nodes there are, one after the other."""
LIMIT = 5.0
"""Seconds that Redis has to say something."""
_ASK, _END = b"INFO all\r\nQUIT\r\n", b"\r\n+OK\r\n"
_ASKED = re.compile(rb"cmdstat_eval:calls=(\d+)")
_MEMORY = re.compile(rb"used_memory:(\d+)")


@dataclass(frozen=True, slots=True)
class Sample:
    """How far a cluster has come."""

    at: float
    asked: int
    """Questions of all nodes to Redis."""
    memory: int
    """What Redis holds, in bytes."""
    redis: float | None
    """Seconds of CPU; None where the system does not tell."""
    nodes: Sequence[float | None]
    """The same of each node."""


async def sample(cluster: Cluster) -> Sample:
    """Look at a cluster. Raises LoadError, NoSuchProcess."""
    said = await _info(cluster.socket)
    asked, memory = (_figure(each, said) for each in (_ASKED, _MEMORY))
    redis, *nodes = (cpu_seconds(pid) for pid in (cluster.redis, *cluster.pids))
    return Sample(perf_counter(), asked, memory, redis, nodes)


def idle_rows(what: str, before: Sample, after: Sample) -> list[Row]:
    """Return what a cluster has used between two looks at it."""
    seconds = after.at - before.at
    redis = [each / seconds for each in _used([before.redis], [after.redis])]
    nodes = [each / seconds for each in _used(before.nodes, after.nodes)]
    return [
        Row("nodes", f"{what}, questions to Redis", (after.asked - before.asked) / seconds, "/s"),
        Row("nodes", f"{what}, Redis", redis[0] if redis else None, "cores", form=".4f"),
        Row("nodes", f"{what}, each of them", mean(nodes) if nodes else None, "cores", form=".4f"),
        Row("nodes", f"{what}, memory of Redis", after.memory / 1e6, "MB"),
    ]


def busy_rows(what: str, looks: tuple[Sample, Sample], pairs: int) -> list[Row]:
    """Return what players brought about who came to all nodes alike; the first node has paired them."""
    before, after = looks
    rate = (after.asked - before.asked) / (after.at - before.at)
    nodes = _used(before.nodes, after.nodes)
    more = 1e6 * (nodes[0] - mean(nodes[1:])) / pairs if nodes else None
    return [
        Row("nodes", f"{what}, questions to Redis", rate, "/s"),
        Row("nodes", f"{what}, the one that pairs beyond another", more, "us/pair", form=".0f"),
    ]


def _used(before: Sequence[float | None], after: Sequence[float | None]) -> list[float]:
    """Return the seconds that each has used meanwhile; none of them where the system does not tell."""
    both = zip(before, after, strict=True)
    return [later - earlier for earlier, later in both if earlier is not None and later is not None]


async def _info(socket: str) -> bytes:
    """Return what Redis says of itself. Raises LoadError."""
    said = b""
    with trio.move_on_after(LIMIT):
        async with await trio.open_unix_socket(socket) as stream:
            await stream.send_all(_ASK)
            async for data in stream:
                said += data
    return said


def _figure(pattern: re.Pattern[bytes], said: bytes) -> int:
    found = pattern.search(said)
    if found is None:
        raise LoadError(f"Redis does not tell {pattern.pattern.decode()}")
    return int(found[1])

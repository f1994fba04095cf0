"""Gateways that are nodes of one cluster, with a Redis server of their own, as subprocesses.

Knows their options, and a few words of a gateway's log. Does not know who plays there.
"""

import re
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

import trio

from conformance.lab.jobs import LoadError
from conformance.lab.redis_server import redis_server
from conformance.launch import COMMAND, Server, start

STARTING = 10.0
"""Seconds in which all nodes have to know each other and who pairs."""
_LINKED = re.compile(rb"linked with node (\S+)")
_PAIRS = re.compile(rb"node \S+ pairs\b")


@dataclass(frozen=True, slots=True)
class Cluster:
    """Nodes that know each other."""

    nodes: Sequence[Server]
    redis: int
    """The process of the Redis server."""
    socket: str
    """Where that listens."""

    @property
    def pids(self) -> list[int]:
        """The processes of all nodes."""
        return [node.process.pid for node in self.nodes]


@asynccontextmanager
async def together(
    names: Sequence[str],
    options: Sequence[str],
    command: Sequence[str] = COMMAND,
    hears: Sequence[Callable[[bytes], object]] = (),
) -> AsyncIterator[Cluster]:
    """A cluster of nodes of these names, all with the same options, for as long as the block lasts.

    `hears`, if there are any, are called with what the nodes say by stderr. Raises LoadError, ServerError,
    wrapped.
    """
    async with redis_server() as redis, trio.open_nursery() as nursery:
        nodes: list[Server] = []
        try:
            logs = [_Log(len(names) - 1, also) for also in hears or [len] * len(names)]
            for name, log in zip(names, logs, strict=True):
                words = [*options, "--cluster", redis.url, "--node", name]
                nodes.append(await start(nursery, words, command, log.hear))
            await _until_linked(logs)
            yield Cluster(nodes, redis.pid, redis.socket)
        finally:
            with trio.CancelScope(shield=True):
                for node in nodes:
                    await node.stop()
        nursery.cancel_scope.cancel()


class _Log:
    """What a node says until it knows so many others, and who pairs; `also` hears all of it."""

    def __init__(self, others: int, also: Callable[[bytes], object]) -> None:
        self.is_linked = trio.Event()
        self._others = others
        self._also = also
        self._said = b""

    def hear(self, data: bytes) -> None:
        self._also(data)
        if not self.is_linked.is_set():
            self._said += data
            if len({*_LINKED.findall(self._said)}) == self._others and _PAIRS.search(self._said):
                self.is_linked.set()


async def _until_linked(logs: Sequence[_Log]) -> None:
    """Wait until all nodes know all others, and who pairs. Raises LoadError."""
    with trio.move_on_after(STARTING) as scope:
        for log in logs:
            await log.is_linked.wait()
    if scope.cancelled_caught:
        raise LoadError(f"the {len(logs)} nodes did not find each other within {STARTING:g} s")

"""Gateways that are nodes of one cluster, with a Redis server of their own, as subprocesses.

Knows two programs, their options, and three words of a gateway's log. Does not know who plays there.
"""

import re
import shutil
import subprocess
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import trio

from conformance.lab.jobs import LoadError
from conformance.launch import COMMAND, Server, start

REDIS = ("redis-server", "valkey-server")
"""Either will do."""
STARTING = 10.0
"""Seconds in which Redis has to listen, and all nodes have to know each other and who pairs."""
_LOOK = 0.02
_LINKED = re.compile(r"linked with node (\S+)")
_PAIRS = re.compile(r"node \S+ pairs\b")


@dataclass(frozen=True, slots=True)
class Cluster:
    """Nodes that know each other."""

    nodes: Sequence[Server]
    redis: int
    """The process of the Redis server."""

    @property
    def pids(self) -> list[int]:
        """The processes of all nodes."""
        return [node.process.pid for node in self.nodes]


def redis_program() -> str | None:
    """Return the program of a Redis server, if one is installed."""
    return next(filter(None, map(shutil.which, REDIS)), None)


@asynccontextmanager
async def together(
    names: Sequence[str], options: Sequence[str], command: Sequence[str] = COMMAND
) -> AsyncIterator[Cluster]:
    """A cluster of nodes of these names, for as long as the block lasts. Raises LoadError, ServerError, wrapped.

    All have the same options.
    """
    with TemporaryDirectory(prefix="c4lab") as folder:
        async with _redis(Path(folder) / "redis") as redis, trio.open_nursery() as nursery:
            words = [*options, "--cluster", f"unix://{folder}/redis"]
            nodes: list[Server] = []
            try:
                logs = [bytearray() for _ in names]
                for name, log in zip(names, logs, strict=True):
                    nodes.append(await start(nursery, [*words, "--node", name], command, log.extend))
                await _until_linked(names, logs)
                yield Cluster(nodes, redis)
            finally:
                with trio.CancelScope(shield=True):
                    for node in nodes:
                        await node.stop()
            nursery.cancel_scope.cancel()


async def _until_linked(names: Sequence[str], logs: Sequence[bytearray]) -> None:
    """Wait until all nodes know all others, and who pairs. Raises LoadError."""
    with trio.move_on_after(STARTING):
        while not all(map(_is_linked, [len(names)] * len(names), logs)):
            await trio.sleep(_LOOK)  # what a gateway says comes in other tasks
        return
    raise LoadError(f"the nodes {', '.join(names)} did not find each other within {STARTING:g} s")


def _is_linked(nodes: int, log: bytearray) -> bool:
    text = log.decode(errors="replace")
    return len({*_LINKED.findall(text)}) == nodes - 1 and _PAIRS.search(text) is not None


@asynccontextmanager
async def _redis(path: Path) -> AsyncIterator[int]:
    """A Redis server on a socket that only this user may use; gives its process. Raises LoadError."""
    program = redis_program()
    if program is None:
        raise LoadError(
            "there is no redis-server here; install Debian's package redis-server, or valkey-server"
        )
    options = ["--port", "0", "--unixsocket", str(path), "--unixsocketperm", "700", "--save", ""]
    process = await trio.lowlevel.open_process(
        [program, *options, "--dir", str(path.parent)], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL
    )
    try:
        with trio.move_on_after(STARTING):
            while not path.exists() and process.poll() is None:
                await trio.sleep(_LOOK)
        if not path.exists():
            raise LoadError(f"{program} does not listen")
        yield process.pid
    finally:
        with trio.CancelScope(shield=True):
            process.kill()
            await process.wait()

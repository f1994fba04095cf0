"""What a cluster stands on, each a process of our own: a registry, a database, and nodes.

Knows how each is started, killed, stopped for a while and started again; all that it keeps is in a folder
that goes away with it. Does not know players, nor why anything should fail.
"""

import signal
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import trio

from conformance.lab.postgres import Postgres, postgres
from conformance.lab.redis_server import RedisServer, redis_server
from conformance.launch import COMMAND, Server, start

PREFIX = "faults"
"""What the registry's keys begin with."""
OPTIONS = ("--rounds", "3", "--games-per-pair", "0", "--log-level", "warning", "--cluster-prefix", PREFIX)


@dataclass(eq=False, slots=True)
class Node:
    """One server of the cluster, started again and again."""

    name: str
    options: Sequence[str]
    nursery: trio.Nursery
    deaths: int = 0
    """How often it has ended by itself."""
    is_up: bool = False
    """Whether nothing is being done to it."""
    server: Server = field(init=False)
    _said: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        return f"node {self.name}"

    async def start(self) -> None:
        """Start it. Raises ServerError."""
        words = [*OPTIONS, *self.options, "--node", self.name]
        self.server = await start(self.nursery, words, COMMAND, self._hear)
        self.is_up = True

    async def kill(self) -> None:
        """SIGKILL, and wait."""
        self.is_up = False
        self.deaths += self.server.process.poll() is not None
        self.server.process.kill()
        await self.server.process.wait()

    async def stop(self) -> None:
        """SIGTERM, and wait. Raises ServerError if it does not end in good order."""
        self.is_up = False
        await self.server.stop()

    def halt(self) -> None:
        """SIGSTOP."""
        self.is_up = False
        self.server.process.send_signal(signal.SIGSTOP)

    def go_on(self) -> None:
        """SIGCONT."""
        self.server.process.send_signal(signal.SIGCONT)
        self.is_up = True

    @property
    def lines(self) -> list[str]:
        """What it has said on stderr, in all its lives."""
        return "".join(self._said).splitlines()

    def _hear(self, data: bytes) -> None:
        self._said.append(data.decode(errors="replace"))


@dataclass(frozen=True, slots=True)
class Ground:
    """All of it."""

    registry: RedisServer
    postgres: Postgres
    nodes: Sequence[Node]

    async def pairing(self) -> Node | None:
        """Return the node that pairs, as far as the registry knows."""
        said = await self.registry.ask(f"GET {PREFIX}:lease")
        return next((node for node in self.nodes if said.startswith(f'["{node.name}"')), None)


@asynccontextmanager
async def cluster(names: str) -> AsyncIterator[Ground]:
    """A cluster of nodes of these names, for as long as the block lasts. Raises LoadError, ServerError."""
    async with redis_server() as registry, postgres() as database, trio.open_nursery() as nursery:
        options = ["--cluster", registry.url, "--db", database.url]
        nodes = [Node(name, options, nursery) for name in names]
        try:
            for node in nodes:
                await node.start()
            yield Ground(registry, database, nodes)
        finally:
            with trio.CancelScope(shield=True):
                for node in nodes:
                    if node.is_up:
                        await node.kill()
        nursery.cancel_scope.cancel()

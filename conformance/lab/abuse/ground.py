"""What an attacker stands on: connections to the gateway under attack, and an account of what was done.

Knows sockets and the opening handshake of a websocket; does not know what is said. The rules it keeps: an
attack has so many clients and no more, all of them together send at most so many bytes, and a client that is
hung up on comes back after a pause.
"""

import random
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from functools import partial
from typing import ClassVar

import trio

from conformance.lab.client import Client, HungUp, connected
from conformance.targets import Address

MOST_BYTES = 2**30
"""Bytes that all clients of an attack send at most; then they fall silent."""
PAUSE = 0.2
"""Seconds after which a client that was hung up on comes back."""
ELSEWHERE = "127.0.0.2"
"""Where attackers come from, so that a server can tell them from the honest, where the system has it."""
HOST = "127.0.0.1"


class Attacker(Client):
    """One connection of an attack, whose bytes are counted."""

    stream: trio.SocketStream

    def __init__(self, stream: trio.SocketStream, ground: "Ground") -> None:
        super().__init__(stream)
        self._ground = ground

    async def say(self, data: bytes) -> None:
        ground = self._ground
        if ground.counts["bytes"] > MOST_BYTES:
            await trio.sleep_forever()
        await super().say(data)
        ground.counts["bytes"] += len(data)
        ground.counts["messages"] += 1


class Ground:
    """The gateway's ports, as an attack sees them, and what the attack has done."""

    def __init__(self, ports: Mapping[str, int], token: str, source: str | None = None) -> None:
        """`ports` by front end; `token` is what names begin with, `source` the address to come from."""
        self.ports = ports
        self.token = token
        self.lot = random.Random(token)
        self.counts: Counter[str] = Counter()
        """Connections, refusals, messages and bytes."""
        self._source = source

    @asynccontextmanager
    async def connected(self, kind: str) -> AsyncIterator[Attacker]:
        """A TCP connection to a front end, for as long as the block lasts. Raises HungUp."""
        async with connected(Address(HOST, self.ports[kind]), self._source) as client:
            self.counts["connections"] += 1
            assert isinstance(client.stream, trio.SocketStream)
            yield Attacker(client.stream, self)

    @asynccontextmanager
    async def websocket(self, kind: str, resource: str = "/") -> AsyncIterator[Attacker]:
        """A websocket to a front end, for as long as the block lasts. Raises HungUp."""
        async with self.connected(kind) as client:
            await client.shake(f"{HOST}:{self.ports[kind]}", resource)
            yield client

    async def again(self, life: Callable[[], Awaitable[object]], pause: float = PAUSE) -> None:
        """Live one life after the other, until cancelled."""
        while True:
            try:
                await life()
            except* HungUp:
                self.counts["hung up"] += 1
            await trio.sleep(pause)


class Attack(ABC):
    """So many clients that do the same."""

    name: ClassVar[str]
    what: ClassVar[str]
    """One line for the reader of a report."""
    clients: ClassVar[int]
    pause: ClassVar[float] = PAUSE
    """Seconds after which a client that was hung up on comes back."""
    coming: ClassVar[float] = 1.0
    """Seconds within which all of them come."""
    reads: ClassVar[bool] = False
    """Whether it needs games to have been stored."""
    may_log: ClassVar[bool] = False
    """Whether the operator should hear of it: a line of the level ERROR is no fault."""
    is_alone: ClassVar[bool] = False
    """Whether it leaves no room for others, so that it has no part in all attacks at once."""

    def prepare(self) -> None:  # noqa: B027  most have nothing to make
        """Make what takes long to make. Called before the time begins."""

    async def run(self, ground: Ground) -> None:
        """Attack until cancelled. Clients come one after the other."""
        async with trio.open_nursery() as nursery:
            for number in range(self.clients):
                nursery.start_soon(ground.again, partial(self.live, ground, number), self.pause)
                await trio.sleep(self.coming / self.clients)

    @abstractmethod
    async def live(self, ground: Ground, number: int) -> None:
        """Live one client's life, from its connection to its end. Raises HungUp, wrapped or not."""


@asynccontextmanager
async def drained(client: Client) -> AsyncIterator[None]:
    """Read all that comes while the block lasts. Raises HungUp, wrapped, at the end of the stream."""
    async with trio.open_nursery() as nursery:
        nursery.start_soon(client.drain)
        yield
        nursery.cancel_scope.cancel()

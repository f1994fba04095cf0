"""Run attackers: for each attack a number of clients, with limits on their number, bytes and time.

They connect only to the gateway that a command has started on 127.0.0.1.
"""

import os
import random
import socket
import struct
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

import trio

from conformance.lab.client import Client, HungUp, connected
from conformance.lab.workers import Worker, reply, worker
from conformance.targets import Address

MOST_BYTES = 2**30
"""The most bytes that all clients of an attack send together. After that they send nothing."""
PAUSE = 0.2
"""Seconds until a client connects again after the server has hung up."""
ELSEWHERE = "127.0.0.2"
"""The attackers' source address, if the system has it. A ban of this address affects no other client."""
_RESET = struct.pack("ii", 1, 0)


@dataclass(frozen=True, slots=True)
class Attack:
    """An attack: a number of clients that all behave in the same way."""

    name: str
    clients: int
    live: Callable[["Attacked", int], Awaitable[None]]
    """Runs the client with the given number until it ends. May raise HungUp, also in an ExceptionGroup."""
    pause: float = PAUSE
    coming: float = 1.0
    """Seconds over which the clients' first connections are spread."""
    reads: bool = False
    """Whether the attack needs stored games in the database."""
    may_log: bool = False
    """Whether the gateway may log a line of the level ERROR, for the operator."""
    is_alone: bool = False
    """Whether the attack blocks all others, so that it is left out when all attacks run at once."""


class Attacker(Client):
    """One connection of an attack. Its messages and bytes are counted."""

    stream: trio.SocketStream

    def __init__(self, stream: trio.SocketStream, counts: Counter[str]) -> None:
        super().__init__(stream)
        self._counts = counts

    async def say(self, data: bytes) -> None:
        if self._counts["bytes"] > MOST_BYTES:
            await trio.sleep_forever()
        await super().say(data)
        self._counts["bytes"] += len(data)
        self._counts["messages"] += 1

    def tear(self) -> None:
        """Make the connection end with a reset when it is closed."""
        self.stream.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)


class Attacked:
    """The gateway under one attack, and counts of what the clients of the attack have done."""

    def __init__(self, addresses: Mapping[str, Address], token: str, source: str | None = None) -> None:
        """`token` is the prefix of the clients' names, `source` the address that they connect from."""
        self.token = token
        self.lot = random.Random(token)
        self.counts: Counter[str] = Counter()
        """Connections, hang-ups, messages and bytes."""
        self._addresses = addresses
        self._source = source

    @asynccontextmanager
    async def connected(
        self, port: str, resource: str | None = None, *, drains: bool = False
    ) -> AsyncIterator[Attacker]:
        """Connect to a port for as long as the block lasts. With `resource`, open a websocket.

        `drains`: read and drop everything that arrives. Raises HungUp; in the block, within an
        ExceptionGroup.
        """
        async with connected(self._addresses[port], self._source) as client:
            self.counts["connections"] += 1
            assert isinstance(client.stream, trio.SocketStream)
            attacker = Attacker(client.stream, self.counts)
            if resource is not None:
                await attacker.shake(self._addresses[port].authority, resource)
            async with trio.open_nursery() as nursery:
                if drains:
                    nursery.start_soon(attacker.drain)
                yield attacker
                nursery.cancel_scope.cancel()

    async def suffer(self, attack: Attack) -> None:
        """Run the clients of an attack until cancelled. A client that has ended starts again."""
        async with trio.open_nursery() as nursery:
            for number in range(attack.clients):
                nursery.start_soon(self._again, attack, number)
                await trio.sleep(attack.coming / attack.clients)

    async def _again(self, attack: Attack, number: int) -> None:
        while True:
            try:
                await attack.live(self, number)
            except* HungUp:
                self.counts["hung up"] += 1
            await trio.sleep(attack.pause)


@asynccontextmanager
async def attacking(
    attacks: Sequence[Attack], addresses: Mapping[str, Address], seconds: float, core: int | None = None
) -> AsyncIterator[Worker]:
    """Run attacks in a process, on one core or on any, from the start of the block. Raises LoadError.

    After `seconds`, the worker replies with counts of what the clients of each attack did, and with the share
    of a core that all of them used.
    """
    token = f"z{time.time_ns() // 1000 % 10**8}"
    async with worker(attack, [*attacks], addresses, seconds, core, token) as attackers:
        await attackers.receive()  # the attackers are ready
        yield attackers


# In the process of attackers.


def attack(
    attacks: Sequence[Attack], addresses: Mapping[str, Address], seconds: float, core: int | None, token: str
) -> tuple[dict[str, Counter[str]], float]:
    """Run attacks; return counts of what the clients of each did, and the share of a core that all used.

    This process gives way to all others on its core. Otherwise it would slow down the honest games there, and
    the server would seem slow.
    """
    give_way(core)
    reply("ready")
    found = trio.run(_attack, attacks, addresses, seconds, token)
    return found, time.process_time() / seconds


def give_way(core: int | None) -> None:
    """Run this process only on `core`, and only when no other process needs that core.

    If `core` is None, lower the priority of this process.
    """
    if core is not None:
        os.sched_setaffinity(0, {core})
    if core is not None and hasattr(os, "SCHED_IDLE"):
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    else:
        os.nice(5)


async def _attack(
    attacks: Sequence[Attack], addresses: Mapping[str, Address], seconds: float, token: str
) -> dict[str, Counter[str]]:
    """Run the attacks at the same time for `seconds`; return counts of what the clients of each did."""
    with trio.socket.socket() as sock:
        try:
            await sock.bind((ELSEWHERE, 0))
            source: str | None = ELSEWHERE
        except OSError:
            source = None
    attacked = {each.name: Attacked(addresses, token + each.name, source) for each in attacks}
    with trio.move_on_after(seconds):
        async with trio.open_nursery() as nursery:
            for each in attacks:
                nursery.start_soon(attacked[each.name].suffer, each)
    return {name: each.counts for name, each in attacked.items()}

"""Honest games, attackers and a gateway, each a process, and the windows of time in which they are watched.

Knows processes and the lines they exchange; does not judge what they come to.
"""

import json
import subprocess
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from time import perf_counter, time_ns
from typing import Any

import trio

from conformance.lab import house
from conformance.lab.abuse.attackers import order
from conformance.lab.abuse.figures import Spread, Window
from conformance.lab.abuse.target import Target
from conformance.lab.bots import KINDS
from conformance.lab.client import connected
from conformance.lab.house import HouseGames, Refusal
from conformance.lab.jobs import LoadError, as_words
from conformance.lab.meters import Used
from conformance.launch import Server
from conformance.targets import Address

HONEST = (sys.executable, "-m", "conformance.lab.abuse.honest")
ATTACKERS = (sys.executable, "-m", "conformance.lab.abuse.attackers")
PLAYER = "aimafast"
"""Whom the guest plays."""
PAUSE = 0.2
"""Seconds before each of the guest's moves."""
_AGAIN = 1.0
_NAME = "guest"
_CHUNK = 65_536


class Process:
    """A process that is told something line by line, and answers so."""

    def __init__(self, process: trio.Process) -> None:
        self._process = process
        self._rest = b""

    async def say(self, line: bytes) -> None:
        """Send a line. Raises LoadError."""
        assert self._process.stdin is not None
        try:
            await self._process.stdin.send_all(line)
        except trio.BrokenResourceError:
            raise LoadError("a process of bots has ended") from None

    async def answer(self) -> Any:
        """Return what the next line says. Raises LoadError."""
        assert self._process.stdout is not None
        while b"\n" not in self._rest:
            data = await self._process.stdout.receive_some(_CHUNK)
            if not data:
                raise LoadError(f"a process of bots exited with status {await self._process.wait()}")
            self._rest += data
        line, _, self._rest = self._rest.partition(b"\n")
        return json.loads(line)


@asynccontextmanager
async def process(command: Sequence[str], first: bytes) -> AsyncIterator[Process]:
    """A process that was sent its first line, for as long as the block lasts."""
    opened = await trio.lowlevel.open_process(list(command), stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        one = Process(opened)
        await one.say(first)
        yield one
    finally:
        with trio.CancelScope(shield=True):
            opened.kill()
            await opened.wait()


class Guest:
    """An honest client that plays a house player until cancelled, and comes back when it is hung up on."""

    def __init__(self, address: Address) -> None:
        self.lost: list[str] = []
        """What ended its games otherwise than by the rules."""
        self.refused: list[str] = []
        """Why it got no game: there are too many other guests."""
        self._games = HouseGames(pause=PAUSE)
        self._address = address

    @property
    def finished(self) -> int:
        """How many games it has finished."""
        return self._games.finished

    async def run(self) -> None:
        """Play."""
        while True:
            finished = self.finished
            try:
                async with connected(self._address) as client:
                    await house.name(client, _NAME)
                    await self._games.play(client, PLAYER)
            except LoadError as error:
                if self._games.on or self.finished == finished:  # otherwise the series is over
                    is_busy = self._games.on == 0 and isinstance(error, Refusal)
                    (self.refused if is_busy else self.lost).append(f"{_NAME} against {PLAYER}: {error}")
                self._games.on, self._games.asked = 0, None
            await trio.sleep(_AGAIN)

    def begin(self) -> None:
        """Begin to measure."""
        self._games.times.clear()
        self.lost.clear()

    def spread(self) -> Spread:
        """Return how long moves took since then, the one that is owed included."""
        return Spread.of([*self._games.times, *self._games.owed()])


class Watched:
    """A gateway with honest games on it."""

    def __init__(
        self, server: Server, target: Target, honest: Process, guest: Guest, core: int | None
    ) -> None:
        """Attackers run on `core`, or anywhere."""
        self.target = target
        self._ports = {kind: address.port for kind, address in server.addresses.items()}
        self._honest = honest
        self._guest = guest
        self._core = core
        self._begun = perf_counter()
        self._used: Used | None = None

    async def begin(self) -> None:
        """Begin to watch. Raises LoadError, NoSuchProcess."""
        await self._honest.say(b"begin\n")
        self._guest.begin()
        self._begun, self._used = perf_counter(), self.target.used()

    async def end(self) -> Window:
        """Return what was seen since then. Raises LoadError, NoSuchProcess."""
        seconds, used = perf_counter() - self._begun, self.target.used()
        await self._honest.say(b"end\n")
        told = await self._honest.answer()
        spent = None if used is None or self._used is None else used.since(self._used)
        return Window(
            moves=Spread.of(told["times"]),
            lost=[*told["lost"], *self._guest.lost],
            house=self._guest.spread(),
            server_share=None if spent is None else spent.first / seconds,
            waited_share=None if spent is None else spent.waited / seconds,
            others_share=None if spent is None else (spent.cpu - spent.first) / seconds,
            load_waited=told["waited"],
        )

    async def watched(self, seconds: float) -> Window:
        """Return what is seen within so many seconds."""
        await self.begin()
        await trio.sleep(seconds)
        return await self.end()

    @asynccontextmanager
    async def attackers(self, names: Sequence[str], seconds: float) -> AsyncIterator[Process]:
        """Attackers of these kinds, who begin with the block. Raises LoadError."""
        words = order(names, self._ports, seconds, self._core, f"z{time_ns() // 1000 % 10**8}")
        async with process(ATTACKERS, words) as attackers:
            await attackers.answer()  # they are ready
            yield attackers


def honest_plan(server: Server, pairs: int, core: int | None) -> bytes:
    """Return what to tell the process of honest games first."""
    addresses = {kind: server.addresses[dialect] for kind, (dialect, _) in KINDS.items()}
    words = {"addresses": as_words(addresses), "pairs": pairs, "core": core}
    return json.dumps(words).encode() + b"\n"

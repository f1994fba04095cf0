"""Honest games, attackers and a gateway, each a process, and the windows of time in which they are watched.

Knows processes and the lines they exchange; does not judge what they come to.
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from time import perf_counter, time_ns

import trio

from conformance.lab import house
from conformance.lab.abuse.figures import Spread, Window
from conformance.lab.abuse.target import Target
from conformance.lab.bots import KINDS
from conformance.lab.client import connected
from conformance.lab.house import HouseGames
from conformance.lab.jobs import LoadError, Process, as_words, process, say
from conformance.lab.meters import Used
from conformance.launch import Server
from conformance.targets import Address

HONEST = "conformance.lab.abuse.honest"
ATTACKERS = "conformance.lab.abuse.attackers"
PLAYER = "aimafast"
"""Whom the guest plays."""
PAUSE = 0.2
"""Seconds before each of the guest's moves."""
_AGAIN = 1.0
_NAME = "guest"


class Guest:
    """An honest client that plays a house player until cancelled, and comes back when it is hung up on."""

    def __init__(self, address: Address) -> None:
        self.lost: list[str] = []
        """What ended its games otherwise than by the rules."""
        self.refused: list[str] = []
        """Why it got no game: there are too many other clients, or guests."""
        self._games = HouseGames(pause=PAUSE)
        self._address = address
        self._scope = trio.CancelScope()

    @property
    def finished(self) -> int:
        """How many games it has finished."""
        return self._games.finished

    async def run(self) -> None:
        """Play, until `stop`."""
        with self._scope:
            while True:
                await self._play()
                await trio.sleep(_AGAIN)

    def stop(self) -> None:
        """Play no more: what is lost from now on is no fault of the server's."""
        self._scope.cancel()

    async def _play(self) -> None:
        """Play a series."""
        finished = self.finished
        try:
            async with connected(self._address) as client:
                await house.name(client, _NAME)
                await self._games.play(client, PLAYER)
        except LoadError as error:
            if self._games.on or self.finished == finished:  # otherwise the series is over
                self._note(f"{_NAME} against {PLAYER}: {error}")
            self._games.on, self._games.asked = 0, None

    def _note(self, what: str) -> None:
        if not self._games.on:
            self.refused.append(what)
        else:
            self.lost.append(what)
            say(f"hurt: {what}")

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

    def send_guest_home(self) -> None:
        """Let nobody play with a house player any more."""
        self._guest.stop()

    async def begin(self) -> None:
        """Begin to watch. Raises LoadError, NoSuchProcess."""
        await self._honest.say("begin")
        self._guest.begin()
        self._begun, self._used = perf_counter(), self.target.used()

    async def end(self) -> Window:
        """Return what was seen since then. Raises LoadError, NoSuchProcess."""
        seconds, used = perf_counter() - self._begun, self.target.used()
        await self._honest.say("end")
        told = await self._honest.answer()
        spent = None if used is None or self._used is None else used.since(self._used)
        return Window(
            moves=Spread.of(told["times"]),
            left_out=told["left_out"],
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
        async with attacking(names, self._ports, seconds, self._core) as attackers:
            yield attackers


@asynccontextmanager
async def attacking(
    names: Sequence[str], ports: Mapping[str, int], seconds: float, core: int | None
) -> AsyncIterator[Process]:
    """Attackers of these kinds, on one core or on any, who begin with the block. Raises LoadError."""
    token = f"z{time_ns() // 1000 % 10**8}"
    words = {"names": [*names], "ports": ports, "seconds": seconds, "core": core, "token": token}
    async with process(ATTACKERS, words) as attackers:
        await attackers.answer()  # they are ready
        yield attackers


def honest_plan(server: Server, pairs: int, core: int | None) -> object:
    """Return what to tell the process of honest games first."""
    addresses = {kind: server.addresses[dialect] for kind, (dialect, _) in KINDS.items()}
    return {"addresses": as_words(addresses), "pairs": pairs, "core": core}

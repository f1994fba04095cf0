"""A client that plays house players, on and on: at once, and in any column with room.

Knows a few lines of the Droidcon dialect and a stopwatch.
"""

import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TypeAlias

import trio

from conformance.lab.client import Client, connected
from conformance.lab.jobs import LoadError
from conformance.launch import running

PATIENCE = 15.0
"""Seconds in which anything that is no house player's move has to come."""
SERIES = ("--rounds", "1000000")
"""So many that no series ends while it is measured."""
_RESULTS = (b"YOU_WON", b"YOU_LOST", b"DRAW")


class Refusal(LoadError):
    """The server told an error."""


async def line_of(client: Client) -> bytes:
    """Return the next line. Raises HungUp; Refusal for an error that it tells."""
    line = await client.line()
    if line.startswith(b"Error"):
        raise Refusal(f"the server said {line.decode(errors='replace')!r}")
    return line


async def until(client: Client, wanted: bytes) -> None:
    """Read up to this line, which is to come soon. Raises LoadError."""
    with trio.move_on_after(PATIENCE):
        while await line_of(client) != wanted:
            pass
        return
    raise LoadError(f"no {wanted.decode()!r} within {PATIENCE:g} s")


async def name(client: Client, name: str) -> None:
    """Give the client a name. Raises LoadError."""
    await client.say(b"NAME %s\n" % name.encode())
    await until(client, b"SUCCESS")


Come: TypeAlias = Callable[[str], Awaitable[Client]]
"""Lets a client of this name come. Raises LoadError."""


@asynccontextmanager
async def visited(command: Sequence[str]) -> AsyncIterator[tuple[Come, trio.Nursery]]:
    """A gateway of our own: how clients come there, and a nursery that ends with the block."""
    async with running(SERIES, command) as server, AsyncExitStack() as stack, trio.open_nursery() as nursery:

        async def come(word: str) -> Client:
            client = await stack.enter_async_context(connected(server.addresses["droidcon"]))
            await name(client, word)
            return client

        yield come, nursery
        nursery.cancel_scope.cancel()


class HouseGames:
    """What the games of some clients with house players came to."""

    def __init__(self, begun: Callable[[], object] = lambda: None, pause: float = 0.0) -> None:
        """`begun` is called when a game has begun; `pause`: seconds before each of a client's moves."""
        self.on = 0
        """Games that have begun and not ended."""
        self.finished = 0
        self.answers = 0
        """Moves of house players."""
        self.times: list[float] = []
        """Seconds from a client's move to the answer."""
        self.asked: float | None = None
        """When the client moved, if it waits for the answer; of one client alone."""
        self._begun = begun
        self._pause = pause

    async def play(self, client: Client, player: str) -> None:
        """Play a house player without end. Raises HungUp, Refusal."""
        await client.say(b"JOIN @%s\n" % player.encode())
        room = [6] * 7
        while True:
            line = await line_of(client)
            if line == b"NEW_GAME":
                room, self.asked = [6] * 7, None
                self.on += 1
                self._begun()
            elif line == b"YOUR_MOVE":
                await trio.sleep(self._pause)
                column = max(range(7), key=room.__getitem__)
                room[column] -= 1
                self.asked = time.perf_counter()
                await client.say(b"PUT %d\n" % column)
            elif line.startswith(b"PUT "):
                self._answered(room, int(line[4:]))
            elif line in _RESULTS:
                self.asked = None
                self.on -= 1
                self.finished += 1

    def owed(self) -> list[float]:
        """Return for how many seconds the answer that is not there has been waited for, if there is one."""
        return [] if self.asked is None else [time.perf_counter() - self.asked]

    def _answered(self, room: list[int], column: int) -> None:
        room[column] -= 1
        self.answers += 1
        if self.asked is not None:
            self.times.append(time.perf_counter() - self.asked)
            self.asked = None

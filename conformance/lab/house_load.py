"""`python -m conformance house-load`: do house players that think hold up those who play each other?

Knows a gateway as a subprocess, and a stopwatch. Clients keep house players busy; two more, at a table of
their own, answer at once, and each of their moves is timed from its `PUT` to the opponent's receipt of it.
All clients share one event loop, so what the load costs this side is in the figures too: they may be too
high, never too low.
"""

import time
from argparse import Namespace
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass

import trio

from conformance.arguments import Parser
from conformance.dialects.script import DRAWN
from conformance.lab import house
from conformance.lab.client import Client, connected
from conformance.lab.figures import percentile
from conformance.lab.house import SERIES, HouseGames
from conformance.lab.jobs import LoadError
from conformance.launch import COMMAND, running

LIMIT = 20.0
"""Milliseconds within which 99 of 100 moves have to arrive."""


@dataclass(frozen=True, slots=True)
class Figures:
    """What a run came to. Times are in milliseconds."""

    games: HouseGames
    times: Sequence[float]

    @property
    def good(self) -> bool:
        """Whether moves arrive in time."""
        return percentile(self.times, 99) <= LIMIT

    def __str__(self) -> str:
        p50, p99 = percentile(self.times, 50), percentile(self.times, 99)
        return (
            f"games on:        {self.games.on}\n"
            f"games finished:  {self.games.finished}\n"
            f"house moves:     {self.games.answers}\n"
            f"moves measured:  {len(self.times)}\n"
            f"p50:             {p50:.2f} ms\n"
            f"p99:             {p99:.2f} ms (limit {LIMIT:g} ms)\n"
            f"max:             {max(self.times):.2f} ms\n"
        )


def main(argv: Sequence[str]) -> int:
    """Run the command line; returns the exit status."""
    parser = Parser.of("house-load", __doc__)
    parser.count("--games", 20, "games with house players")
    parser.seconds("--seconds", 20.0, "how long to measure")
    parser.add_argument("--player", default="aima", metavar="NAME", help="the house player (aima)")
    figures = trio.run(measure, parser.parse_args(argv))
    print(figures, end="")
    return 0 if figures.good else 1


async def measure(options: Namespace, command: Sequence[str] = COMMAND) -> Figures:
    """Return what a run with these options came to. Raises LoadError, ServerError, wrapped."""
    all_on, times = trio.Event(), list[float]()

    def begun() -> None:
        if games.on == options.games:
            all_on.set()

    games = HouseGames(begun)
    async with running(SERIES, command) as server, AsyncExitStack() as stack, trio.open_nursery() as nursery:
        address = server.addresses["droidcon"]

        async def client(name: str) -> Client:
            found = await stack.enter_async_context(connected(address))
            await house.name(found, name)
            return found

        for number in range(options.games):
            nursery.start_soon(games.play, await client(f"load{number}"), options.player)
        with trio.move_on_after(house.PATIENCE):
            await all_on.wait()
        if not all_on.is_set():
            doubt = "" if games.on else f"; is {options.player!r} a player of the server's own?"
            raise LoadError(f"{games.on} of {options.games} games began within {house.PATIENCE:g} s{doubt}")
        left, right = await client("left"), await client("right")
        for one in (left, right):
            await one.say(b"JOIN measured\n")
            await house.until(one, b"SUCCESS")
        with trio.move_on_after(options.seconds):
            await time_moves((left, right), times)
        nursery.cancel_scope.cancel()
    if not times:
        raise LoadError(f"no move arrived within {options.seconds:g} s")
    return Figures(games, times)


async def time_moves(pair: tuple[Client, Client], times: list[float]) -> None:
    """Play drawn games without end; note how many milliseconds each move takes. Raises LoadError."""
    mover, other = pair
    while True:
        for column in DRAWN.moves:
            put = f"PUT {column}\n".encode()
            await house.until(mover, b"YOUR_MOVE")
            start = time.perf_counter()
            await mover.say(put)
            await house.until(other, put.rstrip())
            times.append(1000 * (time.perf_counter() - start))
            mover, other = other, mover
        mover, other = other, mover  # 42 moves are made, and the first move swaps

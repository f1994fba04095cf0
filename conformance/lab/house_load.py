"""`python -m conformance house-load`: do house players that think hold up those who play each other?

Knows a gateway as a subprocess, and a stopwatch. Clients keep house players busy; two more, at a table of
their own, answer at once, and each of their moves is timed from its `PUT` to the opponent's receipt of it.
All clients share one event loop, so what the load costs this side is in the figures too: they may be too
high, never too low.
"""

import time
from argparse import Namespace
from collections.abc import Sequence

import trio

from conformance.arguments import Parser
from conformance.dialects.script import DRAWN
from conformance.lab import house
from conformance.lab.client import Client
from conformance.lab.figures import Row, finished, percentile
from conformance.lab.house import HouseGames
from conformance.lab.jobs import LoadError
from conformance.launch import COMMAND

LIMIT = 20.0
"""Milliseconds within which 99 of 100 moves have to arrive."""


def main(argv: Sequence[str]) -> int:
    """Run the command line; returns the exit status."""
    parser = Parser.of("house-load", __doc__)
    parser.count("--games", 20, "games with house players")
    parser.seconds("--seconds", 20.0, "how long to measure")
    parser.add_argument("--player", default="aima", metavar="NAME", help="the house player (aima)")
    parser.report()
    options = parser.parse_args(argv)
    return finished(trio.run(measure, options), options)


async def measure(options: Namespace, command: Sequence[str] = COMMAND) -> list[Row]:
    """Return what a run with these options came to. Raises LoadError, ServerError, wrapped."""
    all_on, times = trio.Event(), list[float]()

    def begun() -> None:
        if games.on == options.games:
            all_on.set()

    games = HouseGames(begun)
    async with house.visited(command) as (come, nursery):
        for number in range(options.games):
            nursery.start_soon(games.play, await come(f"load{number}"), options.player)
        with trio.move_on_after(house.PATIENCE):
            await all_on.wait()
        if not all_on.is_set():
            doubt = "" if games.on else f"; is {options.player!r} a player of the server's own?"
            raise LoadError(f"{games.on} of {options.games} games began within {house.PATIENCE:g} s{doubt}")
        left, right = await come("left"), await come("right")
        for one in (left, right):
            await one.say(b"JOIN measured\n")
            await house.until(one, b"SUCCESS")
        with trio.move_on_after(options.seconds):
            await time_moves((left, right), times)
    if not times:
        raise LoadError(f"no move arrived within {options.seconds:g} s")
    return rows(games, times)


def rows(games: HouseGames, times: Sequence[float]) -> list[Row]:
    """Return the figures; `times` are in milliseconds."""
    return [
        Row("games", "on", games.on, "", form="d"),
        Row("games", "finished", games.finished, "", form="d"),
        Row("games", "house moves", games.answers, "", form="d"),
        Row("moves", "measured", len(times), "", form="d"),
        Row("moves", "p50", percentile(times, 50), "ms"),
        Row("moves", "p99", percentile(times, 99), "ms", LIMIT),
        Row("moves", "max", max(times), "ms"),
    ]


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

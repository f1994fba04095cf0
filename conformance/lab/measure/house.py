"""`measure house`: do house players that think hold up those who play each other?

Clients keep house players busy; two more, at a table of their own, answer at once, and each of their moves
is timed from its `PUT` to the opponent's receipt of it. All clients share one event loop, so what the load
costs this side is in the figures too: they may be too high, never too low.
"""

import time
from argparse import Namespace
from collections.abc import Sequence
from contextlib import AsyncExitStack

import trio

from conformance.arguments import Parser
from conformance.dialects.script import DRAWN
from conformance.lab.client import Client, HouseGames, connected
from conformance.lab.measure.scenario import Part, Scenario
from conformance.lab.report import Row, counted, percentile
from conformance.lab.servers import until
from conformance.lab.workers import LoadError
from conformance.launch import running

LIMIT_MS = 20.0
"""Milliseconds within which 99 of 100 moves have to arrive."""
PATIENCE = 15.0
"""Seconds in which all games have to begin."""


async def _measure(options: Namespace, command: Sequence[str]) -> list[Row]:
    games, moves = HouseGames(), list[float]()
    async with (
        running(("--rounds", "1000000"), command) as server,
        AsyncExitStack() as stack,
        trio.open_nursery() as nursery,
    ):

        async def come(name: str) -> Client:
            client = await stack.enter_async_context(connected(server.addresses["droidcon"]))
            await client.enter(name)
            return client

        for number in range(options.games):
            nursery.start_soon(games.play, await come(f"load{number}"), options.player)
        if not await until(lambda: games.on == options.games, PATIENCE):
            doubt = "" if games.on else f"; is {options.player!r} a player of the server's own?"
            raise LoadError(f"{games.on} of {options.games} games began within {PATIENCE:g} s{doubt}")
        left, right = await come("left"), await come("right")
        for one in (left, right):
            await one.say(b"JOIN measured\n")
            await one.until(b"SUCCESS")
        with trio.move_on_after(options.seconds):
            await time_moves(left, right, moves)
        nursery.cancel_scope.cancel()
    if not moves:
        raise LoadError(f"no move arrived within {options.seconds:g} s")
    return [
        counted("games", "on", games.on),
        counted("games", "finished", games.finished),
        counted("games", "house moves", games.answers),
        counted("moves", "measured", len(moves)),
        Row("moves", "p50", percentile(moves, 50), "ms"),
        Row("moves", "p99", percentile(moves, 99), "ms", LIMIT_MS),
        Row("moves", "max", max(moves), "ms"),
    ]


async def time_moves(mover: Client, other: Client, times: list[float]) -> None:
    """Play drawn games without end; note how many milliseconds each move takes. Raises LoadError."""
    while True:
        for column in DRAWN.moves:
            put = f"PUT {column}\n".encode()
            await mover.until(b"YOUR_MOVE")
            start = time.perf_counter()
            await mover.say(put)
            await other.until(put.rstrip())
            times.append(1000 * (time.perf_counter() - start))
            mover, other = other, mover
        mover, other = other, mover  # 42 moves are made, and the first move swaps


def _options(parser: Parser) -> None:
    parser.count("--games", 20, "games with house players")
    parser.seconds("--seconds", 20.0, "how long to measure")
    parser.add_argument("--player", default="aima", metavar="NAME", help="the house player (aima)")


HOUSE = Scenario(
    "do house players that think hold up those who play each other?",
    {"thinking": Part(_measure)},
    _options,
)

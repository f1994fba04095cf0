"""`measure growth`: does the gateway stay as good with more games, more who wait, more time?

Each part has gateways of its own; a figure that is compared with another is measured right behind that one.
"""

from argparse import Namespace
from collections.abc import Sequence
from functools import partial
from time import perf_counter

import trio

from conformance.arguments import Parser
from conformance.lab.crowds import SHORT_SERIES, TABLE, come, last, site, wait
from conformance.lab.load import COUPLES, ENDLESS, Report, at_gateway, both_stretches, ms, played
from conformance.lab.measure.bench import warn
from conformance.lab.measure.scenario import Part, Scenario
from conformance.lab.report import MB, Row, counted, difference, ratio, times
from conformance.lab.workers import run
from conformance.launch import running

FEW = 20
"""Games to compare many with."""
FEW_WAITING = 10
FIRST_POINT = 10_000
"""Games after which the memory is what later memory is compared with."""
START_S, CONNECT_S = 0.7, 10.0
"""Seconds until all ports accept, and until all are in their games, at most."""
MOST_CPU, P99_MS, MOST_KB = 1.3, 50.0, 40.0
"""In many games, at most: the cost of a move over that in few, 99 of 100 moves, memory of a connection."""
MOST_WAITING, IDLE_MS = 1.2, 2.0
"""Beside many who wait, at most: the cost of a game over that beside few, an idle second more."""
MOST_MEMORY = 1.05
"""Memory after very many games over that after the first look, at most."""


async def _start(_: Namespace, command: Sequence[str]) -> list[Row]:
    begun = perf_counter()
    async with running((), command) as server:
        for address in server.addresses.values():
            await (await trio.open_tcp_stream(address.host, address.port)).aclose()
        return [Row("start", "all ports accept", perf_counter() - begun, "s", START_S)]


async def _connect(options: Namespace, command: Sequence[str]) -> list[Row]:
    async with running(ENDLESS, command) as server:
        seconds = await run(come, site(server), options.games, TABLE)
    what = f"{2 * options.games} come at once, until all play"
    return [Row("connect", what, seconds, "s", CONNECT_S)]


async def _games(kind: str, options: Namespace, command: Sequence[str]) -> list[Row]:
    """Compare a move in many games with one in few, and measure how long it takes there, and what memory."""
    few, many = [await _played(kind, games, options, command) for games in (FEW, options.games)]
    cost, more = few.stretches[0].cpu_us, many.stretches[0].cpu_us
    return [
        Row(kind, f"{FEW} games", cost, "us/move"),
        Row(kind, f"{options.games} games", more, "us/move"),
        Row(kind, "ratio", ratio(more, cost), most=MOST_CPU),
        Row(kind, f"p50 at {options.rate} moves/s", ms(many.stretches[1].times, 50), "ms"),
        Row(kind, f"p99 at {options.rate} moves/s", ms(many.stretches[1].times, 99), "ms", P99_MS),
        Row(kind, "memory of a connection", many.kb_per_connection, "KB", MOST_KB, ".1f"),
    ]


async def _played(kind: str, games: int, options: Namespace, command: Sequence[str]) -> Report:
    async with running(ENDLESS, command) as server:
        report = await played(at_gateway(server, COUPLES[kind], games, *both_stretches(options)))
    warn(f"{kind}, {games} games", report.stretches[0])
    return report


async def _waiting(options: Namespace, command: Sequence[str]) -> list[Row]:
    """Compare what a game and an idle second cost beside many who wait with what they cost beside few."""
    found = []
    for number in (FEW_WAITING, options.waiting):
        async with running(SHORT_SERIES, command) as server:
            found.append(await run(wait, site(server), number, options.seconds))
    few, many = found
    rows: list[Row] = []
    for kind, what in (("wish", "short game by wish"), ("lobby", "short game by the lobby's choice")):
        rows += [
            Row("waiting", f"{what}, {FEW_WAITING} wait", times(1e6, few[kind]), "us/game", form=".1f"),
            Row("waiting", f"{what}, {options.waiting} wait", times(1e6, many[kind]), "us/game", form=".1f"),
            Row("waiting", f"{what}, ratio", ratio(many[kind], few[kind]), most=MOST_WAITING),
        ]
    more = times(1e3, difference(many["idle"], few["idle"]))
    return [
        *rows,
        Row("waiting", f"idle, {FEW_WAITING} wait", times(1e3, few["idle"]), "ms/s"),
        Row("waiting", f"idle, {options.waiting} wait", times(1e3, many["idle"]), "ms/s"),
        Row("waiting", "idle, more by", more, "ms/s", IDLE_MS),
    ]


async def _memory(options: Namespace, command: Sequence[str]) -> list[Row]:
    """Compare the memory after very many games with that after a few."""
    async with running(SHORT_SERIES, command) as server:
        found = await run(last, site(server), points_up_to(options.many))
    (_, _, first), (games, seconds, final) = found[0], found[-1]
    return [
        *(
            Row("memory", f"after {at} games", size / MB, "MB", form=".1f")
            for at, (_, _, size) in zip(points_up_to(options.many), found, strict=True)
        ),
        counted("memory", "short games a second", round(games / seconds)),
        Row("memory", "last memory to first", ratio(final, first), most=MOST_MEMORY, form=".3f"),
    ]


def points_up_to(many: int) -> list[int]:
    """Return after how many games to look at the memory: at first, and then at 1, 2, 5, 10 and so on."""
    steps = [FIRST_POINT * step * 10**power for power in range(9) for step in (1, 2, 5)]
    return [*(point for point in steps if point < many), many]


def _options(parser: Parser) -> None:
    parser.count("--games", 2000, "games at once")
    parser.count("--rate", 2000, "paced moves a second")
    parser.count("--waiting", 10_000, "players who wait")
    parser.count("--many", 1_000_000, "games over the life of a server")
    parser.seconds("--seconds", 5.0, "how long to measure each figure")


GROWTH = Scenario(
    "does the gateway stay as good with more games, more who wait, more time?",
    {
        "start": Part(_start, 5),
        "connect": Part(_connect),
        "droidcon": Part(partial(_games, "droidcon"), 3),
        "mix": Part(partial(_games, "mix"), 3),
        "waiting": Part(_waiting, 3),
        "memory": Part(_memory),
    },
    _options,
)

"""`python -m conformance growth`: does the gateway stay as good with more games, more who wait, more time?

Knows the parts and their goals, each with gateways of its own, the benchmark's process of bots and that of
short games. A figure that is compared with another is measured in turn with that one, several times, and the
medians are compared: machines drift.
"""

from argparse import Namespace
from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from statistics import median
from time import perf_counter
from typing import Any

import trio

from conformance.arguments import Parser
from conformance.lab import meters
from conformance.lab.bots import KINDS
from conformance.lab.echo import TCP, echoing
from conformance.lab.figures import Row, finished
from conformance.lab.jobs import as_words, many_files, say
from conformance.lab.parts import Part, measured
from conformance.lab.plan import (
    COUPLES,
    ENDLESS,
    Plan,
    Report,
    Speed,
    Stretch,
    at_gateway,
    kb_per_connection,
    played,
    speed,
)
from conformance.lab.short_games import PAIRS, SHORT_SERIES, job_at
from conformance.launch import running

FEW = 20
"""Games to compare many with."""
FEW_WAITING = 10
FIRST_POINT = 10_000
"""Games after which the memory is what later memory is compared with."""
_MB = 2**20


GOALS = {
    "start": 0.7,
    "connect": 10.0,
    "cpu": 1.3,
    "p99_ms": 50.0,
    "kb": 40.0,
    "waiting": 1.2,
    "idle_ms": 2.0,
    "memory": 1.05,
}
"""What is not to be exceeded: seconds until all ports accept and until all are in their games, the cost of
a move in many games over that in few, milliseconds of 99 of 100 moves, kilobytes for a connection, the cost
of a game with many who wait over that with few, milliseconds by which an idle second may cost more then,
and memory after very many games over that after a few."""
COMPARED = ("droidcon", "mix")


async def connect(sizes: Namespace) -> list[Row]:
    """Let all connect at once."""
    seconds = await _job(ENDLESS, {"job": "connect", "pairs": sizes.games})
    what = f"{2 * sizes.games} come at once, until all play"
    return [Row("connect", what, seconds, "s", GOALS["connect"])]


async def cpu(sizes: Namespace) -> list[Row]:
    """Compare a move's cost in many games with that in few, saturated.

    Beside it stands what becomes of a bare echo's cost with as many connections: that is the system's part.
    """
    rows = []
    for kind in COMPARED:
        few, many = await _compared(sizes, kind, partial(_saturated, sizes, kind))
        rows += [
            Row("cpu", f"{kind}, {FEW} games", few, "us/move"),
            Row("cpu", f"{kind}, {sizes.games} games", many, "us/move"),
            Row("cpu", f"{kind}, ratio", _ratio(many, few), "", GOALS["cpu"]),
        ]
    few, many = await _compared(sizes, "echo", partial(_echoed, sizes))
    return [
        *rows,
        Row("cpu", f"bare TCP echo, {2 * FEW} connections", few, "us/line"),
        Row("cpu", f"bare TCP echo, {2 * sizes.games} connections", many, "us/line"),
        Row("cpu", "bare TCP echo, ratio", _ratio(many, few), ""),
    ]


async def latency(sizes: Namespace) -> list[Row]:
    """Measure how long moves take in many games, at a pace."""
    rows = []
    for kind in COMPARED:
        stretch = Stretch(sizes.seconds, min(1.0, sizes.seconds), sizes.rate)
        found = speed((await _bench(kind, sizes.games, stretch)).stretches[0])
        what = f"{kind}, {found.moves_per_second:.0f} moves/s"
        rows += [
            Row("latency", f"{what}, p50", found.p50_ms, "ms"),
            Row("latency", f"{what}, p99", found.p99_ms, "ms", GOALS["p99_ms"]),
        ]
    return rows


async def memory(sizes: Namespace) -> list[Row]:
    """Measure what memory a connection takes, while it plays."""
    rows = []
    for kind in KINDS:
        report = await _bench(kind, sizes.games, Stretch(sizes.seconds, 0.1))
        found = kb_per_connection(report)
        what = f"{kind}, each of {report.connections}"
        rows.append(Row("memory", what, found, "KB", GOALS["kb"], ".1f"))
    return rows


async def waiting(sizes: Namespace) -> list[Row]:
    """Compare what a game and an idle second cost beside many who wait with what they cost beside few."""
    costs: dict[tuple[str, int], list[float]] = defaultdict(list)
    for number in (FEW_WAITING, sizes.waiting) * sizes.times:
        words = {"job": "wait", "waiting": number, "pairs": PAIRS, "seconds": sizes.seconds}
        for what, cost in (await _job(SHORT_SERIES, words)).items():
            costs[what, number] += [] if cost is None else [cost]
    rows = []
    for what, told in (("wish", "short game by wish"), ("lobby", "short game by the lobby's choice")):
        few, many = (_median(costs[what, number]) for number in (FEW_WAITING, sizes.waiting))
        rows += [
            Row("waiting", f"{told}, {FEW_WAITING} wait", _times(1e6, few), "us/game", form=".1f"),
            Row("waiting", f"{told}, {sizes.waiting} wait", _times(1e6, many), "us/game", form=".1f"),
            Row("waiting", f"{told}, ratio", _ratio(many, few), "", GOALS["waiting"]),
        ]
    few, many = (_times(1e3, _median(costs["idle", number])) for number in (FEW_WAITING, sizes.waiting))
    more = None if few is None or many is None else many - few
    return [
        *rows,
        Row("waiting", f"idle, {FEW_WAITING} wait", few, "ms/s"),
        Row("waiting", f"idle, {sizes.waiting} wait", many, "ms/s"),
        Row("waiting", "idle, more by", more, "ms/s", GOALS["idle_ms"]),
    ]


async def games(sizes: Namespace) -> list[Row]:
    """Compare the memory after very many games with that after a few."""
    points = points_up_to(sizes.many)
    found = await _job(SHORT_SERIES, {"job": "last", "pairs": PAIRS, "points": points})
    first, final = found[0], found[-1]
    rows = [Row("games", f"after {at['games']}", (at["rss"] or 0) / _MB, "MB", form=".1f") for at in found]
    growth = _ratio(final["rss"], first["rss"])
    speed = final["games"] / final["seconds"]
    return [
        *rows,
        Row("games", "short games a second", speed, "", form=".0f"),
        Row("games", "last memory to first", growth, "", GOALS["memory"], ".3f"),
    ]


async def start(sizes: Namespace) -> list[Row]:
    """Measure how long a server needs until all three ports accept."""
    times = []
    for _ in range(max(3, 2 * sizes.times - 1)):
        begun = perf_counter()
        async with running(()) as server:
            for address in server.addresses.values():
                await (await trio.open_tcp_stream(address.host, address.port)).aclose()
            times.append(perf_counter() - begun)
    return [
        Row("start", f"all ports accept, median of {len(times)}", median(times), "s", GOALS["start"]),
        Row("start", "at most", max(times), "s"),
    ]


PARTS: Mapping[str, Part] = {
    "start": start,
    "connect": connect,
    "cpu": cpu,
    "latency": latency,
    "memory": memory,
    "waiting": waiting,
    "games": games,
}


def points_up_to(many: int) -> list[int]:
    """Return after how many games to look at the memory: at first, and then at 1, 2, 5, 10 and so on."""
    steps = [FIRST_POINT * step * 10**power for power in range(9) for step in (1, 2, 5)]
    return [*(point for point in steps if point < many), many]


async def _compared(
    sizes: Namespace, what: str, measured: Callable[[int], Awaitable[Speed]]
) -> tuple[float | None, float | None]:
    """Return the CPU of a move with few and with many games, each the median of several, measured in turn."""
    costs: dict[int, list[float]] = defaultdict(list)
    for games in (FEW, sizes.games) * sizes.times:
        found = await measured(games)
        if found.cpu_us is not None:
            costs[games].append(found.cpu_us)
        if not found.is_saturated:
            say(f"  {what}, {games} games: NOT SATURATED")
    return _median(costs[FEW]), _median(costs[sizes.games])


async def _echoed(sizes: Namespace, games: int) -> Speed:
    """Have a bare echo answer on as many connections as so many games have."""
    stretch = Stretch(sizes.seconds, min(1.0, sizes.seconds))
    with many_files():
        async with echoing(TCP) as (pid, address):
            addresses = as_words({TCP: address})
            report = await played(Plan([(TCP,)], 2 * games, addresses, [stretch], pid, meters.two_cores()))
    return speed(report.stretches[0])


async def _saturated(sizes: Namespace, kind: str, pairs: int) -> Speed:
    stretch = Stretch(sizes.seconds, min(1.0, sizes.seconds))
    return speed((await _bench(kind, pairs, stretch)).stretches[0])


async def _bench(kind: str, pairs: int, stretch: Stretch) -> Report:
    """Have timed bots play at a gateway of their own."""
    async with running(ENDLESS) as server:
        with many_files():
            return await played(at_gateway(server, COUPLES[kind], pairs, [stretch]))


async def _job(options: Sequence[str], words: Mapping[str, object]) -> Any:
    """Have a job done at a gateway of its own."""
    async with running(options) as server:
        return await job_at(server, words)


def _median(values: Sequence[float]) -> float | None:
    return median(values) if values else None


def _times(factor: float, value: float | None) -> float | None:
    return None if value is None else factor * value


def _ratio(value: float | None, other: float | None) -> float | None:
    return None if value is None or not other else value / other


def main(argv: Sequence[str]) -> int:
    """Run the command line; returns the exit status."""
    options = _parse(argv)
    if not meters.has_proc():
        print("There is no /proc here: server CPU and memory are not known.")
    rows = trio.run(measured, PARTS, options)
    return finished(rows, options)


def _parse(argv: Sequence[str]) -> Namespace:
    parser = Parser.of("growth", __doc__)
    parser.count("--games", 2000, "games at once")
    parser.count("--rate", 2000, "paced moves a second")
    parser.count("--waiting", 10_000, "players who wait")
    parser.count("--many", 1_000_000, "games over the life of a server")
    parser.count("--times", 3, "how often to measure what is compared")
    parser.seconds("--seconds", 5.0, "how long to measure each figure")
    parser.only(PARTS)
    parser.report()
    return parser.parse_args(argv)

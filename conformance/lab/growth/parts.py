"""What is measured, part by part, each with gateways of its own.

Knows gateways as subprocesses, the benchmark's process of bots and the process of short games. A figure that
is compared with another is measured in turn with that one, several times, and the medians are compared:
machines drift.
"""

from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from statistics import median
from time import perf_counter
from typing import Any

import trio

from conformance.lab import meters
from conformance.lab.bench.figures import Speed, speed
from conformance.lab.bench.plan import MIX, TCP, Couple, Plan, Report, Stretch
from conformance.lab.bench.processes import echoing, played
from conformance.lab.crowd.job import done, many_files, say
from conformance.lab.growth.rows import Row
from conformance.lab.growth.sizes import GOALS, Sizes
from conformance.launch import Server, running

FEW = 20
"""Games to compare many with."""
FEW_WAITING = 10
PAIRS = 20
"""Pairs that play short games, of each kind."""
FIRST_POINT = 10_000
"""Games after which the memory is what later memory is compared with."""
SHORT = ("--rounds", "100", "--games-per-pair", "0", "--clock", "1000000", "--idle", "1000000")
ENDLESS = ("--rounds", "1000000", "--games-per-pair", "0", "--clock", "1000000")
_JOB = "conformance.lab.growth.job"
_KB, _MB = 1024, 2**20


KINDS: Mapping[str, Sequence[Couple]] = {"droidcon": [("droidcon", "droidcon")], "mix": MIX}
TRANSPORTS: Mapping[str, Sequence[Couple]] = {
    kind: [(kind, kind)] for kind in ("droidcon", "nac4", "arena-json", "arena-edn")
}

Part = Callable[[Sizes], Awaitable[list[Row]]]


async def connect(sizes: Sizes) -> list[Row]:
    """Let all connect at once."""
    seconds = await _job(sizes, ENDLESS, {"job": "connect", "pairs": sizes.games})
    what = f"{2 * sizes.games} come at once, until all play"
    return [Row("connect", what, seconds, "s", GOALS.connect)]


async def cpu(sizes: Sizes) -> list[Row]:
    """Compare a move's cost in many games with that in few, saturated.

    Beside it stands what becomes of a bare echo's cost with as many connections: that is the system's part.
    """
    rows = []
    for kind, couples in KINDS.items():
        few, many = await _compared(sizes, kind, partial(_saturated, sizes, couples))
        rows += [
            Row("cpu", f"{kind}, {FEW} games", few, "us/move"),
            Row("cpu", f"{kind}, {sizes.games} games", many, "us/move"),
            Row("cpu", f"{kind}, ratio", _ratio(many, few), "", GOALS.cpu),
        ]
    few, many = await _compared(sizes, "echo", partial(_echoed, sizes))
    return [
        *rows,
        Row("cpu", f"bare TCP echo, {2 * FEW} connections", few, "us/line"),
        Row("cpu", f"bare TCP echo, {2 * sizes.games} connections", many, "us/line"),
        Row("cpu", "bare TCP echo, ratio", _ratio(many, few), ""),
    ]


async def latency(sizes: Sizes) -> list[Row]:
    """Measure how long moves take in many games, at a pace."""
    rows = []
    for kind, couples in KINDS.items():
        stretch = Stretch(sizes.seconds, min(1.0, sizes.seconds), sizes.rate)
        found = speed((await _bench(sizes, couples, sizes.games, [stretch])).stretches[0])
        what = f"{kind}, {found.moves_per_second:.0f} moves/s"
        rows += [
            Row("latency", f"{what}, p50", found.p50_ms, "ms"),
            Row("latency", f"{what}, p99", found.p99_ms, "ms", GOALS.p99_ms),
        ]
    return rows


async def memory(sizes: Sizes) -> list[Row]:
    """Measure what memory a connection takes, while it plays."""
    rows = []
    for kind, couples in TRANSPORTS.items():
        report = await _bench(sizes, couples, sizes.games, [Stretch(sizes.seconds, 0.1)])
        found = None
        if report.rss_before is not None and report.rss_playing is not None:
            found = (report.rss_playing - report.rss_before) / report.connections / _KB
        what = f"{kind}, each of {report.connections}"
        rows.append(Row("memory", what, found, "KB", GOALS.kb, ".1f"))
    return rows


async def waiting(sizes: Sizes) -> list[Row]:
    """Compare what a game and an idle second cost beside many who wait with what they cost beside few."""
    costs: dict[tuple[str, int], list[float]] = defaultdict(list)
    for number in (FEW_WAITING, sizes.waiting) * sizes.times:
        words = {"job": "wait", "waiting": number, "pairs": PAIRS, "seconds": sizes.seconds}
        for what, cost in (await _job(sizes, SHORT, words)).items():
            costs[what, number] += [] if cost is None else [cost]
    rows = []
    for what, told in (("wish", "short game by wish"), ("lobby", "short game by the lobby's choice")):
        few, many = (_median(costs[what, number]) for number in (FEW_WAITING, sizes.waiting))
        rows += [
            Row("waiting", f"{told}, {FEW_WAITING} wait", _times(1e6, few), "us/game", form=".1f"),
            Row("waiting", f"{told}, {sizes.waiting} wait", _times(1e6, many), "us/game", form=".1f"),
            Row("waiting", f"{told}, ratio", _ratio(many, few), "", GOALS.waiting),
        ]
    few, many = (_times(1e3, _median(costs["idle", number])) for number in (FEW_WAITING, sizes.waiting))
    more = None if few is None or many is None else many - few
    return [
        *rows,
        Row("waiting", f"idle, {FEW_WAITING} wait", few, "ms/s"),
        Row("waiting", f"idle, {sizes.waiting} wait", many, "ms/s"),
        Row("waiting", "idle, more by", more, "ms/s", GOALS.idle_ms),
    ]


async def games(sizes: Sizes) -> list[Row]:
    """Compare the memory after very many games with that after a few."""
    points = points_up_to(sizes.many)
    found = await _job(sizes, SHORT, {"job": "last", "pairs": PAIRS, "points": points})
    first, final = found[0], found[-1]
    rows = [Row("games", f"after {at['games']}", (at["rss"] or 0) / _MB, "MB", form=".1f") for at in found]
    growth = _ratio(final["rss"], first["rss"])
    speed = final["games"] / final["seconds"]
    return [
        *rows,
        Row("games", "short games a second", speed, "", form=".0f"),
        Row("games", "last memory to first", growth, "", GOALS.memory, ".3f"),
    ]


async def start(sizes: Sizes) -> list[Row]:
    """Measure how long a server needs until all three ports accept."""
    times = []
    for _ in range(max(3, 2 * sizes.times - 1)):
        begun = perf_counter()
        async with running((), sizes.command) as server:
            for address in server.addresses.values():
                await (await trio.open_tcp_stream(address.host, address.port)).aclose()
            times.append(perf_counter() - begun)
    return [
        Row("start", f"all ports accept, median of {len(times)}", median(times), "s", GOALS.start),
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
    sizes: Sizes, what: str, measured: Callable[[int], Awaitable[Speed]]
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


async def _echoed(sizes: Sizes, games: int) -> Speed:
    """Have a bare echo answer on as many connections as so many games have."""
    stretch = Stretch(sizes.seconds, min(1.0, sizes.seconds))
    with many_files():
        async with echoing(TCP) as (pid, address):
            addresses = {TCP: (address.host, address.port, "")}
            report = await played(Plan([(TCP,)], 2 * games, addresses, [stretch], pid, meters.two_cores()))
    return speed(report.stretches[0])


async def _saturated(sizes: Sizes, couples: Sequence[Couple], pairs: int) -> Speed:
    stretch = Stretch(sizes.seconds, min(1.0, sizes.seconds))
    return speed((await _bench(sizes, couples, pairs, [stretch])).stretches[0])


async def _bench(sizes: Sizes, couples: Sequence[Couple], pairs: int, stretches: list[Stretch]) -> Report:
    """Have the benchmark's bots play at a gateway of their own."""
    async with running(ENDLESS, sizes.command) as server:
        found = _addresses(server)
        arenas = dict.fromkeys(("arena-json", "arena-edn"), found["arena"])
        addresses = {kind: (*address, "") for kind, address in {**found, **arenas}.items()}
        with many_files():
            return await played(
                Plan(couples, pairs, addresses, stretches, server.process.pid, meters.two_cores())
            )


async def _job(sizes: Sizes, options: Sequence[str], words: Mapping[str, object]) -> Any:
    """Have a job done at a gateway of its own."""
    async with running(options, sizes.command) as server:
        place = {"addresses": _addresses(server), "pid": server.process.pid, "cores": meters.two_cores()}
        return await done(_JOB, {**words, **place})


def _addresses(server: Server) -> dict[str, tuple[str, int]]:
    return {dialect: (address.host, address.port) for dialect, address in server.addresses.items()}


def _median(values: Sequence[float]) -> float | None:
    return median(values) if values else None


def _times(factor: float, value: float | None) -> float | None:
    return None if value is None else factor * value


def _ratio(value: float | None, other: float | None) -> float | None:
    return None if value is None or not other else value / other

"""What moves and games cost: bare, kept in a database, many at once, and between nodes of a cluster.

Every server is started for its measurement alone. What is compared is measured in turns, so that a machine
which grows slower or faster during the run does so to both sides of a ratio.
"""

from argparse import Namespace
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from statistics import mean
from tempfile import TemporaryDirectory
from time import perf_counter

import trio

from conformance.arguments import Parser, UsageError, count
from conformance.lab import meters
from conformance.lab.bots import KINDS, PLAIN
from conformance.lab.crowds import ANYONE, SHORT_SERIES, TABLE, WISH, come, last, site, wait
from conformance.lab.echo import TCP, WEBSOCKET, echoing
from conformance.lab.load import (
    COUPLES,
    ENDLESS,
    MOVES,
    Counted,
    Plan,
    Report,
    at_gateway,
    both_stretches,
    by_kind,
    ms,
    played,
)
from conformance.lab.measure.scenario import Part, Scenario
from conformance.lab.meters import cpu_seconds
from conformance.lab.report import MB, Row, counted, difference, middle, ratio, times
from conformance.lab.servers import Cluster, cluster
from conformance.lab.workers import run, say
from conformance.launch import running
from conformance.targets import parse_address

FLOOR_GOALS = {"droidcon": 1.0, "nac4": 0.8, "arena-json": 1.0, "arena-edn": 1.0}
"""CPU of a move over that of a round trip of the bare transport, at most."""
STRETCH_GOALS = {"droidcon": 0.9, "nac4": 0.4, "arena-json": 0.5, "arena-edn": 0.5}
FLOOR_CONNECTIONS = 100
DISTURBED = 0.05
"""The share of the time off its core from which on a measurement is in doubt."""


async def _bench(kind: str, options: Namespace, command: Sequence[str]) -> list[Row]:
    floors: dict[str, list[float | None]] = {}
    await _measure_floors(kind, options, floors)
    report = await _report(kind, options, command)
    await _measure_floors(kind, options, floors)
    saturated, paced = report.stretches
    warn(kind, saturated)
    known = [(middle(floors[transport]), share) for transport, share in transports(kind).items() if floors]
    floor = sum(cost * share for cost, share in known if cost is not None)
    cost = None if any(cost is None for cost, _ in known) else ratio(saturated.cpu_us, floor)
    goal = None if options.against else FLOOR_GOALS.get(kind)
    stretch = None if goal is None else STRETCH_GOALS[kind]
    goals = [Row(kind, "goal", goal, form=".1f"), Row(kind, "stretch", stretch, form=".1f")]
    return [
        Row(kind, "moves/s", saturated.rate, form=".0f"),
        Row(kind, "us a move", saturated.cpu_us),
        Row(kind, "floor us", floor or None),
        Row(kind, "ratio", cost, most=goal),
        *(goals if options.beside is None else ()),  # which are no figures of either server
        Row(kind, "server", saturated.server_share, form=".0%"),
        Row(kind, "load", saturated.load_cpu / saturated.seconds, form=".0%"),
        Row(kind, "paced", paced.rate, form=".0f"),
        Row(kind, "p50 ms", ms(paced.times, 50)),
        Row(kind, "p99 ms", ms(paced.times, 99)),
        Row(kind, "KB each", report.kb_per_connection, form=".1f"),
    ]


def warn(kind: str, counted: Counted) -> None:
    """Say what puts a saturated measurement in doubt."""
    if not counted.is_saturated:
        say(f"  {kind}: NOT SATURATED, the load used {counted.load_cpu / counted.seconds:.0%} of its core")
    if (counted.waited_share or 0.0) > DISTURBED:
        say(f"  {kind}: others kept the server off its core for {counted.waited_share:.0%} of the time")


async def _report(kind: str, options: Namespace, command: Sequence[str]) -> Report:
    if options.against:
        _, address = options.against
        both = both_stretches(options)
        pid = options.pid
        return await played(Plan(COUPLES[kind], options.pairs, {kind: address}, both, pid, is_gateway=False))
    async with running([*ENDLESS, *options.server_options], command) as server:
        return await played(at_gateway(server, COUPLES[kind], options.pairs, *both_stretches(options)))


async def _measure_floors(kind: str, options: Namespace, floors: dict[str, list[float | None]]) -> None:
    """Measure the echoes on the transports of a kind; add microseconds of a round trip."""
    if options.against and options.pid is None:
        return
    for transport in transports(kind):
        stretch, _ = both_stretches(options)
        async with echoing(transport) as (pid, address):
            connections, addresses = min(FLOOR_CONNECTIONS, 2 * options.pairs), {transport: address}
            plan = Plan([(transport,)], connections, addresses, [stretch], pid, meters.two_cores())
            floors.setdefault(transport, []).append((await played(plan)).stretches[0].cpu_us)


def transports(kind: str) -> dict[str, float]:
    """Return each transport's share of the connections; together 1."""
    kinds = [kind for couple in COUPLES[kind] for kind in couple]
    found = [TCP if KINDS[kind][0] == "droidcon" else WEBSOCKET for kind in kinds]
    return {name: found.count(name) / len(found) for name in sorted({*found})}


def _bench_options(parser: Parser) -> None:
    parser.count("--pairs", 100, "pairs of bots")
    parser.seconds("--seconds", 5.0, "how long to measure each")
    parser.count("--rate", 1000, "paced moves a second")
    parser.add_argument("--against", nargs=2, metavar=("DIALECT", "HOST:PORT"), help="any other server")
    parser.add_argument("--pid", type=count, help="the process of that server, if it runs here")
    parser.server_options()


def _bench_check(options: Namespace) -> None:
    """Put kind and address into `options.against`. Raises UsageError."""
    if not options.against:
        if options.pid:
            raise UsageError("--pid goes with --against")
        return
    word, text = options.against
    kind = PLAIN.get(word, word)
    if kind not in KINDS:
        raise UsageError(f"{word!r} is no dialect; there are {', '.join((*PLAIN, *KINDS))}")
    if options.only != [*COUPLES] or options.server_options or options.beside:
        raise UsageError("--only, --beside and --server-options are for the gateway, not for another server")
    try:
        options.against = kind, parse_address(KINDS[kind][0], text)
    except ValueError as error:
        raise UsageError(str(error)) from None
    options.only = [kind]


BENCH = Scenario(
    "what a move costs a server, over the floor of the transport that brings it",
    {kind: Part(partial(_bench, kind)) for kind in COUPLES},
    _bench_options,
    wide=True,
    check=_bench_check,
)


MOST_SLOWER = 1.05
"""So many times as long takes play that is slower."""
_NOWHERE = "none"


async def _store(kind: str, options: Namespace, command: Sequence[str]) -> list[Row]:
    reports: dict[bool, list[Report]] = {False: [], True: []}
    with TemporaryDirectory(prefix="store-") as folder:
        place = options.db or str(Path(folder) / "cost.db")
        for keeps in (False, True, True, False):
            words = [*ENDLESS, "--db", place if keeps else _NOWHERE]
            async with running(words, command) as server:
                plan = at_gateway(server, COUPLES[kind], options.pairs, *both_stretches(options))
                reports[keeps].append(await played(plan))
    both = {keeps: _figures(found) for keeps, found in reports.items()}
    rows = [
        Row(f"{kind}, {'kept' if keeps else 'not'}", what, _mean(values))
        for keeps, figures in both.items()
        for what, values in figures.items()
    ]
    for report in (each for some in reports.values() for each in some):
        warn(kind, report.stretches[0])
    game = difference(_mean(both[True]["us a move"]), _mean(both[False]["us a move"]))
    rows += [
        Row(
            f"{kind}, kept",
            f"{what} slower",
            slower(both[False][what], both[True][what]),
            most=MOST_SLOWER,
        )
        for what in ("move p50", "move p99")
    ]
    return [*rows, Row(f"{kind}, kept", "game us", times(MOVES, game), form=".0f")]


def _figures(reports: Sequence[Report]) -> dict[str, list[float | None]]:
    found: dict[str, list[float | None]] = {}
    for full, paced in (report.stretches for report in reports):
        used = full.server
        aside = None if used is None or not full.games else 1e6 * (used.cpu - used.first) / full.games
        for what, value in {
            "moves/s": full.rate,
            "us a move": full.cpu_us,
            "loop us": None if used is None else 1e6 * used.first / full.moves,
            "aside us": aside,
            "result p50": ms(full.results, 50),
            "result p99": ms(full.results, 99),
            "move p50": ms(paced.plays, 50),
            "move p99": ms(paced.plays, 99),
        }.items():
            found.setdefault(what, []).append(value)
    return found


def slower(before: Sequence[float | None], after: Sequence[float | None]) -> float | None:
    """Return how many times as long it takes; 1 at most unless each run is longer than all before."""
    known, later = ([value for value in some if value is not None] for some in (before, after))
    if not (known and later):
        return None
    found = ratio(mean(later), mean(known))
    return found if found is None or min(later) > max(known) else min(found, 1.0)


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return mean(known) if known else None


def _store_options(parser: Parser) -> None:
    parser.count("--pairs", 100, "pairs of bots")
    parser.seconds("--seconds", 5.0, "how long to measure each")
    parser.count("--rate", 1000, "paced moves a second")
    parser.add_argument("--db", metavar="FILE|URL", help="the database (a new file, removed at the end)")


def _store_check(options: Namespace) -> None:
    if options.db == _NOWHERE:
        raise UsageError("a database is needed to keep results in")


STORE = Scenario(
    "what it costs to keep results in a database",
    {kind: Part(partial(_store, kind)) for kind in COUPLES},
    _store_options,
    wide=True,
    check=_store_check,
)


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
    few, many = [await _games_played(kind, games, options, command) for games in (FEW, options.games)]
    cost, more = few.stretches[0].cpu_us, many.stretches[0].cpu_us
    return [
        Row(kind, f"{FEW} games", cost, "us/move"),
        Row(kind, f"{options.games} games", more, "us/move"),
        Row(kind, "ratio", ratio(more, cost), most=MOST_CPU),
        Row(kind, f"p50 at {options.rate} moves/s", ms(many.stretches[1].times, 50), "ms"),
        Row(kind, f"p99 at {options.rate} moves/s", ms(many.stretches[1].times, 99), "ms", P99_MS),
        Row(kind, "memory of a connection", many.kb_per_connection, "KB", MOST_KB, ".1f"),
    ]


async def _games_played(kind: str, games: int, options: Namespace, command: Sequence[str]) -> Report:
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


def _growth_options(parser: Parser) -> None:
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
    _growth_options,
)


MOST_LOCAL = 1.05
"""CPU of a move on one node of a cluster over that on a server that is alone, at most."""
MOST_BETWEEN = 3.0
"""The same of a move between two nodes, both together."""
MOST_SHARE = 0.2
"""What each of two nodes uses of a core, at a pace, beyond half of what one server does, at most."""
MORE_MS = 3.0
"""Milliseconds by which half of the moves may take longer."""
PAIRING_S = 5.0
"""Seconds until all who come to three nodes at once play, at most."""
NODES = (2, 4, 8)
"""How many nodes stand idle, one after the other."""


async def _moves(kind: str, options: Namespace, command: Sequence[str]) -> list[Row]:
    """Compare moves on a server that is alone, on a node, and between two nodes: saturated, and at a pace."""
    couples, both = COUPLES[kind], both_stretches(options)
    async with running(ENDLESS, command) as server:
        alone, alone_paced = (await played(at_gateway(server, couples, options.games, *both))).stretches
    found: list[tuple[Counted, Counted]] = []
    for names in ("a", "ab"):
        async with cluster(names, ENDLESS, command) as nodes:
            plan = at_gateway(nodes.nodes[0].server, couples, options.games, *both)
            others = by_kind(nodes.nodes[-1].server)
            more = [*(node.pid for node in nodes.nodes[1:]), nodes.redis.pid]
            one, two = (await played(replace(plan, others=others, more=more))).stretches
            found.append((one, two))
    (local, _), (between, between_paced) = found
    half = None if alone_paced.server_share is None else alone_paced.server_share / 2
    share = max(_nodes(between_paced)) / between_paced.seconds if between_paced.server else None
    later = difference(ms(between_paced.times, 50), ms(alone_paced.times, 50))
    redis = 1e6 * between.more_cpu[-1] / between.moves if between.more_cpu else None
    paced = f"at {options.rate} moves/s"
    return [
        Row(kind, "alone", alone.cpu_us, "us/move"),
        Row(kind, "one node", _cost(local), "us/move"),
        Row(kind, "two nodes", _cost(between), "us/move"),
        Row(kind, "two nodes, Redis beside them", redis, "us/move"),
        Row(kind, "one node, ratio", ratio(_cost(local), alone.cpu_us), most=MOST_LOCAL),
        Row(kind, "two nodes, ratio", ratio(_cost(between), alone.cpu_us), most=MOST_BETWEEN),
        Row(kind, f"{paced}, half of alone", half, "cores", form=".3f"),
        Row(kind, f"{paced}, the busier node", share, "cores", form=".3f"),
        Row(kind, f"{paced}, more by", difference(share, half), "cores", MOST_SHARE, ".3f"),
        Row(kind, f"{paced}, p50 alone", ms(alone_paced.times, 50), "ms"),
        Row(kind, f"{paced}, p50 two nodes", ms(between_paced.times, 50), "ms"),
        Row(kind, f"{paced}, p50 later by", later, "ms", MORE_MS),
        Row(kind, f"{paced}, alone, off its core", alone_paced.waited_share, form=".1%"),
    ]


def _nodes(counted: Counted) -> list[float]:
    """Return the seconds that each node used. Redis is the last of the further processes."""
    return [] if counted.server is None else [counted.server.cpu, *counted.more_cpu[:-1]]


def _cost(counted: Counted) -> float | None:
    """Return the microseconds of a move, of all nodes."""
    return 1e6 * sum(_nodes(counted)) / counted.moves if counted.server else None


async def _pairing(options: Namespace, command: Sequence[str]) -> list[Row]:
    """Let players come to three nodes at once: to take anyone, and to meet one on another node."""
    rows = []
    for whom, words in ((ANYONE, "take anyone"), (WISH, "wish for one on another node")):
        async with cluster("abc", ENDLESS, command) as nodes:
            servers = [node.server for node in nodes.nodes]
            seconds = await run(come, site(*servers), options.players // 2, whom)
        what = f"{options.players} {words}, until all play"
        rows.append(Row("pairing", what, seconds, "s", PAIRING_S))
    return rows


async def _idle(options: Namespace, command: Sequence[str]) -> list[Row]:
    """Let more and more nodes stand idle: each asks Redis, and is linked with all others."""
    rows: list[Row] = []
    for number in NODES:
        async with cluster("abcdefgh"[:number], ENDLESS, command) as nodes:
            before = _used(nodes)
            await trio.sleep(options.seconds)
            redis, *each = (
                difference(after, begun) for after, begun in zip(_used(nodes), before, strict=True)
            )
        known = [seconds for seconds in each if seconds is not None]
        node = sum(known) / len(known) / options.seconds if known else None
        share = None if redis is None else redis / options.seconds
        rows += [
            Row("idle", f"{number} nodes, Redis", share, "cores", form=".4f"),
            Row("idle", f"{number} nodes, each of them", node, "cores", form=".4f"),
        ]
    return rows


def _used(nodes: Cluster) -> list[float | None]:
    return [cpu_seconds(nodes.redis.pid), *(cpu_seconds(node.pid) for node in nodes.nodes)]


def _cluster_options(parser: Parser) -> None:
    parser.count("--games", 100, "games at once")
    parser.count("--rate", 1000, "paced moves a second")
    parser.count("--players", 1000, "players who come to three nodes at once")
    parser.seconds("--seconds", 5.0, "how long to measure each figure")


CLUSTER = Scenario(
    "what does one lobby of several gateways cost, and is it as good as one?",
    {
        "droidcon": Part(partial(_moves, "droidcon"), 3),
        "mix": Part(partial(_moves, "mix"), 3),
        "pairing": Part(_pairing),
        "idle": Part(_idle),
    },
    _cluster_options,
)

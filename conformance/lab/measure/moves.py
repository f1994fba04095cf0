"""What moves and games cost: without a database, with one, many at once, and between nodes of a cluster.

Each measurement starts its own server. Measurements that are compared take turns, so that a change in the
machine's speed affects both sides of a ratio.
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

from conformance.arguments import Parser
from conformance.lab.bots import KINDS
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
    played,
    played_at_new,
)
from conformance.lab.measure.scenario import Part, Scenario
from conformance.lab.meters import cpu_seconds, two_cores
from conformance.lab.report import MB, UNKNOWN, Row, counted, ms, ratio
from conformance.lab.servers import cluster
from conformance.lab.workers import run
from conformance.launch import running

# `bench`: the server's CPU time for a move, relative to the floor of its transport.

FLOOR_GOALS = {"droidcon": (1.0, 0.9), "nac4": (0.8, 0.4), "arena-json": (1.0, 0.5), "arena-edn": (1.0, 0.5)}
"""For each kind the highest ratio of a move's CPU time to that of an echo, and a more ambitious goal."""
FLOOR_CONNECTIONS = 100


async def _bench(kind: str, options: Namespace, command: Sequence[str]) -> list[Row]:
    """Measure what a move costs, in a drawn game that pairs of bots play over and over.

    Saturated: each bot answers at once. Paced: all bots together make --rate moves a second. With two cores
    the server has one and the bots the other.

        moves/s         saturated: moves that the server passed on
        us a move       saturated: CPU time of the server and its child processes for a move
        floor us        the same for a round trip to an echo server (trio lines, or trio-websocket), measured
                        before and after the gateway. For `mix`, each transport counts by its share of the
                        connections
        ratio           `us a move` divided by `floor us`. `goal` and `stretch` are limits for it
        server, load    saturated: the shares of a core that the server and the bots used
        paced           paced: moves a second
        p50 ms, p99 ms  paced: time from a bot's sending of a move to the other bot's receipt
        KB each         growth of the server's memory for each connection
    """
    floors = [await _floor(kind, options)]
    report = await played_at_new(kind, options.pairs, options, command, *options.server_options)
    floors.append(await _floor(kind, options))
    saturated, paced = report.stretches
    goal, stretch = FLOOR_GOALS.get(kind, (None, None))
    return [
        Row(kind, "moves/s", saturated.rate, form=".0f"),
        Row(kind, "us a move", saturated.cpu_us),
        Row(kind, "floor us", mean(floors)),
        Row(kind, "ratio", ratio(saturated.cpu_us, mean(floors)), most=goal),
        Row(kind, "goal", goal or UNKNOWN, form=".1f"),
        Row(kind, "stretch", stretch or UNKNOWN, form=".1f"),
        Row(kind, "server", saturated.server_share, form=".0%"),
        Row(kind, "load", saturated.load_share, form=".0%"),
        Row(kind, "paced", paced.rate, form=".0f"),
        Row(kind, "p50 ms", ms(paced.times, 50)),
        Row(kind, "p99 ms", ms(paced.times, 99)),
        Row(kind, "KB each", report.kb_per_connection, form=".1f"),
    ]


async def _floor(kind: str, options: Namespace) -> float:
    """Return the CPU time of a round trip to an echo in microseconds, averaged over a kind's connections."""
    pairs, (stretch, _) = min(FLOOR_CONNECTIONS, 2 * options.pairs), both_stretches(options)
    cost = 0.0
    for transport, share in transports(kind).items():
        async with echoing(transport) as (pid, address):
            plan = Plan([(transport,)], pairs, {transport: address}, [stretch], pid, two_cores())
            cost += share * (await played(plan)).stretches[0].cpu_us
    return cost


def transports(kind: str) -> dict[str, float]:
    """Return each transport's share of the connections. The sum is 1."""
    kinds = [kind for couple in COUPLES[kind] for kind in couple]
    found = [TCP if KINDS[kind][0] == "droidcon" else WEBSOCKET for kind in kinds]
    return {name: found.count(name) / len(found) for name in sorted({*found})}


def _bench_options(parser: Parser) -> None:
    parser.count("--pairs", 100, "pairs of bots, each at a table of its own")
    parser.seconds("--seconds", 5.0, "how long to measure each, after a warm-up of at most 1 s")
    parser.count("--rate", 1000, "moves a second of all bots together where they are paced")
    parser.server_options()


# `store`: what it costs to keep results in a database. Only the last move of a game causes work for the
# database, so the cost is given for each game. The goal is about the time of all other moves.

MOST_SLOWER = 1.05
"""The highest ratio of the time of a move with a database to that without one."""


async def _store(kind: str, options: Namespace, command: Sequence[str]) -> list[Row]:
    """Measure moves without a database, twice with one, and again without; return the means.

    us a move         CPU time of all threads and processes of the server for a move
    loop us           the part of it that the main thread used
    aside us          CPU time of all other threads and processes for a game
    result p50, p99   saturated, in ms: time from the sending of a game's last move to a bot's receipt of the
                      result
    move p50, p99     paced, in ms: time of a move, without the last moves of games
    move ... slower   the ratio of these times with a database to those without. It is above 1 only if both
                      runs with a database took longer than both runs without
    game us           CPU time that it costs to keep a game
    """
    figures: dict[bool, dict[str, list[float]]] = {False: {}, True: {}}
    with TemporaryDirectory(prefix="store-") as folder:
        place = options.db or str(Path(folder) / "cost.db")
        for keeps in (False, True, True, False):
            words = ("--db", place) if keeps else ()
            for what, value in _kept(await played_at_new(kind, options.pairs, options, command, *words)):
                figures[keeps].setdefault(what, []).append(value)
    without, kept = figures[False], figures[True]
    return [
        *(Row(f"{kind}, not", what, mean(values)) for what, values in without.items()),
        *(Row(f"{kind}, kept", what, mean(values)) for what, values in kept.items()),
        *(
            Row(f"{kind}, kept", f"{what} slower", slower(without[what], kept[what]), most=MOST_SLOWER)
            for what in ("move p50", "move p99")
        ),
        Row(
            f"{kind}, kept",
            "game us",
            MOVES * (mean(kept["us a move"]) - mean(without["us a move"])),
            form=".0f",
        ),
    ]


def _kept(report: Report) -> list[tuple[str, float]]:
    full, paced = report.stretches
    return [
        ("moves/s", full.rate),
        ("us a move", full.cpu_us),
        ("loop us", 1e6 * full.server.first / full.moves),
        ("aside us", ratio(1e6 * (full.server.cpu - full.server.first), full.games)),
        ("result p50", ms(full.results, 50)),
        ("result p99", ms(full.results, 99)),
        ("move p50", ms(paced.plays, 50)),
        ("move p99", ms(paced.plays, 99)),
    ]


def slower(before: Sequence[float], after: Sequence[float]) -> float:
    """Return the mean of `after` divided by the mean of `before`.

    The result is at most 1, unless all times in `after` are longer than all times in `before`.
    """
    found = ratio(mean(after), mean(before))
    return found if min(after) > max(before) else min(found, 1.0)


def _store_options(parser: Parser) -> None:
    parser.count("--pairs", 100, "pairs of bots")
    parser.seconds("--seconds", 5.0, "how long to measure each")
    parser.count("--rate", 1000, "moves a second of all bots together where they are paced")
    parser.add_argument("--db", metavar="FILE|URL", help="the database (a new file, removed at the end)")


# `growth`: does the gateway stay fast with more games, more waiting players, and over time?

FEW = 20
"""The number of games that counts as few, for comparisons with many games."""
FEW_WAITING = 10
FIRST_POINT = 10_000
"""The number of games after which memory is first measured. Later memory is compared with it."""
START_S, CONNECT_S = 0.7, 10.0
"""The most seconds until all ports accept, and until all players are in a game."""
MOST_CPU, P99_MS, MOST_KB = 1.3, 50.0, 40.0
"""Goals with many games: CPU time of a move relative to few games, p99 in ms, KB for a connection."""
MOST_WAITING, IDLE_MS = 1.2, 2.0
"""Goals with many waiting players: cost of a game relative to few, extra CPU ms of an idle second."""
MOST_MEMORY = 1.05
"""The highest ratio of the memory after all games to the first measurement."""


async def _start(_: Namespace, command: Sequence[str]) -> list[Row]:
    """Measure the time from the start of the process until all three ports accept."""
    begun = perf_counter()
    async with running((), command) as server:
        for address in server.addresses.values():
            await (await trio.open_tcp_stream(address.host, address.port)).aclose()
        return [Row("start", "all ports accept", perf_counter() - begun, "s", START_S)]


async def _connect(options: Namespace, command: Sequence[str]) -> list[Row]:
    """Measure the time until all players are in a game; two players for each of --games connect at once."""
    async with running(ENDLESS, command) as server:
        seconds = await run(come, site(server), options.games, TABLE)
    what = f"{2 * options.games} come at once, until all play"
    return [Row("connect", what, seconds, "s", CONNECT_S)]


async def _games(kind: str, options: Namespace, command: Sequence[str]) -> list[Row]:
    """Compare the cost of a move with many games and with few. With many, also measure times and memory."""
    few, many = [await played_at_new(kind, games, options, command) for games in (FEW, options.games)]
    cost, more = few.stretches[0].cpu_us, many.stretches[0].cpu_us
    return [
        Row(kind, f"{FEW} games", cost, "us/move"),
        Row(kind, f"{options.games} games", more, "us/move"),
        Row(kind, "ratio", ratio(more, cost), most=MOST_CPU),
        Row(kind, f"p50 at {options.rate} moves/s", ms(many.stretches[1].times, 50), "ms"),
        Row(kind, f"p99 at {options.rate} moves/s", ms(many.stretches[1].times, 99), "ms", P99_MS),
        Row(kind, "memory of a connection", many.kb_per_connection, "KB", MOST_KB, ".1f"),
    ]


async def _waiting(options: Namespace, command: Sequence[str]) -> list[Row]:
    """Compare the cost of a game and of an idle second, with many waiting players and with few.

    The waiting players are Droidcon players who wish for a player who never comes. The games have seven
    moves. 20 pairs of c4-arena players who wish for each other play first, then 40 nac4 players in the lobby.
    """
    found = []
    for number in (FEW_WAITING, options.waiting):
        async with running(SHORT_SERIES, command) as server:
            found.append(await run(wait, site(server), number, options.seconds))
    few, many = found
    rows: list[Row] = []
    for kind, what in (("wish", "short game by wish"), ("lobby", "short game by the lobby's choice")):
        rows += [
            Row("waiting", f"{what}, {FEW_WAITING} wait", 1e6 * few[kind], "us/game", form=".1f"),
            Row("waiting", f"{what}, {options.waiting} wait", 1e6 * many[kind], "us/game", form=".1f"),
            Row("waiting", f"{what}, ratio", ratio(many[kind], few[kind]), most=MOST_WAITING),
        ]
    return [
        *rows,
        Row("waiting", f"idle, {FEW_WAITING} wait", 1e3 * few["idle"], "ms/s"),
        Row("waiting", f"idle, {options.waiting} wait", 1e3 * many["idle"], "ms/s"),
        Row("waiting", "idle, more by", 1e3 * (many["idle"] - few["idle"]), "ms/s", IDLE_MS),
    ]


async def _memory(options: Namespace, command: Sequence[str]) -> list[Row]:
    """Compare the memory after very many games with the memory after 10,000 games.

    The games have seven moves, between players at tables, by wish and in the lobby. All pairs of names have
    met long before the first measurement.
    """
    points = points_up_to(options.many)
    async with running(SHORT_SERIES, command) as server:
        found = await run(last, site(server), points)
    (_, _, first), (games, seconds, final) = found[0], found[-1]
    return [
        *(
            Row("memory", f"after {at} games", size / MB, "MB", form=".1f")
            for at, (_, _, size) in zip(points, found, strict=True)
        ),
        counted("memory", "short games a second", round(games / seconds)),
        Row("memory", "last memory to first", ratio(final, first), most=MOST_MEMORY, form=".3f"),
    ]


def points_up_to(many: int) -> list[int]:
    """Return the numbers of games to measure memory at: 10,000 times 1, 2, 5, 10 and so on, then `many`."""
    steps = [FIRST_POINT * step * 10**power for power in range(9) for step in (1, 2, 5)]
    return [*(point for point in steps if point < many), many]


def _growth_options(parser: Parser) -> None:
    parser.count("--games", 2000, "games at once")
    parser.count("--rate", 2000, "moves a second of all bots together where they are paced")
    parser.count("--waiting", 10_000, "players who wait for one who never comes")
    parser.count("--many", 1_000_000, "games over the life of a server")
    parser.seconds("--seconds", 5.0, "how long to measure each figure")


# `cluster`: what does a common lobby of several gateways cost, and is it as fast as one gateway? All nodes
# and Redis share one core and the load has the other, so CPU times are compared.

MOST_LOCAL = 1.05
"""The highest ratio of a move's CPU time on one node of a cluster to that on a single server."""
MOST_BETWEEN = 3.0
"""The same ratio for a move between two nodes, with the CPU time of both nodes."""
MOST_SHARE = 0.2
"""The goal for `more by`, as a share of a core."""
MORE_MS = 3.0
"""Milliseconds by which the median time of a move between two nodes may be longer."""
PAIRING_S = 5.0
"""The most seconds until all players that connect to three nodes at once are in a game."""
NODES = (2, 4, 8)
"""The numbers of idle nodes to measure."""


async def _moves(kind: str, options: Namespace, command: Sequence[str]) -> list[Row]:
    """Compare moves on a single server, on the only node of a cluster, and between two nodes.

    `ratio`: CPU time of a move, on all nodes together, divided by that on a single server. `more by`: what
    the busier of two nodes uses beyond half of what a single server uses. `off its core`: share of the time
    in which other processes kept the single server off its core.
    """
    alone, alone_paced = (await played_at_new(kind, options.games, options, command)).stretches
    found: list[Sequence[Counted]] = []
    for names in ("a", "ab"):
        async with cluster(names, ENDLESS, command) as nodes:
            first, final = nodes.nodes[0].server, nodes.nodes[-1].server
            plan = at_gateway(first, COUPLES[kind], options.games, *both_stretches(options))
            more = [*(node.pid for node in nodes.nodes[1:]), nodes.redis.pid]
            found.append((await played(replace(plan, others=by_kind(final), more=more))).stretches)
    (local, _), (between, between_paced) = found
    half = alone_paced.server_share / 2
    share = max(_nodes(between_paced)) / between_paced.seconds
    p50, later_p50 = ms(alone_paced.times, 50), ms(between_paced.times, 50)
    redis = 1e6 * between.more_cpu[-1] / between.moves
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
        Row(kind, f"{paced}, more by", share - half, "cores", MOST_SHARE, ".3f"),
        Row(kind, f"{paced}, p50 alone", p50, "ms"),
        Row(kind, f"{paced}, p50 two nodes", later_p50, "ms"),
        Row(kind, f"{paced}, p50 later by", later_p50 - p50, "ms", MORE_MS),
        Row(kind, f"{paced}, alone, off its core", alone_paced.waited_share, form=".1%"),
    ]


def _nodes(counted: Counted) -> list[float]:
    """Return the CPU seconds of each node. Redis is the last of the further processes, and is left out."""
    return [counted.server.cpu, *counted.more_cpu[:-1]]


def _cost(counted: Counted) -> float:
    """Return the CPU time of a move on all nodes together, in microseconds."""
    return 1e6 * sum(_nodes(counted)) / counted.moves


async def _pairing(options: Namespace, command: Sequence[str]) -> list[Row]:
    """Time how long players at three nodes take to meet any player, and a named player on another node."""
    rows = []
    for whom, words in ((ANYONE, "take anyone"), (WISH, "wish for one on another node")):
        async with cluster("abc", ENDLESS, command) as nodes:
            servers = [node.server for node in nodes.nodes]
            seconds = await run(come, site(*servers), options.players // 2, whom)
        what = f"{options.players} {words}, until all play"
        rows.append(Row("pairing", what, seconds, "s", PAIRING_S))
    return rows


async def _idle(options: Namespace, command: Sequence[str]) -> list[Row]:
    """Measure the CPU time of two, four and eight idle nodes, and of their Redis."""
    rows: list[Row] = []
    for number in NODES:
        async with cluster("abcdefgh"[:number], ENDLESS, command) as nodes:
            pids = [nodes.redis.pid, *(node.pid for node in nodes.nodes)]
            before = [cpu_seconds(pid) for pid in pids]
            await trio.sleep(options.seconds)
            shares = [(cpu_seconds(pid) - b) / options.seconds for pid, b in zip(pids, before, strict=True)]
        rows += [
            Row("idle", f"{number} nodes, Redis", shares[0], "cores", form=".4f"),
            Row("idle", f"{number} nodes, each of them", mean(shares[1:]), "cores", form=".4f"),
        ]
    return rows


def _cluster_options(parser: Parser) -> None:
    parser.count("--games", 100, "games at once")
    parser.count("--rate", 1000, "moves a second of all bots together where they are paced")
    parser.count("--players", 1000, "players who come to three nodes at once")
    parser.seconds("--seconds", 5.0, "how long to measure each figure")


SCENARIOS = {
    "bench": Scenario(
        "what a move costs a server, over the floor of the transport that brings it",
        {kind: Part(partial(_bench, kind)) for kind in COUPLES},
        _bench_options,
        wide=True,
    ),
    "store": Scenario(
        "what it costs to keep results in a database",
        {kind: Part(partial(_store, kind)) for kind in COUPLES},
        _store_options,
        wide=True,
    ),
    "growth": Scenario(
        "does the gateway stay as fast with more games, more waiting players and more time?",
        {
            "start": Part(_start, 5),
            "connect": Part(_connect),
            "droidcon": Part(partial(_games, "droidcon"), 3),
            "mix": Part(partial(_games, "mix"), 3),
            "waiting": Part(_waiting, 3),
            "memory": Part(_memory),
        },
        _growth_options,
    ),
    "cluster": Scenario(
        "what does a lobby that several gateways share cost, compared with one gateway?",
        {
            "droidcon": Part(partial(_moves, "droidcon"), 3),
            "mix": Part(partial(_moves, "mix"), 3),
            "pairing": Part(_pairing),
            "idle": Part(_idle),
        },
        _cluster_options,
    ),
}

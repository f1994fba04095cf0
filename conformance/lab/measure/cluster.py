"""`measure cluster`: what does one lobby of several gateways cost, and is it as good as one?

All nodes and Redis share one core and the load has the other, so what is compared is CPU time.
"""

from argparse import Namespace
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import trio

from conformance.arguments import Parser
from conformance.lab.crowds import ANYONE, WISH, come, site
from conformance.lab.load import (
    COUPLES,
    ENDLESS,
    Counted,
    at_gateway,
    both_stretches,
    by_kind,
    ms,
    played,
)
from conformance.lab.measure.scenario import Part, Scenario
from conformance.lab.meters import cpu_seconds
from conformance.lab.report import Row, difference, ratio
from conformance.lab.servers import Cluster, cluster
from conformance.lab.workers import run
from conformance.launch import running

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
COUNTS = (2, 4, 8)
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
    for count in COUNTS:
        async with cluster("abcdefgh"[:count], ENDLESS, command) as nodes:
            before = _used(nodes)
            await trio.sleep(options.seconds)
            redis, *each = (
                difference(after, begun) for after, begun in zip(_used(nodes), before, strict=True)
            )
        known = [seconds for seconds in each if seconds is not None]
        node = sum(known) / len(known) / options.seconds if known else None
        share = None if redis is None else redis / options.seconds
        rows += [
            Row("idle", f"{count} nodes, Redis", share, "cores", form=".4f"),
            Row("idle", f"{count} nodes, each of them", node, "cores", form=".4f"),
        ]
    return rows


def _used(nodes: Cluster) -> list[float | None]:
    return [cpu_seconds(nodes.redis.pid), *(cpu_seconds(node.pid) for node in nodes.nodes)]


def _options(parser: Parser) -> None:
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
    _options,
)

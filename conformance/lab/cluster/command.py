"""`python -m conformance cluster`: what does one lobby of several gateways cost, and is it as good as one?

Knows the parts, gateways with a Redis server of their own, and processes of bots. All nodes and Redis share
one core and the load has the other, so what is compared is CPU time. A figure that is compared with another
is measured in turn with that one, several times, and the medians are compared: machines drift.
"""

from argparse import Namespace
from collections import defaultdict
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from statistics import median
from typing import Any

import trio

from conformance.arguments import Parser
from conformance.lab import meters
from conformance.lab.cluster import crowd, lobby
from conformance.lab.cluster.figures import ALONE, BETWEEN, GOALS, NODE, rows_of
from conformance.lab.cluster.nodes import Cluster, together
from conformance.lab.cluster.sizes import COUNTS, busy_rows, idle_rows, sample
from conformance.lab.figures import Row, finished
from conformance.lab.jobs import as_words, done, many_files, say
from conformance.lab.parts import Part, measured
from conformance.lab.plan import COUPLES, ENDLESS, Counted, Plan, at_gateway, both_stretches, played
from conformance.lab.postgres import postgres
from conformance.lab.short_games import PAIRS, SHORT_SERIES, job_at
from conformance.launch import Server, running

KINDS = ("droidcon", "mix")
WAITING = 10
"""Players who wait beside those whose series are counted."""
MOST_SHOWN = 10
"""Differences that are told one by one."""


async def moves(sizes: Namespace) -> list[Row]:
    """Compare moves on a server that is alone, on a node, and between two nodes: saturated, and at a pace."""
    rows: list[Row] = []
    for kind in KINDS:
        saturated, paced = defaultdict[str, list[Counted]](list), defaultdict[str, list[Counted]](list)
        for setting in (ALONE, NODE, BETWEEN) * sizes.times:
            async with _playing(setting, ENDLESS) as (server, cluster):
                plan = at_gateway(server, COUPLES[kind], sizes.games, both_stretches(sizes))
                with many_files():
                    one, two = (await played(_on(cluster, plan))).stretches
            saturated[setting].append(one)
            paced[setting].append(two)
        rows += rows_of(kind, saturated, paced)
    return rows


async def series(sizes: Namespace) -> list[Row]:
    """Compare a short game, its pairing included, on a server that is alone and on the node that pairs."""
    costs = defaultdict[tuple[str, str], list[float]](list)
    words = {"job": "wait", "waiting": WAITING, "pairs": PAIRS, "seconds": sizes.seconds}
    for setting in (ALONE, NODE) * sizes.times:
        async with _playing(setting, SHORT_SERIES) as (server, _):
            for what, cost in (await job_at(server, words)).items():
                costs[what, setting] += [] if cost is None else [1e6 * cost]
    return [
        Row("series", f"{told}, {setting}", _median(costs[what, setting]), "us/game", form=".0f")
        for what, told in (("wish", "short game by wish"), ("lobby", "short game by the lobby's choice"))
        for setting in (ALONE, NODE)
    ]


async def pairing(sizes: Namespace) -> list[Row]:
    """Let players come to three nodes at once: to take anyone, and to meet one on another node."""
    rows = []
    for kind, what in crowd.KINDS.items():
        async with together("abc", ENDLESS) as cluster:
            seconds = await _crowd(cluster, kind, sizes)
        rows.append(Row("pairing", f"{sizes.players} {what}, until all play", seconds, "s", GOALS["pairing"]))
    return rows


async def nodes(sizes: Namespace) -> list[Row]:
    """Let more and more nodes stand idle, then let players come to all of them."""
    rows: list[Row] = []
    for count in COUNTS:
        async with together("abcdefgh"[:count], ENDLESS) as cluster:
            begun = await sample(cluster)
            await trio.sleep(sizes.seconds)
            idle = await sample(cluster)
            await _crowd(cluster, crowd.ANYONE, sizes)
            busy = await sample(cluster)
        rows += idle_rows(f"{count} idle ones", begun, idle)
        rows += busy_rows(f"{count}, while {sizes.players} players come", (idle, busy), sizes.players // 2)
    return rows


async def _crowd(cluster: Cluster, kind: str, sizes: Namespace) -> Any:
    """Let players come to all nodes; return how many seconds pass until all play. Raises LoadError."""
    words = {
        "nodes": [as_words(node.addresses) for node in cluster.nodes],
        "pids": cluster.pids,
        "cores": meters.two_cores(),
        "pairs": sizes.players // 2,
        "kind": kind,
    }
    return await done("conformance.lab.cluster.crowd", words)


async def mixed(sizes: Namespace) -> list[Row]:
    """Let players of all dialects meet in one lobby of three nodes, and compare all that they are told."""
    async with postgres() as database:
        found = await lobby.meetings(database.url, sizes.each)
    for line in found.differences[:MOST_SHOWN]:
        say(f"  {line}")
    return [
        Row("lobby", "games", found.games, "", form="d"),
        Row("lobby", "told otherwise than stored", len(found.differences), "", 0, "d"),
        Row("lobby", "ordered pairs of dialects that did not meet", found.unmet(0), "", 0, "d"),
        Row("lobby", "ordered pairs of nodes that did not meet", found.unmet(1), "", 0, "d"),
    ]


PARTS: Mapping[str, Part] = {
    "lobby": mixed,
    "moves": moves,
    "series": series,
    "pairing": pairing,
    "nodes": nodes,
}


@asynccontextmanager
async def _playing(setting: str, options: Sequence[str]) -> AsyncIterator[tuple[Server, Cluster | None]]:
    """A server, and its cluster, if it is a node of one. Raises LoadError, ServerError, wrapped."""
    if setting == ALONE:
        async with running(options) as server:
            yield server, None
    else:
        async with together("ab" if setting == BETWEEN else "a", options) as cluster:
            yield cluster.nodes[0], cluster


def _on(cluster: Cluster | None, plan: Plan) -> Plan:
    """Return a plan in which the two of each pair play on two nodes, if there are two."""
    if cluster is None:
        return plan
    others = None
    if len(cluster.nodes) > 1:
        others = at_gateway(cluster.nodes[1], plan.couples, plan.pairs, ()).addresses
    return replace(plan, others=others, more=[*cluster.pids[1:], cluster.redis])


def _median(values: Sequence[float]) -> float | None:
    return median(values) if values else None


def main(argv: Sequence[str]) -> int:
    """Run the command line; returns the exit status."""
    options = _parse(argv)
    if not meters.has_proc():
        print("There is no /proc here: server CPU is not known.")
    return finished(trio.run(measured, PARTS, options), options)


def _parse(argv: Sequence[str]) -> Namespace:
    parser = Parser.of("cluster", __doc__)
    parser.count("--games", 100, "games at once")
    parser.count("--each", 24, "games that everybody in the mixed lobby plays at least, three times")
    parser.count("--rate", 1000, "paced moves a second")
    parser.count("--players", 1000, "players who come to three nodes at once")
    parser.count("--times", 3, "how often to measure what is compared")
    parser.seconds("--seconds", 5.0, "how long to measure each figure")
    parser.only(PARTS)
    parser.report()
    return parser.parse_args(argv)

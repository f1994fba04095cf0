"""`python -m conformance cluster`: what does one lobby of several gateways cost, and is it as good as one?

Knows the parts, gateways with a Redis server of their own, and processes of bots. All nodes and Redis share
one core and the load has the other, so what is compared is CPU time. A figure that is compared with another
is measured in turn with that one, several times, and the medians are compared: machines drift.
"""

from argparse import Namespace
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from statistics import median

import trio

from conformance.arguments import Parser
from conformance.lab import meters
from conformance.lab.cluster import crowd, lobby
from conformance.lab.cluster.figures import ALONE, BETWEEN, GOALS, NODE, rows_of
from conformance.lab.cluster.nodes import Cluster, together
from conformance.lab.figures import Row, finished
from conformance.lab.jobs import LoadError, as_words, done, first_cause, many_files, say
from conformance.lab.plan import COUPLES, ENDLESS, Counted, Plan, at_gateway, both_stretches, played
from conformance.lab.short_games import PAIRS, SHORT_SERIES, job_at
from conformance.launch import Server, running

KINDS = ("droidcon", "mix")
WAITING = 10
"""Players who wait beside those whose series are counted."""
MOST_SHOWN = 10
"""Differences that are told one by one."""

Part = Callable[[Namespace], Awaitable[list[Row]]]


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
            words = {
                "nodes": [as_words(node.addresses) for node in cluster.nodes],
                "pids": cluster.pids,
                "cores": meters.two_cores(),
                "pairs": sizes.players // 2,
                "kind": kind,
            }
            seconds = await done("conformance.lab.cluster.crowd", words)
        rows.append(Row("pairing", f"{sizes.players} {what}, until all play", seconds, "s", GOALS["pairing"]))
    return rows


async def mixed(sizes: Namespace) -> list[Row]:
    """Let players of all dialects meet in one lobby of three nodes, and compare all that they are told."""
    if sizes.db is None:
        raise LoadError("the lobby needs --db, the URL of a PostgreSQL database")
    found = await lobby.meetings(sizes.db, sizes.each)
    for line in found.differences[:MOST_SHOWN]:
        say(f"  {line}")
    return [
        Row("lobby", "games", found.games, "", form="d"),
        Row("lobby", "told otherwise than stored", len(found.differences), "", 0, "d"),
        Row("lobby", "ordered pairs of dialects that did not meet", found.unmet(0), "", 0, "d"),
        Row("lobby", "ordered pairs of nodes that did not meet", found.unmet(1), "", 0, "d"),
    ]


PARTS: Mapping[str, Part] = {"lobby": mixed, "moves": moves, "series": series, "pairing": pairing}


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
    return finished(trio.run(measure, options), options)


def _parse(argv: Sequence[str]) -> Namespace:
    parser = Parser.of("cluster", __doc__)
    parser.count("--games", 100, "games at once")
    parser.count("--each", 24, "games that everybody in the mixed lobby plays at least, three times")
    parser.add_argument("--db", metavar="URL", help="a PostgreSQL database for the results of these")
    parser.count("--rate", 1000, "paced moves a second")
    parser.count("--players", 1000, "players who come to three nodes at once")
    parser.count("--times", 3, "how often to measure what is compared")
    parser.seconds("--seconds", 5.0, "how long to measure each figure")
    parser.only(PARTS)
    parser.report()
    return parser.parse_args(argv)


async def measure(options: Namespace) -> list[Row]:
    """Measure what the options ask for. Raises ServerError, wrapped."""
    rows: list[Row] = []
    for part in options.only:
        say(f"measuring {part} ...")
        rows += await _rows(part, options)
    return rows


async def _rows(part: str, sizes: Namespace) -> list[Row]:
    """Return what a part came to: one row that misses its goal where it came to nothing."""
    rows = [Row(part, "could not be measured", None, "", 0.0)]
    try:
        rows = await PARTS[part](sizes)
    except* LoadError as errors:
        say(f"conformance: {first_cause(errors)}")
    return rows

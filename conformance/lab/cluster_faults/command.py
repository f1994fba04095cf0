"""`python -m conformance cluster-faults`: what do players and results suffer when a part of a cluster fails?

Three nodes, a registry and a database of its own; clients of all dialects play all the time. Knows in which
order faults are done, and what must never happen. No fault is done before results flow.
"""

from argparse import Namespace
from collections.abc import Sequence
from random import Random
from time import time_ns

import trio

from conformance.arguments import Parser
from conformance.lab.cluster_faults.faults import FAULTS, Measured, Scene, came
from conformance.lab.cluster_faults.ground import Ground, cluster
from conformance.lab.cluster_faults.load import STUCK, Load
from conformance.lab.cluster_faults.verdict import Verdict, judge
from conformance.lab.figures import Row, finished
from conformance.lab.jobs import LoadError
from conformance.lab.kills.database import recounted, stored_in

NAMES = "abc"
"""Of the nodes."""
TOLD_WITHIN = 3.0
PAIRED_WITHIN = 5.0
_PATIENCE = 60.0
"""Seconds in which results have to flow."""
_AWAY = "the database has failed"
"""What a node says rightly where that was restarted."""
_SHOWN = 20
"""So many of each kind of trouble are shown."""


def main(argv: Sequence[str]) -> int:
    """Run the command line; returns the exit status."""
    parser = Parser.of("cluster-faults", __doc__)
    parser.count("--times", 50, "how often each fault is done")
    parser.count("--pairs", 18, "pairs of clients")
    parser.count("--results", 30, "how many are told before each fault")
    parser.seconds("--pause", 0.1, "how long a client thinks before it says something")
    parser.only(FAULTS)
    parser.report()
    parser.seed()
    options = parser.parse_args(argv)
    return finished(trio.run(suffer, options), options)


async def suffer(options: Namespace) -> list[Row]:
    """Do all faults; return what they came to. Raises LoadError, ServerError, wrapped."""
    print(f"seed {options.seed}", flush=True)
    token, lot = f"x{time_ns() // 1000 % 10**12}", Random(options.seed)
    measured = {name: Measured() for name in options.only}
    async with cluster(NAMES) as ground:
        load = Load(token, options.seed, ground.nodes, options.pause)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(load.run, options.pairs)
            try:
                for number in range(1, options.times + 1):
                    for name in options.only:
                        await _flow(load, options.results)
                        await trio.sleep(lot.uniform(0, 1))
                        await FAULTS[name](Scene(ground, load, lot, measured[name]))
                        print(f"{name} {number}: {measured[name]}", flush=True)
                await _flow(load, options.results)
            finally:
                load.is_over = True
        for node in ground.nodes:
            if not node.has_died:
                await node.server.stop()
                node.is_up = False
        where = ground.postgres.url
        verdict = judge(load.courses, await stored_in(where, token))
        books = await recounted(where)
    return _rows(measured, verdict, load, _troubles(ground, load, books))


async def _flow(load: Load, results: int) -> None:
    """Wait until so many more results are told. Raises LoadError."""
    wanted = load.results + results
    if not await came(lambda: load.results >= wanted, _PATIENCE):
        raise LoadError(f"within {_PATIENCE:g} s fewer than {results} results were told")


def _troubles(ground: Ground, load: Load, books: str) -> list[str]:
    """Return what should not have been: servers that died, tracebacks, words that nobody expected."""
    found = [*load.troubles]
    found += [f"{node} has died" for node in ground.nodes if node.has_died]
    for node in ground.nodes:
        lines = "".join(node.said).splitlines()
        print("\n".join(f"{node}: {line}" for line in lines[-_SHOWN:]))
        found += [f"{node}: {line}" for line in lines if _is_trouble(line)]
    return found if books.endswith(": as kept") else [*found, books]


def _is_trouble(line: str) -> bool:
    return "Traceback" in line or (" ERROR " in line and _AWAY not in line)


def _rows(measured: dict[str, Measured], verdict: Verdict, load: Load, troubles: Sequence[str]) -> list[Row]:
    kinds = {
        "told and not stored": verdict.missing,
        "stored twice": verdict.twice,
        "told differently": verdict.different,
        "lost on time": verdict.late,
        f"stuck for {STUCK:g} s": load.stuck,
        "nodes' troubles": troubles,
    }
    for kind, some in kinds.items():
        for each in some[:_SHOWN]:
            print(f"{kind}: {each}")
    rows = [
        Row("all", "results told", verdict.told, "", form="d"),
        Row("all", "told that the opponent left", verdict.cut_off, "", form="d"),
        Row("all", "games stored", verdict.stored, "", form="d"),
    ]
    rows += [Row("all", kind, len(some), "", 0, "d") for kind, some in kinds.items()]
    for name, found in measured.items():
        print("".join(f"{name}: {failure}\n" for failure in found.failures[:_SHOWN]), end="")
        rows += [
            Row(name, "players who lost an opponent", found.lost, "", form="d"),
            Row(name, "heard of it within", found.told, "s", TOLD_WITHIN),
            Row(name, "others paired within", found.paired, "s", PAIRED_WITHIN),
            Row(name, "all paired within, from its end", found.back, "s", PAIRED_WITHIN),
            Row(name, "did not come about", len(found.failures), "", 0, "d"),
        ]
    return rows

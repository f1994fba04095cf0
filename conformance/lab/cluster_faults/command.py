"""`python -m conformance cluster-faults`: what do players and results suffer when a part of a cluster fails?

Three nodes, a registry and a database of its own; clients of all dialects play all the time. Knows in which
order faults are done, and what must never happen. No fault is done before results flow.
"""

from argparse import Namespace
from collections.abc import Mapping, Sequence
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
_SLOW = ("the database has failed", "players hear of results that are not stored yet")
"""What a node says rightly where the database is away or slow."""
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
    token, measured = f"x{time_ns() // 1000 % 10**12}", {name: Measured() for name in options.only}
    async with cluster(NAMES) as ground:
        load = Load(token, options.seed, ground.nodes, options.pause)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(load.run, options.pairs)
            try:
                await _do_all(options, ground, load, measured)
            finally:
                load.is_over = True
                _show(ground)
        for node in ground.nodes:
            await node.stop()
        verdict = judge(load.courses, await stored_in(ground.postgres.url, token))
        books = await recounted(ground.postgres.url)
    return _rows(measured, verdict, load, _troubles(ground, load, books))


async def _do_all(options: Namespace, ground: Ground, load: Load, measured: Mapping[str, Measured]) -> None:
    lot = Random(options.seed)
    for number in range(1, options.times + 1):
        for name, found in measured.items():
            await _flow(load, options.results)
            await trio.sleep(lot.uniform(0, 1))
            await FAULTS[name](Scene(ground, load, lot, found))
            print(f"{name} {number}: {found}", flush=True)
    await _flow(load, options.results)


async def _flow(load: Load, results: int) -> None:
    """Wait until so many more results are told. Raises LoadError."""
    wanted = load.results + results
    if not await came(lambda: load.results >= wanted, _PATIENCE):
        raise LoadError(f"within {_PATIENCE:g} s fewer than {results} results were told")


def _show(ground: Ground) -> None:
    """Pass on the last of what the nodes said."""
    for node in ground.nodes:
        print("".join(f"{node}: {line}\n" for line in node.lines[-_SHOWN:]), end="")


def _troubles(ground: Ground, load: Load, books: str) -> list[str]:
    """Return what should not have been: servers that died, tracebacks, words that nobody expected."""
    found = [*load.troubles]
    for node in ground.nodes:
        found += [f"{node} has died"] * node.deaths
        found += [f"{node}: {line}" for line in node.lines if _is_trouble(line)]
    return found if books.endswith(": as kept") else [*found, books]


def _is_trouble(line: str) -> bool:
    return "Traceback" in line or (" ERROR " in line and not any(words in line for words in _SLOW))


def _rows(
    measured: Mapping[str, Measured], verdict: Verdict, load: Load, troubles: Sequence[str]
) -> list[Row]:
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
        rows += _measured(name, found)
    return rows


def _measured(name: str, found: Measured) -> list[Row]:
    """Return the figures of one fault, those that it has."""
    goals = {
        "heard within": (found.told, TOLD_WITHIN),
        "others paired within": (found.paired, PAIRED_WITHIN),
        "all paired within, from its end": (found.back, PAIRED_WITHIN),
    }
    rows = list[Row]()
    if found.told is not None:
        rows.append(Row(name, "players who lost an opponent", found.lost, "", form="d"))
    rows += [Row(name, what, time, "s", most) for what, (time, most) in goals.items() if time is not None]
    return [*rows, Row(name, "did not come about", len(found.failures), "", 0, "d")]

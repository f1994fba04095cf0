"""`python -m conformance survive`: is all that players were told stored, whatever breaks?

Clients of all dialects play all the time, while one fault after the other is done, each as often as asked
for, and none before results flow. At the end what the clients were told is compared with what is stored.
"""

from argparse import Namespace
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from shutil import rmtree
from tempfile import mkdtemp
from time import time_ns

import trio

from conformance.arguments import Parser, UsageError, choice
from conformance.lab.report import Row, counted, finish, some
from conformance.lab.servers import Cluster, Gateway, Log, cluster, gateway
from conformance.lab.survive import lobby, together
from conformance.lab.survive.faults import CLUSTER, DRAINS, KILL_AWAY, KILLS, Fault, Measured, Scene, flow
from conformance.lab.survive.games import LENGTH, complaints_about, stored_in
from conformance.lab.survive.players import STUCK, Load
from conformance.lab.survive.verdict import judge, rows_of
from conformance.lab.workers import say
from conformance.launch import COMMAND

OPTIONS = ("--rounds", str(LENGTH), "--games-per-pair", "0")
NODES = "abc"
DRAIN_LIMIT = 60.0
"""Seconds that a server gives its games when it stops: many times what any of these takes."""
EXPECTED = ("the database has failed", "players hear of results that only the journal has")
"""What a server says rightly where the database is away or slow."""


@dataclass(frozen=True, slots=True)
class Play:
    """Faults that are done to the same servers, and how it is usually done."""

    text: str
    faults: Mapping[str, Fault]
    words: Sequence[str]
    """Options of the servers."""
    pairs: int
    results: int
    """So many are told before each fault."""
    within: float
    pause: float = 0.0
    has_nodes: bool = False
    may_warn: bool = True
    """Whether a server may say something at all."""


PLAYS = {
    "kills": Play(
        "is every result that was told stored, once, whenever the server is killed?",
        KILLS,
        ("--log-level", "warning"),
        pairs=12,
        results=100,
        within=1.0,
    ),
    "drains": Play(
        "is every game that is on at a SIGTERM finished, told and stored?",
        DRAINS,
        ("--log-level", "warning", "--drain", f"{DRAIN_LIMIT:g}"),
        pairs=60,
        results=100,
        within=0.5,
        may_warn=False,
    ),
    "cluster": Play(
        "what do players and results suffer when a part of a cluster fails?",
        CLUSTER,
        (),
        pairs=18,
        results=30,
        within=1.0,
        pause=0.1,
        has_nodes=True,
    ),
}


def main(argv: Sequence[str]) -> int:
    """Run the command line; returns the exit status."""
    texts = {name: play.text for name, play in PLAYS.items()} | {
        "together": together.TEXT,
        "lobby": lobby.TEXT,
    }
    name = choice("survive", argv, texts)
    if name is None:
        return 0
    parser = Parser.of(f"survive {name}", texts[name])
    if name == "together":
        return together.main(parser, argv[1:])
    if name == "lobby":
        return lobby.main(parser, argv[1:])
    play = PLAYS[name]
    parser.count("--times", 50, "how often each fault is done")
    parser.count("--pairs", play.pairs, "pairs of clients")
    parser.count("--results", play.results, "how many are told before each fault")
    parser.seconds("--within", play.within, "when it is done after that, at the latest")
    parser.add_argument("--db", metavar="FILE|URL", help="the database of one server (a new file)")
    parser.only(play.faults)
    parser.report()
    parser.seed()
    options = parser.parse_args(argv[1:])
    if options.db and play.has_nodes:
        raise UsageError("--db: a cluster has a database of its own")
    if "://" in (options.db or "") and KILL_AWAY in options.only:
        raise UsageError(f"--only {KILL_AWAY}: only a file can be taken away; take the others")
    folder = Path(mkdtemp(prefix=f"{name}-"))
    rows, notes = trio.run(survive, play, options, options.db or str(folder / f"{name}.db"))
    if not options.db and any(row.is_missed for row in rows):
        notes.append(f"files: {folder}")  # somebody will want to see it
    else:
        rmtree(folder)
    return finish(f"survive {name}", rows, options, notes)


async def survive(
    play: Play, options: Namespace, place: str, command: Sequence[str] = COMMAND
) -> tuple[list[Row], list[str]]:
    """Do all faults; return the figures, and lines on what went wrong.

    Raises LoadError, ServerError, wrapped.
    """
    print(f"seed {options.seed}", flush=True)
    token, lot = f"x{time_ns() // 1000 % 10**12}", Random(options.seed)
    measured = {name: Measured() for name in options.only}
    async with _stage(play, place, command) as (gateways, nodes):
        if nodes is not None and nodes.database is not None:
            place = nodes.database.url
        load = Load(token, options.seed, gateways, play.pause)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(load.run, options.pairs)
            try:
                for number in range(1, options.times + 1):
                    for name, found in measured.items():
                        await flow(load, options.results)
                        await trio.sleep(lot.uniform(0, options.within))
                        await play.faults[name](Scene(gateways, nodes, place, load, lot, found, options))
                        say(f"{name} {number}: {found}")
                await flow(load, options.results)
            finally:
                load.is_over = True
        troubles = [*load.troubles]
        for each in gateways:
            _, status = await each.stop()
            troubles += [f"{each} has died"] * each.deaths
            troubles += [f"{each} ended with status {status}"] if status else []
            troubles += [
                f"{each}: {line}" for line in (each.log.examples if play.may_warn else each.log.lines)
            ]
        verdict = judge(load.courses, await stored_in(place, token), may_be_cut=play.has_nodes)
        troubles += await complaints_about(place)
    rows, notes = rows_of(verdict, {f"stuck for {STUCK:g} s": load.stuck, "troubles": troubles})
    for name, found in measured.items():
        rows += found.rows(name)
        notes += some(name, found.failures)
    return [*rows, counted("all", "nothing told", int(not verdict.told), 0)], notes


@asynccontextmanager
async def _stage(
    play: Play, place: str, command: Sequence[str]
) -> AsyncIterator[tuple[Sequence[Gateway], Cluster | None]]:
    """Run the servers for as long as the block lasts: nodes with a database of their own, or one."""
    words = [*OPTIONS, *play.words]
    if play.has_nodes:
        logs = [Log(expected=EXPECTED) for _ in NODES]
        async with cluster(NODES, words, command, with_database=True, logs=logs) as found:
            yield found.nodes, found
    else:
        async with gateway([*words, "--db", place], command, Log(expected=EXPECTED)) as server:
            yield [server], None

"""`python -m conformance fairness`: does nobody lose on time because the server was busy?

Knows a gateway with short clocks as a subprocess, its log, and a process of bots. Half of the games are
played while the gateway is stopped now and then for longer than anybody's clock, half on an overloaded
machine. In place of one gateway there may be a cluster: a node for each dialect, so that six in nine pairs
play between nodes, and one node is stopped at a time.
"""

import os
import subprocess
import sys
from argparse import Namespace
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import asdict
from itertools import cycle

import trio

from conformance.arguments import Parser, write_json
from conformance.dialects import DIALECTS
from conformance.lab.cluster.nodes import together
from conformance.lab.fairness.figures import Figures, table
from conformance.lab.fairness.log import Log
from conformance.lab.fairness.used import Fault
from conformance.lab.jobs import as_words, done, say
from conformance.launch import COMMAND, Server, running

BURNER = (sys.executable, "-c", "import os\nstarter = os.getppid()\nwhile os.getppid() == starter: pass")
"""Keeps a core busy while the process that started it lives."""
ENDLESS = ("--rounds", "1000000", "--games-per-pair", "0")
AT_CLUSTER = 1.0, 0.6, 300
"""Seconds of a stall and of a clock, and games at once. If a node stands still or is late for longer, another
one may begin to pair, and games that are being agreed on are called off; these bots take nothing of the kind.
"""
_JOB = "conformance.lab.fairness.job"


def main(argv: Sequence[str]) -> int:
    """Run the command line; returns the exit status."""
    options = _parse(argv)
    measured = trio.run(measure, options)
    print(table(measured), end="")
    complaints = [line for one in measured for line in one.complaints()]
    for line in complaints:
        print(line)
    write_json(options.json, [_as_data(one) for one in measured])
    return 1 if complaints else 0


def _parse(argv: Sequence[str]) -> Namespace:
    stall, clock, at_once = AT_CLUSTER if "--cluster" in argv else (2.0, 1.5, 1000)
    parser = Parser.of("fairness", __doc__)
    parser.count("--games", 10_000, "games in all")
    parser.count("--at-once", at_once, "games at once")
    parser.count("--stalls", 10, "stalls at least")
    parser.seconds("--stall", stall, "length of one")
    parser.seconds("--clock", clock, "seconds that a player has")
    parser.count("--burners", 2 * (os.cpu_count() or 1), "processes that overload")
    parser.count("--seed", 1, "seed of all lots")
    parser.add_argument("--cluster", action="store_true", help="at three nodes, one for each dialect")
    parser.report()
    return parser.parse_args(argv)


async def measure(options: Namespace, command: Sequence[str] = COMMAND) -> list[Figures]:
    """Play all games. Raises LoadError, ServerError, wrapped."""
    half = (options.games + 1) // 2
    say(f"playing {half} games with stalls ...")
    stalled = await _stretch("stalled", options, half, options.stalls, command)
    say(f"playing {half} games beside {options.burners} processes that take the cores ...")
    with burning(options.burners):
        return [stalled, await _stretch("overloaded", options, half, 0, command)]


async def _stretch(name: str, options: Namespace, games: int, stalls: int, command: Sequence[str]) -> Figures:
    logs = [Log() for _ in (DIALECTS if options.cluster else ["alone"])]
    clock = ("--clock", str(options.clock), "--idle", str(options.clock))
    async with _serving((*ENDLESS, *clock, "--seed", str(options.seed)), command, logs) as servers:
        addresses = {
            each: server.addresses[each] for each, server in zip(DIALECTS, cycle(servers), strict=False)
        }
        words = {
            "addresses": as_words(addresses),
            "pids": [server.process.pid for server in servers],
            "games": games,
            "stalls": stalls,
            **{name: getattr(options, name) for name in ("at_once", "stall", "clock", "seed")},
        }
        found = await done(_JOB, words)
    # The servers have ended, so their logs are complete.
    return Figures(
        name=name,
        faults={Fault[fault]: told for fault, told in found.pop("faults").items()},
        losses=[loss for log in logs for loss in log.losses],
        **{key: found[key] for key in ("games", "moves", "seconds", "stalls", "slept", "told", "losers")},
    )


@asynccontextmanager
async def _serving(
    words: Sequence[str], command: Sequence[str], logs: Sequence[Log]
) -> AsyncIterator[Sequence[Server]]:
    """A gateway for each log, nodes of one cluster if there are several. Raises as `together` does."""
    if len(logs) == 1:
        async with running(words, command, logs[0].hear) as server:
            yield [server]
    else:
        async with together("abc"[: len(logs)], words, command, [log.hear for log in logs]) as cluster:
            yield cluster.nodes


@contextmanager
def burning(number: int) -> Iterator[None]:
    """So many processes that use all the time that they get, for as long as the block lasts."""
    burners = [subprocess.Popen(BURNER, stdin=subprocess.DEVNULL) for _ in range(number)]
    try:
        yield
    finally:
        for burner in burners:
            burner.kill()
            burner.wait()


def _as_data(one: Figures) -> dict[str, object]:
    faults = {fault.name.lower(): told for fault, told in one.faults.items()}
    return {**asdict(one), "faults": faults, "complaints": list(one.complaints())}

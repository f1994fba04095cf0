"""`python -m conformance abuse`: what do all known attackers cost those who play?

Starts a gateway with a database and a web port, lets honest games of all dialects be played there, and then
one attack after the other, all of them at once, and at last a stop in the midst of them. Between two attacks
there is a rest, whose end is the quiet that the attacks are held against.
"""

from argparse import Namespace
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import trio

from conformance.arguments import Parser, guarded, seconds, write_json
from conformance.lab import meters
from conformance.lab.abuse.attacks import ATTACKS, at_once
from conformance.lab.abuse.figures import Memory, Outcome, Report, Said, Stop, Window, typical
from conformance.lab.abuse.table import as_data, readable
from conformance.lab.abuse.target import LIMITED, Log, Target
from conformance.lab.abuse.together import together
from conformance.lab.abuse.watched import HONEST, Guest, Watched, honest_plan, process
from conformance.lab.client import connected
from conformance.lab.figures import finished
from conformance.lab.jobs import LoadError, many_files, say
from conformance.lab.kills.database import DatabaseError
from conformance.lab.short_games import fill
from conformance.launch import COMMAND, Server, ServerError, start
from conformance.targets import Address

OPTIONS = ("--web", "0", "--rounds", "1000000", "--games-per-pair", "0")
REST = 10.0
"""Seconds between two attacks."""
SETTLING = 2.0
"""Seconds that honest games have before they are watched."""
TOGETHER = "together"
"""What all attacks at once are called."""
BEFORE_STOP = 2.0
"""Seconds of attacks before the server is told to stop."""
_PAGE = "/api/games?limit=1000"
_ANSWERING = 60.0


@dataclass(frozen=True, slots=True)
class Attacked:
    """The observations of one attack."""

    name: str
    window: Window
    memory: Memory
    said: Said
    did: Any
    """What the attackers say."""
    seconds: float
    stored: int
    """Bytes by which the database grew."""


def main(argv: Sequence[str]) -> int:
    """Run the command line; returns the exit status."""
    return guarded(_main, argv, LoadError, ServerError, DatabaseError, meters.NoSuchProcess)


def _main(argv: Sequence[str]) -> int:
    options = _parse(argv)
    if options.together is not None:
        return finished(trio.run(together, options, COMMAND), options)
    if not meters.has_proc():
        print("There is no /proc here: the server's CPU and memory are not known.")
    with TemporaryDirectory(prefix="abuse-") as folder:
        report = trio.run(attack, options, str(Path(folder) / "attacked.db"))
    print(readable(report), end="")
    write_json(options.json, as_data(report))
    return 1 if report.missed else 0


def _parse(argv: Sequence[str]) -> Namespace:
    parser = Parser.of("abuse", __doc__)
    parser.count("--games", 50, "honest games at once")
    parser.seconds("--seconds", 6.0, "how long each attack takes")
    parser.seconds("--rest", REST, "and the rest behind it")
    parser.count("--stored", 10_000, "games in the database before web attacks")
    parser.only(ATTACKS)
    parser.add_argument(
        "--together",
        type=seconds,
        metavar="SECONDS",
        help="instead let all attackers loose together, again and again for so long, beside all that a server"
        " has to do",
    )
    parser.server_options()
    parser.report()
    return parser.parse_args(argv)


async def attack(options: Namespace, where: str, command: Sequence[str] = COMMAND) -> Report:
    """Run all that the options ask for. Raises LoadError, ServerError, NoSuchProcess, wrapped."""
    log = Log()
    with many_files():
        async with trio.open_nursery() as nursery:
            words = [*OPTIONS, "--db", where, *options.server_options]
            server = await start(nursery, words, [*LIMITED, *command], log.hear)
            try:
                report = await _attacked(options, server, Target(server, log), where)
            finally:
                server.process.kill()
                with trio.CancelScope(shield=True):
                    await server.process.wait()
            nursery.cancel_scope.cancel()
    return report


async def _attacked(options: Namespace, server: Server, target: Target, where: str) -> Report:
    cores = meters.two_cores()
    core = None if cores is None else cores[1]
    if any(ATTACKS[name].reads for name in options.only):
        await fill(server, options.stored)
    if cores is not None:
        meters.pin(target.pid, cores[0])
    plan = honest_plan(server, options.games, core)
    async with process(HONEST, plan) as honest, trio.open_nursery() as nursery:
        guest = Guest(server.addresses["droidcon"])
        nursery.start_soon(guest.run)
        nursery.start_soon(target.watch)
        await trio.sleep(SETTLING)
        await _fetched(server.addresses["web"], _PAGE)
        watched = Watched(server, target, honest, guest, core)
        report = await _all(options, server, watched, where)
        nursery.cancel_scope.cancel()
    return report


async def _all(options: Namespace, server: Server, watched: Watched, where: str) -> Report:
    target = watched.target
    say("watching quiet games ...")
    rest = min(options.rest, options.seconds)
    quiets, seen = [await watched.watched(rest)], []
    crowd = at_once(options.only)
    groups = [[name] for name in options.only]
    if len(crowd) > 1:
        groups.append(crowd)
    for group in groups:
        name = group[0] if len(group) == 1 else TOGETHER
        say(f"attacking: {name} ...")
        before, said, stored = target.memory(), target.log.said, _size(where)
        target.most = None
        window, did = await _one(watched, group, options.seconds)
        worst = target.most
        await trio.sleep(options.rest - rest)
        quiets.append(await watched.watched(rest))
        memory = Memory(before, worst, target.memory())
        grown = _size(where) - stored
        seen.append(Attacked(name, window, memory, target.log.said.since(said), did, options.seconds, grown))
    page = len(await _fetched(server.addresses["web"], _PAGE))
    say("stopping the server under attack ...")
    async with watched.attackers(crowd, BEFORE_STOP + 10 * REST):
        await trio.sleep(BEFORE_STOP)
        stop = Stop(*await target.stop())
    quiet = typical(quiets)
    return Report(
        [_outcome(one, quiet) for one in seen],
        quiet,
        quiets,
        stop,
        page,
        target.log.said,
        target.log.examples,
    )


async def _one(watched: Watched, names: Sequence[str], length: float) -> tuple[Window, Any]:
    """Let attackers loose; return what was seen, and what they say they did."""
    async with watched.attackers(names, length) as attackers:
        await watched.begin()
        did = await attackers.answer()
        return await watched.end(), did


def _outcome(seen: Attacked, quiet: Window) -> Outcome:
    return Outcome(
        name=seen.name,
        quiet=quiet.moves,
        quiet_share=quiet.server_share,
        window=seen.window,
        memory=seen.memory,
        said=seen.said,
        counts=seen.did["counts"],
        attackers_share=seen.did["cpu"] / seen.seconds,
        stored=seen.stored,
        may_log=seen.name != TOGETHER and ATTACKS[seen.name].may_log,
    )


def _size(where: str) -> int:
    """Return the bytes of a database, with all files that belong to it."""
    path = Path(where)
    return sum(file.stat().st_size for file in path.parent.glob(f"{path.name}*"))


async def _fetched(address: Address, path: str) -> bytes:
    """Return what is at a path, head and all. Raises LoadError."""
    data = b""
    with trio.move_on_after(_ANSWERING):
        async with connected(address) as client:
            words = f"GET {path} HTTP/1.1\r\nHost: {address.authority}\r\nConnection: close\r\n\r\n"
            await client.say(words.encode())
            async for part in client.stream:
                data += part
            return data
    raise LoadError(f"{path} was not answered within {_ANSWERING:.0f} s")

"""`python -m conformance attacks`: what do all known attackers cost those who play?

Starts a gateway with a database and a web port, lets honest games of all dialects be played there, and then
one attack after the other, all of them at once, and at last a stop in the midst of them. Between two attacks
there is a rest, whose end is the quiet that the attacks are held against.
"""

import argparse
import json
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import trio

from conformance.arguments import Parser, count, file, guarded, seconds, write
from conformance.lab import meters
from conformance.lab.attacks.field import HONEST, Field, honest_plan, process
from conformance.lab.attacks.figures import Memory, Outcome, Report, Said, Stop, Window, typical
from conformance.lab.attacks.guest import Guest
from conformance.lab.attacks.roster import ATTACKS
from conformance.lab.attacks.table import as_data, readable
from conformance.lab.attacks.target import Log, Target
from conformance.lab.crowd.job import done, many_files, say
from conformance.lab.house_load import LoadError
from conformance.launch import COMMAND, Server, ServerError, start
from conformance.targets import Address

OPTIONS = ("--web", "0", "--rounds", "1000000", "--games-per-pair", "0")
LIMITED = ("/bin/sh", "-c", 'ulimit -n 1024; exec "$@"', "sh")
"""Before the server's command: it may have as many files open as on many systems, so they can run out."""
REST = 10.0
"""Seconds between two attacks."""
SETTLING = 2.0
"""Seconds that honest games have before they are watched."""
TOGETHER = "together"
"""What all attacks at once are called."""
MORE_TOGETHER = 100.0
"""Milliseconds that all attacks together may cost."""
BEFORE_STOP = 2.0
"""Seconds of attacks before the server is told to stop."""
_JOB = "conformance.lab.growth.job"
_PAIRS = 20
_PAGE = "/api/games?limit=1000"
_ANSWERING = 60.0


@dataclass(frozen=True, slots=True)
class Attacked:
    """What was seen of one attack."""

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
    return guarded(_main, argv, LoadError, ServerError, meters.NoSuchProcess)


def _main(argv: Sequence[str]) -> int:
    options = _parse(argv)
    if not meters.has_proc():
        print("There is no /proc here: the server's CPU and memory are not known.")
    with TemporaryDirectory(prefix="attacks-") as folder:
        report = trio.run(attack, options, str(Path(folder) / "attacked.db"))
    print(readable(report), end="")
    write(options.json, json.dumps(as_data(report), indent=2) + "\n")
    return 1 if report.missed else 0


def _parse(argv: Sequence[str]) -> argparse.Namespace:
    parser = Parser(prog="conformance attacks", description=__doc__.splitlines()[0], allow_abbrev=False)
    parser.add_argument("--games", type=count, default=50, metavar="N", help="honest games at once (50)")
    parser.add_argument("--seconds", type=seconds, default=6.0, help="how long each attack takes (6)")
    parser.add_argument(
        "--rest", type=seconds, default=REST, metavar="SECONDS", help="and the rest behind it (10)"
    )
    parser.add_argument(
        "--stored",
        type=count,
        default=10_000,
        metavar="N",
        help="games in the database before web attacks (10000)",
    )
    parser.add_argument(
        "--only", type=_names, default=[*ATTACKS], metavar="NAMES", help=f"some of {','.join(ATTACKS)}"
    )
    parser.add_argument(
        "--server-options", type=shlex.split, default=[], metavar="WORDS", help="more options of the gateway"
    )
    parser.add_argument("--json", type=file, metavar="FILE", help="write a JSON report as well")
    return parser.parse_args(argv)


def _names(text: str) -> list[str]:
    names = [word.strip() for word in text.split(",")]
    for name in names:
        if name not in ATTACKS:
            raise argparse.ArgumentTypeError(f"{name!r} is none of {', '.join(ATTACKS)}")
    return names


async def attack(options: argparse.Namespace, where: str, command: Sequence[str] = COMMAND) -> Report:
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


async def _attacked(options: argparse.Namespace, server: Server, target: Target, where: str) -> Report:
    cores = meters.two_cores()
    core = None if cores is None else cores[1]
    if any(ATTACKS[name].reads for name in options.only):
        await _fill(server, options.stored, cores)
    if cores is not None:
        meters.pin(target.pid, cores[0])
    plan = honest_plan(server, options.games, core)
    async with process(HONEST, plan) as honest, trio.open_nursery() as nursery:
        guest = Guest(server.addresses["droidcon"])
        nursery.start_soon(guest.run)
        nursery.start_soon(target.watch)
        await trio.sleep(SETTLING)
        await _fetched(server.addresses["web"], _PAGE)
        field = Field(server, target, honest, guest, core)
        report = await _all(options, server, field, where)
        nursery.cancel_scope.cancel()
    return report


async def _all(options: argparse.Namespace, server: Server, field: Field, where: str) -> Report:
    target = field.target
    say("watching quiet games ...")
    rest = min(options.rest, options.seconds)
    quiets, seen = [await field.watched(rest)], []
    together = [name for name in options.only if not ATTACKS[name].is_alone] or options.only
    groups = [[name] for name in options.only]
    if len(together) > 1:
        groups.append(together)
    for group in groups:
        name = group[0] if len(group) == 1 else TOGETHER
        say(f"attacking: {name} ...")
        before, said, stored = target.memory(), target.log.said, _size(where)
        target.most = None
        window, did = await _one(field, group, options.seconds)
        worst = target.most
        await trio.sleep(options.rest - rest)
        quiets.append(await field.watched(rest))
        memory = Memory(before, worst, target.memory())
        grown = _size(where) - stored
        seen.append(Attacked(name, window, memory, target.log.said.since(said), did, options.seconds, grown))
    page = len(await _fetched(server.addresses["web"], _PAGE))
    say("stopping the server under attack ...")
    async with field.attackers(together, BEFORE_STOP + 10 * REST):
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


async def _one(field: Field, names: Sequence[str], length: float) -> tuple[Window, Any]:
    """Let attackers loose; return what was seen, and what they say they did."""
    async with field.attackers(names, length) as attackers:
        await field.begin()
        did = await attackers.answer()
        return await field.end(), did


def _outcome(seen: Attacked, quiet: Window) -> Outcome:
    more = MORE_TOGETHER if seen.name == TOGETHER else ATTACKS[seen.name].more_ms
    return Outcome(
        name=seen.name,
        more_ms=more,
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


async def _fill(server: Server, games: int, cores: tuple[int, int] | None) -> None:
    """Have so many games played, that there is something to read. Raises LoadError."""
    say(f"playing {games} games, so that there is something to read ...")
    addresses = {kind: (address.host, address.port) for kind, address in server.addresses.items()}
    words = {"job": "last", "pairs": _PAIRS, "points": [games], "addresses": addresses}
    await done(_JOB, {**words, "pid": server.process.pid, "cores": cores})


async def _fetched(address: Address, path: str) -> bytes:
    """Return what is at a path, head and all. Raises LoadError."""
    data, begun = b"", perf_counter()
    with trio.move_on_after(_ANSWERING):
        try:
            async with await trio.open_tcp_stream(address.host, address.port) as stream:
                words = f"GET {path} HTTP/1.1\r\nHost: {address.authority}\r\nConnection: close\r\n\r\n"
                await stream.send_all(words.encode())
                async for part in stream:
                    data += part
                return data
        except (OSError, trio.BrokenResourceError) as error:
            raise LoadError(f"cannot read {path}: {error}") from None
    raise LoadError(f"{path} was not answered within {perf_counter() - begun:.0f} s")

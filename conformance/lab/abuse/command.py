"""`python -m conformance abuse`: what do all known attackers cost those who play?

Starts a gateway with a database and a web port, lets honest games of all dialects be played there, and then
one attack after the other, all of them at once, and at last a stop in the midst of them. Between two attacks
there is a rest, whose end is the quiet that the attacks are held against.
"""

from argparse import Namespace
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import trio

from conformance.arguments import Parser, seconds, write_json
from conformance.lab import meters
from conformance.lab.abuse.attacks import ATTACKS, at_once
from conformance.lab.abuse.figures import MOST_LEFT_OUT, Memory, Outcome, Report, Stop, Window, typical
from conformance.lab.abuse.table import as_data, readable
from conformance.lab.abuse.target import LIMITED, Log, Target
from conformance.lab.abuse.together import together
from conformance.lab.abuse.watched import HONEST, Guest, Watched, honest_plan
from conformance.lab.client import asked
from conformance.lab.crowds import fill
from conformance.lab.figures import finished
from conformance.lab.jobs import LoadError, many_files, process, say, settle_on
from conformance.launch import COMMAND, Server, start
from conformance.targets import Address

OPTIONS = ("--web", "0", "--rounds", "1000000", "--games-per-pair", "0")
REST = 10.0
"""Seconds between two attacks."""
SETTLING = 2.0
"""Seconds that honest games have before they are watched."""
TOGETHER = "together"
"""What all attacks at once are called."""
TRIES = 3
"""How often an attack is made, at most, where the host of the machine held up more than `MOST_LEFT_OUT`."""
BEFORE_STOP = 2.0
"""Seconds of attacks before the server is told to stop."""
_PAGE = "/api/games?limit=1000"
_ANSWERING = 60.0


def main(argv: Sequence[str]) -> int:
    """Run the command line; returns the exit status."""
    options = _parse(argv)
    if options.together is not None:
        return finished(trio.run(together, options, COMMAND), options)
    if not meters.has_proc():
        print("There is no /proc here: the server's CPU and memory are not known.")
    with TemporaryDirectory(prefix="abuse-") as folder:
        report = trio.run(attack, options, str(Path(folder) / "attacked.db"))
    print(readable(report), end="")
    write_json(options.json, as_data(report))
    return 1 if report.missed or report.is_void else 0


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
    settle_on(cores, target.pid)
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
    quiets, seen = [await watched.watched(min(options.rest, options.seconds))], list[Outcome]()
    crowd = at_once(options.only)
    groups = [[name] for name in options.only]
    if len(crowd) > 1:
        groups.append(crowd)
    for group in groups:
        outcome, found = await _undisturbed(group, options, watched, where)
        seen.append(outcome)
        quiets += found
    page = len(await _fetched(server.addresses["web"], _PAGE))
    say("stopping the server under attack ...")
    watched.send_guest_home()
    async with watched.attackers(crowd, BEFORE_STOP + 10 * REST):
        await trio.sleep(BEFORE_STOP)
        stop = Stop(*await target.stop())
    usual = typical(quiets)
    return Report(
        [replace(one, quiet_share=usual.server_share) for one in seen],
        usual,
        quiets,
        stop,
        page,
        target.log.said,
        target.log.examples,
    )


async def _undisturbed(
    names: Sequence[str], options: Namespace, watched: Watched, where: str
) -> tuple[Outcome, list[Window]]:
    """Attack until enough moves are counted, `TRIES` times at most.

    Return what came of it when most were, with what was lost and logged in any of them; and all quiet times.
    """
    said = watched.target.log.said
    tries, quiets, lost = list[Outcome](), list[Window](), list[str]()
    while not tries or (len(tries) < TRIES and tries[-1].window.left_out > MOST_LEFT_OUT):
        outcome, quiet = await _attacked_by(names, options, watched, where)
        tries.append(outcome)
        quiets.append(quiet)
        lost += outcome.window.lost
    best = min(tries, key=lambda each: each.window.left_out)
    window, said = replace(best.window, lost=lost), watched.target.log.said.since(said)
    return replace(best, window=window, said=said), quiets


async def _attacked_by(
    names: Sequence[str], options: Namespace, watched: Watched, where: str
) -> tuple[Outcome, Window]:
    """Let attackers loose; return what came of it, and what was seen at the end of the rest behind it."""
    name, target = names[0] if len(names) == 1 else TOGETHER, watched.target
    say(f"attacking: {name} ...")
    before, stored = target.memory(), _size(where)
    target.most = None
    async with watched.attackers(names, options.seconds) as attackers:
        await watched.begin()
        did = await attackers.answer()
        window = await watched.end()
    worst, rest = target.most, min(options.rest, options.seconds)
    await trio.sleep(options.rest - rest)
    quiet = await watched.watched(rest)
    outcome = Outcome(
        name=name,
        window=window,
        memory=Memory(before, worst, target.memory()),
        counts=did["counts"],
        attackers_share=did["cpu"] / options.seconds,
        stored=_size(where) - stored,
        may_log=name != TOGETHER and ATTACKS[name].may_log,
    )
    return outcome, quiet


def _size(where: str) -> int:
    """Return the bytes of a database, with all files that belong to it."""
    path = Path(where)
    return sum(file.stat().st_size for file in path.parent.glob(f"{path.name}*"))


async def _fetched(address: Address, path: str) -> bytes:
    """Return what is at a path. Raises LoadError."""
    with trio.move_on_after(_ANSWERING):
        async with asked(address, path) as client:
            return await client.rest()
    raise LoadError(f"{path} was not answered within {_ANSWERING:.0f} s")

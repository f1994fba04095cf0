"""`python -m conformance page-load`: do those who watch games cost those who play?

Knows a gateway as a subprocess, a process of bots and one of viewers. Stretches without viewers and with them
take turns on one server, and medians are compared, because machines drift.
"""

from argparse import Namespace
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import trio

from conformance.arguments import Parser
from conformance.lab import meters
from conformance.lab.client import Client, HungUp
from conformance.lab.figures import Row, finished
from conformance.lab.jobs import LoadError, Process, done, process, say
from conformance.lab.page_load import figures
from conformance.lab.page_load.figures import Visits, Watched, delays, rows_of_visits, stretch
from conformance.lab.page_load.viewers import EVENTS
from conformance.lab.plan import COUPLES, ENDLESS, Counted, Plan, Stretch, at_gateway
from conformance.launch import COMMAND, Server, running
from conformance.targets import WEB, Address

OPTIONS = (*ENDLESS, "--web", "0")
PLAYERS = "conformance.lab.page_load.players"
VIEWERS = "conformance.lab.page_load.viewers"
WARM_UP = 4.0
"""Seconds that are not measured, in which all games begin and viewers come."""
DEAF = 60.0
"""Seconds after which a viewer that does not read has to be gone, or it is told so."""
PARTING = 5.0
"""Seconds in which what was on the way to it arrives."""
_FOREVER = 86_400.0
_WEB_PROGRAM = b"adapters.web.serving"


def main(argv: Sequence[str]) -> int:
    """Run the command line; returns the exit status."""
    options = _parse(argv)
    with TemporaryDirectory() as folder:
        rows = trio.run(measure, options, str(Path(folder) / "page.db"))
    return finished(rows, options)


def _parse(argv: Sequence[str]) -> Namespace:
    parser = Parser.of("page-load", __doc__)
    parser.count("--pairs", 500, "games at once")
    parser.count("--rate", 500, "moves a second of all of them")
    parser.count("--viewers", 50, "viewers of the newest games, and as many of one game each")
    parser.count("--visitors", 10_000, "viewers who come and go")
    parser.seconds("--seconds", 10.0, "how long to measure each")
    parser.seconds("--deaf", DEAF, "how long one may not read")
    parser.count("--times", 3, "how often")
    parser.report()
    return parser.parse_args(argv)


async def measure(options: Namespace, where: str, command: Sequence[str] = COMMAND) -> list[Row]:
    """Measure what the options ask for. Raises LoadError, ServerError, NoSuchProcess, wrapped."""
    quiet: list[figures.Stretch] = []
    watched: list[Watched] = []
    async with running([*OPTIONS, "--db", where], command) as server:
        for _ in range(options.times):
            say("playing, nobody watches ...")
            quiet.append((await _played(server, options))[0])
            say(f"playing, {2 * options.viewers} watch ...")
            watched.append(await _watched(server, options))
        say(f"playing, {options.visitors} come and go ...")
        visits = await _visited(server, options)
    return [*figures.rows(quiet, watched), *rows_of_visits(visits)]


def _plan(server: Server, options: Namespace, seconds: float) -> Plan:
    stretches = [Stretch(seconds, WARM_UP, options.rate)]
    return at_gateway(server, COUPLES["droidcon"], options.pairs, stretches)


async def _played(server: Server, options: Namespace) -> tuple[figures.Stretch, Any]:
    """Return what a stretch came to, and all that the players noted. Raises LoadError."""
    words = await done(PLAYERS, asdict(_plan(server, options, options.seconds)))
    counted = words["report"]["stretches"][0]
    return stretch(Counted(**counted)), words


async def _watched(server: Server, options: Namespace) -> Watched:
    words = {"job": "watch", "games": options.pairs, "viewers": options.viewers}
    async with _viewers(server, words) as viewers:
        play, noted = await _played(server, options)
        saw = await viewers.over()
    seen = [((table, round_, number), when) for table, round_, number, when in saw["seen"]]
    late = delays(noted["sent"], seen, noted["now"] - options.seconds)
    return Watched(play, late, saw["missed"], saw["again"])


def _viewers(server: Server, words: dict[str, Any]) -> AbstractAsyncContextManager[Process]:
    """Viewers who were told what to do, for as long as the block lasts."""
    web = server.addresses[WEB]
    return process(VIEWERS, {**words, "host": web.host, "port": web.port})


async def _visited(server: Server, options: Namespace) -> Visits:
    """Let viewers come and go while games are on. Raises LoadError, NoSuchProcess, wrapped."""
    first = max(1, options.visitors // 10)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(done, PLAYERS, asdict(_plan(server, options, _FOREVER)))
        await _visits(server, options, first)
        before = _memory(server)
        begun = trio.current_time()
        async with _deaf(server.addresses[WEB]) as deaf:
            await _visits(server, options, options.visitors - first)
            await trio.sleep_until(begun + options.deaf)
            is_served = not await _ends(deaf)
        after = _memory(server)
        nursery.cancel_scope.cancel()
    return Visits(after[0] - before[0], after[1] - before[1], is_served)


async def _visits(server: Server, options: Namespace, number: int) -> None:
    words = {"job": "visit", "games": options.pairs, "visitors": number}
    async with _viewers(server, words) as viewers:
        await viewers.over()


@asynccontextmanager
async def _deaf(web: Address) -> AsyncIterator[Client]:
    """A viewer that asks for as much as there is, and does not read."""
    with trio.socket.socket() as sock:
        sock.setsockopt(trio.socket.SOL_SOCKET, trio.socket.SO_RCVBUF, 4096)
        await sock.connect((web.host, web.port))
        client = Client(trio.SocketStream(sock))
        await client.say(f"GET {EVENTS}?most=100 HTTP/1.0\r\nHost: {web.authority}\r\n\r\n".encode())
        yield client


async def _ends(client: Client) -> bool:
    """Return whether the server has hung up, behind what was on the way."""
    with trio.move_on_after(PARTING):
        try:
            await client.drain()
        except HungUp:
            return True
    return False


def _memory(server: Server) -> tuple[float, float]:
    """Return the megabytes of the process that plays, and of that which serves the web. Raises LoadError."""
    pid = server.process.pid
    web = next((each for each in meters.children_of(pid) if _serves_web(each)), None)
    if web is None:
        raise LoadError("the process that serves the web is not found")
    return (meters.rss_bytes(pid) or 0) / 2**20, (meters.rss_bytes(web) or 0) / 2**20


def _serves_web(pid: int) -> bool:
    try:
        return _WEB_PROGRAM in (meters.PROC / str(pid) / "cmdline").read_bytes()
    except OSError:  # it has just ended
        return False

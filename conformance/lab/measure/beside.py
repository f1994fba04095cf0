"""How much other work slows down games: readers of the web, viewers of the page, and house players.

One server is measured with this work and without it. A game is identified by its table and round, so the
processes of players and viewers can match their records of a move without communicating.
"""

import json
import os
from argparse import Namespace
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any, TypeAlias

import trio

from conformance.arguments import Parser
from conformance.lab import meters
from conformance.lab.client import Client, HouseGames, HungUp, asked, connected, request
from conformance.lab.crowds import SHORT_SERIES, fill
from conformance.lab.load import (
    COUPLES,
    ENDLESS,
    MOVES,
    Plan,
    Report,
    Stretch,
    at_gateway,
    by_kind,
    played,
)
from conformance.lab.measure.scenario import Part, Scenario
from conformance.lab.report import MB, Row, counted, ms, ratio
from conformance.lab.servers import until
from conformance.lab.workers import LoadError, received, run, worker
from conformance.launch import Server, running
from conformance.targets import WEB, Address

TIMES, MORE_MS = 1.5, 2.0
"""The p99 of moves may be this many times the p99 without other work, or this many ms longer."""
LEAD = 1.0
"""Seconds for which readers read before and after the measurement."""
_OPTIONS = ("--rounds", "1000000", "--web", "0")


async def _beside(readers: int, path: str, options: Namespace, server: Server) -> list[Row]:
    """Time moves without readers, and while 20 clients read pages of 1,000 games, or 50 read exports.

    `move`: time from a bot's sending of a move to the other bot's receipt, without the last moves of games.
    `result`: time from the sending of the last move to a bot's receipt of the result. Readers give way to all
    other processes.
    """
    part, stretch = f"{readers} at {path}", Stretch(options.seconds, options.rate)
    plan = Plan(COUPLES["droidcon"], options.pairs, by_kind(server), [stretch], server.process.pid)
    quiet = (await played(plan)).stretches[0]
    seconds = stretch.warm_up + stretch.seconds + 2 * LEAD
    async with worker(read, server.addresses[WEB], path, readers, seconds) as others:
        await trio.sleep(LEAD)
        beside = (await played(plan)).stretches[0]
        memory = max(meters.rss_bytes(child) for child in meters.children_of(server.process.pid))
        answers, size = await others.receive()
    if not size:
        raise LoadError("those who read by web got nothing")
    return [
        *(
            Row(part, f"{what}, {word}", value, "ms")
            for word, found in (("quiet", quiet), ("read", beside))
            for what, value in (
                ("move p50", ms(found.plays, 50)),
                ("move p99", ms(found.plays, 99)),
                ("result p99", ms(found.results, 99)),
            )
        ),
        allowed(part, ms(quiet.plays, 99), ms(beside.plays, 99)),
        Row(part, "answers", answers, form=".0f"),
        Row(part, "what they got", size / seconds / MB, "MB/s", form=".1f"),
        Row(part, "memory of the web", memory / MB, "MB", form=".0f"),
    ]


def allowed(part: str, quiet: float, busy: float) -> Row:
    """Return a row for the p99 of moves, as a fraction of the allowed time."""
    most = max(TIMES * quiet, quiet + MORE_MS)
    return Row(part, f"move p99 over {TIMES:g} times quiet, or {MORE_MS:g} ms more", busy / most, most=1.0)


@asynccontextmanager
async def _with_stored_games(options: Namespace, command: Sequence[str]) -> AsyncIterator[Server]:
    """Run a gateway with stored games in its database."""
    with TemporaryDirectory(prefix="web-") as folder:
        place = str(Path(folder) / "web.db")
        async with running([*SHORT_SERIES, "--db", place], command) as server:
            await fill(server, options.games)
        async with running([*_OPTIONS, "--db", place], command) as server:
            yield server


# In the process of readers.


def read(web: Address, path: str, readers: int, seconds: float) -> tuple[int, int]:
    """Read a path repeatedly with `readers` clients; return the numbers of answers and bytes received.

    They run at a low priority, because real clients would be on other machines.
    """
    os.nice(19)
    got = [0, 0]
    trio.run(_read_all, web, path, readers, seconds, got)
    return got[0], got[1]


async def _read_all(web: Address, path: str, readers: int, seconds: float, got: list[int]) -> None:
    with trio.move_on_after(seconds):
        async with trio.open_nursery() as nursery:
            for _ in range(readers):
                nursery.start_soon(_read_on, web, path, got)


async def _read_on(web: Address, path: str, got: list[int]) -> None:
    while True:
        async with asked(web, path) as client:
            with suppress(HungUp):
                while True:
                    got[1] += len(await client.heard())
            got[0] += 1


def _web_options(parser: Parser) -> None:
    parser.count("--pairs", 50, "pairs of bots")
    parser.count("--rate", 1000, "moves a second of all bots together")
    parser.count("--games", 64_000, "games in the database")
    parser.seconds("--seconds", 5.0, "how long to measure each")


# `page`: do viewers slow down games, and how soon do they see a move?

MOST_CPU = 1.05
"""The highest ratio of the CPU time for a move with viewers to that without viewers."""
SIGHT_MS = 100.0
"""The goal for the p99 of the time until a move reaches a viewer, in milliseconds."""
GROWTH_MB = 5.0
"""Megabytes by which a process may have grown after all visitors have left."""
STARTING = 30.0
"""Seconds within which the expected number of games must have begun."""
WARM_UP = 4.0
"""Seconds before the measurement, in which all games begin and viewers connect."""
PARTING = 5.0
"""Seconds to receive the buffered bytes for a viewer that did not read."""
AT_ONCE = 50
"""Visitors that are connected at one time."""
EVENTS = "/api/live/events"
_FOREVER = 86_400.0
_WEB_PROGRAM = b"adapters.web.serving"
_NICENESS = 10

Move: TypeAlias = tuple[str, int, int]
"""The table, the round (from 1), and the number of the move in the game (from 1)."""


def _page_plan(options: Namespace, server: Server, seconds: float) -> Plan:
    stretch = Stretch(seconds, options.rate, min(WARM_UP, 10 * options.seconds))
    return replace(at_gateway(server, COUPLES["droidcon"], options.pairs, stretch), notes_moves=True)


async def _watch(options: Namespace, server: Server) -> list[Row]:
    """Measure moves without viewers, then with viewers.

    Half of the viewers watch the newest games, the other half watch one game each.

    `a move`: CPU time of the gateway's main thread. `until seen`: time from a bot's sending of a move to a
    viewer's receipt. `moves missed`: moves that a viewer did not receive although it should have, or received
    twice.
    """
    quiet = await played(_page_plan(options, server, options.seconds))
    async with worker(watch, server.addresses[WEB], options.pairs, options.viewers) as viewers:
        watched = await played(_page_plan(options, server, options.seconds))
        all_seen: list[Sightings] = await viewers.finish()
    cpu, cost = _cpu_us(quiet), _cpu_us(watched)
    p99, late = (ms(report.stretches[0].plays, 99) for report in (quiet, watched))
    seen = (each for one in all_seen for each in one.seen)
    found = delays(watched.sent, seen, watched.now - options.seconds)
    if not found:
        raise LoadError("viewers saw no move")
    return [
        Row("cpu", "a move, unwatched", cpu, "us", form=".1f"),
        Row("cpu", "a move, watched", cost, "us", form=".1f"),
        Row("cpu", "watched over unwatched", ratio(cost, cpu), most=MOST_CPU, form=".3f"),
        Row("moves", "p99 unwatched", p99, "ms"),
        Row("moves", "p99 watched", late, "ms"),
        allowed("moves", p99, late),
        counted("viewers", "moves seen", len(found)),
        Row("viewers", "p50 until seen", ms(found, 50), "ms", form=".1f"),
        Row("viewers", "p99 until seen", ms(found, 99), "ms", SIGHT_MS, form=".1f"),
        counted("viewers", "moves missed", sum(one.missed for one in all_seen), 0),
        counted("viewers", "snapshots again", sum(one.snapshots - 1 for one in all_seen)),
    ]


def _cpu_us(report: Report) -> float:
    """Return the CPU time of the gateway's main thread for a move, in microseconds."""
    counted = report.stretches[0]
    return 1e6 * counted.server.first / counted.moves


def delays(
    sent: Mapping[str, Sequence[float]], seen: Iterable[tuple[Move, float]], since: float
) -> list[float]:
    """Return how long each move sent after `since` took. Raises LoadError for a move that was never sent."""
    found = []
    for (table, round_, number), when in seen:
        moves, at = sent.get(table, ()), (round_ - 1) * MOVES + number - 1
        if at >= len(moves):
            raise LoadError(f"a viewer saw move {number} of round {round_} at {table}, which nobody made")
        if moves[at] >= since:
            found.append(when - moves[at])
    return found


async def _visit(options: Namespace, server: Server) -> list[Row]:
    """Measure memory while viewers connect and leave, and one viewer does not read.

    `growth`: memory after all visitors, minus memory after a tenth of them.
    """
    first = max(1, options.visitors // 10)
    web = server.addresses[WEB]
    async with trio.open_nursery() as nursery:
        nursery.start_soon(played, _page_plan(options, server, _FOREVER))
        await run(visit, web, options.pairs, first)
        before, begun = _memory(server), trio.current_time()
        async with _deaf(web) as deaf:
            await run(visit, web, options.pairs, options.visitors - first)
            await trio.sleep_until(begun + options.deaf)
            is_served = not await _ends(deaf)
        after = _memory(server)
        nursery.cancel_scope.cancel()
    playing, serving = (later - earlier for earlier, later in zip(before, after, strict=True))
    return [
        Row("visitors", "growth of the process that plays", playing, "MB", GROWTH_MB, ".1f"),
        Row("visitors", "growth of the process of the web", serving, "MB", GROWTH_MB, ".1f"),
        counted("visitors", "served though they do not read", int(is_served), 0),
    ]


@asynccontextmanager
async def _deaf(web: Address) -> AsyncIterator[Client]:
    """Request the events of as many games as possible, and do not read them."""
    with trio.socket.socket() as sock:
        sock.setsockopt(trio.socket.SOL_SOCKET, trio.socket.SO_RCVBUF, 4096)
        await sock.connect((web.host, web.port))
        client = Client(trio.SocketStream(sock))
        await client.say(request(f"{EVENTS}?most=100", web))
        yield client


async def _ends(client: Client) -> bool:
    """Read the buffered bytes; return whether the server has then hung up."""
    with trio.move_on_after(PARTING):
        try:
            await client.drain()
        except HungUp:
            return True
    return False


def _memory(server: Server) -> tuple[float, float]:
    """Return the megabytes of the gateway's main process and of its web process. Raises LoadError."""
    pid = server.process.pid
    web = next((each for each in meters.children_of(pid) if meters.runs(each, _WEB_PROGRAM)), None)
    if web is None:
        raise LoadError("the process that serves the web is not found")
    return meters.rss_bytes(pid) / MB, meters.rss_bytes(web) / MB


@asynccontextmanager
async def _with_page(_: Namespace, command: Sequence[str]) -> AsyncIterator[Server]:
    with TemporaryDirectory(prefix="page-") as folder:
        database = str(Path(folder) / "page.db")
        async with running([*ENDLESS, "--web", "0", "--db", database], command) as server:
            yield server


# In the process of viewers. It has a low priority, because real viewers would be on other machines.


@dataclass(slots=True)
class _Game:
    table: str
    round: int
    moves: int


@dataclass(slots=True)
class Sightings:
    """What one viewer has received: the moves of an event stream, in order, and a count of missed moves."""

    seen: list[tuple[Move, float]] = field(default_factory=list)
    """Each move, and when it arrived."""
    snapshots: int = 0
    missed: int = 0
    """Moves that the viewer did not receive although it should have, or received twice."""
    _games: dict[str, _Game] = field(default_factory=dict)
    _event: str = ""
    _data: str = ""

    def line(self, line: str, now: float) -> None:
        """Read a line of the stream, without its line ending. Raises ValueError, KeyError if invalid."""
        name, _, value = line.partition(": ")
        if name == "event":
            self._event = value
        elif name == "data":
            self._data = value
        elif not line and self._event:
            self._take(self._event, json.loads(self._data), now)
            self._event = ""

    def _take(self, event: str, data: Mapping[str, Any], now: float) -> None:
        match event:
            case "snapshot":
                self.snapshots += 1
                self._games = {game["game"]: _game(game) for game in data["games"]}
            case "started":
                self._games[data["game"]] = _game(data)
            case "moved":
                game, number = self._games[data["game"]], data["number"]
                self.missed += abs(number - game.moves - 1)
                game.moves = number
                self.seen.append(((game.table, game.round, number), now))
            case "gone":
                del self._games[data["game"]]


def _game(data: Mapping[str, Any]) -> _Game:
    return _Game(data["table"] or "", data["round"], len(data["moves"]))


def watch(web: Address, games: int, viewers: int) -> list[Sightings]:
    """Run `viewers` viewers of the newest games, and as many viewers of one game each, until stdin ends."""
    os.nice(_NICENESS)
    return trio.run(_watch_all, web, games, viewers)


async def _watch_all(web: Address, games: int, viewers: int) -> list[Sightings]:
    newest = await _games_of(web, games)
    paths = [EVENTS] * viewers + [f"{EVENTS}?game={game}" for game in newest[:viewers]]
    all_seen = [Sightings() for _ in paths]
    async with trio.open_nursery() as nursery:
        for path, seen in zip(paths, all_seen, strict=True):
            nursery.start_soon(_view, web, path, seen)
        try:
            await trio.to_thread.run_sync(received, abandon_on_cancel=True)
        except EOFError:
            nursery.cancel_scope.cancel()
    return all_seen


async def _view(web: Address, path: str, seen: Sightings) -> None:
    async with asked(web, path) as client:
        while True:
            line = await client.line()
            seen.line(line.decode(), perf_counter())


def visit(web: Address, games: int, visitors: int) -> None:
    """Connect `visitors` viewers, of all games or of one player, that leave after the first snapshot."""
    os.nice(_NICENESS)
    trio.run(_visit_all, web, games, visitors)


async def _visit_all(web: Address, games: int, visitors: int) -> None:
    await _games_of(web, games)
    numbers = iter(range(visitors))
    async with trio.open_nursery() as nursery:
        for _ in range(AT_ONCE):
            nursery.start_soon(_come_and_go, web, numbers)


async def _come_and_go(web: Address, numbers: Iterator[int]) -> None:
    for number in numbers:
        path = EVENTS if number % 2 else f"{EVENTS}?player=nobody{number}"
        async with asked(web, path) as client:
            seen = Sightings()
            while not seen.snapshots:
                seen.line((await client.line()).decode(), 0.0)


async def _games_of(web: Address, number: int) -> list[str]:
    """Wait until `number` games are being played; return the ids of the newest ones. Raises LoadError."""
    with trio.move_on_after(STARTING):
        while True:
            async with asked(web, "/api/live?most=100") as client:
                snapshot = json.loads(await client.rest())
            if snapshot["playing"] >= number:
                return [game["game"] for game in snapshot["games"]]
            await trio.sleep(0.2)
    raise LoadError(f"there are not {number} games to watch within {STARTING:g} s")


def _page_options(parser: Parser) -> None:
    parser.count("--pairs", 500, "games at once")
    parser.count("--rate", 500, "moves a second of all of them")
    parser.count("--viewers", 50, "viewers of the newest games, and as many of one game each")
    parser.count("--visitors", 10_000, "viewers who come and go")
    parser.seconds("--seconds", 10.0, "how long to measure each")
    parser.seconds("--deaf", 60.0, "how long one may not read")


# `house`: do thinking house players hold up games between other players? Clients keep house players busy
# while a pair of bots that answer at once is timed.

LIMIT_MS = 20.0
"""The goal for the p99 of moves, in milliseconds."""
PATIENCE = 15.0
"""Seconds within which all games must begin."""


async def _house(options: Namespace, command: Sequence[str]) -> list[Row]:
    """Time the moves of a pair of Droidcon bots while house players think in other games."""
    games = HouseGames()
    async with (
        running(("--rounds", "1000000"), command) as server,
        AsyncExitStack() as stack,
        trio.open_nursery() as nursery,
    ):
        for number in range(options.games):
            client = await stack.enter_async_context(connected(server.addresses["droidcon"]))
            await client.enter(f"load{number}")
            nursery.start_soon(games.play, client, options.player)
        if not await until(lambda: games.on == options.games, PATIENCE):
            doubt = "" if games.on else f"; is {options.player!r} a player of the server's own?"
            raise LoadError(f"{games.on} of {options.games} games began within {PATIENCE:g} s{doubt}")
        stretch = Stretch(options.seconds, warm_up=min(1.0, options.seconds))
        report = await played(Plan(COUPLES["droidcon"], 1, by_kind(server), [stretch], server.process.pid))
        nursery.cancel_scope.cancel()
    moves = report.stretches[0].times
    return [
        counted("games", "on", games.on),
        counted("games", "finished", games.finished),
        counted("games", "house moves", games.answers),
        counted("moves", "measured", len(moves)),
        Row("moves", "p50", ms(moves, 50), "ms"),
        Row("moves", "p99", ms(moves, 99), "ms", LIMIT_MS),
        Row("moves", "max", ms(moves, 100), "ms"),
    ]


def _house_options(parser: Parser) -> None:
    parser.count("--games", 20, "games with house players")
    parser.seconds("--seconds", 20.0, "how long to measure")
    parser.add_argument("--player", default="aima", metavar="NAME", help="the house player (aima)")


SCENARIOS = {
    "web": Scenario(
        "do readers of the web pages slow down the games?",
        {
            "pages": Part(partial(_beside, 20, "/api/games?limit=1000"), 3),
            "exports": Part(partial(_beside, 50, "/api/export.jsonl"), 3),
        },
        _web_options,
        _with_stored_games,
    ),
    "page": Scenario(
        "do viewers of games slow the games down, and how soon do they see a move?",
        {"watch": Part(_watch, 3), "visit": Part(_visit)},
        _page_options,
        _with_page,
    ),
    "house": Scenario(
        "do house players that think slow down the games between bots?",
        {"thinking": Part(_house)},
        _house_options,
    ),
}

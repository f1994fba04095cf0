"""Is every result that a player received also stored, whatever breaks?

Clients of all dialects play all the time. Each fault is caused and repaired --times times, one fault after
the other. Before each fault, more results must have arrived. At the end the results that clients received are
compared with the stored ones.

No two games of a pair are the same, so a result identifies its game. A client checks every message that it
receives, and reads its socket to the end after the server has died.

told and not stored    results that a client received, and that are not in the database, or differ there
    stored twice           results that are in the database more than once
    told differently       a client was told that its opponent left, but the game ended in another way
    stored and not played  stored games that no two clients have played
    stuck                  pairs that received nothing for 20 s
    troubles               messages out of place; hang-ups in a game; servers that died, logged an error or
                           did not end with status 0; problems that `c4gateway recount` and SQLite's
                           integrity_check find
    heard within           time until a client was told that its opponent's node is lost
    paired within          time until two clients met. They connected at the fault, or after its repair
    did not come about     clients that were not told, or did not meet, within 20 s
"""

import os
import signal
from argparse import Namespace
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import combinations
from random import Random
from time import monotonic, time_ns

import trio

from conformance.arguments import Parser, UsageError, choice
from conformance.lab.report import Row, counted, finish, in_folder, some
from conformance.lab.servers import Cluster, Gateway, Log, cluster, gateway, until
from conformance.lab.survive import connections, lobby, together, tournaments
from conformance.lab.survive.players import LENGTH, STUCK, Load, Player
from conformance.lab.survive.verdict import complaints_about, judge, rows_of, stored_in
from conformance.lab.workers import LoadError, say
from conformance.launch import COMMAND

AWAY = 10.0
"""Seconds for which a node or Redis is stopped."""
LAPSE = 4.0
"""Seconds within which nodes notice that Redis does not answer. Each node then pairs its own players."""
LIMIT = 20.0
"""The longest wait, in seconds."""
PATIENCE = 60.0
"""Seconds within which results must arrive."""
HEARD, PAIRED, BACK = "heard within", "others paired within", "all paired within, from its end"
GOALS: Mapping[str, float | None] = {HEARD: 3.0, PAIRED: 5.0, BACK: 5.0}
"""The longest allowed waits in seconds; None for waits without a goal."""


@dataclass(slots=True)
class Measured:
    """The measurements of one fault, over all times that it was caused."""

    longest: dict[str, float] = field(default_factory=dict)
    """The longest waits in seconds, by what was awaited."""
    counts: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)
    """Descriptions of events that did not happen in time."""

    def __str__(self) -> str:
        times = [f"{what} {seconds:.2f} s" for what, seconds in self.longest.items()]
        return "; ".join([*times, *(["FAILURES"] if self.failures else [])]) or "done"

    def waited(self, what: str, seconds: float) -> None:
        """Record a wait if it is the longest of its kind."""
        self.longest[what] = max(seconds, self.longest.get(what, 0.0))

    def rows(self, name: str) -> list[Row]:
        """Return the figures."""
        return [
            *(counted(name, what, number) for what, number in self.counts.items()),
            *(Row(name, what, seconds, "s", GOALS.get(what)) for what, seconds in self.longest.items()),
            counted(name, "did not come about", len(self.failures), 0),
        ]


@dataclass(frozen=True, slots=True)
class Scene:
    """The place of a fault: one gateway with a database, or a cluster."""

    gateways: Sequence[Gateway]
    cluster: Cluster | None
    place: str
    """The database's file, or its URL."""
    load: Load
    lot: Random
    measured: Measured
    options: Namespace

    async def others_go_on(self, node: Gateway) -> None:
        """Wait until players have received the message that their opponents on `node` are lost.

        Also waits until the other nodes pair players.

        Waits are measured from now on. Players whose dialect has no message for such a loss are left out.
        """
        since, others = monotonic(), [each for each in self.gateways if each is not node]
        bereaved = [
            player
            for course in self.load.live
            for player, other in (course.players, course.players[::-1])
            if other.gateway is node
            and player.gateway is not node
            and player.waits
            and player.hears_of_leaving
        ]
        self.measured.counts["players who lost an opponent"] += len(bereaved)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._all_hear, bereaved, since)
            nursery.start_soon(self.meet, PAIRED, [*combinations(others, 2)])

    async def all_meet(self) -> None:
        """For each two nodes, connect a new pair of players to them; wait until all pairs have met."""
        await self.meet(BACK, [*combinations(self.gateways, 2)])

    async def each_goes_on(self) -> None:
        """Connect a new pair of players to each node, and wait until all pairs have met."""
        await self.meet(PAIRED, [[node] for node in self.gateways])

    async def meet(self, what: str, wanted: Sequence[Sequence[Gateway]]) -> None:
        """Connect a pair for each entry of `wanted`; record how long the pairs take to meet.

        An entry has one or two nodes.
        """
        courses = [self.load.meet(nodes) for nodes in wanted]
        await until(lambda: all(one.begun is not None for one in courses), LIMIT)
        for one in courses:
            if one.begun is None:
                self.measured.failures.append(f"{one.players[0]} and {one.players[1]} did not meet")
            else:
                self.measured.waited(what, one.begun - one.created)

    async def _all_hear(self, players: Sequence[Player], since: float) -> None:
        await until(lambda: all(player.free_at >= since or player.is_done for player in players), LIMIT)
        for player in players:
            if player.free_at >= since:
                self.measured.waited(HEARD, player.free_at - since)
            else:
                self.measured.failures.append(f"{player} heard nothing of its lost opponent")


async def flow(load: Load, results: int) -> None:
    """Wait until clients have received `results` more results. Raises LoadError."""
    wanted = load.results + results
    if not await until(lambda: load.results >= wanted, PATIENCE):
        raise LoadError(f"within {PATIENCE:g} s fewer than {results} results were told")


# Faults of one gateway.


async def kill_server(scene: Scene) -> None:
    """Kill only the server. The process that writes its results finishes its current work."""
    await scene.gateways[0].kill()
    await scene.gateways[0].start()


async def kill_all(scene: Scene) -> None:
    """Kill all processes of the server."""
    await scene.gateways[0].kill(with_children=True)
    await scene.gateways[0].start()


async def kill_away(scene: Scene) -> None:
    """Kill the server while its database is missing and the latest results are only in its journal."""
    os.replace(scene.place, scene.place + ".away")
    try:
        await flow(scene.load, scene.options.pairs)
        await scene.gateways[0].kill()
    finally:
        os.replace(scene.place + ".away", scene.place)
    await scene.gateways[0].start()


async def drain(scene: Scene) -> None:
    """Send SIGTERM; the server first finishes the current games."""
    server, measured = scene.gateways[0], scene.measured
    measured.counts["clients in a game then"] += sum(
        player.waits for one in scene.load.live for player in one.players
    )
    seconds, status = await server.stop()
    measured.waited("drained within", seconds)
    if status != 0:
        measured.failures.append(f"{server} ended with status {status} after SIGTERM")
    await server.start()


# Faults of a cluster.


async def _kill(scene: Scene, node: Gateway) -> None:
    await node.kill()
    await scene.others_go_on(node)
    await node.start()
    await scene.all_meet()


async def kill_pairing(scene: Scene) -> None:
    """Kill the node that pairs."""
    assert scene.cluster is not None
    await _kill(scene, await scene.cluster.pairing() or scene.gateways[0])


async def kill_holding(scene: Scene) -> None:
    """Kill the node that holds the most games with other nodes, except the node that pairs."""
    await _kill(scene, (await _not_pairing(scene))[0])


async def kill_other(scene: Scene) -> None:
    """Kill the node that holds the fewest games with other nodes, except the node that pairs."""
    await _kill(scene, (await _not_pairing(scene))[-1])


async def _not_pairing(scene: Scene) -> list[Gateway]:
    """Return the nodes that do not pair, sorted: those that hold the most games with other nodes first."""
    assert scene.cluster is not None
    pairing = await scene.cluster.pairing()
    players = [player for one in scene.load.live if len(one.gateways) > 1 for player in one.players]
    held = Counter(player.gateway for player in players if player.is_host)
    return sorted((node for node in scene.gateways if node is not pairing), key=lambda node: -held[node])


async def kill_redis(scene: Scene) -> None:
    """Kill Redis, and start it again without its data."""
    assert scene.cluster is not None
    await scene.cluster.redis.kill()
    await trio.sleep(scene.lot.uniform(0, LAPSE))
    await scene.each_goes_on()
    await scene.cluster.redis.start()
    await scene.all_meet()


async def stop_redis(scene: Scene) -> None:
    """Stop Redis for 10 s with SIGSTOP."""
    assert scene.cluster is not None
    scene.cluster.redis.send(signal.SIGSTOP)
    try:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(trio.sleep, AWAY)
            await trio.sleep(scene.lot.uniform(0, LAPSE))
            await scene.each_goes_on()
    finally:
        scene.cluster.redis.send(signal.SIGCONT)
    await scene.all_meet()


async def stop_node(scene: Scene) -> None:
    """Stop a random node for 10 s with SIGSTOP."""
    node = scene.lot.choice(scene.gateways)
    node.halt()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(scene.others_go_on, node)
        await trio.sleep(AWAY)
        node.resume()
    await scene.all_meet()


async def restart_postgres(scene: Scene) -> None:
    """Restart PostgreSQL, as after a crash."""
    assert scene.cluster is not None
    assert scene.cluster.database is not None
    await scene.cluster.database.restart()
    await scene.all_meet()


Fault = Callable[[Scene], Awaitable[None]]
KILL_AWAY = "kill-away"
KILLS: Mapping[str, Fault] = {"kill-server": kill_server, "kill-all": kill_all, KILL_AWAY: kill_away}
DRAINS: Mapping[str, Fault] = {"drain": drain}
CLUSTER: Mapping[str, Fault] = {
    "kill-pairing": kill_pairing,
    "kill-holding": kill_holding,
    "kill-other": kill_other,
    "kill-redis": kill_redis,
    "stop-redis": stop_redis,
    "stop-node": stop_node,
    "restart-postgres": restart_postgres,
}


OPTIONS = ("--rounds", str(LENGTH), "--games-per-pair", "0", "--house", "none")
NODES = "abc"
DRAIN_LIMIT = 60.0
"""Seconds that a stopping server gives its games: many times longer than a game takes."""
EXPECTED = (
    "the database has failed",
    "players hear of results that only the journal has",
    "tournaments wait, since something they need fails",
)
"""Errors that a server may log if its database is missing or slow."""


@dataclass(frozen=True, slots=True)
class Play:
    """Faults that are caused at the same servers, and the default options."""

    text: str
    faults: Mapping[str, Fault]
    words: Sequence[str]
    """Options of the servers."""
    pairs: int
    results: int
    """Results that clients receive before each fault."""
    within: float
    pause: float = 0.0
    has_nodes: bool = False
    may_warn: bool = True
    """Whether a server may log warnings. If not, every line of its log is a trouble."""


PLAYS = {
    "kills": Play(
        "is every result that players received stored, and stored once, whenever the server is killed?",
        KILLS,
        ("--log-level", "warning"),
        pairs=12,
        results=100,
        within=1.0,
    ),
    "drains": Play(
        "is every game that is running at a SIGTERM finished, sent to its players and stored?",
        DRAINS,
        ("--log-level", "warning", "--drain", f"{DRAIN_LIMIT:g}"),
        pairs=60,
        results=100,
        within=0.5,
        may_warn=False,
    ),
    "cluster": Play(
        "what happens to players and results when a part of a cluster fails?",
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
    """Run the command line; return the exit status."""
    others = {
        "connections": connections,
        "together": together,
        "lobby": lobby,
        "tournaments": tournaments,
    }
    texts = {name: play.text for name, play in PLAYS.items()}
    texts |= {name: module.TEXT for name, module in others.items()}
    name = choice("survive", argv, texts)
    if name is None:
        return 0
    if name in others:
        module = others[name]
        return int(module.main(Parser.of(f"survive {name}", module.TEXT, module.__doc__), argv[1:]))
    parser = Parser.of(f"survive {name}", texts[name], __doc__)
    play = PLAYS[name]
    parser.count("--times", 50, "how often each fault is done")
    parser.count("--pairs", play.pairs, "pairs of clients")
    parser.count("--results", play.results, "how many are told before each fault")
    parser.seconds("--within", play.within, "when it is done after that, at the latest")
    parser.add_argument("--db", metavar="FILE|URL", help="the database of one server (a new file)")
    parser.only({name: fault.__doc__ for name, fault in play.faults.items()})
    parser.report()
    parser.seed()
    options = parser.parse_args(argv[1:])
    if options.db and play.has_nodes:
        raise UsageError("--db: a cluster has a database of its own")
    if "://" in (options.db or "") and KILL_AWAY in options.only:
        raise UsageError(f"--only {KILL_AWAY}: only a file can be taken away; take the others")
    if options.db:
        rows, notes = trio.run(survive, play, options, options.db)
    else:
        rows, notes = in_folder(f"{name}-", lambda at: trio.run(survive, play, options, str(at / "games.db")))
    return finish(f"survive {name}", rows, options, notes)


async def survive(
    play: Play, options: Namespace, place: str, command: Sequence[str] = COMMAND
) -> tuple[list[Row], list[str]]:
    """Cause all faults while clients play, and compare the results that they received with the stored ones.

    Returns the figures, and lines about problems. Raises LoadError or ServerError, which may be in an
    ExceptionGroup.
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
    """Run the servers for as long as the block lasts: a cluster with a database, or one gateway."""
    words = [*OPTIONS, *play.words]
    if play.has_nodes:
        logs = [Log(expected=EXPECTED) for _ in NODES]
        async with cluster(NODES, words, command, with_database=True, logs=logs) as found:
            yield found.nodes, found
    else:
        async with gateway([*words, "--db", place], command, Log(expected=EXPECTED)) as server:
            yield [server], None

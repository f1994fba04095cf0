"""What is done to servers under load, and how long those that it concerns wait.

Each fault is done, and made good again, while clients play. What is measured is what clients hear, not what
servers say.
"""

import os
import signal
from argparse import Namespace
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from random import Random
from time import monotonic

import trio

from conformance.lab.report import Row, counted
from conformance.lab.servers import Cluster, Gateway, until
from conformance.lab.survive.players import Load, Player
from conformance.lab.workers import LoadError

AWAY = 10.0
"""Seconds for which something is stopped."""
LAPSE = 4.0
"""Seconds within which nodes notice that Redis is away: each then pairs its own players."""
LIMIT = 20.0
"""Seconds after which nothing more is waited for."""
PATIENCE = 60.0
"""Seconds in which results have to flow."""
HEARD, PAIRED, BACK = "heard within", "others paired within", "all paired within, from its end"
GOALS: Mapping[str, float | None] = {HEARD: 3.0, PAIRED: 5.0, BACK: 5.0}
"""Seconds at most, of what has a goal."""


@dataclass(slots=True)
class Measured:
    """What one fault came to, all times that it was done."""

    longest: dict[str, float] = field(default_factory=dict)
    """Seconds, by what was waited for."""
    counts: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)
    """What did not come about."""

    def __str__(self) -> str:
        times = [f"{what} {seconds:.2f} s" for what, seconds in self.longest.items()]
        return "; ".join([*times, *(["FAILURES"] if self.failures else [])]) or "done"

    def waited(self, what: str, seconds: float) -> None:
        """Note how long something took."""
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
    """Where faults are done: one gateway with a database, or a cluster."""

    gateways: Sequence[Gateway]
    cluster: Cluster | None
    place: str
    """The database's file, or its URL."""
    load: Load
    lot: Random
    measured: Measured
    options: Namespace

    async def others_go_on(self, node: Gateway) -> None:
        """Wait until all have heard who lost an opponent on this node, and the other nodes pair. From now.

        Those are left out whose dialect has no word for it.
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
        """Wait until players of each two nodes meet who come now."""
        await self.meet(BACK, [*combinations(self.gateways, 2)])

    async def each_goes_on(self) -> None:
        """Wait until two players of each node meet who come now."""
        await self.meet(PAIRED, [[node] for node in self.gateways])

    async def meet(self, what: str, wanted: Sequence[Sequence[Gateway]]) -> None:
        """Let pairs come to these nodes, and note the longest time that one waits."""
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
    """Wait until so many more results are told. Raises LoadError."""
    wanted = load.results + results
    if not await until(lambda: load.results >= wanted, PATIENCE):
        raise LoadError(f"within {PATIENCE:g} s fewer than {results} results were told")


# To one gateway.


async def kill_server(scene: Scene) -> None:
    """Kill the server alone, which the process that writes its results outlives by what it is at."""
    await scene.gateways[0].kill()
    await scene.gateways[0].start()


async def kill_all(scene: Scene) -> None:
    """Kill all processes of the server."""
    await scene.gateways[0].kill(with_children=True)
    await scene.gateways[0].start()


async def kill_away(scene: Scene) -> None:
    """Kill the server while its database is away, and only its journal has the latest results."""
    os.replace(scene.place, scene.place + ".away")
    try:
        await flow(scene.load, scene.options.pairs)
        await scene.gateways[0].kill()
    finally:
        os.replace(scene.place + ".away", scene.place)
    await scene.gateways[0].start()


async def drain(scene: Scene) -> None:
    """Send SIGTERM, and let the server finish the games that are on."""
    server, measured = scene.gateways[0], scene.measured
    measured.counts["clients in a game then"] += sum(
        player.waits for one in scene.load.live for player in one.players
    )
    seconds, status = await server.stop()
    measured.waited("drained within", seconds)
    if status != 0:
        measured.failures.append(f"{server} ended with status {status} after SIGTERM")
    await server.start()


# To a cluster.


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
    """Kill a node that does not pair, and holds games with players of others."""
    await _kill(scene, (await _not_pairing(scene))[0])


async def kill_other(scene: Scene) -> None:
    """Kill the one that holds the fewest of them."""
    await _kill(scene, (await _not_pairing(scene))[-1])


async def _not_pairing(scene: Scene) -> list[Gateway]:
    """Return the nodes that do not pair; the one that holds most games with other nodes comes first."""
    assert scene.cluster is not None
    pairing = await scene.cluster.pairing()
    players = [player for one in scene.load.live if len(one.gateways) > 1 for player in one.players]
    held = Counter(player.gateway for player in players if player.is_host)
    return sorted((node for node in scene.gateways if node is not pairing), key=lambda node: -held[node])


async def kill_redis(scene: Scene) -> None:
    """Kill Redis, and start it again without its memory."""
    assert scene.cluster is not None
    await scene.cluster.redis.kill()
    await trio.sleep(scene.lot.uniform(0, LAPSE))
    await scene.each_goes_on()
    await scene.cluster.redis.start()
    await scene.all_meet()


async def stop_redis(scene: Scene) -> None:
    """Stop Redis for a while."""
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
    """Stop any node for a while."""
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

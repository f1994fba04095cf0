"""What is done to a cluster under load, and how long those that it concerns wait.

Each fault is done, and made good again, while clients play. The rule: what is measured is what clients hear,
not what servers say.
"""

import signal
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from random import Random

import trio

from conformance.lab.cluster_faults.ground import Ground, Node
from conformance.lab.cluster_faults.load import Load, Member

AWAY = 10.0
"""Seconds for which something is stopped."""
LAPSE = 4.0
"""Seconds within which nodes notice that Redis is away: each then pairs its own players."""
LIMIT = 20.0
"""Seconds after which nothing more is waited for."""
_LOOK = 0.05
"""Seconds between two looks at the players."""


@dataclass(slots=True)
class Measured:
    """Seconds, the longest of each kind, and what did not come about."""

    lost: int = 0
    """How many players had an opponent on a node that failed."""
    told: float | None = None
    """Until they heard that it has left."""
    paired: float | None = None
    """Until two players met of each two other nodes, or of each node where Redis is away."""
    back: float | None = None
    """Until this was so for the part that failed, from when it was there again."""
    failures: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        lost = "" if self.told is None else f"{self.lost} lost an opponent, heard within {self.told:.2f} s; "
        others = "" if self.paired is None else f"others paired within {self.paired:.2f} s; "
        back = "" if self.back is None else f"all within {self.back:.2f} s"
        return lost + others + back + (f"; {len(self.failures)} FAILURES" if self.failures else "")


def _longer(known: float | None, found: float) -> float:
    return found if known is None else max(known, found)


@dataclass(frozen=True, slots=True)
class Scene:
    """Where faults are done."""

    ground: Ground
    load: Load
    lot: Random
    measured: Measured

    async def others_go_on(self, node: Node) -> None:
        """Wait until all have heard who lost an opponent on this node, and the other nodes pair. From now.

        Those are left out whose dialect has no word for it.
        """
        since, nodes = trio.current_time(), [each for each in self.ground.nodes if each is not node]
        bereaved = [
            member
            for one in self.load.live
            for member, other in (one.members, one.members[::-1])
            if other.node is node and member.node is not node and member.plays and member.hears_of_leaving
        ]
        self.measured.lost += len(bereaved)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._all_hear, bereaved, since)
            nursery.start_soon(self._go_on, _twos(nodes))

    async def all_meet(self) -> None:
        """Wait until players of each two nodes meet who come now."""
        self.measured.back = _longer(self.measured.back, await self._met(_twos(self.ground.nodes)))

    async def each_goes_on(self) -> None:
        """Wait until two players of each node meet who come now."""
        await self._go_on([[node] for node in self.ground.nodes])

    async def _go_on(self, wanted: Sequence[Sequence[Node]]) -> None:
        self.measured.paired = _longer(self.measured.paired, await self._met(wanted))

    async def _met(self, wanted: Sequence[Sequence[Node]]) -> float:
        """Let pairs come to these nodes; return the longest time that one waits."""
        courses = [self.load.meet(nodes) for nodes in wanted]
        await came(lambda: all(one.begun is not None for one in courses))
        for one in courses:
            if one.begun is None:
                self.measured.failures.append(f"{one.members[0]} and {one.members[1]} did not meet")
        return max((one.begun - one.created for one in courses if one.begun is not None), default=0.0)

    async def _all_hear(self, members: Sequence[Member], since: float) -> None:
        await came(lambda: all(member.free_at >= since or member.is_done for member in members))
        for member in members:
            if member.free_at >= since:
                self.measured.told = _longer(self.measured.told, member.free_at - since)
            else:
                self.measured.failures.append(f"{member} heard nothing of its lost opponent")


def _twos(nodes: Sequence[Node]) -> list[Sequence[Node]]:
    return [*combinations(nodes, 2)]


async def came(is_so: Callable[[], bool], limit: float = LIMIT) -> bool:
    """Wait until something is so, at most `limit` seconds; return whether it is."""
    until = trio.current_time() + limit
    while not (found := is_so()) and trio.current_time() < until:  # noqa: ASYNC110  many things
        await trio.sleep(_LOOK)
    return found


async def _kill(scene: Scene, node: Node) -> None:
    await node.kill()
    await scene.others_go_on(node)
    await node.start()
    await scene.all_meet()


async def kill_pairing(scene: Scene) -> None:
    """Kill the node that pairs."""
    await _kill(scene, await scene.ground.pairing() or scene.ground.nodes[0])


async def kill_holding(scene: Scene) -> None:
    """Kill a node that does not pair, and holds games with players of others."""
    await _kill(scene, (await _idle(scene))[0])


async def kill_other(scene: Scene) -> None:
    """Kill the one that holds the fewest of them."""
    await _kill(scene, (await _idle(scene))[-1])


async def _idle(scene: Scene) -> list[Node]:
    """Return the nodes that do not pair; the one that holds most games with other nodes comes first."""
    pairing = await scene.ground.pairing()
    members = [member for one in scene.load.live if len(one.nodes) > 1 for member in one.members]
    held = Counter(member.node for member in members if member.is_host)
    nodes = [node for node in scene.ground.nodes if node is not pairing]
    return sorted(nodes, key=lambda node: -held[node])


async def kill_registry(scene: Scene) -> None:
    """Kill Redis, and start it again without its memory."""
    await scene.ground.registry.kill()
    await trio.sleep(scene.lot.uniform(0, LAPSE))
    await scene.each_goes_on()
    await scene.ground.registry.start()
    await scene.all_meet()


async def stop_registry(scene: Scene) -> None:
    """Stop Redis for a while."""
    scene.ground.registry.send(signal.SIGSTOP)
    try:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(trio.sleep, AWAY)
            await trio.sleep(scene.lot.uniform(0, LAPSE))
            await scene.each_goes_on()
    finally:
        scene.ground.registry.send(signal.SIGCONT)
    await scene.all_meet()


async def stop_node(scene: Scene) -> None:
    """Stop any node for a while."""
    node = scene.lot.choice(scene.ground.nodes)
    node.halt()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(scene.others_go_on, node)
        await trio.sleep(AWAY)
        node.go_on()
    await scene.all_meet()


async def restart_database(scene: Scene) -> None:
    """Restart PostgreSQL, as after a crash."""
    await scene.ground.postgres.restart()
    await scene.all_meet()


FAULTS: Mapping[str, Callable[[Scene], Awaitable[None]]] = {
    "kill-pairing": kill_pairing,
    "kill-holding": kill_holding,
    "kill-other": kill_other,
    "kill-redis": kill_registry,
    "stop-redis": stop_registry,
    "stop-node": stop_node,
    "restart-postgres": restart_database,
}

"""What is done to a cluster under load, and how long those that it concerns wait.

Each fault is done, and made good again, while clients play. The rule: what is measured is what clients hear,
not what servers say.
"""

import signal
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from random import Random

import trio

from conformance.lab.cluster_faults.ground import Ground, Node
from conformance.lab.cluster_faults.load import Load, Member

AWAY = 10.0
"""Seconds for which something is stopped."""
LIMIT = 20.0
"""Seconds after which nothing more is waited for."""
_LOOK = 0.05
"""Seconds between two looks at the players."""


@dataclass(slots=True)
class Measured:
    """Seconds, the longest of each kind, and what did not come about."""

    lost: int = 0
    """How many players had an opponent on a node that failed."""
    told: float = 0.0
    """Until they heard that it has left."""
    paired: float = 0.0
    """Until two players of two nodes met, of those who came after the fault."""
    back: float = 0.0
    """Until this was so for the part that failed, from when it was there again."""
    failures: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Scene:
    """Where faults are done."""

    ground: Ground
    load: Load
    lot: Random
    measured: Measured

    async def others_go_on(self, node: Node) -> None:
        """Wait until all have heard who lost an opponent on this node, and the other nodes pair. From now."""
        since, nodes = trio.current_time(), [each for each in self.ground.nodes if each is not node]
        bereaved = [
            member
            for one in self.load.live
            for member, other in (one.members, one.members[::-1])
            if other.node is node and member.node is not node and member.plays
        ]
        self.measured.lost += len(bereaved)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._all_hear, bereaved, since)
            nursery.start_soon(self._nodes_meet, nodes, since)

    async def all_meet(self) -> None:
        """Wait until players of each two nodes meet who come from now on."""
        since = trio.current_time()
        await self._meet(self.ground.nodes, since)
        self.measured.back = max(self.measured.back, trio.current_time() - since)

    async def _nodes_meet(self, nodes: Sequence[Node], since: float) -> None:
        await self._meet(nodes, since)
        self.measured.paired = max(self.measured.paired, trio.current_time() - since)

    async def _all_hear(self, members: Sequence[Member], since: float) -> None:
        await came(lambda: all(member.free_at >= since or member.is_done for member in members))
        for member in members:
            if member.free_at >= since:
                self.measured.told = max(self.measured.told, member.free_at - since)
            else:
                self.measured.failures.append(f"{member} heard nothing of its lost opponent")

    async def _meet(self, nodes: Sequence[Node], since: float) -> None:
        missing = [{*two} for two in combinations(nodes, 2)]

        def have_met() -> bool:
            met = [one.nodes for one in self.load.live if one.begun is not None and one.created > since]
            missing[:] = [two for two in missing if two not in met]
            return not missing

        await came(have_met)
        for two in missing:
            self.measured.failures.append(f"nobody met of {' and '.join(map(str, two))}")


async def came(is_so: Callable[[], bool], limit: float = LIMIT) -> bool:
    """Wait until something is so, at most `limit` seconds; return whether it is."""
    until = trio.current_time() + limit
    while not (found := is_so()) and trio.current_time() < until:
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
    """Kill the node, of those that do not pair, on which more openers of games with others are."""
    await _kill(scene, (await _idle(scene))[0])


async def kill_other(scene: Scene) -> None:
    """Kill the one that is left."""
    await _kill(scene, (await _idle(scene))[-1])


async def _idle(scene: Scene) -> list[Node]:
    pairing = await scene.ground.pairing()
    nodes = [node for node in scene.ground.nodes if node is not pairing]
    scene.lot.shuffle(nodes)
    return nodes


async def kill_registry(scene: Scene) -> None:
    """Kill Redis, and start it again without its memory."""
    await scene.ground.registry.kill()
    await trio.sleep(scene.lot.uniform(0, 5))
    await scene.ground.registry.start()
    await scene.all_meet()


async def stop_registry(scene: Scene) -> None:
    """Stop Redis for a while."""
    scene.ground.registry.send(signal.SIGSTOP)
    try:
        await trio.sleep(AWAY)
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

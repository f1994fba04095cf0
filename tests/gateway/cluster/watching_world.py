"""A node that follows others, with real hubs, and the ways between them, which a test carries frames over."""

from collections import Counter, deque
from collections.abc import Iterator
from dataclasses import dataclass, field

from hub_world import Client, World

from gateway.cluster.fact_codec import SEATS, decode_fact, encode_fact
from gateway.cluster.remote_feed import FeedPublisher, RemoteFeed
from gateway.game.clock import Terms
from gateway.game.facts import (
    Came,
    GameStarted,
    Hindered,
    Left,
    Missed,
    MoveMade,
    Obstacle,
    Snapshot,
    Vanished,
    Waits,
)
from gateway.game.ids import game_ids
from gateway.game.results import Finished
from gateway.hub.hub import Hub
from gateway.hub.interfaces import Told


@dataclass
class Shown:
    """What is on, by what was told."""

    players: dict[int, tuple[str, str]] = field(default_factory=dict)
    waiting: dict[int, str | None] = field(default_factory=dict)
    why: dict[int, Obstacle | None] = field(default_factory=dict)
    """Why each of these waits."""
    games: dict[str, tuple[GameStarted, str]] = field(default_factory=dict)

    def hear(self, told: Told) -> None:
        match told:
            case Came(player, name, kind):
                self.players[player] = name, kind
            case Waits(player, table):
                self.waiting[player], self.why[player] = table, None
            case Hindered(player, _, obstacle):
                self.why[player] = obstacle
            case Left(player):
                self.players.pop(player, None)
                self.waiting.pop(player, None)
            case GameStarted(game, (one, other)):
                self.games[game] = told, ""
                self.waiting.pop(one, None)
                self.waiting.pop(other, None)
            case MoveMade(game, _, column):
                started, moves = self.games.get(game, (None, ""))
                if started is not None:
                    self.games[game] = started, f"{moves}{column}"
            case Finished(game):
                self.games.pop(game, None)
            case Vanished(first, last):
                lost = range(first, last + 1)
                self.players = {each: told for each, told in self.players.items() if each not in lost}
                self.waiting = {each: told for each, told in self.waiting.items() if each not in lost}
                self.games = {
                    game: each for game, each in self.games.items() if each[0].players[0] not in lost
                }
            case (started, standing):
                self.games[started.game] = started, "".join(map(str, standing.moves))

    def everything(self) -> object:
        """Return it without the numbers, which differ from node to node."""
        return (
            Counter(self.players.values()),
            Counter((self.players[each], table, self.why[each]) for each, table in self.waiting.items()),
            {
                game: (started.names, [self.players.get(each) for each in started.players], moves)
                for game, (started, moves) in self.games.items()
            },
        )


def shown(*snapshots: Snapshot) -> object:
    """Return what whoever knows all of it has been told."""
    found = Shown()
    for number, each in enumerate(snapshots):
        for told in (*each.players, *each.waiting, *each.hindered, *each.games):
            found.hear(decode_fact(encode_fact(told), number * SEATS))
    return found.everything()


class Node(World):
    """A node that is watched, and both ways to it."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.hub = Hub(Terms(), self.hub.matchmaker, self.hub.results, games=game_ids(number))
        self.up, self.down = deque[bytes](), deque[bytes]()
        self.is_linked = self.is_woken = False
        self.telling = FeedPublisher(self.hub, lambda _, frame: self.down.append(frame), self.wake)
        self.clients: list[Client] = []

    def wake(self) -> None:
        self.is_woken = True

    def tell(self) -> bool:
        """Do what its task does once it is woken."""
        is_woken, self.is_woken = self.is_woken, False
        while is_woken and self.telling.tell(self.now):
            pass
        return is_woken


class Cluster:
    """Nodes, and one on which somebody follows them."""

    def __init__(self, *names: str) -> None:
        self.nodes = {name: Node(number) for number, name in enumerate(names)}
        self.watching = RemoteFeed(
            self._send, self._linked, lambda node, why: self.refused.append((node, why))
        )
        self.refused: list[tuple[str, str]] = []
        self.shown = Shown()
        self.is_watched = self.is_woken = False
        self.missed = 0
        for name in names:
            self.link(name)

    def _send(self, node: str, frame: bytes) -> None:
        if self.nodes[node].is_linked:
            self.nodes[node].up.append(frame)

    def _linked(self) -> Iterator[str]:
        return (name for name, node in self.nodes.items() if node.is_linked)

    def _wake(self) -> None:
        self.is_woken = True

    def link(self, name: str) -> None:
        self.nodes[name].is_linked = True
        self.watching.joined(name)

    def cut(self, name: str) -> None:
        node = self.nodes[name]
        node.is_linked = False
        node.up.clear()
        node.down.clear()
        node.telling.lost("a")
        self.watching.lost(name)

    def watch(self) -> None:
        self.is_watched, self.shown = True, Shown()
        self.watching.watch(self._wake)

    def stop(self) -> None:
        self.is_watched = False
        self.watching.close()

    def carry(self, name: str, most: int) -> bool:
        """Let so many frames arrive in each direction."""
        node = self.nodes[name]
        up, down = min(most, len(node.up)), min(most, len(node.down))
        for _ in range(up):
            node.telling.receive("a", node.up.popleft())
        for _ in range(down):
            self.watching.receive(name, node.down.popleft())
        return bool(up or down)

    def take(self) -> bool:
        """Do what the subscriber does once it is woken."""
        is_woken, self.is_woken = self.is_woken, False
        while is_woken and self.is_watched and (taken := self.watching.take(3)):
            for told in taken:
                if isinstance(told, Missed):
                    self.missed += 1
                    self.watch()
                    return True
                self.shown.hear(told)
        return is_woken

    def settle(self) -> None:
        """Let all that is to happen happen."""
        happens = True
        while happens:
            happens = self.take()
            for name, node in self.nodes.items():
                happens |= node.tell()
                happens |= self.carry(name, 1000)

    def true(self) -> object:
        linked = [node for node in self.nodes.values() if node.is_linked]
        return shown(*(node.hub.snapshot(node.now) for node in linked))

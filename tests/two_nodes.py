"""Two hubs, and the way between them: a player of one plays on the other.

All that passes between them is written down as bytes and read back, and waits until a test carries it over.
"""

import random
from collections import deque
from collections.abc import Callable, Iterator

from worlds.hub import Client, World

from gateway.cluster.games import Games
from gateway.hub.seats import Hosted, Hosting, Waiting
from gateway.matchmaking.matchmaker import Answer, Decision, HousePair, Pair, Turn
from gateway.matchmaking.standard import LobbyAndTables


class Silent(LobbyAndTables):
    """Pairs nobody."""

    def __init__(self) -> None:
        super().__init__(random.Random(0))
        self.left: list[int] = []
        """The seats that have left."""
        self.over: list[object] = []
        """The matches whose series are over."""
        self.late: list[Decision] = []
        """Answers that a test gives."""

    def answers(self, now: float) -> Iterator[Answer]:
        yield from (each for each in super().answers(now) if not isinstance(each, Pair | HousePair))
        while self.late:
            yield self.late.pop(0)

    def began(self, match: object, game: int, **_: object) -> None:
        """Keep no count of games."""

    def leave(self, seat: int) -> None:
        self.left.append(seat)
        super().leave(seat)

    def finished(self, match: object) -> None:
        self.over.append(match)


class Node(World):
    """One of the two."""

    def __init__(self, **terms: float) -> None:
        self.silent = Silent()
        super().__init__(self.silent, **terms)


def turn_of(client: Client) -> Turn:
    situation = client.seat.situation
    assert isinstance(situation, Waiting), situation
    return situation.turn


class TwoNodes:
    """A host and a remote node, with the way between their nodes."""

    def __init__(self, **terms: float) -> None:
        self.host, self.remote = Node(**terms), Node(**terms)
        self._frames: deque[tuple[Node, bytes]] = deque()
        self.games: dict[Node, Games] = {}
        for node, other in ((self.host, self.remote), (self.remote, self.host)):
            self.games[node] = Games(node.hub, self._way_to(other))
            node.hub.connect(self.games[node], node.silent)

    @property
    def under_way(self) -> int:
        """How many frames are on their way."""
        return len(self._frames)

    def _way_to(self, node: Node) -> Callable[[str, bytes], None]:
        return lambda _, frame: self._frames.append((node, frame))

    def meet(self, host: Client, remote: Client, table: str | None = None) -> Hosting:
        """Let two players who wait on the two nodes play each other."""
        turn = turn_of(remote)
        player, origin = remote.seat.player(), remote.seat.origin
        match = Hosting(turn_of(host), "other", turn, player, origin, table=table)
        self.remote.hub.meet(Hosted(turn, "other", host.seat.player(), table), self.remote.now)
        self.host.hub.meet(match, self.host.now)
        self.carry()
        return match

    def carry(self) -> None:
        """Let all that is on its way arrive, as much together as can be."""
        while self._frames:
            for _ in range(len(self._frames)):
                node, frame = self._frames.popleft()
                self.games[node].receive("other", frame, node.now)
            for node in (self.host, self.remote):
                node.hub.settle(node.now)

    def cut(self) -> None:
        """Let nothing arrive any more, and both nodes know it."""
        self._frames.clear()
        for node, games in self.games.items():
            games.lose("other")
            while games.end_lost(node.now):
                pass
        self._frames.clear()

    def wait(self, seconds: float) -> None:
        """Let time pass on both nodes."""
        for node in (self.host, self.remote):
            node.wait(seconds)
        self.carry()

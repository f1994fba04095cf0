"""Several hubs that are nodes of a cluster, and the ways between them.

All that passes between two nodes is written down as bytes, keeps its order, and waits until a test carries it
over.
"""

import random
from collections import deque

from gateway.cluster.games import Games
from gateway.cluster.matchmaker import ClusterMatchmaker
from gateway.cluster.messages import decode, encode
from gateway.matchmaking.standard import LobbyAndTables
from worlds.hub import World


class Node(World):
    """A node with players of its own."""

    def __init__(self, net: "Nodes", name: str, run: int, **terms: float) -> None:
        grace = terms.get("grace", 0.0)
        self.name = name
        self.matchmaker = ClusterMatchmaker(name, run, lambda: LobbyAndTables(random.Random(0), grace=grace))
        super().__init__(self.matchmaker, run=run, **terms)
        self.games = Games(self.hub, lambda to, frame: net.send(name, to, b"g" + frame))
        self.hub.connect(self.games, self.matchmaker)
        self.matchmaker.connect(
            self.hub, lambda to, message: net.send(name, to, b"p" + encode(message)), self.games
        )

    def receive(self, node: str, frame: bytes) -> None:
        """Carry out what another node has sent."""
        if frame[:1] == b"g":
            self.hub.settle(self.now)
            self.games.receive(node, frame[1:], self.now)
        else:
            self.matchmaker.receive(node, decode(frame[1:]), self.now)


class Nodes:
    """Nodes that reach each other. The first one pairs."""

    def __init__(self, *names: str, **terms: float) -> None:
        self.ways = {(one, other): deque[bytes]() for one in names for other in names if one != other}
        self.nodes = {name: Node(self, name, run, **terms) for run, name in enumerate(names, 1)}
        for node in self.nodes.values():
            node.matchmaker.attach(names[0], 1, 0.0, names[1:])
        self.carry()

    def __getitem__(self, name: str) -> Node:
        return self.nodes[name]

    def send(self, sender: str, to: str, frame: bytes) -> None:
        """Let a frame wait until it is carried over."""
        self.ways[sender, to].append(frame)

    def carry_one(self, sender: str, to: str) -> None:
        """Let the next frame of one way arrive."""
        self[to].receive(sender, self.ways[sender, to].popleft())
        self[to].hub.settle(self[to].now)

    def carry_between(self, one: str, other: str) -> None:
        """Let the frames arrive that two nodes send each other, the first node's first. No others arrive."""
        for way in ((one, other), (other, one)):
            while self.ways[way]:
                self.carry_one(*way)

    def carry(self) -> None:
        """Let all frames arrive, and what follows from them."""
        for node in self.nodes.values():
            node.hub.settle(node.now)
        while any(self.ways.values()):
            for way in [way for way, frames in self.ways.items() if frames]:
                self.carry_one(*way)

    def cut(self, one: str, other: str) -> None:
        """Let two nodes lose each other, and find each other again at once."""
        for sender, to in ((one, other), (other, one)):
            self.ways[sender, to].clear()
        for here, there in ((one, other), (other, one)):
            node = self[here]
            node.matchmaker.lost(there, node.now)
            node.games.lose(there)
            while node.games.end_lost(node.now):
                pass
            node.hub.settle(node.now)

    def wait(self, seconds: float) -> None:
        """Let time pass on all nodes, while everything arrives at once."""
        for _ in range(round(seconds / 0.25)):
            for node in self.nodes.values():
                node.wait(0.25)
            self.carry()

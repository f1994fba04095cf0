"""A node of a cluster: what joins the hub of this server with those of the others.

Knows the registry, the links, the matchmaker and the games; decides who pairs, as far as this node is
concerned. The rules it keeps:

- The node that holds the registry's lease pairs, and says so over the links; the others follow the one that
  says it with the highest epoch. It ceases by its own clock before its lease runs out, and never pairs in
  that epoch again.
- Where nobody pairs for `ALONE` seconds, be it for the registry or for the way to the one that pairs, this
  node pairs its own players. All games go on meanwhile, and nothing of this needs a restart.
"""

import logging
from collections.abc import Callable, Iterable, Mapping
from functools import partial

import trio

from adapters.cluster.acting import Acting
from adapters.cluster.links import Links
from gateway.cluster.games import Games
from gateway.cluster.matchmaker import ClusterMatchmaker
from gateway.cluster.membership import Membership, View
from gateway.cluster.messages import Message, decode, encode
from gateway.cluster.remote_feed import FeedPublisher, RemoteFeed
from gateway.hub.hub import Hub

logger = logging.getLogger("gateway.cluster")


# The feed of all nodes, over the links. A mistake in what is shown costs those who watch, and no player
# anything.


class Feeds:
    """Both ends of what passes between this node and others."""

    def __init__(
        self, hub: Hub, send: Callable[[str, bytes], None], nodes: Callable[[], Iterable[str]]
    ) -> None:
        """`send` puts a frame on its way to a node; `nodes` returns those that can be sent to."""
        self.remote = RemoteFeed(send, nodes, _say)
        self._publisher = FeedPublisher(hub, send, self._wake)
        self._woken = trio.Event()

    def receive(self, node: str, frame: bytes) -> None:
        """Take in what another node asks for or sends. Raises ValueError."""
        if frame[:1] in b"wtu":
            self._publisher.receive(node, frame)
        else:
            self.remote.receive(node, frame)

    def lost(self, node: str) -> None:
        """Send nothing more to a node, and let its players and games vanish."""
        self._publisher.lost(node)
        self.remote.lost(node)

    async def run(self) -> None:
        """Send what other nodes have subscribed to, until cancelled."""
        while True:
            await self._woken.wait()
            self._woken = trio.Event()
            try:
                while self._publisher.publish(trio.current_time()):
                    await trio.lowlevel.checkpoint()
            except Exception:
                logger.exception("other nodes cannot be told what is on", extra={"event": "telling_failed"})
                self._publisher.close()

    def _wake(self) -> None:
        self._woken.set()


def _say(node: str, why: str) -> None:
    about = {"event": "facts_refused", "other": node, "error": why}
    logger.warning("what node %s tells of its games is not shown: %s", node, why, extra=about)


# The node.

ALONE = 2.0
"""Seconds without one that pairs after which a node pairs its own players."""
HIGHEST = 2**53
"""The highest epoch: what the registry counts in is a double."""


class ClusterNode:
    """This node, among the others."""

    def __init__(self, hub: Hub, name: str) -> None:
        """`hub` has a `ClusterMatchmaker`."""
        self.membership = Membership()
        self.games = Games(hub, partial(self._send, b"g"))
        self._more_lost = trio.Event()
        self.links: Links
        self.pairs: tuple[str | None, int] | None = None
        """Who pairs, and in which epoch; None where nobody does, (None, 0) where this node is alone."""
        self._hub = hub
        assert isinstance(hub.matchmaker, ClusterMatchmaker)
        self._matchmaker = hub.matchmaker
        self._name = name
        self._claims: dict[str, int] = {}
        """The epochs in which linked nodes say that they pair; 0 for one that does not."""
        self._ceased = 0
        """The latest epoch in which this node paired and does not any more."""
        self._has_paired = False
        """Whether the matchmaker has heard of something since its answers were carried out."""
        self._paired_at = trio.current_time()
        """When there was last one that pairs."""
        self.is_registry_away = False
        """Whether the registry did not answer when it was last asked."""
        self.feeds = Feeds(hub, partial(self._send, b"f"), lambda: self.links.nodes)
        self.feed = self.feeds.remote
        self.acting = Acting(partial(self._send, b"o"), lambda: self.links.nodes)
        hub.cluster = self
        hub.connect(self.games, self._matchmaker)
        self._matchmaker.connect(hub, self._post)

    # What the links tell.

    def joined(self, node: str, now: float) -> None:
        """Hear that a node can be sent to."""
        logger.info("linked with node %s", node, extra={"event": "node_linked", "other": node})
        if self.pairs is not None and self.pairs[0] == self._name:
            self._send(b"h", node, b"%d" % self.pairs[1])
        self.feed.joined(node)
        self.acting.joined(node)

    def receive(self, node: str, frame: bytes, now: float) -> None:
        """Carry out a frame. Raises ValueError if it says nothing that is understood."""
        kind, payload = frame[:1], frame[1:]
        if kind == b"g":
            if self._has_paired:
                self.settle(now)  # the series may have begun with the frame before
            self.games.receive(node, payload, now)
        elif kind == b"p":
            self._matchmaker.receive(node, decode(payload), now)
            self._has_paired = True
        elif kind == b"h":
            epoch = _epoch(payload)
            self._claims[node] = epoch
            self.membership.heard(epoch)
            self.follow(now)
        elif kind == b"f":
            self.feeds.receive(node, payload)
        elif kind == b"o":
            self.acting.receive(node, payload)
        else:
            raise ValueError("no frame of this version")

    def settle(self, now: float) -> None:
        """Carry out what follows from the frames that arrived together."""
        self._has_paired = False
        self._hub.settle(now)

    def lost(self, node: str, now: float) -> None:
        """Hear that a node, or the way to it, is gone."""
        logger.warning("lost node %s", node, extra={"event": "node_lost", "other": node})
        self._claims.pop(node, None)
        if self.pairs is not None and self.pairs[0] == node:
            self.pairs = None
        self._matchmaker.lost(node, now)
        self.games.lose(node)
        if self.games.end_lost(now):
            self._more_lost.set()
        self.feeds.lost(node)
        self.acting.lost(node)
        self.follow(now)
        self._hub.settle(now)

    async def run(self) -> None:
        """End the games with lost nodes, a few in each turn of the event loop, until cancelled."""
        while True:
            await self._more_lost.wait()
            self._more_lost = trio.Event()
            while self.games.end_lost(trio.current_time()):
                await trio.lowlevel.checkpoint()

    def drain(self) -> None:
        """Let no player of this node be paired any more, and end their series elsewhere with the game.

        If this node pairs, it ceases at once.
        """
        self._matchmaker.drain()
        self.games.drain()
        self.follow(trio.current_time())

    def is_reserved(self, seat: int) -> bool:
        """Whether another node may have begun a game with a seat, which this one has not heard yet."""
        return self._matchmaker.is_reserved(seat)

    @property
    def nodes(self) -> int:
        """How many nodes the registry named when it last answered, this one included."""
        return len(self.membership.nodes)

    def condition(self) -> Mapping[str, object]:
        """Return how this node is connected, as JSON."""
        name, is_alone = (None, False) if self.pairs is None else (self.pairs[0], self.pairs[0] is None)
        return {
            "node": self._name,
            "linked": sorted(self.links.nodes),
            "pairs": name,
            "alone": is_alone,
            "registry": not self.is_registry_away,
        }

    # Who pairs.

    @property
    def may_pair(self) -> bool:
        """Whether this node may hold the lease: not while it stops, nor to go on in an epoch that is over."""
        holder = self.membership.latest
        is_over = holder is not None and holder.node == self._name and holder.epoch <= self._ceased
        return not self._hub.is_closed and not is_over

    def seen(self, view: View, asked: float) -> None:
        """Take what the registry says; it was asked at `asked`."""
        self.membership.seen(view, asked)
        places = {name: (place.host, place.port) for name, place in view.nodes.items() if name != self._name}
        self.links.meet(places)
        self.follow(trio.current_time())

    def follow(self, now: float, *, late: float = 0.0) -> None:
        """Report to the one that pairs now, and pair if that is this node.

        For `late` seconds before, this node stood still, and could hear of no one that pairs.
        """
        self._paired_at += late
        wanted: tuple[str | None, int] | None = self._wanted(now)
        if wanted is not None:
            self._paired_at = now
        elif now - self._paired_at > ALONE:
            wanted = None, 0
        if wanted is None:
            self._cease()
        elif wanted != self.pairs:
            self._cease()
            self.pairs = wanted
            others = self.links.nodes if wanted[0] == self._name else ()
            self._matchmaker.attach(*wanted, now, others)
            self._tell_who_pairs(*wanted)
            self._hub.settle(now)

    def _wanted(self, now: float) -> tuple[str, int] | None:
        holder = self.membership.holder(now)
        if holder is not None and holder.node == self._name and self.may_pair:
            return holder
        claim = max(((epoch, node) for node, epoch in self._claims.items() if epoch), default=None)
        return None if claim is None or claim[0] < self.membership.epoch else (claim[1], claim[0])

    def _cease(self) -> None:
        """Pair for others no more, if this node did."""
        if self.pairs is not None and self.pairs[0] == self._name:
            self._ceased = self.pairs[1]
            self.pairs = None
            for node in self.links.nodes:
                self._send(b"h", node, b"0")

    def _tell_who_pairs(self, name: str | None, epoch: int) -> None:
        if name == self._name:
            for node in self.links.nodes:
                self._send(b"h", node, b"%d" % epoch)
        about = {"event": "pairing", "other": name, "epoch": epoch}
        if name is not None:
            logger.info("node %s pairs", name, extra=about)
        elif not self._hub.is_closed:  # one that stops pairs nobody any more
            logger.warning("nobody pairs the players of all nodes; this one pairs its own", extra=about)

    def _post(self, node: str, message: Message) -> None:
        self._send(b"p", node, encode(message))

    def _send(self, kind: bytes, node: str, frame: bytes) -> None:
        self.links.send(node, kind + frame)


def _epoch(text: bytes) -> int:
    """Return an epoch that is said. Raises ValueError for one that no registry gives."""
    epoch = int(text)
    if not 0 <= epoch <= HIGHEST:
        raise ValueError("not an epoch")
    return epoch

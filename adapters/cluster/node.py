"""A node of a cluster: what joins the hub of this server with those of the others.

Knows the links, the matchmaker and the games; decides who pairs, as far as this node is concerned. The
rules it keeps:

- The node that holds the registry's lease pairs, and says so over the links; the others follow the one that
  says it with the highest epoch. What the registry said holds for `LEASE` seconds from when it was *asked*,
  by this node's own clock. So a node ceases before the registry lets another one begin, and never pairs in
  that epoch again.
- Where nobody pairs for `ALONE` seconds, be it for the registry or for the way to the one that pairs, this
  node pairs its own players. All games go on meanwhile, and nothing of this needs a restart.
"""

import logging
from collections.abc import Mapping
from functools import partial

import trio

from adapters.cluster.links import Links
from adapters.cluster.operators import RemoteOperators
from adapters.cluster.registry import LEASE, View
from gateway.cluster.games import Games
from gateway.cluster.matchmaker import ClusterMatchmaker
from gateway.cluster.messages import Message, decode, encode
from gateway.cluster.remote_feed import FeedPublisher, RemoteFeed
from gateway.hub.hub import Hub

ALONE = 2.0
"""Seconds without one that pairs after which a node pairs its own players."""
MARGIN = 0.1
"""Seconds by which clocks may drift apart within `LEASE`, and a node may be late to notice."""
HIGHEST = 2**53
"""The highest epoch: what the registry counts in is a double."""

logger = logging.getLogger("gateway.cluster")


class ClusterNode:
    """This node, among the others."""

    def __init__(self, hub: Hub, name: str) -> None:
        """`hub` has a `ClusterMatchmaker`."""
        assert isinstance(hub.matchmaker, ClusterMatchmaker)
        self._hub = hub
        self._matchmaker = hub.matchmaker
        self._name = name
        self.links: Links
        self.games = Games(hub, partial(self._send, b"g"))
        self.feed = RemoteFeed(partial(self._send, b"f"), lambda: self.links.nodes, _refuse_facts)
        self.operators = RemoteOperators(partial(self._send, b"o"), lambda: self.links.nodes)
        self._publisher = FeedPublisher(hub, partial(self._send, b"f"), self._wake)
        self._work = trio.Event()
        """Set where there is something to do piece by piece."""
        self._is_unsettled = False
        """Whether the matchmaker has heard of something since its answers were carried out."""
        self.pairs: tuple[str | None, int] | None = None
        """Who pairs, and in which epoch; None where nobody does, (None, 0) where this node is alone."""
        self.epoch = 0
        """The highest that this node has heard of."""
        self.is_registry_away = False
        """Whether the registry did not answer when it was last asked."""
        self._view = View(None, {})
        """What the registry said last; the nodes in it are kept while it cannot be asked."""
        self._until = 0.0
        """When what it said of the lease holds no more."""
        self._claims: dict[str, int] = {}
        """The epochs in which linked nodes say that they pair; 0 for one that does not."""
        self._ceased = 0
        """The latest epoch in which this node paired and does not any more."""
        self._paired_at = trio.current_time()
        """When there was last one that pairs."""
        hub.cluster = self
        hub.connect(self.games, self._matchmaker)
        self._matchmaker.connect(hub, self._post)

    # What the links tell. None of it blocks.

    def joined(self, node: str, now: float) -> None:
        """Hear that a node can be sent to."""
        logger.info("linked with node %s", node, extra={"event": "node_linked", "other": node})
        if self.pairs is not None and self.pairs[0] == self._name:
            self._send(b"h", node, b"%d" % self.pairs[1])
        self.feed.joined(node)
        self.operators.joined(node)

    def receive(self, node: str, frame: bytes, now: float) -> None:
        """Carry out a frame. Raises ValueError if it says nothing that is understood."""
        kind, payload = frame[:1], frame[1:]
        if kind == b"g":
            if self._is_unsettled:
                self.settle(now)  # the series may have begun with the frame before
            self.games.receive(node, payload, now)
        elif kind == b"p":
            self._matchmaker.receive(node, decode(payload), now)
            self._is_unsettled = True
        elif kind == b"h":
            epoch = int(payload)
            if not 0 <= epoch <= HIGHEST:
                raise ValueError("an epoch that no registry gives")
            self._claims[node] = epoch
            self.epoch = max(self.epoch, epoch)
            self.follow(now)
        elif kind == b"f":
            number, _, body = payload.partition(b" ")
            if body in (b"w", b"t", b"u"):
                self._publisher.receive(node, int(number), body)
            else:
                self.feed.receive(node, int(number), body)
        elif kind == b"o":
            self.operators.receive(node, payload)
        else:
            raise ValueError("no frame of this version")

    def settle(self, now: float) -> None:
        """Carry out what follows from the frames that arrived together."""
        self._is_unsettled = False
        self._hub.settle(now)

    def lost(self, node: str, now: float) -> None:
        """Hear that a node, or the way to it, is gone; what was sent lately may not have arrived."""
        logger.warning("lost node %s", node, extra={"event": "node_lost", "other": node})
        self._claims.pop(node, None)
        if self.pairs is not None and self.pairs[0] == node:
            self.pairs = None
        self._matchmaker.lost(node, now)
        self.games.lose(node)
        if self.games.end_lost(now):
            self._wake()
        self._publisher.lost(node)
        self.feed.lost(node)
        self.operators.lost(node)
        self.follow(now)
        self._hub.settle(now)

    def _wake(self) -> None:
        self._work.set()

    async def run(self) -> None:
        """Do what takes long, a piece in each turn of the event loop, until cancelled.

        Games with lost nodes end, and other nodes get the facts that they have subscribed to.
        """
        while True:
            await self._work.wait()
            self._work = trio.Event()
            while self.games.end_lost(trio.current_time()) | self._publish():
                await trio.lowlevel.checkpoint()

    def _publish(self) -> bool:
        """Send subscribers a piece; return whether there is more. A mistake costs them, and no player."""
        try:
            return self._publisher.publish(trio.current_time())
        except Exception:
            logger.exception("other nodes cannot be told what is on", extra={"event": "telling_failed"})
            self._publisher.close()
            return False

    def _post(self, node: str, message: Message) -> None:
        self._send(b"p", node, encode(message))

    def _send(self, kind: bytes, node: str, frame: bytes) -> None:
        self.links.send(node, kind + frame)

    # What the hub needs: as `Cluster` says.

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
        return len(self._view.nodes)

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
        holder = self._view.holder
        is_over = holder is not None and holder.node == self._name and holder.epoch <= self._ceased
        return not self._hub.is_closed and not is_over

    def seen(self, view: View, asked: float) -> None:
        """Take what the registry says; it was asked at `asked`."""
        self._view, self._until = view, asked + LEASE - MARGIN
        if view.holder is not None:
            self.epoch = max(self.epoch, view.holder.epoch)
        self.links.meet(view.nodes)
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
        if wanted == self.pairs:
            return
        if self.pairs is not None and self.pairs[0] == self._name:
            self._ceased, self.pairs = self.pairs[1], None
            self._claim(0)
        if wanted is not None:
            self._attach(*wanted, now)

    def _wanted(self, now: float) -> tuple[str, int] | None:
        """Return the node that pairs, and its epoch, as far as it is known."""
        holder = self._view.holder
        if (
            holder is not None
            and holder.node == self._name
            and holder.epoch >= self.epoch
            and now < self._until
            and self.may_pair
        ):
            return holder
        claim = max(((epoch, node) for node, epoch in self._claims.items() if epoch), default=None)
        return None if claim is None or claim[0] < self.epoch else (claim[1], claim[0])

    def _attach(self, name: str | None, epoch: int, now: float) -> None:
        """Report to another one that pairs; None: pair the players of this node alone."""
        self.pairs = name, epoch
        self._matchmaker.attach(name, epoch, now, self.links.nodes if name == self._name else ())
        if name == self._name:
            self._claim(epoch)
        about = {"event": "pairing", "other": name, "epoch": epoch}
        if name is not None:
            logger.info("node %s pairs", name, extra=about)
        elif not self._hub.is_closed:  # one that stops pairs nobody any more
            logger.warning("nobody pairs the players of all nodes; this one pairs its own", extra=about)
        self._hub.settle(now)

    def _claim(self, epoch: int) -> None:
        """Tell the other nodes in which epoch this one pairs; 0 if it does not any more."""
        for node in self.links.nodes:
            self._send(b"h", node, b"%d" % epoch)


def _refuse_facts(node: str, why: str) -> None:
    about = {"event": "facts_refused", "other": node, "error": why}
    logger.warning("what node %s tells of its games is not shown: %s", node, why, extra=about)

"""A node of a cluster: connects this server's hub with the hubs of the other nodes.

Knows the links, the matchmaker and the games. Decides which node is the pairing node for this node. The
pairing node pairs the players of all nodes. When it changes, all games go on, and no node is restarted.
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
"""Seconds without a pairing node after which a node pairs its own players."""
MARGIN = 0.1
"""A node stops pairing this many seconds before the end of its lease, because clocks may drift apart, or the
node may notice the end late."""
HIGHEST = 2**53
"""The highest epoch. The registry counts with doubles, which are exact up to this number."""

logger = logging.getLogger("gateway.cluster")


class ClusterNode:
    """This node of the cluster."""

    def __init__(self, hub: Hub, name: str) -> None:
        """Connect `hub` to the cluster. Its matchmaker has to be a `ClusterMatchmaker`."""
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
        """Set when `run` has work to do."""
        self._is_unsettled = False
        """Whether the matchmaker has received a message since the last `settle`."""
        self.pairs: tuple[str | None, int] | None = None
        """The pairing node and its epoch; None without a pairing node; (None, 0) if this node pairs alone."""
        self.epoch = 0
        """The highest epoch that this node knows."""
        self.is_registry_away = False
        """Whether the registry failed to answer when it was last asked."""
        self._view = View(None, {})
        """The registry's latest answer. It is kept while the registry does not answer."""
        self._until = 0.0
        """`MARGIN` seconds before the lease in that answer ends, by this node's clock."""
        self._claims: dict[str, int] = {}
        """The epoch in which each linked node claims to pair; 0 if it does not pair."""
        self._ceased = 0
        """The latest epoch in which this node paired and then stopped."""
        self._paired_at = trio.current_time()
        """The latest time at which there was a pairing node."""
        hub.cluster = self
        hub.connect(self.games, self._matchmaker)
        self._matchmaker.connect(hub, self._post, self.games)

    # Called by the links. These methods never block.

    def joined(self, node: str, now: float) -> None:
        """Begin to exchange messages with a newly linked node.

        If this node is the pairing node, announce that to the linked node.
        """
        logger.info("linked with node %s", node, extra={"event": "node_linked", "other": node})
        if self.pairs is not None and self.pairs[0] == self._name:
            self._send(b"h", node, b"%d" % self.pairs[1])
        self.feed.joined(node)
        self.operators.joined(node)

    def receive(self, node: str, frame: bytes, now: float) -> None:
        """Carry out a frame. Raises ValueError if it cannot be understood."""
        kind, payload = frame[:1], frame[1:]
        if kind == b"g":
            if self._is_unsettled:
                self.settle(now)  # the previous frame may have begun the series
            self.games.receive(node, payload, now)
        elif kind == b"p":
            self._matchmaker.receive(node, decode(payload), now)
            self._is_unsettled = True
        elif kind == b"h":
            epoch = int(payload)
            if not 0 <= epoch <= HIGHEST:
                raise ValueError("the epoch is out of range")
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
        """Carry out the consequences of the frames that arrived together."""
        self._is_unsettled = False
        self._hub.settle(now)

    def lost(self, node: str, now: float) -> None:
        """Forget a lost node. Frames sent to it recently may not have arrived."""
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
        """Do long work in pieces, one in each turn of the event loop, until cancelled.

        The work is to end games with lost nodes, and to send other nodes the facts that they have subscribed
        to.
        """
        while True:
            await self._work.wait()
            self._work = trio.Event()
            while self.games.end_lost(trio.current_time()) | self._publish():
                await trio.lowlevel.checkpoint()

    def _publish(self) -> bool:
        """Send the next facts to subscribers; return whether more wait. An error ends all subscriptions."""
        try:
            return self._publisher.publish(trio.current_time())
        except Exception:
            logger.exception(
                "cannot send the state of games to other nodes", extra={"event": "telling_failed"}
            )
            self._publisher.close()
            return False

    def _post(self, node: str, message: Message) -> None:
        self._send(b"p", node, encode(message))

    def _send(self, kind: bytes, node: str, frame: bytes) -> None:
        self.links.send(node, kind + frame)

    # For the hub: the methods of `Cluster`.

    def drain(self) -> None:
        """Stop pairing the players of this node, and end their series on other nodes after the current game.

        If this node is the pairing node, it stops pairing at once.
        """
        self._matchmaker.drain()
        self.games.drain()
        self.follow(trio.current_time())

    def is_reserved(self, seat: int) -> bool:
        """Return whether another node may have begun a game with `seat`.

        This node may not know of that game yet.
        """
        return self._matchmaker.is_reserved(seat)

    @property
    def nodes(self) -> int:
        """The number of nodes in the registry's latest answer, including this one."""
        return len(self._view.nodes)

    def condition(self) -> Mapping[str, object]:
        """Return the state of this node's connections, as JSON."""
        name, is_alone = (None, False) if self.pairs is None else (self.pairs[0], self.pairs[0] is None)
        return {
            "node": self._name,
            "linked": sorted(self.links.nodes),
            "pairs": name,
            "alone": is_alone,
            "registry": not self.is_registry_away,
        }

    # The pairing node. The node that holds the registry's lease pairs, and announces that over the links. The
    # other nodes follow the announcement with the highest epoch. A node counts its lease from the request for
    # it, so it stops pairing before the registry gives the lease to another node. It never pairs in the same
    # epoch again. After `ALONE` seconds without a pairing node, each node pairs its own players.

    @property
    def may_pair(self) -> bool:
        """Whether this node may hold the lease.

        It may not hold the lease while the server stops, nor in an epoch in which it has already stopped
        pairing.
        """
        holder = self._view.holder
        is_over = holder is not None and holder.node == self._name and holder.epoch <= self._ceased
        return not self._hub.is_closed and not is_over

    def seen(self, view: View, asked: float) -> None:
        """Apply the registry's answer to a request that was sent at the time `asked`."""
        self._view, self._until = view, asked + LEASE - MARGIN
        if view.holder is not None:
            self.epoch = max(self.epoch, view.holder.epoch)
        self.links.meet(view.nodes)
        self.follow(trio.current_time())

    def follow(self, now: float, *, late: float = 0.0) -> None:
        """Check which node pairs. If that has changed, use the new pairing node, which may be this one.

        `late` is the number of seconds for which this node stood still and received no announcements.
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
        """Return the pairing node that this node knows of, and its epoch; None if there is none."""
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
        """Use `name` as the pairing node. If `name` is None, pair only the players of this node."""
        self.pairs = name, epoch
        self._matchmaker.attach(name, epoch, now, self.links.nodes if name == self._name else ())
        if name == self._name:
            self._claim(epoch)
        about = {"event": "pairing", "other": name, "epoch": epoch}
        if name is not None:
            logger.info("node %s pairs", name, extra=about)
        elif not self._hub.is_closed:  # a server that stops pairs no players
            logger.warning("no node pairs the players of all nodes; this one pairs its own", extra=about)
        self._hub.settle(now)

    def _claim(self, epoch: int) -> None:
        """Send the other nodes the epoch in which this node pairs; 0 if it no longer pairs."""
        for node in self.links.nodes:
            self._send(b"h", node, b"%d" % epoch)


def _refuse_facts(node: str, why: str) -> None:
    about = {"event": "facts_refused", "other": node, "error": why}
    logger.warning("facts from node %s are not shown: %s", node, why, extra=about)

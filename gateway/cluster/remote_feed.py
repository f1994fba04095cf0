"""The facts of other nodes, for any number of subscribers on this node.

`FeedPublisher` sends the facts of its node, `RemoteFeed` receives them. Each subscription has a stream from
each node. Without subscribers no frames are sent. Does not know how frames are sent. Frames of other nodes
are checked as strictly as texts of clients; an invalid one ends the stream from that node.
"""

# A frame is the number of a stream, a letter and a payload. To the publisher: `w` asks for the state and then
# facts, `t` acknowledges a batch, `u` ends the stream. From the publisher: facts, in the form of
# `gateway.game.fact_encoding`; `s` after the state; `e` after a batch; `x` if facts were missed, which ends
# the stream.
#
# The next batch is sent when the last one is acknowledged. So facts for a slow subscriber wait in the feed of
# the other node. When that feed drops them, the subscriber takes `Missed` and has to subscribe again.

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count, islice
from typing import TypeAlias

from gateway.game.encoding import EncodingError
from gateway.game.fact_encoding import SEATS, decode_remote_fact, encode_fact
from gateway.game.facts import Missed, Vanished
from gateway.hub.feed import ALL, RemoteFact, Subscription
from gateway.hub.hub import Hub
from gateway.hub.seats import Seat

LIMIT = 5_000
"""The most facts that may wait for a subscriber."""
MOST_STREAMS = 32
"""The most streams to one node."""
Send: TypeAlias = Callable[[str, bytes], None]
"""Sends a frame to the node of this name."""


@dataclass(eq=False, slots=True)
class _Stream:
    """The stream of facts to one subscriber on another node."""

    facts: Subscription
    seats: Iterator[Seat] | None
    """The seats whose state is still to be sent; None when the state is sent."""
    batch: deque[RemoteFact | bytes] = field(default_factory=deque)
    """The rest of the batch that is being sent."""
    is_ready: bool = True
    """Whether the latest batch was acknowledged."""


class FeedPublisher:
    """Sends the facts of this node to other nodes."""

    def __init__(
        self,
        hub: Hub,
        send: Send,
        wake: Callable[[], None],
        *,
        limit: int = LIMIT,
        part: int = 50,
        piece: int = 50,
    ) -> None:
        """`wake` is called when there may be something to `publish`. It must not block or raise.

        `limit` is the most facts that may wait for a subscriber, `part` the number of players in one part of
        the state, `piece` the most frames of one stream that one `publish` sends.
        """
        self._hub = hub
        self._send = send
        self._wake = wake
        self._limit, self._part, self._piece = limit, part, piece
        self._streams: dict[tuple[str, int], _Stream] = {}

    def receive(self, node: str, number: int, kind: bytes) -> None:
        """Carry out a request of a node about one of its streams. Raises ValueError."""
        stream = self._streams.get((node, number))
        if kind == b"w":
            if stream is not None or sum(name == node for name, _ in self._streams) >= MOST_STREAMS:
                raise ValueError("a stream that is open, or too many")
            facts = self._hub.feed.subscribe(self._wake, ALL, self._limit)
            self._streams[node, number] = _Stream(facts, iter(self._hub.seats()))
        elif kind == b"t" and stream is not None:
            stream.is_ready = True
        elif kind == b"u":
            self._end((node, number))
        self._wake()

    def lost(self, node: str) -> None:
        """End all streams to a node."""
        for key in [key for key in self._streams if key[0] == node]:
            self._end(key)

    def close(self) -> None:
        """End all streams."""
        for key in [*self._streams]:
            self._end(key)

    def publish(self, now: float) -> bool:
        """Send some frames of each stream; return whether more can follow at once."""
        more = False
        for (node, number), stream in [*self._streams.items()]:
            if stream.is_ready and not stream.batch:
                self._collect(stream, now)
            for _ in range(min(self._piece, len(stream.batch))):
                each = stream.batch.popleft()
                if isinstance(each, Missed):
                    self._send(node, b"%d x" % number)
                    self._end((node, number))
                    stream.batch.clear()
                    break
                self._send(node, b"%d %s" % (number, each if isinstance(each, bytes) else encode_fact(each)))
            more |= bool(stream.batch)
        return more

    def _end(self, key: tuple[str, int]) -> None:
        stream = self._streams.pop(key, None)
        if stream is not None:
            stream.facts.close()

    def _collect(self, stream: _Stream, now: float) -> None:
        """Compose the next batch: the facts so far, then the next part of the state, if any is left."""
        stream.batch += stream.facts.take()
        if stream.seats is not None:
            part = tuple(islice(stream.seats, self._part))
            on = self._hub.snapshot(now, part)
            stream.batch += (*on.players, *on.waiting, *on.hindered, *on.games)
            if not part:
                stream.seats = None
                stream.batch.append(b"s")
            stream.batch.append(b"e")
        elif stream.batch:
            stream.batch.append(b"e")
        stream.is_ready = not stream.batch


class RemoteFeed:
    """The facts of all other nodes, for the subscribers on this node."""

    def __init__(
        self,
        send: Send,
        nodes: Callable[[], Iterable[str]],
        refused: Callable[[str, str], object],
        *,
        most: int = 4 * LIMIT,
        most_bytes: int = 32 << 20,
    ) -> None:
        """`nodes` returns the reachable nodes; `refused(node, why)` is called for an invalid frame.

        `most` is the most frames of a batch. `most_bytes` is the largest total size of these frames; it
        allows for names of the greatest length.
        """
        self.send = send
        self.refused = refused
        self.most, self.most_bytes = most, most_bytes
        self.subscriptions: dict[int, NodesSubscription] = {}
        """The subscriptions, by the number of their streams."""
        self._nodes = nodes
        self._numbers = count(1)

    def subscribe(self, wake: Callable[[], None]) -> "NodesSubscription":
        """Subscribe to the state of all other nodes, and then their facts.

        `wake` is called when there is something to take. It must not block or raise.
        """
        number = next(self._numbers)
        subscription = self.subscriptions[number] = NodesSubscription(self, number, wake)
        for node in self._nodes():
            subscription.joined(node)
        return subscription

    def joined(self, node: str) -> None:
        """Add a node to all subscriptions."""
        for subscription in self.subscriptions.values():
            subscription.joined(node)

    def lost(self, node: str) -> None:
        """Drop a node; subscribers take `Vanished` for its players and games."""
        for subscription in self.subscriptions.values():
            subscription.lost(node)

    def receive(self, node: str, number: int, frame: bytes) -> None:
        """Queue a frame that a node has sent in a stream."""
        if number in self.subscriptions:
            self.subscriptions[number].receive(node, frame)


@dataclass(eq=False, slots=True)
class _Source:
    """The stream from one node to one subscriber."""

    first: int
    """The number that is added to the node's seat numbers, so that players of different nodes have different
    numbers."""
    frames: deque[bytes] = field(default_factory=deque)
    """Frames that were not taken yet."""
    size: int = 0
    """The total size of these frames, in bytes."""
    is_whole: bool = False
    """Whether the node's whole state has been taken."""


class NodesSubscription:
    """One subscription to the state of all other nodes, and then their facts."""

    def __init__(self, feed: RemoteFeed, number: int, wake: Callable[[], None]) -> None:
        self._feed = feed
        self._number = number
        self._wake = wake
        self._sources: dict[str, _Source] = {}
        self._vanished: list[Vanished] = []
        self._indices = count(1)

    @property
    def is_whole(self) -> bool:
        """Whether the whole state of all nodes has been taken."""
        return all(source.is_whole for source in self._sources.values())

    def take(self, most: int) -> Sequence[RemoteFact]:
        """Remove and return waiting facts, about `most` at most. After `Missed`, subscribe again."""
        taken: list[RemoteFact] = [*self._vanished]
        self._vanished.clear()
        for node, source in [*self._sources.items()]:
            try:
                while source.frames and len(taken) < most:
                    frame = source.frames.popleft()
                    source.size -= len(frame)
                    match frame[:1]:
                        case b"m" | b"v":
                            taken.append(decode_remote_fact(frame, source.first))
                        case b"s":
                            source.is_whole = True
                        case b"e":
                            self._send(node, b"t")
                        case b"x":
                            taken.append(Missed(1))
                        case _:
                            raise EncodingError("no frame of this version")
            except ValueError as error:
                self._refuse(node, str(error))
        return taken

    def close(self) -> None:
        """End the subscription."""
        self._feed.subscriptions.pop(self._number, None)
        for node in self._sources:
            self._send(node, b"u")
        self._sources.clear()
        self._vanished.clear()

    # Called by the feed.

    def joined(self, node: str) -> None:
        """Ask a node for its state and facts."""
        self._sources[node] = _Source(next(self._indices) * SEATS)
        self._send(node, b"w")

    def lost(self, node: str) -> None:
        """Drop a node; the subscriber takes `Vanished` for its players and games."""
        source = self._sources.pop(node, None)
        if source is not None:
            self._vanished.append(Vanished(source.first, source.first + SEATS - 1))
            self._wake()

    def receive(self, node: str, frame: bytes) -> None:
        """Queue a frame of a node."""
        source = self._sources.get(node)
        if source is None:
            return
        source.frames.append(frame)
        source.size += len(frame)
        if len(source.frames) > self._feed.most or source.size > self._feed.most_bytes:
            self._refuse(node, "more facts than were asked for")
        elif frame in (b"e", b"x"):
            self._wake()

    def _refuse(self, node: str, why: str) -> None:
        """End the stream from a node that sends invalid frames."""
        self._send(node, b"u")
        self._feed.refused(node, why)
        self.lost(node)

    def _send(self, node: str, kind: bytes) -> None:
        self._feed.send(node, b"%d %s" % (self._number, kind))

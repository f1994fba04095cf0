"""The feed of all nodes: the facts that pass between nodes, for any number of subscribers on each.

`FeedPublisher` is the end of the node whose facts they are, `RemoteFeed` that of the node of the
subscribers. Each subscription is a stream of its own from each node. The rules:

- While nobody subscribes, nothing is subscribed to and nothing is sent. - A batch follows only when the one
before it was taken. So what a slow subscriber has not taken waits in the feed of the other node, within its
bounds; when that drops it, the subscriber takes `Missed` and subscribes anew. - The state is sent in parts,
each after the facts before it. - A player of another node has a number here that no other player has. Games
keep their ids. - What another node sends is read as strictly as a client's text. Facts that cannot be read
cost their node the subscription, and nothing else.

A frame is the number of a stream, which is one subscription's, and a letter with what it stands for. To the
node whose facts they are: `w` asks for the state and then facts, `t` says that a batch was taken, `u` asks
for nothing more. From there: facts, as `gateway.game.fact_encoding` writes them; `s` after the state; `e`
after a batch; `x` if facts were missed, which is the end of a stream.
"""

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
"""Facts that may wait for a subscriber."""
MOST_STREAMS = 32
"""Streams to one node."""
Send: TypeAlias = Callable[[str, bytes], None]
"""Puts a frame on its way to the node of that name."""


@dataclass(eq=False, slots=True)
class _Stream:
    """What one subscriber on another node is to get."""

    facts: Subscription
    seats: Iterator[Seat] | None
    """Those whose state is still to be sent; None once all is."""
    batch: deque[RemoteFact | bytes] = field(default_factory=deque)
    """What is left to send of the batch."""
    is_ready: bool = True
    """Whether the latest batch was taken."""


class FeedPublisher:
    """Sends other nodes what happens on this one."""

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
        """`wake` is called when there may be something to `publish`. It MUST NOT block or raise.

        `limit`: facts that may wait for a subscriber. `part`: players in one part of the state. `piece`:
        frames of one stream that are sent at once.
        """
        self._hub = hub
        self._send = send
        self._wake = wake
        self._limit, self._part, self._piece = limit, part, piece
        self._streams: dict[tuple[str, int], _Stream] = {}

    def receive(self, node: str, number: int, kind: bytes) -> None:
        """Carry out what a node asks for, in the stream of that number. Raises ValueError."""
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
        """Send a node nothing more."""
        for key in [key for key in self._streams if key[0] == node]:
            self._end(key)

    def close(self) -> None:
        """Send nobody anything more."""
        for key in [*self._streams]:
            self._end(key)

    def publish(self, now: float) -> bool:
        """Send a piece of each stream; return whether another piece can follow at once."""
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
        """Make the next batch, if there is anything to send."""
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
    """The facts of all other nodes, for the subscribers of this one."""

    def __init__(
        self,
        send: Send,
        nodes: Callable[[], Iterable[str]],
        refused: Callable[[str, str], object],
        *,
        most: int = 4 * LIMIT,
        most_bytes: int = 32 << 20,
    ) -> None:
        """`nodes` returns those that can be sent to; `refused` is called for one whose facts cannot be read.

        `most`: frames in a batch. `most_bytes`: bytes of them, all names being of the greatest length.
        """
        self.send = send
        self.refused = refused
        self.most, self.most_bytes = most, most_bytes
        self.subscriptions: dict[int, NodesSubscription] = {}
        """By the numbers of their streams."""
        self._nodes = nodes
        self._numbers = count(1)

    def subscribe(self, wake: Callable[[], None]) -> "NodesSubscription":
        """Ask all nodes for their state, and then facts.

        `wake` is called when something waits. It MUST NOT block or raise.
        """
        number = next(self._numbers)
        subscription = self.subscriptions[number] = NodesSubscription(self, number, wake)
        for node in self._nodes():
            subscription.joined(node)
        return subscription

    def joined(self, node: str) -> None:
        """Ask a node, too."""
        for subscription in self.subscriptions.values():
            subscription.joined(node)

    def lost(self, node: str) -> None:
        """Drop a node, and publish that its players and games have vanished."""
        for subscription in self.subscriptions.values():
            subscription.lost(node)

    def receive(self, node: str, number: int, frame: bytes) -> None:
        """Take in what a node sends in the stream of that number."""
        if number in self.subscriptions:
            self.subscriptions[number].receive(node, frame)


@dataclass(eq=False, slots=True)
class _Source:
    """A node, as one subscriber knows it."""

    first: int
    """What its seats' numbers are added to."""
    frames: deque[bytes] = field(default_factory=deque)
    """What was not taken yet."""
    size: int = 0
    """Bytes of these."""
    is_whole: bool = False
    """Whether its state has been taken."""


class NodesSubscription:
    """What waits for one subscriber: the state of all other nodes, and then their facts."""

    def __init__(self, feed: RemoteFeed, number: int, wake: Callable[[], None]) -> None:
        self._feed = feed
        self._number = number
        self._wake = wake
        self._sources: dict[str, _Source] = {}
        self._vanished: list[Vanished] = []
        self._indices = count(1)

    @property
    def is_whole(self) -> bool:
        """Whether the state of all nodes has been taken."""
        return all(source.is_whole for source in self._sources.values())

    def take(self, most: int) -> Sequence[RemoteFact]:
        """Return what waits, up to about `most`. After `Missed` only another subscription helps."""
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
        """Drop a node, and publish that its players and games have vanished."""
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
        """Take nothing more of a node, whose facts are of no use."""
        self._send(node, b"u")
        self._feed.refused(node, why)
        self.lost(node)

    def _send(self, node: str, kind: bytes) -> None:
        self._feed.send(node, b"%d %s" % (self._number, kind))

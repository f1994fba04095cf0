"""What is on on all nodes, for whoever follows it on one of them: the facts that pass between nodes.

`FeedPublisher` is the end of a node that is watched, `RemoteFeed` that of the node where somebody watches.
Both write frames, which arrive once each and in order; neither knows how they travel. The rules they keep:

- While nobody watches, nothing is subscribed to and nothing is sent.
- A batch follows only when the one before it was taken. So what a slow watcher has not taken waits in the
  feed, within its bounds; when the feed drops it, the watcher hears `Missed` and asks anew.
- The state is sent in parts, each after the facts before it.
- A player of another node has a number here that no other player has. Games keep their ids.
- What another node sends is read as strictly as a client's text. Facts that cannot be read cost their node
  its watcher, and nothing else.

A frame is a letter and what it stands for. To the node that is watched: `w` and a number, which asks for the
state and then facts, with 0 for nothing more; and `t`, for a batch that was taken. From there: `b` and that
number, with which all begins; what `fact_codec` writes; `s` after the state; `e` after a batch; `x` if facts
were missed.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count, islice
from typing import TypeAlias

from gateway.cluster.fact_codec import SEATS, decode_fact, encode_fact
from gateway.game.encoding import EncodingError
from gateway.game.facts import Missed, Vanished
from gateway.hub.feed import ALL, Subscription
from gateway.hub.interfaces import HubForSubscribers, Told
from gateway.hub.seat import Seat

PART = 50
"""Players in one part of the state."""
PIECE = 50
"""Frames that are sent at once."""
LIMIT = 5_000
"""Facts that may wait for a watcher."""
MOST = 4 * LIMIT
"""Frames in a batch."""
MOST_BYTES = 32 << 20
"""Bytes of them, all names being of the greatest length."""
Send: TypeAlias = Callable[[str, bytes], None]
"""Puts a frame on its way to the node of that name."""


@dataclass(eq=False, slots=True)
class _Watcher:
    """A node where somebody watches."""

    facts: Subscription
    seats: Iterator[Seat] | None
    """Those whose state is still to be told; None once all is."""
    batch: deque[Told | bytes] = field(default_factory=deque)
    """What is left to send of the batch."""
    is_ready: bool = True
    """Whether it has taken the latest batch."""


class FeedPublisher:
    """Tells other nodes what happens on this one."""

    def __init__(self, hub: HubForSubscribers, send: Send, wake: Callable[[], None]) -> None:
        """`wake` is called when there may be something to `tell`. It MUST NOT block or raise."""
        self._hub = hub
        self._send = send
        self._wake = wake
        self._watchers: dict[str, _Watcher] = {}

    def receive(self, node: str, frame: bytes) -> None:
        """Carry out what a watcher says. Raises ValueError."""
        if frame == b"t":
            if node in self._watchers:
                self._watchers[node].is_ready = True
        else:
            number = int(frame.removeprefix(b"w "))
            self.lost(node)
            if number:
                facts = self._hub.feed.subscribe(self._wake, ALL, LIMIT)
                self._watchers[node] = _Watcher(facts, iter(self._hub.seats()))
                self._send(node, b"b %d" % number)
        self._wake()

    def lost(self, node: str) -> None:
        """Tell a node nothing more."""
        watcher = self._watchers.pop(node, None)
        if watcher is not None:
            watcher.facts.close()

    def close(self) -> None:
        """Tell nobody anything more."""
        for node in [*self._watchers]:
            self.lost(node)

    def tell(self, now: float) -> bool:
        """Send each watcher a piece of what it is to get; return whether another piece can follow at once."""
        more = False
        for node, watcher in [*self._watchers.items()]:
            more |= self._tell(node, watcher, now)
        return more

    def _tell(self, node: str, watcher: _Watcher, now: float) -> bool:
        batch = watcher.batch
        if watcher.is_ready and not batch:
            self._collect(watcher, now)
        for _ in range(min(PIECE, len(batch))):
            told = batch.popleft()
            if isinstance(told, Missed):
                self._send(node, b"x")
                self.lost(node)
                return False
            self._send(node, told if isinstance(told, bytes) else encode_fact(told))
        return bool(batch)

    def _collect(self, watcher: _Watcher, now: float) -> None:
        """Make the next batch, if there is anything to tell."""
        watcher.batch += watcher.facts.take()
        if watcher.seats is not None:
            part = tuple(islice(watcher.seats, PART))
            on = self._hub.snapshot(now, part)
            watcher.batch += (*on.players, *on.waiting, *on.hindered, *on.games)
            if not part:
                watcher.seats = None
            watcher.batch += (b"e",) if part else (b"s", b"e")
        elif watcher.batch:
            watcher.batch.append(b"e")
        watcher.is_ready = not watcher.batch


@dataclass(eq=False, slots=True)
class _Source:
    """A node that is watched."""

    first: int
    """What its seats' numbers are added to."""
    frames: deque[bytes] = field(default_factory=deque)
    """What was not taken yet."""
    size: int = 0
    """Bytes of these."""
    is_begun: bool = False
    is_whole: bool = False
    """Whether its state has been taken."""

    @property
    def vanished(self) -> Vanished:
        """The loss of all its players."""
        return Vanished(self.first, self.first + SEATS - 1)


class RemoteFeed:
    """Follows what happens on all other nodes, for one subscriber of this one."""

    def __init__(
        self, send: Send, nodes: Callable[[], Iterable[str]], refused: Callable[[str, str], object]
    ) -> None:
        """`nodes` returns those that can be sent to; `refused` hears whose facts cannot be read, and why."""
        self._send = send
        self._nodes = nodes
        self._refused = refused
        self._number = 0
        """The number of the latest request."""
        self._wake: Callable[[], None] | None = None
        """None while nobody watches."""
        self._sources: dict[str, _Source] = {}
        self._vanished: list[Vanished] = []
        self._indices = count(1)

    # What the node tells.

    def joined(self, node: str) -> None:
        """Follow a node, too, if somebody watches."""
        if self._wake is not None:
            self._sources[node] = _Source(next(self._indices) * SEATS)
            self._send(node, b"w %d" % self._number)

    def lost(self, node: str) -> None:
        """Let all players and games of a node vanish."""
        source = self._sources.pop(node, None)
        if source is not None and self._wake is not None:
            self._vanished.append(source.vanished)
            self._wake()

    def receive(self, node: str, frame: bytes) -> None:
        """Take in what a node tells."""
        source = self._sources.get(node)
        if source is None or self._wake is None:
            return
        if frame == b"b %d" % self._number:
            source.is_begun = True
        elif source.is_begun:
            source.frames.append(frame)
            source.size += len(frame)
            if len(source.frames) > MOST or source.size > MOST_BYTES:
                self._refuse(node, source, "more facts than were asked for")
            elif frame in (b"e", b"x"):
                self._wake()

    # What the subscriber asks.

    def watch(self, wake: Callable[[], None]) -> None:
        """Ask all nodes for their state, and then facts.

        `wake` is called when something waits. It MUST NOT block or raise.
        """
        self.close()
        self._number += 1
        self._wake, self._indices = wake, count(1)
        for node in self._nodes():
            self.joined(node)

    def close(self) -> None:
        """Follow no node any more."""
        for node in self._sources:
            self._send(node, b"w 0")
        self._sources.clear()
        self._vanished.clear()
        self._wake = None

    @property
    def is_whole(self) -> bool:
        """Whether the state of all nodes has been taken."""
        return all(source.is_whole for source in self._sources.values())

    def take(self, most: int) -> Sequence[Told]:
        """Return what waits, up to about `most`. After `Missed` only another `watch` helps."""
        taken: list[Told] = [*self._vanished]
        self._vanished.clear()
        for node, source in [*self._sources.items()]:
            try:
                while source.frames and len(taken) < most:
                    taken += self._read(node, source)
            except ValueError as error:
                self._refuse(node, source, str(error))
        return taken

    def _refuse(self, node: str, source: _Source, why: str) -> None:
        """Follow a node no more, whose facts are of no use."""
        self._send(node, b"w 0")
        self._refused(node, why)
        self.lost(node)

    def _read(self, node: str, source: _Source) -> Sequence[Told]:
        """Take in the next frame of a node; return what that tells. Raises ValueError."""
        frame = source.frames.popleft()
        source.size -= len(frame)
        match frame[:1]:
            case b"m" | b"v":
                return (decode_fact(frame, source.first),)
            case b"s":
                source.is_whole = True
            case b"e":
                self._send(node, b"t")
            case b"x":
                return (Missed(1),)
            case _:
                raise EncodingError("no frame of this version")
        return ()

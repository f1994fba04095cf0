"""What goes from one node to another: hellos, then frames, in numbered batches that are acknowledged.

Pure. Knows bytes; does not know what a frame says, nor connections. A channel outlives its connection: what
was not acknowledged when that broke is sent again by the next one, and what comes twice is dropped. So each
frame arrives once and in order, for as long as the two nodes keep their channel.

A batch is a head and frames of no newline, each with one behind it. The head has 20 bytes: the length of the
frames (4), the number of the batch (8) and the number of the latest batch that has arrived from the other
side (8). A batch without frames has the number 0, and only acknowledges.
"""

import hmac
import json
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from secrets import token_hex
from struct import Struct
from typing import Any

# How two nodes of a cluster greet each other.
#
# Pure. Each side says who it is and gives the other a nonce; each then proves that it knows the cluster's
# secret by signing both hellos. Neither takes anything else before that. Nodes that would not agree on what a
# game is, being of another version or having other rules, refuse each other in words that say what differs.

VERSION = 5
"""Of all that nodes say to each other."""
LONGEST_HELLO = 4096
"""Bytes of a hello."""


class HelloError(ValueError):
    """The other node is not one to talk to."""


@dataclass(frozen=True, slots=True)
class Identity:
    """What a node is, for as long as it runs."""

    node: str
    """Its name: 1 to 32 letters, digits, dots, dashes or underscores."""
    run: int
    """The number of its run, which no other has."""
    rules: Mapping[str, float]
    """What games are played by: seconds of clocks and the like."""
    version: int = VERSION


@dataclass(frozen=True, slots=True)
class Hello:
    """What a node says first on a connection."""

    identity: Identity
    channel: str = ""
    """The channel that it goes on with; empty for a new one."""
    arrived: int = 0
    """The number of the latest batch that has arrived on it."""
    nonce: str = field(default_factory=lambda: token_hex(16))

    def encode(self) -> bytes:
        """Return a line."""
        return json.dumps(asdict(self)).encode() + b"\n"


def decode(line: bytes) -> Hello:
    """Return the hello that a line is. Raises HelloError."""
    try:
        value = json.loads(line)
        identity = Identity(**_fields(value.pop("identity"), node=str, run=int, rules=dict, version=int))
        hello = Hello(identity, **_fields(value, channel=str, arrived=int, nonce=str))
    except (ValueError, TypeError, AttributeError, KeyError, RecursionError) as error:
        raise HelloError("what it says is no hello") from error
    if not all(type(each) in (int, float) for each in identity.rules.values()):
        raise HelloError("what it says is no hello")
    return hello


def check(own: Identity, other: Identity) -> None:
    """Raise HelloError if two nodes do not go together."""
    if own.version != other.version:
        raise HelloError(f"it speaks version {other.version}, this node {own.version}: upgrade one of them")
    if own.node == other.node:
        raise HelloError(f"it is called {own.node} as well: give each node a name of its own with --node")
    different = sorted(
        name for name in {*own.rules, *other.rules} if own.rules.get(name) != other.rules.get(name)
    )
    if different:
        raise HelloError(f"its --{', --'.join(different)} differs: start all nodes with the same")


def proof(secret: bytes, prover: Hello, other: Hello) -> bytes:
    """Return the line by which `prover` shows that it knows the secret."""
    text = prover.encode() + other.encode()
    return hmac.new(secret, text, sha256).hexdigest().encode() + b"\n"


def is_proof(line: bytes, secret: bytes, prover: Hello, other: Hello) -> bool:
    """Return whether `line` is the proof of `prover`."""
    return hmac.compare_digest(line, proof(secret, prover, other))


def _fields(value: Any, **kinds: type) -> dict[str, Any]:
    if value.keys() != kinds.keys() or any(type(value[name]) is not kind for name, kind in kinds.items()):
        raise ValueError("not the fields")
    return dict(value)


# The channel.

LONGEST = 16 << 20
"""Bytes of a batch at most."""
MOST_UNACKNOWLEDGED = 64 << 20
"""Bytes that may wait to be acknowledged."""

_HEAD = Struct(">IQQ")


class Channel:
    """One side of a channel between two nodes."""

    def __init__(self) -> None:
        self.arrived = 0
        """The number of the latest batch that has arrived."""
        self._frames: list[bytes] = []
        self._sent = 0
        self._unacknowledged: deque[tuple[int, bytes]] = deque()
        self._size = 0
        self._acknowledged = 0
        """The number of the latest batch that the other side was told has arrived."""
        self._data = bytearray()

    @property
    def is_too_full(self) -> bool:
        """Whether the other side has not acknowledged for too long."""
        return self._size > MOST_UNACKNOWLEDGED

    @property
    def has_unacknowledged(self) -> bool:
        """Whether something has arrived that was not acknowledged yet."""
        return self._acknowledged < self.arrived

    def put(self, frame: bytes) -> bool:
        """Let a frame go with the next batch; return whether it is the first one."""
        self._frames.append(frame)
        return len(self._frames) == 1

    def batch(self) -> bytes:
        """Return the bytes of the next batch: an acknowledgement, if no frame waits."""
        if not self._frames:
            return self._packed(0, b"")
        frames, self._frames = self._frames, []
        self._sent += 1
        data = b"\n".join((*frames, b""))
        self._unacknowledged.append((self._sent, data))
        self._size += len(data)
        return self._packed(self._sent, data)

    def again(self, arrived: int) -> bytes:
        """Return the bytes with which a new connection begins.

        `arrived` is the number of the latest batch that the other side says has arrived there.
        """
        self._data.clear()
        self._forget(arrived)
        return b"".join(self._packed(number, data) for number, data in self._unacknowledged)

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Yield the frames that are whole with these bytes. Raises ValueError for bytes that are no batch."""
        self._data += data
        while len(self._data) >= _HEAD.size:
            length, number, acknowledged = _HEAD.unpack_from(self._data)
            if length > LONGEST:
                raise ValueError("a batch that is too long")
            end = _HEAD.size + length
            if len(self._data) < end:
                return
            frames = bytes(self._data[_HEAD.size : end])
            del self._data[:end]
            self._forget(acknowledged)
            if number > self.arrived:
                if number != self.arrived + 1:
                    raise ValueError("a batch is missing")
                self.arrived = number
                yield from frames.split(b"\n")[:-1]

    def _packed(self, number: int, data: bytes) -> bytes:
        self._acknowledged = self.arrived
        return _HEAD.pack(len(data), number, self.arrived) + data

    def _forget(self, acknowledged: int) -> None:
        if acknowledged > self._sent:
            raise ValueError("a batch that was not sent")
        while self._unacknowledged and self._unacknowledged[0][0] <= acknowledged:
            self._size -= len(self._unacknowledged.popleft()[1])

"""The connection between two nodes: hellos, then frames in numbered batches that are acknowledged.

Pure. Knows bytes; does not know sockets, nor the meaning of frames. A channel outlives its connection:
batches that were not acknowledged are sent again on the next connection, and duplicates are dropped. So each
frame arrives once and in order.
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

# Hellos.
#
# Each node sends its identity and a nonce, then proves that it knows the cluster's secret by signing both
# hellos. Before that it accepts no other message. Nodes with different versions or rules refuse each other.

VERSION = 8
"""The version of all messages between nodes."""
LONGEST_HELLO = 4096
"""The longest hello, in bytes."""


class HelloError(ValueError):
    """The hello of the other node is invalid, or the two nodes do not match."""


@dataclass(frozen=True, slots=True)
class Identity:
    """The identity of a node during one run."""

    node: str
    """The node's name: 1 to 32 letters, digits, dots, dashes or underscores."""
    run: int
    """The number of this run, unique in the cluster."""
    rules: Mapping[str, float]
    """The options that all nodes must share, such as the seconds of clocks."""
    version: int = VERSION


@dataclass(frozen=True, slots=True)
class Hello:
    """The first message of a node on a connection."""

    identity: Identity
    channel: str = ""
    """The channel to continue; empty for a new one."""
    arrived: int = 0
    """The number of the latest batch that the node has received on this channel."""
    nonce: str = field(default_factory=lambda: token_hex(16))

    def encode(self) -> bytes:
        """Return the hello as a line of JSON."""
        return json.dumps(asdict(self)).encode() + b"\n"


def decode(line: bytes) -> Hello:
    """Parse a hello. Raises HelloError."""
    try:
        value = json.loads(line)
        identity = Identity(**_fields(value.pop("identity"), node=str, run=int, rules=dict, version=int))
        hello = Hello(identity, **_fields(value, channel=str, arrived=int, nonce=str))
    except (ValueError, TypeError, AttributeError, KeyError, RecursionError) as error:
        raise HelloError("its hello is not valid") from error
    if not all(type(each) in (int, float) for each in identity.rules.values()):
        raise HelloError("its hello is not valid")
    return hello


def check(own: Identity, other: Identity) -> None:
    """Raise HelloError if the two nodes cannot be in one cluster."""
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
    """Return the line with which the sender of `prover` proves that it knows the secret."""
    text = prover.encode() + other.encode()
    return hmac.new(secret, text, sha256).hexdigest().encode() + b"\n"


def is_proof(line: bytes, secret: bytes, prover: Hello, other: Hello) -> bool:
    """Whether `line` is the proof by the sender of `prover`."""
    return hmac.compare_digest(line, proof(secret, prover, other))


def _fields(value: Any, **kinds: type) -> dict[str, Any]:
    if value.keys() != kinds.keys() or any(type(value[name]) is not kind for name, kind in kinds.items()):
        raise ValueError("not the fields")
    return dict(value)


# The channel.
#
# A batch is a head and frames, each followed by a newline, which frames do not contain. The head has 20
# bytes: the length of the frames (4), the number of the batch (8) and the number of the latest batch that the
# sender has received (8). A batch without frames has the number 0, and is only an acknowledgement.

LONGEST = 16 << 20
"""The longest batch, in bytes."""
MOST_UNACKNOWLEDGED = 64 << 20
"""The most bytes that may be unacknowledged."""

_HEAD = Struct(">IQQ")


class Channel:
    """One side of a channel between two nodes."""

    def __init__(self) -> None:
        self.arrived = 0
        """The number of the latest batch received."""
        self._frames: list[bytes] = []
        self._sent = 0
        self._unacknowledged: deque[tuple[int, bytes]] = deque()
        self._size = 0
        self._acknowledged = 0
        """The number of the latest batch that was received and acknowledged."""
        self._data = bytearray()

    @property
    def is_too_full(self) -> bool:
        """Whether more than `MOST_UNACKNOWLEDGED` bytes are unacknowledged."""
        return self._size > MOST_UNACKNOWLEDGED

    @property
    def has_unacknowledged(self) -> bool:
        """Whether a received batch was not acknowledged yet."""
        return self._acknowledged < self.arrived

    def put(self, frame: bytes) -> bool:
        """Add a frame to the next batch; return whether it is the first frame in it."""
        self._frames.append(frame)
        return len(self._frames) == 1

    def batch(self) -> bytes:
        """Return the bytes of the next batch. Without frames it is only an acknowledgement."""
        if not self._frames:
            return self._packed(0, b"")
        frames, self._frames = self._frames, []
        self._sent += 1
        data = b"\n".join((*frames, b""))
        self._unacknowledged.append((self._sent, data))
        self._size += len(data)
        return self._packed(self._sent, data)

    def again(self, arrived: int) -> bytes:
        """Return the bytes to send first on a new connection: the batches that the other side lacks.

        `arrived` is the number in the other side's hello.
        """
        self._data.clear()
        self._forget(arrived)
        return b"".join(self._packed(number, data) for number, data in self._unacknowledged)

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Add received bytes; yield the frames that are now complete. Raises ValueError for invalid bytes."""
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

"""What goes from one node to another: frames, in numbered batches that are acknowledged.

Pure. Knows bytes; does not know what a frame says, nor connections. A channel outlives its connection: what
was not acknowledged when that broke is sent again by the next one, and what comes twice is dropped. So each
frame arrives once and in order, for as long as the two nodes keep their channel.

A batch is a head and frames of no newline, each with one behind it. The head has 20 bytes: the length of the
frames (4), the number of the batch (8) and the number of the latest batch that has arrived from the other
side (8). A batch without frames has the number 0, and only acknowledges.
"""

from collections import deque
from collections.abc import Iterator
from struct import Struct

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
    def owes(self) -> bool:
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

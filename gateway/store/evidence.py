"""Evidence: what one side said and heard during a game, with times, and what the server made of it.

Knows text and milliseconds; does not know what a dialect's messages mean. A `Recorder` collects while the
game is on, and the rule it keeps is that no client can make it grow: a line that is too long is cut, and
where there are too many, those in the middle make room, because a game is mostly lost at its end.

Stored, an exchange is JSON, compressed: `pack` and `unpack` are each other's inverse.
"""

import json
import zlib
from collections import deque
from typing import Literal, NamedTuple, TypeAlias

LONGEST = 1_000
"""Characters that are kept of one text, and of one verdict."""
HEAD = 100
"""Lines that are kept from the beginning of a game."""
TAIL = 300
"""Lines that are kept up to its end."""

_encode = json.JSONEncoder(separators=(",", ":"), check_circular=False).encode


Direction: TypeAlias = Literal["in", "out", "note"]
"""Which way a text went, seen from the server; a note is the server's own remark, without a text."""


class Line(NamedTuple):
    """One text on the wire. A tuple, as there are many: half the time of a dataclass to make and to pack."""

    at: int
    """Milliseconds since the game began."""
    direction: Direction
    text: str
    verdict: str = ""
    """What the server thought of it, such as why it was refused, or the clock that was left. May be empty."""


Exchange: TypeAlias = tuple[Line, ...]
"""One side of a game, oldest line first."""


class Recorder:
    """Collects the exchange of one side in one game, in bounded memory."""

    __slots__ = ("_head", "_left_out", "_tail")

    def __init__(self) -> None:
        self._head: list[Line] = []
        self._tail: deque[Line] = deque(maxlen=TAIL)
        self._left_out = 0

    def add(self, at: int, direction: Direction, text: str, verdict: str = "") -> None:
        """Note a text, at `at` milliseconds since the game began."""
        line = Line(at, direction, _cut(text), _cut(verdict))
        if len(self._head) < HEAD:
            self._head.append(line)
            return
        self._left_out += len(self._tail) == TAIL
        self._tail.append(line)

    def exchange(self) -> Exchange:
        """Return what was collected; a note stands in for lines that are left out."""
        if not self._left_out:
            return (*self._head, *self._tail)
        gap = Line(self._tail[0].at, "note", "", f"{self._left_out} lines left out")
        return (*self._head, gap, *self._tail)


def size(exchange: Exchange) -> int:
    """Return about how many bytes of memory an exchange takes."""
    return sum(150 + len(line.text) + len(line.verdict) for line in exchange)


def pack(exchange: Exchange) -> bytes:
    """Return the exchange as bytes."""
    return zlib.compress(_encode(exchange).encode(), 1)


def unpack(data: bytes) -> Exchange:
    """Return the exchange that `pack` made bytes of. Raises ValueError where it made none of these."""
    try:
        return tuple(_line(*row) for row in json.loads(zlib.decompress(data)))
    except (zlib.error, TypeError) as error:
        raise ValueError("no exchange") from error


def _line(at: int, direction: Direction, text: str, verdict: str) -> Line:
    if direction not in ("in", "out", "note"):
        raise ValueError(f"{direction!r} is no direction")
    return Line(at, direction, text, verdict)


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}... ({len(text)} characters)"

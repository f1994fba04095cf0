"""Evidence: what one side said and heard during a game, with times, and what the server made of it.

Knows text and milliseconds; does not know what a dialect's messages mean. A `Recorder` collects while the
game is on, and the rule it keeps is that no client can make it grow: a line that is too long is cut, and
where there are too many, those in the middle make room, because a game is mostly lost at its end.

Stored, an exchange is JSON, compressed: `pack` and `unpack` are each other's inverse.
"""

import json
import zlib
from collections import deque
from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

LONGEST = 1_000
"""Characters that are kept of one text, and of one verdict."""
HEAD = 100
"""Lines that are kept from the beginning of a game."""
TAIL = 300
"""Lines that are kept up to its end."""


class Direction(Enum):
    """Which way a text went, seen from the server."""

    IN = "in"
    OUT = "out"
    NOTE = "note"
    """No text at all; the verdict is the server's remark."""


@dataclass(frozen=True, slots=True)
class Line:
    """One text on the wire."""

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
        gap = Line(self._tail[0].at, Direction.NOTE, "", f"{self._left_out} lines left out")
        return (*self._head, gap, *self._tail)


def size(exchange: Exchange) -> int:
    """Return about how many bytes of memory an exchange takes."""
    return sum(150 + len(line.text) + len(line.verdict) for line in exchange)


def pack(exchange: Exchange) -> bytes:
    """Return the exchange as bytes."""
    rows = [(line.at, line.direction.value, line.text, line.verdict) for line in exchange]
    return zlib.compress(json.dumps(rows, separators=(",", ":")).encode(), 1)


def unpack(data: bytes) -> Exchange:
    """Return the exchange that `pack` made bytes of. Raises ValueError where it made none of these."""
    try:
        rows = json.loads(zlib.decompress(data))
        return tuple(Line(at, Direction(way), text, verdict) for at, way, text, verdict in rows)
    except (zlib.error, TypeError) as error:
        raise ValueError("no exchange") from error


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}... ({len(text)} characters)"

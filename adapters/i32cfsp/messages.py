"""The messages of the I32CFSP dialect, as values (PROTOCOL.md 2 and 4).

Does not know how messages are written, nor when they are sent.
"""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Hello:
    """A client's first line, which has its name."""

    name: str
    token: str | None = field(default=None, repr=False, compare=False)
    """The second word. It is used only for a protected name (PROTOCOL.md 2.7)."""


@dataclass(frozen=True, slots=True)
class AiGame:
    """A client's request for a game, on a board of 7 columns and 6 rows."""

    sized: bool = True
    """Whether the request gives the size, which it did not in earlier years."""


@dataclass(frozen=True, slots=True)
class Drop:
    """A move: the client's own, or the opponent's if the server sends it."""

    column: int
    """A column is 1 to 7."""


@dataclass(frozen=True, slots=True)
class Pop:
    """A client's move that takes a disc out, which this server does not have (PROTOCOL.md 4.6)."""

    column: int


@dataclass(frozen=True, slots=True)
class Blank:
    """An empty line, which means nothing."""


ClientMessage: TypeAlias = Hello | AiGame | Drop | Pop | Blank


@dataclass(frozen=True, slots=True)
class Welcome:
    """The answer to the client's first line."""

    name: str


class Word(StrEnum):
    """The server's messages that are one fixed word."""

    READY = "READY"
    OKAY = "OKAY"
    INVALID = "INVALID"
    WINNER_RED = "WINNER_RED"
    WINNER_YELLOW = "WINNER_YELLOW"
    ERROR = "ERROR"


ServerMessage: TypeAlias = Welcome | Word | Drop

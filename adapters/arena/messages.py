"""The messages of the arena dialect (PROTOCOL.md 3 to 5).

A client message keeps how a copy of its map is written: a server that ignores a message sends it back. It
does not keep the map, which may take many times the memory of its text: a field is text, a number or null,
and `()` stands for any other value.
"""

from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple, TypeAlias


class Encoding(Enum):
    """How maps are written."""

    JSON = "json"
    EDN = "edn"


@dataclass(frozen=True, slots=True)
class Said:
    """A map that was sent, as a copy of it is written."""

    text: str
    encoding: Encoding | None = None
    """None for an empty map, which is the same in both encodings."""


@dataclass(frozen=True, slots=True)
class Start:
    """Ask for a game."""

    said: Said
    id: object = None
    against: object = None
    table: object = None
    token: object = field(default=None, repr=False, compare=False)
    """What lets a player bear a protected id (PROTOCOL.md 3.6)."""


@dataclass(frozen=True, slots=True)
class Move:
    """Drop a disc."""

    said: Said
    move: object = None
    """Meant to be a column, 0 to 6."""


@dataclass(frozen=True, slots=True)
class StateRequest:
    """Ask for the state of the game."""

    said: Said


@dataclass(frozen=True, slots=True)
class Other:
    """Any other map."""

    said: Said


ClientMessage: TypeAlias = Start | Move | StateRequest | Other


class State(NamedTuple):
    """The game as it stands.

    A NamedTuple, which is made faster than a frozen dataclass: every move makes one.
    """

    turn: int
    """1 or 2: whose move; 0 when the game is over."""
    you: int
    """1 or 2: which player the receiver is."""
    cells: bytes
    """42 numbers, column by column from column 0, each from the bottom up: 0 empty, 1, 2."""
    moves: tuple[int, ...]
    """All columns so far, oldest first."""
    last_move: int | None = None
    """The column just played, in a state that tells of a move."""
    winner: int | None = None
    """1, 2, or 0 for a draw, once the game is over."""


@dataclass(frozen=True, slots=True)
class Ignored:
    """A message changed nothing."""

    said: Said | str
    """The message, or the text of something that was none."""
    reason: str


@dataclass(frozen=True, slots=True)
class Disconnected:
    """The opponent left."""


@dataclass(frozen=True, slots=True)
class End:
    """The game is over; nothing comes until the next `Start`."""


ServerMessage: TypeAlias = State | Ignored | Disconnected | End

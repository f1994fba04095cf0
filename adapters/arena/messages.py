"""The messages of the arena dialect (PROTOCOL.md 3 to 5).

A client message keeps a copy of its map as text. If the server ignores the message, it sends the copy back.
The map itself is not kept, because it may take many times the memory. A field is text, a number or None; `()`
stands for any other value.
"""

from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple, TypeAlias


class Encoding(Enum):
    """The two ways to write a map."""

    JSON = "json"
    EDN = "edn"


@dataclass(frozen=True, slots=True)
class Said:
    """The copy of a client's map, as text."""

    text: str
    encoding: Encoding | None = None
    """None for an empty map, which is the same text in both encodings."""


@dataclass(frozen=True, slots=True)
class Start:
    """A client's request for a game."""

    said: Said
    id: object = None
    against: object = None
    table: object = None
    token: object = field(default=None, repr=False, compare=False)
    """The token for a protected id (PROTOCOL.md 3.6)."""


@dataclass(frozen=True, slots=True)
class Move:
    """A client's move."""

    said: Said
    move: object = None
    """A column from 0 to 6, if the message is valid."""


@dataclass(frozen=True, slots=True)
class StateRequest:
    """A client's request for the state of the game."""

    said: Said


@dataclass(frozen=True, slots=True)
class Other:
    """Any other map from a client."""

    said: Said


ClientMessage: TypeAlias = Start | Move | StateRequest | Other


class State(NamedTuple):
    """The state of a game.

    A NamedTuple, because it is created faster than a frozen dataclass, and every move creates one.
    """

    turn: int
    """The player who has to move, 1 or 2; 0 when the game is over."""
    you: int
    """The receiver's number, 1 or 2."""
    cells: bytes
    """42 numbers, column by column from column 0, each from the bottom up: 0 for an empty cell, else 1 or
    2."""
    moves: tuple[int, ...]
    """All columns played so far, oldest first."""
    last_move: int | None = None
    """The column just played, in a state that reports a move."""
    winner: int | None = None
    """1, 2, or 0 for a draw; None while the game is on."""


@dataclass(frozen=True, slots=True)
class Ignored:
    """The server ignored a message."""

    said: Said | str
    """The copy of the message; if it was not a map, the text that the client sent."""
    reason: str


@dataclass(frozen=True, slots=True)
class Disconnected:
    """The opponent left."""


@dataclass(frozen=True, slots=True)
class End:
    """The game is over. No message follows until the client sends a `Start`."""


ServerMessage: TypeAlias = State | Ignored | Disconnected | End

"""The messages of the tutorial dialect, as values (PROTOCOL.md 2).

Does not know how messages are written, nor when they are sent.
"""

from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple, TypeAlias


class Color(Enum):
    """The two players. Red has the first move of a game."""

    RED = "red"
    YELLOW = "yellow"


COLORS = (Color.RED, Color.YELLOW)
"""The colours of the first and of the second mover."""
NOT_YOUR_TURN = "It isn't your turn."
FULL = "This slot is full."
NOT_FOUND = "Game not found."
IS_FULL = "This game has two players."
NOT_AVAILABLE = "This player is not available now."
OVER = "The game is over."
NO_RESULT = "The game has ended without a result."
"""Texts of errors; the first three are those of the original."""


@dataclass(frozen=True, slots=True)
class InitRequest:
    """A client's request for a game, or to watch one."""

    join: str | None = None
    """The key of the game to join; None for a game of its own."""
    watch: str | None = None
    """The key of the game to watch; None to play."""
    name: str | None = None
    """The player's name (PROTOCOL.md 3.9)."""
    token: str | None = field(default=None, repr=False, compare=False)
    """The token for a protected name (PROTOCOL.md 3.11)."""


@dataclass(frozen=True, slots=True)
class PlayRequest:
    """A client's move."""

    column: int | None = None
    """A column is 0 to 6. None if the client sent something other than an integer."""


ClientMessage: TypeAlias = InitRequest | PlayRequest


@dataclass(frozen=True, slots=True)
class Init:
    """The keys of the client's game, when it has entered; with `player` the beginning of a game."""

    join: str | None
    """The key for the opponent; None in the lobby."""
    watch: str | None
    """The key for spectators; None in the lobby, before the game."""
    player: Color | None = None
    """The client's colour."""
    moves: int = 0
    """The number of moves in the game so far; the next messages tell them."""


class Play(NamedTuple):
    """A disc, of either player.

    A NamedTuple, because it is created faster than a frozen dataclass, and every move creates one.
    """

    player: Color
    column: int
    row: int
    """0 is the lowest."""


@dataclass(frozen=True, slots=True)
class Win:
    """A player has won, and the game is over."""

    player: Color


@dataclass(frozen=True, slots=True)
class Error:
    """The server did not do what the client asked for."""

    message: str


ServerMessage: TypeAlias = Init | Play | Win | Error

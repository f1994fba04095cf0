"""The messages of the nac4 dialect (PROTOCOL.md 2).

This module only defines values. The codec knows how a message is spelled, and the translator knows what it
means.
"""

from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

USER_LIMIT = 64
"""The most characters that a name may have (PROTOCOL.md 3.2)."""


@dataclass(frozen=True, slots=True)
class Connect:
    """A client's request to enter under a name."""

    user: str
    token: str | None = field(default=None, repr=False, compare=False)
    """The token for a protected name (PROTOCOL.md 3.8)."""


@dataclass(frozen=True, slots=True)
class PlayMove:
    """A client's move."""

    move: int
    """Any integer. The columns are 0 to 6."""


ClientMessage: TypeAlias = Connect | PlayMove


@dataclass(frozen=True, slots=True)
class Connected:
    """The server admitted the client."""

    info: str


@dataclass(frozen=True, slots=True)
class NotConnected:
    """The server refused the client."""

    info: str


@dataclass(frozen=True, slots=True)
class NewGame:
    """A game began."""

    red: str
    yellow: str


class GenMove(NamedTuple):
    """The receiver has to move.

    A NamedTuple, because it is created faster than a frozen dataclass, and every move creates one.
    """

    board: str
    """42 characters of ``.RY``: row 0, the lowest, comes first, and each row begins with column 0."""
    color: str
    """The receiver's colour: ``R`` or ``Y``."""
    status: str
    """``PlayR`` or ``PlayY``."""
    time: float
    """The seconds that the receiver has left, 0 or more."""


@dataclass(frozen=True, slots=True)
class EndGame:
    """The game is over."""

    board: str
    color: str
    status: str
    """``WinR``, ``WinY`` or ``Tie``; ``PlayR`` or ``PlayY`` for a game without a result (PROTOCOL.md
    5.14)."""
    battle: str
    """``Ok``, ``Timeout`` or ``Disconnected``."""


ServerMessage: TypeAlias = Connected | NotConnected | NewGame | GenMove | EndGame

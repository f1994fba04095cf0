"""The messages of the nac4 dialect (PROTOCOL.md 2).

Values only: how a message is spelled is the codec's affair, what it means the translator's.
"""

from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

USER_LIMIT = 64
"""Characters that a name may have (PROTOCOL.md 3.2)."""


@dataclass(frozen=True, slots=True)
class Connect:
    """Ask to be let in under a name."""

    user: str
    token: str | None = field(default=None, repr=False, compare=False)
    """What lets a player bear a protected name (PROTOCOL.md 3.8)."""


@dataclass(frozen=True, slots=True)
class PlayMove:
    """Drop a disc."""

    move: int
    """Any integer; 0 to 6 is a column."""


ClientMessage: TypeAlias = Connect | PlayMove


@dataclass(frozen=True, slots=True)
class Connected:
    """The client was let in."""

    info: str


@dataclass(frozen=True, slots=True)
class NotConnected:
    """The client was not let in."""

    info: str


@dataclass(frozen=True, slots=True)
class NewGame:
    """A game began."""

    red: str
    yellow: str


class GenMove(NamedTuple):
    """The receiver's move is asked for.

    A NamedTuple, which is made faster than a frozen dataclass: every move makes one.
    """

    board: str
    """42 of ``.RY``: row 0, at the bottom, first; column 0 first in each row."""
    color: str
    """The receiver's: ``R`` or ``Y``."""
    status: str
    """``PlayR`` or ``PlayY``."""
    time: float
    """The receiver's remaining seconds."""


@dataclass(frozen=True, slots=True)
class EndGame:
    """The game is over."""

    board: str
    color: str
    status: str
    """``WinR``, ``WinY`` or ``Tie``."""
    battle: str
    """``Ok``, ``Timeout`` or ``Disconnected``."""


ServerMessage: TypeAlias = Connected | NotConnected | NewGame | GenMove | EndGame

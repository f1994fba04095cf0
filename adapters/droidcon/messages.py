"""The messages of the Droidcon dialect, as values (PROTOCOL.md 2, 4 and 5).

Knows which there are and what they carry. Does not know how they are written, nor when they are sent.
"""

from dataclasses import dataclass, field
from enum import Enum, StrEnum
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Name:
    """Sets the player's nickname."""

    nick: str
    token: str | None = field(default=None, repr=False, compare=False)
    """The word behind it, which counts for protected names only (PROTOCOL.md 2.14)."""


@dataclass(frozen=True, slots=True)
class Join:
    """Sit down in a channel, or wait in one for an opponent."""

    channel: str


@dataclass(frozen=True, slots=True)
class Put:
    """Drop a disc; from the server, the opponent's."""

    column: int | None
    """0 to 6 is a column; None stands for what is no integer."""


ClientMessage: TypeAlias = Name | Join | Put


class Word(StrEnum):
    """The server's messages of one word."""

    SUCCESS = "SUCCESS"
    NEW_GAME = "NEW_GAME"
    YOUR_MOVE = "YOUR_MOVE"
    YOU_WON = "YOU_WON"
    YOU_LOST = "YOU_LOST"
    DRAW = "DRAW"


class Error(Enum):
    """The server's error messages, all that the table of PROTOCOL.md 5 has."""

    INVALID_COMMAND = "INVALID_COMMAND"
    NO_NAME_SET = "NO_NAME_SET"
    ALREADY_IN_CHANNEL = "ALREADY_IN_CHANNEL"
    CHANNEL_IS_FULL = "CHANNEL_IS_FULL"
    NOT_JOINED_TO_CHANNEL = "NOT_JOINED_TO_CHANNEL"
    WRONG_COLUMN_FORMAT = "WRONG_COLUMN_FORMAT"
    INVALID_COLUMN = "INVALID_COLUMN"
    COLUMN_IS_FULL = "COLUMN_IS_FULL"
    NOT_YOUR_TURN = "NOT_YOUR_TURN"
    PLAYER_NOT_AVAILABLE = "PLAYER_NOT_AVAILABLE"
    TLS_REQUIRED = "TLS_REQUIRED"


ServerMessage: TypeAlias = Word | Error | Put

"""The messages of the Droidcon dialect, as values (PROTOCOL.md 2, 4 and 5).

Does not know how messages are written, nor when they are sent.
"""

from dataclasses import dataclass, field
from enum import Enum, StrEnum
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Name:
    """A client's command that sets its name."""

    nick: str
    token: str | None = field(default=None, repr=False, compare=False)
    """The second word after `NAME`. It is used only for a protected name (PROTOCOL.md 2.14)."""


@dataclass(frozen=True, slots=True)
class Join:
    """A client's request for an opponent in a channel."""

    channel: str


@dataclass(frozen=True, slots=True)
class Put:
    """A move: the client's own, or the opponent's if the server sends it."""

    column: int | None
    """A column is 0 to 6. None if there is no integer."""


ClientMessage: TypeAlias = Name | Join | Put


class Word(StrEnum):
    """The server's messages that are one fixed word."""

    SUCCESS = "SUCCESS"
    NEW_GAME = "NEW_GAME"
    YOUR_MOVE = "YOUR_MOVE"
    YOU_WON = "YOU_WON"
    YOU_LOST = "YOU_LOST"
    DRAW = "DRAW"


class Error(Enum):
    """The server's error messages: the table of PROTOCOL.md 5."""

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

"""What a player hears, in whatever dialect.

Values only. The rule it keeps: a player that knows
these needs to know no dialect.
"""

from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

from gateway.game.board import Board, Side


class Result(Enum):
    """How a game ended, for this player."""

    WON = "won"
    LOST = "lost"
    DRAWN = "drawn"
    CUT_OFF = "cut off"
    """It has no result: the server did not say how it ended."""


@dataclass(frozen=True, slots=True)
class Began:
    """A game began."""

    side: Side | None = None
    """Which of the two this player is; None where the server does not say."""
    opponent: str | None = None
    """None where the server does not say."""


@dataclass(frozen=True, slots=True)
class Asked:
    """It is this player's move."""

    board: Board
    seconds: float | None = None
    """What is left to this player for the game; None where the server does not say."""


@dataclass(frozen=True, slots=True)
class Over:
    """The game ended."""

    result: Result
    board: Board
    side: Side | None = None
    """Which of the two this player was, where that is known."""
    why: str = ""
    """What ended it, if it was not the board."""


@dataclass(frozen=True, slots=True)
class Spent:
    """This connection is of no more use; another one is needed for more games."""


News: TypeAlias = Began | Asked | Over | Spent


class Refused(Exception):
    """The server does not let this player in, or play; in the server's words."""

"""What a dialect expects of its server, as data.

Each client brings its dialect's manners with it, and they stay its own whomever it plays. The
core decides by them and never asks which dialect a client speaks.
"""

from dataclasses import dataclass
from enum import Enum, auto


class Illegal(Enum):
    """What an illegal move costs the one who made it."""

    RETRY = auto()
    """Nothing; the clock runs on."""
    PENALTY = auto()
    """Time; then the same request to move comes again."""
    FORFEIT = auto()
    """The game, and the connection."""


class Afterwards(Enum):
    """What a player does when a game is over."""

    STAND_BY = auto()
    """Is ready for the next round, and for the next opponent, by itself."""
    STEP_OUT = auto()
    """Plays again only after asking again, for a round as for a series."""
    HANG_UP = auto()
    """Is ready for the next round by itself, and leaves with the end of its series."""


@dataclass(frozen=True, slots=True)
class Manners:
    """The manners of one player."""

    illegal: Illegal
    afterwards: Afterwards
    rounds: int = 1
    """Games in a series, 1 or more; the longer wish of two players counts."""
    clocked: bool = False
    """Whether the player's games are played on a clock, for both sides."""
    hears_itself: bool = True
    """Whether the player is told of its own moves; not to tell spares a tenth of a move's time."""
    unique_name: bool = False
    """Whether no other player with this manner may bear the same name at the same time."""
    strict_entry: bool = False
    """Whether a first message that does not let the player in ends the connection."""
    house: bool = False
    """Whether the player is one of the server's own, and here for one series only."""
    kind: str = ""
    """What those who keep results call players of these manners; the core decides nothing by it."""
    entry_limit: float | None = None
    """Seconds within which the player must have entered; None for ever."""

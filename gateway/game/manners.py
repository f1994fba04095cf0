"""What a dialect expects of its server, as data.

Each client brings the manners of its dialect, and keeps them against every opponent. The core decides by them
and never asks which dialect a client speaks.
"""

from dataclasses import dataclass
from enum import Enum, auto


class Illegal(Enum):
    """What an illegal move costs the player."""

    RETRY = auto()
    """Nothing; the clock runs on."""
    PENALTY = auto()
    """Time; then the same request to move comes again."""
    FORFEIT = auto()
    """The game, and the connection."""


class Afterwards(Enum):
    """What a player does when a game is over."""

    STAND_BY = auto()
    """Is ready for the next round and the next opponent without asking."""
    STEP_OUT = auto()
    """Plays again only after asking again, within a series too."""
    HANG_UP = auto()
    """Is ready for the next round without asking, and leaves at the end of its series."""


@dataclass(frozen=True, slots=True)
class Manners:
    """The manners of one player."""

    illegal: Illegal
    afterwards: Afterwards
    rounds: int = 1
    """Games in a series, 1 or more; of two players the higher number counts."""
    clocked: bool = False
    """Whether the player's games are on a clock, for both sides."""
    hears_itself: bool = True
    """Whether the player is told of its own moves. Not to tell takes less time."""
    unique_name: bool = False
    """Whether players with this manner need different names."""
    strict_entry: bool = False
    """Whether the connection ends if the first message does not let the player in."""
    house: bool = False
    """Whether this is a house player, which plays one series."""
    kind: str = ""
    """What results call a player with these manners; the core decides nothing by it."""
    entry_limit: float | None = None
    """Seconds within which the player must have entered; None for no limit."""

"""Manners: the rules of a dialect, as data.

Each player has the manners of its dialect, whatever the opponent's dialect is. The hub knows these manners,
but no dialects.
"""

from dataclasses import dataclass
from enum import Enum, auto


class Illegal(Enum):
    """The cost of an illegal move for the player."""

    RETRY = auto()
    """Nothing; the clock runs on."""
    PENALTY = auto()
    """Some of the player's time; it gets a new request to move."""
    GAME = auto()
    """The game; the player stays connected."""
    FORFEIT = auto()
    """The game, and the connection."""


class Afterwards(Enum):
    """What a player does after a game."""

    STAND_BY = auto()
    """The player is ready for the next round and the next opponent without asking."""
    STEP_OUT = auto()
    """The player has to ask again for each game, also within a series."""
    HANG_UP = auto()
    """The player is ready for the next round without asking, and is disconnected after its series."""
    ONE_GAME = auto()
    """The player is disconnected after one game, which ends its series and is never played again."""


@dataclass(frozen=True, slots=True)
class Manners:
    """The manners of one player."""

    illegal: Illegal
    afterwards: Afterwards
    rounds: int = 1
    """The number of games in a series, 1 or more. The higher number of the two players applies."""
    clocked: bool = False
    """Whether the player's games are on a clock, for both sides."""
    hears_itself: bool = True
    """Whether the player gets events for its own moves. If not, the server handles its moves faster."""
    unique_name: bool = False
    """Whether the player's name must differ from those of other players with this manner. It keeps the name
    also while it has no place."""
    strict_entry: bool = False
    """Whether any refusal before the player has entered disconnects it."""
    strict: bool = False
    """Whether any refusal disconnects the player, except that of an illegal column on its turn."""
    opens: bool = False
    """Whether the player has the first move in the first game of each series. Two such players never meet."""
    house_at_once: bool = False
    """Whether the player gets a house player, on any server, if nobody in the lobby fits at once."""
    moves_early: bool = False
    """Whether a column that the player sends while it waits is its move as soon as its next game begins. In a
    game in which it has not the first move, that move is refused."""
    house: bool = False
    """Whether this is a house player. It leaves after a series, unless it `stays`."""
    stays: bool = False
    """Whether a house player stays after a series, as at the table of a tournament."""
    kind: str = ""
    """The word for players with these manners in results. The hub does not use it."""
    resumes: bool = True
    """Whether a client that comes back after its connection broke can be told the board, and so go on with
    its game, unless it asks for another one (`Enter.resumes`). If not, the game is played again."""
    entry_limit: float | None = None
    """Seconds within which the player must enter; None for no limit."""

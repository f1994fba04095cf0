"""What a player is told of.

Events are in the past tense and addressed to one player. A dialect decides how, and whether, its client is
told of them. An event is a plain value, names the game that it belongs to, and refers to nothing else but by
number; so it can be written down (`encoding.py`), and the player may be on another machine.

A time in an event is a number of seconds, never a reading of a clock. The readings that the hub takes, in the
`now` of its methods, are of its own clock: what speaks for a player there takes them, and for a player on
another machine it adds the seconds that passed there, as that machine counted them.
"""

from dataclasses import dataclass
from enum import Enum, Flag, auto
from typing import Literal, TypeAlias

from gateway.game.board import Board, Side
from gateway.game.ids import GameId
from gateway.game.values import value


class Objection(Flag):
    """Every reason to refuse a command; a dialect names the one that it looks at first."""

    NOT_ENTERED = auto()
    """The player has not asked for an opponent."""
    WAITING = auto()
    """The player waits, for an opponent or for the next round."""
    PLAYING = auto()
    """The player is in a game."""
    NOT_YOUR_TURN = auto()
    NOT_A_COLUMN = auto()
    """The column is not an integer."""
    OUTSIDE = auto()
    """The column is an integer, but not 0 to 6."""
    COLUMN_FULL = auto()
    UNFIT = auto()
    """The message asks for something that does not exist."""
    UNREADABLE = auto()
    """The dialect has no such message."""
    NO_NAME = auto()
    NAME_TAKEN = auto()
    NAME_RESERVED = auto()
    """The name is one of a house player."""
    TOO_LONG = auto()
    """The name of the player, of the table or of the wished opponent is too long."""
    TABLE_FULL = auto()
    NOT_AVAILABLE = auto()
    """The wished house player cannot come."""
    TOKEN_WRONG = auto()
    """The name is protected, and the player's token for it is missing or wrong."""
    NOT_REGISTERED = auto()
    """The name is not registered, and no others are let in."""
    BANNED = auto()
    """The operator lets the name or the address in no more."""


NOTHING = Objection(0)
"""No objection."""


class Reason(Enum):
    """Why a game ended."""

    FOUR = "four in a row"
    FULL = "full board"
    TIME = "time"
    LEFT = "left"
    ABORTED = "aborted, one left before both had moved"
    ILLEGAL = "illegal move"
    STOPPED = "cut off by the server"


class Why(Enum):
    """Why the server hung up on a player."""

    SERIES_OVER = "series over"
    FORFEIT = "illegal move"
    TIME = "out of time"
    REFUSED = "not admitted"
    SILENT = "never entered"
    LEFT = "left"
    STOPPED = "server stopped"
    FAULT = "internal error"
    RETURNED = "went back to its node"
    """It has its seat on another node, and there it is told what follows."""


@dataclass(frozen=True, slots=True)
class Introduced:
    """The player has this name from now on."""

    name: str


@dataclass(frozen=True, slots=True)
class Entered:
    """The player may play, and waits for an opponent or for the next round."""

    name: str


@dataclass(frozen=True, slots=True)
class Started:
    """A game began."""

    game: GameId
    you: Side
    names: tuple[str, str]
    """The first mover's name, the second's."""


@value
class ToMove:
    """The player is to move. Its clock runs from when this has left for the client."""

    game: GameId
    number: int
    """1 for the first request of a game, and one more for each that follows, to either player."""
    board: Board
    rest: float | None
    """The player's remaining seconds in this game; None where it has no clock."""


@value
class Moved:
    """One of the two dropped a disc, and the game goes on."""

    game: GameId
    mover: Side
    column: int
    board: Board


@dataclass(frozen=True, slots=True)
class Shown:
    """The game as it stands, because the player asked."""

    game: GameId
    board: Board


@dataclass(frozen=True, slots=True)
class Refused:
    """A command was not carried out."""

    objections: Objection
    to: int = 0
    """The number of the client's message, as in the command."""
    game: GameId | None = None
    """The game that the player is in, where that refused it."""


@dataclass(frozen=True, slots=True)
class Overlooked:
    """A move was dropped because its game is over. The player is not told."""

    game: GameId
    """The game that is over."""


Way: TypeAlias = Literal["in", "out", "note"]
"""Which way a text went, seen from the server. A note is a remark of the server's own, without a text."""
Remark: TypeAlias = Objection | float | str | None
"""What the server thought of a text: why it was refused, the seconds left on a clock, words, or nothing."""
Spoken: TypeAlias = tuple[float, Way, str, Remark]
"""One text on a player's wire: when, in seconds since the player's side of the wire got the event `Started`,
by the clock of that machine; which way; the text; what the server thought of it. A plain tuple, as there are
many."""


@dataclass(frozen=True, slots=True)
class Ended:
    """The game is over."""

    game: GameId
    board: Board
    winner: Side | None
    reason: Reason
    column: int | None = None
    """The last move, where that ended the game; it was not told before."""
    leaver: Side | None = None
    """The side that left, where that ended the game."""

    @property
    def has_result(self) -> bool:
        """Whether it was won, lost or drawn. Otherwise no client is told so, if its dialect has a word."""
        return self.winner is not None or self.reason is Reason.FULL


@dataclass(frozen=True, slots=True)
class Dismissed:
    """The server hangs up on the player. No event follows, and its commands are void."""

    why: Why
    objections: Objection = NOTHING


Event: TypeAlias = (
    Introduced | Entered | Started | ToMove | Moved | Shown | Refused | Overlooked | Ended | Dismissed
)

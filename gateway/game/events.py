"""The events that a player gets, and the reasons in them.

An event is a plain value for one player. It names its game, so it can be sent to another machine
(`encoding.py`). Times in events are durations in seconds, never readings of a clock. A dialect decides
whether and how it reports an event to its client.
"""

from dataclasses import dataclass
from enum import Enum, Flag, auto
from typing import Literal, TypeAlias

from gateway.game.board import Board, Side
from gateway.game.ids import GameId
from gateway.game.values import value


class Objection(Flag):
    """The reasons to refuse a command.

    If there are several, a dialect reports the one that it checks first.
    """

    NOT_ENTERED = auto()
    """The player has not asked for an opponent."""
    WAITING = auto()
    """The player is waiting for an opponent or for the next round."""
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
    """The name belongs to a house player."""
    TOO_LONG = auto()
    """The name of the player, of the table or of the wished opponent is too long."""
    TABLE_FULL = auto()
    TABLE_EMPTY = auto()
    """Nobody has a seat at the table where the player wants to find its opponent."""
    NOT_AVAILABLE = auto()
    """The house player in the player's wish is not available."""
    TOKEN_WRONG = auto()
    """The name is protected, and the player's token for it is missing or wrong."""
    NOT_REGISTERED = auto()
    """The name is not registered, and only registered names are admitted."""
    BANNED = auto()
    """The operator has banned the name or the address."""


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
    REPLAYED = "played again, since a connection broke"


class Why(Enum):
    """Why the server disconnected a player."""

    SERIES_OVER = "series over"
    FORFEIT = "illegal move"
    TIME = "out of time"
    REFUSED = "refused"
    SILENT = "never entered"
    LEFT = "left"
    STOPPED = "server stopped"
    FAULT = "internal error"
    RETURNED = "went back to its node"
    """The player is connected to another node, which sends it further events."""


@dataclass(frozen=True, slots=True)
class Introduced:
    """The player has this name from now on, and does not wait."""

    name: str | None
    """None if it has no name, and has left its series and its place."""
    resumes: bool = False
    """Whether the player asked to go on with an earlier game. There is none."""


@dataclass(frozen=True, slots=True)
class Entered:
    """The player has entered, and waits for an opponent or for the next round."""

    name: str
    resumes: bool = False
    """Whether it has come back to its game instead, which goes on: `Resumed` follows."""
    table: str | None = None
    """The name of its table; None for the lobby."""


@dataclass(frozen=True, slots=True)
class Started:
    """A game began."""

    game: GameId
    you: Side
    names: tuple[str, str]
    """The names of the first and the second mover."""


@dataclass(frozen=True, slots=True)
class Resumed:
    """The player has come back to its game. If it has the move, a `ToMove` follows."""

    game: GameId
    you: Side
    names: tuple[str, str]
    """The names of the first and the second mover."""
    board: Board
    age: float
    """Seconds since the game began."""


@value
class ToMove:
    """A request to move. The player's clock runs from when the request was sent to the client."""

    game: GameId
    number: int
    """The number of the request in its game, from 1 on. Requests to both players are counted together."""
    board: Board
    rest: float | None
    """The player's remaining seconds in this game; None without a clock."""


@value
class Moved:
    """A player dropped a disc, and the game goes on."""

    game: GameId
    mover: Side
    column: int
    board: Board


@dataclass(frozen=True, slots=True)
class Shown:
    """The current board, which the player has asked for."""

    game: GameId
    board: Board


@dataclass(frozen=True, slots=True)
class Refused:
    """A command was not carried out."""

    objections: Objection
    to: int = 0
    """The number of the client's message, as in the command."""
    game: GameId | None = None
    """The player's game, if the game refused the command; otherwise None."""


@dataclass(frozen=True, slots=True)
class Overlooked:
    """A move was dropped because its game is over. The client gets no message about it."""

    game: GameId
    """The game that is over."""


Way: TypeAlias = Literal["in", "out", "note"]
"""The direction of a text, seen from the server. A note is a remark of the server without a text."""
Remark: TypeAlias = Objection | float | str | None
"""The server's remark on a text: the objections to it, the seconds left on a clock, a comment, or None."""
Spoken: TypeAlias = tuple[float, Way, str, Remark]
"""One text on a player's connection: seconds since the connection got the event `Started`, direction, text,
remark. A plain tuple, since there are many."""


@dataclass(frozen=True, slots=True)
class Ended:
    """The game is over."""

    game: GameId
    board: Board
    winner: Side | None
    reason: Reason
    column: int | None = None
    """The column of the move that ended the game; None if no move ended it. That move has no event
    `Moved`."""
    leaver: Side | None = None
    """The side that ended the game by leaving; None if the game ended in another way."""

    @property
    def has_result(self) -> bool:
        """Whether the game was won or drawn.

        If it was not, a dialect reports no result, provided that it has a message for that.
        """
        return self.winner is not None or self.reason is Reason.FULL


@dataclass(frozen=True, slots=True)
class Dismissed:
    """The server disconnects the player. No event follows, and its commands are ignored."""

    why: Why
    objections: Objection = NOTHING


Event: TypeAlias = (
    Introduced
    | Entered
    | Started
    | Resumed
    | ToMove
    | Moved
    | Shown
    | Refused
    | Overlooked
    | Ended
    | Dismissed
)

"""The messages of the RPI dialect, as values (PROTOCOL.md 2, 6 and 7).

Does not know how messages are written, nor when they are sent.
"""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeAlias

# From the client.


@dataclass(frozen=True, slots=True)
class Connect:
    """A client's request for a name."""

    name: str
    token: str | None = field(default=None, repr=False, compare=False)
    """The token of a protected name (PROTOCOL.md 3.9)."""


@dataclass(frozen=True, slots=True)
class Reconnect:
    """A client's request for the game that it had under a name on an earlier connection."""

    name: str
    token: str | None = field(default=None, repr=False, compare=False)
    """As in `Connect`."""


@dataclass(frozen=True, slots=True)
class Ready:
    """A client's request for an opponent."""


@dataclass(frozen=True, slots=True)
class Play:
    """A client's move."""

    column: int | None
    """Not negative, and -1 for an integer that is no column. None if there is none (PROTOCOL.md 5.9)."""


@dataclass(frozen=True, slots=True)
class Disconnect:
    """A client gives up its name, and stays connected."""


@dataclass(frozen=True, slots=True)
class Observe:
    """A client's request to be told of all games, or the end of that."""


@dataclass(frozen=True, slots=True)
class ListPlayers:
    """A client's question for the players."""


@dataclass(frozen=True, slots=True)
class ListGames:
    """A client's question for the games."""


@dataclass(frozen=True, slots=True)
class Watch:
    """A client's question for the moves of a game."""

    game: int


@dataclass(frozen=True, slots=True)
class Get:
    """A client's question for a setting of the server."""

    key: str


@dataclass(frozen=True, slots=True)
class Ping:
    """A text by which an old client keeps its connection open. It is not answered (PROTOCOL.md 2.7)."""


@dataclass(frozen=True, slots=True)
class Invalid:
    """A message with a known first word that cannot be carried out."""

    error: str
    """The answer (PROTOCOL.md 7.2, 7.3)."""


Question: TypeAlias = Observe | ListPlayers | ListGames | Watch | Get | Ping
"""A message that is no command of a player."""
ClientMessage: TypeAlias = Connect | Reconnect | Ready | Play | Disconnect | Invalid | Question

# To a player.


class Word(StrEnum):
    """The server's messages that are fixed words."""

    CONNECTED = "CONNECT:ACK"
    RECONNECTED = "RECONNECT:ACK"
    DISCONNECTED = "DISCONNECT:ACK"
    READY = "READY:ACK"
    WINS = "GAME:WINS"
    LOSS = "GAME:LOSS"
    DRAW = "GAME:DRAW"
    TERMINATED = "GAME:TERMINATED"
    END = "TOURNAMENT:END"


@dataclass(frozen=True, slots=True)
class Start:
    """A game began."""

    is_first: bool
    """Whether the player moves first."""


@dataclass(frozen=True, slots=True)
class Opponent:
    """The opponent's move. It is the player's turn."""

    column: int


@dataclass(frozen=True, slots=True)
class Error:
    """A message was not carried out."""

    text: str
    """The whole text: ``ERROR:`` and the reason."""


PlayerMessage: TypeAlias = Word | Start | Opponent | Error

# To observers. All names are in this dialect's alphabet.


@dataclass(frozen=True, slots=True)
class Observing:
    """Whether the client is an observer from now on."""

    is_on: bool


@dataclass(frozen=True, slots=True)
class Came:
    """A player has a name from now on."""

    name: str


@dataclass(frozen=True, slots=True)
class Went:
    """A player has given up its name, or has left."""

    name: str


@dataclass(frozen=True, slots=True)
class Waits:
    """Whether a player waits for an opponent from now on."""

    name: str
    is_ready: bool


@dataclass(frozen=True, slots=True)
class Began:
    """A game began. The first mover's name comes first."""

    game: int
    names: tuple[str, str]


@dataclass(frozen=True, slots=True)
class Moved:
    """A player dropped a disc."""

    game: int
    name: str
    column: int


@dataclass(frozen=True, slots=True)
class Over:
    """A game is over."""

    game: int
    winner: str | None
    """The winner's name; None without a winner."""
    is_drawn: bool = False
    """Whether the game is drawn. If not, a game without a winner has no result."""


@dataclass(frozen=True, slots=True)
class Players:
    """The players: name, whether it waits, whether it plays."""

    players: tuple[tuple[str, bool, bool], ...]


@dataclass(frozen=True, slots=True)
class Games:
    """The games: number and names."""

    games: tuple[tuple[int, tuple[str, str]], ...]


@dataclass(frozen=True, slots=True)
class Watched:
    """A game, and its columns so far."""

    game: int
    names: tuple[str, str]
    moves: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting of the server."""

    key: str
    value: str


ObserverMessage: TypeAlias = (
    Observing | Came | Went | Waits | Began | Moved | Over | Players | Games | Watched | Setting
)
ServerMessage: TypeAlias = PlayerMessage | ObserverMessage

"""How a scripted bot plays a known game, in terms common to all dialects. Pure.

A bot knows all moves of its game in advance, so a script knows every message that may come next. For any
other message it returns None, which stops the run: a bot never goes on with wrong counts. Knows neither
sockets nor time.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import ClassVar
from urllib.parse import quote

from conformance.steps import Manner

LEFT = "left"


class OutOfStep(Exception):
    """A server, or the load, did something unexpected. The message says what."""


class Closed(OutOfStep):
    """A server closed the connection with a message of the transport, such as a websocket close frame."""


class Phase(Enum):
    """The stage that a bot has reached."""

    NAMING = "giving its name"
    JOINING = "joining"
    WAITING = "waiting for a game"
    PLAYING = "in a game"
    OVER = "after a game's result"


class Outcome(Enum):
    """How a game ended for a bot."""

    WON = "it has won, by whatever"
    LOST = "it has lost on the board"
    DRAWN = "nobody has won"
    LATE = "it has lost on time"


@dataclass(frozen=True, slots=True)
class Game:
    """A whole game and how it ends, in the words of an export."""

    moves: str
    """The columns, a digit for each."""
    winner: int
    """1 for the first mover, 2 for the other player, 0 for no winner."""
    reason: str
    """`four`, `full`, or `left`: with `left` the player to move next leaves."""


DRAWN = Game("146660203633536103043506522512202545444111", 0, "full")
"""A game of all 42 moves, so that games begin as rarely as possible."""
SHORT = Game("0101010", 1, "four")
"""The shortest possible game that is won on the board: seven moves."""


@dataclass(frozen=True, slots=True)
class Place:
    """A bot's position in its games."""

    phase: Phase
    opens: bool | None = None
    """Whether the bot makes the first move of this game; None if it does not know yet."""
    discs: int = 0
    """How many moves of the game the bot has made or received."""

    def __str__(self) -> str:
        discs = f" with {self.discs} discs" if self.phase is Phase.PLAYING else ""
        return f"{self.phase.value}{discs}"


WAITING = Place(Phase.WAITING)


@dataclass(frozen=True, slots=True)
class Step:
    """The effect of one message on a bot."""

    place: Place
    """The bot's place after the message and its own answer."""
    entered: bool = False
    """Whether the server has admitted the bot, which now waits for a game."""
    begun: bool = False
    """Whether a game begins."""
    told: int = 0
    """How many moves of its opponent the message reports: 0 or 1."""
    outcome: Outcome | None = None
    """How the bot's game ended, if the message ends it."""
    move: bytes = b""
    """The move to send as the answer; empty for none."""
    again: bool = False
    """Whether the bot has to ask for the next game with a message."""
    leaves: bool = False
    """Whether the bot has to leave now, because its game ends that way."""
    opponent: str | None = None
    """The opponent's name, if the message gives it."""


@dataclass(frozen=True, slots=True)
class Cut:
    """Received bytes, cut into messages."""

    messages: Sequence[bytes]
    rest: bytes
    """The beginning of an incomplete message."""
    answer: bytes = b""
    """Bytes that the transport requires as an answer, such as pongs."""


@dataclass(frozen=True, slots=True)
class Wish:
    """A bot's name, and the wished opponent: the player at the same table, a named player, or any player."""

    name: str
    table: str | None = None
    against: str | None = None
    token: str | None = None
    """The token of a protected name."""

    @property
    def called(self) -> str:
        """The name, followed by the token if there is one."""
        return self.name if self.token is None else f"{self.name} {self.token}"


class Script(ABC):
    """One kind of bot and the game that it plays."""

    start: ClassVar[Place]
    """The bot's place after it has connected and sent `opening`."""
    may_hang_up: ClassVar[bool] = False
    """Whether the server may hang up between two games. The bot then connects again, to another table."""
    has_one_game: ClassVar[bool] = False
    """Whether the server hangs up after each game. The bot then connects again, for the next one."""
    wins_aborted: ClassVar[bool] = False
    """Whether the bot is told that it has won if its opponent leaves before both have moved."""

    def __init__(self, game: Game = DRAWN, *, timed: bool = False) -> None:
        """`timed`: whether a player may lose on time."""
        self.game = game
        self.timed = timed

    def key(self, data: bytes) -> bytes:
        """Return a key for received bytes. Bytes with equal keys have the same effect."""
        return data

    def resource(self, wish: Wish) -> str | None:
        """Return the path that a websocket asks for; None for plain TCP."""
        return "/" if wish.table is None else f"/?table={quote(wish.table)}"

    @abstractmethod
    def opening(self, wish: Wish) -> bytes:
        """Return the first messages."""

    def asking(self, wish: Wish) -> bytes:
        """Return the message that asks for another game; by default, the first one again."""
        return self.opening(wish)

    @abstractmethod
    def cut(self, data: bytes) -> Cut:
        """Cut received bytes into messages. Raises OutOfStep if that is impossible."""

    @abstractmethod
    def advance(self, place: Place, message: bytes, name: str) -> Step | None:
        """Return the effect of a message on the bot called `name`; None if the message is out of place."""

    def move(self, column: str) -> bytes:
        """Return the bytes of a move."""
        raise NotImplementedError

    # Common to all dialects.

    def to_move(self, place: Place) -> bool:
        """Return whether the next move of the game is the bot's own."""
        return place.opens is not None and place.opens == (place.discs % 2 == 0)

    def own_number(self, place: Place) -> int:
        """Return the bot's number: 1 if it moves first, otherwise 2."""
        return 1 if place.opens else 2

    def answer(self, place: Place, told: int = 0, *, begun: bool = False) -> Step | None:
        """Return the effect of a request to move. `place` already includes the opponent's `told` moves."""
        if not self.to_move(place):
            return None
        if place.discs < len(self.game.moves):
            now = Place(Phase.PLAYING, place.opens, place.discs + 1)
            return Step(now, begun=begun, told=told, move=self.move(self.game.moves[place.discs]))
        # There is no request to move after the last move of a game, unless a player is to leave.
        return Step(place, begun=begun, told=told, leaves=True) if self.game.reason == LEFT else None

    def over(self, place: Place, winner: int, *, late: bool = False, then: Place = WAITING) -> Step | None:
        """Return the effect of the end of a game; None if the result does not fit the bot's game.

        `late`: whether the game was lost on time. Either the server says so, or no other reason is possible.
        Such a result is allowed only if the bots are timed.
        """
        if late:
            if not (self.timed and winner):
                return None
            return Step(then, outcome=Outcome.WON if winner == self.own_number(place) else Outcome.LATE)
        if place.discs != len(self.game.moves) or winner != self.game.winner:
            return None
        if not winner:
            return Step(then, outcome=Outcome.DRAWN)
        return Step(then, outcome=Outcome.WON if winner == self.own_number(place) else Outcome.LOST)


@dataclass(frozen=True, slots=True)
class Dialect:
    """The facts about a dialect."""

    name: str
    scheme: str
    """The scheme of the dialect's addresses."""
    manners: Mapping[str, Manner]
    """The manners that a transcript's client may use, by name. The first is the default."""
    bots: Mapping[str, Callable[..., Script]]
    """For each kind of bot, a function that creates its script from a game and optionally `timed`."""
    option: str = ""
    """The gateway's option for the dialect's port, without dashes; if empty, it is the dialect's name."""
    has_tables: bool = True
    """Whether a client can name a table."""
    always_opens: bool = False
    """Whether a client has the first move of every game, so that two of them never meet."""

    @property
    def port(self) -> tuple[str, str]:
        """The words of a command line that let the gateway take any free port for the dialect."""
        return f"--{self.option or self.name}", "0"

    @property
    def has_paths(self) -> bool:
        """Whether an address may have a path."""
        return self.scheme == "ws"

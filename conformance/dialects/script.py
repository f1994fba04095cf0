"""How a scripted bot plays a game that it knows, in the same terms for every dialect. Pure.

A bot knows all moves of its game beforehand. So whatever a server may say next is known, and a script
answers None to anything else: a bot that is out of step stops the run and never counts wrong in silence.
Does not know sockets, nor time.
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
    """A server closed the connection with a message of the transport for that."""


class Phase(Enum):
    """How far a bot is."""

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
    """1 for the first mover, 2 for the other, 0 for nobody."""
    reason: str
    """`four`, `full`, or `left`: then the player who is to move next leaves."""


DRAWN = Game("146660203633536103043506522512202545444111", 0, "full")
"""All 42 moves, so that as few games as possible begin between the moves."""
SHORT = Game("0101010", 1, "four")
"""As few moves as a game can have that is played to its end."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a bot is in its games."""

    phase: Phase
    opens: bool | None = None
    """Whether the first move of this game is its own; None if it does not know yet."""
    discs: int = 0
    """How many of the game's moves it knows: its own and its opponent's."""

    def __str__(self) -> str:
        discs = f" with {self.discs} discs" if self.phase is Phase.PLAYING else ""
        return f"{self.phase.value}{discs}"


WAITING = Place(Phase.WAITING)


@dataclass(frozen=True, slots=True)
class Step:
    """What one message does to a bot."""

    place: Place
    """Where it is now, its own answer included."""
    entered: bool = False
    """Whether it is in, and waits."""
    begun: bool = False
    """Whether a game begins."""
    told: int = 0
    """How many moves of its opponent the message reports: 0 or 1."""
    outcome: Outcome | None = None
    """How its game ended, if it did."""
    move: bytes = b""
    """The move that it answers; empty for none."""
    again: bool = False
    """Whether it has to ask for the next game, in words of its own."""
    leaves: bool = False
    """Whether it is time to leave, as the game demands."""
    opponent: str | None = None
    """Whom it plays from here on, where the message says so."""


@dataclass(frozen=True, slots=True)
class Cut:
    """Received bytes, cut into messages."""

    messages: Sequence[bytes]
    rest: bytes
    """The beginning of a message that is not whole yet."""
    answer: bytes = b""
    """What the transport itself requires as an answer."""


@dataclass(frozen=True, slots=True)
class Wish:
    """Who a bot is, and whom it wants to play: who sits at a table, one by name, or anyone in the lobby."""

    name: str
    table: str | None = None
    against: str | None = None
    token: str | None = None
    """Lets it bear a name that is protected."""

    @property
    def called(self) -> str:
        """The name, and behind it the token, if there is one."""
        return self.name if self.token is None else f"{self.name} {self.token}"


class Script(ABC):
    """One kind of bot and the game that it plays."""

    start: ClassVar[Place]
    """Where it is once it is connected and `opening` was sent."""
    may_hang_up: ClassVar[bool] = False
    """Whether the server may hang up between two games, so that a bot comes back, to another table."""

    def __init__(self, game: Game = DRAWN, *, timed: bool = False) -> None:
        """`timed`: whether a player may lose on time."""
        self.game = game
        self.timed = timed

    def key(self, data: bytes) -> bytes:
        """Return a key, which is equal for received bytes that have the same effect."""
        return data

    def resource(self, wish: Wish) -> str | None:
        """Return the path that a websocket asks for; None for plain TCP."""
        return "/" if wish.table is None else f"/?table={quote(wish.table)}"

    @abstractmethod
    def opening(self, wish: Wish) -> bytes:
        """Return the first message. It also asks for another game, in dialects that require that."""

    @abstractmethod
    def cut(self, data: bytes) -> Cut:
        """Cut into messages. Raises OutOfStep for anything else."""

    @abstractmethod
    def advance(self, place: Place, message: bytes, name: str) -> Step | None:
        """Return the step after a message to the bot of this name; None if the message is out of place."""

    def move(self, column: str) -> bytes:
        """Return the bytes of a move."""
        raise NotImplementedError

    # What the dialects have in common.

    def to_move(self, place: Place) -> bool:
        """Return whether the next move of the game is the bot's own."""
        return place.opens is not None and place.opens == (place.discs % 2 == 0)

    def own_number(self, place: Place) -> int:
        """Return 1 for the first mover and 2 for the other."""
        return 1 if place.opens else 2

    def answer(self, place: Place, told: int = 0, *, begun: bool = False) -> Step | None:
        """Return the step after a request to move. `place` already counts `told` moves of the opponent."""
        if not self.to_move(place):
            return None
        if place.discs < len(self.game.moves):
            now = Place(Phase.PLAYING, place.opens, place.discs + 1)
            return Step(now, begun=begun, told=told, move=self.move(self.game.moves[place.discs]))
        # A game that ends by a move asks for none behind it.
        return Step(place, begun=begun, told=told, leaves=True) if self.game.reason == LEFT else None

    def over(self, place: Place, winner: int, *, late: bool = False, then: Place = WAITING) -> Step | None:
        """Return the step after the end of a game; None if the result does not fit the bot's game.

        `late`: whether the loser's time was up, by the server's words or because nothing else is possible.
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
    """Of its addresses."""
    manners: Mapping[str, Manner]
    """How a transcript's member may speak it; the first is meant where none is named."""
    bots: Mapping[str, Callable[..., Script]]
    """Its kinds of bots, by name; each is called with a game and, perhaps, `timed`."""

    @property
    def has_paths(self) -> bool:
        """Whether an address may have a path."""
        return self.scheme == "ws"

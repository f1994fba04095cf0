"""What a bot hears and answers, the same vocabulary for every dialect, and pure.

All bots play one game over and over: the drawn one, whose 42 moves both know. So whatever a server may
say next is known, and a script answers None to anything else: a bot that is out of step stops the run,
it never counts wrong in silence. Does not know sockets, nor time.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from conformance.lab.house_load import DRAWN

MOVES = len(DRAWN)
COLUMNS = tuple(int(digit) for digit in DRAWN)


class Phase(Enum):
    """How far a bot is."""

    NAMING = "giving its name"
    JOINING = "joining"
    WAITING = "waiting for a game"
    PLAYING = "in a game"
    OVER = "after a game's result"


@dataclass(frozen=True, slots=True)
class Place:
    """Where a bot is in its games."""

    phase: Phase
    opens: bool | None = None
    """Whether the first move of this game is its own; None where it was not told yet."""
    discs: int = 0
    """How many of the game's moves it has made and heard of, 0 to 42."""

    def __str__(self) -> str:
        if self.phase is not Phase.PLAYING:
            return str(self.phase.value)
        return f"{self.phase.value} with {self.discs} discs"

    @property
    def is_to_move(self) -> bool:
        """Whether the next disc is its own."""
        return self.opens is not None and self.discs < MOVES and self.opens == (self.discs % 2 == 0)


@dataclass(frozen=True, slots=True)
class Step:
    """What one message does to a bot."""

    place: Place
    """Where it is now, its own answer included."""
    told: int = 0
    """How many moves of its opponent it heard of: 0 or 1."""
    ended: int = 0
    """How many games are over: 0 or 1."""
    move: bytes = b""
    """The move that it answers; empty for none."""
    again: bool = False
    """Whether it has to ask for the next game, in words of its own."""
    opponent: str | None = None
    """Whom it plays from here on, where the message says so."""


@dataclass(frozen=True, slots=True)
class Cut:
    """Received bytes, cut into messages."""

    messages: Sequence[bytes]
    rest: bytes
    """The beginning of a message that is not whole yet."""
    answer: bytes = b""
    """What the transport itself demands to be sent back."""


@dataclass(frozen=True, slots=True)
class Ticket:
    """Who a bot is and where it wants to play."""

    name: str
    partner: str
    table: str
    """Unknown to other bots."""
    has_tables: bool
    """Whether the server is known to have tables in every dialect; the originals have none."""


class OutOfStep(Exception):
    """A server, or the load, did what does not belong here; says what."""


class Script(ABC):
    """One kind of bot."""

    start: Place
    """Where it is once it is connected and `opening` was sent."""
    may_hang_up = False
    """Whether the server may hang up between two games, so that one comes back, to another table."""

    def key(self, data: bytes) -> bytes:
        """Return what tells one chunk of received bytes from another."""
        return data

    def resource(self, ticket: Ticket) -> str | None:
        """Return the path that a websocket asks for; None for plain TCP."""
        return f"/?table={ticket.table}" if ticket.has_tables else "/"

    def again(self, ticket: Ticket) -> bytes:
        """Return what asks for another game."""
        return b""

    @abstractmethod
    def opening(self, ticket: Ticket) -> bytes:
        """Return what is sent first."""

    @abstractmethod
    def cut(self, data: bytes) -> Cut:
        """Cut into messages. Raises OutOfStep for what is none."""

    @abstractmethod
    def advance(self, place: Place, message: bytes, name: str) -> Step | None:
        """Return what a message does to the bot of this name; None where it does not belong."""

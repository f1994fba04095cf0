"""What a bot hears and says, the same few words for all dialects; pure.

All bots play one game: the first mover fills column 0 and has four discs there before the other has four in
column 1. So a bot knows its move without a board, and a game is as short as one can be. Does not know
sockets, nor time.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from conformance.lab.bench.script import Cut

MOVES_OF_FIRST, MOVES_OF_SECOND = 4, 3
"""How many moves each of the two makes in a game that is played to its end."""


class Heard(Enum):
    """What a message tells."""

    ENTERED = "it is in, and waits"
    BEGUN = "a game begins"
    ASKED = "it is to move"
    WON = "it has won, by whatever"
    LOST = "it has lost on the board"
    LATE = "it has lost on time"
    FREE = "it has to ask for another game itself"


@dataclass(frozen=True, slots=True)
class Wish:
    """Who a bot is, and whom it wants to play: who sits at a table, one by name, or anyone in the lobby."""

    name: str
    table: str | None = None
    against: str | None = None


class Speech(ABC):
    """One bot's side of its conversation with a server."""

    def __init__(self, wish: Wish) -> None:
        self.wish = wish
        self.opens: bool | None = None
        """Whether the first move of this game is its own; None where it was not told yet."""
        self.answer = b""
        """What the transport itself demands to be sent back; whoever sends it empties this."""
        self._rest = b""

    @property
    @abstractmethod
    def resource(self) -> str | None:
        """The path that a websocket asks for; None for plain TCP."""

    @abstractmethod
    def opening(self) -> bytes:
        """Return what asks for a game; the first thing that is said."""

    @abstractmethod
    def move(self) -> bytes:
        """Return what answers a request to move."""

    @abstractmethod
    def _cut(self, data: bytes) -> Cut:
        """Cut into messages. Raises OutOfStep for what is none."""

    @abstractmethod
    def _meaning(self, message: bytes) -> Iterator[Heard]:
        """Yield what a message tells. Raises OutOfStep for what does not belong."""

    def hear(self, data: bytes) -> Iterator[Heard]:
        """Yield what `data`, behind what was left over, tells. Raises OutOfStep for what does not belong."""
        cut = self._cut(self._rest + data)
        self._rest = cut.rest
        self.answer += cut.answer
        for message in cut.messages:
            yield from self._meaning(message)

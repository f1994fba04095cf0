"""What comes of a command: who hears of it, which game or series ended, and the service that keeps results.

Knows plain facts in the core's words. Does not know the rules, nor how, or whether, a service stores them.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

from gateway.game.board import FIRST, SECOND, Board, Side
from gateway.game.events import Ended, Event, Moved, Reason, Spoken, ToMove
from gateway.game.ids import GameId
from gateway.game.manners import Manners

WITHOUT_RESULT = (Reason.ABORTED, Reason.STOPPED)
"""Games that ended so have no winner, are no draw, and count in no statistics."""

Number: TypeAlias = Literal[0, 1]
"""A seat's number in its session."""
Note: TypeAlias = tuple[Number, Event]
Broken: TypeAlias = tuple[Number, Reason]
"""The seat that ended a series early, and how."""


@dataclass(frozen=True, slots=True)
class Player:
    """The player on a seat, for the whole series."""

    name: str
    manners: Manners
    counted: bool = True
    """Whether the player's games count in statistics."""
    is_remote: bool = False
    """Whether the player is on another node, which may store the game, too."""


@dataclass(frozen=True, slots=True)
class Finished:
    """A game that is over. The first mover's part comes first."""

    game: GameId
    players: tuple[Player, Player]
    board: Board
    winner: Side | None
    reason: Reason
    thought: tuple[float, float]
    """Seconds that each side thought."""
    round: int
    """1 for the first game of a series."""
    series: int = 0
    """The number of the series, from 1 on, within one run of the server."""
    table: str | None = None
    """The name of the table; None for the lobby."""
    began: float = 0.0
    """When it was announced, in seconds of the hub's clock: the `now` of its commands."""
    ended: float = 0.0
    """When what ended it arrived, or was due, by the same clock."""
    leaver: Side | None = None
    """The side that left, where that ended the game."""

    @property
    def counted(self) -> bool:
        """Whether the game counts in statistics."""
        return self.reason not in WITHOUT_RESULT and all(player.counted for player in self.players)

    @property
    def remote(self) -> Side | None:
        """The side that plays on another node; None where neither does."""
        return next((side for side in (FIRST, SECOND) if self.players[side].is_remote), None)

    def as_event(self) -> Ended:
        """Return the event that tells of it."""
        by_move = self.reason in (Reason.FOUR, Reason.FULL)
        column = self.board.moves[-1] if by_move else None
        return Ended(self.game, self.board, self.winner, self.reason, column, self.leaver)


@dataclass(frozen=True, slots=True)
class Ending:
    """What ended: a game, the whole series, or both."""

    finished: Finished | None
    """The game; None where the series ended between two rounds."""
    asked: Number | None = None
    """The seat whose move was asked for, and not yet read, when the game ended."""
    broken: Broken | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a command, or of time."""

    notes: Sequence[Note] = ()
    """Which seat hears of what. Both hear of the end of a game after these (`Finished.told`)."""
    ending: Ending | None = None


NOTHING_CAME = Outcome()

Step: TypeAlias = tuple[Moved, ToMove]
"""The outcome of nearly every move: both players hear of it, and the other one is to move.

It is a kind of its own because an `Outcome` with its notes takes longer to make and to deliver.
"""


class Results(Protocol):
    """Keeps results, and knows which are stored. For the event loop's thread.

    The core calls only `keep` and `is_open`; connections call the others.
    """

    @property
    def takes_evidence(self) -> bool:
        """Whether `enclose` stores what it is given; otherwise no wire log need be recorded."""

    def keep(self, finished: Finished) -> None:
        """Store a game that is over, before its players hear of the end. MUST NOT block or fail."""

    def is_open(self, game: GameId) -> bool:
        """Whether a game that was taken in is not stored yet, and it is worth waiting until it is."""

    def when_stored(self, game: GameId, then: Callable[[], object]) -> None:
        """Call `then` once a game is not open any more. A client is told of the end only then.

        It may be called at once. It MUST NOT block or raise.
        """

    def as_stored(self, ended: Ended) -> Ended:
        """Return the end of a game that is not open any more, as it is stored.

        It is another one only where two nodes had each other for lost, and the other one was first.
        """

    def enclose(self, game: GameId, side: Side, said: Sequence[Spoken]) -> None:
        """Store the wire log of one side, once, after that side was told of the end.

        MUST NOT block or fail. `said` must not be changed any more.
        """


class NoResults:
    """Keeps no results."""

    takes_evidence = False

    def keep(self, finished: Finished) -> None:
        """Forget the game."""

    def is_open(self, _: GameId) -> bool:
        """Return that nothing is worth waiting for."""
        return False

    def when_stored(self, game: GameId, then: Callable[[], object]) -> None:
        """Call at once."""
        then()

    def as_stored(self, ended: Ended) -> Ended:
        """Return the same."""
        return ended

    def enclose(self, game: GameId, side: Side, said: Sequence[Spoken]) -> None:
        """Drop evidence."""

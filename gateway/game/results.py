"""The facts about a finished game, and the service that keeps them.

Knows plain facts in the core's words. Does not know how, or whether, a service stores them.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from gateway.game.board import Board, Side
from gateway.game.events import Ended, Reason, Spoken
from gateway.game.ids import GameId
from gateway.game.manners import Manners

WITHOUT_RESULT = (Reason.ABORTED, Reason.STOPPED)
"""Games that ended so have no winner, are no draw, and count in no statistics."""


@dataclass(frozen=True, slots=True)
class Player:
    """The player on a seat, for the whole series."""

    name: str
    manners: Manners
    counted: bool = True
    """Whether the player's games count in statistics."""


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

    def told(self) -> Ended:
        """Return the event that tells of it."""
        by_move = self.reason in (Reason.FOUR, Reason.FULL)
        column = self.board.moves[-1] if by_move else None
        return Ended(self.game, self.board, self.winner, self.reason, column, self.leaver)


class Results(Protocol):
    """Keeps results, and knows which are stored. For the event loop's thread.

    The core calls only `keep` and `is_open`; connections call the others.
    """

    @property
    def takes_evidence(self) -> bool:
        """Whether `enclose` keeps what it takes; otherwise nobody need record it."""

    def keep(self, finished: Finished) -> None:
        """Take in a game that is over, before its players hear of the end. MUST NOT block or fail."""

    def is_open(self, game: GameId) -> bool:
        """Whether a game that was taken in is not stored yet, and it is worth waiting until it is."""

    def when_stored(self, game: GameId, then: Callable[[], object]) -> None:
        """Call `then` once a game is not open any more. A client is told of the end only then.

        It may be called at once. It MUST NOT block or raise.
        """

    def enclose(self, game: GameId, side: Side, said: Sequence[Spoken]) -> None:
        """Take in what was said and heard on one side, once, after that side was told of the end.

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

    def enclose(self, game: GameId, side: Side, said: Sequence[Spoken]) -> None:
        """Drop evidence."""

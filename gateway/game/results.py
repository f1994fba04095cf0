"""What is known of a game when it is over, for those who keep results.

Plain facts in the core's words, times included: it says nothing of how, or whether, anybody stores them.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from gateway.game.board import Board, Side
from gateway.game.events import Ended, Reason, Receipt
from gateway.game.ids import GameId
from gateway.game.manners import Manners

WITHOUT_RESULT = (Reason.ABORTED, Reason.STOPPED)
"""Games that ended so have no winner, are no draw, and count in no statistics."""


@dataclass(frozen=True, slots=True)
class Player:
    """Who sits on a seat, for the whole series."""

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
    """The number of the series, from 1 on, another one for each series of a server's life."""
    table: str | None = None
    """The table where it was played; None for the lobby."""
    began: float = 0.0
    """When it was announced, in seconds of the monotonic scale that all times of the core are on."""
    ended: float = 0.0
    """When what ended it arrived, or was due, on the same scale."""
    leaver: Side | None = None
    """Who left, where that ended the game."""

    @property
    def counted(self) -> bool:
        """Whether the game belongs into statistics."""
        return self.reason not in WITHOUT_RESULT and all(player.counted for player in self.players)

    def told(self, receipt: Receipt | None) -> Ended:
        """Return the event that tells of it, with the `receipt` of whoever keeps results."""
        by_move = self.reason in (Reason.FOUR, Reason.FULL)
        column = self.board.moves[-1] if by_move else None
        return Ended(self.game, self.board, self.winner, self.reason, column, receipt, self.leaver)


Report: TypeAlias = Callable[[Finished], Receipt | None]
"""Whoever keeps results: it hears of each game before the players, and what it returns is in `Ended`."""

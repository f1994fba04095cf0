"""The outcomes of commands, the games that are over, and the protocol of the service that stores results.

Does not know the rules of the game, nor how results are stored.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, Protocol, TypeAlias

from gateway.game.board import FIRST, SECOND, Board, Side, other
from gateway.game.events import Ended, Event, Moved, Reason, Spoken, ToMove
from gateway.game.ids import GameId
from gateway.game.manners import Manners

WITHOUT_RESULT = (Reason.ABORTED, Reason.STOPPED, Reason.REPLAYED)
"""Games that ended for these reasons are neither won nor drawn, and count in no statistics."""

FAULT_WORDS = ("illegal", "time", "stall", "crash", "walkover")
"""The words for the faults that end a game of a tournament: an illegal move; the game clock ran out; no move
within the time for one move, although the client was connected; the client disconnected; the player did not
come to the game."""

Number: TypeAlias = Literal[0, 1]
"""A seat's number in its session."""
Note: TypeAlias = tuple[Number, Event]
"""A seat, and an event for it."""
Broken: TypeAlias = tuple[Number, Reason]
"""The seat that ended a series early, and why."""


@dataclass(frozen=True, slots=True)
class Player:
    """The data of a player, which stay the same for a whole series."""

    name: str
    manners: Manners
    counted: bool = True
    """Whether the player's games count in statistics."""
    is_remote: bool = False
    """Whether the player is on another node, which may store the game, too."""


class Scheduled(NamedTuple):
    """The games of a tournament's pairing that a series plays. Its table has the name of the tournament."""

    pairing: int
    """The number of the pairing in its tournament, from 0."""
    first: int
    """The number of the series' first game in the pairing, from 0."""
    is_rated: bool = True
    """Whether the games count in statistics and ratings."""
    created: int = 0
    """When the tournament was added, in milliseconds of Unix time, since a later one may have its name."""
    grace: float = 0.0
    """As `Terms.grace`, for these games."""


@dataclass(frozen=True, slots=True)
class Finished:
    """A game that is over. In each pair the first mover's value comes first."""

    game: GameId
    players: tuple[Player, Player]
    board: Board
    winner: Side | None
    reason: Reason
    thought: tuple[float, float]
    """The thinking time of each side, in seconds."""
    round: int
    """1 for the first game of a series."""
    series: int = 0
    """The number of the series, from 1 on, within one run of the server."""
    table: str | None = None
    """The name of the table; None for the lobby."""
    began: float = 0.0
    """When the game began, in seconds of the hub's clock."""
    ended: float = 0.0
    """When the command that ended the game arrived, or the deadline passed, by the same clock."""
    leaver: Side | None = None
    """The side that ended the game by leaving; None if the game ended in another way."""
    scheduled: Scheduled | None = None
    """The games of a tournament that the series plays; None for other games."""

    @property
    def counted(self) -> bool:
        """Whether the game counts in statistics."""
        is_rated = self.scheduled is None or self.scheduled.is_rated
        return is_rated and self.reason not in WITHOUT_RESULT and all(each.counted for each in self.players)

    @property
    def fault(self) -> tuple[Side, str] | None:
        """The side whose fault ended the game, and one of `FAULT_WORDS`; None if it was no fault."""
        # If the server stopped the game, a node was lost; if it is played again, the player came back.
        if self.leaver is not None and self.reason not in (Reason.STOPPED, Reason.REPLAYED):
            return self.leaver, "crash"
        if self.winner is None or self.reason not in (Reason.ILLEGAL, Reason.TIME):
            return None
        is_on_clock = any(player.manners.clocked for player in self.players)
        word = "illegal" if self.reason is Reason.ILLEGAL else "time" if is_on_clock else "stall"
        return other(self.winner), word

    @property
    def remote(self) -> Side | None:
        """The side whose player is on another node; None if neither player is."""
        return next((side for side in (FIRST, SECOND) if self.players[side].is_remote), None)

    def as_event(self) -> Ended:
        """Return the event that reports the end of the game to its players."""
        by_move = self.reason in (Reason.FOUR, Reason.FULL)
        column = self.board.moves[-1] if by_move else None
        return Ended(self.game, self.board, self.winner, self.reason, column, self.leaver)


@dataclass(frozen=True, slots=True)
class Ending:
    """The end of a game, of a series, or of both."""

    finished: Finished | None
    """The game; None if the series ended between two rounds."""
    asked: Number | None = None
    """The seat that had an open request to move when the game ended."""
    broken: Broken | None = None
    """The seat that ended the series early, and why; None if no seat did."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a command or of a deadline."""

    notes: Sequence[Note] = ()
    """The events for each seat. At the end of a game both seats get `Finished.as_event` after these."""
    ending: Ending | None = None


NOTHING_CAME = Outcome()

Step: TypeAlias = tuple[Moved, ToMove]
"""The outcome of nearly every move: the move, and the request to the other player.

It is not an `Outcome`, because an `Outcome` with notes takes longer to make and to deliver.
"""


class Results(Protocol):
    """Stores results, and knows which games are stored. Used in the event loop's thread.

    The hub calls only `keep` and `is_open`; connections call the other methods.
    """

    @property
    def takes_evidence(self) -> bool:
        """Whether `enclose` stores wire logs. If not, connections need not record them."""

    def keep(self, finished: Finished) -> None:
        """Store a game that is over, before its players get the end. Must not block or fail."""

    def is_open(self, game: GameId) -> bool:
        """Whether a game is not stored yet, so that its players have to wait for its end."""

    def when_stored(self, game: GameId, then: Callable[[], object]) -> None:
        """Call `then` when the game is no longer open, which may be at once.

        Its players do not get the end of the game before that. `then` must not block or raise.
        """

    def as_stored(self, ended: Ended) -> Ended:
        """Return the end of a game as it is stored.

        It differs from `ended` only if two nodes lost each other and the other node stored the game first.
        """

    def enclose(self, game: GameId, side: Side, said: Sequence[Spoken], *, is_part: bool = False) -> None:
        """Store one side's wire log of a game, after that side got the end.

        Called once for each side. If the player came back after its connection broke, called for each of its
        connections, with `is_part`; the parts are joined. Must not block or fail. The caller must not change
        `said` afterwards.
        """


class NoResults:
    """Keeps no results."""

    takes_evidence = False

    def keep(self, finished: Finished) -> None:
        """Forget the game."""

    def is_open(self, _: GameId) -> bool:
        """Return False."""
        return False

    def when_stored(self, game: GameId, then: Callable[[], object]) -> None:
        """Call `then` at once."""
        then()

    def as_stored(self, ended: Ended) -> Ended:
        """Return `ended`."""
        return ended

    def enclose(self, game: GameId, side: Side, said: Sequence[Spoken], *, is_part: bool = False) -> None:
        """Drop the wire log."""

"""What is stored of a game, as plain data.

Knows the words of the core, sides and reasons, and no database. Times are milliseconds, points in time in
UTC since 1970, so that a record read back is equal to the one that was written. A player is its name, exactly
as it is spelled; everything else that is said of it here is what it was in this one game.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from gateway.game.board import Board, Side
from gateway.game.events import Reason
from gateway.game.results import Finished, Player

WORDS = {
    Reason.FOUR: "four",
    Reason.FULL: "full",
    Reason.TIME: "time",
    Reason.LEFT: "left",
    Reason.ABORTED: "aborted",
    Reason.ILLEGAL: "illegal",
    Reason.STOPPED: "stopped",
}
"""The word for each reason, in the database, in exports and in filters. Never to be changed."""
REASONS = {word: reason for reason, word in WORDS.items()}

Pair: TypeAlias = tuple[int, int]
"""One figure for the first mover and one for the second."""


@dataclass(frozen=True, slots=True)
class Participant:
    """A player, as it was in one game."""

    name: str
    kind: str
    """The name of its dialect; ``house`` for a player of the server's own."""
    house: bool = False


@dataclass(frozen=True, slots=True)
class GameRecord:
    """A game that is over. What there are two of comes in the order of play, the first mover's first."""

    began: int
    """When, in milliseconds of Unix time, UTC."""
    ended: int
    players: tuple[Participant, Participant]
    moves: str
    """The columns in the order of play, a digit 0 to 6 for each."""
    winner: Side | None
    reason: Reason
    thought: Pair
    """Milliseconds that each of the two thought."""
    table: str | None = None
    """Where they met by name; None for the lobby. Never empty."""
    series: int = 0
    """Which series it belongs to, a number that one run of the server gives once."""
    round: int = 1
    """1 for the first game of a series."""
    counted: bool = True
    """Whether it counts in statistics and ratings."""

    @property
    def result(self) -> int:
        """The winner as a digit: 1 first mover, 2 second mover, 0 nobody."""
        return 0 if self.winner is None else self.winner + 1

    def plain(self) -> tuple[object, ...]:
        """Return the game as values that every way of writing knows, for `from_plain`."""
        players = [(player.name, player.kind, player.house) for player in self.players]
        times = (self.began, self.ended, *self.thought)
        about = (self.table, self.series, self.round, self.counted)
        return (*players, times, self.moves, self.result, WORDS[self.reason], about)

    @classmethod
    def from_plain(cls, found: Sequence[Any]) -> "GameRecord":
        """Undo `plain`. Raises KeyError, TypeError, ValueError."""
        first, second, (began, ended, *thought), moves, result, reason, about = found
        one, other = thought
        return cls(
            *(began, ended, (Participant(*first), Participant(*second)), moves),
            *(winner_of(result), REASONS[reason], (one, other), *about),
        )

    def board(self) -> Board:
        """Return the last position. Raises ValueError where the columns are no game."""
        board = Board()
        for digit in self.moves:
            board = board.drop(int(digit))
        return board


@dataclass(frozen=True, slots=True)
class Submission:
    """A game that is handed in to be stored."""

    number: int
    """Given once in one run of a server, counting upwards."""
    record: GameRecord


@dataclass(frozen=True, slots=True)
class Enclosure:
    """The evidence of one side of a game, handed in after the game."""

    number: int
    """The game's, as in its `Submission`."""
    side: Side
    exchange: bytes
    """As `evidence.recorded` gives it."""


@dataclass(frozen=True, slots=True)
class Cleared:
    """What was removed when all results were."""

    games: int
    players: int


@dataclass(frozen=True, slots=True)
class StoredGame:
    """A game that is in a store, and the number that it has there."""

    id: int
    """1 or more; a game that was stored later has a higher one."""
    record: GameRecord


def record_of(finished: Finished, epoch: float) -> GameRecord:
    """Return what is stored of a game that the core reports.

    `epoch` is the Unix time, in seconds, at which the core's clock said 0. Beyond what the core leaves out of
    statistics, games between two players of the server's own do not count, nor those of a name with itself,
    which tell nothing of its strength.
    """
    one, two = finished.players
    houses = one.manners.house and two.manners.house
    return GameRecord(
        began=_milliseconds(epoch + finished.began),
        ended=_milliseconds(epoch + finished.ended),
        players=(_participant(one), _participant(two)),
        moves="".join(map(str, finished.board.moves)),
        winner=finished.winner,
        reason=finished.reason,
        thought=(_milliseconds(finished.thought[0]), _milliseconds(finished.thought[1])),
        table=finished.table,
        series=finished.series,
        round=finished.round,
        counted=finished.counted and not houses and one.name != two.name,
    )


def _participant(player: Player) -> Participant:
    return Participant(player.name, player.manners.kind, player.manners.house)


def _milliseconds(seconds: float) -> int:
    return round(1000 * seconds)


def winner_of(result: int) -> Side | None:
    """Return the winner that `GameRecord.result` stands for. Raises ValueError for a digit that is none."""
    match result:
        case 0:
            return None
        case 1:
            return 0
        case 2:
            return 1
        case _:
            raise ValueError(f"{result} is no result")

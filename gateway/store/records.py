"""The stored facts about a game, as plain data.

Knows the words of the core, sides and reasons, and no database. Times are milliseconds, points in time in
UTC since 1970, so that a record read back is equal to the one that was written. A player is its name, exactly
as it is spelled; everything else that is said of it here is what it was in this one game.
"""

import re
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple, TypeAlias

from gateway.game.board import Board, Side, other, position_string
from gateway.game.events import Ended, Reason
from gateway.game.ids import GameId, parse, typed
from gateway.game.results import WITHOUT_RESULT, Finished, Player

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
FAULTS = (Reason.ILLEGAL, Reason.TIME, Reason.LEFT)
"""The reasons for which a game is lost by what the loser itself did."""
LOSSES = (Reason.FOUR, *FAULTS)
"""All reasons for which a game is lost, as tables list them."""

LATEST = 253_402_300_799_999
"""The last millisecond of the year 9999, beyond which a time has no date."""

_NUMBER = re.compile("[1-9][0-9]{0,18}")
_DEFAULT_NAME = re.compile("c4bot-[0-9]+")  # c4bot has made it up, because nobody gave it a name
_AGO = re.compile("([0-9]{1,6})([smhd])")
_UNITS = {"s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)

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

    game: GameId
    """Its id. A game of a database from before there were ids has its number there, in decimal digits."""
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
    remote: Side | None = field(default=None, compare=False)
    """The side that played by way of another server, which may store the game, too.

    The first one that does says how it ended. It is not stored.
    """

    @property
    def result(self) -> int:
        """The winner as a digit: 1 first mover, 2 second mover, 0 nobody."""
        return 0 if self.winner is None else self.winner + 1

    @property
    def position(self) -> str:
        """The moves as a position string. Raises ValueError where they are no columns."""
        return position_string(map(int, self.moves))

    def row(self) -> "Row":
        """Return the game as it is written to a process and to a database."""
        first, second = self.players
        values = (
            *(self.game, self.began, self.ended, first.name, second.name),
            *(first.kind, second.kind, first.house, second.house),
            *(self.moves, self.result, WORDS[self.reason], *self.thought),
            *(self.table, self.series, self.round, self.counted, self.remote),
        )
        return Row._make(values)

    @classmethod
    def of_row(cls, values: Iterable[Any]) -> "GameRecord":
        """Return the game of a row; `remote` may be missing. Raises KeyError, TypeError, ValueError."""
        game, began, ended, first, second, kind, other_kind, house, other_house, *others = values
        moves, result, reason, thought, other_thought, *about = others
        players = (Participant(first, kind, house), Participant(second, other_kind, other_house))
        end = (moves, winner_of(result), REASONS[reason], (thought, other_thought))
        return cls(game, began, ended, players, *end, *about)

    def board(self) -> Board:
        """Return the last position. Raises ValueError where the columns are no game."""
        board = Board()
        for digit in self.moves:
            board = board.drop(int(digit))
        return board


class Row(NamedTuple):
    """A game as values that every way of writing knows.

    They are those of `GameRecord`, in the order of the columns of the table of games, with names for the
    numbers of players. `remote`, which no table has, comes last.
    """

    game: GameId
    began: int
    ended: int
    first: str
    second: str
    first_kind: str
    second_kind: str
    first_house: bool
    second_house: bool
    moves: str
    result: int
    reason: str
    """One of `WORDS`."""
    first_thought: int
    second_thought: int
    table: str | None
    series: int
    round: int
    counted: bool
    remote: Side | None = None


class Enclosure(NamedTuple):
    """The evidence of one side of a game, handed in after the game."""

    game: GameId
    side: Side
    exchange: bytes
    """As `evidence.recorded` gives it."""


class Batch(NamedTuple):
    """What is stored in one transaction."""

    games: Sequence[GameRecord] = ()
    evidence: Sequence[Enclosure] = ()


class Refused(NamedTuple):
    """One of several things to be stored that will never be."""

    number: int
    """Its place among them, from 0; of a line of a file its number there."""
    why: str


class Written(NamedTuple):
    """What came of games and evidence that were to be stored."""

    otherwise: Sequence[Row] = ()
    """Shared games that another server had stored with another end, as they are stored."""
    games: Sequence[Refused] = ()
    """Games that were refused. All others are stored."""
    evidence: Sequence[str] = ()
    """Why pieces of evidence were refused."""


@dataclass(frozen=True, slots=True)
class Cleared:
    """What was removed when all results were."""

    games: int
    players: int


@dataclass(slots=True)
class TakenUp:
    """What came of games that were kept elsewhere for a while: of lines of a journal or an export."""

    more: bool = False
    """Whether there may be more."""
    seen: int = 0
    """How many are stored, those among them that were stored before, too."""
    new: int = 0
    replaced: int = 0
    """How many were stored in place of a game that had no result, because a server had lost this one."""
    differing: list[str] = field(default_factory=list)
    """About games that have no result here, and one in the database."""
    refused: list[Refused] = field(default_factory=list)
    """Lines that are not stored, or not all of whose games are."""
    said: str | None = None
    """Where these lines are; where none were refused, why the journal cannot be read."""


def record_of(finished: Finished, epoch: float) -> GameRecord:
    """Return what is stored of a game that the core reports.

    `epoch` is the Unix time, in seconds, at which the core's clock said 0. Beyond what the core leaves out of
    statistics, games between two players of the server's own do not count, nor those of a name with itself,
    which tell nothing of its strength, nor those of a player that was given no name.
    """
    one, two = finished.players
    named = not any(_DEFAULT_NAME.fullmatch(each.name) for each in finished.players)
    houses = one.manners.house and two.manners.house
    return GameRecord(
        game=finished.game,
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
        counted=finished.counted and named and not houses and one.name != two.name,
        remote=finished.remote,
    )


def ended_as(record: GameRecord) -> Ended:
    """Return the event that tells of a stored game; without a result, of the remote side that has left."""
    by_move = record.reason in (Reason.FOUR, Reason.FULL)
    board, winner = record.board(), record.winner
    leaver = record.remote if record.reason in WITHOUT_RESULT else None
    if record.reason is Reason.LEFT and winner is not None:
        leaver = other(winner)
    column = board.moves[-1] if by_move else None
    return Ended(record.game, board, winner, record.reason, column, leaver)


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
            raise ValueError(f"{result} is not a result")


def game_id(text: str) -> GameId:
    """Return the id that `text` is, in any database, from before there were ids too. Raises ValueError."""
    return text if _NUMBER.fullmatch(text) else parse(text)


def typed_id(text: str) -> GameId:
    """Return the id that somebody typed, perhaps in upper case or with look-alikes. Raises ValueError."""
    return game_id(typed(text))


def moment(at: int) -> str:
    """Return ``2026-11-21T12:00:00.250Z`` for milliseconds of Unix time, at most `LATEST`."""
    return f"{(_EPOCH + at * _MILLISECOND).replace(tzinfo=None).isoformat(timespec='milliseconds')}Z"


def from_moment(text: str) -> int:
    """Undo `moment`; a day will do, and any precision; UTC where it does not say. Raises ValueError.

    ``90m`` is 90 minutes ago; so are ``45s``, ``2h`` and ``3d``.
    """
    if ago := _AGO.fullmatch(text):
        return max(0, round(1000 * time.time()) - int(ago[1]) * _UNITS[ago[2]])
    found = datetime.fromisoformat(text)
    return ((found if found.tzinfo else found.replace(tzinfo=UTC)) - _EPOCH) // _MILLISECOND

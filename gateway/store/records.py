"""A stored game and related results, as plain data.

Knows sides and reasons, but no database. Durations are milliseconds, points in time milliseconds of Unix
time. A name identifies a player; each spelling is a different name.
"""

import re
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple, TypeAlias

from gateway.game.board import Board, Side, boards_of, other, position_string
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
    Reason.REPLAYED: "replayed",
}
"""The word for each reason in the database, exports and filters. The words must never change."""
REASONS = {word: reason for reason, word in WORDS.items()}
FAULTS = (Reason.ILLEGAL, Reason.TIME, Reason.LEFT)
"""The reasons of losses that are the loser's own fault."""
LOSSES = (Reason.FOUR, *FAULTS)
"""The reasons of all losses, in the order of tables."""

LATEST = 253_402_300_799_999
"""The last millisecond of the year 9999, the latest time that has a date in Python."""

_PLACE = 4
"""The index of `scheduled` among the values of a row after the thinking times."""
_NUMBER = re.compile("[1-9][0-9]{0,18}")
_DEFAULT_NAME = re.compile("c4bot-[0-9]+|guest-[0-9a-f]{8}")
"""The name that c4bot takes if its user gives none, or that a dialect gives to a player without a name."""
_AGO = re.compile("([0-9]{1,6})([smhd])")
_UNITS = {"s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
_DAYS = {"today": 0, "yesterday": 1}
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)

Pair: TypeAlias = tuple[int, int]
"""One figure for the first mover and one for the second."""


@dataclass(frozen=True, slots=True)
class Participant:
    """A player in one game. In another game the same player may have another kind."""

    name: str
    kind: str
    """The name of the player's dialect; ``house`` for one of the server's own players."""
    house: bool = False


class TournamentGame(NamedTuple):
    """The place of a game in a tournament, whose name is that of the game's table."""

    pairing: int
    """The number of the pairing in its tournament, from 0."""
    number: int
    """The number of the game in its pairing, from 0."""
    culprit: Side | None = None
    """The side whose fault ended the game; None if it was no fault."""
    fault: str | None = None
    """The fault, one of `gateway.game.results.FAULT_WORDS`."""
    created: int = 0
    """As in `Scheduled`."""


@dataclass(frozen=True, slots=True)
class GameRecord:
    """A game that is over. In each pair the first mover's value comes first."""

    game: GameId
    """The game's id. For a game from a database of version 1 it is a decimal number."""
    began: int
    """When the game began, in milliseconds of Unix time."""
    ended: int
    players: tuple[Participant, Participant]
    moves: str
    """The columns in the order of play, a digit 0 to 6 for each."""
    winner: Side | None
    reason: Reason
    thought: Pair
    """The thinking time of each player, in milliseconds."""
    table: str | None = None
    """The name of the table; None for the lobby. Never empty."""
    series: int = 0
    """The number of the game's series, unique within one run of the server."""
    round: int = 1
    """1 for the first game of a series."""
    counted: bool = True
    """Whether it counts in statistics and ratings."""
    scheduled: TournamentGame | None = field(default=None, compare=False)
    """The place of the game in a tournament; None for any other game, and for games that were read from the
    table of games."""
    remote: Side | None = field(default=None, compare=False)
    """The side whose player was connected to another server; None if both players were connected to this one.

    Not stored. The other server may store the game, too. The ending that is stored first is valid.
    """

    @property
    def result(self) -> int:
        """The winner as a digit: 1 for the first mover, 2 for the second, 0 for neither."""
        return 0 if self.winner is None else self.winner + 1

    @property
    def position(self) -> str:
        """The moves as a position string. Raises ValueError if they are not columns."""
        return position_string(map(int, self.moves))

    def row(self) -> "Row":
        """Return the game as plain values, for the store process and the database."""
        first, second = self.players
        values = (
            *(self.game, self.began, self.ended, first.name, second.name),
            *(first.kind, second.kind, first.house, second.house),
            *(self.moves, self.result, WORDS[self.reason], *self.thought),
            *(self.table, self.series, self.round, self.counted),
            *(None if self.scheduled is None else tuple(self.scheduled), self.remote),
        )
        return Row._make(values)

    @classmethod
    def of_row(cls, values: Iterable[Any]) -> "GameRecord":
        """Return the game of a row; the last two values may be missing.

        Raises KeyError, TypeError, ValueError.
        """
        game, began, ended, first, second, kind, other_kind, house, other_house, *others = values
        moves, result, reason, thought, other_thought, *rest = others
        if len(rest) > _PLACE and rest[_PLACE] is not None:
            rest[_PLACE] = TournamentGame(*rest[_PLACE])
        players = (Participant(first, kind, house), Participant(second, other_kind, other_house))
        end = (moves, winner_of(result), REASONS[reason], (thought, other_thought))
        return cls(game, began, ended, players, *end, *rest)

    def side_of(self, name: str) -> Side:
        """Return the side of the player of this name; of two players of this name, the first."""
        return 0 if self.players[0].name == name else 1

    def board(self) -> Board:
        """Return the final position. Raises ValueError if the moves are not legal."""
        return boards_of(self.moves)[-1]


class Row(NamedTuple):
    """A game as plain values, in the order of the columns of the table `games`.

    It has the players' names where the table has their numbers. `scheduled` and `remote`, which the table
    does not have, are last.
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
    """A word of `WORDS`."""
    first_thought: int
    second_thought: int
    table: str | None
    series: int
    round: int
    counted: bool
    scheduled: tuple[int, int, Side | None, str | None, int] | None = None
    """The fields of `TournamentGame`."""
    remote: Side | None = None


class Enclosure(NamedTuple):
    """The evidence of one side of a game."""

    game: GameId
    side: Side
    exchange: bytes
    """The bytes that `evidence.recorded` returned."""
    is_part: bool = False
    """Whether it is to be joined with other evidence of this side, from other connections of its player."""


class Solved(NamedTuple):
    """The scores of all positions of a stored game."""

    game: GameId
    moves: str
    """The moves of the game when it was solved. A game without a result may be replaced by another one."""
    scores: bytes
    """The bytes that `analyses.packed` returned."""


class Batch(NamedTuple):
    """Games, evidence and analyses to be stored in one transaction."""

    games: Sequence[GameRecord] = ()
    evidence: Sequence[Enclosure] = ()
    analyses: Sequence[Solved] = ()


class Refused(NamedTuple):
    """A game or a line that can never be stored."""

    number: int
    """The index of the game in the list to store, or the number of the line in its file."""
    why: str


class Written(NamedTuple):
    """The result of storing a batch."""

    otherwise: Sequence[Row] = ()
    """The database's rows for shared games that another server stored earlier, with a different ending."""
    games: Sequence[Refused] = ()
    """Games that were refused. All others are stored."""
    evidence: Sequence[str] = ()
    """An error text for each refused piece of evidence."""


@dataclass(frozen=True, slots=True)
class Cleared:
    """The numbers of games and players that were removed."""

    games: int
    players: int


@dataclass(slots=True)
class TakenUp:
    """The result of storing lines of a journal or an export."""

    more: bool = False
    """Whether there may be further lines."""
    seen: int = 0
    """The number of games from these lines that are in the database now, new or not."""
    new: int = 0
    """The number of games that were not in the database before."""
    replaced: int = 0
    """The number of games that replaced a stored game without a result."""
    differing: list[str] = field(default_factory=list)
    """A text for each game that has a result in the database, but no result in the line."""
    refused: list[Refused] = field(default_factory=list)
    """Lines that are not stored, or only in part."""
    detail: str | None = None
    """The file that keeps refused lines, if any; otherwise the error of reading the journal, or None."""


def record_of(finished: Finished, epoch: float) -> GameRecord:
    """Return the record of a game that the hub reports as finished.

    `epoch` is the Unix time, in seconds, at which the hub's clock was 0. A game does not count if the hub
    excludes it from statistics, if both players are the server's own, if both have the same name, or if one
    has a default name.
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
        scheduled=_place_of(finished),
        remote=finished.remote,
    )


def ended_as(record: GameRecord) -> Ended:
    """Return the `Ended` event for a stored game.

    If the game has no result, the event says that the remote side left.
    """
    by_move = record.reason in (Reason.FOUR, Reason.FULL)
    board, winner = record.board(), record.winner
    leaver = record.remote if record.reason in WITHOUT_RESULT else None
    if record.reason is Reason.LEFT and winner is not None:
        leaver = other(winner)
    column = board.moves[-1] if by_move else None
    return Ended(record.game, board, winner, record.reason, column, leaver)


def _place_of(finished: Finished) -> TournamentGame | None:
    """Return the place of a game in its tournament; None for any other game."""
    if finished.scheduled is None:
        return None
    culprit, fault = finished.fault or (None, None)
    if finished.reason is Reason.REPLAYED:
        culprit = finished.leaver  # so that a player which always breaks off loses at last
    number = finished.scheduled.first + finished.round - 1
    scheduled = finished.scheduled
    return TournamentGame(scheduled.pairing, number, culprit, fault, scheduled.created)


def _participant(player: Player) -> Participant:
    return Participant(player.name, player.manners.kind, player.manners.house)


def _milliseconds(seconds: float) -> int:
    return round(1000 * seconds)


def winner_of(result: int) -> Side | None:
    """Return the winner for a `GameRecord.result`. Raises ValueError for any other number."""
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
    """Parse the id of a stored game; games from databases of version 1 have numbers. Raises ValueError."""
    return text if _NUMBER.fullmatch(text) else parse(text)


def typed_id(text: str) -> GameId:
    """Parse an id that a person typed, in any case and with look-alike letters. Raises ValueError."""
    return game_id(typed(text))


def moment(at: int) -> str:
    """Format milliseconds of Unix time, at most `LATEST`, as ``2026-11-21T12:00:00.250Z``."""
    return f"{(_EPOCH + at * _MILLISECOND).replace(tzinfo=None).isoformat(timespec='milliseconds')}Z"


def from_moment(text: str) -> int:
    """Parse a time in ISO 8601 to milliseconds of Unix time. Raises ValueError.

    A date alone is allowed. A time without a zone is in UTC. A duration, such as ``45s``, ``90m``, ``2h`` or
    ``3d``, is subtracted from the current time; ``week`` is ``7d``. ``today`` and ``yesterday`` are the
    beginnings of these days in UTC.
    """
    if text in _DAYS:
        now = round(1000 * time.time())
        return now - now % _UNITS["d"] - _DAYS[text] * _UNITS["d"]
    if ago := _AGO.fullmatch("7d" if text == "week" else text):
        return max(0, round(1000 * time.time()) - int(ago[1]) * _UNITS[ago[2]])
    found = datetime.fromisoformat(text)
    return ((found if found.tzinfo else found.replace(tzinfo=UTC)) - _EPOCH) // _MILLISECOND

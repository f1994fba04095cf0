"""The log of a tournament: what was decided, in order. With the stored games it determines everything else.

Pure. An entry is a JSON object in a text. Players are numbered from 0 in the order of `Begun.order`; those
that enter later follow. Before `Begun` they are numbered in the order in which they entered.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import ClassVar, NamedTuple, TypeAlias, get_args

from gateway.game.board import Side
from gateway.game.ids import GameId

# Entries. `word` is the name of the act that adds such an entry, or what the server does by it.


@dataclass(frozen=True, slots=True)
class Entered:
    """A player has entered the tournament."""

    name: str
    house: bool = False
    """Whether it is one of the server's own players."""

    @property
    def word(self) -> str:
        """The name of the act."""
        return "house" if self.house else "enter"


@dataclass(frozen=True, slots=True)
class StartRequested:
    """The director has asked to begin as soon as there are two players."""

    word: ClassVar = "start"


@dataclass(frozen=True, slots=True)
class Begun:
    """The tournament has begun."""

    word: ClassVar = "begin"

    order: Sequence[int]
    """The players in the order of their seeds, the strongest first, with their numbers so far."""


@dataclass(frozen=True, slots=True)
class Paired:
    """Pairings were added. Pairings are numbered from 0."""

    word: ClassVar = "pair"

    pairings: Sequence[tuple[int, int | None, int]]
    """For each pairing the two players, and its round, from 1. None is a bye."""


@dataclass(frozen=True, slots=True)
class Forfeited:
    """Games of a pairing will not be played. Players that are not `absent` get their points."""

    word: ClassVar = "forfeit"

    pairing: int
    games: Sequence[int]
    """The numbers of these games in the pairing."""
    absent: Sequence[int]
    """The players that did not come, or have withdrawn."""


@dataclass(frozen=True, slots=True)
class Withdrawn:
    """A player takes part no more."""

    word: ClassVar = "withdraw"

    player: int
    why: str
    may_return: bool = False
    """Whether the player takes part again when it sits down at the table again."""


@dataclass(frozen=True, slots=True)
class Returned:
    """A player that had withdrawn takes part again."""

    word: ClassVar = "readmit"

    player: int


@dataclass(frozen=True, slots=True)
class Paused:
    """No further game begins until `Resumed`."""

    word: ClassVar = "pause"


@dataclass(frozen=True, slots=True)
class Resumed:
    """Games begin again."""

    word: ClassVar = "resume"


@dataclass(frozen=True, slots=True)
class Awarded:
    """The director has decided a game, whatever was or will be played."""

    word: ClassVar = "award"

    pairing: int
    game: int
    """The number of the game in the pairing."""
    winner: int | None
    """The player that wins; None for a draw."""


@dataclass(frozen=True, slots=True)
class Voided:
    """Games of a pairing count for neither player, and are not played again."""

    word: ClassVar = "void"

    pairing: int
    games: Sequence[int]
    """The numbers of these games in the pairing."""


@dataclass(frozen=True, slots=True)
class Replayed:
    """Games of a pairing are played again. Their results, and earlier decisions on them, do not count."""

    word: ClassVar = "replay"

    pairing: int
    games: Sequence[int]
    """The numbers of these games in the pairing."""
    annulled: Sequence[GameId]
    """The stored games with these numbers."""


@dataclass(frozen=True, slots=True)
class Forbidden:
    """Two players are not paired any more, except by the bracket of a knockout."""

    word: ClassVar = "forbid"

    players: Sequence[int]
    voided: Sequence[tuple[int, Sequence[int]]] = ()
    """The pairings of the two that are not over, and the numbers of their games that are not played."""


@dataclass(frozen=True, slots=True)
class NextSet:
    """The director has chosen the pairings of the next Swiss round."""

    word: ClassVar = "next"

    pairings: Sequence[tuple[int, int | None]]
    """The first and the second player of each pairing. None is a bye."""


@dataclass(frozen=True, slots=True)
class Announced:
    """A line that all views of the tournament show; an empty one ends that."""

    word: ClassVar = "announce"

    text: str


@dataclass(frozen=True, slots=True)
class RequestedTest:
    """A player plays two games against a house player, which do not count, as soon as it is free."""

    word: ClassVar = "test"

    player: int
    house: str
    latest: int = 0
    """The number of the latest test before; 0 for none."""


@dataclass(frozen=True, slots=True)
class StageBegun:
    """The second stage has begun. No player enters any more."""

    word: ClassVar = "stage"

    order: Sequence[int]
    """The players of the stage in the order of their seeds, the strongest first."""


@dataclass(frozen=True, slots=True)
class Undone:
    """An act of the director has no effect any more."""

    word: ClassVar = "undo"

    number: int
    """The number of its entry in the log, from 0."""


@dataclass(frozen=True, slots=True)
class Ended:
    """The tournament is over. No further game begins, and games that are on still count."""

    word: ClassVar = "end"

    by_director: bool = False
    """Whether the director has ended it early."""


Entry: TypeAlias = (
    Entered
    | StartRequested
    | Begun
    | Paired
    | Forfeited
    | Withdrawn
    | Returned
    | Paused
    | Resumed
    | Awarded
    | Voided
    | Replayed
    | Forbidden
    | NextSet
    | Announced
    | RequestedTest
    | StageBegun
    | Undone
    | Ended
)
_KINDS = {each.__name__: each for each in get_args(Entry)}


class Signed(NamedTuple):
    """An entry of the log, and who made it."""

    entry: Entry
    by: str = ""
    """The name of the person who decided; empty for the server."""
    reason: str = ""
    """What that person gave as the reason."""


def written(entry: Entry, by: str = "", reason: str = "") -> str:
    """Return the text of an entry, with the fields of its `Signed`."""
    values = {each.name: getattr(entry, each.name) for each in fields(entry)}
    signature = {"by": by, "reason": reason} if by else {}
    return json.dumps({"entry": type(entry).__name__, **values, **signature})


def parsed(text: str) -> Signed:
    """Return the entry of a text, and who made it. Raises ValueError if it is not one of this version."""
    try:
        found = json.loads(text)
        by, reason = found.pop("by", ""), found.pop("reason", "")
        entry: Entry = _KINDS[found.pop("entry")](**found)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ValueError(f"not an entry of the log of a tournament: {text[:80]!r}") from error
    return Signed(entry, by, reason)


# The stored form of a tournament.


class LoggedEntry(NamedTuple):
    """An entry of a tournament's log."""

    made: int
    """When it was added, in milliseconds of Unix time."""
    entry: str


class TournamentResult(NamedTuple):
    """A stored game of a tournament."""

    row: int
    """The number of the game in the order of storing."""
    game: GameId
    pairing: int
    number: int
    """`pairing` and `number` are as in `gateway.store.records.TournamentGame`."""
    ended: int
    """When it ended, in milliseconds of Unix time."""
    first: str
    second: str
    """The names of the first and of the second mover."""
    result: int
    """1 if the first mover won, 2 if the second, 0 if neither."""
    reason: str
    """One of `gateway.store.records.WORDS`."""
    thought: tuple[int, int]
    """The thinking time of each mover, in milliseconds."""
    culprit: Side | None
    fault: str | None
    """`culprit` and `fault` are as in `gateway.store.records.TournamentGame`."""


class TournamentNews(NamedTuple):
    """The part of a tournament that was added after a `Known` part."""

    key: str
    settings: str
    """The text of its file."""
    entries: Sequence[LoggedEntry]
    games: Sequence[TournamentResult]
    created: int = 0
    """When it was added, in milliseconds of Unix time."""


class Known(NamedTuple):
    """The part of a tournament that its reader has read already."""

    entries: int = 0
    """The number of entries."""
    row: int = 0
    """`TournamentResult.row` of the latest game; 0 for none."""

    def after(self, news: TournamentNews) -> "Known":
        """Return what is known after the reader has read `news`, too."""
        rows = [game.row for game in news.games]
        return Known(self.entries + len(news.entries), max(rows, default=self.row))


COMPLETE = Known(-1, -1)
"""Stands for the whole of a tournament that is over."""

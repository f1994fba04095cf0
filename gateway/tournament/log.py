"""The log of a tournament: what was decided, in order. With the stored games it determines everything else.

Pure. An entry is a JSON object in a text. Players are numbered from 0 in the order of `Begun.order`; those
that enter later follow. Before `Begun` they are numbered in the order in which they entered.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import NamedTuple, TypeAlias, get_args

from gateway.game.board import Side
from gateway.game.ids import GameId

# Entries.


@dataclass(frozen=True, slots=True)
class Entered:
    """A player has entered the tournament."""

    name: str
    house: bool = False
    """Whether it is one of the server's own players."""


@dataclass(frozen=True, slots=True)
class StartRequested:
    """The organiser has asked to begin as soon as there are two players."""


@dataclass(frozen=True, slots=True)
class Begun:
    """The tournament has begun."""

    order: Sequence[int]
    """The players in the order of their seeds, the strongest first, with their numbers so far."""


@dataclass(frozen=True, slots=True)
class Paired:
    """Pairings were added. Pairings are numbered from 0."""

    pairings: Sequence[tuple[int, int | None, int]]
    """For each pairing the two players, and its round, from 1. None is a bye."""


@dataclass(frozen=True, slots=True)
class Forfeited:
    """Games of a pairing will not be played. Players that are not `absent` get their points."""

    pairing: int
    games: Sequence[int]
    """The numbers of these games in the pairing."""
    absent: Sequence[int]
    """The players that did not come, or have withdrawn."""


@dataclass(frozen=True, slots=True)
class Withdrawn:
    """A player takes part no more."""

    player: int
    why: str
    may_return: bool = False
    """Whether the player takes part again when it sits down at the table again."""


@dataclass(frozen=True, slots=True)
class Returned:
    """A player that had withdrawn takes part again."""

    player: int


@dataclass(frozen=True, slots=True)
class Paused:
    """No further game begins until `Resumed`."""


@dataclass(frozen=True, slots=True)
class Resumed:
    """Games begin again."""


@dataclass(frozen=True, slots=True)
class Ended:
    """The tournament is over. No further game begins, and games that are on still count."""

    by_organiser: bool = False
    """Whether the organiser has ended it early."""


Entry: TypeAlias = (
    Entered | StartRequested | Begun | Paired | Forfeited | Withdrawn | Returned | Paused | Resumed | Ended
)
_KINDS = {each.__name__: each for each in get_args(Entry)}


def written(entry: Entry) -> str:
    """Return the text of an entry."""
    values = {each.name: getattr(entry, each.name) for each in fields(entry)}
    return json.dumps({"entry": type(entry).__name__, **values})


def parsed(text: str) -> Entry:
    """Return the entry of a text. Raises ValueError if it is not one of this version."""
    try:
        found = json.loads(text)
        entry: Entry = _KINDS[found.pop("entry")](**found)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ValueError(f"not an entry of the log of a tournament: {text[:80]!r}") from error
    return entry


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

"""What a node knows of its own players for certain, and announces to each server that pairs in turn.

These are the players whom it has let in or who ask to enter, the series that it holds itself, and the games
that it has held so far.
"""

from dataclasses import dataclass, replace
from itertools import chain, count
from typing import TypeAlias

from gateway.cluster.messages import Asked, Fact, Met, Playing, Present
from gateway.game.commands import AtTable
from gateway.game.results import Player
from gateway.hub.seats import Hosting
from gateway.matchmaking.lobby import Key, Meetings
from gateway.matchmaking.matchmaker import Entry, HousePair, Match, Turn
from gateway.matchmaking.tables import Position

Held: TypeAlias = Match | Hosting
"""A match whose series this node holds."""
Part: TypeAlias = int | Held | tuple[Key, Key]
"""What is announced in one go: a player, a series, or how often a name had the first move against another."""


@dataclass(eq=False, slots=True)
class LocalPlayer:
    """A player of this node, by its latest entry."""

    entry: Entry
    is_in: bool = False
    """Whether it has been let in by this entry. One that has not been only asks."""
    asks: Entry | None = None
    """What it is to be let in by, while that is not decided."""
    turn: int | None = None
    """The turn in which it waits, if no match has been found for it."""
    since: float | None = None
    """When its latest wait began, if no series has begun since."""
    position: Position = 0
    games: int = 0
    """How it sits at its table."""

    def player(self) -> Player:
        """Return the player as its opponent's node needs it."""
        return Player(self.entry.name, self.entry.manners, self.entry.counted)

    def rename(self, name: str, *, counted: bool) -> None:
        """Take another name."""
        self.entry = replace(self.entry, name=name, counted=counted)

    def let_in(self) -> None:
        """Record the place that was asked for, in which it does not wait yet."""
        assert self.asks is not None
        self.entry, self.is_in = self.asks, True
        self.turn = self.since = None


@dataclass(eq=False, slots=True)
class LocalSeries:
    """A series that this node holds."""

    number: int
    turns: tuple[Turn, ...]
    """Those of this node's players."""
    names: tuple[str, str]
    """The first mover of the first game comes first."""
    at_table: bool
    round: int = 0

    def playing(self, *, fresh: bool) -> Playing:
        """Return how it stands."""
        seat, turn = self.turns[0]
        return Playing(self.number, seat, turn, self.names, self.at_table, self.round, fresh)


class LocalState:
    """The players, series and meetings of one node."""

    def __init__(self) -> None:
        self.players: dict[int, LocalPlayer] = {}
        self.series: dict[Held, LocalSeries] = {}
        self._meetings = Meetings()
        self._numbers = count(1)

    def parts(self) -> dict[Part, None]:
        """Return all there is, in the order in which it is to be announced."""
        return dict.fromkeys(chain[Part](self.players, self.series, self._meetings.latest()))

    def facts(self, part: Part, now: float) -> list[Fact]:
        """Return how a part of it stands."""
        if isinstance(part, int):
            return self._facts_of_player(self.players[part], now)
        if isinstance(part, tuple):
            return [Met(*part, self._meetings.known(*part))]
        return [self.series[part].playing(fresh=False)]

    def _facts_of_player(self, player: LocalPlayer, now: float) -> list[Fact]:
        found: list[Fact] = []
        if player.is_in:
            waited = None if player.since is None else max(0.0, now - player.since)
            found.append(Present(player.entry, player.turn, waited, player.position, player.games))
        if player.asks is not None:
            found.append(Asked(player.asks))
        return found

    def began(self, match: Held, game: int) -> LocalSeries:
        """Note that a game of a series began, and return the series."""
        series = self.series.get(match)
        if series is None:
            series = self.series[match] = self._new(match)
        series.round = game
        players = [self.players[turn.seat] for turn in series.turns if turn.seat in self.players]
        for player in players:
            player.since = None
            player.games += series.at_table
        if not series.at_table:
            self._meetings.add(*(series.names if game % 2 else series.names[::-1]))
        return series

    def _new(self, match: Held) -> LocalSeries:
        first, names = self._first_and_names(match)
        at_table = isinstance(self.players[first.seat].entry.place, AtTable)
        return LocalSeries(next(self._numbers), match.turns, names, at_table)

    def _first_and_names(self, match: Held) -> tuple[Turn, tuple[str, str]]:
        match match:
            case HousePair(turn, house, opens):
                name = self.players[turn.seat].entry.name
                return turn, (name, house) if opens else (house, name)
            case Hosting(turn):
                return turn, (self.players[turn.seat].entry.name, match.player.name)
            case _:
                one, two = (self.players[turn.seat].entry.name for turn in (match.first, match.second))
                return match.first, (one, two)

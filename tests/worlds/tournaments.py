"""A tournament in memory, as the database keeps it, and a hub whose players meet at its table."""

import json
import random
from collections.abc import Sequence
from typing import Any

from gateway.game.board import Side
from gateway.game.ids import game_ids
from gateway.game.results import Finished
from gateway.matchmaking.standard import LobbyAndTables
from gateway.store.records import WORDS, GameRecord, record_of
from gateway.tournament.director import Director
from gateway.tournament.log import (
    COMPLETE,
    Begun,
    Entered,
    Entry,
    Forfeited,
    Known,
    LoggedEntry,
    Paired,
    TournamentNews,
    TournamentResult,
    written,
)
from gateway.tournament.settings import Settings, parse
from gateway.tournament.table import TournamentTable
from gateway.tournament.tournament import Tournament
from worlds.hub import World


def file_of(**settings: object) -> str:
    """Return the file of a tournament; a round robin called cup unless the settings say otherwise.

    No seat is kept for a player whose connection breaks.
    """
    values = {"name": "cup", "format": "round-robin", "grace": 0} | settings
    return "\n".join(f"{key.replace('_', '-')} = {json.dumps(value)}" for key, value in values.items())


class Stored:
    """A stored tournament. Its time, in milliseconds, passes by one with each thing that is stored."""

    def __init__(self, **settings: object) -> None:
        self.file = file_of(**settings)
        self.settings: Settings = parse(self.file)
        self.entries: list[LoggedEntry] = []
        self.games: list[TournamentResult] = []
        self.now = 0
        self._ids = game_ids(1)

    def append(self, known: Known, entries: Sequence[Entry]) -> bool:
        """Add entries, if their writer knows the whole log and all games of the pairings that they forfeit.

        Otherwise return False, and add none.
        """
        forfeited = {entry.pairing for entry in entries if isinstance(entry, Forfeited)}
        latest = max((game.row for game in self.games if game.pairing in forfeited), default=0)
        if known.entries != len(self.entries) or latest > known.row:
            return False
        self.log(*entries)
        return True

    def log(self, *entries: Entry) -> None:
        """Add entries to the log, whatever it has."""
        self.now += 1
        self.entries += [LoggedEntry(self.now, written(entry)) for entry in entries]

    def begin(self, *names: str, pairings: Sequence[tuple[int, int | None, int]] = ()) -> None:
        """Log the players, the beginning in this order, and pairings."""
        entered = [Entered(name, house=name in self.settings.house) for name in names]
        self.log(*entered, Begun([*range(len(names))]), Paired(pairings))

    def keep(self, record: GameRecord) -> None:
        """Store a game of the tournament."""
        place, (first, second) = record.scheduled, record.players
        assert place is not None
        result = TournamentResult(
            row=len(self.games) + 1,
            game=record.game,
            pairing=place.pairing,
            number=place.number,
            ended=record.ended,
            first=first.name,
            second=second.name,
            result=record.result,
            reason=WORDS[record.reason],
            thought=record.thought,
            culprit=place.culprit,
            fault=place.fault,
        )
        self.games.append(result)

    def play(
        self,
        pairing: int,
        number: int,
        winner: int | None = None,
        reason: str = "four",
        *,
        fault_of: int | None = None,
        thought: tuple[int, int] = (0, 0),
    ) -> None:
        """Store a game of a pairing, won by its first player (0), its second (1), or nobody.

        `fault_of` is the player whose fault ended it, `thought` the time of the two players.
        """
        tournament, swapped = self.read(), number % 2
        players = [tournament.entrants[each or 0].name for each in tournament.pairings[pairing].pairing[:2]]
        culprit: Side | None = None if fault_of is None else 1 if fault_of != swapped else 0
        self.now += 1
        result = TournamentResult(
            row=len(self.games) + 1,
            game=next(self._ids),
            pairing=pairing,
            number=number,
            ended=self.now,
            first=players[swapped],
            second=players[1 - swapped],
            result=0 if winner is None else 1 + (winner + swapped) % 2,
            reason=reason,
            thought=(thought[swapped], thought[1 - swapped]),
            culprit=culprit,
            fault=None if fault_of is None else "crash",
        )
        self.games.append(result)

    def news(self, known: Known | None = None) -> TournamentNews:
        """Return what was added after the known part, or all if it is None."""
        if known is None:
            return TournamentNews(self.settings.key, self.file, [*self.entries], [*self.games])
        if known == COMPLETE:
            return TournamentNews(self.settings.key, "", [], [])
        games = [game for game in self.games if game.row > known.row]
        return TournamentNews(self.settings.key, "", self.entries[known.entries :], games)

    def read(self) -> Tournament:
        """Return the tournament, read whole."""
        return Tournament.of(self.news())


class Cup(World):
    """A hub with the table of a tournament, whose games are stored at once."""

    def __init__(
        self,
        stored: Stored,
        kind: type[LobbyAndTables] = LobbyAndTables,
        *,
        house_after: float = 5.0,
        run: int = 0,
        **terms: Any,
    ) -> None:
        self.stored = stored
        self.director = Director()
        self.epoch = stored.now / 1000
        """When the hub's clock was 0, in seconds of the store's time."""
        matchmaker = kind(random.Random(0), house_after=house_after, large_tables=self.director.tables)
        super().__init__(matchmaker, run=run, **terms)

    @property
    def table(self) -> TournamentTable:
        return self.director.tables[self.stored.settings.key]

    @property
    def here(self) -> list[str]:
        """The names of those who sit at the table."""
        return self.table.here

    def keep(self, finished: Finished) -> None:
        super().keep(finished)
        if finished.scheduled is not None:
            self.store(record_of(finished, self.epoch))

    def store(self, record: GameRecord) -> None:
        """Store a game of the tournament."""
        self.stored.keep(record)

    def read(self, *entries: Entry) -> None:
        """Let the director read what was added, and these entries besides."""
        if entries:
            self.stored.log(*entries)
        self.take(self.stored.news(self.director.known.get(self.stored.settings.key)))

    def take(self, news: TournamentNews) -> None:
        """Let the director take in what it has read."""
        assert self.director.take([news], self.now, self.director.epoch) == {}
        self.hub.settle(self.now)

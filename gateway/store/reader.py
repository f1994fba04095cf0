"""Reading from the store: plain data in, plain data out.

Knows the database; does not know its callers, or the form of their answers. Everything here blocks, so call it from other threads than the
event loop's; any number of them may call at once.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeAlias

from sqlalchemy import Connection

from gateway.game.ids import GameId
from gateway.store import NotKeptError, careers, comparing, games, statistics
from gateway.store.careers import Career, Point
from gateway.store.comparing import EVERYTHING, Choice, Comparison, Ranked
from gateway.store.database import Database
from gateway.store.evidence import Exchange
from gateway.store.games import Filter, Page
from gateway.store.records import GameRecord
from gateway.store.statistics import Meeting, Profile, Score, Standing

Whole: TypeAlias = tuple[GameRecord, tuple[Exchange | None, Exchange | None]]
"""A game, and the evidence of its first and its second mover."""
PLAYERS = 10
"""Players whose meetings are read at once."""


@dataclass(frozen=True, slots=True)
class Reader:
    """Reads from one database. Every method raises StoreError if the database cannot be used."""

    database: Database | None
    """None if results are not kept: then every method raises NotKeptError."""

    def page(self, wanted: Filter, part: Page) -> list[GameRecord]:
        """Return up to `part.limit` games. Raises NoGameError if a bound of `part` is not stored."""
        with self._reading() as connection:
            return games.page(connection, wanted, part)

    def every(self, wanted: Filter) -> Iterator[GameRecord]:
        """Yield all games, the oldest first, with only a page of them in memory."""
        yield from games.every(self._reading, wanted)

    def game(self, game: GameId) -> Whole:
        """Return the game with that id, and its evidence. Raises NoGameError."""
        with self._reading() as connection:
            return games.one(connection, game), games.evidence_of(connection, game)

    def standings(
        self, limit: int, choice: Choice = EVERYTHING, *, least: int = 1, order: str = "rating"
    ) -> tuple[list[Ranked], Score]:
        """Return up to `limit` players of the chosen games, and the score of their first movers."""
        with self._reading() as connection:
            return comparing.standings(connection, choice, least=least, order=order, limit=limit)

    def players(self, after: str | None, limit: int) -> list[Standing]:
        """Return up to `limit` players by name, those after the name `after`."""
        with self._reading() as connection:
            return statistics.roll(connection, after, limit)

    def profile(self, name: str) -> Profile | None:
        """Return the totals of one player; None if it has played no game."""
        with self._reading() as connection:
            return statistics.profile(connection, name)

    def compare(self, choice: Choice, *, by_reason: bool = False) -> Comparison:
        """Return the players of the chosen games and their scores; with `by_reason` also `endings`."""
        with self._reading() as connection:
            return comparing.compare(connection, choice, by_reason=by_reason)

    def scores(
        self, choice: Choice, names: Sequence[str], others: Sequence[str]
    ) -> dict[tuple[str, str], Score]:
        """Return the score of each of `names` against each of `others` that it met."""
        with self._reading() as connection:
            return comparing.scores(connection, choice, names, others)

    def curves(self, names: Sequence[str], most: int, since: int | None) -> dict[str, list[Point]]:
        """Return each player's ratings after up to `most` of its games from `since` on."""
        with self._reading() as connection:
            return {name: careers.curve(connection, name, most, since) for name in names}

    def career(self, name: str) -> Career | None:
        """Return the history of a player; None if it has played no game."""
        with self._reading() as connection:
            return careers.career(connection, name)

    def meetings(self) -> Iterator[Meeting]:
        """Yield how often each player moved first against each that it met, by both names.

        Only the meetings of `PLAYERS` players are in memory.
        """
        after = None
        while names := [each.name for each in self.players(after, PLAYERS)]:
            with self._reading() as connection:
                met = statistics.meetings(connection, names)
            yield from met
            after = names[-1]

    def probe(self) -> None:
        """Write to the database without changing it. Return if that is possible."""
        self._kept().probe()

    @contextmanager
    def _reading(self) -> Iterator[Connection]:
        with self._kept().reading() as connection:
            yield connection

    def _kept(self) -> Database:
        if self.database is None:
            raise NotKeptError
        return self.database

"""Reading, for what is outside the store: questions in plain data, answers in plain data.

Knows the database; does not know who asks, or in which form it is answered. The rule it keeps: whatever a
database complains of becomes one `StoreError`, of one line. Everything here blocks, so it is not for the
event loop's thread; any other thread will do, and any number of them at once.
"""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeAlias

from sqlalchemy import Connection, update
from sqlalchemy.exc import SQLAlchemyError

from gateway.game.ids import GameId
from gateway.store import careers, comparing, games, statistics
from gateway.store.careers import Career, Point
from gateway.store.comparing import Choice, Comparison
from gateway.store.database import Database
from gateway.store.errors import NotKeptError, StoreError
from gateway.store.evidence import Exchange
from gateway.store.games import Filter, Page
from gateway.store.records import GameRecord
from gateway.store.schema import schema_version
from gateway.store.statistics import Meeting, Profile, Score, Standing

Whole: TypeAlias = tuple[GameRecord, tuple[Exchange | None, Exchange | None]]
"""A game, and what is kept of the exchange of its first and of its second mover."""


@dataclass(frozen=True, slots=True)
class Reader:
    """Reads from one database. All of it raises StoreError where the database cannot be used now."""

    database: Database | None
    """None where results are not kept: then all of it raises NotKeptError."""

    def page(self, wanted: Filter, part: Page) -> list[GameRecord]:
        """Return up to `part.limit` games. Raises NoGameError where one that bounds them is not there."""
        with self._reading() as connection:
            return games.page(connection, wanted, part)

    def every(self, wanted: Filter) -> Iterator[GameRecord]:
        """Yield all games, the oldest first, a page of them in memory at most."""
        yield from games.every(self._reading, wanted)

    def game(self, game: GameId) -> Whole:
        """Return the game with that id, and its evidence. Raises NoGameError."""
        with self._reading() as connection:
            return games.one(connection, game), games.evidence_of(connection, game)

    def standings(self, limit: int) -> tuple[list[Standing], Score]:
        """Return up to `limit` players, the strongest first, and how all first movers did."""
        with self._reading() as connection:
            return statistics.standings(connection, limit), statistics.first_movers(connection)

    def players(self, after: str | None, limit: int) -> list[Standing]:
        """Return up to `limit` players by name, from behind the name `after` on."""
        with self._reading() as connection:
            return statistics.roll(connection, after, limit)

    def profile(self, name: str) -> Profile | None:
        """Return all of one player; None for one who never played."""
        with self._reading() as connection:
            return statistics.profile(connection, name)

    def compare(self, choice: Choice, *, by_reason: bool = False) -> Comparison:
        """Return who played games of the choice, and how these went; with `by_reason` the endings too."""
        with self._reading() as connection:
            return comparing.compare(connection, choice, by_reason=by_reason)

    def scores(
        self, choice: Choice, names: Sequence[str], others: Sequence[str]
    ) -> dict[tuple[str, str], Score]:
        """Return how each of `names` did against each of `others`, where they met."""
        with self._reading() as connection:
            return comparing.scores(connection, choice, names, others)

    def curves(self, names: Sequence[str], most: int, since: int | None) -> dict[str, list[Point]]:
        """Return the ratings of players after up to `most` of their games from `since` on."""
        with self._reading() as connection:
            return {name: careers.curve(connection, name, most, since) for name in names}

    def career(self, name: str) -> Career | None:
        """Return all that the games of a player show; None for one who never played."""
        with self._reading() as connection:
            return careers.career(connection, name)

    def meetings(self, limit: int) -> list[Meeting]:
        """Return for up to `limit` pairs how often they met, those that met most first."""
        with self._reading() as connection:
            return statistics.meetings(connection, limit)

    def probe(self) -> None:
        """Write to the database, without a change to what is in it; return where that is possible."""
        with self._writing() as connection:
            connection.execute(update(schema_version).values(version=schema_version.c.version))

    @contextmanager
    def _reading(self) -> Iterator[Connection]:
        with understood(), self._kept().reading() as connection:
            yield connection

    @contextmanager
    def _writing(self) -> Iterator[Connection]:
        with understood(), self._kept().writing() as connection:
            yield connection

    def _kept(self) -> Database:
        if self.database is None:
            raise NotKeptError
        return self.database


@contextmanager
def understood() -> Iterator[None]:
    """Let whatever a database complains of be a StoreError of one line."""
    try:
        yield
    except (SQLAlchemyError, sqlite3.Error, OSError) as error:
        cause = getattr(error, "orig", None) or error
        raise StoreError(" ".join(str(cause).split())) from error

"""Migrations: each changes the tables of one version to those of the next.

A migration is frozen, and written in SQL: its tables are not those that `gateway.store.schema` describes
today. It runs in one transaction with the change of the version.
"""

import secrets
from collections.abc import Callable
from typing import TypeAlias

from sqlalchemy import Connection, text

from gateway.game.ids import RUNS

Migration: TypeAlias = Callable[[Connection], None]


def give_games_an_id(connection: Connection) -> None:
    """Version 2: games have ids. The id of an older game is its number.

    SQLite cannot drop a column that is in a constraint, so there the games are copied out and in again.
    """
    is_sqlite = connection.dialect.name == "sqlite"
    for statement in _GAMES_IN_SQLITE if is_sqlite else _GAMES_IN_POSTGRESQL:
        connection.execute(text(statement))
    connection.execute(text("CREATE TABLE runs (latest INTEGER NOT NULL)"))
    connection.execute(text("INSERT INTO runs VALUES (:latest)"), {"latest": secrets.randbelow(RUNS)})


_GAMES_IN_POSTGRESQL = (
    'ALTER TABLE games ADD COLUMN game VARCHAR COLLATE "C"',
    "UPDATE games SET game = id",
    "ALTER TABLE games ALTER COLUMN game SET NOT NULL, ADD UNIQUE (game)",
    "ALTER TABLE games DROP COLUMN boot, DROP COLUMN number",
)
_COLUMNS = (
    "began, ended, first, second, first_kind, second_kind, first_house, second_house, moves, result, reason,"
    " first_thought, second_thought, at_table, series, round, counted"
)
_GAMES_IN_SQLITE = (
    "PRAGMA defer_foreign_keys = ON",  # exchanges refer to games
    "CREATE TABLE copied AS SELECT * FROM games",
    "DROP TABLE games",
    """CREATE TABLE games (
        id INTEGER NOT NULL PRIMARY KEY,
        game TEXT NOT NULL UNIQUE,
        began BIGINT NOT NULL,
        ended BIGINT NOT NULL,
        first INTEGER NOT NULL REFERENCES players (id),
        second INTEGER NOT NULL REFERENCES players (id),
        first_kind TEXT NOT NULL,
        second_kind TEXT NOT NULL,
        first_house BOOLEAN NOT NULL,
        second_house BOOLEAN NOT NULL,
        moves TEXT NOT NULL,
        result SMALLINT NOT NULL,
        reason TEXT NOT NULL,
        first_thought BIGINT NOT NULL,
        second_thought BIGINT NOT NULL,
        at_table TEXT,
        series BIGINT NOT NULL,
        round INTEGER NOT NULL,
        counted BOOLEAN NOT NULL
    )""",
    f"INSERT INTO games (id, game, {_COLUMNS}) SELECT id, id, {_COLUMNS} FROM copied ORDER BY id",
    "DROP TABLE copied",
    "CREATE INDEX games_first ON games (first, id)",
    "CREATE INDEX games_second ON games (second, id)",
    "CREATE INDEX games_pair ON games (first, second, id)",
    "CREATE INDEX games_reason ON games (reason, id)",
)


def keep_ratings_with_games(connection: Connection) -> None:
    """Version 3: games keep both players' ratings after them. `recount` fills in older games."""
    kind = "DOUBLE" if connection.dialect.name == "sqlite" else "DOUBLE PRECISION"
    for column in ("first_mean", "first_deviation", "second_mean", "second_deviation"):
        connection.execute(text(f"ALTER TABLE games ADD COLUMN {column} {kind}"))


def number_runs_by_time(connection: Connection) -> None:
    """Version 4: the numbers of runs grow with time, from the latest one on."""
    connection.execute(text("ALTER TABLE runs ADD COLUMN base INTEGER NOT NULL DEFAULT 0"))
    connection.execute(text("UPDATE runs SET base = latest"))


def index_games_by_time_and_table(connection: Connection) -> None:
    """Version 5: the games of a time or at a table are found without looking at all."""
    connection.execute(text("CREATE INDEX games_ended ON games (ended)"))
    connection.execute(text("CREATE INDEX games_table ON games (at_table, ended) WHERE at_table IS NOT NULL"))


MIGRATIONS: tuple[Migration, ...] = (
    give_games_an_id,
    keep_ratings_with_games,
    number_runs_by_time,
    index_games_by_time_and_table,
)
"""The migrations from version 1 to 2, from 2 to 3, and so on."""

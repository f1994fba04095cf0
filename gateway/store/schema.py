"""The tables, which are the same for SQLite and PostgreSQL, and their migrations.

`players` has totals and ratings, `tallies` has sums. Both are computed from `games` when games are stored, so
that statistics over a million games are fast; `gateway.store.storing.recount` computes them again.
`exchanges` has the evidence, `analyses` what a solver found. Every change of a table needs a migration.
"""

import re
import secrets
import time
from collections.abc import Callable
from typing import Any, TypeAlias

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Connection,
    Double,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    SmallInteger,
    Table,
    Text,
    TypeDecorator,
    insert,
    inspect,
    select,
    text,
    update,
)
from sqlalchemy.engine import Dialect

from gateway.game.ids import RUNS

# Migrations. Each changes the tables from one version to the next.
#
# A migration must never be edited. It is written in SQL, since the tables described below are those of the
# newest version. It runs in the same transaction as the change of the version.

Migration: TypeAlias = Callable[[Connection], None]


def give_games_an_id(connection: Connection) -> None:
    """Migrate to version 2: games have ids. The id of an older game is its number.

    SQLite cannot drop a column that a constraint uses, so the games are copied to a new table there.
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
    "PRAGMA defer_foreign_keys = ON",  # the table `exchanges` refers to games
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
    """Migrate to version 3: a game has both players' ratings after it. `recount` adds them to older games."""
    kind = "DOUBLE" if connection.dialect.name == "sqlite" else "DOUBLE PRECISION"
    for column in ("first_mean", "first_deviation", "second_mean", "second_deviation"):
        connection.execute(text(f"ALTER TABLE games ADD COLUMN {column} {kind}"))


def number_runs_by_time(connection: Connection) -> None:
    """Migrate to version 4: run numbers grow with time, starting from the latest run number."""
    connection.execute(text("ALTER TABLE runs ADD COLUMN base INTEGER NOT NULL DEFAULT 0"))
    connection.execute(text("UPDATE runs SET base = latest"))


def index_games_by_time_and_table(connection: Connection) -> None:
    """Migrate to version 5: the games have an index by time, and one by table and time."""
    connection.execute(text("CREATE INDEX games_ended ON games (ended)"))
    connection.execute(text("CREATE INDEX games_table ON games (at_table, ended) WHERE at_table IS NOT NULL"))


def keep_tournaments(connection: Connection) -> None:
    """Migrate to version 6: there are tournaments, their logs, and the places of games in them."""
    is_sqlite = connection.dialect.name == "sqlite"
    number, text_type = ("INTEGER", "TEXT") if is_sqlite else ("BIGINT", 'VARCHAR COLLATE "C"')
    connection.execute(
        text(
            f"CREATE TABLE tournaments (id {number} NOT NULL PRIMARY KEY, key {text_type} NOT NULL UNIQUE,"
            f" settings {text_type} NOT NULL, began BIGINT NOT NULL)"
        )
    )
    connection.execute(
        text(
            f"CREATE TABLE tournament_entries (tournament {number} NOT NULL REFERENCES tournaments (id),"
            f" number INTEGER NOT NULL, made BIGINT NOT NULL, entry {text_type} NOT NULL,"
            " PRIMARY KEY (tournament, number))"
        )
    )
    connection.execute(
        text(
            f"CREATE TABLE tournament_games (game {number} NOT NULL PRIMARY KEY REFERENCES games (id),"
            f" tournament {number} NOT NULL REFERENCES tournaments (id), pairing INTEGER NOT NULL,"
            " number INTEGER NOT NULL, culprit SMALLINT, fault TEXT)"
        )
    )
    connection.execute(
        text("CREATE INDEX tournament_games_tournament ON tournament_games (tournament, game)")
    )


def keep_analyses(connection: Connection) -> None:
    """Migrate to version 7: games may have an analysis by a solver."""
    is_sqlite = connection.dialect.name == "sqlite"
    number, binary = ("INTEGER", "BLOB") if is_sqlite else ("BIGINT", "BYTEA")
    connection.execute(
        text(
            f"CREATE TABLE analyses (game {number} NOT NULL PRIMARY KEY REFERENCES games (id),"
            f" scores {binary} NOT NULL, turned SMALLINT NOT NULL, lost_by SMALLINT)"
        )
    )


MIGRATIONS: tuple[Migration, ...] = (
    give_games_an_id,
    keep_ratings_with_games,
    number_runs_by_time,
    index_games_by_time_and_table,
    keep_tournaments,
    keep_analyses,
)
"""The migrations from version 1 to 2, from 2 to 3, and so on."""


# The tables.

EPOCH = 1_767_225_600
"""The beginning of the year 2026, in seconds of Unix time. Run numbers grow with the time since then."""
TICK = 30
"""The number of seconds after which the next run number grows by one. The numbers last for 31 years."""

_ESCAPE = "\N{SYMBOL FOR NULL}"

metadata = MetaData()


def spelled(text: str | None) -> str | None:
    """Return a client's text as it is in the database, with U+0000 escaped."""
    if text is None or (_ESCAPE not in text and "\0" not in text):
        return text
    return text.replace(_ESCAPE, _ESCAPE + _ESCAPE).replace("\0", _ESCAPE + "0")


_HALF = re.compile("[\ud800-\udfff]")
"""Matches half of a surrogate pair, which UTF-8 cannot encode."""


class Spelled(TypeDecorator[str]):
    """A column for text from clients. U+0000, which PostgreSQL cannot store, is escaped in both databases.

    Text is compared byte by byte, so that each spelling of a name is a different name, and both databases
    sort in the same order. No column contains half of a surrogate pair: in a query, text with one is NULL.
    """

    impl = Text
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> Any:
        """Return the type, with a collation that compares byte by byte."""
        collation = "C" if dialect.name == "postgresql" else None
        return dialect.type_descriptor(Text(collation=collation))

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        """Escape U+0000."""
        return None if value is None or _HALF.search(value) else spelled(value)

    def process_result_value(self, value: str | None, dialect: Dialect) -> str | None:
        """Undo the escapes."""
        if value is None or _ESCAPE not in value:
            return value
        parts = value.split(_ESCAPE + _ESCAPE)
        return _ESCAPE.join(part.replace(_ESCAPE + "0", "\0") for part in parts)


_ID = BigInteger().with_variant(Integer, "sqlite")  # an INTEGER primary key is SQLite's row number

schema_version = Table("schema_version", metadata, Column("version", Integer, nullable=False))

# `latest` is the number of the server's latest run. `base` is the run number at the time `EPOCH`. It is
# random, so that games of two databases hardly ever have the same id. A backup has the same `base`.
runs = Table(
    "runs",
    metadata,
    Column("latest", Integer, nullable=False),
    Column("base", Integer, nullable=False),
)

players = Table(
    "players",
    metadata,
    Column("id", _ID, primary_key=True, autoincrement=False),
    Column("name", Spelled, nullable=False, unique=True),
    # The player in its last game:
    Column("kind", Spelled, nullable=False),
    Column("house", Boolean, nullable=False),
    # Totals of the games that count, as first mover and as second mover:
    Column("opened", Integer, nullable=False),
    Column("opened_won", Integer, nullable=False),
    Column("opened_drawn", Integer, nullable=False),
    Column("replied", Integer, nullable=False),
    Column("replied_won", Integer, nullable=False),
    Column("replied_drawn", Integer, nullable=False),
    Column("thought", BigInteger, nullable=False),
    Column("moves", BigInteger, nullable=False),
    Column("mean", Double, nullable=False),
    Column("deviation", Double, nullable=False),
)

games = Table(
    "games",
    metadata,
    # Games are numbered in the order of storing. A writer excludes all others until it commits, so no lower
    # number appears after a reader has seen a number.
    Column("id", _ID, primary_key=True, autoincrement=False),
    Column("game", Spelled, nullable=False, unique=True),  # GameRecord.game
    Column("began", BigInteger, nullable=False),
    Column("ended", BigInteger, nullable=False),
    Column("first", ForeignKey(players.c.id), nullable=False),
    Column("second", ForeignKey(players.c.id), nullable=False),
    Column("first_kind", Spelled, nullable=False),
    Column("second_kind", Spelled, nullable=False),
    Column("first_house", Boolean, nullable=False),
    Column("second_house", Boolean, nullable=False),
    Column("moves", Text, nullable=False),
    Column("result", SmallInteger, nullable=False),  # GameRecord.result
    Column("reason", Text, nullable=False),  # one of records.REASONS
    Column("first_thought", BigInteger, nullable=False),
    Column("second_thought", BigInteger, nullable=False),
    Column("at_table", Spelled),
    Column("series", BigInteger, nullable=False),
    Column("round", Integer, nullable=False),
    Column("counted", Boolean, nullable=False),
    # Both players' ratings after the game; NULL if the game does not count. Games that were stored before
    # version 3 get their ratings from a recount.
    Column("first_mean", Double),
    Column("first_deviation", Double),
    Column("second_mean", Double),
    Column("second_deviation", Double),
    Index("games_first", "first", "id"),
    Index("games_second", "second", "id"),
    Index("games_pair", "first", "second", "id"),
    Index("games_reason", "reason", "id"),
    Index("games_ended", "ended"),
    Index(
        "games_table",
        "at_table",
        "ended",
        sqlite_where=text("at_table IS NOT NULL"),
        postgresql_where=text("at_table IS NOT NULL"),
    ),
)

exchanges = Table(
    "exchanges",
    metadata,
    Column("game", ForeignKey(games.c.id), primary_key=True),
    Column("side", SmallInteger, primary_key=True),
    Column("body", LargeBinary, nullable=False),  # encoded by evidence.stored
)

analyses = Table(
    "analyses",
    metadata,
    # A game has no row until all its positions are solved. The numbers follow from the scores and the game.
    Column("game", ForeignKey(games.c.id), primary_key=True, autoincrement=False),
    Column("scores", LargeBinary, nullable=False),  # encoded by analyses.packed
    Column("turned", SmallInteger, nullable=False),  # the number of moves that turned the game
    Column("lost_by", SmallInteger),  # the number of the loser's last such move; NULL if there is none
)

tallies = Table(
    "tallies",
    metadata,
    # Each row has sums over the counted games with the same first mover, second mover, result and reason.
    Column("first", ForeignKey(players.c.id), primary_key=True),
    Column("second", ForeignKey(players.c.id), primary_key=True),
    Column("result", SmallInteger, primary_key=True),
    Column("reason", Text, primary_key=True),
    Column("games", Integer, nullable=False),
    Column("first_thought", BigInteger, nullable=False),
    Column("second_thought", BigInteger, nullable=False),
    Column("first_moves", BigInteger, nullable=False),
    Column("second_moves", BigInteger, nullable=False),
    Index("tallies_second", "second"),
)

tournaments = Table(
    "tournaments",
    metadata,
    Column("id", _ID, primary_key=True, autoincrement=False),
    Column("key", Spelled, nullable=False, unique=True),  # the casefolded name, as for tables
    Column("settings", Spelled, nullable=False),  # the text of the file
    Column("began", BigInteger, nullable=False),
)

tournament_entries = Table(
    "tournament_entries",
    metadata,
    Column("tournament", ForeignKey(tournaments.c.id), primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),  # from 1, without gaps
    Column("made", BigInteger, nullable=False),
    Column("entry", Spelled, nullable=False),  # encoded by gateway.tournament.log
)

tournament_games = Table(
    "tournament_games",
    metadata,
    Column("game", ForeignKey(games.c.id), primary_key=True, autoincrement=False),
    Column("tournament", ForeignKey(tournaments.c.id), nullable=False),
    Column("pairing", Integer, nullable=False),
    Column("number", Integer, nullable=False),
    Column("culprit", SmallInteger),
    Column("fault", Text),
    Index("tournament_games_tournament", "tournament", "game"),
)


def version_of(connection: Connection) -> int | None:
    """Return the version of the database's tables; None if c4gateway's tables are missing."""
    if not inspect(connection).has_table(schema_version.name):
        return None
    version: int = connection.execute(select(schema_version.c.version)).scalar_one()
    return version


def next_run(connection: Connection, past: int = -1) -> int:
    """Return a new run number, above `past` and above all earlier run numbers of this database.

    The number also grows with time, since a database that was restored from a backup does not know the latest
    runs. The number modulo `RUNS` is the first part of the game ids of the run. The connection's transaction
    must exclude other writers.
    """
    latest, base = connection.execute(select(runs.c.latest, runs.c.base)).one()
    number: int = max(latest + 1, base + _ticks(), past + 1)
    connection.execute(update(runs).values(latest=number))
    return number


def lineage_of(connection: Connection) -> int:
    """Return the number below `RUNS` that identifies the database. Its backups have the same number."""
    base: int = connection.execute(select(runs.c.base)).scalar_one()
    return base % RUNS


def _ticks() -> int:
    """Return the number of ticks since `EPOCH`, from 0 to `RUNS`, even if the clock is wrong."""
    return min(max(0, int(time.time() - EPOCH) // TICK), RUNS)


def bring_up_to_date(connection: Connection, migrations: tuple[Migration, ...] = MIGRATIONS) -> int:
    """Create or migrate the tables, within the connection's transaction; return their version."""
    version = version_of(connection)
    newest = len(migrations) + 1
    if version is None:
        metadata.create_all(connection, checkfirst=False)
        connection.execute(insert(schema_version).values(version=newest))
        base = secrets.randbelow(RUNS // 2)  # so ids do not begin again at 00000 for 15 years
        connection.execute(insert(runs).values(latest=base - 1, base=base))
    elif version < newest:
        for migration in migrations[version - 1 :]:
            migration(connection)
        connection.execute(update(schema_version).values(version=newest))
    return newest

"""An open database and its transactions, and the functions that open it.

Knows SQLAlchemy and the differences between SQLite and PostgreSQL; does not know what is stored. A database
of another program or of a newer version is refused before anything is written to it.
"""

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url, select, text, update
from sqlalchemy.exc import (
    ArgumentError,
    DataError,
    DBAPIError,
    IntegrityError,
    SQLAlchemyError,
    StatementError,
)
from sqlalchemy.pool import QueuePool

from gateway.store import VERSION, StoreError, UnstorableError, sqlite
from gateway.store.schema import bring_up_to_date, lineage_of, next_run, schema_version, version_of

PATIENCE = 1.0
"""The number of seconds that a statement waits for another process's lock."""
_ENCODINGS = {"UTF8", "SQL_ASCII"}
"""The encodings in which PostgreSQL can store every name. SQL_ASCII is the default without a locale."""
_SESSION = {
    "client_encoding": "utf8",
    "connect_timeout": "3",
    "tcp_user_timeout": "5000",
    "keepalives_idle": "10",
    "options": f"-c statement_timeout=5000 -c lock_timeout={PATIENCE * 1000:.0f}",
}
"""Parameters of a connection, which keep a dead network from blocking a writer. The URL overrides them."""

_LONGEST = 300
"""The maximum length of an error text, in characters, since the text may quote the data."""
_UNHURRIED = text("SET LOCAL statement_timeout = 0")
_ERRORS = (SQLAlchemyError, sqlite3.Error, OSError)
"""The exceptions that a database or the operating system raises."""


T = TypeVar("T")
Connected: TypeAlias = Connection
"""A connection in a transaction, for code that only passes it on to queries."""
Transaction: TypeAlias = AbstractContextManager[Connected]
Reading: TypeAlias = Callable[[], Transaction]
"""A function that returns a transaction to read in, as `Database.reading` does."""


@dataclass(frozen=True, slots=True)
class Place:
    """The location of a database. Another process can use it to open the same database."""

    where: str = field(repr=False)
    """The path of the file, or the URL with its password."""
    file: sqlite.Identity | None = None
    """The identity of the file; None for a URL, or if the file did not exist."""


@dataclass(frozen=True, slots=True)
class Database:
    """An open database. Any thread can use it, but not a forked process."""

    label: str
    """The database's name in messages: the path of the file, or the URL without its password."""
    place: Place
    engine: Engine
    _require_there: Callable[[], None]
    """Raises StoreError if the file is not the one that was opened."""

    @property
    def is_shared(self) -> bool:
        """Whether servers on other machines can write to the database, as they can with PostgreSQL."""
        return self.engine.dialect.name == "postgresql"

    @contextmanager
    def writing(self, *, unhurried: bool = False) -> Iterator[Connection]:
        """Yield a connection in a transaction that excludes all other writers; commit after the block.

        A committed transaction is on disk: SQLite calls fsync (synchronous=FULL in WAL mode), and so does
        PostgreSQL unless its operator turned that off. With `unhurried`, statements have no timeout.

        Raises `UnstorableError` if the database rejects the data; `by_halves` finds the rejected data. Raises
        `StoreError` for any other error; the caller can then try the transaction again.
        """
        try:
            with self._transaction(writing=True) as connection:
                if unhurried and self.is_shared:
                    connection.execute(_UNHURRIED)
                yield connection
        except _ERRORS as error:
            raise (StoreError if is_passing(error) else UnstorableError)(_one_line(error)) from error

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Yield a connection whose statements all see the same state of the database.

        Raises `StoreError` for every error of the database within the block.
        """
        try:
            with self._transaction(writing=False) as connection:
                yield connection
        except _ERRORS as error:
            raise StoreError(_one_line(error)) from error

    def probe(self) -> None:
        """Write to the database without changing it. Raises `StoreError` if that is not possible."""
        with self.writing() as connection:
            connection.execute(update(schema_version).values(version=schema_version.c.version))

    def version(self) -> int | None:
        """Return the version of the tables; None if c4gateway's tables are missing. Raises `StoreError`."""
        with _in_one_line(self.place.where), self._transaction(writing=False) as connection:
            return version_of(connection)

    def next_run(self, past: int = -1) -> int:
        """Return a new run number for a server that starts. It is above `past`. Raises `StoreError`."""
        with _in_one_line(self.place.where), self._transaction(writing=True) as connection:
            return next_run(connection, past)

    def lineage(self) -> int:
        """Return the number that identifies this database and its backups. Raises `StoreError`."""
        with _in_one_line(self.place.where), self.engine.connect() as connection:
            return lineage_of(connection)

    def reconnect(self) -> None:
        """Close the idle connections. The next transaction makes a new one."""
        self.engine.dispose()

    def close(self) -> None:
        """Close the database. A connection in use is closed when it is returned to the pool."""
        self.engine.dispose()

    @contextmanager
    def _transaction(self, *, writing: bool) -> Iterator[Connection]:
        options: dict[str, Any] = {"writing": writing}
        if self.is_shared and not writing:
            options |= {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True}
        self._require_there()
        with self.engine.connect().execution_options(**options) as connection, connection.begin():
            if self.is_shared and writing:
                connection.execute(select(schema_version.c.version).with_for_update())
            yield connection
        if writing:
            self._require_there()


def open_to_write(where: str, *, create: bool = True) -> Database:
    """Open a database for writing, and migrate its tables if they are of an older version.

    `where` is the path of a file, or a URL ``postgresql://...``. With `create`, a missing database is
    created. Raises `StoreError`; the database has not changed then.
    """
    with _in_one_line(where):
        if not is_url(where):
            (sqlite.prepare if create else sqlite.check)(_path(where), VERSION)
        database = open_again(_place(where))
        with _closed_on_error(database):
            _bring_up_to_date(database)
    return database


def open_to_read(where: str) -> Database:
    """Open a database for reading. Raises `StoreError`, for example if its version is not `VERSION`."""
    with _in_one_line(where):
        access = sqlite.Access.WRITE
        if not is_url(where):
            sqlite.check(_path(where), VERSION)
            access = sqlite.access_for_reading(_path(where), PATIENCE)
        database = open_again(_place(where), access)
        with _closed_on_error(database):
            _require(database.version(), where)
    return database


def back_up(where: str, target: str) -> tuple[int, int]:
    """Copy a database of this version or an older one to a new file; return the numbers of games and bytes.

    A server may write to the database meanwhile. Raises `StoreError`; `target` does not exist then.
    """
    if is_url(where):
        raise StoreError(
            "PostgreSQL has its own command for that: pg_dump --format custom --file FILE --dbname URL,"
            " with the password in the environment variable PGPASSWORD"
        )
    with _in_one_line(where):
        sqlite.check(_path(where), VERSION)
    source, new = _path(where), _path(target)
    try:
        return sqlite.copy(source, new)
    except _ERRORS as error:
        raise StoreError(f"{source} was not copied to {new}: {_one_line(error)}") from error


def open_again(place: Place, access: sqlite.Access = sqlite.Access.WRITE) -> Database:
    """Return a database that this or another process has opened before. Does not connect to it yet."""
    return _postgresql(place) if is_url(place.where) else _sqlite(place, access)


def by_halves(
    connection: Connection, things: Sequence[T], store: Callable[[Sequence[T]], object]
) -> list[tuple[T, str]]:
    """Store all things except those that the database rejects; return the rejected ones, each with its error.

    `store` stores the things that it gets. If it raises an error, its changes to the database are undone; it
    must have changed nothing else. Things that cannot be stored together are stored in two halves, until each
    rejected thing is found. Raises the errors that are not caused by the data.
    """
    if not things:
        return []
    try:
        with connection.begin_nested():
            store(things)
    except Exception as error:
        if is_passing(error):
            raise
        if len(things) == 1:
            return [(things[0], _one_line(error)[:_LONGEST])]
        half = len(things) // 2
        return by_halves(connection, things[:half], store) + by_halves(connection, things[half:], store)
    return []


def is_passing(error: Exception) -> bool:
    """Whether an error means that the database cannot be used now, and not that it rejects the data."""
    if isinstance(error, DBAPIError):
        is_too_large = str(getattr(error.orig, "sqlstate", "")).startswith("54")  # e.g. in an index
        return not (is_too_large or isinstance(error, DataError | IntegrityError))
    if isinstance(error, SQLAlchemyError):
        return not isinstance(error, StatementError)
    return isinstance(error, StoreError | OSError | MemoryError) and not isinstance(error, UnstorableError)


def label_of(where: str) -> str:
    """Return a database's name for messages, without the password. Raises `StoreError` for an invalid URL."""
    return _label(_url(where)) if is_url(where) else str(_path(where))


def is_url(where: str) -> bool:
    """Whether `where` is a URL of a PostgreSQL database; otherwise it is the path of a file."""
    return where.startswith(("postgresql:", "postgresql+", "postgres:"))


def _url(where: str) -> URL:
    try:
        url = make_url(where)
    except (ArgumentError, ValueError) as error:
        raise StoreError("this is no URL of a database") from error  # the URL may have a password
    if url.host is not None and "@" in url.host:  # the rest of a password with "@"
        raise StoreError("an @ in the name or the password of the URL of a database is written %40")
    return url.set(drivername="postgresql") if url.drivername == "postgres" else url


def _label(url: URL) -> str:
    return url.set(query={}).render_as_string(hide_password=True)  # a password may be in the query too


def _path(where: str) -> Path:
    return Path(where).absolute()


def _place(where: str) -> Place:
    if is_url(where):
        return Place(where)
    path = _path(where)
    return Place(str(path), sqlite.identity(path))


def _sqlite(place: Place, access: sqlite.Access) -> Database:
    path = _path(place.where)

    def require_there() -> None:
        # If the file was replaced, SQLite would apply the write-ahead log of the old file to the new one.
        if sqlite.identity(path) != place.file:
            raise StoreError(f"{path} was moved, removed or replaced; put it back, or restart the server")
        if access is sqlite.Access.STILL:
            sqlite.require_still(path)

    engine = create_engine(
        "sqlite://", creator=lambda: sqlite.connect(path, PATIENCE, access), poolclass=QueuePool
    )

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        writing = connection.get_execution_options().get("writing", False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writing else "BEGIN")

    return Database(str(path), place, engine, require_there)


def _postgresql(place: Place) -> Database:
    url = _url(place.where)
    session = {name: value for name, value in _SESSION.items() if name not in url.query}
    driven = url.set(drivername="postgresql+psycopg") if url.drivername == "postgresql" else url
    try:
        engine = create_engine(driven, connect_args=session, pool_pre_ping=True)
    except ModuleNotFoundError as error:
        raise StoreError(
            f"{error.name} is not installed, which PostgreSQL needs; pip install 'c4gateway[postgres]'"
        ) from error
    return Database(_label(url), place, engine, lambda: None)


@contextmanager
def _closed_on_error(database: Database) -> Iterator[None]:
    try:
        yield
    except BaseException:
        database.close()
        raise


def _bring_up_to_date(database: Database) -> None:
    with database.engine.connect().execution_options(writing=True) as connection, connection.begin():
        if connection.dialect.name == "postgresql":
            connection.execute(_UNHURRIED)
            connection.execute(text("SET LOCAL lock_timeout = 0"))
            connection.execute(text("SELECT pg_advisory_xact_lock(4347)"))  # two servers may start at once
        version = version_of(connection)
        if version is not None and version > VERSION:
            _require(version, database.label)
        if version is None and connection.dialect.name == "postgresql":
            _require_encoding(connection, database.label)
        version = bring_up_to_date(connection)
        if connection.dialect.name == "sqlite":
            connection.exec_driver_sql(f"PRAGMA user_version = {version}")


def _require_encoding(connection: Connection, label: str) -> None:
    encoding = connection.execute(text("SHOW server_encoding")).scalar_one()
    if encoding not in _ENCODINGS:
        raise StoreError(
            f"{label} has the encoding {encoding}, which lacks letters of names; make another one with"
            " createdb --encoding UTF8 --template template0"
        )


def _require(version: int | None, where: str) -> None:
    if version != VERSION:
        raise StoreError(sqlite.mismatch(label_of(where), version, VERSION))


@contextmanager
def _in_one_line(where: str) -> Iterator[None]:
    try:
        yield
    except (*_ERRORS, UnicodeError) as error:
        raise StoreError(f"{label_of(where)}: {_one_line(error)}") from error


def _one_line(error: Exception) -> str:
    cause = getattr(error, "orig", None) or getattr(error, "strerror", None) or error
    return " ".join(str(cause).split())

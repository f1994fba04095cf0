"""Functions that are specific to SQLite: checking a file, connecting, copying.

A file is checked, if possible only by its header, before SQLite may write to it or create files beside it. A
file that this process has open must not be checked: closing the descriptor would drop SQLite's locks.
"""

import os
import sqlite3
import tempfile
from contextlib import closing, suppress
from enum import Enum
from pathlib import Path
from typing import TypeAlias

from gateway.runtime.disk import sync_folder
from gateway.store import StoreError

APPLICATION_ID = 0x43344757
"""``C4GW``, in the header of every database of c4gateway."""


class Access(Enum):
    """How a database is opened."""

    WRITE = "mode=rw"
    READ = "mode=ro"
    """For a user without write permission, if the files exist that a server creates beside the database."""
    STILL = "mode=ro&immutable=1"
    """For a user without write permission, if these files do not exist.

    SQLite takes no locks, so no server may write to the database meanwhile (`require_still`).
    """


Identity: TypeAlias = tuple[int, int]
"""Device and inode number of a file."""

_NOT_ALLOWED = {sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM}
"""SQLite's errors for a user who is not permitted to write to the file or to create the files beside it."""
_MAGIC = b"SQLite format 3\0"
_USER_VERSION, _APPLICATION_ID = slice(60, 64), slice(68, 72)


def prepare(path: Path, version: int) -> None:
    """Check the database at `path`; create an empty one if the file is missing or empty.

    Raises `StoreError`, without writing, if it is another kind of file, or has a version above `version`.
    Also raises OSError and sqlite3.Error.
    """
    if path.exists() and path.stat().st_size > 0:
        check(path, version)
        return
    path.touch()  # its OSError has a better text than SQLite's error
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        # The id is written first: if the process is killed, the file is empty or has the id.
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute("PRAGMA journal_mode = WAL")


def check(path: Path, version: int) -> None:
    """Raise `StoreError` unless the file is a c4gateway database of at most `version`. Raises OSError."""
    with path.open("rb") as file:
        header = file.read(100)
    if not header:
        raise StoreError(f"{path} is empty")
    if not header.startswith(_MAGIC) or int.from_bytes(header[_APPLICATION_ID]) != APPLICATION_ID:
        raise StoreError(mismatch(str(path), None, version))
    found = max(int.from_bytes(header[_USER_VERSION]), _version_in_wal(path))
    if found > version:
        raise StoreError(mismatch(str(path), found, version))


def access_for_reading(path: Path, patience: float) -> Access:
    """Return the access by which this user can read a database. Call `check` before. Raises sqlite3.Error."""
    for access in (Access.WRITE, Access.READ):
        try:
            with closing(connect(path, patience, access)) as connection:
                connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF not in _NOT_ALLOWED:
                raise
        else:
            return access
    return Access.STILL


def require_still(path: Path) -> None:
    """Raise `StoreError` if a server writes to a database that is read without locks."""
    if _has_log(path):
        raise StoreError(f"a server writes to {path} now; try again")


def connect(path: Path, patience: float, access: Access = Access.WRITE) -> sqlite3.Connection:
    """Connect to the database at `path`, which must exist. Statements wait `patience` seconds for locks."""
    connection = sqlite3.connect(
        f"{path.as_uri()}?{access.value}",
        uri=True,
        timeout=patience,
        isolation_level=None,  # no implicit transactions
        check_same_thread=False,
    )
    try:
        if access is Access.WRITE:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA foreign_keys = ON")
    except BaseException:
        connection.close()
        raise
    return connection


def copy(source: Path, target: Path) -> tuple[int, int]:
    """Copy a consistent state of a database to a new file; return the numbers of games and bytes in it.

    The file appears at `target` when it is complete, checked and on disk. Raises `StoreError`, OSError or
    sqlite3.Error; then no file is left.
    """
    if not target.parent.is_dir():
        raise StoreError(f"{target.parent} is not a directory")
    _require_free(target)
    descriptor, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    try:
        with closing(sqlite3.connect(f"{source.as_uri()}?mode=rw", uri=True, isolation_level=None)) as found:
            found.execute("VACUUM INTO ?", (name,))
        with closing(sqlite3.connect(f"{Path(name).as_uri()}?mode=ro", uri=True)) as made:
            (verdict,) = made.execute("PRAGMA integrity_check(1)").fetchone()
            if verdict != "ok":
                raise StoreError(f"{source} is damaged: {verdict}")
            (games,) = made.execute("SELECT count(*) FROM games").fetchone()
        os.fchmod(descriptor, source.stat().st_mode & 0o777)
        os.fsync(descriptor)
        size = os.fstat(descriptor).st_size
        _require_free(target)
        os.rename(name, target)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(name)
        raise
    finally:
        os.close(descriptor)
    sync_folder(target.parent)
    return games, size


def _require_free(target: Path) -> None:
    if os.path.lexists(target):
        raise StoreError(f"{target} exists already; give the name of a new file")


def identity(path: Path) -> Identity | None:
    """Return the identity of the file at `path`; None if the file does not exist."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def mismatch(label: str, version: int | None, ours: int) -> str:
    """Return the error text for a database of another version; `version` is None for another program's."""
    if version is None:
        return f"{label} is no database of c4gateway"
    if version > ours:
        return f"{label} has version {version}, but this c4gateway knows none above {ours}; use a newer one"
    return (
        f"{label} has the older version {version}; start the server with it once, which brings it to {ours}"
    )


def _has_log(path: Path) -> bool:
    """Whether the database has a write-ahead log with changes that are not in the file yet."""
    log = path.with_name(path.name + "-wal")
    return log.exists() and log.stat().st_size > 0


def _version_in_wal(path: Path) -> int:
    """Return the version in the write-ahead log of a process that was killed; 0 without a log."""
    if not _has_log(path):
        return 0
    try:  # this mode writes neither the file nor the log
        with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as connection:
            return int(connection.execute("PRAGMA user_version").fetchone()[0])
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode & 0xFF not in _NOT_ALLOWED:
            raise
        raise StoreError(
            f"{path} was not closed, and this user cannot read its write-ahead log; start the server, or read"
            " it as a user who may write there"
        ) from error

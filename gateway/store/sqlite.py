"""What is special about SQLite: one file, which anybody may have put there.

The rule it keeps: a file is looked at, without SQLite where that is enough, before SQLite may write to it or
leave its own files beside it. A database says in its header whose it is and of which version. (A file that
this process has in use is not to be looked at so: to close it would drop SQLite's locks.)
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
"""``C4GW``, in the header of each of our files."""


class Access(Enum):
    """How a database is opened."""

    WRITE = "mode=rw"
    READ = "mode=ro"
    """By a user who may not write. Needs the files beside the database that a server makes."""
    STILL = "mode=ro&immutable=1"
    """As if nobody could write, where there are no such files, and the user may not make them."""


Identity: TypeAlias = tuple[int, int]
"""Device and number of a file."""

_NOT_ALLOWED = {sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM}
"""What SQLite says where a user may not write to the file, or not make the files that it needs beside it."""
_MAGIC = b"SQLite format 3\0"
_USER_VERSION, _APPLICATION_ID = slice(60, 64), slice(68, 72)


def prepare(path: Path, version: int) -> None:
    """Make sure that there is a database of ours at `path`, perhaps an empty one.

    Raises `StoreError`, without having written, where there is something else, or a version above `version`;
    OSError and sqlite3.Error where the system refuses.
    """
    if path.exists() and path.stat().st_size > 0:
        check(path, version)
        return
    path.touch()  # or the system's own word on why not
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        # In this order each of the two is whole, or absent, should the process end here.
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute("PRAGMA journal_mode = WAL")


def check(path: Path, version: int) -> None:
    """Raise `StoreError` where there is no database of ours of `version` or older; OSError where no file."""
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
    """Return how this user can read a database that `check` has passed. Raises sqlite3.Error."""
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
    """Raise `StoreError` where somebody writes to a database that is read as if nobody did."""
    if _has_log(path):
        raise StoreError(f"a server writes to {path} now; try again")


def connect(path: Path, patience: float, access: Access = Access.WRITE) -> sqlite3.Connection:
    """Connect to the database at `path`, which must be there; wait `patience` seconds for others' locks."""
    connection = sqlite3.connect(
        f"{path.as_uri()}?{access.value}",
        uri=True,
        timeout=patience,
        isolation_level=None,  # who wants a transaction says BEGIN
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
    """Copy the database at `source`, as it is at one moment, to a new file; return its games and its bytes.

    The file is at `target` once it is whole, checked and on disk. Raises `StoreError`, OSError or
    sqlite3.Error, and then leaves none.
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
    sync_folder(target.parent)  # so that the name, too, outlives a crash of the machine
    return games, size


def _require_free(target: Path) -> None:
    if os.path.lexists(target):
        raise StoreError(f"{target} is there already; give the name of a new file")


def identity(path: Path) -> Identity | None:
    """Return what tells the file at `path` from any other; None where there is none."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def mismatch(label: str, version: int | None, ours: int) -> str:
    """Return what to say of a database whose version is not `ours`."""
    if version is None:
        return f"{label} is no database of c4gateway"
    if version > ours:
        return f"{label} has version {version}, but this c4gateway knows none above {ours}; use a newer one"
    return (
        f"{label} has the older version {version}; start the server with it once, which brings it to {ours}"
    )


def _has_log(path: Path) -> bool:
    """Whether there is a log beside the file with what is not in the file yet."""
    log = path.with_name(path.name + "-wal")
    return log.exists() and log.stat().st_size > 0


def _version_in_wal(path: Path) -> int:
    """Return the version that a killed process may have left in the log beside the file, or 0."""
    if not _has_log(path):
        return 0
    try:  # in a mode that writes neither file nor log
        with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as connection:
            return int(connection.execute("PRAGMA user_version").fetchone()[0])
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode & 0xFF not in _NOT_ALLOWED:
            raise
        raise StoreError(
            f"{path} was not closed, and this user cannot read what its log has; start the server, or read it"
            " as a user who may write there"
        ) from error

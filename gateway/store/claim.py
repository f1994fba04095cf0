"""The lock that reserves a database for one server, or for the nodes of one cluster.

Another one reserves the analyses of a shared database for one process of the cluster. Knows advisory locks of
files and of PostgreSQL. Commands take no lock. The lock is released when the process that holds it ends or is
killed. PostgreSQL also releases it when the connection is lost; the process then takes it again.
"""

import os
import select
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, text
from sqlalchemy.exc import SQLAlchemyError

from gateway.runtime.disk import is_locked
from gateway.store import StoreError
from gateway.store.database import Place, is_url, label_of, open_again

PATIENCE = 2.0
"""The number of seconds to wait for the lock, since the server that holds it may be ending."""
_PERIOD = 0.1
_WAIT = "stop that first, and wait until it has ended"
SERVERS = 4348
ANALYSES = 4349
"""The first keys of PostgreSQL's locks. The second is the schema, since each schema has its own tables."""
_KEEP_ALIVE = text(
    "SELECT set_config('tcp_keepalives_idle', '10', false),"
    " set_config('tcp_keepalives_interval', '5', false), set_config('tcp_keepalives_count', '3', false)"
)
"""Makes PostgreSQL detect within half a minute that a server's machine cannot be reached any more."""
_EXCLUSIVE = text("SELECT pg_try_advisory_lock(:key, hashtext(current_schema()))")
_SHARED = text("SELECT pg_try_advisory_lock_shared(:key, hashtext(current_schema()))")


class Claim:
    """The lock of one server on its database."""

    def __init__(self, where: str, *, shared: bool = False, key: int = SERVERS) -> None:
        """Prepare a lock on the database at `where`, a path or a URL, without taking it.

        With `shared` the server is a node of a cluster, and the other nodes may hold the lock, too. `key` is
        `SERVERS`; or `ANALYSES`, for PostgreSQL only.
        """
        self._where = where
        self._shared = shared
        self._key = key
        self._file: int | None = None
        self._connection: Connection | None = None

    @property
    def is_held(self) -> bool:
        """Whether this process had the lock at the latest attempt to acquire it."""
        return self._connection is not None or self._file is not None

    def take(self, patience: float = PATIENCE) -> None:
        """Acquire the lock, waiting up to `patience` seconds. Raises StoreError if another server holds it.

        Does nothing if the database cannot be reached. The error is reported when the database is opened.
        """
        until = time.monotonic() + patience
        try:
            while not self._try_lock():
                if time.monotonic() > until:
                    raise StoreError(self._refusal())
                time.sleep(_PERIOD)
        except SQLAlchemyError:
            self.close()
        except OSError:
            pass

    def keep(self) -> None:
        """Try once to acquire the lock again if it was lost. Never waits for the lock."""
        if not is_url(self._where):
            with suppress(OSError):
                self._lock_file()
            return
        if self._connection is not None and _has_ended(self._connection):
            self.close()
        if self._connection is None:
            with suppress(StoreError):
                self.take(0.0)

    def close(self) -> None:
        """Release the lock. Close the database first, since closing the file here drops SQLite's locks."""
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(SQLAlchemyError):
                connection.close()
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def _try_lock(self) -> bool:
        return self._lock_postgresql() if is_url(self._where) else self._lock_file()

    def _lock_file(self) -> bool:
        if sys.platform != "linux":  # elsewhere flock may conflict with SQLite's own locks
            return True
        if self._file is None:
            self._file = os.open(Path(self._where), os.O_RDONLY)
        return is_locked(self._file)  # the file stays open even without the lock: see `close`

    def _lock_postgresql(self) -> bool:
        if self._connection is None:
            engine = open_again(Place(self._where)).engine
            self._connection = engine.connect().execution_options(isolation_level="AUTOCOMMIT")
            self._connection.detach()
            self._connection.execute(_KEEP_ALIVE)
        attempt = _SHARED if self._shared else _EXCLUSIVE
        has_lock: bool = self._connection.execute(attempt, {"key": self._key}).scalar_one()
        return has_lock

    def _refusal(self) -> str:
        self.close()
        label = label_of(self._where)
        if self._shared:
            return f"{label} is in use by a server without --cluster; {_WAIT}, or give another --db"
        if is_url(self._where):
            return (
                f"{label} is in use by another server, or by nodes of a cluster; {_WAIT},"
                " or be one of the nodes with --cluster, or give another --db"
            )
        return f"{label} is in use by another server; {_WAIT}, or give another --db"


def _has_ended(connection: Connection) -> bool:
    """Whether PostgreSQL has closed the connection, or has sent a message that announces the end."""
    driven: Any = connection.connection.dbapi_connection
    return bool(driven.closed or select.select([driven.fileno()], [], [], 0)[0])

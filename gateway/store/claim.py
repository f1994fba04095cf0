"""Who serves a database: one server that is alone, or the nodes of a cluster.

Knows the locks that say so; commands beside a server take none. The rules it keeps:

- A server that cannot have its lock at its start is refused, before it changes anything.
- A lock ends with the process that holds it, even if killed. PostgreSQL's ends with a connection, too: one
  that was lost is taken anew, and play and results never wait for that.
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
"""Seconds that a server which has just ended has to let go."""
_PERIOD = 0.1
_WAIT = "stop that first, and wait until it has ended"
_KEY = 4348
"""Of the locks in PostgreSQL, with the schema: each has tables of its own."""
_KEEP_ALIVE = text(
    "SELECT set_config('tcp_keepalives_idle', '10', false),"
    " set_config('tcp_keepalives_interval', '5', false), set_config('tcp_keepalives_count', '3', false)"
)
"""So that PostgreSQL finds out within half a minute that the machine of a server is gone."""
_EXCLUSIVE = text(f"SELECT pg_try_advisory_lock({_KEY}, hashtext(current_schema()))")
_SHARED = text(f"SELECT pg_try_advisory_lock_shared({_KEY}, hashtext(current_schema()))")


class Claim:
    """The lock of one server on its database."""

    def __init__(self, where: str, *, shared: bool = False) -> None:
        """`shared`: the server is a node of a cluster, and other nodes may have the database, too."""
        self._where = where
        self._shared = shared
        self._file: int | None = None
        self._connection: Connection | None = None

    def take(self, patience: float = PATIENCE) -> None:
        """Have the lock, unless the database cannot be asked for it. Raises StoreError if others have it."""
        until = time.monotonic() + patience
        try:
            while not self._taken():
                if time.monotonic() > until:
                    raise StoreError(self._refusal())
                time.sleep(_PERIOD)
        except SQLAlchemyError:  # whoever opens the database says what is wrong
            self.close()
        except OSError:  # likewise
            pass

    def keep(self) -> None:
        """Have the lock anew if it was lost and nobody else has it now."""
        if not is_url(self._where):
            with suppress(OSError):
                self._taken_here()
            return
        if self._connection is not None and _has_ended(self._connection):
            self.close()
        if self._connection is None:
            with suppress(StoreError):
                self.take(0.0)

    def close(self) -> None:
        """Let go of the lock. The database has to be closed: a file's locks of SQLite's end with this."""
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(SQLAlchemyError):
                connection.close()
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def _taken(self) -> bool:
        return self._taken_there() if is_url(self._where) else self._taken_here()

    def _taken_here(self) -> bool:
        if sys.platform != "linux":  # elsewhere SQLite's own locks may be the same
            return True
        if self._file is None:
            self._file = os.open(Path(self._where), os.O_RDONLY)
        return is_locked(self._file)  # and open, even if it is not: see `close`

    def _taken_there(self) -> bool:
        if self._connection is None:
            engine = open_again(Place(self._where)).engine
            self._connection = engine.connect().execution_options(isolation_level="AUTOCOMMIT")
            self._connection.detach()
            self._connection.execute(_KEEP_ALIVE)
        is_had: bool = self._connection.execute(_SHARED if self._shared else _EXCLUSIVE).scalar_one()
        return is_had

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
    """Whether PostgreSQL has said something unasked: it has nothing to say but that it ends."""
    driven: Any = connection.connection.dbapi_connection
    return bool(driven.closed or select.select([driven.fileno()], [], [], 0)[0])

"""Where the writer's games go: a database, on behalf of one run of the server.

Knows which of the database's complaints mean that it cannot be used now, and says so with `StoreError`;
any other exception means that a game, or evidence, itself cannot be stored.
"""

import secrets
import time
from collections.abc import Sequence

from sqlalchemy.exc import DataError, DBAPIError, IntegrityError, SQLAlchemyError, StatementError

from gateway.store import ledger
from gateway.store.database import Database
from gateway.store.errors import StoreError
from gateway.store.records import Enclosure, Item, Submission

DAY = 86_400_000
"""Milliseconds."""


class DatabaseSink:
    """Stores games in a database. For one thread."""

    def __init__(self, database: Database, keep_wire: float | None = None, boot: int | None = None) -> None:
        """Keep evidence for `keep_wire` days; None for ever. `boot` is the run's number, if it has one."""
        self.database = database
        self._keep_wire = keep_wire
        self._boot = secrets.randbits(63) if boot is None else boot

    def write(self, items: Sequence[Item]) -> None:
        """Store games, and the evidence of these and earlier ones; what is stored already stays as it is."""
        submissions = [item for item in items if isinstance(item, Submission)]
        enclosures = [item for item in items if isinstance(item, Enclosure)]
        try:
            with self.database.writing() as connection:
                ledger.store(connection, self._boot, submissions)
                ledger.enclose(connection, self._boot, enclosures)
        except SQLAlchemyError as error:
            if _is_the_games_own_fault(error):
                raise
            raise StoreError(_line(error)) from error

    def tidy(self) -> bool:
        """Delete some of the evidence that is too old; return whether there may be more."""
        if self._keep_wire is None:
            return False
        before = round(time.time() * 1000 - self._keep_wire * DAY)
        try:
            with self.database.writing() as connection:
                return ledger.prune(connection, before) > 0
        except SQLAlchemyError as error:
            raise StoreError(_line(error)) from error

    def reconnect(self) -> None:
        """Begin anew, after an error."""
        self.database.reconnect()


def _is_the_games_own_fault(error: SQLAlchemyError) -> bool:
    if isinstance(error, DBAPIError):
        return isinstance(error, DataError | IntegrityError)
    return isinstance(error, StatementError)


def _line(error: SQLAlchemyError) -> str:
    return " ".join(str(getattr(error, "orig", None) or error).split())

"""The database of results: games, their evidence, statistics, ratings, exports.

The database is SQLite or PostgreSQL; both have the same tables. The store process (`process`, `worker`)
writes to it; the event loop only queues games and evidence (`batcher`). SQLAlchemy takes 0.2 s to import, so
only this package imports it, and never in the server's process.
"""

VERSION = 7
"""The version of the tables in `schema`, to which its migrations lead."""


class StoreError(Exception):
    """The database cannot be opened or used. The error text is one line for the operator."""


class UnstorableError(StoreError):
    """The database rejects the data itself, so another attempt would fail, too."""


class NotKeptError(StoreError):
    """The server has no database, so results are not kept."""

    def __init__(self) -> None:
        super().__init__("results are not kept here; to keep them, start the server with --db FILE")

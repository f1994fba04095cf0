"""Results that last: games, the evidence of them, statistics, ratings, exports.

A store is one database, a file of SQLite's or PostgreSQL, with one schema for both. One process of the
server's writes to it (`process`, `worker`), so that play shares nothing with it; anybody reads, on
connections of their own. The event loop only queues games and evidence, in `batcher`.

From the inside out: `records` is what is stored, as plain data; `evidence` the exchange on the wire; `totals`
the arithmetic of statistics and ratings; `schema` and `database` the tables and how they are opened;
`storing` writes games, in the program `worker`, where a `claim` says that a writer lives; `process` is the
server's end of that; `batcher` hands it games in batches, `clearing` removes all, and `open_games` knows who
waits, and hands what the database does not take to the program of the `journal`. `games` and `statistics` are
the queries, `formats` and `presentation` the forms of what they find, and `corrections` is what an operator
puts right.

Only what is imported from here costs anything: SQLAlchemy takes 0.2 s to import, so the process that plays
never does, and nothing outside this package imports it.
"""

VERSION = 5
"""The version of the tables that `schema` describes, and to which its migrations lead."""


class StoreError(Exception):
    """The database cannot be opened or used. Its text is one line for the operator."""


class UnstorableError(StoreError):
    """The database will never take what was to be stored."""


class NotKeptError(StoreError):
    """There is no database: results are not kept."""

    def __init__(self) -> None:
        super().__init__("results are not kept here; to keep them, start the server with --db FILE")

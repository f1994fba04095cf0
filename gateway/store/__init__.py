"""Results that last: games, the evidence of them, statistics, ratings, exports.

A store is one database, a file of SQLite's or PostgreSQL, with one schema for both. One thread of one process
writes (`writer`); anybody reads, on connections of their own. Nothing here is called on the event loop's
time except `writer.Writer.put` and `receipts.Receipt.enclose`, which only queue.

From the inside out: `records` is what is stored, as plain data; `evidence` the exchange on the wire; `books`
the arithmetic of statistics, over `ratings`; `schema` and `database` the tables and how they are opened;
`ledger` writes games, `writer` is the thread that does; `games` and `statistics` read; `formats` and
`commands` show it to people.

Only what is imported from here costs anything: SQLAlchemy takes 0.2 s to import, so a server that keeps
nothing on disk never does, and nothing outside this package imports it.
"""

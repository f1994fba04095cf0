"""Results that last: games, the evidence of them, statistics, ratings, exports.

A store is one database, a file of SQLite's or PostgreSQL, with one schema for both. One process of the
server's writes (`scribe`), so that play shares nothing with it; anybody reads, on connections of their own.
Nothing here is called on the event loop's time except `writer.Writer.put` and `receipts.Receipt.enclose`,
which only queue.

From the inside out: `records` is what is stored, as plain data; `evidence` the exchange on the wire; `books`
the arithmetic of statistics, over `ratings`; `schema` and `database` the tables and how they are opened;
`ledger` writes games, in the process that `scribe` starts and `scribing` is; `clerk` is the thread that hands
them over in batches, `writer` the event loop's end of it; `games` and `statistics` read; `formats` and
`commands` show it to people.

Only what is imported from here costs anything: SQLAlchemy takes 0.2 s to import, so a server that keeps
nothing on disk never does, and nothing outside this package imports it.
"""

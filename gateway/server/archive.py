"""What joins the core to a store: games that it reports are handed in there.

Knows both, and the wall clock. Does not know options, nor what else is done with a game that is over.
"""

import logging
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial

import trio

from gateway.game.results import Finished, Report
from gateway.store.database import Place, open_to_write
from gateway.store.errors import StoreError
from gateway.store.ledger import Cleared
from gateway.store.reader import Reader
from gateway.store.receipts import Receipt
from gateway.store.records import record_of
from gateway.store.scribe import Scribe
from gateway.store.writer import Request, Writer

ENDING = 0.25
"""Seconds that whoever writes to the database has for finishing, when nothing waits to be stored any more."""

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Archive:
    """An open store, in use."""

    report: Report
    """What games are to be reported to."""
    label: str
    """What to call the database to people."""
    place: Place
    """What another process needs to open it."""
    writer: Writer
    clear: Callable[[], Request[Cleared]]
    """Asks for all games and players to be removed. Raises StoreError, as its request does."""


@asynccontextmanager
async def keeping(where: str, keep_wire: float) -> AsyncIterator[Archive]:
    """Open a database, and have it written to; evidence stays there for `keep_wire` days.

    At the end wait a moment for the games that are not stored yet, and close it. Raises OSError, with one
    line, where the database cannot be opened; then it is as it was.
    """
    try:
        database = open_to_write(where)
    except StoreError as error:
        raise OSError(str(error)) from error
    scribe = Scribe(database, keep_wire)
    writer = Writer(scribe)
    reader = Reader(database)

    def report(game: Finished) -> Receipt:
        epoch = time.time() - trio.current_time()  # anew, for the wall clock may have been set meanwhile
        return writer.put(record_of(game, epoch), game.began)

    try:
        clear = partial(writer.request, partial(_cleared, reader))
        yield Archive(report, database.label, database.place, writer, clear)
    finally:
        try:
            await writer.close()
        finally:
            with trio.CancelScope(shield=True):
                await trio.to_thread.run_sync(scribe.close, ENDING)
            database.close()


def _cleared(reader: Reader) -> Cleared:
    """Remove all games and players, and say so in the log, whether or not anybody still waits for it."""
    removed = reader.clear()
    logger.warning(
        "all results are cleared: %d games of %d players",
        *(removed.games, removed.players),
        extra={"event": "results_cleared", "games": removed.games, "players": removed.players},
    )
    return removed

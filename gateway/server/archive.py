"""What joins the core to a store: games that it reports are handed in there.

Knows both, and the wall clock. Does not know options, nor what else is done with a game that is over.
"""

import logging
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial

import trio

from gateway.game.board import Side
from gateway.game.events import Spoken
from gateway.game.ids import GameId
from gateway.game.results import Finished, Results
from gateway.store.database import Place, open_to_write
from gateway.store.errors import StoreError
from gateway.store.ledger import Cleared
from gateway.store.reader import Reader
from gateway.store.records import record_of
from gateway.store.scribe import Scribe
from gateway.store.writer import Request, Writer

ENDING = 0.25
"""Seconds that whoever writes to the database has for finishing, when nothing waits to be stored any more."""

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Archive:
    """An open store, in use."""

    results: Results
    label: str
    """What to call the database to people."""
    place: Place
    """What another process needs to open it."""
    writer: Writer
    clear: Callable[[], Request[Cleared]]
    """Asks for all games and players to be removed. Raises StoreError, as its request does."""


class StoredResults:
    """Keeps results with a writer, by the number that a game's id says."""

    def __init__(self, writer: Writer, *, takes_evidence: bool) -> None:
        self.takes_evidence = takes_evidence
        self._writer = writer

    def keep(self, finished: Finished) -> None:
        """Take in a game that is over; never blocks."""
        epoch = time.time() - trio.current_time()  # anew, for the wall clock may have been set meanwhile
        self._writer.put(record_of(finished, epoch), number=_number(finished.game))

    def is_open(self, game: GameId) -> bool:
        """Whether the game is not stored yet, and it is worth waiting until it is."""
        receipt = self._writer.receipt(_number(game))
        return receipt is not None and receipt.is_open

    async def stored(self, game: GameId) -> None:
        """Return once the game is stored, or it is not worth waiting any more."""
        receipt = self._writer.receipt(_number(game))
        if receipt is not None:
            await receipt.settled()

    def enclose(self, game: GameId, side: Side, said: Sequence[Spoken]) -> None:
        """Take in what was said and heard on one side; never blocks."""
        self._writer.enclose(_number(game), 0.0, side, said)


_DIGITS = str.maketrans("0123456789abcdefghjkmnpqrstvwxyz", "0123456789abcdefghijklmnopqrstuv")


def _number(game: GameId) -> int:
    """Return the number of a game within its run."""
    return int(game[6:].translate(_DIGITS), 32)


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

    try:
        clear = partial(writer.request, partial(_cleared, reader))
        results = StoredResults(writer, takes_evidence=keep_wire > 0)
        yield Archive(results, database.label, database.place, writer, clear)
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

"""What joins the core to a store: games that it reports are handed in there.

Knows both, and the wall clock. Does not know options, nor what else is done with a game that is over.
"""

import logging
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager

import trio

from gateway.game.board import Side
from gateway.game.events import Ended, Spoken
from gateway.game.ids import GameId, run_sign
from gateway.game.results import Finished
from gateway.runtime.processes import StartedProcess
from gateway.runtime.turns import Turns
from gateway.store.batcher import SHARED, Batcher
from gateway.store.evidence import recorded
from gateway.store.process import JournalProcess, Opened, StoreProcess
from gateway.store.records import Enclosure, ended_as, record_of

logger = logging.getLogger("gateway.store")


class Archive:
    """An open store in use: keeps results, as `gateway.game.results.Results`, with a batcher."""

    def __init__(
        self, opened: Opened, process: StoreProcess, batcher: Batcher, *, takes_evidence: bool
    ) -> None:
        self.opened = opened
        self.process = process
        self.batcher = batcher
        self.takes_evidence = takes_evidence

    def keep(self, finished: Finished) -> None:
        """Take in a game that is over; never blocks."""
        epoch = time.time() - trio.current_time()  # anew: the wall clock may have been set
        self.batcher.put(record_of(finished, epoch))

    def is_open(self, game: GameId) -> bool:
        """Whether the game is not stored yet, and it is worth waiting until it is."""
        return self.batcher.open.is_open(game)

    def when_stored(self, game: GameId, then: Callable[[], object]) -> None:
        """Call `then` once the game is stored, or it is not worth waiting any more."""
        self.batcher.open.when_stored(game, then)

    def as_stored(self, ended: Ended) -> Ended:
        """Return the end of a game that is not open any more, as it is stored."""
        record = self.batcher.open.take_otherwise(ended.game)
        return ended if record is None else ended_as(record)

    def enclose(self, game: GameId, side: Side, said: Sequence[Spoken]) -> None:
        """Take in what was said and heard on one side; never blocks."""
        self.batcher.add(Enclosure(game, side, recorded(said)))


@asynccontextmanager
async def keeping(
    where: str,
    keep_wire: float,
    begun: StartedProcess | None = None,
    journal: str | None = None,
    *,
    shared: bool = False,
    turns: Turns | None = None,
) -> AsyncIterator[Archive]:
    """Have a database opened and written to, by `begun` if given; evidence stays there for `keep_wire` days.

    `journal` is the folder of journals, None for the usual one. `shared`: the server is a node of a cluster.
    Others than its nodes are kept out of the database.

    At the end wait a moment for the games that are not stored yet, and close it. Raises OSError, with one
    line, where the database cannot be opened or written to.
    """
    process = StoreProcess(where, keep_wire, journal, shared=shared)
    try:
        opened = await process.open(begun)
        if opened.trouble is not None:
            fields = {"event": "journal_unavailable", "error": opened.trouble}
            text = "while the database fails results cannot be told: the folder for them cannot be used: %s"
            logger.warning(text, opened.trouble, extra=fields)
        folder, name = opened.journal
        beside = None if opened.file is None else opened.where
        spare = JournalProcess(folder, f"{name}-{run_sign(opened.run)}", beside)
        batcher = Batcher(process, spare, pace=SHARED if opened.file is None else None, turns=turns)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(batcher.run)
            try:
                yield Archive(opened, process, batcher, takes_evidence=keep_wire > 0)
            finally:
                await batcher.close()
    finally:
        await process.close()

"""The link from the hub to the store. It passes finished games and their evidence to the batcher.

Knows the hub, the store and the wall clock; does not know options.
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
    """Stores results with a batcher. Implements `gateway.game.results.Results`."""

    def __init__(
        self, opened: Opened, process: StoreProcess, batcher: Batcher, *, takes_evidence: bool
    ) -> None:
        self.opened = opened
        self.process = process
        self.batcher = batcher
        self.takes_evidence = takes_evidence

    def keep(self, finished: Finished) -> None:
        """Queue a game that is over. Never blocks."""
        epoch = time.time() - trio.current_time()  # computed each time: the wall clock may be adjusted
        self.batcher.put(record_of(finished, epoch))

    def is_open(self, game: GameId) -> bool:
        """Whether the players of a game must still wait for its result."""
        return self.batcher.open.is_open(game)

    def when_stored(self, game: GameId, then: Callable[[], object]) -> None:
        """Call `then` once the game is not open any more, or at once if it is not open now."""
        self.batcher.open.when_stored(game, then)

    def as_stored(self, ended: Ended) -> Ended:
        """Return the end of a game as the database has it. It may differ if another node stored it first."""
        record = self.batcher.open.take_otherwise(ended.game)
        return ended if record is None else ended_as(record)

    def enclose(self, game: GameId, side: Side, said: Sequence[Spoken], *, is_part: bool = False) -> None:
        """Queue the evidence of one side of a game. Never blocks."""
        self.batcher.add(Enclosure(game, side, recorded(said), is_part))


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
    """Open the database at `where`, and yield an archive that stores results in it during the block.

    Evidence is kept for `keep_wire` days. `begun` is a store process that has already been started. `journal`
    is the folder of journals; None means the default. With `shared` the server is a node of a cluster, and
    servers outside the cluster cannot use the database.

    At the end of the block, waits a few seconds until all games are stored. Raises OSError, with a text of
    one line, if the database cannot be opened or written to.
    """
    process = StoreProcess(where, keep_wire, journal, shared=shared)
    try:
        opened = await process.open(begun)
        if opened.trouble is not None:
            fields = {"event": "journal_unavailable", "error": opened.trouble}
            text = "without a journal, results wait while the database fails; its folder cannot be used: %s"
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

"""The writer: the event loop's end of the store.

Knows trio, and that a clerk in another thread stores games; does not know databases. The rules it keeps:

- `put` never blocks and never fails.
- A receipt settles once its game is safe on disk. Who waits for it waits `Bounds.patience` at most: a game
  that cannot be stored by then is told of all the same, and goes on waiting for the database.
- Nothing is dropped in silence. Where `Bounds.waiting` games wait, these are kept, and a new one goes to the
  log instead, whole, as an error. Evidence takes more room than games: above `Bounds.evidence` bytes of it
  games wait without theirs, and the operator is told.
"""

import logging
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

import trio

from gateway.store import evidence
from gateway.store.clerk import Clerk, Pace, Sink, log_unstored
from gateway.store.errors import StoreError
from gateway.store.evidence import Exchange
from gateway.store.outage import Throttle
from gateway.store.receipts import Outcome, Receipt
from gateway.store.records import GameRecord, Submission

logger = logging.getLogger("gateway.store")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Bounds:
    """How long, and how much, may wait."""

    patience: float = 2.0
    """Seconds that anybody waits to hear of a game that cannot be stored."""
    waiting: int = 100_000
    """Games that wait to be stored, about 1 KB each."""
    evidence: int = 64 << 20
    """Bytes of evidence that wait with them."""


@dataclass(frozen=True, slots=True)
class _Open:
    receipt: Receipt
    size: int


class Writer:
    """Stores games. For the event loop's thread, where nothing else is said."""

    def __init__(self, sink: Sink, bounds: Bounds | None = None, pace: Pace | None = None) -> None:
        pace = pace or Pace()
        self._bounds = bounds or Bounds()
        self._numbers = 0
        self._open: dict[int, _Open] = {}
        self._evidence = 0
        self._late = 0
        self._bare = 0
        self._late_words, self._bare_words = Throttle(pace.remind), Throttle(pace.remind)
        self._closed = False
        self._token = trio.lowlevel.current_trio_token()
        self._clerk = Clerk(sink, self._settled, pace)

    @property
    def waiting(self) -> int:
        """How many games are not stored yet."""
        return len(self._open)

    @property
    def behind(self) -> bool:
        """Whether a game waits to be stored for longer than anybody waits to hear of it."""
        oldest = next(iter(self._open.values()), None)
        return oldest is not None and not oldest.receipt.is_open

    def put(self, record: GameRecord, exchanges: tuple[Exchange, Exchange] | None = None) -> Receipt:
        """Hand in a game, with its evidence, the first mover's first; never blocks."""
        receipt = Receipt(trio.current_time() + self._bounds.patience, self._note_late)
        if self._closed or len(self._open) >= self._bounds.waiting:
            log_unstored([record])
            receipt.settle(Outcome.LOGGED)
            return receipt
        size = 0 if exchanges is None else sum(map(evidence.size, exchanges))
        if size and self._evidence + size > self._bounds.evidence:
            size, exchanges = 0, None
            self._note_bare()
        self._numbers += 1
        self._open[self._numbers] = _Open(receipt, size)
        self._evidence += size
        self._clerk.store(Submission(self._numbers, record, exchanges))
        return receipt

    async def ask(self, work: Callable[[], T]) -> T:
        """Let the writing thread do `work`, after the games that were put before; return what comes of it.

        Raises what `work` raises, and StoreError once the writer is closed.
        """
        if self._closed:
            raise StoreError("the store is closed")
        done = trio.Event()
        future = self._clerk.ask(work)
        future.add_done_callback(lambda _: self._post(done.set))
        await done.wait()
        return future.result()

    async def close(self, limit: float = 2.0) -> None:
        """Store what waits, for at most `limit` seconds, and end; log what is left. To be called once."""
        self._closed = True
        with trio.CancelScope(shield=True):
            await trio.to_thread.run_sync(self._clerk.close, limit)

    # What follows is how.

    def _settled(self, submissions: Sequence[Submission], stored: bool) -> None:
        """Pass on, from the clerk's thread, what became of games."""
        self._post(partial(self._settle, submissions, Outcome.STORED if stored else Outcome.LOGGED))

    def _post(self, call: Callable[[], object]) -> None:
        with suppress(trio.RunFinishedError):  # then nobody waits
            self._token.run_sync_soon(call)

    def _settle(self, submissions: Sequence[Submission], outcome: Outcome) -> None:
        for submission in submissions:
            if (found := self._open.pop(submission.number, None)) is not None:
                self._evidence -= found.size
                found.receipt.settle(outcome)

    def _note_late(self) -> None:
        self._late += 1
        if self._late_words.passes(trio.current_time()):
            logger.error(
                "players hear of results that are not stored yet, %d times so far; %d results wait",
                self._late,
                self.waiting,
            )

    def _note_bare(self) -> None:
        self._bare += 1
        if self._bare_words.passes(trio.current_time()):
            logger.error("too much waits: the evidence of %d games so far is left out", self._bare)

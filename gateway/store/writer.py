"""The writer: the event loop's end of the store.

Knows trio, and that a clerk in another thread stores games; does not know databases. The rules it keeps:

- `put` never blocks and never fails.
- A receipt settles once its game is safe on disk. Who waits for it waits `Bounds.patience` at most: a game
  that cannot be stored by then is told of all the same, and goes on waiting for the database.
- Nothing is dropped in silence. Where `Bounds.waiting` games wait, these are kept, and a new one goes to the
  log instead, whole, as an error. Evidence takes more room than games: what would be more than
  `Bounds.evidence` bytes of it is left out, and the operator is told.
"""

import logging
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Generic, TypeVar

import trio

from gateway.game.board import Side
from gateway.game.events import Spoken
from gateway.store.clerk import Clerk, Pace, Sink, log_unstored
from gateway.store.errors import StoreError
from gateway.store.evidence import size
from gateway.store.outage import Count
from gateway.store.receipts import Outcome, Receipt
from gateway.store.records import Enclosure, GameRecord, Item, Submission

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
    """Bytes of evidence that wait behind them."""


class Request(Generic[T]):
    """Something that the writing thread is asked to do. For the event loop's thread.

    What nobody waits for any more must not be done. The moment of no return is the one in which the thread
    begins with it: from there on it is done, and before it can be withdrawn.
    """

    def __init__(self, future: Future[T], post: Callable[[Callable[[], object]], None]) -> None:
        """Hear of what `future` comes to through `post`, which carries a call into the event loop."""
        self._future = future
        self._settled = trio.Event()
        future.add_done_callback(lambda _: post(self._settled.set))

    def withdraw(self) -> bool:
        """Make sure that it is not done, and return True; False where it was begun already."""
        return self._future.cancel()

    async def result(self) -> T:
        """Wait until it is done, and return what came of it. Who is cancelled withdraws it.

        Raises what the work raises, and StoreError where it will not be done.
        """
        try:
            await self._settled.wait()
        except trio.Cancelled:
            self.withdraw()
            raise
        if self._future.cancelled():
            raise StoreError("it was withdrawn")
        return self._future.result()


class Writer:
    """Stores games. For the event loop's thread, where nothing else is said."""

    def __init__(self, sink: Sink, bounds: Bounds | None = None, pace: Pace | None = None) -> None:
        pace = pace or Pace()
        self._bounds = bounds or Bounds()
        self._numbers = 0
        self._open: dict[int, Receipt] = {}
        self._evidence = 0
        self._late = Count(pace.remind, _say_late)
        self._bare = Count(pace.remind, _say_bare)
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
        return oldest is not None and not oldest.is_open

    def put(self, record: GameRecord, began: float = 0.0, number: int | None = None) -> Receipt:
        """Hand in a game that began at `began`, in trio's time, under a number of its own; never blocks."""
        if number is None:
            number = self._numbers = self._numbers + 1
        until = trio.current_time() + self._bounds.patience
        receipt = Receipt(until, self._note_late, partial(self.enclose, number, began))
        if self._closed or len(self._open) >= self._bounds.waiting:
            log_unstored([record])
            receipt.settle(Outcome.LOGGED)
            return receipt
        self._open[number] = receipt
        self._clerk.store(Submission(number, record))
        return receipt

    def receipt(self, number: int) -> Receipt | None:
        """Return the receipt for a game, by its number; None where it is stored, or was not handed in."""
        return self._open.get(number)

    def enclose(self, number: int, began: float, side: Side, said: Sequence[Spoken]) -> None:
        """Hand in evidence of the game of that number."""
        enclosure = Enclosure(number, side, said, began, size(said))
        if self._closed or self._evidence + enclosure.size > self._bounds.evidence:
            self._bare.one_more(trio.current_time())
        else:
            self._evidence += enclosure.size
            self._clerk.store(enclosure)

    async def ask(self, work: Callable[[], T]) -> T:
        """Let the writing thread do `work`, after the games that were put before; return what comes of it.

        As `request`.
        """
        return await self.request(work).result()

    def request(self, work: Callable[[], T]) -> "Request[T]":
        """Let the writing thread do `work`, after the games that were put before, unless it is withdrawn.

        Never blocks. Raises StoreError once the writer is closed.
        """
        if self._closed:
            raise StoreError("the store is closed")
        return Request(self._clerk.ask(work), self._post)

    async def close(self, limit: float = 1.5) -> None:
        """Store what waits, for at most `limit` seconds, and end; log what is left. To be called once."""
        self._closed = True
        with trio.CancelScope(shield=True):
            await trio.to_thread.run_sync(self._clerk.close, limit)
        for count in (self._late, self._bare):
            count.close()

    # What follows is how.

    def _settled(self, items: Sequence[Item], stored: bool) -> None:
        """Pass on, from the clerk's thread, what became of games and evidence."""
        self._post(partial(self._settle, items, Outcome.STORED if stored else Outcome.LOGGED))

    def _post(self, call: Callable[[], object]) -> None:
        with suppress(trio.RunFinishedError):  # then nobody waits
            self._token.run_sync_soon(call)

    def _settle(self, items: Sequence[Item], outcome: Outcome) -> None:
        for item in items:
            if isinstance(item, Enclosure):
                self._evidence -= item.size
            elif (receipt := self._open.pop(item.number, None)) is not None:
                receipt.settle(outcome)

    def _note_late(self) -> None:
        self._late.one_more(trio.current_time())


def _say_late(times: int) -> None:
    about = {"event": "results_told_unstored", "times": times}
    logger.error("players hear of results that are not stored yet, %d times so far", times, extra=about)


def _say_bare(times: int) -> None:
    about = {"event": "evidence_left_out", "players_games": times}
    logger.error("too much waits: evidence is left out, of %d players' games so far", times, extra=about)

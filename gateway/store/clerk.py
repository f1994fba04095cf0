"""The clerk: a thread that stores what it is handed, in batches, and does not give up before it is told to.

Knows threads and time; does not know databases, only a `Sink`, nor the event loop. The rules it keeps:

- While a batch is being committed the next one gathers, so the more there is to do the more a commit does.
- A database that fails is tried again, for ever, and the operator hears of it. So it is with anything else
  that goes wrong: nothing but the end of the server ends the thread.
- A game that the database will never take does not keep the others; it goes to the log, whole, as an error
  (``not stored: `` and an array of games as in ``export --format jsonl``). So do those left at the end.
- Games come before evidence, for players wait for these. Evidence is not worth a log's room: of what is
  given up the log has the number.
"""

import logging
import queue
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Generic, Literal, Protocol, TypeAlias, TypeVar

from gateway.game.text import json_text
from gateway.store.errors import StoreError
from gateway.store.formats.jsonl import as_object
from gateway.store.outage import Outage, Throttle
from gateway.store.records import Enclosure, GameRecord, Item, Submission

logger = logging.getLogger("gateway.store")
T = TypeVar("T")

_PASSING = (StoreError, OSError, MemoryError)
"""What is no game's fault, and may be over at the next attempt."""

Settled: TypeAlias = Callable[[Sequence[Item], bool], None]
"""Told in the clerk's thread of games and evidence that are stored (True), or given up (False)."""


class Sink(Protocol):
    """Where games go. Called by one thread."""

    def write(self, items: Sequence[Item]) -> None:
        """Store games and evidence for good, all or none; what is stored already stays as it is.

        Raises StoreError where it should be tried again later, another exception where a game is at fault.
        """

    def tidy(self) -> bool:
        """Do a small piece of what is to be done now and then; return whether there is more. As `write`."""

    def reconnect(self) -> None:
        """Begin anew, after a StoreError."""


@dataclass(frozen=True, slots=True)
class Pace:
    """Figures of a clerk. Times are in seconds."""

    retry: float = 0.5
    """Between two attempts to store."""
    remind: float = 10.0
    """Between two words to the operator."""
    tidy: float = 3600.0
    """Between two looks for what is to be tidied up."""
    linger: float = 0.25
    """Seconds that evidence may wait for a game to be stored with it: nobody waits for evidence."""
    batch: int = 500
    """Games in one commit."""
    evidence: int = 1 << 20
    """Bytes of evidence in one commit, about. It takes 5 ms as a rule, and never more than 30."""


@dataclass(frozen=True, slots=True)
class _Job(Generic[T]):
    """Something else to do than to store games."""

    work: Callable[[], T]
    future: "Future[T]"

    def __call__(self) -> None:
        if not self.future.set_running_or_notify_cancel():
            return  # it was withdrawn
        try:
            self.future.set_result(self.work())
        except Exception as error:  # it is for who asked
            self.future.set_exception(error)


_Then: TypeAlias = _Job[Any] | Literal["nothing", "end"]
"""What comes behind a batch."""


class Clerk:
    """A thread that stores games. Its methods may be called in any thread."""

    def __init__(self, sink: Sink, settled: Settled, pace: Pace) -> None:
        self._sink = sink
        self._settled = settled
        self._pace = pace
        self._items: queue.SimpleQueue[Item | _Job[Any] | None] = queue.SimpleQueue()
        self._games: deque[Submission] = deque()
        self._evidence: deque[Enclosure] = deque()
        self._batch: list[Item] = []
        """What is being stored: it stays here until it is settled, whatever happens."""
        self._then: _Then = "nothing"
        self._tidy_at = time.monotonic()
        self._came = self._went = 0
        """Games that were handed in, for one thread to count, and that were settled, for the other."""
        self._outage = Outage(pace.remind)
        self._mishaps = Throttle(pace.remind)
        self._abandoned = threading.Event()
        self._thread = threading.Thread(target=self._run, name="store", daemon=True)
        self._thread.start()

    def store(self, item: Item) -> None:
        """Take in a game, or evidence of one that was taken in before; never blocks."""
        self._came += isinstance(item, Submission)
        self._items.put(item)

    def ask(self, work: Callable[[], T]) -> Future[T]:
        """Take in something else to do, after the games that were taken in before; never blocks.

        Until it is begun it can be cancelled. What is not begun at the end of the clerk is cancelled.
        """
        future: Future[T] = Future()
        self._items.put(_Job(work, future))
        return future

    def close(self, limit: float) -> None:
        """Store what waits, for at most `limit` seconds, and end; log what is left.

        Blocks; to be called once. What the database is then busy with is logged, and may be stored yet.
        """
        self._items.put(None)
        self._thread.join(limit)
        self._abandoned.set()
        self._give_up_all()  # if it hangs in the database, perhaps for ever, or has come to grief

    # What follows happens in the thread.

    def _run(self) -> None:
        while self._then != "end" and not self._abandoned.is_set():
            try:
                self._take_turn()
            except Exception as error:  # a mistake of ours; what was not settled is tried again
                if self._mishaps.passes(time.monotonic()):
                    about = {"event": "storing_failed", "error": str(error)}
                    logger.exception("storing results has failed, and is tried again: %s", error, extra=about)
                self._abandoned.wait(self._pace.retry)

    def _take_turn(self) -> None:
        """Store what there is, do what is behind it, and tidy up when it is time."""
        if self._then == "nothing":
            self._then = self._gather(self._tidy_at - time.monotonic())
        self._store_next()
        while self._then != "nothing" and self._is_busy() and not self._abandoned.is_set():
            self._store_next()
        if isinstance(self._then, _Job):
            job, self._then = self._then, "nothing"
            job()
        if self._then == "nothing" and time.monotonic() >= self._tidy_at:
            self._tidy_at = time.monotonic() + (0.0 if self._tidy() else self._pace.tidy)

    def _is_busy(self) -> bool:
        return bool(self._batch or self._games or self._evidence)

    def _gather(self, patience: float) -> _Then:
        """Take in what there is, wait where there is nothing to do; return what is next behind all that."""
        until = 0.0 if self._is_busy() else time.monotonic() + patience
        with suppress(queue.Empty):
            while True:
                item = self._items.get(timeout=max(0.0, until - time.monotonic()))
                match item:
                    case Submission():
                        self._games.append(item)
                        until = 0.0
                    case Enclosure():
                        self._evidence.append(item)
                        until = min(until, time.monotonic() + self._pace.linger)
                    case _:
                        return "end" if item is None else item
        return "nothing"

    def _store_next(self) -> None:
        """Store as much as one commit takes: games first, for these are waited for."""
        if not self._batch:
            self._batch = [self._games.popleft() for _ in range(min(len(self._games), self._pace.batch))]
            size = 0
            while self._evidence and not self._games and size < self._pace.evidence:
                size += self._evidence[0].size
                self._batch.append(self._evidence.popleft())
        self._store(self._batch)
        self._batch = []

    def _store(self, batch: Sequence[Item]) -> None:
        """Store these, however long it takes."""
        while batch:
            if self._abandoned.is_set():
                return self._give_up_all()
            try:
                self._sink.write(batch)
            except _PASSING as error:
                self._wait_out(error)
            except Exception as error:  # one of these is at fault; it must not keep the others
                return self._store_singly(batch, error)
            else:
                self._outage.over(_games(batch), self._came - self._went, time.monotonic())
                return self._settle(batch, stored=True)
        return None

    def _wait_out(self, error: Exception) -> None:
        """Tell of an attempt that failed, and get ready for the next one."""
        self._outage.failed(error, self._came - self._went, time.monotonic())
        try:
            self._sink.reconnect()
        except Exception as another:  # the next attempt will show whether it matters
            self._outage.failed(another, self._came - self._went, time.monotonic())
        self._abandoned.wait(self._pace.retry)

    def _store_singly(self, batch: Sequence[Item], error: Exception) -> None:
        if len(batch) > 1:
            for each in batch:
                if self._abandoned.is_set():
                    return self._give_up_all()
                self._store([each])
                self._batch = self._batch[1:]  # there are none left where `close` has given them up meanwhile
            return None
        kind = "a result" if _games(batch) else "evidence"
        cause = " ".join(str(error).split())
        about = {"event": "not_storable", "what": kind, "error": cause}
        logger.error("the database will never take %s: %s", kind, cause, extra=about)
        return self._give_up(batch)

    def _tidy(self) -> bool:
        try:
            return self._sink.tidy()
        except Exception as error:  # it is no reason to store no games
            if not self._abandoned.is_set():  # otherwise it is no news: the store was closed meanwhile
                about = {"event": "not_tidied", "error": str(error)}
                logger.warning("the database could not be tidied up: %s", error, extra=about)
            return False

    def _give_up(self, batch: Sequence[Item]) -> None:
        log_unstored([each.record for each in batch if isinstance(each, Submission)])
        if bare := len(batch) - _games(batch):
            about = {"event": "evidence_not_stored", "players_games": bare}
            logger.error("evidence of %d players' games is not stored", bare, extra=about)
        self._settle(batch, stored=False)

    def _settle(self, batch: Sequence[Item], *, stored: bool) -> None:
        self._went += _games(batch)
        try:
            self._settled(batch, stored)
        except Exception:  # it is stored all the same, or logged, and what comes next must be too
            about = {"event": "storing_not_told", "games": _games(batch)}
            logger.exception("what became of %d results could not be told", _games(batch), extra=about)

    def _give_up_all(self) -> None:
        if isinstance(self._then, _Job):
            self._then.future.cancel()
        left = [*self._batch, *self._games, *self._evidence]
        self._batch = []
        self._games.clear()
        self._evidence.clear()
        with suppress(queue.Empty):
            while True:
                item = self._items.get_nowait()
                if isinstance(item, Item):
                    left.append(item)
                elif item is not None:
                    item.future.cancel()
        if left:
            self._give_up(left)


def log_unstored(records: Sequence[GameRecord], at_once: int = 50) -> None:
    """Log games that only the log will have, several in a line because a log has room for so many lines."""
    for start in range(0, len(records), at_once):
        part = [as_object(record) for record in records[start : start + at_once]]
        logger.error("not stored: %s", json_text(part), extra={"event": "games_not_stored", "games": part})


def _games(batch: Sequence[Item]) -> int:
    return sum(isinstance(each, Submission) for each in batch)

"""The queue of games, evidence and analyses, and the task that sends them to the store process in batches.

Knows trio and the store process; does not know databases. Games are stored before all else, because players
wait for their results. After a failure the batcher tries again until the server ends. A game that waits too
long goes to the journal (`open_games`), and from there to the database (`StoreProcess.take_up`).
"""

import logging
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import trio

from gateway.runtime.histogram import Histogram
from gateway.runtime.throttle import Throttle
from gateway.runtime.turns import Turns
from gateway.store import StoreError
from gateway.store.open_games import TELLING, Count, OpenGames, Outage, log_refused, log_unstored
from gateway.store.process import JournalProcess, StoreProcess
from gateway.store.records import Batch, Cleared, Enclosure, GameRecord, Solved, TakenUp
from gateway.store.requests import Request

T = TypeVar("T")

logger = logging.getLogger("gateway.store")

MOST_ANALYSES = 1000
"""The maximum number of queued analyses. The oldest ones are dropped, since they can be computed again."""
MOST_REFUSED = 20
"""The maximum number of rejected lines that are logged per part of a journal. The file keeps all of them."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """Limits on the data that waits to be stored."""

    patience: float = 2.0
    """The number of seconds that a game waits for the database before it goes to the journal."""
    evidence: int = 64 << 20
    """The maximum number of bytes of queued evidence. Further evidence is dropped."""


@dataclass(frozen=True, slots=True)
class Pace:
    """The frequency and the size of the batcher's writes. Times are in seconds."""

    retry: float = 0.5
    """The time between two attempts to store."""
    remind: float = 10.0
    """The minimum time between two log lines about the same failure."""
    between: float = 0.01
    """The minimum time between the starts of two batches while games wait, since each transaction is slow."""
    share: float = 1.0
    """The maximum share of the time that is spent on batches while games wait: above 0, at most 1."""
    rest: float = 0.25
    """The maximum pause that `share` causes after a batch. Players wait for results during the pause."""
    tidy: float = 3600.0
    """The time between two searches for evidence that is too old."""
    look: float = 10.0
    """The time between two searches for journals of servers that have ended."""
    linger: float = 0.25
    """The time that evidence waits for games to share a transaction with. After that it is stored alone."""
    games: int = 500
    """The maximum number of games in one batch."""
    evidence: int = 1 << 20
    """The approximate maximum size of the evidence in one batch, in bytes. Storing it takes a few ms."""
    analyses: int = 20
    """The maximum number of analyses in one batch. Storing them takes a few ms."""


SHARED = Pace(share=1 / 3)  # for a shared database: each server waits for the transactions of all others


class Batcher:
    """Queues games and evidence, and stores them in batches. `run` must run in its own task."""

    def __init__(
        self,
        store: StoreProcess,
        journal: JournalProcess,
        bounds: Bounds | None = None,
        pace: Pace | None = None,
        turns: Turns | None = None,
    ) -> None:
        self._store = store
        self._bounds = bounds or Bounds()
        self._pace = pace = pace or Pace()
        self._games: deque[GameRecord | Request[Any]] = deque()
        self._evidence: deque[Enclosure] = deque()
        self._evidence_size = 0
        self._analyses: deque[Solved] = deque(maxlen=MOST_ANALYSES)
        self._linger_until = 0.0
        self._batch: Batch | None = None
        """The batch that is being stored. It stays here until it is stored or given up."""
        self._turns = turns = turns or Turns()
        self.open = OpenGames(journal, turns, self._bounds.patience, pace.retry, pace.remind)
        self.commits = Histogram()
        """The times that successful batches took, in seconds."""
        self.errors = Counter(passing=0, refused=0, tidying=0, journal=0)
        """The number of errors of each kind.

        `passing` counts failed writes that were tried again, `refused` games and evidence that the database
        rejected, `tidying` failures to delete old evidence, and `journal` failures to read a journal.
        """
        self._came, self._ended = trio.Event(), trio.Event()
        self._tidy_at = self._look_at = trio.current_time()
        self._released_for: Request[Any] | None = None
        """The request for which the journal's file was released, so that its games are stored before."""
        self._taken_up = TakenUp()
        """Counts of the games taken from journals since the last search that found no journal."""
        self._outage = Outage(pace.remind)
        self._mistakes = Throttle(pace.remind)
        self._left_out = Count(pace.remind, _log_left_out)
        self._closed = False
        self._running = trio.CancelScope(shield=True)

    def put(self, record: GameRecord) -> None:
        """Queue a game. Never blocks or fails."""
        self.open.add(record)
        if self._closed:
            log_unstored([record])
            return
        games = self._games
        while games and not (
            games[0].is_open if isinstance(games[0], Request) else self.open.is_open(games[0].game)
        ):
            games.popleft()  # the journal has it; otherwise such games would pile up while the database fails
        games.append(record)
        self._came.set()

    def add(self, enclosure: Enclosure) -> None:
        """Queue evidence of a game that was queued before; drop it if the queue is full. Never blocks."""
        size = len(enclosure.exchange)
        if self._closed or self._evidence_size + size > self._bounds.evidence:
            self._left_out.one_more(trio.current_time())
            return
        self._evidence_size += size
        self._linger()
        self._evidence.append(enclosure)

    def analyse(self, solved: Solved) -> None:
        """Queue the analysis of a game that is stored. Never blocks."""
        if not self._closed:
            self._linger()
            self._analyses.append(solved)

    def _linger(self) -> None:
        """Let what is queued next wait for games, unless more of its kind waits already."""
        if not (self._evidence or self._analyses):
            self._linger_until = trio.current_time() + self._pace.linger
            self._came.set()

    def clear(self) -> Request[Cleared]:
        """Request that all games and players be removed, including those queued so far. Never blocks.

        Raises StoreError if the batcher is closed.
        """
        return self.ask(_clear)

    def ask(self, work: Callable[[StoreProcess], Awaitable[T]]) -> Request[T]:
        """Request that `work` ask the store process when all games queued so far are stored. Never blocks.

        Raises StoreError if the batcher is closed.
        """
        if self._closed:
            raise StoreError("the store is closed")
        request = Request(work)
        self._games.append(request)
        self._came.set()
        return request

    async def run(self) -> None:
        """Store queued games and evidence until `close` is called. Cancellation before that has no effect."""
        with self._running:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self.open.watch)
                while not (self._closed and self._is_idle):
                    try:
                        await self._take_turn()
                    except Exception as error:  # a bug, which must not end this task while the server runs
                        if self._mistakes.passes(trio.current_time()):
                            extra = {"event": "storing_failed", "error": str(error)}
                            text = "storing results has failed, and is tried again: %s"
                            logger.exception(text, error, extra=extra)
                        self._give_up_if_journaled()
                        await trio.sleep(self._pace.retry)
                nursery.cancel_scope.cancel()
        self._ended.set()

    async def close(self, limit: float = 1.5) -> None:
        """Store queued games for at most `limit` seconds, end `run`, then write the rest to the journal.

        Games that the journal does not take within another `limit` seconds are logged; their players get no
        result. Call this once.
        """
        self._closed = True
        self._came.set()
        with trio.move_on_after(limit, shield=True):
            await self._ended.wait()
        self._running.cancel()
        with trio.CancelScope(shield=True):
            with trio.move_on_after(limit):
                await self.open.journal_all()
            self._give_up_all()
            self._left_out.over()
            if self.open.journaled:
                extra = {"event": "results_left_in_journal", "waiting": self.open.journaled}
                text = "%d results are in the journal; the next start of the server stores them"
                logger.warning(text, self.open.journaled, extra=extra)
            await self.open.close()

    # The following methods run in the batcher's task.

    @property
    def _is_idle(self) -> bool:
        is_to_look = self.open.journaled or trio.current_time() >= self._look_at
        return not (self._batch or self._games or self._evidence or self._analyses or is_to_look)

    async def _take_turn(self) -> None:
        now = trio.current_time()
        self._batch = self._batch or self._next_batch(now)
        if self._batch is not None:
            await self._write(self._batch)
        elif self._games and isinstance(request := self._games[0], Request):
            if self._released_for is not request:  # games of journals have to be stored before
                self._released_for = request
                await self._look_again()
            elif now >= self._look_at:
                await self._take_up()
            else:
                self._games.popleft()
                await request.carry_out(self._store)
        elif self.open.may_be_taken_up and not self._outage.is_on:
            await self._look_again()
        elif now >= self._look_at:
            await self._take_up()
        elif now >= self._tidy_at and not self._closed:
            self._tidy_at = now + (0.0 if await self._tidy() else self._pace.tidy)
        else:
            self._came = trio.Event()
            until = min(self._look_at, self._tidy_at)
            if self.open.journaled:
                until = now + self._pace.retry
            elif self._evidence or self._analyses:
                until = min(until, self._linger_until)
            with trio.move_on_at(until):
                await self._came.wait()

    def _next_batch(self, now: float) -> Batch | None:
        """Return the next batch; None if no batch is due."""
        others = self._evidence or self._analyses
        ripe = others and not self.open.journaled and (self._closed or now >= self._linger_until)
        if not (self._games or ripe):
            return None
        games, evidence, analyses, size = list[GameRecord](), list[Enclosure](), list[Solved](), 0
        while self._games and len(games) < self._pace.games:
            if isinstance(game := self._games[0], Request):
                break
            self._games.popleft()
            if self.open.is_open(game.game):  # a game that is not open is in the journal
                games.append(game)
        if not (self._games or self.open.journaled):
            while self._evidence and size < self._pace.evidence:
                size += len(self._evidence[0].exchange)
                evidence.append(self._evidence.popleft())
            while self._analyses and len(analyses) < self._pace.analyses:
                analyses.append(self._analyses.popleft())
        return Batch(games, evidence, analyses) if games or evidence or analyses else None

    async def _write(self, batch: Batch) -> None:
        begun = trio.current_time()
        try:
            written = await self._store.write(batch)
        except StoreError as error:
            await self._wait_after(error)
            return
        now = trio.current_time()
        self.commits.add(now - begun)
        self.open.note_otherwise(written.otherwise)
        self._outage.over(len(batch.games) - len(written.games), self.open.waiting, now)
        self.errors["refused"] += len(written.games) + len(written.evidence)
        for each in written.games:
            log_refused("a result", each.why)
        for why in written.evidence:
            log_refused("evidence", why)
        refused = {each.number for each in written.games}
        self._log_lost([batch.games[number] for number in sorted(refused)], len(written.evidence))
        self._evidence_size -= sum(len(each.exchange) for each in batch.evidence)
        self._batch = None
        for number, record in enumerate(batch.games):
            if number in refused:
                continue  # the game stays open, so it goes to the journal
            self.open.settle(record.game)
            if not self._turns.results.take(TELLING):
                await trio.lowlevel.checkpoint()
        if not self._evidence:
            self._left_out.over()
        if self.open.may_be_taken_up:
            await self._look_again()
        elif now >= self._look_at:  # under load `_take_turn` always has a batch, and does not do this
            await self._take_up()
        if self._games and not self._closed:
            spent = now - begun
            rest = min(spent / self._pace.share - spent, self._pace.rest)
            await trio.sleep_until(max(begun + self._pace.between, now + rest))

    def _give_up_if_journaled(self) -> None:
        """Drop the batch that fails because of a bug, if all its games are in the journal.

        The evidence of the batch is lost. If the batch were kept, no later batch would ever be stored.
        """
        batch = self._batch
        if batch is not None and not any(self.open.is_open(record.game) for record in batch.games):
            self._log_lost((), len(batch.evidence))
            self._evidence_size -= sum(len(each.exchange) for each in batch.evidence)
            self._batch = None

    async def _wait_after(self, error: StoreError) -> None:
        """Count and log a failure of the store, then wait until it is time for the next attempt."""
        self.errors["passing"] += 1
        self._outage.failed(error, self.open.waiting, trio.current_time())
        await trio.sleep(self._pace.retry)

    async def _look_again(self) -> None:
        """Close the journal's file, so that its games can be stored; search for journals in the next turn."""
        await self.open.release()
        self._look_at = trio.current_time()

    async def _take_up(self) -> None:
        """Store some games of journals whose writers have ended."""
        try:
            found = await self._store.take_up()
        except StoreError as error:
            await self._wait_after(error)
            return
        except Exception:  # a bug, which must not hold up the queue
            self._look_at = trio.current_time() + self._pace.look
            raise
        now = trio.current_time()
        if found.seen:
            self._outage.over(found.seen, self.open.waiting, now)
        self.open.taken_up(found.seen, more=found.more)
        log_taken_up(found)
        self.errors["journal"] += found.detail is not None and not found.refused
        sums = self._taken_up
        sums.seen += found.seen
        sums.new += found.new
        sums.replaced += found.replaced
        if not found.more:
            self._look_at = now + self._pace.look
            if sums.seen:
                counts = {"games": sums.seen, "new": sums.new, "replaced": sums.replaced}
                text = (
                    "%d results of the journal are in the database: %d are new, %d replaced a game without a"
                    " result"
                )
                logger.warning(text, *counts.values(), extra={"event": "journal_taken_up", **counts})
                self._taken_up = TakenUp()

    async def _tidy(self) -> bool:
        try:
            return await self._store.tidy()
        except Exception as error:  # old evidence does no harm, so go on
            self.errors["tidying"] += 1
            extra = {"event": "not_tidied", "error": str(error)}
            logger.warning("the database could not be tidied up: %s", error, extra=extra)
            return False

    def _give_up_all(self) -> None:
        evidence = len(self._evidence) + (0 if self._batch is None else len(self._batch.evidence))
        requests = [each for each in self._games if isinstance(each, Request)]
        self._evidence.clear()
        self._analyses.clear()
        self._games.clear()
        self._batch = None
        self._log_lost(self.open.forget_all(), evidence)
        for request in requests:
            request.withdraw()

    def _log_lost(self, games: Sequence[GameRecord], evidence: int) -> None:
        log_unstored(games)
        if evidence:
            extra = {"event": "evidence_not_stored", "players_games": evidence}
            logger.error("evidence of %d players' games is not stored", evidence, extra=extra)


async def _clear(store: StoreProcess) -> Cleared:
    removed = await store.clear()
    text = "all results are cleared: %d games of %d players"
    extra = {"event": "results_cleared", "games": removed.games, "players": removed.players}
    logger.warning(text, removed.games, removed.players, extra=extra)
    return removed


def _log_left_out(times: int) -> None:
    extra = {"event": "evidence_left_out", "players_games": times}
    logger.error("too much waits: evidence is left out, of %d players' games so far", times, extra=extra)


def log_taken_up(found: TakenUp) -> None:
    """Log which games of a journal could not be stored, and whether the journal could not be read."""
    for text in found.differing:
        logger.error("the journal: %s", text, extra={"event": "journal_differs", "error": text})
    extra: dict[str, object]
    if not found.refused and found.detail:
        extra = {"event": "journal_unreadable", "error": found.detail}
        logger.error("the journal cannot be read, which is tried again: %s", found.detail, extra=extra)
    for number, why in found.refused[:MOST_REFUSED]:
        extra = {"event": "journal_refused", "file": found.detail, "line": number, "error": why}
        logger.error("%s, line %d, could not be stored: %s", found.detail, number, why, extra=extra)
    if (more := len(found.refused) - MOST_REFUSED) > 0:
        extra = {"event": "journal_refused", "file": found.detail, "lines": more}
        logger.error("%s: %d lines more could not be stored", found.detail, more, extra=extra)

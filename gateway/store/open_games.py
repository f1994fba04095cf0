"""Games that have ended but are not stored, and the players that wait for their results.

Knows trio and the journal's process; does not know the database or how the journal is written. A game is open
until the database or the journal has it; then its players get the result. A game that is not in the database
within `patience` seconds is called late, and goes to the journal. If the journal fails, too, the players wait
until a later attempt succeeds.
"""

import logging
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from math import inf

import trio

from gateway.game.ids import GameId
from gateway.game.text import json_text
from gateway.runtime.throttle import Throttle
from gateway.runtime.turns import Turns
from gateway.store.formats.jsonl import as_object
from gateway.store.process import JournalProcess
from gateway.store.records import GameRecord, Refused, Row

logger = logging.getLogger("gateway.store")

TELLING = 0.0005
"""The estimated time, in seconds, to send a result to both players and begin their next game."""

# Log lines about outages of the database or the journal, and about games that are stored in neither.

_CAUSES = 10
"""The maximum number of different errors of one outage that are logged as soon as they occur.

Without a limit, errors whose texts have changing numbers would all be logged.
"""


class Count:
    """Counts unwanted events. Reports the count at the first event, then at most once per interval, and at
    the end."""

    def __init__(self, interval: float, say: Callable[[int], object]) -> None:
        """Report by calling `say` with the count. `interval` is in seconds."""
        self._throttle = Throttle(interval)
        self._say = say
        self._count = self._said = 0

    def one_more(self, now: float) -> None:
        """Count an event at `now`, in seconds of any clock."""
        self._count += 1
        if self._throttle.passes(now):
            self.over()

    def over(self) -> None:
        """Report the count if it has changed since the last report."""
        if self._count > self._said:
            self._said = self._count
            self._say(self._count)


@dataclass(frozen=True, slots=True)
class Words:
    """The log lines of an outage: one for the time that it lasts, and one for its end."""

    failed: Mapping[str, str]
    failing: str
    """The text while the outage lasts: a format for the seconds, the number of waiting results, the error."""
    back: Mapping[str, str]
    over: str
    """The text at the end: a format for the seconds and the numbers of results stored and still waiting."""


DATABASE = Words(
    {"event": "database_failed"},
    "the database has failed for %.1f s; play goes on, %d results wait: %s",
    {"event": "database_back"},
    "the database is back after %.1f s: %d results that waited are stored, %d are next",
)
JOURNAL = Words(
    {"event": "results_held"},
    "neither the database nor the journal has taken results for %.1f s; %d wait, and their players, too: %s",
    {"event": "results_held_no_more"},
    "results are sent again after %.1f s: %d that waited are on disk, %d are next",
)


class Outage:
    """Logs an outage of the database, or of both the database and the journal.

    Log lines are written when the outage begins, at each new error, every `remind` seconds, and at the end.
    """

    def __init__(self, remind: float, words: Words = DATABASE) -> None:
        self._remind = remind
        self._words = words
        self._began: float | None = None
        self._throttle = Throttle(remind)
        self._causes: set[str] = set()

    @property
    def is_on(self) -> bool:
        """Whether an outage lasts now."""
        return self._began is not None

    def failed(self, error: Exception, waiting: int, now: float) -> None:
        """Log that an attempt failed at `now`, in seconds of any clock, while `waiting` games wait."""
        if self._began is None:
            self._began = now
            self._throttle = Throttle(self._remind)
            self._causes.clear()
        # New errors are logged, too, since the first error may not show the cause.
        is_new = str(error) not in self._causes and len(self._causes) < _CAUSES
        if is_new:
            self._causes.add(str(error))
        if self._throttle.passes(now) or is_new:
            seconds = now - self._began
            extra = {
                **self._words.failed,
                "seconds": round(seconds, 3),
                "waiting": waiting,
                "error": str(error),
            }
            logger.error(self._words.failing, seconds, waiting, error, extra=extra)

    def over(self, stored: int, waiting: int, now: float) -> None:
        """Log the end of the outage, if one lasts. `stored` of the `waiting` games are stored now."""
        if self._began is not None:
            seconds = now - self._began
            left = waiting - stored
            extra = {**self._words.back, "seconds": round(seconds, 3), "stored": stored, "waiting": left}
            logger.warning(self._words.over, seconds, stored, left, extra=extra)
            self._began = None


def log_unstored(records: Sequence[GameRecord], at_once: int = 50) -> None:
    """Log games that neither the database nor the journal has, up to `at_once` games per log line."""
    for start in range(0, len(records), at_once):
        part = [as_object(record) for record in records[start : start + at_once]]
        logger.error("not stored: %s", json_text(part), extra={"event": "games_not_stored", "games": part})


def log_refused(what: str, why: str, by: str = "the database") -> None:
    """Log that `by`, the database or the journal, will never take `what`, and the error `why`."""
    cause = " ".join(why.split())
    logger.error(
        "%s will never take %s: %s",
        by,
        what,
        cause,
        extra={"event": "not_storable", "what": what, "error": cause},
    )


# The games that wait.

STOOD_STILL = 0.25
"""If the event loop wakes up more than this many seconds late, the process counts as suspended until then."""
MOST_OTHERWISE = 5_000
"""The maximum number of games in memory that another server stored with a different ending, 1 KB each.

There must be a limit, since a game stays in memory if its players have left and never ask for it.
"""
AT_ONCE = 200
"""The number of games that are sent to the journal at a time. Sending them takes about a millisecond."""


class OpenGames:
    """Games that are not stored yet, by id, the oldest first."""

    def __init__(
        self, journal: JournalProcess, turns: Turns, patience: float, retry: float, remind: float
    ) -> None:
        """Set the times, in seconds.

        A game goes to the journal after `patience`. A failed journal is tried again after `retry`, and an
        outage is logged again after `remind`.
        """
        self._journal = journal
        self._turns = turns
        self._patience = patience
        self._retry = retry
        self._games: dict[GameId, _Game] = {}
        self._timely: deque[_Game] = deque()
        """The open games, the oldest first. May still have games that are not open any more."""
        self._written = self._left = 0
        """The number of games in the journal's open file, and in its closed files."""
        self._is_ready = False
        self._answered = trio.Event()
        """Set while the journal has answered all requests."""
        self._answered.set()
        self._busy_until = -inf
        self._otherwise: dict[GameId, Row] = {}
        self._came = trio.Event()
        self._late = Count(remind, _log_late)
        self._outage = Outage(remind, JOURNAL)

    @property
    def waiting(self) -> int:
        """The number of games of this run that are not in the database."""
        return len(self._games) + self.journaled

    @property
    def journaled(self) -> int:
        """The number of waiting games that are in the journal."""
        return self._written + self._left

    @property
    def behind(self) -> bool:
        """Whether a game has waited for longer than `patience`: it is in the journal, or the journal fails,
        too."""
        return self.journaled > 0 or self.held

    @property
    def held(self) -> bool:
        """Whether players wait because both the database and the journal fail."""
        return self._outage.is_on

    @property
    def may_be_taken_up(self) -> bool:
        """Whether the journal's open file has games and can be closed, since no more are about to follow."""
        oldest = next((game for game in self._games.values() if not game.is_over), None)
        is_calm = oldest is None or trio.current_time() < oldest.until - self._patience / 2
        return self._written > 0 and is_calm and self._answered.is_set()

    def add(self, record: GameRecord) -> None:
        """Add a game that has ended."""
        game = self._games[record.game] = _Game(record, trio.current_time() + self._patience)
        self._timely.append(game)
        self._came.set()

    def settle(self, game: GameId) -> None:
        """Remove a game that the database has now, and send its result.

        Does nothing if the game may be in the journal, too, and another server stored it with a different
        ending.
        """
        found = self._games.get(game)
        if found is not None and found.otherwise is None:
            del self._games[game]
            found.tell()

    def forget_all(self) -> list[GameRecord]:
        """Return all open games, the oldest first, and stop waiting for them. Their players get no result."""
        games = [game for game in self._games.values() if not game.is_over]
        self._timely.clear()
        for game in games:
            game.is_over = True
            game.waiting.clear()
        return [game.record for game in games]

    def is_open(self, game: GameId) -> bool:
        """Whether the game is in neither the database nor the journal."""
        return game in self._games

    def when_stored(self, game: GameId, then: Callable[[], object]) -> None:
        """Call `then` when the game is in the database or the journal; at once, if it is there already.

        `then` must not block or raise.
        """
        found = self._games.get(game)
        if found is None:
            then()
        else:
            found.waiting.append(then)

    def note_otherwise(self, rows: Iterable[Row]) -> None:
        """Keep the rows of shared games that another server stored with a different ending.

        Call this before `settle`.
        """
        for row in rows:
            found = self._games.get(row.game)
            if found is None:
                continue  # the players have the journal's result, which replaces a stored game without result
            if found.is_handed_over:
                found.otherwise = row
            else:
                self._otherwise[row.game] = row
        for game in [*self._otherwise][:-MOST_OTHERWISE]:
            del self._otherwise[game]

    def take_otherwise(self, game: GameId) -> GameRecord | None:
        """Return the game as another server stored it, with a different ending, and forget it.

        Returns None if no such game is kept.
        """
        row = self._otherwise.pop(game, None)
        return None if row is None else GameRecord.of_row(row)

    async def watch(self) -> None:
        """Write games that have waited for `patience` seconds to the journal. Runs until cancelled."""
        while True:
            while self._timely and self._timely[0].is_over:
                self._timely.popleft()
            if not self._timely or self._timely[0].until > trio.current_time():
                self._outage.over(0, len(self._games), trio.current_time())
            if not self._timely:
                self._came = trio.Event()
                await self._came.wait()
                continue
            oldest = self._timely[0]
            if not self._is_ready:  # start the journal's process early, since that takes some time
                if await self._reached(oldest.until - self._patience / 2) and not oldest.is_over:
                    self._is_ready = await self._append([]) is not None
            elif await self._reached(oldest.until):
                now = trio.current_time()
                due = [
                    game for game in islice(self._timely, AT_ONCE) if game.until <= now and not game.is_over
                ]
                if due:
                    await self._have_journaled(due)

    async def _reached(self, moment: float) -> bool:
        """Wait until `moment`; return False if the process was suspended meanwhile.

        After a suspension all games wait for `patience` seconds again. The suspension, and not the database,
        may have delayed them. Meanwhile another server may have stored them with a different ending.
        """
        moment = max(moment, self._busy_until)
        await trio.sleep_until(moment)
        if trio.current_time() - moment <= STOOD_STILL:
            return True
        until = trio.current_time() + self._patience
        for game in self._timely:
            game.until = until
        return False

    async def _append(self, games: Sequence["_Game"]) -> list[Refused] | None:
        """Append games to the journal; return the games that it will never take.

        If the journal fails, wait until it is time for the next attempt, and return None.
        """
        self._answered = trio.Event()
        try:
            refused = await self._journal.append([game.record for game in games])
        except Exception as error:  # also after a bug the games are tried again
            self._answered.set()
            if games:
                self._outage.failed(error, len(self._games), trio.current_time())
            await trio.sleep(self._retry)
            self._busy_until = trio.current_time()
            return None
        self._answered.set()
        self._busy_until = trio.current_time()
        self._written += len(games) - len(refused)
        return refused

    async def _have_journaled(self, games: Sequence["_Game"]) -> bool:
        """Write games to the journal; return whether that succeeded.

        After success, the results are sent, a few in each turn of the event loop.
        """
        for game in games:
            game.is_handed_over = True
        refused = await self._append(games)
        if refused is None:
            self._take_back(games)
            return False
        self._outage.over(len(games), len(self._games), trio.current_time())
        for number, why in refused:
            log_refused("a result", why, by="the journal")
            self._take_back([games[number]])
            log_unstored([games[number].record])
            games[number].is_over = True  # the players get the result only if the database takes the game
        numbers = {each.number for each in refused}
        for game in (each for number, each in enumerate(games) if number not in numbers):
            self._games.pop(game.record.game, None)
            for _ in range(game.tell()):
                self._late.one_more(trio.current_time())
            if not self._turns.results.take(TELLING):
                await trio.lowlevel.checkpoint()
        self._busy_until = trio.current_time()
        return True

    def _take_back(self, games: Iterable["_Game"]) -> None:
        """Mark games as not in the journal, and settle those that were stored with a different ending."""
        for game in games:
            game.is_handed_over = False
            if game.otherwise is not None:
                row, game.otherwise = game.otherwise, None
                self.note_otherwise([row])
                self.settle(row.game)

    async def release(self) -> None:
        """Wait for the journal's answer, then close its file, so that the games in it can be stored."""
        while not self._answered.is_set():
            await self._answered.wait()
        self._late.over()
        self._left, self._written, self._is_ready = self.journaled, 0, False
        await self._journal.close()

    def taken_up(self, games: int, *, more: bool) -> None:
        """Subtract `games` from the number of games in closed files. Without `more`, set the number to 0."""
        self._left = max(0, self._left - games) if more else 0

    async def journal_all(self) -> None:
        """Write all open games to the journal, after `watch` has ended. Tries again until it succeeds."""
        if not self._answered.is_set():  # `watch` was cancelled before the journal answered
            await self._journal.close()
        games = [game for game in self._games.values() if not game.is_over]
        for start in range(0, len(games), AT_ONCE):
            while not await self._have_journaled(games[start : start + AT_ONCE]):
                pass

    async def close(self) -> None:
        """End the journal's process. First log the number of late games if it has grown since the last log
        line."""
        self._late.over()
        await self._journal.close()


class _Game:
    """A game that is not stored yet."""

    __slots__ = ("is_handed_over", "is_over", "otherwise", "record", "until", "waiting")

    def __init__(self, record: GameRecord, until: float) -> None:
        self.record = record
        self.until = until
        """The time at which the game goes to the journal."""
        self.is_over = self.is_handed_over = False
        """`is_over`: the journal need not get the game any more. `is_handed_over`: the journal may have the
        game."""
        self.otherwise: Row | None = None
        """The row that another server stored with a different ending, if the journal may have it, too."""
        self.waiting: list[Callable[[], object]] = []
        """Functions to call as soon as the game is in the database or the journal."""

    def tell(self) -> int:
        """Call the functions that wait for the game; return their number."""
        self.is_over = True
        waiting, self.waiting = self.waiting, []
        for then in waiting:
            try:
                then()
            except Exception as error:  # a bug, which must not hold back the results of other games
                extra = {"event": "waiting_failed", "error": str(error)}
                logger.exception("a callback for a result has failed: %s", error, extra=extra)
        return len(waiting)


def _log_late(times: int) -> None:
    extra = {"event": "results_told_unstored", "times": times}
    text = "players hear of results that only the journal has, not the database yet, %d times so far"
    logger.warning(text, times, extra=extra)

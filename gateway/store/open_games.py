"""Games that are over but not stored, and the players that wait for their results.

Knows trio and the journal's process; does not know where games are stored, or how the journal is written. The
rules it keeps:

- A game that is not stored when its players have waited for `patience` goes to the journal. It is late then:
  players hear the result, and the game is not open any more. Time in which the server stood still does not
  count: it tells nothing about the database, and another server may have stored another end meanwhile.
- While neither the database nor the journal takes a game, its players wait, and the journal is tried again.
- A mistake of one that waits is logged, and costs no other game its result.
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
"""Seconds that it takes to tell both players of a result, their next game included, as `Turns` counts."""

# What the operator is told while the database or the journal fails, and of games that only the log has.
#
# Knows time as an argument, and logging. An outage is told of at once, again every `remind` seconds while it
# lasts, and when it is over.

_CAUSES = 10
"""So many different ones are told at once; an error with numbers in it may be new each time."""


class Count:
    """Counts what should not happen, and says how often: at once, now and then, and once it is over."""

    def __init__(self, interval: float, say: Callable[[int], object]) -> None:
        """Call `say` with the count, at most once in `interval` seconds."""
        self._throttle = Throttle(interval)
        self._say = say
        self._count = self._said = 0

    def one_more(self, now: float) -> None:
        """Count one that happened at `now`, in seconds of any clock."""
        self._count += 1
        if self._throttle.passes(now):
            self.over()

    def over(self) -> None:
        """Say what was not said yet: it happens no more for now."""
        if self._count > self._said:
            self._said = self._count
            self._say(self._count)


@dataclass(frozen=True, slots=True)
class Words:
    """What is said of an outage while it lasts, and when it is over: the event, and its text."""

    failed: Mapping[str, str]
    failing: str
    """With seconds, how many results wait, and the error."""
    back: Mapping[str, str]
    over: str
    """With seconds, how many results are dealt with now, and how many are next."""


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
    "results can be told again after %.1f s: %d that waited are on disk, %d are next",
)


class Outage:
    """An outage of the database, or of database and journal, or none."""

    def __init__(self, remind: float, words: Words = DATABASE) -> None:
        self._remind = remind
        self._words = words
        self._began: float | None = None
        self._throttle = Throttle(remind)
        self._causes: set[str] = set()

    @property
    def is_on(self) -> bool:
        """Whether there is one."""
        return self._began is not None

    def failed(self, error: Exception, waiting: int, now: float) -> None:
        """Note that an attempt failed at `now`, in seconds of any clock, while `waiting` games wait."""
        if self._began is None:
            self._began = now
            self._throttle = Throttle(self._remind)
            self._causes.clear()
        # The first cause may only be what came of the real one.
        is_new = str(error) not in self._causes and len(self._causes) < _CAUSES
        if is_new:
            self._causes.add(str(error))
        if self._throttle.passes(now) or is_new:
            seconds = now - self._began
            about = {
                **self._words.failed,
                "seconds": round(seconds, 3),
                "waiting": waiting,
                "error": str(error),
            }
            logger.error(self._words.failing, seconds, waiting, error, extra=about)

    def over(self, stored: int, waiting: int, now: float) -> None:
        """Note that an attempt succeeded, by which `stored` games of the `waiting` ones were stored."""
        if self._began is not None:
            seconds = now - self._began
            left = waiting - stored
            about = {**self._words.back, "seconds": round(seconds, 3), "stored": stored, "waiting": left}
            logger.warning(self._words.over, seconds, stored, left, extra=about)
            self._began = None


def log_unstored(records: Sequence[GameRecord], at_once: int = 50) -> None:
    """Log games that only the log will have, several in a line because a log has room for so many lines."""
    for start in range(0, len(records), at_once):
        part = [as_object(record) for record in records[start : start + at_once]]
        logger.error("not stored: %s", json_text(part), extra={"event": "games_not_stored", "games": part})


def log_refused(what: str, why: str, by: str = "the database") -> None:
    """Log that something will never be stored."""
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
"""Seconds by which the event loop is late only if the whole server stood still."""
MOST_OTHERWISE = 5_000
"""Games with another end that are kept, about 1 KB each: a player that has gone never asks."""
AT_ONCE = 200
"""Games that are handed to the journal at once: a millisecond's work."""


class OpenGames:
    """Games that are not stored yet, by their ids, the oldest first. For the event loop."""

    def __init__(
        self, journal: JournalProcess, turns: Turns, patience: float, retry: float, remind: float
    ) -> None:
        """Let players wait for `patience` seconds, then use the journal, and try that every `retry` seconds.

        Tell the operator every `remind` seconds.
        """
        self._journal = journal
        self._turns = turns
        self._patience = patience
        self._retry = retry
        self._games: dict[GameId, _Game] = {}
        self._timely: deque[_Game] = deque()
        """The same games, the oldest first; among them may be some that are settled or late."""
        self._written = self._left = 0
        """Games in the file that the journal writes, and in those that it has let go of."""
        self._is_ready = False
        self._answered = trio.Event()
        """Whether no games are on their way to the journal."""
        self._answered.set()
        self._busy_until = -inf
        self._otherwise: dict[GameId, Row] = {}
        self._came = trio.Event()
        self._told_late = Count(remind, _say_late)
        self._outage = Outage(remind, JOURNAL)

    @property
    def waiting(self) -> int:
        """How many are not in the database, as far as this run of the server knows."""
        return len(self._games) + self.journaled

    @property
    def journaled(self) -> int:
        """How many of these are in the journal."""
        return self._written + self._left

    @property
    def behind(self) -> bool:
        """Whether one of them has waited for too long."""
        return self.journaled > 0 or self.held

    @property
    def held(self) -> bool:
        """Whether players wait because the journal does not take results either."""
        return self._outage.is_on

    @property
    def may_be_taken_up(self) -> bool:
        """Whether some are in the file that the journal writes, and no other will soon be."""
        oldest = next((game for game in self._games.values() if not game.is_over), None)
        is_calm = oldest is None or trio.current_time() < oldest.until - self._patience / 2
        return self._written > 0 and is_calm and self._answered.is_set()

    def add(self, record: GameRecord) -> None:
        """Note that a game is over."""
        game = self._games[record.game] = _Game(record, trio.current_time() + self._patience)
        self._timely.append(game)
        self._came.set()

    def settle(self, game: GameId) -> None:
        """Tell the players, unless the journal may have another end: that is settled first."""
        found = self._games.get(game)
        if found is not None and found.otherwise is None:
            del self._games[game]
            found.tell()

    def forget_all(self) -> list[GameRecord]:
        """Return all games that are open, once, the oldest first. Their players are not told of them."""
        games = [game for game in self._games.values() if not game.is_over]
        self._timely.clear()
        for game in games:
            game.is_over = True
            game.waiting.clear()
        return [game.record for game in games]

    def is_open(self, game: GameId) -> bool:
        """Whether the game is neither stored nor late."""
        return game in self._games

    def when_stored(self, game: GameId, then: Callable[[], object]) -> None:
        """Call `then` once the game is stored or late, or at once if it is. It MUST NOT block or raise."""
        found = self._games.get(game)
        if found is None:
            then()
        else:
            found.waiting.append(then)

    def note_otherwise(self, rows: Iterable[Row]) -> None:
        """Note shared games that were stored with another end; call it before they are settled."""
        for row in rows:
            found = self._games.get(row.game)
            if found is None:
                continue  # it was told as the journal has it, which takes the place of a game without result
            if found.is_handed_over:
                found.otherwise = row
            else:
                self._otherwise[row.game] = row
        for game in [*self._otherwise][:-MOST_OTHERWISE]:
            del self._otherwise[game]

    def take_otherwise(self, game: GameId) -> GameRecord | None:
        """Return a game, once, if it was stored with another end."""
        row = self._otherwise.pop(game, None)
        return None if row is None else GameRecord.of_row(row)

    async def watch(self) -> None:
        """Have games journaled that have waited for long, and let them be late, until cancelled."""
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
            if not self._is_ready:  # a process has to be started, which takes a while
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
        """Wait until a moment; return False if the server stood still: then all have to wait anew."""
        moment = max(moment, self._busy_until)
        await trio.sleep_until(moment)
        if trio.current_time() - moment <= STOOD_STILL:
            return True
        until = trio.current_time() + self._patience
        for game in self._timely:
            game.until = until
        return False

    async def _append(self, games: Sequence["_Game"]) -> list[Refused] | None:
        """Append to the journal; return what it refused for good. None if it failed; then wait a while."""
        self._answered = trio.Event()
        try:
            refused = await self._journal.append([game.record for game in games])
        except Exception as error:  # also a mistake of ours: all of these are tried again
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
        """Let games be late, a few in each turn, and return whether the journal has taken them."""
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
            games[number].is_over = True  # nobody is told of it, unless the database takes it
        numbers = {each.number for each in refused}
        for game in (each for number, each in enumerate(games) if number not in numbers):
            self._games.pop(game.record.game, None)
            for _ in range(game.tell()):
                self._told_late.one_more(trio.current_time())
            if not self._turns.results.take(TELLING):
                await trio.lowlevel.checkpoint()
        self._busy_until = trio.current_time()
        return True

    def _take_back(self, games: Iterable["_Game"]) -> None:
        """Settle games that were stored with another end, now that the journal has not taken them."""
        for game in games:
            game.is_handed_over = False
            if game.otherwise is not None:
                row, game.otherwise = game.otherwise, None
                self.note_otherwise([row])
                self.settle(row.game)

    async def let_go(self) -> None:
        """Let what was journaled be taken up, with what is on its way there."""
        while not self._answered.is_set():
            await self._answered.wait()
        self._told_late.over()
        self._left, self._written, self._is_ready = self.journaled, 0, False
        await self._journal.close()

    def taken_up(self, games: int, *, more: bool) -> None:
        """Note that so many of those that were let go of are stored, and whether there may be more."""
        self._left = max(0, self._left - games) if more else 0

    async def journal_all(self) -> None:
        """Have all that are open journaled, when nobody runs `watch` any more."""
        if not self._answered.is_set():  # it was cancelled, and its answer is still to come
            await self._journal.close()
        games = [game for game in self._games.values() if not game.is_over]
        for start in range(0, len(games), AT_ONCE):
            while not await self._have_journaled(games[start : start + AT_ONCE]):
                pass

    async def close(self) -> None:
        """Let go of the journal, and tell the operator of late games that were not logged yet."""
        self._told_late.over()
        await self._journal.close()


class _Game:
    """A game that is not stored yet."""

    __slots__ = ("is_handed_over", "is_over", "otherwise", "record", "until", "waiting")

    def __init__(self, record: GameRecord, until: float) -> None:
        self.record = record
        self.until = until
        """When it is to be journaled."""
        self.is_over = self.is_handed_over = False
        """Whether it is settled or late, and whether it may be in the journal."""
        self.otherwise: Row | None = None
        """How it is stored, where it may also be in the journal, with another end."""
        self.waiting: list[Callable[[], object]] = []
        """Called once the game is settled or late."""

    def tell(self) -> int:
        """Tell those that wait, now that the game is settled or late; return their number."""
        self.is_over = True
        waiting, self.waiting = self.waiting, []
        for then in waiting:
            try:
                then()
            except Exception as error:  # a mistake of ours; it must cost no other game its result
                about = {"event": "waiting_failed", "error": str(error)}
                logger.exception("what waits for a result has failed: %s", error, extra=about)
        return len(waiting)


def _say_late(times: int) -> None:
    about = {"event": "results_told_unstored", "times": times}
    text = "players hear of results that only the journal has, not the database yet, %d times so far"
    logger.warning(text, times, extra=about)

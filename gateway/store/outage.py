"""What the operator is told while the database or the journal fails, and of games that only the log has.

Knows time as an argument, and logging. An outage is told of at once, again every `remind` seconds while it
lasts, and when it is over.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from gateway.game.text import json_text
from gateway.runtime.throttle import Throttle
from gateway.store.formats.jsonl import as_object
from gateway.store.records import GameRecord

logger = logging.getLogger("gateway.store")
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

"""What the operator is told while the database fails, and of games that only the log has.

Knows time as an argument, and logging. An outage is told of at once, again every `remind` seconds while it
lasts, and when it is over.
"""

import logging
from collections.abc import Callable, Sequence

from gateway.game.text import json_text
from gateway.store.formats.jsonl import as_object
from gateway.store.records import GameRecord
from gateway.throttle import Throttle

logger = logging.getLogger("gateway.store")
_CAUSES = 10
"""So many different ones are told at once; an error with numbers in it may be new each time."""


class Count:
    """Counts what should not happen, and says how often it did: at once, now and then, and at the end."""

    def __init__(self, interval: float, say: Callable[[int], object]) -> None:
        """Call `say` with the count, at most once in `interval` seconds."""
        self._throttle = Throttle(interval)
        self._say = say
        self._count = self._said = 0

    def one_more(self, now: float) -> None:
        """Count one that happened at `now`, in seconds of any clock."""
        self._count += 1
        if self._throttle.passes(now):
            self.close()

    def close(self) -> None:
        """Say what was not said yet."""
        if self._count > self._said:
            self._said = self._count
            self._say(self._count)


class Outage:
    """An outage of the database, or none."""

    def __init__(self, remind: float) -> None:
        self._remind = remind
        self._began: float | None = None
        self._throttle = Throttle(remind)
        self._causes: set[str] = set()

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
            logger.error(
                "the database has failed for %.1f s; play goes on, %d results wait: %s",
                *(now - self._began, waiting, error),
                extra={
                    "event": "database_failed",
                    "seconds": round(now - self._began, 3),
                    "waiting": waiting,
                    "error": str(error),
                },
            )

    def over(self, stored: int, waiting: int, now: float) -> None:
        """Note that an attempt succeeded, by which `stored` games of the `waiting` ones were stored."""
        if self._began is not None:
            logger.warning(
                "the database is back after %.1f s: %d results that waited are stored, %d are next",
                *(now - self._began, stored, waiting - stored),
                extra={
                    "event": "database_back",
                    "seconds": round(now - self._began, 3),
                    "stored": stored,
                    "waiting": waiting - stored,
                },
            )
            self._began = None


def log_unstored(records: Sequence[GameRecord], at_once: int = 50) -> None:
    """Log games that only the log will have, several in a line because a log has room for so many lines."""
    for start in range(0, len(records), at_once):
        part = [as_object(record) for record in records[start : start + at_once]]
        logger.error("not stored: %s", json_text(part), extra={"event": "games_not_stored", "games": part})

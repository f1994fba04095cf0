"""Alarms for any number of keys, in the order in which they are due.

An alarm that is moved to a later time keeps its old place in the queue until the old time has come. So moving
an alarm only changes a dictionary entry, and does not add an entry to the queue.
"""

import heapq
from collections.abc import Hashable, Iterator
from itertools import count
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)


class Deadlines(Generic[K]):
    """At most one alarm for each key."""

    def __init__(self) -> None:
        self._when: dict[K, float] = {}
        self._queued: dict[K, float] = {}
        self._queue: list[tuple[float, int, K]] = []
        self._order = count()

    def set(self, key: K, when: float) -> None:
        """Set the alarm of `key` to the time `when`. This replaces the previous alarm of the key."""
        self._when[key] = when
        queued = self._queued.get(key)
        if queued is None or when < queued:
            self._push(key, when)

    def cancel(self, key: K) -> None:
        """Drop the alarm of `key`, if it has one."""
        if self._when.pop(key, None) is not None and len(self._queue) > 64 + 2 * len(self._when):
            self._sweep()

    def next_due(self) -> float | None:
        """Return a time before which no alarm is due; None if the queue is empty."""
        return self._queue[0][0] if self._queue else None

    def due(self, now: float) -> Iterator[K]:
        """Yield the keys of the alarms that are due at `now`, the earliest first, and drop these alarms."""
        while self._queue and self._queue[0][0] <= now:
            queued, _, key = heapq.heappop(self._queue)
            if self._queued.get(key) != queued:
                continue
            del self._queued[key]
            when = self._when.get(key)
            if when is None:
                continue
            if when > queued:
                self._push(key, when)
                continue
            del self._when[key]
            yield key

    def _sweep(self) -> None:
        """Drop the queue entries of cancelled alarms, which would keep their keys in memory."""
        self._queue.clear()
        self._queued.clear()
        for key, when in self._when.items():
            self._push(key, when)

    def _push(self, key: K, when: float) -> None:
        self._queued[key] = when
        heapq.heappush(self._queue, (when, next(self._order), key))

"""A limit on the frequency of events, such as log lines of the same kind. The time is an argument."""

from collections.abc import Hashable
from math import inf

LOG_PERIOD = 60.0
"""The default interval, in seconds."""


class Throttle:
    """Allows one event of each kind in `interval` seconds. The first event is allowed at once.

    All kinds stay in memory, so there must be few kinds, and clients must not be able to choose them.
    """

    def __init__(self, interval: float = LOG_PERIOD) -> None:
        self._interval = interval
        self._next: dict[Hashable, float] = {}

    def passes(self, now: float, kind: Hashable = None) -> bool:
        """Return whether an event of this kind is allowed at `now`. If so, the next interval begins."""
        if now < self._next.get(kind, -inf):
            return False
        self._next[kind] = now + self._interval
        return True

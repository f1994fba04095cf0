"""A limit on how often something may happen, such as the same log line. Time comes in as an argument."""

from collections.abc import Hashable
from math import inf

LOG_PERIOD = 60.0
"""The default interval, in seconds."""


class Throttle:
    """Allows one event of each kind in `interval` seconds, the first at once.

    All kinds are remembered, so there must be few, and clients must not be able to choose them.
    """

    def __init__(self, interval: float = LOG_PERIOD) -> None:
        self._interval = interval
        self._next: dict[Hashable, float] = {}

    def passes(self, now: float, kind: Hashable = None) -> bool:
        """Whether an event of this kind is allowed at `now`; if so, count it."""
        if now < self._next.get(kind, -inf):
            return False
        self._next[kind] = now + self._interval
        return True

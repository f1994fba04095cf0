"""How often something may happen, such as the same line of the log.

Knows time as an argument. Does not know what is said.
"""

from collections.abc import Hashable
from math import inf

LOG_PERIOD = 60.0
"""Seconds before the same may be logged again, unless another interval is given."""


class Throttle:
    """Lets one of each kind in `interval` seconds pass, the first at once.

    It remembers all kinds, so there MUST be few, and none that a client chooses.
    """

    def __init__(self, interval: float = LOG_PERIOD) -> None:
        self._interval = interval
        self._next: dict[Hashable, float] = {}

    def passes(self, now: float, kind: Hashable = None) -> bool:
        """Whether something of this kind that happens at `now` may pass."""
        if now < self._next.get(kind, -inf):
            return False
        self._next[kind] = now + self._interval
        return True

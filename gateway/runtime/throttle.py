"""How often something may happen: the same line of the log, work in one turn of the loop.

Knows time as an argument. Does not know what is said.
"""

from collections.abc import Hashable
from math import inf


class Throttle:
    """Lets one of each kind in `interval` seconds pass, the first at once.

    It remembers all kinds, so there MUST be few, and none that a client chooses.
    """

    def __init__(self, interval: float) -> None:
        self._interval = interval
        self._next: dict[Hashable, float] = {}

    def passes(self, now: float, kind: Hashable = None) -> bool:
        """Whether something of this kind that happens at `now` may pass."""
        if now < self._next.get(kind, -inf):
            return False
        self._next[kind] = now + self._interval
        return True


# How many of those who wait are served in one turn of the event loop.
#
# Knows times as arguments. Does not know what they wait for. Few are served, as games wait for the end of the
# turn. Where thousands play as fast as they can a turn is long, and a few in each would be too few: then they
# are a share of the turn.
#
# Each place that serves has portions of its own. What one of each costs together has to stay below `EACH`, or
# a turn that is long would make the next one longer: a connection accepted by each of three listeners 1.5 ms,
# one that goes on 0.3, a client's texts 0.8, a result 0.5.

EACH = 0.004
"""Seconds of a turn for each that is served in the next."""
MOST = 32
"""At most so many are served, however long the turn was: perhaps the server stood still."""


class Portions:
    """How many to serve in each of several turns, one after the other."""

    __slots__ = ("_least", "_since")

    def __init__(self, least: int) -> None:
        """Serve at least so many in a turn."""
        self._least = least
        self._since = 0.0

    def begin(self, now: float) -> None:
        """Note that a turn begins, and that nobody was served in the one before."""
        self._since = now

    def next(self, now: float) -> int:
        """Return how many to serve now, by the time since this was last asked."""
        turn, self._since = now - self._since, now
        return min(max(self._least, int(turn / EACH)), MOST)

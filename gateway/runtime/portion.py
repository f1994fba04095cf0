"""How many of those who wait are served in one turn of the event loop.

Knows times as arguments. Does not know what they wait for. Few are served, as games wait for the end of the
turn. Where thousands play as fast as they can a turn is long, and a few in each would be too few: then they
are a share of the turn.

Each place that serves has portions of its own. What one of each costs together has to stay below `EACH`, or a
turn that is long would make the next one longer: a connection accepted by each of three listeners 1.5 ms, one
that goes on 0.3, a client's texts 0.8, a result 0.5.
"""

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

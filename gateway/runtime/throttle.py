"""How often something may happen: the same line of the log, a wrong token, work in one turn of the loop.

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


# How long wrong tokens wait for their answers.
#
# Knows addresses, names and times as arguments. Does not know what a token is. What is remembered is bounded.

FIRST_PAUSE = 0.25
"""Seconds until the first wrong token is answered; each further one takes twice as long."""
LONGEST_PAUSE = 8.0
FORGOTTEN = 600.0
"""Seconds without a wrong token after which the pauses begin anew."""
REMEMBERED = 4096
"""Pairs of an address and a name whose wrong tokens are counted."""


class Pauses:
    """How long clients wait for the answer to a wrong token, by address and name."""

    def __init__(self) -> None:
        self._wrong: dict[tuple[str, str], tuple[int, float]] = {}
        """How many wrong ones came, and when the last did; the latest at the end."""

    def __len__(self) -> int:
        """Return for how many pairs of an address and a name wrong tokens are counted."""
        return len(self._wrong)

    def wrong(self, origin: str, key: str, now: float) -> float:
        """Count a wrong token; return for how many seconds its answer is to wait."""
        count, last = self._wrong.pop((origin, key), (0, now))
        count = 0 if now > last + FORGOTTEN else count
        self._wrong[origin, key] = count + 1, now
        if len(self._wrong) > REMEMBERED:
            del self._wrong[next(iter(self._wrong))]
        return float(min(FIRST_PAUSE * 2 ** min(count, 16), LONGEST_PAUSE))

    def right(self, origin: str, key: str) -> None:
        """Let the pauses begin anew."""
        self._wrong.pop((origin, key), None)


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

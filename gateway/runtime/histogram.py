"""A histogram of durations.

Adding a duration takes little time, so it can be done in every turn of the event loop. The size of a
histogram is constant.
"""

from bisect import bisect_left
from collections.abc import Sequence

BOUNDS = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0)
"""The upper bounds of the intervals, in seconds. One more interval has no upper bound."""


class Histogram:
    """The number of durations in each interval, and their sum."""

    __slots__ = ("_counts", "total")

    def __init__(self) -> None:
        self._counts = [0] * (len(BOUNDS) + 1)
        self.total = 0.0
        """The sum of all durations, in seconds."""

    def add(self, seconds: float) -> None:
        """Count one duration."""
        self._counts[bisect_left(BOUNDS, seconds)] += 1
        self.total += seconds

    def join(self, counts: Sequence[int], total: float) -> None:
        """Add the counts and the sum of another histogram. Raises ValueError if it has other intervals."""
        self._counts = [ours + theirs for ours, theirs in zip(self._counts, counts, strict=True)]
        self.total += total

    def counts(self) -> Sequence[int]:
        """Return the number of durations in each interval. The interval without upper bound is the last."""
        return tuple(self._counts)

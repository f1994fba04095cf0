"""Counts of answered HTTP requests, and the times until the answers began.

The web process counts the requests and sends the counts to the process that plays, which adds them up. This
module knows only the beginnings of paths.
"""

from collections.abc import Sequence
from typing import TypeAlias

from gateway.runtime.histogram import Histogram

KINDS = ("page", "api", "live", "static", "health")
"""The kinds of paths that are counted separately."""
_BEGINNINGS = (("/api/live", "live"), ("/api/", "api"), ("/static/", "static"), ("/healthz", "health"))

Row: TypeAlias = tuple[str, int, Sequence[int], float]
"""A kind of path, an HTTP status, and the counts and the total of a `Histogram`."""


def kind_of(path: str) -> str:
    """Return the kind of a path, which its beginning shows; ``page`` if it is of no other kind."""
    return next((kind for beginning, kind in _BEGINNINGS if path.startswith(beginning)), "page")


class Requests:
    """Counts of answered requests, by kind of path and status."""

    def __init__(self) -> None:
        self.delays: dict[tuple[str, int], Histogram] = {}
        """The times until answers began, by kind and status."""

    def add(self, kind: str, status: int, seconds: float) -> None:
        """Count one answer."""
        self.delays.setdefault((kind, status), Histogram()).add(seconds)

    def take(self) -> list[Row]:
        """Return the counts since the last call, and set them to zero."""
        counted, self.delays = self.delays, {}
        return [(*key, delays.counts(), delays.total) for key, delays in counted.items()]

    def join(self, rows: Sequence[Row]) -> None:
        """Add rows that `take` returned in another process. Raises ValueError for invalid rows."""
        for kind, status, counts, total in rows:
            if kind not in KINDS or status not in range(100, 600):
                raise ValueError("neither a kind of path nor a status")
            self.delays.setdefault((kind, status), Histogram()).join(counts, total)

    def by_kind(self) -> dict[str, Histogram]:
        """Return the times until answers began, by kind."""
        found = {kind: Histogram() for kind in KINDS}
        for (kind, _), delays in self.delays.items():
            found[kind].join(delays.counts(), delays.total)
        return found

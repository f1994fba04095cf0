"""Who belongs to a cluster, and which node pairs, as far as this node knows.

Pure. Knows what the registry said last and when it was asked. The rule it keeps: what it said holds for
`LEASE` seconds from when it was *asked*, by this node's own clock. So the node that pairs stops before the
registry lets another one begin, and so do those that follow it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

LEASE = 1.5
"""Seconds for which a node pairs without having renewed that."""
BEAT = 0.4
"""Seconds between two questions to the registry."""
MARGIN = 0.1
"""Seconds by which clocks may drift apart within `LEASE`, and a node may be late to notice."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a node listens for others."""

    host: str
    port: int
    run: int


class Holder(NamedTuple):
    """The node that pairs."""

    node: str
    epoch: int
    """Higher than that of any node that paired before it."""


@dataclass(frozen=True, slots=True)
class View:
    """What the registry says."""

    holder: Holder | None
    nodes: Mapping[str, Place]


class Membership:
    """The cluster as this node sees it."""

    def __init__(self) -> None:
        self.nodes: Mapping[str, Place] = {}
        """All nodes that the registry named last; they are kept while it cannot be asked."""
        self.epoch = 0
        """The highest that this node has heard of."""
        self._holder: Holder | None = None
        self._until = 0.0

    def seen(self, view: View, asked: float) -> None:
        """Take what the registry says; it was asked at `asked`."""
        self.nodes = view.nodes
        self._holder, self._until = view.holder, asked + LEASE - MARGIN
        if view.holder is not None:
            self.heard(view.holder.epoch)

    def heard(self, epoch: int) -> None:
        """Hear of an epoch."""
        self.epoch = max(self.epoch, epoch)

    @property
    def latest(self) -> Holder | None:
        """The node that paired when the registry was last asked."""
        return self._holder

    def holder(self, now: float) -> Holder | None:
        """Return the node that pairs now, None where nobody does."""
        holder = self._holder
        return holder if holder is not None and now < self._until and holder.epoch >= self.epoch else None

"""The measured figures in the units that are printed, beside their goals. Arithmetic only.

Ratios are of server CPU: of a move, over that of a round trip of the bare transport that brought it, the
median of all times it was measured in the same run, because machines drift.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from conformance.lab.plan import Couple, Report, Speed, connections_by_transport, kb_per_connection, speed


@dataclass(frozen=True, slots=True)
class Goal:
    """Ratios that are not to be exceeded."""

    most: float
    stretch: float


GOALS = {
    "droidcon": Goal(1.0, 0.9),
    "nac4": Goal(0.8, 0.4),
    "arena-json": Goal(1.0, 0.5),
    "arena-edn": Goal(1.0, 0.5),
}


@dataclass(frozen=True, slots=True)
class Figures:
    """One kind of pairs on one server."""

    kind: str
    connections: int
    saturated: Speed
    paced: Speed
    kb_per_connection: float | None
    """1 KB is 1,024 bytes."""
    floor_us: float | None
    goal: Goal | None

    @property
    def ratio(self) -> float | None:
        """CPU of a move over the floor's; None where one is not known."""
        if self.floor_us is None or self.saturated.cpu_us is None:
            return None
        return self.saturated.cpu_us / self.floor_us

    @property
    def is_missed(self) -> bool:
        """Whether there is a goal that was not shown to be met."""
        return self.goal is not None and (self.ratio is None or self.ratio > self.goal.most)


def figures(kind: str, report: Report, floor_us: float | None, goal: Goal | None) -> Figures:
    """Return what a report of two stretches, a saturated and a paced one, comes to."""
    saturated, paced = report.stretches
    memory = kb_per_connection(report)
    return Figures(kind, report.connections, speed(saturated), speed(paced), memory, floor_us, goal)


def floor_of(couples: Sequence[Couple], floors: Mapping[str, Sequence[Speed]]) -> float | None:
    """Return the floor's microseconds: the mean of the transports' medians, weighed by connections."""
    total = 0.0
    for transport, share in connections_by_transport(couples).items():
        known = [floor.cpu_us for floor in floors.get(transport, ()) if floor.cpu_us is not None]
        if not known:
            return None
        total += share * median(known)
    return total

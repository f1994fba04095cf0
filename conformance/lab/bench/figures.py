"""What was measured, in the units it is told in, beside what was asked for; arithmetic alone.

Ratios are of server CPU: of a move, over that of a round trip of the bare transport that brought it, the
median of all times it was measured in the same run, because machines drift.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from conformance.lab.bench.plan import Counted, Couple, Report, connections_by_transport

SATURATED = 0.9
"""The share of the time in which a server that is the limit has work at least."""


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
class Speed:
    """What a stretch came to. Of an echo, a move is a round trip."""

    moves_per_second: float
    games_per_second: float
    cpu_us: float | None
    """Microseconds of server CPU for a move."""
    p50_ms: float
    p99_ms: float
    server_share: float | None
    """Of one core, 0 to 1 and more."""
    waited_share: float | None
    """How much of the time the server had work and no core."""
    load_share: float

    @property
    def is_saturated(self) -> bool:
        """Whether the server always had work, as far as that is known."""
        return (
            self.server_share is None
            or self.waited_share is None
            or self.server_share + self.waited_share >= SATURATED
        )


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


def speed(counted: Counted) -> Speed:
    """Return what was counted, by the second and by the move."""
    cpu = counted.server_cpu
    return Speed(
        moves_per_second=counted.moves / counted.seconds,
        games_per_second=counted.games / counted.seconds,
        cpu_us=None if cpu is None else 1e6 * cpu / counted.moves,
        p50_ms=1000 * counted.p50,
        p99_ms=1000 * counted.p99,
        server_share=None if cpu is None else cpu / counted.seconds,
        waited_share=counted.server_waited and counted.server_waited / counted.seconds,
        load_share=counted.load_cpu / counted.seconds,
    )


def figures(kind: str, report: Report, floor_us: float | None, goal: Goal | None) -> Figures:
    """Return what a report of two stretches, a saturated and a paced one, comes to."""
    saturated, paced = report.stretches
    memory = None
    if report.rss_before is not None and report.rss_playing is not None:
        memory = (report.rss_playing - report.rss_before) / report.connections / 1024
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

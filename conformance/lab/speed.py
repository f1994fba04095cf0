"""What a stretch of a plan came to, by the second and by the move; arithmetic alone."""

from dataclasses import dataclass

from conformance.lab.plan import Counted, Report

SATURATED = 0.9
"""The share of the time in which a server that is the limit has work at least."""
DISTURBED = 0.05
"""The share of the time off its core from which on a measurement is in doubt."""


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


def kb_per_connection(report: Report) -> float | None:
    """Return what the server's memory grew by for each connection, in units of 1,024 bytes."""
    if report.rss_before is None or report.rss_playing is None:
        return None
    return (report.rss_playing - report.rss_before) / report.connections / 1024

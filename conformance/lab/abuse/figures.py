"""The measured figures beside their goals. Arithmetic only.

A move that takes long holds up those that would have followed it, which nobody then measures. So a time that
is longer than a pair's beat stands for the later ones too, each shorter by one beat: for what a client would
have seen that had not waited.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from statistics import median

from conformance.lab.figures import percentile

MOST_P50_MS, MOST_P99_MS = 2.0, 20.0
"""Milliseconds within which half of the moves, and 99 of 100, are to stay under attack."""
MOST_QUIET_P99_MS = 2.0
"""The same for 99 of 100 while nobody attacks; on a slower machine the figures tell nothing."""
MOST_LEFT_OUT = 0.75
"""The share of the moves that may be left out."""
MB = 2**20
MOST_GROWTH = 256 * MB
"""Bytes by which the server's memory may grow under attack."""
MOST_KEPT = 0.1
"""The share of the memory before by which it may be more ten seconds after the attackers have left."""
MOST_STOP = 5.0
"""Seconds that a stop may take under attack."""
MOST_PAGE = 4 * MB
"""Bytes that a page of 1,000 games may have, whatever its players are called."""
MOST_HOUSE_MS = 1000.0
"""Milliseconds that the median move of a house player that thinks for 10 may take."""


def with_missed(times: Sequence[float], beat: float) -> list[float]:
    """Return the times, and those of the moves that could not be made meanwhile. In seconds."""
    return [*times, *(missed for time in times if time > beat for missed in _missed(time, beat))]


def _missed(time: float, beat: float) -> Iterator[float]:
    while (time := time - beat) > 0:
        yield time


@dataclass(frozen=True, slots=True)
class Spread:
    """How long moves took. In milliseconds; None where there were none."""

    count: int
    p50: float | None
    p99: float | None
    worst: float | None

    @classmethod
    def of(cls, times: Sequence[float]) -> "Spread":
        """Return how times in seconds are spread."""
        if not times:
            return NOTHING
        return cls(len(times), *(1000 * percentile(times, percent) for percent in (50, 99, 100)))


NOTHING = Spread(0, None, None, None)


@dataclass(frozen=True, slots=True)
class Window:
    """A time in which honest games were watched."""

    moves: Spread
    lost: Sequence[str]
    """Honest games that were cut off or lost by no fault of the players: what happened."""
    house: Spread
    """Moves of the house player whom an honest client plays."""
    server_share: float | None
    """What the process that plays used of a core."""
    others_share: float | None
    """What all other threads and processes of the server used of a core."""
    waited_share: float | None
    """How much of the time the process that plays had work and no core."""
    load_waited: float | None
    """The same of the process of honest games: that much of their moves' times is not the server's."""
    left_out: float = 0.0
    """The share of all moves that is not in `moves`, as the host of this machine may have held them up."""


@dataclass(frozen=True, slots=True)
class Memory:
    """Bytes that all processes of the server hold together; None where the system does not tell."""

    before: int | None
    worst: int | None
    after: int | None
    """Ten seconds after the attackers had left."""

    @property
    def growth(self) -> int | None:
        """Bytes that came on top."""
        return None if self.before is None or self.worst is None else self.worst - self.before

    @property
    def kept(self) -> int | None:
        """Bytes of these that were not given back."""
        return None if self.before is None or self.after is None else self.after - self.before

    @property
    def is_kept(self) -> bool:
        """Whether more of these was kept than may be."""
        return self.kept is not None and self.kept > MOST_KEPT * (self.before or 0)


@dataclass(frozen=True, slots=True)
class Said:
    """What the server said on stderr meanwhile."""

    tracebacks: int = 0
    errors: int = 0
    """Lines of the level ERROR and above."""
    controls: int = 0
    """Characters that a terminal does not show as they are."""
    size: int = 0

    def since(self, earlier: "Said") -> "Said":
        """Return what was said since then."""
        return Said(
            self.tracebacks - earlier.tracebacks,
            self.errors - earlier.errors,
            self.controls - earlier.controls,
            self.size - earlier.size,
        )


@dataclass(frozen=True, slots=True)
class Outcome:
    """What an attack came to."""

    name: str
    window: Window
    memory: Memory
    said: Said = Said()
    counts: dict[str, dict[str, int]] = field(default_factory=dict)
    """What the attackers did, by attack."""
    attackers_share: float = 0.0
    """What the attackers used of a core."""
    stored: int = 0
    """Bytes by which the database grew."""
    may_log: bool = False
    """Whether errors in the log are in order."""
    quiet_share: float | None = None
    """What the process that plays used of a core while nobody attacked."""

    @property
    def taken(self) -> float | None:
        """The share of the server's core that the attack took."""
        if self.window.server_share is None or self.quiet_share is None:
            return None
        return self.window.server_share - self.quiet_share

    @property
    def missed(self) -> list[str]:
        """Return what went wrong, each item in a few words."""
        return [what for what, is_missed in self._goals() if is_missed]

    def _goals(self) -> Iterator[tuple[str, bool]]:
        p50, p99 = self.window.moves.p50, self.window.moves.p99
        yield "p50", p50 is None or p50 > MOST_P50_MS
        yield "p99", p99 is None or p99 > MOST_P99_MS
        yield "too few moves counted", self.window.left_out > MOST_LEFT_OUT
        yield "games lost", bool(self.window.lost)
        yield "tracebacks", self.said.tracebacks > 0
        yield "errors logged", self.said.errors > 0 and not self.may_log
        yield "control characters logged", self.said.controls > 0
        yield "memory", self.memory.growth is not None and self.memory.growth > MOST_GROWTH
        yield "memory kept", self.memory.is_kept
        house = self.window.house.p50
        yield "house", house is None or house > MOST_HOUSE_MS
        yield "attackers idle", not all(counts.get("messages") for counts in self.counts.values())


@dataclass(frozen=True, slots=True)
class Stop:
    """A stop under attack."""

    seconds: float
    status: int

    @property
    def is_missed(self) -> bool:
        """Whether it took too long, or did not end well."""
        return self.seconds > MOST_STOP or self.status != 0


@dataclass(frozen=True, slots=True)
class Report:
    """What a run came to."""

    outcomes: Sequence[Outcome]
    quiet: Window
    """The typical figures of the quiet times."""
    quiets: Sequence[Window]
    stop: Stop
    page: int
    """Bytes of a page of 1,000 games at the end."""
    said: Said
    """What the server said from its start to its end."""
    examples: Sequence[str]
    """Lines of it that should not be there."""

    @property
    def done(self) -> Counter[str]:
        """What all attackers did: connections, messages, bytes."""
        whole: Counter[str] = Counter()
        for counts in (each for one in self.outcomes for each in one.counts.values()):
            whole.update(counts)
        return whole

    @property
    def hurt(self) -> int:
        """How many honest games were cut off or lost by no fault of the players."""
        return sum(len(window.lost) for window in (*self.quiets, *(one.window for one in self.outcomes)))

    @property
    def is_void(self) -> bool:
        """Whether moves took long even in quiet, so that the run says nothing of attacks."""
        return (self.quiet.moves.p99 or 0.0) > MOST_QUIET_P99_MS

    @property
    def missed(self) -> list[str]:
        """Return what went wrong."""
        found = [f"{one.name}: {', '.join(one.missed)}" for one in self.outcomes if one.missed]
        quiet = [each for one in self.quiets for each in one.lost]
        return [
            *found,
            *([f"quiet: {len(quiet)} games lost"] if quiet else []),
            *([f"stop: {self.stop.seconds:.1f} s, status {self.stop.status}"] if self.stop.is_missed else []),
            *([f"page: {self.page / MB:.1f} MB"] if self.page > MOST_PAGE else []),
        ]


def typical(windows: Sequence[Window]) -> Window:
    """Return what is in the middle of several windows, figure by figure."""
    return Window(
        moves=_typical([window.moves for window in windows]),
        lost=[],
        house=_typical([window.house for window in windows]),
        server_share=_middle([window.server_share for window in windows]),
        waited_share=_middle([window.waited_share for window in windows]),
        others_share=_middle([window.others_share for window in windows]),
        load_waited=_middle([window.load_waited for window in windows]),
        left_out=_middle([window.left_out for window in windows]) or 0.0,
    )


def _typical(spreads: Sequence[Spread]) -> Spread:
    return Spread(
        count=round(median(spread.count for spread in spreads)),
        p50=_middle([spread.p50 for spread in spreads]),
        p99=_middle([spread.p99 for spread in spreads]),
        worst=_middle([spread.worst for spread in spreads]),
    )


def _middle(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return median(known) if known else None

"""What came of `page-load`: how long moves took to reach viewers, and every figure beside its goal."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from conformance.lab.figures import Row, percentile
from conformance.lab.jobs import LoadError
from conformance.lab.page_load.sightings import Move
from conformance.lab.plan import Counted
from conformance.lab.timed import MOVES

TIMES, MORE_MS = 1.5, 2.0
"""So many times as long as unwatched, or so many milliseconds longer, a move may take, 99 of 100."""
CPU_TIMES = 1.05
"""So many times as much processor time as unwatched a move may take."""
SIGHT_MS = 100.0
"""Milliseconds in which a move has to reach a viewer, 99 of 100."""
GROWTH_MB = 5.0
"""Megabytes by which visitors who have gone may leave a process larger."""
KILO, MEGA = 1e3, 1e6


@dataclass(frozen=True, slots=True)
class Stretch:
    """One stretch of play. In seconds."""

    cpu: float
    """Of the thread that plays, for a move."""
    p50: float
    p99: float
    """Of moves that end no game."""


@dataclass(frozen=True, slots=True)
class Watched:
    """One that was watched."""

    play: Stretch
    delays: Sequence[float]
    """From a move's sending to its reaching a viewer: each move for each viewer."""
    missed: int
    again: int
    """Snapshots that viewers got instead of what they missed."""


@dataclass(frozen=True, slots=True)
class Visits:
    """What is left of viewers who have come and gone."""

    played: float
    """Megabytes by which the process that plays grew, after the first tenth of them."""
    web: float
    """The same of the process that serves the web."""
    is_deaf_one_served: bool
    """Whether one that stopped reading was still there."""


def stretch(counted: Counted) -> Stretch:
    """Return what is compared of a stretch. Raises LoadError where it is not known."""
    if counted.loop_cpu is None or counted.play_p50 is None or counted.play_p99 is None:
        raise LoadError("too little was played to compare, or there is no /proc to read processor time from")
    return Stretch(counted.loop_cpu / counted.moves, counted.play_p50, counted.play_p99)


def delays(
    sent: Mapping[str, Sequence[float]], seen: Iterable[tuple[Move, float]], since: float
) -> list[float]:
    """Return how long each move took that was sent since then. Raises LoadError for one that nobody sent."""
    found = []
    for (table, round_, number), when in seen:
        moves, at = sent.get(table, ()), (round_ - 1) * MOVES + number - 1
        if at >= len(moves):
            raise LoadError(f"a viewer saw move {number} of round {round_} at {table}, which nobody made")
        if moves[at] >= since:
            found.append(when - moves[at])
    return found


def rows(quiet: Sequence[Stretch], watched: Sequence[Watched]) -> list[Row]:
    """Return what is found of play and of the stream; medians of stretches are compared."""
    cpu, p99 = (median(each.cpu for each in quiet), median(each.p99 for each in quiet))
    cost, late = (median(each.play.cpu for each in watched), median(each.play.p99 for each in watched))
    every = [delay for each in watched for delay in each.delays]
    if not every:
        raise LoadError("viewers saw no move")
    most = max(TIMES * p99, p99 + MORE_MS / KILO)
    return [
        Row("cpu", "a move, unwatched", MEGA * cpu, "us", form=".1f"),
        Row("cpu", "a move, watched", MEGA * cost, "us", form=".1f"),
        Row("cpu", "watched over unwatched", cost / cpu, "", CPU_TIMES, form=".3f"),
        Row("moves", "p99 unwatched", KILO * p99, "ms"),
        Row("moves", "p99 watched", KILO * late, "ms", round(KILO * most, 2)),
        Row("viewers", "moves seen", len(every), "", form=".0f"),
        Row("viewers", "p50 until seen", KILO * percentile(every, 50), "ms", form=".1f"),
        Row("viewers", "p99 until seen", KILO * percentile(every, 99), "ms", SIGHT_MS, form=".1f"),
        Row("viewers", "moves missed", sum(each.missed for each in watched), "", 0, form=".0f"),
        Row("viewers", "snapshots again", sum(each.again for each in watched), "", form=".0f"),
    ]


def rows_of_visits(visits: Visits) -> list[Row]:
    """Return what is left of those who have gone."""
    return [
        Row("visitors", "growth of the process that plays", visits.played, "MB", GROWTH_MB, form=".1f"),
        Row("visitors", "growth of the process of the web", visits.web, "MB", GROWTH_MB, form=".1f"),
        Row("visitors", "served though they do not read", visits.is_deaf_one_served, "", 0, form=".0f"),
    ]

"""The figures as tables of at most 110 columns, and as data for JSON."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from statistics import median

from conformance.lab.bench.figures import Figures
from conformance.lab.figures import UNKNOWN, aligned, number
from conformance.lab.plan import DISTURBED, SATURATED, Speed


def tables(floors: Mapping[str, Sequence[Speed]], measured: Sequence[Figures]) -> str:
    """Return all that is told of a run, lines with their ends."""
    parts = [_costs(measured), _latencies(measured)]
    if floors:
        parts.insert(0, _floors(floors))
    notes = [*_floor_notes(floors), *_notes(measured)]
    return "\n\n".join([*parts, *(["\n".join(notes)] if notes else [])]) + "\n"


def as_data(floors: Mapping[str, Sequence[Speed]], measured: Sequence[Figures]) -> dict[str, object]:
    """Return the same for JSON."""
    return {
        "floors": {transport: [asdict(speed) for speed in speeds] for transport, speeds in floors.items()},
        "kinds": [
            {**asdict(figures), "ratio": figures.ratio, "missed": figures.is_missed} for figures in measured
        ],
    }


def _floors(floors: Mapping[str, Sequence[Speed]]) -> str:
    head = ("floor", "round trips/s", "us/round trip", "least", "most", "times", "server", "load")
    return aligned([head, *(_floor(transport, speeds) for transport, speeds in floors.items())])


def _floor(transport: str, speeds: Sequence[Speed]) -> list[str]:
    known = [speed.cpu_us for speed in speeds if speed.cpu_us is not None]
    least_busy = min(speeds, key=lambda speed: speed.server_share or 0.0)
    return [
        transport,
        f"{median(speed.moves_per_second for speed in speeds):.0f}",
        *(number(found(known) if known else None, ".2f") for found in (median, min, max)),
        str(len(speeds)),
        number(least_busy.server_share, ".0%"),
        number(least_busy.load_share, ".0%"),
    ]


def _costs(measured: Sequence[Figures]) -> str:
    head = ("at saturation", "moves/s", "games/s", "us/move", "floor", "ratio")
    return aligned([(*head, "goal", "stretch", "server", "load"), *map(_cost, measured)])


def _cost(one: Figures) -> list[str]:
    return [
        one.kind,
        f"{one.saturated.moves_per_second:.0f}",
        f"{one.saturated.games_per_second:.1f}",
        number(one.saturated.cpu_us, ".2f"),
        number(one.floor_us, ".2f"),
        number(one.ratio, ".2f"),
        _goal(one, one.goal.most if one.goal else None),
        _goal(one, one.goal.stretch if one.goal else None),
        number(one.saturated.server_share, ".0%"),
        number(one.saturated.load_share, ".0%"),
    ]


def _goal(one: Figures, limit: float | None) -> str:
    if limit is None:
        return UNKNOWN
    if one.ratio is None:
        return f"{limit:.1f} unknown"
    return f"{limit:.1f} {'met' if one.ratio <= limit else 'missed'}"


def _latencies(measured: Sequence[Figures]) -> str:
    head = ("latency and memory", "saturated p50 ms", "p99 ms", "paced moves/s", "p50 ms", "p99 ms")
    return aligned([(*head, "connections", "KB each"), *map(_latency, measured)])


def _latency(one: Figures) -> list[str]:
    return [
        one.kind,
        f"{one.saturated.p50_ms:.2f}",
        f"{one.saturated.p99_ms:.2f}",
        f"{one.paced.moves_per_second:.0f}",
        f"{one.paced.p50_ms:.2f}",
        f"{one.paced.p99_ms:.2f}",
        str(one.connections),
        number(one.kb_per_connection, ".1f"),
    ]


def _floor_notes(floors: Mapping[str, Sequence[Speed]]) -> Iterator[str]:
    for transport, speeds in floors.items():
        waited = max(speed.waited_share or 0.0 for speed in speeds)
        if waited > DISTURBED:
            yield f"{transport}: others kept the floor off its core for up to {waited:.0%} of the time"


def _notes(measured: Sequence[Figures]) -> Iterator[str]:
    for one in measured:
        speed = one.saturated
        if not speed.is_saturated:
            yield (
                f"{one.kind}: NOT SATURATED, the server had work for less than {SATURATED:.0%} of the time "
                f"(the load used {speed.load_share:.0%} of its core)"
            )
        if speed.waited_share is not None and speed.waited_share > DISTURBED:
            yield f"{one.kind}: others kept the server off its core for {speed.waited_share:.0%} of the time"

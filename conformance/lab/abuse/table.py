"""A run's figures as a table of at most 110 columns with what was missed below it, and as data for JSON."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict

from conformance.lab.abuse.figures import MB, MOST_QUIET_P99_MS, Outcome, Report, Window
from conformance.lab.figures import UNKNOWN, aligned, number
from conformance.lab.measure.bench import DISTURBED

_SHOWN = 10
_NOTABLE = 5 * MB
"""Bytes by which a database may grow without a word."""


def readable(report: Report) -> str:
    """Return all that is told of a run, lines with their ends."""
    quiet = report.quiet
    rows = [_HEAD, _row("quiet", quiet, [UNKNOWN] * 2, ["", "", str(_lost(report.quiets)), ""])]
    rows += [_attacked(one) for one in report.outcomes]
    return "\n".join([aligned(rows), "", *_notes(report)]) + "\n"


def as_data(report: Report) -> dict[str, object]:
    """Return the same for JSON."""
    outcomes = [{**asdict(one), "taken": one.taken, "missed": one.missed} for one in report.outcomes]
    return {**asdict(report), "outcomes": outcomes, "missed": report.missed, "is_void": report.is_void}


_HEAD = (
    "moves in ms",
    "p50",
    "p99",
    "worst",
    "house p50",
    "worst",
    "server",
    "took",
    "by",
    "MB more",
    "kept",
    "lost",
    "log",
    "",
)


def _attacked(one: Outcome) -> list[str]:
    about = [_share(one.taken), _share(one.attackers_share)]
    bad = one.said.tracebacks + one.said.errors + one.said.controls
    end = [_mb(one.memory.growth), _mb(one.memory.kept), str(len(one.window.lost)), str(bad)]
    row = _row(one.name, one.window, about, end)
    return [*row[:-1], "missed" if one.missed else "met"]


def _row(name: str, window: Window, about: Sequence[str], end: Sequence[str]) -> list[str]:
    moves, house = window.moves, window.house
    times = [_ms(moves.p50), _ms(moves.p99), _ms(moves.worst), _ms(house.p50), _ms(house.worst)]
    return [name, *times, _share(window.server_share), *about, *end, ""]


def _notes(report: Report) -> Iterator[str]:
    stop, did = report.stop, report.done
    yield (
        f"{len(report.outcomes)} attacks, {did['connections']} connections, {did['messages']} inputs, "
        f"{did['bytes'] / MB:.0f} MB; honest games hurt: {report.hurt}."
    )
    yield f"A stop under attack took {stop.seconds:.1f} s and ended with status {stop.status}."
    grown = ", ".join(
        f"{one.stored / MB:.0f} MB beside {one.name}" for one in report.outcomes if one.stored > _NOTABLE
    )
    if grown:
        yield f"The database grew by {grown}."
    yield f"A page of 1,000 games had {report.page / MB:.1f} MB."
    said = report.said
    yield (
        f"Logged: {said.tracebacks} tracebacks, {said.errors} errors, {said.controls} control characters, "
        f"{said.size / MB:.1f} MB."
    )
    waited = max((window.waited_share or 0.0 for window in report.quiets), default=0.0)
    if waited > DISTURBED:
        yield f"In quiet, others kept the server off its core for up to {waited:.0%} of the time."
    most = max(report.outcomes, key=lambda one: one.window.left_out)
    if most.window.left_out:
        yield (
            "Not counted, as the host of this machine held moves up: "
            f"{report.quiet.left_out:.1%} in quiet, {most.window.left_out:.1%} at most, beside {most.name}."
        )
    for one in report.outcomes:
        server, load = one.window.waited_share or 0.0, one.window.load_waited or 0.0
        if "p99" in one.missed and max(server, load) > 2 * DISTURBED:
            yield (
                f"Beside {one.name} the server waited {server:.0%} and honest games {load:.0%} of the time"
                " for a core: what else ran here?"
            )
        for what in one.window.lost[:_SHOWN]:
            yield f"lost beside {one.name}: {what}"
    for line in report.examples[:_SHOWN]:
        yield f"logged: {line}"
    if report.is_void:
        took = _ms(report.quiet.moves.p99)
        yield f"VOID: 99 of 100 moves in quiet took up to {took} ms, over {MOST_QUIET_P99_MS:g}:"
        yield "this machine is too slow, or too busy, to tell what attacks cost."
    for what in report.missed:
        yield f"MISSED {what}"


def _lost(windows: Sequence[Window]) -> int:
    return sum(len(window.lost) for window in windows)


def _ms(value: float | None) -> str:
    if value is None:
        return UNKNOWN
    return f"{value:.1f}" if value < 1000 else f"{value:.0f}"


def _share(value: float | None) -> str:
    return number(value, ".0%")


def _mb(value: int | None) -> str:
    return number(None if value is None else value / MB, ".0f")

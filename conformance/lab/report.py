"""What every command prints: figures beside their goals, in a table, in Markdown and in JSON."""

import math
import os
import platform
import subprocess
import sys
from argparse import Namespace
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from statistics import median

from conformance.arguments import UsageError, write, write_json
from conformance.dialects.script import OutOfStep
from conformance.lab.meters import NoSuchProcess
from conformance.lab.workers import LoadError, first_cause
from conformance.launch import ServerError

UNKNOWN = "-"
MB = 2**20
_SHOWN = 20


@dataclass(frozen=True, slots=True)
class Row:
    """One figure."""

    part: str
    what: str
    found: float | None
    """None where it is not known."""
    unit: str = ""
    most: float | None = None
    """What it is not to exceed; None for a figure that is there to be read."""
    form: str = ".2f"
    beside: float | None = None
    """The same figure of the server that this one is compared with."""

    @property
    def is_missed(self) -> bool:
        """Whether there is a goal that was not shown to be met."""
        return self.most is not None and (self.found is None or self.found > self.most)

    @property
    def verdict(self) -> str:
        """One word on the goal."""
        if self.most is None:
            return ""
        if self.found is None:
            return "unknown"
        return "missed" if self.is_missed else "met"


def counted(part: str, what: str, number: int | None, most: int | None = None) -> Row:
    """Return a row for a number of things."""
    return Row(part, what, number, most=most, form=".0f")


def percentile(values: Sequence[float], percent: int) -> float:
    """Return the least of `values`, which are not empty, that `percent` (1 to 100) in 100 do not exceed."""
    return sorted(values)[math.ceil(len(values) * percent / 100) - 1]


def middle(values: Iterable[float | None]) -> float | None:
    """Return the median of those values that are known; None where none is."""
    known = [value for value in values if value is not None]
    return median(known) if known else None


def ratio(value: float | None, other: float | None) -> float | None:
    """Return a quotient; None where it is not known."""
    return None if value is None or not other else value / other


def times(factor: float, value: float | None) -> float | None:
    """Return a product; None where it is not known."""
    return None if value is None else factor * value


def difference(value: float | None, other: float | None) -> float | None:
    """Return a difference; None where it is not known."""
    return None if value is None or other is None else value - other


def medians(runs: Sequence[Sequence[Row]], beside: Sequence[Sequence[Row]] = ()) -> list[Row]:
    """Return the rows of several runs as one, each figure the median of all; with those of another server."""
    others = {key: middle(row.found for row in same) for key, same in _by_figure(beside).items()}
    return [
        replace(same[0], found=middle(row.found for row in same), beside=others.get(key))
        for key, same in _by_figure(runs).items()
    ]


def _by_figure(runs: Sequence[Sequence[Row]]) -> dict[tuple[str, str], list[Row]]:
    found: dict[tuple[str, str], list[Row]] = {}
    for row in (row for run in runs for row in run):
        found.setdefault((row.part, row.what), []).append(row)
    return found


def finish(
    command: str,
    rows: Sequence[Row],
    options: Namespace,
    notes: Sequence[str] = (),
    *,
    wide: Sequence[Row] = (),
) -> int:
    """Print what a command found, write the files that were asked for; return the exit status.

    That is 1 if a goal is missed. `wide` are rows that stand in a table of their own, a line for each part.
    """
    tables = [table(some, wide=some is wide) for some in (wide, rows) if some]
    missed = [f"MISSED {row.part}: {row.what}" for row in wide if row.is_missed]
    lines = [*notes, *missed]
    print("\n".join(["\n\n".join(map(aligned, tables)), *lines]), flush=True)
    words = {name: _shown(value) for name, value in vars(options).items() if name not in ("json", "markdown")}
    where, everything = _where(), [*wide, *rows]
    write_json(
        options.json,
        {"command": command, **where, "options": words, "rows": as_data(everything), "notes": [*notes]},
    )
    title = f"`python -m conformance {command}`, {', '.join(where.values())}:"
    write(options.markdown, "\n\n".join([title, *map(markdown, tables), *lines]) + "\n")
    return 1 if any(row.is_missed for row in everything) else 0


def _shown(option: object) -> object:
    """Return an option as a report has it. Of a URL nothing is said: there may be a password in it."""
    match option:
        case str() if "://" in option:
            return "URL"
        case list():
            return [_shown(each) for each in option]
    return option


def as_data(rows: Sequence[Row]) -> list[dict[str, object]]:
    """Return the rows for JSON."""
    return [{**asdict(row), "missed": row.is_missed} for row in rows]


def some(what: str, lines: Sequence[object]) -> list[str]:
    """Return the first of some lines, with a word in front of each, and how many more there are."""
    more = [f"{what}: {len(lines) - _SHOWN} more"] if len(lines) > _SHOWN else []
    return [f"{what}: {each}" for each in lines[:_SHOWN]] + more


def table(rows: Sequence[Row], *, wide: bool = False) -> list[list[str]]:
    """Return the cells of a table, its head first."""
    if wide:
        return _wide(rows)
    is_compared = any(row.beside is not None for row in rows)
    head = ["", "found", *(["beside", "ratio"] if is_compared else []), "goal", ""]
    lines = [head]
    for row in rows:
        both = [_figure(row.beside, row), _number(ratio(row.found, row.beside), ".2f")] if is_compared else []
        goal = "" if row.most is None else f"{row.most:g} {row.unit}".rstrip()
        lines.append([f"{row.part}: {row.what}", _figure(row.found, row), *both, goal, row.verdict])
    return lines


def _wide(rows: Sequence[Row]) -> list[list[str]]:
    """Return a line for each part and a column for each figure; units stand in the head."""
    columns = {row.what: f"{row.what} {row.unit}".rstrip() for row in rows}
    lines = [["", *columns.values(), ""]]
    for part in dict.fromkeys(row.part for row in rows):
        own = {row.what: row for row in rows if row.part == part}
        words = [_number(own[what].found, own[what].form) if what in own else "" for what in columns]
        goals = [row.is_missed for row in own.values() if row.most is not None]
        lines.append([part, *words, "missed" if any(goals) else "met" if goals else ""])
    return lines


def _figure(value: float | None, row: Row) -> str:
    return UNKNOWN if value is None else f"{value:{row.form}} {row.unit}".rstrip()


def _number(value: float | None, form: str) -> str:
    return UNKNOWN if value is None else format(value, form)


def aligned(cells: Sequence[Sequence[str]]) -> str:
    """Return cells as lines, the first column to the left and all others to the right."""
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = []
    for first, *others in cells:
        words = [first.ljust(widths[0])]
        words += [word.rjust(width) for word, width in zip(others, widths[1:], strict=True)]
        lines.append("  ".join(words).rstrip())
    return "\n".join(lines)


def markdown(cells: Sequence[Sequence[str]]) -> str:
    """Return cells as a table in Markdown, the first line as its head."""
    head, *lines = [f"| {' | '.join(word.replace('|', '&#124;') for word in line)} |" for line in cells]
    return "\n".join([head, "|" + "---|" * len(cells[0]), *lines])


def _where() -> dict[str, str]:
    """Return when, on what machine and at which commit the figures were found."""
    model = platform.machine()
    info = Path("/proc/cpuinfo")
    for line in info.read_text(errors="replace").splitlines() if info.is_file() else ():
        if line.startswith("model name"):
            model = line.partition(":")[2].strip()
    words = ["git", "-C", str(Path(__file__).parent), "describe", "--always", "--dirty"]
    try:
        commit = subprocess.run(words, capture_output=True, text=True, check=False).stdout.strip()
    except OSError:
        commit = ""
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "machine": f"{os.cpu_count()} cores of {model}, {platform.system()} {platform.release()}",
        "commit": f"commit {commit or 'unknown'}",
    }


def guarded(run: Callable[[Sequence[str]], int], argv: Sequence[str]) -> int:
    """Run a command line; return its exit status: 1 where something went wrong, 2 after a UsageError."""
    try:
        return run(argv)
    except Exception as error:  # a nursery may have wrapped it
        match cause := first_cause(error):
            case UsageError():
                print(f"conformance: {cause} (--help tells more)", file=sys.stderr)
                return 2
            case LoadError() | ServerError() | OutOfStep() | NoSuchProcess():
                print(f"conformance: {cause}", file=sys.stderr)
                return 1
        raise

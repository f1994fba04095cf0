"""The report of every command: figures and their goals, in Markdown and JSON. Also its exit status.

An unknown figure is NaN. A figure that is computed from it is NaN, too, and misses its goal.
"""

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
from shutil import rmtree
from statistics import median
from tempfile import mkdtemp

from conformance.arguments import UsageError, write, write_json
from conformance.dialects.script import OutOfStep
from conformance.lab.meters import NoSuchProcess
from conformance.lab.workers import LoadError, first_cause
from conformance.launch import ServerError

MB = 2**20
UNKNOWN = math.nan
_SHOWN = 20


@dataclass(frozen=True, slots=True)
class Row:
    """One figure of a report."""

    part: str
    what: str
    found: float
    unit: str = ""
    most: float | None = None
    """The goal: the highest value that `found` may have. None for a figure without a goal."""
    form: str = ".2f"
    beside: float | None = None
    """The same figure of the other server, if two are compared."""

    @property
    def is_missed(self) -> bool:
        """Whether there is a goal, and the figure exceeds it or is unknown."""
        return self.most is not None and not self.found <= self.most

    @property
    def verdict(self) -> str:
        """`met`, `missed`, or an empty string without a goal."""
        return "" if self.most is None else "missed" if self.is_missed else "met"


def counted(part: str, what: str, number: float, most: int | None = None) -> Row:
    """Return a row whose figure is a count."""
    return Row(part, what, number, most=most, form=".0f")


def percentile(values: Sequence[float], percent: int) -> float:
    """Return a percentile (1 to 100): the least value that `percent` in 100 values do not exceed."""
    return sorted(values)[math.ceil(len(values) * percent / 100) - 1] if values else UNKNOWN


def ms(seconds: Sequence[float], percent: int) -> float:
    """Return a percentile of times in milliseconds."""
    return 1e3 * percentile(seconds, percent)


def middle(values: Iterable[float]) -> float:
    """Return the median of the known values; unknown if there are none."""
    known = [value for value in values if not math.isnan(value)]
    return median(known) if known else UNKNOWN


def ratio(value: float, other: float) -> float:
    """Return a quotient; unknown if the divisor is 0."""
    return value / other if other else UNKNOWN


def medians(runs: Sequence[Sequence[Row]], beside: Sequence[Sequence[Row]] = ()) -> list[Row]:
    """Combine the rows of several runs: each figure is the median. `beside`: runs of another server."""
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


def some(what: str, lines: Sequence[object]) -> list[str]:
    """Return the first of the lines and the number of the others, each with the prefix `what`."""
    more = [f"{what}: {len(lines) - _SHOWN} more"] if len(lines) > _SHOWN else []
    return [f"{what}: {each}" for each in lines[:_SHOWN]] + more


def in_folder(prefix: str, run: Callable[[Path], tuple[list[Row], list[str]]]) -> tuple[list[Row], list[str]]:
    """Call `run` with a new folder; return its rows and notes.

    If a goal is missed, the folder is kept, and a note names it. Otherwise the folder is removed, even if
    `run` raises an error.
    """
    folder, is_missed = Path(mkdtemp(prefix=prefix)), False
    try:
        rows, notes = run(folder)
        is_missed = any(row.is_missed for row in rows)
        return rows, [*notes, f"files: {folder}"] if is_missed else notes
    finally:
        if not is_missed:
            rmtree(folder)


def finish(
    command: str,
    rows: Sequence[Row],
    options: Namespace,
    notes: Sequence[str] = (),
    *,
    wide: Sequence[Row] = (),
) -> int:
    """Print the report of a command, and write its files; return 1 if a goal is missed, otherwise 0.

    `wide`: rows for a table with a line for each part and a column for each figure.
    """
    tables = [
        _aligned(cells) for cells in (_wide(wide) if wide else [], _long(rows) if rows else []) if cells
    ]
    lines = [*notes, *(f"MISSED {row.part}: {row.what}" for row in wide if row.is_missed)]
    print("\n\n".join(tables), *lines, sep="\n", flush=True)
    where, everything = _where(), [*wide, *rows]
    title = f"`python -m conformance {command}`, {', '.join(where.values())}:"
    write(options.markdown, "\n\n".join([title, *tables, *lines]) + "\n")
    words = {name: _shown(value) for name, value in vars(options).items() if name not in ("json", "markdown")}
    data = [
        {
            **asdict(row),
            "found": None if math.isnan(row.found) else row.found,
            "missed": row.is_missed,
        }
        for row in everything
    ]
    write_json(options.json, {"command": command, **where, "options": words, "rows": data, "notes": [*notes]})
    return 1 if any(row.is_missed for row in everything) else 0


def _shown(option: object) -> object:
    """Return an option for the report. A URL is left out, because it may contain a password."""
    match option:
        case str() if "://" in option:
            return "URL"
        case list():
            return [_shown(each) for each in option]
    return option


def _long(rows: Sequence[Row]) -> list[list[str]]:
    """Return the cells of a table with a line for each row, beginning with the head."""
    is_compared = any(row.beside is not None for row in rows)
    lines = [["", "found", *(["beside", "ratio"] if is_compared else []), "goal", ""]]
    for row in rows:
        beside = UNKNOWN if row.beside is None else row.beside
        both = [_figure(row, beside), _number(ratio(row.found, beside), ".2f")] if is_compared else []
        goal = "" if row.most is None else f"{row.most:g} {row.unit}".rstrip()
        lines.append([f"{row.part}: {row.what}", _figure(row, row.found), *both, goal, row.verdict])
    return lines


def _wide(rows: Sequence[Row]) -> list[list[str]]:
    """Return the cells of a table with a line for each part. The head contains the units."""
    columns = {row.what: f"{row.what} {row.unit}".rstrip() for row in rows}
    lines = [["", *columns.values(), ""]]
    for part in dict.fromkeys(row.part for row in rows):
        own = {row.what: row for row in rows if row.part == part}
        words = [_number(own[what].found, own[what].form) if what in own else "" for what in columns]
        verdicts = {row.verdict for row in own.values()}
        lines.append([part, *words, "missed" if "missed" in verdicts else "met" if "met" in verdicts else ""])
    return lines


def _figure(row: Row, value: float) -> str:
    return f"{_number(value, row.form)} {row.unit}".rstrip()


def _number(value: float, form: str) -> str:
    return "-" if math.isnan(value) else format(value, form)


def _aligned(cells: Sequence[Sequence[str]]) -> str:
    """Return a table in Markdown: the first column left-aligned, all others right-aligned."""
    cells = [[word.replace("|", "&#124;") for word in line] for line in cells]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    head, *lines = [
        f"| {' | '.join([line[0].ljust(widths[0]), *map(str.rjust, line[1:], widths[1:])])} |"
        for line in cells
    ]
    return "\n".join([head, "|" + "---|" * len(widths), *lines])


def _where() -> dict[str, str]:
    """Return the date, the machine and the commit of a measurement."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text(errors="replace").splitlines() if info.is_file() else []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    model = models[0] if models else platform.machine()
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
    """Run a command; return its exit status, or 1 after an error, or 2 after a UsageError."""
    try:
        return run(argv)
    except Exception as error:  # a nursery may have wrapped the error
        match cause := first_cause(error):
            case UsageError():
                print(f"conformance: {cause} (--help tells more)", file=sys.stderr)
                return 2
            case LoadError() | ServerError() | OutOfStep() | NoSuchProcess():
                print(f"conformance: {cause}", file=sys.stderr)
                return 1
        raise

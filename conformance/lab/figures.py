"""What commands share to tell what they measured: percentiles, and tables of figures beside their goals."""

import math
from argparse import Namespace
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from conformance.arguments import write_json

UNKNOWN = "-"


def percentile(values: Sequence[float], percent: int) -> float:
    """Return the least of `values`, which are not empty, that `percent` (1 to 100) in 100 do not exceed."""
    return sorted(values)[math.ceil(len(values) * percent / 100) - 1]


def aligned(rows: Sequence[Sequence[str]]) -> str:
    """Return rows of equally many words, the first column to the left and all others to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(
            word.rjust(width) if at else word.ljust(width)
            for at, (word, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    )


def number(value: float | None, form: str) -> str:
    """Return a figure in this form, or a dash."""
    return UNKNOWN if value is None else format(value, form)


@dataclass(frozen=True, slots=True)
class Row:
    """One figure."""

    part: str
    what: str
    found: float | None
    """None where it is not known."""
    unit: str
    most: float | None = None
    """What it is not to exceed; None for a figure that is there to be read."""
    form: str = ".2f"

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


def finished(rows: Sequence[Row], options: Namespace) -> int:
    """Print the table, write the report for machines, and return the exit status, 1 if a goal is missed."""
    print(table(rows), end="")
    words = {name: value for name, value in vars(options).items() if name != "json"}
    write_json(options.json, {"options": words, "rows": as_data(rows)})
    return 1 if any(row.is_missed for row in rows) else 0


def table(rows: Sequence[Row]) -> str:
    """Return the rows as lines with their ends."""
    head = ("", "found", "goal", "")
    return aligned([head, *map(_words, rows)]) + "\n"


def as_data(rows: Sequence[Row]) -> list[dict[str, object]]:
    """Return the rows for JSON."""
    return [{**asdict(row), "missed": row.is_missed} for row in rows]


def _words(row: Row) -> tuple[str, str, str, str]:
    found = "-" if row.found is None else f"{row.found:{row.form}} {row.unit}".rstrip()
    goal = "" if row.most is None else f"{row.most:g} {row.unit}".rstrip()
    return f"{row.part}: {row.what}", found, goal, row.verdict

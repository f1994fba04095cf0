"""The export format CSV, for spreadsheets and data frames. It cannot be imported again.

The first line has the column names. Points in time are ISO 8601 in UTC with milliseconds; durations are
milliseconds; truth values are 1 and 0. ``winner`` is 1 or 2, or 0 for neither. No cell is empty. A text that
a program could read as a number, a date or a formula begins with an apostrophe, which the reader must remove.
"""

import csv
import re
from collections.abc import Iterable, Iterator

from gateway.game.ids import GameId
from gateway.game.text import printable
from gateway.store.records import WORDS, GameRecord, moment

COLUMNS = (
    "id", "began", "ended",
    "first", "first_kind", "first_house", "second", "second_kind", "second_house",
    "moves", "winner", "reason", "first_thought", "second_thought", "table", "series", "round", "counted",
)  # fmt: skip

_NO_TEXT = frozenset(("false", "inf", "infinity", "n/a", "na", "nan", "none", "null", "true"))
"""Words, in any case, that pandas or a spreadsheet reads as a number, a truth value or a missing value."""
_DATE = re.compile(
    r"(jan(uary)?|feb(ruary)?|mar(ch)?|apr(il)?|may|june?|july?|aug(ust)?|sept?(ember)?|oct(ober)?"
    r"|nov(ember)?|dec(ember)?)\W*\d",
    re.IGNORECASE,
)
"""Matches text that a spreadsheet reads as a date, such as ``MAR1``."""
_CALCULABLE = re.compile("[0-9]+e?-[0-9]+")
"""Matches ids that a spreadsheet reads as a date or a number with an exponent."""


class _Echo:
    """A file for the csv writer. Its `write` returns the line, and so the writer's `writerow` returns it."""

    def write(self, text: str) -> str:
        return text


def write(games: Iterable[GameRecord]) -> Iterator[str]:
    """Yield the column names, and a line for each game."""
    return lines(_rows(games))


def lines(rows: Iterable[Iterable[object]]) -> Iterator[str]:
    """Yield a line for each row of cells."""
    return map(csv.writer(_Echo()).writerow, rows)


def text(made_up: str) -> str:
    """Return a cell for a text that a client chose. Every program reads the cell as text.

    The cell begins with an apostrophe, except if the text begins with a letter or ``_`` and is neither a
    special word nor a date. So a cell is never a formula (OWASP, CSV injection). Invisible characters are
    escaped. Semicolons are escaped, too, because some spreadsheets take them for separators.
    """
    begins_as_text = made_up[:1].isalpha() or made_up[:1] == "_"
    is_text = begins_as_text and made_up.casefold() not in _NO_TEXT and not _DATE.match(made_up)
    return ("" if is_text else "'") + printable(made_up).replace(";", r"\x3b")


def _rows(games: Iterable[GameRecord]) -> Iterator[tuple[object, ...]]:
    yield COLUMNS
    for record in games:
        first, second = record.players
        yield (
            _id(record.game), moment(record.began), moment(record.ended),
            text(first.name), text(first.kind), int(first.house),
            text(second.name), text(second.kind), int(second.house),
            f"'{record.moves}" if record.moves else "none",  # as a number it would lose zeros or digits
            record.result, WORDS[record.reason], *record.thought,
            "lobby" if record.table is None else text(record.table), record.series, record.round,
            int(record.counted),
        )  # fmt: skip


def _id(game: GameId) -> str:
    return f"'{game}" if _CALCULABLE.fullmatch(game) else game

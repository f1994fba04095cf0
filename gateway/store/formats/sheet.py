"""CSV with a line of column names, for spreadsheets and data frames. It goes one way: nothing reads it back.

Points in time are ISO 8601, UTC, with milliseconds; durations are milliseconds. Truth is 1 or 0, and so is
``winner`` 1 or 2 for who won, 0 for nobody. The rule it keeps: no cell is empty, and what is text stays text,
in any program, whatever the names of players are.

- The columns of a game, 0 to 6, have an apostrophe in front: else they would be a number, and lose zeros or
  digits. ``none`` is a game without moves. The table ``lobby`` is the lobby: no other has that name.
- Names and tables have an apostrophe in front unless they begin with a letter (or ``_``) and are no word that
  stands for a number, a truth or nothing, and no English date: so they are no formulas either (OWASP, CSV
  injection). To get the name itself, remove one apostrophe.
- In them a character that nobody sees is an escape, see `gateway.game.text.printable`; a semicolon is one as
  well, for where spreadsheets take it to separate cells.
- An id of digits, or with nothing but an ``e`` beside them, has an apostrophe in front too; the number of an
  older game has none.
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
"""What pandas or a spreadsheet reads as something else, in any case."""
_DATE = re.compile(
    r"(jan(uary)?|feb(ruary)?|mar(ch)?|apr(il)?|may|june?|july?|aug(ust)?|sept?(ember)?|oct(ober)?"
    r"|nov(ember)?|dec(ember)?)\W*\d",
    re.IGNORECASE,
)
"""What begins as ``MAR1`` does."""
_CALCULABLE = re.compile("[0-9]+e?-[0-9]+")
"""Ids that look like a date, or like 1234 to the power of something."""


class _Echo:
    """What the csv module writes a line to: it returns the line, and then so does the writer."""

    def write(self, text: str) -> str:
        return text


def write(games: Iterable[GameRecord]) -> Iterator[str]:
    """Yield the column names, and a line for each game."""
    return lines(_rows(games))


def lines(rows: Iterable[Iterable[object]]) -> Iterator[str]:
    """Return a line for each row of cells."""
    return map(csv.writer(_Echo()).writerow, rows)


def text(made_up: str) -> str:
    """Return the cell for a text that a client made up: one that is read as text."""
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
            f"'{record.moves}" if record.moves else "none",
            record.result, WORDS[record.reason], *record.thought,
            "lobby" if record.table is None else text(record.table), record.series, record.round,
            int(record.counted),
        )  # fmt: skip


def _id(game: GameId) -> str:
    return f"'{game}" if _CALCULABLE.fullmatch(game) else game

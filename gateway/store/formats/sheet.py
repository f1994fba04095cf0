"""CSV with a line of column names, as spreadsheets and data frames read it.

Points in time are ISO 8601, UTC, with milliseconds; durations are milliseconds. Truth is 1 or 0, and so is
``winner`` 1 or 2 for who won, 0 for nobody. An empty ``table`` is the lobby.
"""

import csv
from collections.abc import Iterable, Iterator

from gateway.store.formats.moments import from_moment, moment
from gateway.store.records import REASONS, WORDS, GameRecord, Participant, StoredGame, winner_of

COLUMNS = (
    "id", "began", "ended",
    "first", "first_kind", "first_house", "second", "second_kind", "second_house",
    "moves", "winner", "reason", "first_thought", "second_thought", "table", "series", "round", "counted",
)  # fmt: skip


class _Line:
    """What the csv module writes a line to."""

    def __init__(self) -> None:
        self.text = ""

    def write(self, text: str) -> None:
        self.text = text


def write(games: Iterable[StoredGame]) -> Iterator[str]:
    """Yield the column names, and a line for each game."""
    line = _Line()
    writer = csv.writer(line)
    for row in _rows(games):
        writer.writerow(row)
        yield line.text


def read(lines: Iterable[str]) -> Iterator[StoredGame]:
    """Yield the games. Raises ValueError. Names may hold line breaks: these must be as they were."""
    try:
        rows = csv.reader(lines, strict=True)
        if next(rows, None) != [*COLUMNS]:
            raise ValueError(f"the first line is not {','.join(COLUMNS)}")
        for row in rows:
            yield _game(dict(zip(COLUMNS, row, strict=True)))
    except (csv.Error, KeyError) as error:
        raise ValueError(f"no game: {error}") from error


def _rows(games: Iterable[StoredGame]) -> Iterator[tuple[object, ...]]:
    yield COLUMNS
    for game in games:
        record = game.record
        first, second = record.players
        yield (
            game.id, moment(record.began), moment(record.ended),
            first.name, first.kind, int(first.house), second.name, second.kind, int(second.house),
            record.moves, record.result, WORDS[record.reason], *record.thought,
            record.table, record.series, record.round, int(record.counted),
        )  # fmt: skip


def _game(row: dict[str, str]) -> StoredGame:
    first = Participant(row["first"], row["first_kind"], _truth(row["first_house"]))
    second = Participant(row["second"], row["second_kind"], _truth(row["second_house"]))
    record = GameRecord(
        began=from_moment(row["began"]),
        ended=from_moment(row["ended"]),
        players=(first, second),
        moves=row["moves"],
        winner=winner_of(int(row["winner"])),
        reason=REASONS[row["reason"]],
        thought=(int(row["first_thought"]), int(row["second_thought"])),
        table=row["table"] or None,
        series=int(row["series"]),
        round=int(row["round"]),
        counted=_truth(row["counted"]),
    )
    return StoredGame(int(row["id"]), record)


def _truth(text: str) -> bool:
    return {"0": False, "1": True}[text]

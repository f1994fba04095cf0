"""The messages of both sides in a game, as the rows of one table.

Pure. Knows a stored game and its evidence. The module `gateway.store.evidence` finds the texts that made
moves, and their times. Does not know what a dialect's messages mean. An unknown value is None, never a guess.
"""

import math
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, takewhile

from gateway.game.board import Side, other
from gateway.game.events import Reason, Way
from gateway.game.text import printable
from gateway.store.evidence import NUMBER, Exchange, Line, Moves, Turn, clock_left, elapsed, find_moves
from gateway.store.records import GameRecord

PAUSE = 2000
"""Milliseconds without a text from which the table shows how long the pause was."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A text from or to one side, or a note of the server."""

    at: int
    """Milliseconds since the game began."""
    way: Way
    text: str
    """Printable: every character is visible."""
    remark: str = ""
    """An addition, such as the time that is left."""
    refused: str = ""
    """Why the server refused the text; empty if it did not."""
    move: int = 0
    """The number of the move that the text made; 0 for none.

    If no texts of the player are stored, the text that reported the move to the opponent has the number.
    """
    is_end: bool = False
    silence: int = 0
    """The milliseconds in which no move came, so that the player lost; 0 for a text or another note."""


@dataclass(frozen=True, slots=True)
class Row:
    """The texts and notes of one millisecond, at most one for each side."""

    at: int
    first: Cell | None
    second: Cell | None
    after: int
    """The number of moves made so far, including this row."""
    pause: int = 0
    """Milliseconds without a text before this row, if more than `PAUSE`, except those that lost the game."""

    @property
    def cells(self) -> tuple[Cell, ...]:
        """The cells that are not empty."""
        return tuple(cell for cell in (self.first, self.second) if cell is not None)

    @property
    def move(self) -> int:
        """The number of the move that was made in this row; 0 for none."""
        return max(cell.move for cell in self.cells)

    @property
    def refused(self) -> str:
        """A short reason why the server refused a text in this row; empty if it refused none."""
        return next((cell.refused.partition(":")[0] for cell in self.cells if cell.refused), "")

    @property
    def is_end(self) -> bool:
        """Whether this row records the end of the game for a side."""
        return any(cell.is_end for cell in self.cells)


@dataclass(frozen=True, slots=True)
class Attempt:
    """The move that lost the game: an illegal one, or one that did not come in time."""

    used: int | None
    """Milliseconds from the previous move to the attempt; None if unknown."""
    text: str = ""
    """The text; empty if none came in time."""
    why: str = ""
    column: str = ""
    """The number in the text; empty if there is none."""


@dataclass(frozen=True, slots=True)
class Timeline:
    """The table of a game."""

    rows: tuple[Row, ...]
    turns: tuple[Turn, ...]
    """One turn for each move."""
    attempt: Attempt | None = None
    notes: tuple[str, str] = ("", "")
    """Other notes of the server about each side, for example that it hung up."""


def timeline(record: GameRecord, both: tuple[Exchange | None, Exchange | None]) -> Timeline:
    """Return the table of a game."""
    moves = find_moves(record.moves, record.thought, both)
    cells = [_cells(moves, side, lines or ()) for side, lines in enumerate(both)]
    turns = tuple(moves.turn(number) for number in range(1, len(record.moves) + 1))
    notes = (_notes(both[0]), _notes(both[1]))
    attempt = _attempt(record, both, moves)
    rows = [*_rows(*cells)]
    last = len(rows)
    if rows and record.reason is Reason.TIME and record.winner is not None and attempt and attempt.used:
        # The request for the move may have been sent a moment after the opponent's move.
        until = moves.times[len(record.moves)] + min(1000, attempt.used // 2)
        last = sum(row.at <= until for row in rows)
        at = rows[last - 1].at if last else 0
        rows.insert(last, _silence(at, other(record.winner), record, attempt.used, both))
    for number, (before, row) in enumerate(pairwise(rows[:last]), 1):
        if row.at - before.at > PAUSE:
            rows[number] = replace(row, pause=row.at - before.at)
    return Timeline(tuple(rows), turns, attempt, notes)


def _silence(at: int, side: Side, record: GameRecord, used: int, both: Sequence[Exchange | None]) -> Row:
    """Return the row of a player that made no move in time."""
    is_clocked = any(clock_left(line) is not None for line in both[side] or ())
    remark = "its clock ran out at 0.0" if is_clocked else ""
    cell = Cell(at, "note", "", remark, refused="time", silence=used)
    return Row(at, None if side else cell, cell if side else None, len(record.moves))


def _attempt(record: GameRecord, both: Sequence[Exchange | None], moves: Moves) -> Attempt | None:
    before = moves.times.get(len(record.moves))
    if record.reason is Reason.TIME:
        return Attempt(elapsed(before, record.ended - record.began))
    lines = both[1 - record.winner] if record.winner is not None else None
    if record.reason is not Reason.ILLEGAL or lines is None:
        return None
    line = next((line for line in reversed(lines) if line.verdict.startswith("refused")), None)
    if line is None:
        return None
    digits = NUMBER.findall(line.text)
    column = digits[-1][:3] if digits else ""
    return Attempt(elapsed(before, line.at), _shown(line), line.verdict.partition(": ")[2], column)


def _notes(lines: Exchange | None) -> str:
    return ", ".join(printable(line.verdict) for line in (lines or ())[:-1] if line.direction == "note")


def _cells(moves: Moves, side: int, lines: Exchange) -> deque[Cell]:
    return deque(
        _cell(line, moves.marks.get((side, index), 0), is_last=index + 1 == len(lines))
        for index, line in enumerate(lines)
    )


def _cell(line: Line, move: int, *, is_last: bool) -> Cell:
    if line.direction == "note":
        words = printable(line.verdict)
        return Cell(line.at, "note", f"{words[:1].upper()}{words[1:]}", is_end=is_last)
    if line.direction == "in":
        return Cell(line.at, "in", _shown(line), refused=printable(line.verdict), move=move)
    left = clock_left(line)
    remark = printable(line.verdict) if left is None else f"{left / 1000:.1f} s left"
    return Cell(line.at, "out", _shown(line), remark=remark, move=move)


def _shown(line: Line) -> str:
    return printable(line.text.rstrip("\r\n"))


def _rows(first: deque[Cell], second: deque[Cell]) -> Iterable[Row]:
    after = 0
    while first or second:
        at = min(queue[0].at for queue in (first, second) if queue)
        takes = _taken(first, second, at)
        one, other = (
            queue.popleft() if take else None for queue, take in zip((first, second), takes, strict=True)
        )
        after = max(after, one.move if one else 0, other.move if other else 0)
        yield Row(at, one, other, after)


def _taken(first: deque[Cell], second: deque[Cell], at: int) -> tuple[bool, bool]:
    """Return, for each side, whether its first cell belongs to the next row. That row is at `at`
    milliseconds.

    A text is in a row above the texts that it caused, or in the same row.
    """
    here = [bool(queue) and queue[0].at == at for queue in (first, second)]
    if not all(here):
        return here[0], here[1]
    one, other = first[0], second[0]
    if one.way == other.way == "in":
        return (True, False) if _turn(first) <= _turn(second) else (False, True)
    if one.way == other.way == "out":
        says, replies = _says(first, at), _says(second, at)
        return says <= replies, replies <= says
    alone = [cell.way == "note" or bool(cell.refused) for cell in (one, other)]
    if alone[0] == alone[1]:
        return True, True
    # A refused text and a note have rows of their own. A note comes after texts of the same millisecond.
    if "note" in (one.way, other.way):
        return alone[1], alone[0]
    return alone[0], alone[1]


def _turn(queue: deque[Cell]) -> float:
    """Return the number of the move that a side's next text made.

    If it made none, it is before the moves of its millisecond, unless it was the side's last attempt to move.
    """
    cell = queue[0]
    is_last = not any(each.move and each.way == "in" for each in queue)
    return math.inf if is_last and cell.refused and "not your turn" not in cell.refused else cell.move


def _says(queue: deque[Cell], at: int) -> float:
    """Return the number of the next move that a side sends at that millisecond; infinite for none."""
    here = takewhile(lambda cell: cell.at == at, queue)
    return next((cell.move for cell in here if cell.way == "in"), math.inf)

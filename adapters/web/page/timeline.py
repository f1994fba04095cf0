"""What both sides said and heard in a game, as the rows of one table.

Pure. Knows a stored game and its evidence: texts, ways, times and verdicts. Does not know what a dialect's
messages mean, so it searches for the moves, in the order of play: a move is a text of the mover that was
carried out and contains the column as a number. The server's own players have no texts; there, what the
opponent heard stands for the move. The rule it keeps: an unknown value is None, never a guess.
"""

import math
import re
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import takewhile

from gateway.game.events import Reason, Way
from gateway.game.text import printable
from gateway.store.evidence import Exchange, Line
from gateway.store.records import GameRecord

_NUMBER = re.compile("[0-9]+")
_LEFT = re.compile(r"([0-9]+\.[0-9]{3}) s left")
_GAP = " lines left out"


@dataclass(frozen=True, slots=True)
class Cell:
    """A text that one side said or heard, or a note of the server."""

    at: int
    """Milliseconds since the game began."""
    way: Way
    text: str
    """Printable: every character is visible."""
    remark: str = ""
    """Such as the time that is left."""
    refused: str = ""
    """Why it was not carried out; empty if it was."""
    move: int = 0
    """The number of the move that it made, or announced for a player without texts; 0 for none."""
    is_end: bool = False


@dataclass(frozen=True, slots=True)
class Row:
    """What happened at one millisecond."""

    at: int
    first: Cell | None
    second: Cell | None
    after: int
    """How many moves had been made after it."""

    @property
    def cells(self) -> tuple[Cell, ...]:
        """The cells that are not empty."""
        return tuple(cell for cell in (self.first, self.second) if cell is not None)

    @property
    def move(self) -> int:
        """The number of the move; 0 for none."""
        return max(cell.move for cell in self.cells)

    @property
    def refused(self) -> str:
        """A word for the fate of a text that was not carried out; empty if there is none."""
        return next((cell.refused.partition(":")[0] for cell in self.cells if cell.refused), "")

    @property
    def is_end(self) -> bool:
        """Whether it has the end of the game for a side."""
        return any(cell.is_end for cell in self.cells)


@dataclass(frozen=True, slots=True)
class Turn:
    """The time of a move, as far as it is known."""

    used: int | None = None
    """Milliseconds that it took."""
    left: int | None = None
    """Milliseconds that the mover's clock had left after it; None without a clock."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """The move that lost the game: an illegal one, or one that did not come in time."""

    used: int | None
    """Milliseconds that it took."""
    text: str = ""
    """The text; empty if none came in time."""
    why: str = ""
    column: str = ""
    """The number in the text; empty if there is none."""


@dataclass(frozen=True, slots=True)
class Timeline:
    """The whole table."""

    rows: tuple[Row, ...]
    turns: tuple[Turn, ...]
    """One for each move."""
    attempt: Attempt | None = None
    notes: tuple[str, str] = ("", "")
    """Other notes of the server about each side, for example that it hung up."""


@dataclass(slots=True)
class _Moves:
    """The moves that were found."""

    marks: dict[tuple[int, int], int] = field(default_factory=dict)
    """The number of a move, by side and index of a line."""
    times: dict[int, int] = field(default_factory=dict)
    left: dict[int, int] = field(default_factory=dict)

    def turn(self, number: int) -> Turn:
        """Return the time of a move."""
        used = _used(self.times.get(number - 1), self.times.get(number))
        return Turn(used, self.left.get(number))


def timeline(record: GameRecord, both: tuple[Exchange | None, Exchange | None]) -> Timeline:
    """Return the table of a game."""
    moves = _Moves(times={0: 0})
    for side, lines in enumerate(both):
        if lines is not None:
            _find_said(moves, side, lines, record.moves)
    for number in range(1, len(record.moves) + 1):
        opponents = both[number % 2]
        if number not in moves.times and both[1 - number % 2] is None and opponents is not None:
            _find_heard(moves, number, opponents, record.thought[1 - number % 2])
    cells = [_cells(moves, side, lines or ()) for side, lines in enumerate(both)]
    turns = tuple(moves.turn(number) for number in range(1, len(record.moves) + 1))
    return Timeline(
        tuple(_rows(*cells)), turns, _attempt(record, both, moves), (_notes(both[0]), _notes(both[1]))
    )


def _find_said(moves: _Moves, side: int, lines: Exchange, columns: str) -> None:
    """Find the texts that were a side's moves, from the beginning, and after missing lines from the end."""
    gap = next((index for index, line in enumerate(lines) if line.verdict.endswith(_GAP)), len(lines))
    numbers = range(side + 1, len(columns) + 1, 2)
    found = _matched(lines, range(gap), numbers, columns)
    found |= _matched(
        lines, range(len(lines) - 1, gap, -1), [n for n in reversed(numbers) if n not in found], columns
    )
    for number, index in found.items():
        moves.marks[side, index] = number
        moves.times[number] = lines[index].at
        left = _left(lines, index)
        if left is not None:
            moves.left[number] = left


def _matched(lines: Exchange, indices: Iterable[int], numbers: Iterable[int], columns: str) -> dict[int, int]:
    """Return the index of the text for each move, up to the first move without one."""
    found: dict[int, int] = {}
    remaining = iter(indices)
    for number in numbers:
        column = int(columns[number - 1])
        index = next((index for index in remaining if column in _numbers(lines[index])), None)
        if index is None:
            break
        found[number] = index
    return found


def _numbers(line: Line) -> set[int]:
    """Return the numbers in a text that was carried out."""
    if line.direction != "in" or line.verdict:
        return set()
    return {int(digits) for digits in _NUMBER.findall(line.text)}


def _left(lines: Exchange, index: int) -> int | None:
    """Return the time left on the clock after the text at `index`, from the request for that move."""
    for line in reversed(lines[:index]):
        if found := _LEFT.fullmatch(line.verdict):
            return max(0, round(1000 * float(found[1])) - (lines[index].at - line.at))
        if line.direction == "in" and not line.verdict:
            return None
    return None


def _find_heard(moves: _Moves, number: int, lines: Exchange, thought: int) -> None:
    """Find the text that announced a move of a player without texts to its opponent.

    The text behind the last move may tell of the end instead. `thought` is how many milliseconds the player
    took for all its moves; the right text is nearest to what its other moves leave of them.
    """
    side = number % 2
    own = {known: index for (who, index), known in moves.marks.items() if who == side}
    start = own.get(number - 1, -1)
    if number > 1 and start < 0:
        return
    stop = next(
        (index for index in range(start + 1, len(lines)) if lines[index].direction == "in"), len(lines)
    )
    heard = [index for index in range(start + 1, stop) if lines[index].direction == "out"]
    if not heard:
        return
    at = lines[heard[-1]].at
    if number + 1 not in own:
        others = sum(moves.turn(each).used or 0 for each in range(number - 2, 0, -2))
        since = moves.times.get(number - 1, 0)
        at = min((lines[index].at for index in heard), key=lambda at: abs(at - since - (thought - others)))
    index = next(index for index in heard if lines[index].at == at)
    moves.marks[side, index] = number
    moves.times[number] = at


def _attempt(record: GameRecord, both: Sequence[Exchange | None], moves: _Moves) -> Attempt | None:
    before = moves.times.get(len(record.moves))
    if record.reason is Reason.TIME:
        return Attempt(_used(before, record.ended - record.began))
    lines = both[1 - record.winner] if record.winner is not None else None
    if record.reason is not Reason.ILLEGAL or lines is None:
        return None
    line = next((line for line in reversed(lines) if line.verdict.startswith("refused")), None)
    if line is None:
        return None
    digits = _NUMBER.findall(line.text)
    column = digits[-1][:3] if digits else ""
    return Attempt(_used(before, line.at), _shown(line), line.verdict.partition(": ")[2], column)


def _used(before: int | None, at: int | None) -> int | None:
    return None if before is None or at is None else max(0, at - before)


def _notes(lines: Exchange | None) -> str:
    return ", ".join(printable(line.verdict) for line in (lines or ())[:-1] if line.direction == "note")


def _cells(moves: _Moves, side: int, lines: Exchange) -> deque[Cell]:
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
    found = _LEFT.fullmatch(line.verdict)
    remark = f"{float(found[1]):.1f} s left" if found else printable(line.verdict)
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
    """Return from which sides the next row takes a cell. A text stands above its consequences."""
    here = [bool(queue) and queue[0].at == at for queue in (first, second)]
    if not all(here):
        return here[0], here[1]
    one, other = first[0], second[0]
    if one.way == other.way == "in":
        return (True, False) if one.move <= other.move else (False, True)
    if one.way == other.way == "out":
        says, replies = _says(first, at), _says(second, at)
        return says <= replies, replies <= says
    alone = [cell.way == "note" or bool(cell.refused) for cell in (one, other)]
    if alone[0] == alone[1]:
        return True, True
    # A refused text and a note have rows of their own; a note comes after texts that are still to be heard.
    if "note" in (one.way, other.way):
        return alone[1], alone[0]
    return alone[0], alone[1]


def _says(queue: deque[Cell], at: int) -> float:
    """Return the number of the next move that a side says at that millisecond; infinite for none."""
    here = takewhile(lambda cell: cell.at == at, queue)
    return next((cell.move for cell in here if cell.way == "in"), math.inf)

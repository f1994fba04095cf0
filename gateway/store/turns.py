"""When each move of a game was made, from what both sides said and heard.

Pure. Knows evidence: texts, ways, times and verdicts. Does not know what a dialect's messages mean, so it
searches for the moves, in the order of play: a move is a text of the mover that was carried out and contains
the column as a number. The server's own players have no texts; there, what the opponent heard stands for the
move. The rule it keeps: an unknown value is None, never a guess. A move's time runs from the move before it.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from gateway.store.evidence import Exchange, Line

Both: TypeAlias = Sequence[Exchange | None]
"""The evidence of the first and of the second mover."""

NUMBER = re.compile("[0-9]+")
"""A number in a text."""
_LEFT = re.compile(r"([0-9]+\.[0-9]{3}) s left")
_GAP = " lines left out"


@dataclass(frozen=True, slots=True)
class Turn:
    """The time of a move, as far as it is known."""

    used: int | None = None
    """Milliseconds that it took."""
    left: int | None = None
    """Milliseconds that the mover's clock had left after it; None without a clock."""


@dataclass(slots=True)
class Moves:
    """The moves that were found, by number from 1."""

    marks: dict[tuple[int, int], int] = field(default_factory=dict)
    """The number of a move, by side and index of a line."""
    times: dict[int, int] = field(default_factory=lambda: {0: 0})
    """When a move was made, in milliseconds since the game began; 0 is the beginning."""
    left: dict[int, int] = field(default_factory=dict)
    """Milliseconds that the mover's clock had left after a move."""

    def turn(self, number: int) -> Turn:
        """Return the time of a move."""
        used = elapsed(self.times.get(number - 1), self.times.get(number))
        return Turn(used, self.left.get(number))


def found(columns: str, thought: Sequence[int], both: Both) -> Moves:
    """Return the moves of a game of these `columns`; `thought` has the milliseconds of each side in all."""
    moves = Moves()
    for side, lines in enumerate(both):
        if lines is not None:
            _find_said(moves, side, lines, columns)
    for number in range(1, len(columns) + 1):
        opponents = both[number % 2]
        if number not in moves.times and both[1 - number % 2] is None and opponents is not None:
            _find_heard(moves, number, opponents, thought[1 - number % 2])
    return moves


def clock_left(line: Line) -> int | None:
    """Return the milliseconds on the clock of the client that heard a text; None if it tells of no clock."""
    told = _LEFT.fullmatch(line.verdict)
    return round(1000 * float(told[1])) if told else None


def elapsed(before: int | None, at: int | None) -> int | None:
    """Return the time of a move, from the move before it; None if one of the two is not known."""
    return None if before is None or at is None else max(0, at - before)


def _find_said(moves: Moves, side: int, lines: Exchange, columns: str) -> None:
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
    return {int(digits) for digits in NUMBER.findall(line.text)}


def _left(lines: Exchange, index: int) -> int | None:
    """Return the time left on the clock after the text at `index`, from the request for that move."""
    for line in reversed(lines[:index]):
        left = clock_left(line)
        if left is not None:
            return max(0, left - (lines[index].at - line.at))
        if line.direction == "in" and not line.verdict:
            return None
    return None


def _find_heard(moves: Moves, number: int, lines: Exchange, thought: int) -> None:
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

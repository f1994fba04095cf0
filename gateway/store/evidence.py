"""Evidence: what one side said and heard during a game, and when; which of that was a move.

Knows text and milliseconds; does not know what a dialect's messages mean. A connection records in raw
seconds and without words. `recorded` turns that into bytes at the end of the game, in the process that plays,
so it must be cheap: plain values as `marshal` writes them. `stored`, in the process that writes, makes of
them what the database keeps; `unpack` makes lines for people.

An exchange is a line of JSON and behind it the texts in one piece, which need no escapes there. The line
of JSON is an array:

- Version 2: the number 2, the times of the texts, their ways, their lengths, the clocks that were left (the
  number of a text and milliseconds, and so on), and other remarks (arrays of the number of a text and words).
- Version 1 has no number, and all remarks are words.
"""

import json
import marshal
import re
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import accumulate
from typing import NamedTuple, TypeAlias

from gateway.game.events import Objection, Remark, Spoken, Way


class Line(NamedTuple):
    """One text on the wire."""

    at: int
    """Milliseconds since the game began."""
    direction: Way
    text: str
    verdict: str = ""
    """What the server thought of it, such as why it was refused, or the clock that was left. May be empty."""


Exchange: TypeAlias = tuple[Line, ...]
"""One side of a game, oldest line first."""

NEW = 2000
"""Milliseconds after the end of a game in which its evidence is still to be expected."""

_encode = json.JSONEncoder(separators=(",", ":"), check_circular=False).encode
_LETTERS: dict[Way, str] = {"in": "i", "out": "o", "note": "n"}
_WAYS = {letter: way for way, letter in _LETTERS.items()}
_WORDS = {
    Objection.NOT_ENTERED: "no opponent was asked for",
    Objection.WAITING: "no game is on",
    Objection.NOT_YOUR_TURN: "not your turn",
    Objection.NOT_A_COLUMN: "not a column",
    Objection.OUTSIDE: "outside the board",
    Objection.COLUMN_FULL: "column is full",
    Objection.UNFIT: "nothing that can be asked for now",
    Objection.UNREADABLE: "cannot be read",
    Objection.NO_NAME: "no name was given",
    Objection.NAME_TAKEN: "name is taken",
    Objection.NAME_RESERVED: "name is that of a player of the server's own",
    Objection.TOO_LONG: "name is too long",
    Objection.TABLE_FULL: "table is full",
    Objection.NOT_AVAILABLE: "player is not available",
    Objection.TOKEN_WRONG: "token is missing or wrong",
    Objection.NOT_REGISTERED: "name is not registered",
    Objection.BANNED: "name or address is banned",
}


def recorded(said: Sequence[Spoken]) -> bytes:
    """Return what was recorded as bytes."""
    ats, ways, texts, remarks = zip(*said, strict=True) if said else ((), (), (), ())
    lengths, text = [*map(len, texts)], "".join(texts)
    try:
        return marshal.dumps((ats, ways, lengths, text, remarks))
    except ValueError:  # there is a refusal among the remarks, which is no plain value
        return marshal.dumps((ats, ways, lengths, text, [*map(_plain, remarks)]))


def stored(exchange: bytes) -> bytes:
    """Return what `recorded` gave as it is kept in a database."""
    ats, ways, lengths, text, remarks = marshal.loads(exchange)
    noted = [(number, remark) for number, remark in enumerate(remarks) if remark is not None]
    # Python writes a list of integers as JSON has it, and faster.
    times = [round(1000 * at) for at in ats]
    left = [(number, round(1000 * clock)) for number, clock in noted if isinstance(clock, float)]
    clocks = [each for pair in left for each in pair]
    words = [(number, remark) for number, remark in noted if not isinstance(remark, float)]
    letters = "".join(map(_LETTERS.__getitem__, ways))
    head = f'[2,{times},"{letters}",{lengths},{clocks},{_encode(words)}]'
    return zlib.compress(f"{head}\n{text}".encode("utf-8", "surrogatepass"), 1)


def unpack(data: bytes) -> Exchange:
    """Return the exchange that `stored` gave. Raises ValueError where it gave none of these bytes."""
    try:
        head, _, texts = zlib.decompress(data).decode("utf-8", "surrogatepass").partition("\n")
        match json.loads(head):
            case [2, ats, letters, lengths, clocks, words]:
                left = zip(clocks[::2], clocks[1::2], strict=True)
                verdicts = {number: f"{each / 1000:.3f} s left" for number, each in left} | dict(words)
            case [ats, letters, lengths, words]:
                verdicts = dict(words)
            case _:
                raise ValueError("no exchange")
        lines, start = [], 0
        # When a text arrived is only known as rather too early; it was not before what went before it.
        times = accumulate(ats, max)
        for number, (at, letter, length) in enumerate(zip(times, letters, lengths, strict=True)):
            lines.append(Line(at, _WAYS[letter], texts[start : start + length], verdicts.get(number, "")))
            start += length
    except (zlib.error, TypeError, KeyError, OverflowError, RecursionError) as error:
        raise ValueError("no exchange") from error
    return tuple(lines)


def unpacked(data: bytes) -> Exchange | None:
    """Return the exchange; None where the bytes are damaged, for that is as good as none."""
    try:
        return unpack(data)
    except ValueError:
        return None


def _plain(remark: Remark) -> float | str | None:
    return _refusal(remark) if isinstance(remark, Objection) else remark


@cache
def _refusal(objections: Objection) -> str:
    words = [words for each, words in _WORDS.items() if each in objections]
    return f"refused: {', '.join(words) or 'a game is on'}"  # which is said only where it is all there is


# When each move of a game was made, from what both sides said and heard.
#
# Pure. Knows evidence: texts, ways, times and verdicts. Does not know what a dialect's messages mean, so it
# searches for the moves, in the order of play: a move is a text of the mover that was carried out and
# contains the column as a number. The server's own players have no texts; there, what the opponent heard
# stands for the move. The rule it keeps: an unknown value is None, never a guess. A move's time runs from the
# move before it.

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

"""The texts that one side sent and received during a game, with times, and a search for the moves in them.

Knows text and milliseconds; does not know what a dialect's messages mean. In the server's process, `recorded`
encodes evidence quickly. In the store process, `stored` encodes it for the database. `unpack` decodes
evidence from the database.
"""

import json
import marshal
import re
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache, reduce
from itertools import accumulate
from operator import or_
from typing import NamedTuple, TypeAlias

from gateway.game.events import Objection, Remark, Spoken, Way


class Line(NamedTuple):
    """One text that a client sent or received, or a remark of the server."""

    at: int
    """Milliseconds since the game began."""
    direction: Way
    text: str
    verdict: str = ""
    """The server's remark, such as the reason for a refusal, or the time left on the clock. May be empty."""


Exchange: TypeAlias = tuple[Line, ...]
"""The texts of one side of a game, the oldest first."""

LONGEST_JOINED = 100_000
"""The size in bytes, compressed, from which no further part is added to evidence."""
NEW = 2000
"""The time after the end of a game in which its evidence may still be missing, in milliseconds."""

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
    Objection.TABLE_EMPTY: "nobody is at the table",
    Objection.NOT_AVAILABLE: "player is not available",
    Objection.TOKEN_WRONG: "token is missing or wrong",
    Objection.NOT_REGISTERED: "name is not registered",
    Objection.BANNED: "name or address is banned",
}


def recorded(said: Sequence[Spoken]) -> bytes:
    """Encode the texts that a connection recorded. Uses `marshal`, which is fast, to spare the event loop."""
    ats, ways, texts, remarks = zip(*said, strict=True) if said else ((), (), (), ())
    lengths, text = [*map(len, texts)], "".join(texts)
    try:
        return marshal.dumps((ats, ways, lengths, text, remarks))
    except ValueError:  # `marshal` cannot encode an `Objection` among the remarks
        return marshal.dumps((ats, ways, lengths, text, [*map(_plain, remarks)]))


def stored(exchange: bytes) -> bytes:
    """Convert the result of `recorded` for the database: one line of JSON, then all texts, compressed.

    The line is an array of six values: the version 2, the times of the texts, their directions, their
    lengths, the clocks (a flat list of text numbers and milliseconds), and the other remarks (pairs of a
    text's number and words). Version 1 has neither a version number nor clocks; all its remarks are words.
    The texts need no escapes, since their lengths are known.
    """
    ats, ways, lengths, text, remarks = marshal.loads(exchange)
    noted = [(number, remark) for number, remark in enumerate(remarks) if remark is not None]
    # Python's str of a list of integers is valid JSON, and faster.
    times = [round(1000 * at) for at in ats]
    left = [(number, round(1000 * clock)) for number, clock in noted if isinstance(clock, float)]
    clocks = [each for pair in left for each in pair]
    words = [(number, remark) for number, remark in noted if not isinstance(remark, float)]
    letters = "".join(map(_LETTERS.__getitem__, ways))
    head = f'[2,{times},"{letters}",{lengths},{clocks},{_encode(words)}]'
    return zlib.compress(f"{head}\n{text}".encode("utf-8", "surrogatepass"), 1)


def unpack(data: bytes) -> Exchange:
    """Decode bytes that `stored` returned. Raises ValueError for other bytes."""
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
        # The recorded time of arrival is a lower bound. It may be before the time of the previous text.
        times = accumulate(ats, max)
        for number, (at, letter, length) in enumerate(zip(times, letters, lengths, strict=True)):
            lines.append(Line(at, _WAYS[letter], texts[start : start + length], verdicts.get(number, "")))
            start += length
    except (zlib.error, TypeError, KeyError, OverflowError, RecursionError) as error:
        raise ValueError("no exchange") from error
    return tuple(lines)


def joined(stored_part: bytes, part: bytes) -> bytes:
    """Join two parts of evidence of the same side, both as `stored` returned them, in the order of time.

    A line that is in both is stored once: a part may be stored again after an error.
    """
    if len(stored_part) > LONGEST_JOINED:
        return stored_part
    one, other = unpack(stored_part), unpack(part)
    lines = sorted((*one, *(line for line in other if line not in one)), key=lambda line: line.at)
    words = [(number, line.verdict) for number, line in enumerate(lines) if line.verdict]
    letters = "".join(_LETTERS[line.direction] for line in lines)
    times, lengths = [line.at for line in lines], [len(line.text) for line in lines]
    head = f'[2,{times},"{letters}",{lengths},[],{_encode(words)}]'
    text = "".join(line.text for line in lines)
    return zlib.compress(f"{head}\n{text}".encode("utf-8", "surrogatepass"), 1)


def unpacked(data: bytes) -> Exchange | None:
    """Decode bytes that `stored` returned; return None if they are damaged."""
    try:
        return unpack(data)
    except ValueError:
        return None


def _plain(remark: Remark) -> float | str | None:
    return _refusal(remark) if isinstance(remark, Objection) else remark


def objections_in(words: str) -> Objection:
    """Return the objections in the words of a refusal, which are a remark without ``refused: ``."""
    parts = words.split(", ")
    return reduce(or_, (each for each, text in _WORDS.items() if text in parts), Objection(0))


@cache
def _refusal(objections: Objection) -> str:
    words = [words for each, words in _WORDS.items() if each in objections]
    return f"refused: {', '.join(words) or 'a game is on'}"  # objections not in `_WORDS` mean this


# The time of each move of a game, from the evidence of both sides.
#
# The text of a move is one that the mover sent, that was not refused, and that has the column as a number.
# The moves are searched for in the order of play. The server's own players send no texts; for their moves,
# the text that the opponent received is used. A time that is not known is None, never a guess. The time that
# a move took begins at the previous move.

Both: TypeAlias = Sequence[Exchange | None]
"""The evidence of the first and of the second mover."""

NUMBER = re.compile("[0-9]+")
"""Matches a number in a text."""
_LEFT = re.compile(r"([0-9]+\.[0-9]{3}) s left")
_GAP = " lines left out"


@dataclass(frozen=True, slots=True)
class Turn:
    """The time that a move took, and the time left after it. Each is None if it is not known."""

    used: int | None = None
    """Milliseconds since the previous move."""
    left: int | None = None
    """Milliseconds left on the mover's clock after the move. Also None without a clock."""


@dataclass(slots=True)
class Moves:
    """The moves that were found, numbered from 1."""

    marks: dict[tuple[int, int], int] = field(default_factory=dict)
    """The number of each move, by the side and the index of the line that has it."""
    times: dict[int, int] = field(default_factory=lambda: {0: 0})
    """When each move was made, in milliseconds since the game began. Move 0 is the start of the game."""
    left: dict[int, int] = field(default_factory=dict)
    """Milliseconds left on the mover's clock after each move."""

    def turn(self, number: int) -> Turn:
        """Return the times of a move, by its number."""
        used = elapsed(self.times.get(number - 1), self.times.get(number))
        return Turn(used, self.left.get(number))


def find_moves(columns: str, thought: Sequence[int], both: Both) -> Moves:
    """Find the moves of a game in its evidence.

    `columns` are the columns that were played. `thought` is the total thinking time of each side, in
    milliseconds.
    """
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
    """Return the milliseconds that the client's clock had when this text was sent; None if not recorded."""
    left = _LEFT.fullmatch(line.verdict)
    return round(1000 * float(left[1])) if left else None


def elapsed(before: int | None, at: int | None) -> int | None:
    """Return the milliseconds from the time `before` to the time `at`; None if either is not known."""
    return None if before is None or at is None else max(0, at - before)


def _find_said(moves: Moves, side: int, lines: Exchange, columns: str) -> None:
    """Find a side's moves among its texts.

    Searches from the start and, if texts in the middle were not recorded, also backward from the end.
    """
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
    """Return the index of each move's text. Stops at the first move that has no text."""
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
    """Return the numbers in a text from the client; none if the server refused the text."""
    if line.direction != "in" or line.verdict:
        return set()
    return {int(digits) for digits in NUMBER.findall(line.text)}


def _left(lines: Exchange, index: int) -> int | None:
    """Return the milliseconds left on the clock after the move at `index`; None if not known.

    They are computed from the last clock that the server sent before the move.
    """
    for line in reversed(lines[:index]):
        left = clock_left(line)
        if left is not None:
            return max(0, left - (lines[index].at - line.at))
        if line.direction == "in" and not line.verdict:
            return None
    return None


def _find_heard(moves: Moves, number: int, lines: Exchange, thought: int) -> None:
    """Find when a player without evidence made a move, by searching the texts that its opponent received.

    The candidates are the texts between the opponent's previous move and its next text. If the opponent moves
    next, the last candidate is the move. If not, a candidate may report the end of the game. Then the one
    whose time fits best with `thought`, the mover's total thinking time in milliseconds, is the move.
    """
    side = number % 2
    own = {known: index for (who, index), known in moves.marks.items() if who == side}
    start = own.get(number - 1, -1)
    if number > 1 and start < 0:
        return
    stop = next(
        (index for index in range(start + 1, len(lines)) if lines[index].direction == "in"), len(lines)
    )
    texts = [index for index in range(start + 1, stop) if lines[index].direction == "out"]
    if not texts:
        return
    at = lines[texts[-1]].at
    if number + 1 not in own:
        others = sum(moves.turn(each).used or 0 for each in range(number - 2, 0, -2))
        since = moves.times.get(number - 1, 0)
        at = min((lines[index].at for index in texts), key=lambda at: abs(at - since - (thought - others)))
    index = next(index for index in texts if lines[index].at == at)
    moves.marks[side, index] = number
    moves.times[number] = at

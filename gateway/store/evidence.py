"""Evidence: what one side said and heard during a game, with times, and what the server made of it.

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
import zlib
from collections.abc import Sequence
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
    return f"refused: {', '.join(words for each, words in _WORDS.items() if each in objections)}"

"""Evidence: what one side said and heard during a game, with times, and what the server made of it.

Knows text and milliseconds; does not know what a dialect's messages mean. A connection records in raw
seconds and without words. `recorded` turns that into bytes at the end of the game, in the process that plays,
so it must be cheap: plain values as `marshal` writes them. `stored`, in the process that writes, makes of
them what the database keeps; `unpack` makes lines for people.

An exchange is a line of JSON, numbers, and the texts in one piece, which need no escapes there; all of it
compressed. The line of JSON is an array:

- Version 3: the number 3, the ways of the texts, the clocks that were left (the number of a text and
  milliseconds, and so on), and other remarks (arrays of the number of a text and words). The numbers are the
  times of the texts, eight bytes each, and their lengths in characters, four bytes each, little-endian.
- Version 2: the number 2, the times, the ways, the lengths, the clocks, the other remarks. No numbers follow.
- Version 1 has no number, and all remarks are words.
"""

import json
import marshal
import struct
import zlib
from collections.abc import Sequence
from functools import cache
from itertools import accumulate, chain
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
_WINDOW, _MEMORY = 13, 6
"""8 KB of text that is looked back at, and 16,384 hash values: as zlib counts them."""
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
    clocks, words = _parted(remarks)
    letters = "".join(map(_LETTERS.__getitem__, ways))
    # Python writes a list of integers as JSON has it, and faster.
    head = f'[3,"{letters}",{clocks},{_encode(words)}]\n'.encode()
    times = [round(1000 * at) for at in ats]
    numbers = struct.pack(_layout(len(times)), *times, *lengths)
    body = head + numbers + text.encode("utf-8", "surrogatepass")
    # zlib would take more memory by itself, and more time to clear it than to compress so few bytes.
    packer = zlib.compressobj(1, zlib.DEFLATED, _WINDOW, _MEMORY)
    return packer.compress(body) + packer.flush()


def unpack(data: bytes) -> Exchange:
    """Return the exchange that `stored` gave. Raises ValueError where it gave none of these bytes."""
    try:
        head, _, body = zlib.decompress(data).partition(b"\n")
        match json.loads(head):
            case [3, str(letters), clocks, words]:
                layout = _layout(len(letters))
                numbers = struct.unpack_from(layout, body)
                ats, lengths = numbers[: len(letters)], numbers[len(letters) :]
                body = body[struct.calcsize(layout) :]
            case [2, ats, letters, lengths, clocks, words]:
                pass
            case [list(ats), letters, lengths, words]:
                clocks = ()
            case _:
                raise ValueError("no exchange")
        left = zip(clocks[::2], clocks[1::2], strict=True)
        verdicts = {number: f"{each / 1000:.3f} s left" for number, each in left} | dict(words)
        texts = body.decode("utf-8", "surrogatepass")
        lines, start = [], 0
        # When a text arrived is only known as rather too early; it was not before what went before it.
        times = accumulate(ats, max)
        for number, (at, letter, length) in enumerate(zip(times, letters, lengths, strict=True)):
            lines.append(Line(at, _WAYS[letter], texts[start : start + length], verdicts.get(number, "")))
            start += length
    except (zlib.error, struct.error, TypeError, KeyError) as error:
        raise ValueError("no exchange") from error
    return tuple(lines)


def _layout(count: int) -> str:
    return f"<{count}q{count}I"


def _parted(remarks: Sequence[float | str | None]) -> tuple[list[int], list[tuple[int, str]]]:
    """Return the clocks that were left, as an exchange has them, and the other remarks."""
    if remarks.count(None) == len(remarks):  # as in most games without a clock
        return [], []
    noted = [(number, remark) for number, remark in enumerate(remarks) if remark is not None]
    left = [(number, round(1000 * clock)) for number, clock in noted if isinstance(clock, float)]
    words = [(number, str(remark)) for number, remark in noted if not isinstance(remark, float)]
    return [*chain.from_iterable(left)], words


def _plain(remark: Remark) -> float | str | None:
    return _refusal(remark) if isinstance(remark, Objection) else remark


@cache
def _refusal(objections: Objection) -> str:
    return f"refused: {', '.join(words for each, words in _WORDS.items() if each in objections)}"

"""Evidence: what one side said and heard during a game, with times, and what the server made of it.

Knows text and milliseconds; does not know what a dialect's messages mean. Connections record in a hurry, in
raw seconds and without words; here that becomes what people read, in the process that stores it. The results
of other games wait for that, so `pack` has to be cheap.

Stored, an exchange is a line of JSON (times, ways, lengths of the texts, verdicts), and behind it the texts,
all compressed: to put the texts into the JSON too takes twice the time.
"""

import json
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
}


def size(said: Sequence[Spoken]) -> int:
    """Return about how many bytes of memory a recorded exchange takes."""
    # A character is one to four bytes, and to find out which costs more than to take the most.
    return 150 * len(said) + sum([len(text) if text.isascii() else 4 * len(text) for _, _, text, _ in said])


def pack(said: Sequence[Spoken], began: float) -> bytes:
    """Return what was recorded as bytes; `began` is when the game began, on the scale of the texts' times."""
    ats, ways, texts, remarks = zip(*said, strict=True) if said else ((), (), (), ())
    head = (
        # When a text arrived is only known as rather too early; it was not before what went before it.
        [round(1000 * (at - began)) for at in accumulate(ats, max)],
        "".join([_LETTERS[way] for way in ways]),
        [*map(len, texts)],
        [(number, _words(remark)) for number, remark in enumerate(remarks) if remark is not None],
    )
    whole = f"{_encode(head)}\n{''.join(texts)}"
    return zlib.compress(whole.encode("utf-8", "surrogatepass"), 1)


def unpack(data: bytes) -> Exchange:
    """Return the exchange that `pack` made bytes of. Raises ValueError where it made none of these."""
    try:
        head, _, texts = zlib.decompress(data).decode("utf-8", "surrogatepass").partition("\n")
        ats, letters, lengths, verdicts = json.loads(head)
        said = dict(verdicts)
        lines, start = [], 0
        for number, (at, letter, length) in enumerate(zip(ats, letters, lengths, strict=True)):
            lines.append(Line(at, _WAYS[letter], texts[start : start + length], said.get(number, "")))
            start += length
    except (zlib.error, TypeError, KeyError) as error:
        raise ValueError("no exchange") from error
    return tuple(lines)


def _words(remark: Remark) -> str:
    if isinstance(remark, Objection):
        return _refusal(remark)
    return f"{remark:.3f} s left" if isinstance(remark, float) else str(remark)


@cache
def _refusal(objections: Objection) -> str:
    return f"refused: {', '.join(words for each, words in _WORDS.items() if each in objections)}"

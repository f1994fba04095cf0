"""Text as people see it: what clients made up, tables and boards, and names that somebody may have meant.

What a client made up is shown as one line of visible characters: it controls no terminal, hides nothing and
reverses nothing. The rule it keeps: `printable` makes different texts of different texts.
"""

import json
from collections.abc import Container, Iterable, Sequence

from gateway.game.board import COLUMNS, ROWS, Board

_UNSEEN = frozenset(
    map(chr, (0x34F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2800, 0x3164, 0xFFA0, *range(0x180B, 0x1810)))
) | frozenset(map(chr, (*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0))))
"""Characters that Python takes for printable, though they are invisible: fillers, joiners and variation
selectors (most of Unicode's Default_Ignorable_Code_Point), and the blank of Braille."""


def is_visible(character: str) -> bool:
    """Whether a character may be shown as it is: a sign, or an ordinary blank.

    Control characters, marks of direction, line separators, halves of surrogate pairs and characters without
    width may not.
    """
    return character.isprintable() and character not in _UNSEEN


def only_visible(text: str) -> str:
    """Return the text without the characters that are not visible."""
    if text.isascii() and text.isprintable():
        return text
    unseen = [ord(sign) for sign in set(text) if not is_visible(sign)]
    return text.translate(dict.fromkeys(unseen)) if unseen else text


def visible(text: str) -> str:
    """Return the text with an escape, such as ``\\u202e``, for each character that is not visible."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(sign if is_visible(sign) else ascii(sign)[1:-1] for sign in text)


def printable(text: str) -> str:
    """Return the text as `visible` does, with each backslash doubled, so that each escape is one of ours."""
    return visible(text.replace("\\", "\\\\"))


def quoted(text: str) -> str:
    """Return the text as `printable` does, between apostrophes, with a backslash before each one in it."""
    return "'" + printable(text).replace("'", "\\'") + "'"


def json_text(value: object, indent: int | None = None) -> str:
    """Return a value as JSON in visible ASCII, in one line unless there is an `indent`.

    A value of a type that JSON does not have becomes a string.
    """
    return json.dumps(value, indent=indent, default=str).replace("\x7f", "\\u007f")


def plural(count: int, word: str) -> str:
    """Return ``1 game`` or ``2 games``."""
    return f"{count} {word}{'' if count == 1 else 's'}"


def aligned(rows: Sequence[Sequence[str]], left: Container[int]) -> str:
    """Return a line for each row; columns are aligned right, but those of the numbers `left`."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        cells = [
            cell.ljust(width) if number in left else cell.rjust(width)
            for number, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip() + "\n")
    return "".join(lines)


DISCS = "XO"
"""The discs of the first and of the second mover."""


def drawing(board: Board, first: int = 0) -> str:
    """Return a board as lines, its columns numbered below, from `first` on."""
    cells = [["."] * COLUMNS for _ in range(ROWS)]
    for column, row, side in board.placed():
        cells[row][column] = DISCS[side]
    lines = [*reversed(cells), [str(column + first) for column in range(COLUMNS)]]
    return "\n".join("  " + " ".join(line) for line in lines)


# Which known names somebody may have meant who typed another one. Pure.

COMPARED = 5_000
"""Names that are compared letter by letter, the first of all: 30 ms. Case is looked at in all."""


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return ``; did you mean 'robot'?`` with up to three of the known names; nothing if none is similar."""
    names = [*known]
    found = [each for each in names if each.casefold() == name.casefold()][:3]
    if not found:
        from difflib import get_close_matches  # noqa: PLC0415  hardly ever needed, and slow to import

        spelled = {each.casefold(): each for each in reversed(names[:COMPARED])}
        found = [spelled[each] for each in get_close_matches(name.casefold(), spelled)]
    return f"; did you mean {' or '.join(map(quoted, found))}?" if found else ""

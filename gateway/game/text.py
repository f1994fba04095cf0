"""Text for people: harmless forms of clients' texts, tables, boards, suggestions of similar names.

A text of a client is shown as one line of visible characters, so that it cannot control a terminal or hide
anything.
"""

import json
from collections.abc import Container, Iterable, Sequence

from gateway.game.board import COLUMNS, ROWS, Board

_UNSEEN = frozenset(
    map(chr, (0x34F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2800, 0x3164, 0xFFA0, *range(0x180B, 0x1810)))
) | frozenset(map(chr, (*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0))))
"""Invisible characters that Python counts as printable: fillers, joiners and variation selectors (most of
Unicode's Default_Ignorable_Code_Point), and the Braille blank."""


def is_visible(character: str) -> bool:
    """Whether a character may be shown unchanged.

    Control characters, direction marks, line separators, lone surrogates and characters without width are not
    visible.
    """
    return character.isprintable() and character not in _UNSEEN


def only_visible(text: str) -> str:
    """Return the text without invisible characters."""
    if text.isascii() and text.isprintable():
        return text
    unseen = [ord(sign) for sign in set(text) if not is_visible(sign)]
    return text.translate(dict.fromkeys(unseen)) if unseen else text


def visible(text: str) -> str:
    """Return the text with an escape, such as ``\\u202e``, for each invisible character."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(sign if is_visible(sign) else ascii(sign)[1:-1] for sign in text)


def printable(text: str) -> str:
    """Return the text as `visible` does, but with doubled backslashes. Different texts stay different."""
    return visible(text.replace("\\", "\\\\"))


def quoted(text: str) -> str:
    """Return the text as `printable` does, in apostrophes, with a backslash before each apostrophe in it."""
    return "'" + printable(text).replace("'", "\\'") + "'"


def json_text(value: object, indent: int | None = None) -> str:
    """Return a value as JSON in visible ASCII. Without `indent` it is one line.

    Values of types that JSON does not have become strings.
    """
    return json.dumps(value, indent=indent, default=str).replace("\x7f", "\\u007f")


def described(error: BaseException) -> str:
    """Return an exception as one line: its type and its text, if that can be had.

    The class of an exception in the code of others may be unable to say what it is.
    """
    name = type(error).__name__
    try:
        text = " ".join(str(error).split())
    except Exception:
        text = ""
    return f"{name}: {text}" if text else name


def plural(count: int, word: str) -> str:
    """Return ``1 game`` or ``2 games``."""
    return f"{count} {word}{'' if count == 1 else 's'}"


def aligned(rows: Sequence[Sequence[str]], left: Container[int]) -> str:
    """Return a line for each row. Columns are right-aligned, except those whose numbers are in `left`."""
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
    """Return a board as lines, with the numbers of columns below, counted from `first`."""
    cells = [["."] * COLUMNS for _ in range(ROWS)]
    for column, row, side in board.placed():
        cells[row][column] = DISCS[side]
    lines = [*reversed(cells), [str(column + first) for column in range(COLUMNS)]]
    return "\n".join("  " + " ".join(line) for line in lines)


COMPARED = 5_000
"""The most known names that are compared by similarity. Comparing that many takes 30 ms. All known names are
searched for one that differs only in case."""


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return ``; did you mean 'robot'?`` with up to three of the known names; empty if none is similar."""
    found = similar(name, known)
    return f"; did you mean {' or '.join(map(quoted, found))}?" if found else ""


def similar(name: str, known: Iterable[str]) -> list[str]:
    """Return up to three of the known names that are similar to a name, the most similar first."""
    names = [*known]
    found = [each for each in names if each.casefold() == name.casefold()][:3]
    if not found:
        from difflib import get_close_matches  # noqa: PLC0415  rarely needed, and slow to import

        spelled = {each.casefold(): each for each in reversed(names[:COMPARED])}
        found = [spelled[each] for each in get_close_matches(name.casefold(), spelled)]
    return found

"""Text that somebody else made up, as it may be shown to people.

Pure. What is shown is one line, in which every character can be seen: a terminal obeys none of it, it hides
nothing, and it turns nothing round. The rule it keeps: two texts that differ differ in what `printable` makes
of them too.
"""

import json

_UNSEEN = frozenset(
    map(chr, (0x34F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2800, 0x3164, 0xFFA0, *range(0x180B, 0x1810)))
) | frozenset(map(chr, (*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0))))
"""Characters that Python takes for printable, though nothing is to be seen of them: fillers, joiners, and
selectors of variants (most of Unicode's Default_Ignorable_Code_Point), and the blank of Braille."""


def is_visible(character: str) -> bool:
    """Whether a character may be shown as it is: a sign, or an ordinary blank.

    None are control characters, marks of direction, separators of lines, halves of surrogate pairs, and
    characters without width.
    """
    return character.isprintable() and character not in _UNSEEN


def visible(text: str) -> str:
    """Return the text with an escape, such as ``\\u202e``, for each character that is not visible."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(sign if is_visible(sign) else ascii(sign)[1:-1] for sign in text)


def printable(text: str) -> str:
    """Return the text as `visible` does, with each backslash doubled: so an escape is always one of ours."""
    return visible(text.replace("\\", "\\\\"))


def quoted(text: str) -> str:
    """Return the text as `printable` does, between two apostrophes; those in it have a backslash before."""
    return "'" + printable(text).replace("'", "\\'") + "'"


def json_text(value: object, indent: int | None = None) -> str:
    """Return a value as JSON in visible ASCII, in one line unless there is an `indent`.

    What JSON has no word for is said as a string.
    """
    return json.dumps(value, indent=indent, default=str).replace("\x7f", "\\u007f")

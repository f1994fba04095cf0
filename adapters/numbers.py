"""Integers as clients write them."""

import re

_INTEGER = re.compile(r"[+-]?0*([0-9]+)", re.ASCII)


def to_column(digits: str) -> int:
    """Return the integer that `digits`, ASCII with an optional sign, stand for.

    One of any length costs nothing: what is too long to be a column becomes some number that is none.
    """
    match = _INTEGER.fullmatch(digits)
    if match is None:
        raise ValueError(f"{digits!r} is no integer")
    if len(match[1]) > 2:
        return -1
    value = int(match[1])
    return -value if digits.startswith("-") else value

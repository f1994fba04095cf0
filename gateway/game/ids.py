"""The ids of games.

An id is ``RRRRR-NNNNNN``: the number of the server's run, and the number of the game within that run, both in
Crockford's base 32 and padded with zeros. So the ids of one run sort as its games started. The digits leave
out i, l, o and u, which people mistake for others.

An id never changes, and no two games of one database have the same. A game that was stored before there were
ids has its number there, in decimal digits.
"""

import re
from collections.abc import Iterator
from itertools import product
from typing import TypeAlias

GameId: TypeAlias = str

RUNS = 32**5
"""How many numbers of runs there are; the first is 0."""

_DIGITS = "0123456789abcdefghjkmnpqrstvwxyz"
_RUN, _NUMBER = 5, 6
_ID = re.compile(f"[{_DIGITS}]{{{_RUN}}}-[{_DIGITS}]{{{_NUMBER}}}")
_LOOK_ALIKES = str.maketrans("oil", "011")


def game_ids(run: int) -> Iterator[GameId]:
    """Return the ids of a run's games in order, a billion of them.

    Raises ValueError unless `run` is 0 to `RUNS` - 1.
    """
    prefix = run_sign(run)
    return (f"{prefix}-{''.join(digits)}" for digits in product(_DIGITS, repeat=_NUMBER))


def run_sign(run: int) -> str:
    """Return the five signs with which the ids of a run begin.

    Raises ValueError unless `run` is 0 to `RUNS` - 1.
    """
    if not 0 <= run < RUNS:
        raise ValueError(f"{run} is not the number of a run")
    return "".join(_DIGITS[run >> shift & 31] for shift in range(5 * (_RUN - 1), -1, -5))


def parse(text: str) -> GameId:
    """Return the id that `text` is, written as `game_ids` writes it. Raises ValueError where it is none."""
    if _ID.fullmatch(text) is None:
        raise ValueError("not the id of a game")
    return text


def typed(text: str) -> GameId:
    """Return an id as it is written, from what a person typed: in capitals, or with a letter for 0 or 1."""
    return text.strip().lower().translate(_LOOK_ALIKES)

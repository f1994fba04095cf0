"""The ids of games.

An id is ``RRRRR-NNNNNN``: the number of the server's run, and the number of the game within that run, both in
Crockford's base 32 and padded with zeros. So the ids of one run sort as its games started. The digits leave
out i, l, o and u, which people mistake for others.

An id never changes, and no two games of one database have the same. A game that was stored before there were
ids has its number there, in decimal digits.

A database that was restored from a backup may give the number of a run a second time. So the games of a run
are numbered from `first_game` on: beyond all of an earlier run of that number, unless the clock was set back.
"""

import re
from collections.abc import Iterator
from typing import TypeAlias

GameId: TypeAlias = str

RUNS = 32**5
"""How many numbers of runs there are; the first is 0."""
GAMES = 32**6
"""How many numbers of games there are in a run; the first is 0."""
GAMES_A_SECOND = 4096
"""More than a server can begin, by far."""

_DIGITS = "0123456789abcdefghjkmnpqrstvwxyz"
_RUN, _NUMBER = 5, 6
_ID = re.compile(f"[{_DIGITS}]{{{_RUN}}}-[{_DIGITS}]{{{_NUMBER}}}")
_LOOK_ALIKES = str.maketrans("oil", "011")


def game_ids(run: int, first: int = 0) -> Iterator[GameId]:
    """Return the ids of a run's games in order, beginning with the number `first`.

    Raises ValueError unless `run` is 0 to `RUNS` - 1.
    """
    prefix = run_sign(run)
    return (f"{prefix}-{_signs(number, _NUMBER)}" for number in range(first, GAMES))


def first_game(at: float) -> int:
    """Return the number of the first game of a run that begins at `at`, in Unix time.

    It grows faster than games begin, and is 0 again every 36 hours. Half a billion numbers at least follow.
    """
    return int(at * GAMES_A_SECOND) % (GAMES // 2)


def run_sign(run: int) -> str:
    """Return the five signs with which the ids of a run begin.

    Raises ValueError unless `run` is 0 to `RUNS` - 1.
    """
    if not 0 <= run < RUNS:
        raise ValueError(f"{run} is not the number of a run")
    return _signs(run, _RUN)


def _signs(number: int, length: int) -> str:
    return "".join([_DIGITS[number >> shift & 31] for shift in range(5 * (length - 1), -1, -5)])


def parse(text: str) -> GameId:
    """Return the id that `text` is, written as `game_ids` writes it. Raises ValueError where it is none."""
    if _ID.fullmatch(text) is None:
        raise ValueError("not the id of a game")
    return text


def typed(text: str) -> GameId:
    """Return an id as it is written, from what a person typed: in capitals, or with a letter for 0 or 1."""
    return text.strip().lower().translate(_LOOK_ALIKES)

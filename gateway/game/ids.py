"""The ids of games.

An id is ``RRRRR-NNNNNN``: the number of the server's run and the number of the game within that run, both in
Crockford's base 32, padded with zeros. It never changes, and is unique within a database.
"""

import re
from collections.abc import Iterator
from functools import reduce
from typing import TypeAlias

GameId: TypeAlias = str

RUNS = 32**5
"""The number of run numbers, which begin at 0."""
GAMES = 32**6
"""The number of game numbers in a run, which begin at 0."""
GAMES_A_SECOND = 4096
"""`first_game` grows by this number each second. A server begins far fewer games in a second."""

_DIGITS = "0123456789abcdefghjkmnpqrstvwxyz"
_RUN, _NUMBER = 5, 6
_ID = re.compile(f"[{_DIGITS}]{{{_RUN}}}-[{_DIGITS}]{{{_NUMBER}}}")
_LOOK_ALIKES = str.maketrans("oil", "011")


def game_ids(run: int, first: int = 0) -> Iterator[GameId]:
    """Yield the ids of a run's games in order, from the number `first` on.

    Raises ValueError unless `run` is 0 to `RUNS` - 1.
    """
    prefix = run_sign(run)
    return (f"{prefix}-{_signs(number, _NUMBER)}" for number in range(first, GAMES))


def first_game(at: float) -> int:
    """Return the number of the first game of a run that begins at `at`, in Unix time.

    The number grows with time, faster than games can begin. A database that was restored from a backup may
    give the number of an earlier run to a new run. The ids of both runs still differ, unless the clock was
    set back. The number wraps to 0 every 36 hours. A run always has at least half a billion game numbers.
    """
    return int(at * GAMES_A_SECOND) % (GAMES // 2)


def run_sign(run: int) -> str:
    """Return the first five characters of the ids of a run.

    Raises ValueError unless `run` is 0 to `RUNS` - 1.
    """
    if not 0 <= run < RUNS:
        raise ValueError(f"{run} is not the number of a run")
    return _signs(run, _RUN)


def number_in(game: GameId) -> int:
    """Return the number of a game within its run, 0 to `GAMES` - 1."""
    return reduce(lambda number, digit: number << 5 | _DIGITS.index(digit), game[-_NUMBER:], 0)


def _signs(number: int, length: int) -> str:
    return "".join([_DIGITS[number >> shift & 31] for shift in range(5 * (length - 1), -1, -5)])


def parse(text: str) -> GameId:
    """Return `text` if it is an id in the form of `game_ids`. Raises ValueError if not."""
    if _ID.fullmatch(text) is None:
        raise ValueError("not the id of a game")
    return text


def typed(text: str) -> GameId:
    """Return the normal form of an id that a person typed.

    The typed id may have capitals, the letter O for 0, and the letters I or L for 1.
    """
    return text.strip().lower().translate(_LOOK_ALIKES)

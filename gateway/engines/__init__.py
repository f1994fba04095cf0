"""Engines: functions from a board and a time budget to a column.

An engine knows the rules and its budget, but no opponent or network, and keeps no state of a game, so it can
play any number of games in turn. It returns a playable column within a few milliseconds of its budget; only
`perfect` may take longer. The user's own engines may be late or return an invalid value, so callers check the
column.
"""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from gateway.game.board import Board
from gateway.game.text import described

Engine: TypeAlias = Callable[[Board, float], int]
"""Takes a board that is not over and a budget in seconds, more than 0; returns a column.

The built-in engines read only the discs of the board, not its moves, so the moves may be missing.
"""


@dataclass(frozen=True, slots=True)
class WithArgument:
    """What a plug-in has in place of an engine if its engine takes an argument, as in ``name:ARGUMENT``."""

    make: Callable[[str], Engine]
    """Returns the engine for an argument. Raises ValueError if the argument is not valid."""
    argument: str
    """What the argument is, for errors, such as ``DEPTH``."""


PACKAGES = {"pyspiel": "open_spiel", "sklearn": "scikit-learn"}
"""The packages of modules that are called otherwise."""


class UnknownEngine(ValueError):
    """There is no engine of this name, or it cannot be loaded. The message is one line."""


class EngineUnavailable(RuntimeError):
    """An engine needs a package that is not installed. The message is one line that says what to install."""


class EngineError(RuntimeError):
    """The user's engine returned no move. The message is one line with the reason."""


class EngineLate(EngineError):
    """The user's engine returned no move in time."""


def in_words(error: BaseException) -> str:
    """Return an exception of the user's code in one line; for a missing module also how to install it."""
    words = described(error)
    if isinstance(error, ModuleNotFoundError) and error.name and "." not in error.name:
        package = PACKAGES.get(error.name, error.name)
        words += f"; to install it where engines run: {sys.executable} -m pip install {package}"
    return words

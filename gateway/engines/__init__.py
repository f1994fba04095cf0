"""Engines: pure players. A board and a budget in, a column out.

An engine knows the rules and the time it may spend. It does not know the game's clock, its opponent, the
network, nor any game but the position before it: whatever it remembers from one call to the next is true of
every game. That is why one engine can play any number of games in turn, in any process.

The rule they keep: the column is playable, and the time is kept to within a few milliseconds. `perfect` is
the exception to the second half, because it would rather be late than wrong.

Engines that are the user's own keep neither half by themselves: a function, a program behind pipes
(`external`), a file made for elsewhere (`kaggle`). They come from a command line only, and whoever asks them
looks at the column that they return.

Engines of ours read the discs of a board, not the moves that led to it. A board put together from a picture
of it will do, as long as its discs are those of a game in which the sides took turns.
"""

import sys
from collections.abc import Callable
from typing import TypeAlias

from gateway.game.board import Board

Engine: TypeAlias = Callable[[Board, float], int]
"""Takes a board that is not over and the seconds that may be spent, more than 0; returns a column."""


class UnknownEngine(ValueError):
    """No engine goes by this name. The message is one line and says what there is."""


class EngineUnavailable(RuntimeError):
    """An engine needs what is not installed. The message is one line and says what to install."""


class EngineError(RuntimeError):
    """An engine that is not ours found no move. The message is one line and says why."""


class EngineLate(EngineError):
    """It found none in its time."""


# What is said of code of the user's that raised something. Knows Python's errors, and no engine.


def in_words(error: BaseException) -> str:
    """Return in one line what an engine raised; where it lacks a module, how to install that for engines."""
    words = " ".join(f"{type(error).__name__}: {error}".split())
    if isinstance(error, ModuleNotFoundError) and error.name and "." not in error.name:
        words += f"; to install it where engines run: {sys.executable} -m pip install {error.name}"
    return words

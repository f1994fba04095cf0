"""Agents of Kaggle's ConnectX, without the package kaggle-environments: a Python file's last callable.

Knows what that package hands to an agent, and how it keeps its time: 2 seconds for a move, and 60 that all
moves of a game together may take beyond that. A file is executed once for each game, as there. An agent
cannot be stopped: one that takes longer than it may is told so when it answers.

It runs the user's file, so its name must come from the user's command line, and never from the network.
"""

import os
import sys
from collections.abc import Callable
from operator import index
from pathlib import Path
from time import monotonic
from types import CodeType
from typing import Any

from gateway.engines import EngineLate, UnknownEngine, in_words
from gateway.engines.external import follows
from gateway.game.board import COLUMNS, ROWS, Board

MOVE = 2.0
"""Seconds for a move, or as many as the engine may take, if these are fewer."""
OVERAGE = 60.0
"""Seconds beyond these, for all moves of a game together."""


class Struct(dict[str, Any]):
    """A dictionary whose items are attributes as well."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None

    def __setattr__(self, name: str, value: Any) -> None:
        self[name] = value


def agent_in(file: str) -> "Agent":
    """Return the agent of a file. Raises UnknownEngine where there is none."""
    try:
        return Agent(file, code_in(file))
    except UnknownEngine:
        raise
    except (Exception, SystemExit) as error:  # anybody may have written it
        raise UnknownEngine(f"the agent {file!r} cannot be executed: {in_words(error)}") from error


def code_in(file: str) -> CodeType:
    """Return what a file says, compiled and not executed. Raises UnknownEngine."""
    try:
        return compile(Path(file).read_bytes(), file, "exec")
    except OSError as error:
        raise UnknownEngine(f"the agent {file!r} cannot be read: {error.strerror}") from None
    except (SyntaxError, ValueError) as error:
        raise UnknownEngine(f"the agent {file!r} cannot be executed: {in_words(error)}") from error


class Agent:
    """An agent, game after game."""

    def __init__(self, file: str, code: CodeType) -> None:
        """Execute the file. Raises what it raises; LookupError where nothing in it can be called."""
        self._file = file
        self._code = code
        self._agent: Callable[..., Any] = _last_callable(file, code)
        self._is_new = True
        self._left: Board | None = None
        """The board after its latest move, if it could be played."""
        self._overage = OVERAGE

    def __call__(self, board: Board, budget: float) -> Any:
        """Return what the agent answers. Raises EngineLate where it took too long, and what it raises."""
        if not self._is_new and (self._left is None or not follows(self._left, board)):
            self._agent, self._overage = _last_callable(self._file, self._code), OVERAGE
        limit = min(MOVE, budget)
        arguments = [observation(board, self._overage), configuration(limit, self._file)]
        self._is_new = False
        start = monotonic()
        choice = self._agent(*arguments[: _count(self._agent)])
        beyond = monotonic() - start - limit
        self._left = _after(board, choice)
        if beyond > self._overage:
            raise EngineLate(
                f"the agent took {limit + beyond:.1f} s, which is more than {limit:g} s and what was left"
                f" of the game's {OVERAGE:g} s for moves that take longer"
            )
        self._overage -= max(0.0, beyond)
        return choice


def observation(board: Board, overage: float) -> Struct:
    """Return what an agent sees: the cells row by row, the top row first; 1 and 2 are the two sides."""
    cells = [0] * (COLUMNS * ROWS)
    for column, row, side in board.placed():
        cells[(ROWS - 1 - row) * COLUMNS + column] = side + 1
    return Struct(remainingOverageTime=overage, step=len(board.moves), board=cells, mark=board.turn + 1)


def configuration(limit: float, file: str) -> Struct:
    """Return the settings of the environment, with `limit` seconds for a move."""
    return Struct(
        columns=COLUMNS,
        rows=ROWS,
        inarow=4,
        actTimeout=limit,
        timeout=limit,
        agentTimeout=OVERAGE,
        episodeSteps=1000,
        runTimeout=1200,
        __raw_path__=file,
    )


def _last_callable(file: str, code: CodeType) -> Callable[..., Any]:
    """Execute a file, which may import what lies beside it, and return the last callable that it made."""
    made: dict[str, Any] = {}
    folder = os.path.dirname(os.path.abspath(file))
    if folder not in sys.path:
        sys.path.append(folder)
    exec(code, made)
    callables = [each for each in made.values() if callable(each)]
    if not callables:
        raise LookupError("there is no function in it")
    found: Callable[..., Any] = callables[-1]
    return found


def _count(agent: Callable[..., Any]) -> int | None:
    """Return how many arguments are handed over: as many as a function takes, all to anything else."""
    code = getattr(agent, "__code__", None)
    return getattr(code, "co_argcount", None)


def _after(board: Board, choice: Any) -> Board | None:
    try:
        return board.drop(index(choice))
    except (TypeError, ValueError):
        return None

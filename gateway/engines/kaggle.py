"""Agents for Kaggle's ConnectX. The package kaggle-environments is not needed.

An agent is the last callable of a Python file. Knows the arguments that the package passes to an agent, and
its time limits. As in that package, the file is executed once for each game. An agent cannot be stopped, so a
late agent fails only when it answers. The name of the file must come from the user's command line, never from
the network.
"""

import os
import sys
from collections.abc import Callable
from time import monotonic
from types import CodeType
from typing import Any

from gateway.engines import EngineLate, UnknownEngine, in_words
from gateway.engines.external import after, follows
from gateway.engines.files import code_in
from gateway.game.board import COLUMNS, ROWS, Board

MOVE = 2.0
"""Seconds for a move. If the engine's budget is less, the budget applies."""
OVERAGE = 60.0
"""Seconds that an agent may use in addition to `MOVE`, in all moves of a game together."""


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
    """Return the agent of a file. Raises UnknownEngine if there is none."""
    try:
        return Agent(file, code_in(file))
    except UnknownEngine:
        raise
    except (Exception, SystemExit) as error:  # the user's code may raise anything
        raise UnknownEngine(f"the agent {file!r} cannot be executed: {in_words(error)}") from error


class Agent:
    """An engine that calls the agent of a file, which is executed again for each game."""

    def __init__(self, file: str, code: CodeType) -> None:
        """Execute the file. Raises any exception of the file, and LookupError if it has no callable."""
        self._file = file
        self._code = code
        self._agent: Callable[..., Any] = _last_callable(file, code)
        self._is_new = True
        self._left: Board | None = None
        """The board after the agent's latest move; None if it has not moved, or if its move was illegal."""
        self._overage = OVERAGE

    def __call__(self, board: Board, budget: float) -> Any:
        """Return the agent's answer. Raises EngineLate if it is late, and any exception of the agent."""
        if not self._is_new and (self._left is None or not follows(self._left, board)):
            self._agent, self._overage = _last_callable(self._file, self._code), OVERAGE
        limit = min(MOVE, budget)
        arguments = [observation(board, self._overage), configuration(limit, self._file)]
        self._is_new = False
        start = monotonic()
        choice = self._agent(*arguments[: _count(self._agent)])
        beyond = monotonic() - start - limit
        self._left = after(board, choice)
        if beyond > self._overage:
            raise EngineLate(
                f"the agent took {limit + beyond:.1f} s, which is more than {limit:g} s and what was left"
                f" of the game's {OVERAGE:g} s for moves that take longer"
            )
        self._overage -= max(0.0, beyond)
        return choice


def observation(board: Board, overage: float) -> Struct:
    """Return the agent's first argument. Cells are in rows, the top row first; 1 and 2 are the two sides."""
    cells = [0] * (COLUMNS * ROWS)
    for column, row, side in board.placed():
        cells[(ROWS - 1 - row) * COLUMNS + column] = side + 1
    return Struct(remainingOverageTime=overage, step=len(board.moves), board=cells, mark=board.turn + 1)


def configuration(limit: float, file: str) -> Struct:
    """Return the agent's second argument: the settings, with `limit` seconds for a move."""
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
    """Execute a file, which may import modules of its folder, and return the last callable in it."""
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
    """Return the number of arguments of a function; None for other callables, which get all arguments."""
    code = getattr(agent, "__code__", None)
    return getattr(code, "co_argcount", None)

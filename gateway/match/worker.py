"""The program that plays two engines against each other. It reads and writes lines of JSON.

The first line has the engines and time limits. The answer is a line for each engine: null, or the error if it
cannot be loaded. Each further line asks for a game, and the answer is the game. An engine that fails loses
its game. The user's code may crash or block the process. So before each move of such an engine, a line
reports the game as lost by the engine; this is the result if the process ends or hangs.
"""

import json
import math
import os
import signal
import sys
from collections.abc import Callable, Sequence
from operator import index
from random import Random
from time import perf_counter, time
from traceback import format_exception
from types import FrameType
from typing import Any

from gateway.engines import Engine, EngineError, EngineLate, EngineUnavailable, UnknownEngine, in_words
from gateway.engines.catalogue import THINK, engine_named, limits_itself, runs_user_code
from gateway.game.board import COLUMNS, Board
from gateway.game.text import printable
from gateway.match.openings import balanced

MARGIN = 0.1
"""A move is late after ``--think`` and this many seconds more, since the machine may be busy."""
PART = 0.9
"""An engine's budget for a move is at most this part of ``--idle``."""
SHOWN = 300
"""The maximum length of the text about an engine's failure, in characters."""


class _TooLate(BaseException):
    """Raised at SIGALRM, when an engine has exceeded its time."""


class _Over(BaseException):
    """Raised at SIGTERM, which ends the program."""


def main() -> None:
    """Play until stdin ends or SIGTERM arrives. The output of engines goes to stderr.

    SIGTERM also interrupts a move, so that engines which run external programs can end them.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _leave)
    try:
        _play()
    except _Over:
        pass
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)  # do not interrupt the engines' cleanup


def _play() -> None:
    signal.signal(signal.SIGALRM, _stop)
    asked, answers = os.fdopen(os.dup(0)), os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)  # children of engines must not inherit the pipes
    os.dup2(2, 1)

    def tell(what: object) -> None:
        answers.write(json.dumps(what) + "\n")
        answers.flush()

    settings = json.loads(asked.readline())
    names, think = settings["engines"], settings["think"]
    engines = []
    for name in names:
        try:
            engines.append(engine_named(name))
        except (UnknownEngine, EngineUnavailable) as error:
            sys.stderr.write("".join(format_exception(error)))
            tell(printable(str(error)[:SHOWN]))
            return
        tell(None)
    budgets = [think or (math.inf if limits_itself(name) else THINK) for name in names]
    announced = [runs_user_code(name) for name in names]
    play = Duel(engines, budgets, settings["idle"], think, settings["strict"], announced, tell).play
    for line in asked:
        tell(play(json.loads(line)))


def _leave(_: int, __: FrameType | None) -> None:
    raise _Over


def _stop(_: int, __: FrameType | None) -> None:
    raise _TooLate


class Duel:
    """Plays games between two engines."""

    def __init__(
        self,
        engines: Sequence[Engine],
        budgets: Sequence[float],
        idle: float,
        think: float | None = None,
        strict: bool = False,
        announced: Sequence[bool] = (False, False),
        tell: Callable[[object], None] = print,
    ) -> None:
        """Set the limits for one move, in seconds. `budgets` has the thinking time for each engine.

        An engine that takes longer than `idle` loses the game. A move that takes longer than `think` plus
        `MARGIN` is late; with `strict` it loses the game. Before each move of an engine for which `announced`
        is true, `tell` is called with the game as it would be if the engine lost now.
        """
        self._engines = engines
        self._budgets = [min(budget, PART * idle) for budget in budgets]
        self._think = think
        self._late = math.inf if think is None else think + MARGIN
        self._strict = strict
        self._longest, self._limit = idle, f"{idle:g} s"
        """The time after which an engine is stopped, and the name of that limit in texts."""
        if strict and self._late < idle:
            self._longest, self._limit = self._late, f"the {think:g} s of --think"
        self._announced = announced
        self._tell = tell

    def play(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Play the game that `asked` describes; return its times, moves, winner, reason, and any failure."""
        opening = asked["opening"]
        if opening is None:
            opening = balanced(asked["discs"], Random(asked["lot"]))
        began, thought, late = time(), [0.0, 0.0], [0, 0]
        board, fault = Board(), None

        def stands(fault: tuple[str, str] | None, *, over: bool = True) -> dict[str, Any]:
            return {
                "over": over,
                "began": round(1000 * began),
                "ended": round(1000 * time()),
                "opening": opening,
                "moves": "".join(map(str, board.moves)),
                "winner": 1 - board.turn if fault else board.winner,
                "reason": fault[0] if fault else "full" if board.winner is None else "four",
                "thought": [round(1000 * each) for each in thought],
                "late": late,
                "why": printable(fault[1][:SHOWN]) if fault else "",
            }

        for column in opening:
            board = board.drop(int(column))
        while not board.over and fault is None:
            number = (asked["first"] + board.turn) % 2
            if self._announced[number]:
                self._tell(stands(("left", ""), over=False))
            start = perf_counter()
            column, fault = self._column(number, board)
            seconds = perf_counter() - start
            thought[board.turn] += seconds
            if seconds > self._late:
                late[board.turn] += 1
                if self._strict and fault is None:
                    fault = "time", f"the engine took {seconds:.2f} s, with --think {self._think:g}"
            board = board if fault else board.drop(column)
        return stands(fault)

    def _column(self, number: int, board: Board) -> tuple[int, tuple[str, str] | None]:
        """Return the engine's column and None; after a failure, 0 and the reason and text of the loss."""
        try:
            signal.setitimer(signal.ITIMER_REAL, self._longest)
            try:
                column = self._engines[number](board, self._budgets[number])
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
            try:
                chosen = index(column)  # accepts numpy's integers
            except TypeError:
                chosen = -1
            if chosen in range(COLUMNS) and board.has_room(chosen):
                return chosen, None
            return 0, ("illegal", f"the engine chose {column!r}, which cannot be played")
        except _TooLate:
            return 0, ("time", f"the engine chose nothing within {self._limit}")
        except EngineLate as error:
            return 0, ("time", str(error))
        except EngineError as error:
            return 0, ("left", f"the engine failed: {error}")
        except (Exception, SystemExit) as error:  # the user's code may raise anything
            sys.stderr.write("".join(format_exception(error)))
            return 0, ("left", f"the engine failed: {in_words(error)}")


if __name__ == "__main__":
    main()

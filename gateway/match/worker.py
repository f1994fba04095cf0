"""The process that plays two engines against each other: lines of JSON in, lines of JSON out.

The first line in names the engines and says how long they may think; it is answered by a line for each
engine, null or why it cannot be had. Each further line says which of the two moves first, and from which
moves the game starts, or how many discs are to be drawn; it is answered by the game. Who fails loses it.

An engine may do what it likes to its process. So before a move of the user's code a line says how the game
stands, as lost by who is to move: that is its result if the process ends there, or hangs.
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
"""Seconds beyond those that it may think after which a move is late: the machine may be busy."""
PART = 0.9
"""An engine is told to think for so much of the time at most that any player may take."""
SHOWN = 300
"""Characters at most of why an engine failed."""


class _TooLate(BaseException):
    """An engine thinks for longer than any player may."""


class _Over(BaseException):
    """Nobody waits for a game any more."""


def main() -> None:
    """Play until nobody asks for a game any more. What an engine prints goes to stderr.

    SIGTERM ends a thought, too, so that an engine that is a program of its own is ended with this process.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _leave)
    try:
        _play()
    except _Over:
        pass
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)  # engines end in peace


def _play() -> None:
    signal.signal(signal.SIGALRM, _stop)
    asked, answers = os.fdopen(os.dup(0)), os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)  # what engines start inherits these, and neither pipe
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
    """Two engines, who play game after game."""

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
        """All times are seconds for a move: `budgets` are what each engine is told.

        Who takes longer than `idle` loses the game. Who takes longer than `think` is late, which loses the
        game if that is `strict`. Before a move of an engine that is `announced`, `tell` is told how the game
        stands.
        """
        self._engines = engines
        self._budgets = [min(budget, PART * idle) for budget in budgets]
        self._think = think
        self._late = math.inf if think is None else think + MARGIN
        self._strict = strict
        self._longest, self._limit = idle, f"{idle:g} s"
        """After which time an engine is stopped, and what it then has not kept to."""
        if strict and self._late < idle:
            self._longest, self._limit = self._late, f"the {think:g} s of --think"
        self._announced = announced
        self._tell = tell

    def play(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Return the game: its times, moves, winner, reason, and why an engine failed."""
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
        """Return a column; or else how the game is lost, and why."""
        try:
            signal.setitimer(signal.ITIMER_REAL, self._longest)
            try:
                column = self._engines[number](board, self._budgets[number])
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
            if index(column) in range(COLUMNS) and board.has_room(index(column)):  # numpy's numbers, too
                return index(column), None
            return 0, ("illegal", f"the engine chose {column!r}, which cannot be played")
        except _TooLate:
            return 0, ("time", f"the engine chose nothing within {self._limit}")
        except EngineLate as error:
            return 0, ("time", str(error))
        except EngineError as error:
            return 0, ("left", f"the engine failed: {error}")
        except (Exception, SystemExit) as error:  # anybody may have written it
            sys.stderr.write("".join(format_exception(error)))
            return 0, ("left", f"the engine failed: {in_words(error)}")


if __name__ == "__main__":
    main()

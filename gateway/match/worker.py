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
from dataclasses import dataclass
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
    limits = Limits(
        budgets=[think or (math.inf if limits_itself(name) else THINK) for name in names],
        idle=settings["idle"],
        think=think,
        strict=settings["strict"],
    )
    game = Game(engines, limits, [runs_user_code(name) for name in names], tell)
    for line in asked:
        tell(game.play(json.loads(line)))


def _leave(_: int, __: FrameType | None) -> None:
    raise _Over


def _stop(_: int, __: FrameType | None) -> None:
    raise _TooLate


@dataclass(frozen=True, slots=True)
class Limits:
    """How long engines may think about a move, in seconds."""

    budgets: Sequence[float]
    """What each of them is told."""
    idle: float
    """Who takes longer loses the game."""
    think: float | None = None
    """Who takes longer is late, where somebody set it."""
    strict: bool = False
    """Whether who is late loses the game, too."""

    def is_late(self, seconds: float) -> bool:
        """Whether a move that took so long is late."""
        return self.think is not None and seconds > self.think + MARGIN

    def longest(self) -> tuple[float, str]:
        """Return after which time an engine is stopped, and what it then has not kept to."""
        if self.strict and self.think is not None and self.think + MARGIN < self.idle:
            return self.think + MARGIN, f"the {self.think:g} s of --think"
        return self.idle, f"{self.idle:g} s"


class Game:
    """A game, again and again."""

    def __init__(
        self,
        engines: Sequence[Engine],
        limits: Limits,
        announced: Sequence[bool] = (False, False),
        tell: Callable[[object], None] = print,
    ) -> None:
        """Before a move of an engine that is `announced`, `tell` is told how the game stands."""
        self._engines = engines
        self._limits = limits
        self._announced = announced
        self._tell = tell

    def play(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Return the game: its times, moves, winner, reason, and why an engine failed."""
        opening = asked["opening"]
        if opening is None:
            opening = balanced(asked["discs"], Random(asked["lot"]))
        began, thought, late = time(), [0.0, 0.0], [0, 0]
        board, fault = Board(), None

        def found(fault: tuple[str, str] | None, *, over: bool = True) -> dict[str, Any]:
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
                "said": printable(fault[1][:SHOWN]) if fault else "",
            }

        for column in opening:
            board = board.drop(int(column))
        while not board.over and fault is None:
            number = (asked["first"] + board.turn) % 2
            if self._announced[number]:
                self._tell(found(("left", ""), over=False))
            start = perf_counter()
            column, fault = self._column(number, board)
            seconds = perf_counter() - start
            thought[board.turn] += seconds
            if self._limits.is_late(seconds):
                late[board.turn] += 1
                if self._limits.strict and fault is None:
                    fault = "time", f"the engine took {seconds:.2f} s, with --think {self._limits.think:g}"
            board = board if fault else board.drop(column)
        return found(fault)

    def _column(self, number: int, board: Board) -> tuple[int, tuple[str, str] | None]:
        """Return a column; or else how the game is lost, and why."""
        longest, limit = self._limits.longest()
        try:
            signal.setitimer(signal.ITIMER_REAL, longest)
            try:
                budget = min(self._limits.budgets[number], PART * self._limits.idle)
                column = self._engines[number](board, budget)
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
            if index(column) in range(COLUMNS) and board.has_room(index(column)):  # numpy's numbers, too
                return index(column), None
            return 0, ("illegal", f"the engine chose {column!r}, which cannot be played")
        except _TooLate:
            return 0, ("time", f"the engine chose nothing within {limit}")
        except EngineLate as error:
            return 0, ("time", str(error))
        except EngineError as error:
            return 0, ("left", f"the engine failed: {error}")
        except (Exception, SystemExit) as error:  # anybody may have written it
            sys.stderr.write("".join(format_exception(error)))
            return 0, ("left", f"the engine failed: {in_words(error)}")


if __name__ == "__main__":
    main()

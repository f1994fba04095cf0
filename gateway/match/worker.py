"""The process that plays two engines against each other: a line of JSON in, a line with the game out.

The first line names the engines and says how long they may think. Each further one says which of the two
moves first, and from which moves the game starts, or how many discs are to be drawn. An engine that fails
loses the game; with it goes the reason. It has a process of its own because an engine takes all the time of a
core, and may do what it likes to the process that it is in.
"""

import json
import math
import os
import signal
import sys
from operator import index
from random import Random
from time import perf_counter, time
from traceback import format_exception
from types import FrameType
from typing import Any, TextIO

from gateway.engines import Engine, EngineLate
from gateway.engines.catalogue import engine_named, limits_itself
from gateway.game.board import COLUMNS, Board
from gateway.game.text import printable
from gateway.match.openings import balanced

THINK = 1.0
"""Seconds for a move of an engine that would use all there is, where nobody says how much that is."""
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
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    settings = json.loads(sys.stdin.readline())
    names = settings["engines"]
    engines = [engine_named(name) for name in names]
    think = settings["think"]
    budgets = [think or (math.inf if limits_itself(name) else THINK) for name in names]
    for line in sys.stdin:
        _answer(answers, _Game(engines, budgets, settings["idle"]).play(json.loads(line)))


def _leave(_: int, __: FrameType | None) -> None:
    raise _Over


def _stop(_: int, __: FrameType | None) -> None:
    raise _TooLate


def _answer(answers: TextIO, found: dict[str, Any]) -> None:
    answers.write(json.dumps(found) + "\n")
    answers.flush()


class _Game:
    """One game."""

    def __init__(self, engines: list[Engine], budgets: list[float], idle: float) -> None:
        self._engines = engines
        self._budgets = budgets
        self._idle = idle

    def play(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Return the game: its times, moves, winner, reason, and why an engine failed."""
        opening = asked["opening"]
        if opening is None:
            opening = balanced(asked["discs"], Random(asked["lot"]))
        began, thought = time(), [0.0, 0.0]
        board, fault = Board(), None
        for column in opening:
            board = board.drop(int(column))
        while not board.over and fault is None:
            number = (asked["first"] + board.turn) % 2
            start = perf_counter()
            column, fault = self._column(number, board)
            thought[board.turn] += perf_counter() - start
            board = board if fault else board.drop(column)
        loser = board.turn
        return {
            "began": round(1000 * began),
            "ended": round(1000 * time()),
            "opening": opening,
            "moves": "".join(map(str, board.moves)),
            "winner": 1 - loser if fault else board.winner,
            "reason": fault[0] if fault else "full" if board.winner is None else "four",
            "thought": [round(1000 * each) for each in thought],
            "said": printable(fault[1][:SHOWN]) if fault else "",
        }

    def _column(self, number: int, board: Board) -> tuple[int, tuple[str, str] | None]:
        """Return a column; or else how the game is lost, and why."""
        try:
            signal.setitimer(signal.ITIMER_REAL, self._idle)
            try:
                column = self._engines[number](board, min(self._budgets[number], PART * self._idle))
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
            if index(column) in range(COLUMNS) and board.has_room(index(column)):  # numpy's numbers, too
                return index(column), None
            return 0, ("illegal", f"the engine chose {column!r}, which cannot be played")
        except _TooLate:
            return 0, ("time", f"the engine chose nothing within {self._idle:g} s")
        except EngineLate as error:
            return 0, ("time", str(error))
        except (Exception, SystemExit) as error:  # anybody may have written it
            sys.stderr.write("".join(format_exception(error)))
            return 0, ("left", " ".join(f"the engine failed: {type(error).__name__}: {error}".split()))


if __name__ == "__main__":
    main()

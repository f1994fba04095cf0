"""Choosers of columns: an engine in a thread, or a person at the prompt.

Knows boards and time. Does not know what happens to the chosen column. The connection is served while a
chooser thinks, and a choice that is no longer needed can be cancelled.
"""

import math
import os
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from operator import index
from traceback import format_exception
from types import TracebackType
from typing import Protocol

import trio

from adapters.bot.screen import position
from adapters.client.talk import Asked
from gateway.engines import Engine, EngineError, in_words
from gateway.engines.catalogue import THINK
from gateway.game.board import COLUMNS, Board

PART = 20
"""A move takes at most this fraction of the time that is left for the game: 1 / 20."""
_LEAST = 0.001
_CHUNK = 4096
SHOWN = 100
"""The most characters of an engine's choice in an error."""


class EndOfInput(Exception):
    """The input of the person at the prompt has ended."""


class EngineFailed(Exception):
    """An engine returned no column that can be played."""

    def __init__(self, what: str, report: str = "") -> None:
        super().__init__(what)
        self.report = report
        """The engine's traceback, in lines."""


class Chooser(Protocol):
    """Chooses columns."""

    async def choose(self, asked: Asked) -> int:
        """Return a column that can be played. Raises EndOfInput, EngineFailed."""


def budget(left: float | None, think: float | None, pace: float) -> float:
    """Return the seconds that a move may take.

    `left` is the time left for the game, and `think` is the limit from the options; None if unknown. If both
    are unknown, the result is `pace`.
    """
    if left is None:
        return pace if think is None else think
    return max(_LEAST, min(left / PART, math.inf if think is None else think))


@dataclass(frozen=True, slots=True)
class EngineChooser:
    """An engine that chooses columns."""

    engine: Engine
    think: float | None = None
    """The most seconds for a move, if the options limit them."""
    pace: float = THINK
    """Seconds for a move if no time limit is known."""

    async def choose(self, asked: Asked) -> int:
        """Return the engine's column, computed in a thread."""
        think = partial(_chosen, self.engine, asked.board, budget(asked.seconds, self.think, self.pace))
        return await trio.to_thread.run_sync(think, abandon_on_cancel=True)


def _chosen(engine: Engine, board: Board, seconds: float) -> int:
    try:
        choice = engine(board, seconds)
    except EngineError as error:  # the engine is a separate program, so no traceback of ours helps
        raise EngineFailed(f"the engine failed: {error}; {position(board)}") from error
    except (Exception, SystemExit) as error:  # the engine may be anyone's code
        report = "".join(format_exception(error.with_traceback(_in_engine(error))))
        raise EngineFailed(f"the engine failed: {in_words(error)}; {position(board)}", report) from error
    try:
        column = int(index(choice))  # accepts numpy's integers, too; True is 1
    except Exception:  # mostly TypeError; but what the engine chose may be of anyone's class
        column = -1
    if column in range(COLUMNS) and board.has_room(column):
        return column
    raise EngineFailed(f"the engine chose {_shown(choice)}, which cannot be played; {position(board)}")


def _shown(choice: object) -> str:
    """Return what an engine chose, for an error. It may be a whole array."""
    try:
        text = " ".join(repr(choice).split())
    except Exception:  # as above
        return f"a {type(choice).__name__}"
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}..."


def _in_engine(error: BaseException) -> TracebackType | None:
    """Return the traceback without this module's frame."""
    return None if error.__traceback__ is None else error.__traceback__.tb_next


def _typed() -> bytes:
    """Read standard input directly. A thread that waits in `sys.stdin` delays the interpreter's exit."""
    return os.read(0, _CHUNK)


class Keyboard:
    """The lines that a person types."""

    def __init__(self, read: Callable[[], bytes] = _typed) -> None:
        self._read = read
        self._typed, self._lines = trio.open_memory_channel[str](math.inf)

    async def run(self) -> None:
        """Read until the end of the input."""
        rest = b""
        with self._typed:
            while data := await trio.to_thread.run_sync(self._some, abandon_on_cancel=True):
                *lines, rest = (rest + data).split(b"\n")
                for line in lines:
                    self._typed.send_nowait(line.decode(errors="replace"))
            if rest:
                self._typed.send_nowait(rest.decode(errors="replace"))

    async def line(self) -> str:
        """Return the next line. Raises EndOfInput."""
        try:
            return await self._lines.receive()
        except trio.EndOfChannel:
            raise EndOfInput from None

    def _some(self) -> bytes:
        try:
            return self._read()
        except OSError:
            return b""


@dataclass(frozen=True, slots=True)
class Person:
    """A person, asked until the answer is a column."""

    line: Callable[[], Awaitable[str]]
    """Returns the next line typed; raises EndOfInput."""
    tell: Callable[[str], None]
    """Shows a text without an end of line."""

    async def choose(self, asked: Asked) -> int:
        """Return the column that the person types."""
        clock = "" if asked.seconds is None else f", {asked.seconds:.1f} s left"
        self.tell(f"your column (0 to {COLUMNS - 1}{clock}): ")
        while True:
            text = (await self.line()).strip()
            objection = objection_to(text, asked.board)
            if objection is None:
                return int(text)
            self.tell(f"{objection}: ")


def objection_to(text: str, board: Board) -> str | None:
    """Return why the text does not name a column that can be played; None if it does."""
    if not (text.isascii() and text.isdecimal() and len(text) == 1 and int(text) < COLUMNS):
        return f"type the number of a column, 0 to {COLUMNS - 1}"
    if not board.has_room(int(text)):
        *others, last = [str(column) for column in range(COLUMNS) if board.has_room(column)]
        return f"column {text} is full, choose {' or '.join([', '.join(others), last] if others else [last])}"
    return None

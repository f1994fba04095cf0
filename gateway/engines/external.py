"""Engines that are programs of their own: lines to their standard input, an answer from their output.

Knows processes, pipes, time, and what the lines say (`Speech`). The rules it keeps:

- A process is started when it is first needed, and again whenever it has ended. One that ends while it is
  asked is asked once more.
- A process that does not answer in its time and `LATE` seconds more is killed with all that it started. So is
  one that answers what nobody can understand, or before it is asked, and one whose answer nobody waits for
  any more. What one that ends by itself has started is killed as well.
- Its standard error is ours: its author sees what it says there.

It runs the user's command, so it must come from the user's command line, and never from the network.
"""

import atexit
import os
import re
import select
import shlex
import shutil
import signal
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from threading import Lock, current_thread, main_thread
from time import monotonic
from typing import ClassVar, Protocol

from gateway.engines import EngineError, EngineLate, UnknownEngine
from gateway.game.board import COLUMNS, ROWS, Board, position_string

# What is said to engines that are programs of their own.
#
# `Platform` is what the four-in-a-row platforms said to their bots, theaigames.com and later riddles.io:
# lines with settings when the game begins, then for each move the field and a request, which ``place_disc 3``
# answers. The two differ in the field, the numbers of the players, the order and the names of the settings,
# and in what a round is, as recordings in the repositories of bots show. `Plain` is a position string in, and
# a column out. Columns are counted from 0 by the platforms, and from 1 by the other. Time is in milliseconds.


class Speech(Protocol):
    """What is said to an engine, and what its answer means."""

    one_game_each: ClassVar[bool]
    """Whether each game needs a process of its own."""
    expected: ClassVar[str]
    """What an answer looks like, in words."""

    def greeting(self, board: Board, seconds: float) -> Iterator[str]:
        """Yield the lines for a process that was just started."""

    def question(self, board: Board, seconds: float) -> Iterator[str]:
        """Yield the lines that ask for a move within so many seconds."""

    def column(self, answer: str) -> int | None:
        """Return the column, 0 to 6, that a line names; None if it names none."""


_PLACED = re.compile("place_disc +([0-6])", re.ASCII)


@dataclass(frozen=True, slots=True)
class Platform:
    """The lines of the platforms."""

    marks: str
    """An empty cell, a disc of the first mover, of the second."""
    between_rows: str
    """What stands between two rows of the field, the top row first."""
    settings: tuple[str, ...]
    """Their names in the order in which they are told: some bots count on it."""
    moves_a_round: int
    one_game_each: ClassVar[bool] = True
    expected: ClassVar[str] = "place_disc and a column from 0 to 6 (field=position is for a column alone)"

    def greeting(self, board: Board, seconds: float) -> Iterator[str]:
        """Yield the settings."""
        players = [f"player{mark}" for mark in self.marks[1:]]
        time = str(_milliseconds(seconds))
        told = {
            "timebank": time,
            "time_per_move": time,
            "player_names": ",".join(players),
            "your_bot": players[board.turn],
            "your_botid": self.marks[1 + board.turn],
            **dict.fromkeys(("field_columns", "field_width"), str(COLUMNS)),
            **dict.fromkeys(("field_rows", "field_height"), str(ROWS)),
        }
        for name in self.settings:
            yield f"settings {name} {told[name]}"

    def question(self, board: Board, seconds: float) -> Iterator[str]:
        """Yield the field and the request."""
        yield f"update game round {len(board.moves) // self.moves_a_round + 1}"
        yield f"update game field {self.field(board)}"
        yield f"action move {_milliseconds(seconds)}"

    def field(self, board: Board) -> str:
        """Return the cells."""
        rows = [[self.marks[0]] * COLUMNS for _ in range(ROWS)]
        for column, row, side in board.placed():
            rows[ROWS - 1 - row][column] = self.marks[1 + side]
        return self.between_rows.join(",".join(row) for row in rows)

    def column(self, answer: str) -> int | None:
        """Return the column of ``place_disc 3``."""
        found = _PLACED.fullmatch(answer)
        return int(found[1]) if found else None


@dataclass(frozen=True, slots=True)
class Plain:
    """A position string in, a column out. The empty board is an empty line."""

    one_game_each: ClassVar[bool] = False
    expected: ClassVar[str] = "a column from 1 to 7"

    def greeting(self, board: Board, seconds: float) -> Iterator[str]:
        """Say nothing."""
        yield from ()

    def question(self, board: Board, seconds: float) -> Iterator[str]:
        """Yield the position."""
        yield position_string(board.moves)

    def column(self, answer: str) -> int | None:
        """Return the column."""
        return int(answer) - 1 if answer in tuple("1234567") else None


def _milliseconds(seconds: float) -> int:
    return max(1, round(1000 * seconds))


_PLAYERS, _TIMES = ("player_names", "your_bot"), ("timebank", "time_per_move")
FLAT = Platform(".01", ",", (*_PLAYERS, *_TIMES, "your_botid", "field_width", "field_height"), 2)
"""As riddles.io had it."""
IN_ROWS = Platform("012", ";", (*_TIMES, *_PLAYERS, "your_botid", "field_columns", "field_rows"), 1)
"""As theaigames.com had it."""
SPEECHES: Mapping[str, Speech] = {"flat": FLAT, "rows": IN_ROWS, "position": Plain()}
"""What can be said, by the word for the field."""
USUAL = "flat"


LATE = 1.0
"""Seconds beyond its time after which a program is killed: it may have to be started first."""
LONGEST = 1e6
"""Seconds for a move at most."""
_FAREWELL = 0.3
"""Seconds that a program has to end by itself when nothing more is said to it."""
_LONGEST_LINE = 1000
_OPTION = "field="
_SHOWN = 60


def program(text: str) -> "Program":
    """Return the engine behind ``exec:``: a command line, perhaps with ``field=`` before it.

    Raises UnknownEngine where it cannot be run.
    """
    option, _, command = text.partition(" ")
    field = option.removeprefix(_OPTION)
    if field == option:
        return Program(text, SPEECHES[USUAL])
    if field not in SPEECHES:
        raise UnknownEngine(f"{option!r} is none of {', '.join(_OPTION + each for each in SPEECHES)}")
    return Program(command, SPEECHES[field])


class Program:
    """An engine that is a program of its own."""

    def __init__(self, command: str, speech: Speech) -> None:
        """Split a command line, without a shell. Raises UnknownEngine where it cannot be run."""
        self._words = _words(command)
        self._speech = speech
        self._lock = Lock()
        self._child: _Child | None = None
        atexit.register(self.close)

    def __call__(self, board: Board, budget: float) -> int:
        """Return the column that the program answers. Raises EngineError."""
        seconds = min(budget, LONGEST)
        deadline = monotonic() + seconds + LATE
        with suppress(_EndedError):
            return self._column(board, seconds, deadline)
        try:
            return self._column(board, seconds, deadline)
        except _EndedError as ended:
            raise EngineError(f"{self._name} ended without an answer: {ended}") from None

    def close(self) -> None:
        """End the process, if there is one. The next move starts another."""
        with self._lock:
            child, self._child = self._child, None
            if child is not None:
                child.leave()

    @property
    def _name(self) -> str:
        return " ".join(self._words)

    def _column(self, board: Board, seconds: float, deadline: float) -> int:
        """Return the answer of one process. Raises EngineError, _EndedError."""
        child = self._child_for(board, seconds)
        try:
            if unasked := child.unasked():
                raise EngineError(f"{self._name} said {unasked[:_SHOWN]!r} before it was asked for a move")
            column = self._understood(child.ask(self._speech.question(board, seconds), deadline))
            child.left = board.drop(column) if board.has_room(column) else None
            child.is_free = True
        except _EndedError:
            if child is self._child:
                raise
            raise EngineError(f"{self._name} was asked for another move meanwhile") from None
        except TimeoutError:
            late = f"did not answer in {seconds:g} s, and was killed {LATE:g} s later"
            raise EngineLate(f"{self._name} {late} (does it flush its output?)") from None
        finally:
            if not child.is_free or child is not self._child:
                child.close()
        return column

    def _understood(self, answer: str) -> int:
        column = self._speech.column(answer)
        if column is None:
            raise EngineError(f"{self._name} answered {answer[:_SHOWN]!r}, not {self._speech.expected}")
        return column

    def _child_for(self, board: Board, seconds: float) -> "_Child":
        """Return the process for a position, with nothing else to do. Raises EngineError."""
        with self._lock:
            child = self._child
            if child is not None and child.knows(board, self._speech):
                child.is_free = False
                return child
            self._child = None  # before it ends: who asks it then learns that it is not wanted any more
            if child is not None:
                child.leave()
            try:
                with _undisturbed():
                    self._child = child = _Child(self._words)
            except OSError as error:
                raise EngineError(f"{self._name} cannot be run: {error.strerror}") from None
            except BaseException:  # of a handler that has waited
                if self._child is not None:
                    self._child.close()
                raise
        child.tell(self._speech.greeting(board, seconds))
        return child


class _EndedError(Exception):
    """A process ended instead of answering; says how."""


class _Child:
    """A process."""

    def __init__(self, words: list[str]) -> None:
        """Start it. Raises OSError."""
        self._process = subprocess.Popen(
            words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0, start_new_session=True
        )
        self._rest = b""
        self._has_answered = False
        self._is_killed = False
        self.left: Board | None = None
        """The board after its latest move."""
        self.is_free = False
        """Whether it waits for a question."""

    def knows(self, board: Board, speech: Speech) -> bool:
        """Whether it waits, and may be asked about this position after what it was asked before."""
        if not self.is_free or self._process.poll() is not None:
            return False
        return not speech.one_game_each or (self.left is not None and follows(self.left, board))

    def tell(self, lines: Iterable[str]) -> None:
        """Write lines; one that has ended is told nothing."""
        assert self._process.stdin is not None
        with suppress(OSError):
            self._process.stdin.write("".join(f"{line}\n" for line in lines).encode())

    def unasked(self) -> str:
        """Return what it has said since its latest answer, as far as that has come. Raises _EndedError."""
        if self._has_answered:
            with suppress(TimeoutError):
                self._rest += self._read(0)
        return self._rest.decode(errors="replace").strip()

    def ask(self, lines: Iterable[str], deadline: float) -> str:
        """Return the line that it answers. Raises _EndedError, TimeoutError."""
        self.tell(lines)
        while True:
            line, newline, rest = self._rest.partition(b"\n")
            if not newline and len(line) <= _LONGEST_LINE:
                self._rest += self._read(deadline - monotonic())
                continue
            self._rest = rest
            if text := line.decode(errors="replace").strip():
                self._has_answered = True
                return text

    def leave(self) -> None:
        """End it. If somebody else is asking it, that one is told that it ended, and closes it."""
        if self.is_free:
            self.close()
        else:
            self._kill()

    def close(self) -> None:
        """End it, by itself where it waits for a question, and close the pipes."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        if self.is_free:
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(_FAREWELL)
        self._kill()
        self._process.stdout.close()

    def _kill(self) -> None:
        """Kill it and what it has started, once: later its number may be that of other processes."""
        if not self._is_killed:
            self._is_killed = True
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def _read(self, seconds: float) -> bytes:
        """Return some of its output. Raises _EndedError where there is no more of it, TimeoutError."""
        assert self._process.stdout is not None
        waits = select.poll()
        waits.register(self._process.stdout, select.POLLIN)
        if seconds < 0 or not waits.poll(1000 * seconds):
            raise TimeoutError
        if data := os.read(self._process.stdout.fileno(), _LONGEST_LINE):
            return data
        raise _EndedError(self._end())

    def _end(self) -> str:
        """Return in words how it ended, once its output has."""
        try:
            status = self._process.wait(_FAREWELL)
        except subprocess.TimeoutExpired:
            return "it closed its output"
        return f"signal {-status}, {signal.strsignal(-status)}" if status < 0 else f"exit status {status}"


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Defer signal handlers: one that raises would lose the process that is being started."""
    came = list[int]()
    before = {}
    if current_thread() is main_thread():  # no handler runs in any other
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGALRM):
            if callable(signal.getsignal(number)):
                before[number] = signal.signal(number, lambda number, _: came.append(number))
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        for each in came:
            signal.raise_signal(each)


def follows(before: Board, after: Board) -> bool:
    """Whether a board can come one move after another one."""
    (one, two), (first, second) = before.discs, after.discs
    grown = (one & first) == one and (two & second) == two
    return grown and (first | second).bit_count() == (one | two).bit_count() + 1


def _words(command: str) -> list[str]:
    """Return the words of a command line. Raises UnknownEngine where no program goes by the first."""
    try:
        words = shlex.split(command)
        found = words and shutil.which(words[0])
    except ValueError as error:
        raise UnknownEngine(f"the command {command!r} cannot be read: {error}") from None
    if not found:
        what = f"there is no program {words[0]!r}" if words else "there is no command"
        raise UnknownEngine(f"{what}; an engine is run as in exec:./engine or exec:python engine.py")
    return words

"""Engines that are external programs, which read lines on standard input and print an answer.

Knows processes, pipes, time, and the formats of the lines (`Speech`). A process is started when it is needed,
and killed, with all its children, if it is late or its answer is invalid. Programs share the standard error
of this process. The command must come from the user's command line, never from the network.
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
from operator import index
from threading import Lock, current_thread, main_thread
from time import monotonic
from typing import Any, ClassVar, Protocol

from gateway.engines import EngineError, EngineLate, UnknownEngine
from gateway.game.board import COLUMNS, ROWS, Board, position_string

# The formats of lines.
#
# `Platform` is the format of the four-in-a-row platforms theaigames.com and later riddles.io. A process gets
# lines with settings when the game begins, then the field and a request for each move. An answer looks like
# ``place_disc 3``. The two platforms differ in the field, the numbers of the players, the names and order of
# the settings, and the meaning of a round, as recordings in the repositories of bots show. Columns are
# counted from 0, and times are in milliseconds. With `Plain` the question is a position string, and the
# answer is a column, counted from 1.


class Speech(Protocol):
    """The format of questions to an engine and of its answers. What is optional is given here."""

    one_game_each: ClassVar[bool]
    """Whether each game needs a process of its own."""
    expected: ClassVar[str]
    """A description of a valid answer, for errors."""
    replies: ClassVar[Mapping[str, str]] = {}
    """The lines that a program has to reply to before the next line is sent, each with its reply.

    If there are any, lines that are neither a reply nor an answer are ignored.
    """
    halt: ClassVar[str | None] = None
    """The line that asks for the answer at once, when the time for a move is over."""
    farewell: ClassVar[str | None] = None
    """The line that asks a program to end."""

    def greeting(self, board: Board, seconds: float) -> Iterator[str]:
        """Yield the lines to send when a process has started."""

    def new_game(self) -> Iterator[str]:
        """Yield the lines to send when a game begins, also the first one of a process."""
        yield from ()

    def question(self, board: Board, seconds: float) -> Iterator[str]:
        """Yield the lines that ask for a move within `seconds`."""

    def is_answer(self, line: str) -> bool:
        """Whether a line of the program is meant as the answer to the question."""
        return True

    def column(self, answer: str) -> int | None:
        """Return the column, 0 to 6, in an answer; None if the answer is invalid."""


_PLACED = re.compile("place_disc +([0-6])", re.ASCII)


@dataclass(frozen=True, slots=True)
class Platform(Speech):
    """The format of the platforms riddles.io and theaigames.com."""

    marks: str
    """The characters for an empty cell, a disc of the first mover, and one of the second."""
    between_rows: str
    """The separator between the rows of the field. The top row comes first."""
    settings: tuple[str, ...]
    """The names of the settings, in the order in which they are sent. Some bots depend on this order."""
    moves_a_round: int
    one_game_each: ClassVar[bool] = True
    expected: ClassVar[str] = "place_disc and a column from 0 to 6 (field=position is for a column alone)"

    def greeting(self, board: Board, seconds: float) -> Iterator[str]:
        """Yield the lines with the settings, which a new process gets first."""
        players = [f"player{mark}" for mark in self.marks[1:]]
        time = str(milliseconds(seconds))
        values = {
            "timebank": time,
            "time_per_move": time,
            "player_names": ",".join(players),
            "your_bot": players[board.turn],
            "your_botid": self.marks[1 + board.turn],
            **dict.fromkeys(("field_columns", "field_width"), str(COLUMNS)),
            **dict.fromkeys(("field_rows", "field_height"), str(ROWS)),
        }
        for name in self.settings:
            yield f"settings {name} {values[name]}"

    def question(self, board: Board, seconds: float) -> Iterator[str]:
        """Yield the lines with the field and the request to move."""
        yield f"update game round {len(board.moves) // self.moves_a_round + 1}"
        yield f"update game field {self.field(board)}"
        yield f"action move {milliseconds(seconds)}"

    def field(self, board: Board) -> str:
        """Return the field, with a mark for each cell."""
        rows = [[self.marks[0]] * COLUMNS for _ in range(ROWS)]
        for column, row, side in board.placed():
            rows[ROWS - 1 - row][column] = self.marks[1 + side]
        return self.between_rows.join(",".join(row) for row in rows)

    def column(self, answer: str) -> int | None:
        """Return the column in an answer such as ``place_disc 3``; None if the answer is invalid."""
        found = _PLACED.fullmatch(answer)
        return int(found[1]) if found else None


@dataclass(frozen=True, slots=True)
class Plain(Speech):
    """The format with a position string as the question. The empty board is an empty line."""

    one_game_each: ClassVar[bool] = False
    expected: ClassVar[str] = "a column from 1 to 7"

    def greeting(self, board: Board, seconds: float) -> Iterator[str]:
        """Yield nothing."""
        yield from ()

    def question(self, board: Board, seconds: float) -> Iterator[str]:
        """Yield the position."""
        yield position_string(board.moves)

    def column(self, answer: str) -> int | None:
        """Return the column in an answer, which counts from 1; None if the answer is invalid."""
        return int(answer) - 1 if answer in tuple("1234567") else None


def milliseconds(seconds: float) -> int:
    """Return a time for a move in whole milliseconds, at least 1."""
    return max(1, round(1000 * seconds))


_PLAYERS, _TIMES = ("player_names", "your_bot"), ("timebank", "time_per_move")
FLAT = Platform(".01", ",", (*_PLAYERS, *_TIMES, "your_botid", "field_width", "field_height"), 2)
"""The format of riddles.io."""
IN_ROWS = Platform("012", ";", (*_TIMES, *_PLAYERS, "your_botid", "field_columns", "field_rows"), 1)
"""The format of theaigames.com."""
SPEECHES: Mapping[str, Speech] = {"flat": FLAT, "rows": IN_ROWS, "position": Plain()}
"""The formats, by their names in ``field=``."""
USUAL = "flat"
"""The default format."""


LATE = 1.0
"""A program is killed this many seconds after its time for a move is over. Starting the program counts as
part of that time."""
LONGEST = 1e6
"""The longest time for a move, in seconds."""
START = 10.0
"""Seconds that a program has to get ready when it starts and when a game begins, if it has to say so."""
_FAREWELL = 0.3
"""Seconds that a program has to end by itself after its standard input is closed."""
_LONGEST_LINE = 1000
_OPTION = "field="
_SHOWN = 60


def program(text: str) -> "Program":
    """Return the engine for the text after ``exec:``: an optional ``field=`` and a command line.

    Raises UnknownEngine if the command cannot be run.
    """
    option, _, command = text.partition(" ")
    field = option.removeprefix(_OPTION)
    if field == option:
        return Program(text, SPEECHES[USUAL])
    if field not in SPEECHES:
        raise UnknownEngine(f"{option!r} is none of {', '.join(_OPTION + each for each in SPEECHES)}")
    return Program(command, SPEECHES[field])


class Program:
    """An engine that is an external program."""

    def __init__(self, command: str, speech: Speech, kind: str = "exec") -> None:
        """Split a command line without a shell. Raises UnknownEngine if the command cannot be run."""
        self._words = _words(command, kind)
        self._speech = speech
        self._lock = Lock()
        self._child: _Child | None = None
        atexit.register(self.close)

    def __call__(self, board: Board, budget: float) -> int:
        """Ask the program for a column. If it ends meanwhile, start it again and ask once more.

        Raises EngineError.
        """
        seconds = min(budget, LONGEST)
        deadline = monotonic() + seconds + LATE
        with suppress(_EndedError):
            return self._column(board, seconds, deadline)
        try:
            return self._column(board, seconds, deadline)
        except _EndedError as ended:
            raise EngineError(f"{self._name} ended without an answer: {ended}") from None

    def close(self) -> None:
        """End the process, if there is one. The next move starts another one."""
        with self._lock:
            child, self._child = self._child, None
            if child is not None:
                child.leave()

    @property
    def _name(self) -> str:
        return " ".join(self._words)

    def _column(self, board: Board, seconds: float, deadline: float) -> int:
        """Ask one process for a column. Raises EngineError, _EndedError."""
        child = self._child_for(board)
        try:
            if not self._speech.replies and (unasked := child.unasked()):
                raise EngineError(f"{self._name} said {unasked[:_SHOWN]!r} before it was asked for a move")
            start = monotonic()
            self._begin(child, board, seconds)
            deadline += monotonic() - start
            self._send(child, self._speech.question(board, seconds), deadline)
            column = self._understood(self._answer(child, seconds, deadline))
            child.left = board.drop(column) if board.has_room(column) else None
            child.is_free = True
        except _EndedError:
            if child is self._child:
                raise
            raise EngineError(f"{self._name} was asked for another move meanwhile") from None
        finally:
            if not child.is_free or child is not self._child:
                child.close()
        return column

    def _begin(self, child: "_Child", board: Board, seconds: float) -> None:
        """Greet a new process, and announce a new game. Raises EngineError, _EndedError."""
        deadline = monotonic() + START
        if child.is_new:
            child.is_new = False
            self._send(child, self._speech.greeting(board, seconds), deadline)
        if child.left is None or not follows(child.left, board):
            self._send(child, self._speech.new_game(), deadline)

    def _send(self, child: "_Child", lines: Iterable[str], deadline: float) -> None:
        """Send lines, and wait for the reply to each that has one. Raises EngineError, _EndedError."""
        unsent = list[str]()
        for line in lines:
            unsent.append(line)
            if line in self._speech.replies:
                child.tell(unsent)
                unsent.clear()
                self._await_reply(child, line, deadline)
        child.tell(unsent)

    def _await_reply(self, child: "_Child", line: str, deadline: float) -> None:
        start, reply = monotonic(), self._speech.replies[line]
        try:
            while (said := child.line(deadline)) != reply:
                if self._speech.is_answer(said):
                    raise EngineError(f"{self._name} said {said[:_SHOWN]!r} before it was asked for a move")
        except TimeoutError:
            waited = f"within {monotonic() - start:.1f} s (does it flush its output?)"
            raise EngineLate(f"{self._name} did not reply to {line!r} with {reply!r} {waited}") from None

    def _answer(self, child: "_Child", seconds: float, deadline: float) -> str:
        """Return the line with the answer to the question. Raises EngineLate, _EndedError."""
        patience = deadline if self._speech.halt is None else deadline - LATE / 2
        while True:
            try:
                line = child.line(patience)
            except TimeoutError:
                if self._speech.halt is not None and patience < deadline:
                    child.tell([self._speech.halt])
                    patience = deadline
                    continue
                late = f"did not answer in {seconds:g} s, and was killed {LATE:g} s later"
                raise EngineLate(f"{self._name} {late} (does it flush its output?)") from None
            if self._speech.is_answer(line):
                return line

    def _understood(self, answer: str) -> int:
        column = self._speech.column(answer)
        if column is None:
            raise EngineError(f"{self._name} answered {answer[:_SHOWN]!r}, not {self._speech.expected}")
        return column

    def _child_for(self, board: Board) -> "_Child":
        """Return an idle process that can be asked about a position, or start one. Raises EngineError."""
        with self._lock:
            child = self._child
            if child is not None and child.knows(board, self._speech):
                child.is_free = False
                return child
            self._child = None  # first, so that a thread that waits for the old process sees it
            if child is not None:
                child.leave()
            try:
                with _undisturbed():
                    self._child = child = _Child(self._words, self._speech.farewell)
            except OSError as error:
                raise EngineError(f"{self._name} cannot be run: {error.strerror}") from None
            except BaseException:  # raised by a deferred signal handler
                if self._child is not None:
                    self._child.close()
                raise
        return child


class _EndedError(Exception):
    """A process ended instead of answering. The message says how."""


class _Child:
    """A running process of a program."""

    def __init__(self, words: list[str], farewell: str | None) -> None:
        """Start the process, which `farewell` asks to end. Raises OSError."""
        self._process = subprocess.Popen(
            words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0, start_new_session=True
        )
        self._farewell = farewell
        self._rest = b""
        self._has_answered = False
        self._is_killed = False
        self.is_new = True
        """Whether the process has not been greeted."""
        self.left: Board | None = None
        """The board after the latest move of the process."""
        self.is_free = False
        """Whether the process is idle: it has answered the latest question."""

    def knows(self, board: Board, speech: Speech) -> bool:
        """Whether the process is idle, and this position may follow its previous question."""
        if not self.is_free or self._process.poll() is not None:
            return False
        return not speech.one_game_each or (self.left is not None and follows(self.left, board))

    def tell(self, lines: Iterable[str]) -> None:
        """Write lines to the process, if it has not ended."""
        assert self._process.stdin is not None
        with suppress(OSError):
            self._process.stdin.write("".join(f"{line}\n" for line in lines).encode())

    def unasked(self) -> str:
        """Return the output of the process since its latest answer, without waiting. Raises _EndedError."""
        if self._has_answered:
            with suppress(TimeoutError):
                self._rest += self._read(0)
        return self._rest.decode(errors="replace").strip()

    def line(self, deadline: float) -> str:
        """Return the next line that is not empty. Raises _EndedError, TimeoutError."""
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
        """End the process. A thread that waits for its answer gets _EndedError, and calls `close`."""
        if self.is_free:
            self.close()
        else:
            self._kill()

    def close(self) -> None:
        """Close the pipes and end the process. An idle process first gets a moment to end by itself."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        if self.is_free and self._farewell is not None:
            self.tell([self._farewell])
        self._process.stdin.close()
        if self.is_free:
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(_FAREWELL)
        self._kill()
        self._process.stdout.close()

    def _kill(self) -> None:
        """Kill the process and its children, only once, since the id of the process group may be reused."""
        if not self._is_killed:
            self._is_killed = True
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def _read(self, seconds: float) -> bytes:
        """Return some of the output, waiting up to `seconds`. Raises _EndedError, TimeoutError."""
        assert self._process.stdout is not None
        waits = select.poll()
        waits.register(self._process.stdout, select.POLLIN)
        if seconds < 0 or not waits.poll(1000 * seconds):
            raise TimeoutError
        if data := os.read(self._process.stdout.fileno(), _LONGEST_LINE):
            return data
        raise _EndedError(self._end())

    def _end(self) -> str:
        """Return in words how the process ended, after its output was closed."""
        try:
            status = self._process.wait(_FAREWELL)
        except subprocess.TimeoutExpired:
            return "it closed its output"
        return f"signal {-status}, {signal.strsignal(-status)}" if status < 0 else f"exit status {status}"


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Defer signal handlers: an exception of a handler could lose the process that is being started."""
    came = list[int]()
    before = {}
    if current_thread() is main_thread():  # handlers run in this thread only
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
    """Whether `after` can be one move after `before`."""
    (one, two), (first, second) = before.discs, after.discs
    grown = (one & first) == one and (two & second) == two
    return grown and (first | second).bit_count() == (one | two).bit_count() + 1


def after(board: Board, choice: Any) -> Board | None:
    """Return the board after the move that the user's code chose; None if that cannot be played."""
    try:
        return board.drop(index(choice))
    except (TypeError, ValueError):
        return None


def _words(command: str, kind: str) -> list[str]:
    """Return the words of a command line. Raises UnknownEngine if the first is not a program."""
    try:
        words = shlex.split(command)
        found = words and shutil.which(words[0])
    except ValueError as error:
        raise UnknownEngine(f"the command {command!r} cannot be read: {error}") from None
    if not found:
        what = f"there is no program {words[0]!r}" if words else "there is no command"
        raise UnknownEngine(f"{what}; an engine is run as in {kind}:./engine or {kind}:python engine.py")
    return words

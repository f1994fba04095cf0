"""Engines that speak UGI, the Universal Game Interface, on standard input and output.

UGI is UCI, the protocol of chess engines, without the chess. Knows the lines; `external` knows processes and
time. UGI leaves open how a move is written: the engine of UGI's author writes the column as a letter, others
as a number. Some engines for Connect Four say ``uci`` where UGI says ``ugi``.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

from gateway.engines import UnknownEngine
from gateway.engines.external import Program, Speech, milliseconds
from gateway.game.board import Board

COLUMNS = {"a": "abcdefg", "1": "1234567", "0": "0123456"}
"""The notations of the seven columns, by the name of the first one."""


@dataclass(frozen=True, slots=True)
class Ugi(Speech):
    """The lines of UGI, or of UCI with ``c`` for ``g``, with a notation of the columns."""

    columns: str
    letter: str = "g"
    one_game_each: ClassVar[bool] = False
    halt: ClassVar[str | None] = "stop"
    farewell: ClassVar[str | None] = "quit"
    replies: ClassVar[Mapping[str, str]] = {"ugi": "ugiok", "uci": "uciok", "isready": "readyok"}
    expected: ClassVar[str] = (
        "bestmove and a column from a to g (from 1 to 7 with columns=1 before the command, from 0 to 6 with"
        " columns=0)"
    )

    def greeting(self, board: Board, seconds: float) -> Iterator[str]:
        """Yield the question whether the engine speaks the protocol, and whether it is ready."""
        yield f"u{self.letter}i"
        yield "isready"

    def new_game(self) -> Iterator[str]:
        """Yield the news of a game, and the question whether the engine is ready."""
        yield f"u{self.letter}inewgame"
        yield "isready"

    def question(self, board: Board, seconds: float) -> Iterator[str]:
        """Yield the position, the question whether the engine is ready, and the request to move."""
        moves = "".join(f" {self.columns[column]}" for column in board.moves)
        yield f"position startpos{' moves' if moves else ''}{moves}"
        yield "isready"  # the reply also parts the answer from whatever the engine said before
        yield f"go movetime {milliseconds(seconds)}"

    def is_answer(self, line: str) -> bool:
        """Whether the line is a ``bestmove``."""
        return line.split(maxsplit=1)[0] == "bestmove"

    def column(self, answer: str) -> int | None:
        """Return the column in an answer such as ``bestmove d``; None if the answer is invalid."""
        move = "".join(answer.split()[1:2])
        return self.columns.index(move) if len(move) == 1 and move in self.columns else None


def program(text: str) -> Program:
    """Return the engine for the text after ``ugi:``: options and a command line.

    The options are ``columns=`` with one of `COLUMNS`, and ``says=uci``. Raises UnknownEngine if an option is
    unknown or the command cannot be run.
    """
    columns, letter, command = COLUMNS["a"], "g", text.lstrip()
    while command.startswith(("columns=", "says=")):
        option, _, command = command.partition(" ")
        name, _, value = option.partition("=")
        if name == "columns" and value in COLUMNS:
            columns = COLUMNS[value]
        elif name == "says" and value in ("ugi", "uci"):
            letter = value[1]
        else:
            known = [*(f"columns={each}" for each in COLUMNS), "says=ugi", "says=uci"]
            raise UnknownEngine(f"{option!r} is none of {', '.join(known)}")
        command = command.lstrip()
    return Program(command, Ugi(columns, letter), "ugi")

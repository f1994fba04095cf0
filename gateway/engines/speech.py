"""What is said to engines that are programs of their own.

`Platform` is what the four-in-a-row platforms said to their bots, theaigames.com and later riddles.io: lines
with settings when the game begins, then for each move the field and a request, which ``place_disc 3``
answers. The two differ in the field, the numbers of the players, the order and the names of the settings,
and in what a round is, as recordings in the repositories of bots show. `Plain` is a position string in, and
a column out. Columns are counted from 0 by the platforms, and from 1 by the other. Time is in milliseconds.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar, Protocol

from gateway.game.board import COLUMNS, ROWS, Board
from gateway.game.notation import position_string


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

"""Final positions, as templates draw them. Pure. A script draws the same board in board.js."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import TypeAlias

from gateway.game.board import COLUMNS, ROWS, Board, boards_of

_DIRECTIONS = ((1, 0), (0, 1), (1, 1), (1, -1))

_Cell: TypeAlias = tuple[int, int]
"""A column and a row."""


@dataclass(frozen=True, slots=True)
class Position:
    """A position: the attribute ``d`` of paths, which are round dots at the places of discs."""

    discs: tuple[str, str]
    """The discs of the first and of the second mover; after four in a row, those in the line."""
    faded: tuple[str, str]
    """All other discs after four in a row."""
    line: str
    """A line through the four in a row; empty without one."""


def position(moves: str) -> Position:
    """Return the position after `moves`; the empty one if they cannot be played.

    Such moves are in a damaged database. A list that has one such game shows all others.
    """
    try:
        board = boards_of(moves)[-1]
    except ValueError:
        board = Board()
    cells: tuple[list[_Cell], list[_Cell]] = ([], [])
    for column, row, side in board.placed():
        cells[side].append((column, row))
    if board.winner is None:
        return Position((_dots(cells[0]), _dots(cells[1])), ("", ""), "")
    line = _longest_line(cells[board.winner])
    first, second = ([cell for cell in each if cell not in line] for each in cells)
    lit = (_dots(line), "") if board.winner == 0 else ("", _dots(line))
    (left, low), (right, high) = line[0], line[-1]
    through = f"M{_x(left)} {_y(low)}L{_x(right)} {_y(high)}"
    return Position(lit, (_dots(first), _dots(second)), through)


def _longest_line(cells: Sequence[_Cell]) -> list[_Cell]:
    longest = list[_Cell]()
    for column, row in cells:
        for right, up in _DIRECTIONS:
            line = [(column + step * right, row + step * up) for step in range(COLUMNS)]
            line = [*takewhile(cells.__contains__, line)]
            longest = max(longest, line, key=len)
    return longest


def _dots(cells: Iterable[_Cell]) -> str:
    return "".join(f"M{_x(column)} {_y(row)}h0" for column, row in cells)


def _x(column: int) -> int:
    return 7 + 10 * column


def _y(row: int) -> int:
    return 57 - 10 * row


HOLES = _dots((column, row) for column in range(COLUMNS) for row in range(ROWS))
"""The path of all cells."""

"""The board and its rules: drop, win, draw.

Knows seven columns, six rows and the two sides. Does not know players, time or clients. Discs are stored as
bitboards: the disc in a column and row is bit ``column * 7 + row``, where row 0 is at the bottom. The seventh
bit of each column stays empty, so that lines do not wrap into the next column.
"""

from collections.abc import Iterable, Iterator
from typing import Literal, TypeAlias

from gateway.game.values import value

COLUMNS = 7
ROWS = 6
CELLS = COLUMNS * ROWS

Side: TypeAlias = Literal[0, 1]
FIRST: Side = 0
"""The side that makes the first move of a game."""
SECOND: Side = 1

_STRIDE = ROWS + 1
_TOPS = tuple(1 << (column * _STRIDE + ROWS - 1) for column in range(COLUMNS))
_BOTTOMS = tuple(1 << (column * _STRIDE) for column in range(COLUMNS))
_MASKS = tuple(((1 << ROWS) - 1) << (column * _STRIDE) for column in range(COLUMNS))


def other(side: Side) -> Side:
    """Return the other side. Also works for the two numbers of seats, which are 0 and 1 as well."""
    return SECOND if side == FIRST else FIRST


@value
class Board:
    """A position and the moves that led to it. Immutable: a drop returns a new board."""

    moves: tuple[int, ...] = ()
    """The columns played so far, 0 to 6, oldest first."""
    discs: tuple[int, int] = (0, 0)
    """The bitboards of the first and of the second mover."""
    winner: Side | None = None
    """The side with four in a row; None if neither side has it."""

    @property
    def turn(self) -> Side:
        """The side to move, whether or not the game is over."""
        return SECOND if len(self.moves) & 1 else FIRST

    @property
    def over(self) -> bool:
        """Whether the game is won or drawn."""
        return self.winner is not None or len(self.moves) == CELLS

    def has_room(self, column: int) -> bool:
        """Whether `column`, 0 to 6, can take another disc."""
        return not (self.discs[0] | self.discs[1]) & _TOPS[column]

    def drop(self, column: int) -> "Board":
        """Return the board after the side to move has dropped a disc into `column`.

        Raises ValueError if the column is not 0 to 6, is full, or the game is over.
        """
        first, second = self.discs
        # The addition yields the lowest free cell. In a full column the carry leaves the mask, so the result
        # is 0.
        disc = ((first | second) + _BOTTOMS[column]) & _MASKS[column] if 0 <= column < COLUMNS else 0
        if not disc or self.winner is not None:
            raise ValueError(f"column {column} cannot be played")
        moves = self.moves + (column,)  # noqa: RUF005, unpacking is slower
        if len(moves) & 1:
            first |= disc
            return Board(moves, (first, second), FIRST if _has_four(first) else None)
        second |= disc
        return Board(moves, (first, second), SECOND if _has_four(second) else None)

    def placed(self) -> Iterator[tuple[int, int, Side]]:
        """Yield ``(column, row, side)`` of every disc in the order of play."""
        heights = [0] * COLUMNS
        side: Side = FIRST
        for column in self.moves:
            yield column, heights[column], side
            heights[column] += 1
            side = other(side)


def _has_four(discs: int) -> bool:
    """Whether the discs of one side have four in a row. Written without a loop, which would be slower."""
    pairs = discs & discs >> 7
    if pairs & pairs >> 14:
        return True
    pairs = discs & discs >> 1
    if pairs & pairs >> 2:
        return True
    pairs = discs & discs >> 6
    if pairs & pairs >> 12:
        return True
    pairs = discs & discs >> 8
    return pairs & pairs >> 16 != 0


# Position strings: the columns played, counted from 1, in the order of play, such as ``44455554221``.
#
# This is the notation of Pascal Pons' solver and of most programs that analyse Connect Four. Everywhere else
# columns are counted from 0.


def position_string(columns: Iterable[int]) -> str:
    """Return the position string for `columns`, each 0 to 6. Empty for the empty board."""
    return "".join(str(column + 1) for column in columns)


def boards_of(moves: str) -> list[Board]:
    """Return the boards of a game, from the empty one to that after the last move.

    `moves` has a digit for each column. Raises ValueError if a move is not legal.
    """
    boards = [Board()]
    for digit in moves:
        boards.append(boards[-1].drop(int(digit)))
    return boards


def board_at(position: str) -> Board:
    """Return the board of a position string. Raises ValueError with the number of the first invalid move."""
    board = Board()
    for number, digit in enumerate(position, 1):
        if digit not in "1234567":
            raise ValueError(f"move {number}, {digit!r}, is not a column from 1 to {COLUMNS}")
        if board.over:
            raise ValueError(f"move {number} comes after the end: move {number - 1} ended the game")
        if not board.has_room(int(digit) - 1):
            raise ValueError(f"move {number}: column {digit} is full")
        board = board.drop(int(digit) - 1)
    return board

"""Draws a board as dialects show it.

Converts the bitboards of a position to 42 marks, one for each cell. The result depends only on the position,
not on the order of the moves. Does not know what a dialect does with the marks.
"""

from gateway.game.board import COLUMNS, ROWS, Board

_BOTTOMS = sum(1 << column * 7 for column in range(COLUMNS))


class BoardMarks:
    """Draws boards, column by column from column 0, each from the bottom up.

    The bitboards give a number for each column, the column's code. It has a bit for each disc of the first
    mover, and one more bit just above the topmost disc. Codes are below 128, so the marks of all possible
    columns are computed beforehand.
    """

    def __init__(self, marks: bytes) -> None:
        """Set `marks`: one byte each for an empty cell, a disc of the first mover, and one of the second."""
        self._columns = tuple(_column(code, marks) for code in range(128))
        self._board, self._drawn = Board(), marks[:1] * (COLUMNS * ROWS)
        """The latest board and its marks. Usually both players of a game need the marks of the same board."""

    def of(self, board: Board) -> bytes:
        """Return the 42 marks of a board. Those of the latest board are cached."""
        if board is not self._board:
            self._board, self._drawn = board, self.draw(board)
        return self._drawn

    def draw(self, board: Board) -> bytes:
        """Return the 42 marks of a board."""
        first, second = board.discs
        codes = first + (first | second) + _BOTTOMS
        drawn = self._columns
        return b"".join(  # seven bits a column, written out for speed
            (
                drawn[codes & 127],
                drawn[codes >> 7 & 127],
                drawn[codes >> 14 & 127],
                drawn[codes >> 21 & 127],
                drawn[codes >> 28 & 127],
                drawn[codes >> 35 & 127],
                drawn[codes >> 42],
            )
        )


def _column(code: int, marks: bytes) -> bytes:
    """Return the marks of the column with this code. Codes 0 and 1 mean an empty column."""
    height = max(code.bit_length() - 1, 0)
    discs = (marks[1] if code >> row & 1 else marks[2] for row in range(height))
    return bytes(discs).ljust(ROWS, marks[:1])

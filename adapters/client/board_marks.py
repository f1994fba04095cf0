"""The cells of a board, as dialects show them.

Knows how the bitboards of a position become 42 marks. Does not know what a dialect does with them. The result
depends on the position alone, not on the order of play.
"""

from gateway.game.board import COLUMNS, ROWS, Board

_BOTTOMS = sum(1 << column * 7 for column in range(COLUMNS))


class BoardMarks:
    """Draws boards, column by column from column 0, each from the bottom up.

    A column is read from the bitboards as one number: the first mover's discs, below a bit on top of the
    column. It has 127 values, so all possible columns are drawn beforehand.
    """

    def __init__(self, marks: bytes) -> None:
        """Draw with three marks of one byte each: an empty cell, a disc of the first mover, of the second."""
        self._columns = tuple(_column(code, marks) for code in range(128))
        self._board, self._drawn = Board(), marks[:1] * (COLUMNS * ROWS)
        """The latest board and its marks. Usually both players of a game need it, one after the other."""

    def of(self, board: Board) -> bytes:
        """Return the 42 marks of a board. The latest board's are cached."""
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
    """Return the marks of the column with this code; code 0 is an empty column."""
    height = max(code.bit_length() - 1, 0)
    discs = (marks[1] if code >> row & 1 else marks[2] for row in range(height))
    return bytes(discs).ljust(ROWS, marks[:1])

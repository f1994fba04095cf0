"""A board as a person likes to see it.

Text in, text out: the first mover's discs are X, the second's O, and the last one played stands in brackets.
"""

from gateway.game.board import COLUMNS, ROWS, Board, Side

DISCS = "XO"
"""The discs of the first and of the second mover."""


def draw(board: Board) -> str:
    """Return a picture of the board, in lines."""
    cells = [[" . "] * COLUMNS for _ in range(ROWS)]
    for column, row, side in board.placed():
        cells[row][column] = f" {DISCS[side]} "
    if board.moves:
        *_, (column, row, side) = board.placed()
        cells[row][column] = f"({DISCS[side]})"
    numbers = "".join(f" {column} " for column in range(COLUMNS))
    return "\n".join([*("".join(row) for row in reversed(cells)), numbers])


def position(board: Board) -> str:
    """Return in one line how a board came about, and whose turn it is."""
    columns = "".join(str(column) for column in board.moves) or "none"
    return f"columns so far: {columns}; to move: {disc(board.turn)}"


def disc(side: Side) -> str:
    """Return whose discs are a side's."""
    return f"{DISCS[side]}, moving {'second' if side else 'first'}"

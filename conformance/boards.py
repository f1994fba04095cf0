"""Where a disc lands, computed independently of the gateway, so that a server's board can be checked.

Covers columns and the two notations that the dialects have for a board. Does not determine a winner.
Columns are given as a string of digits, first move first: "0103".
"""

COLUMNS, ROWS = 7, 6
CELLS = COLUMNS * ROWS


def drops(columns: str) -> dict[tuple[int, int], int]:
    """Map (column, row) to the player: 1 for the first mover, 2 for the other. Row 0 is the bottom.

    Raises ValueError for anything that is not a column, and for a column that overflows.
    """
    board: dict[tuple[int, int], int] = {}
    for ply, digit in enumerate(columns):
        if digit not in "0123456":
            raise ValueError(f"{digit!r} is no column; columns are 0 to 6")
        column = int(digit)
        row = sum(1 for taken, _ in board if taken == column)
        if row == ROWS:
            raise ValueError(f"column {column} overflows")
        board[column, row] = 1 + ply % 2
    return board


def nac4_board(columns: str) -> str:
    """Return 42 characters, rows from the bottom up: index = row * 7 + column. R moves first, Y second."""
    board = drops(columns)
    return "".join(".RY"[board.get((i % COLUMNS, i // COLUMNS), 0)] for i in range(CELLS))


def arena_cells(columns: str) -> str:
    """Return 42 numbers in brackets, column after column: index = column * 6 + row.

    The numbers are separated by commas. The text is a JSON list and also an EDN vector: in EDN a comma is
    white space.
    """
    board = drops(columns)
    return "[" + ",".join(str(board.get((i // ROWS, i % ROWS), 0)) for i in range(CELLS)) + "]"


def arena_moves(columns: str) -> str:
    """Return the columns as a JSON list or EDN vector, oldest first."""
    drops(columns)
    return "[" + ",".join(columns) + "]"

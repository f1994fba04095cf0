"""How a disc falls, written naively and once more, so that a server's board is checked, not trusted.

Knows columns and the two ways in which the dialects write a board down; does not know who wins.
Columns are given as a string of digits, first move first: "0103".
"""

COLUMNS, ROWS = 7, 6
CELLS = COLUMNS * ROWS


def drops(columns: str) -> dict[tuple[int, int], int]:
    """Map (column, row) to the player: 1 for the first mover, 2 for the other. Row 0 is the bottom.

    Raises ValueError for what is no column and for a column that overflows.
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
    """Return 42 characters, rows from the bottom up: index = row * 7 + column; R moves first, Y second."""
    board = drops(columns)
    return "".join(".RY"[board.get((i % COLUMNS, i // COLUMNS), 0)] for i in range(CELLS))


def arena_cells(columns: str) -> str:
    """Return 42 numbers in brackets, column after column: index = column * 6 + row.

    With commas between them they are a JSON list, and an EDN vector too, where commas are blanks.
    """
    board = drops(columns)
    return "[" + ",".join(str(board.get((i // ROWS, i % ROWS), 0)) for i in range(CELLS)) + "]"


def arena_moves(columns: str) -> str:
    """Return the columns as a JSON list or EDN vector, oldest first."""
    drops(columns)
    return "[" + ",".join(columns) + "]"

"""Position strings: the columns played, counted from 1, in the order of play, as in ``44455554221``.

This is the notation of Pascal Pons' solver and of his sets of positions; most programs that analyse
Connect-Four read it. Everywhere else columns are counted from 0.
"""

from collections.abc import Iterable

from gateway.game.board import COLUMNS, Board


def position_string(columns: Iterable[int]) -> str:
    """Return the position after `columns`, each 0 to 6, were played. Nothing for the empty board."""
    return "".join(str(column + 1) for column in columns)


def board_at(position: str) -> Board:
    """Return the board that a position string stands for. Raises ValueError, which names the move."""
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

"""Positions for the engines' tests."""

from random import Random

from hypothesis import strategies as st

from gateway.engines.bits import sides
from gateway.game.board import COLUMNS, Board


def play(columns: str) -> Board:
    board = Board()
    for column in columns:
        board = board.drop(int(column))
    return board


def playable(board: Board) -> list[int]:
    return [column for column in range(COLUMNS) if board.has_room(column)]


def can_win(board: Board) -> bool:
    """Whether the side to move can win at once."""
    return any(board.drop(column).winner is not None for column in playable(board))


def pressing(board: Board) -> list[int]:
    """Return the columns that win at once; where there are none, those that the opponent would win in."""
    for discs in (sides(board), sides(board)[::-1]):
        to_move = Board(discs=discs)
        wins = [column for column in playable(board) if to_move.drop(column).winner is not None]
        if wins:
            return wins
    return []


def dealt(seed: int, discs: int) -> Board:
    """Return a position of `discs` discs, dropped by lot, in which the side to move cannot win at once."""
    lot = Random(seed)
    while True:
        board = Board()
        while not board.over and len(board.moves) < discs:
            board = board.drop(lot.choice(playable(board)))
        if not board.over and not can_win(board):
            return board


@st.composite
def boards(draw: st.DrawFn, least: int = 0, most: int = 41) -> Board:
    """Draw a position that is not over, of `least` to `most` discs where the game lasts that long."""
    board = Board()
    for _ in range(draw(st.integers(least, most))):
        quiet = [after for column in playable(board) if not (after := board.drop(column)).over]
        if not quiet:
            break
        board = draw(st.sampled_from(quiet))
    return board

"""How the scripted opponents move: a board in, a column out.

Each leads to a kind of ending as far as the bot lets it. Pure, but for `beat`, which searches for a moment.
"""

from collections.abc import Callable, Iterable
from random import Random
from typing import TypeAlias

from gateway.engines.catalogue import engine_named
from gateway.game.board import COLUMNS, ROWS, Board

Strategy: TypeAlias = Callable[[Board, Random], int]
"""Returns a column with room for the side to move. The lot decides between columns that are as good."""

_MOMENT = 0.005
"""Seconds that `beat` searches for."""
_LINES = [
    sum(1 << ((column + dx * n) * (ROWS + 1) + row + dy * n) for n in range(4))
    for column in range(COLUMNS)
    for row in range(ROWS)
    for dx, dy in ((1, 0), (0, 1), (1, 1), (1, -1))
    if column + 3 * dx < COLUMNS and 0 <= row + 3 * dy < ROWS
]
"""All lines of four cells, as bitboards."""


def beat(board: Board, lot: Random) -> int:
    """Win."""
    return engine_named("aimafast")(board, _MOMENT)


def give(board: Board, lot: Random) -> int:
    """Let the bot win: win nothing, and leave it as many ways to win as there are."""
    return _best(board, lot, lambda after: -len(_wins(after)), _columns(board))


def balance(board: Board, lot: Random) -> int:
    """Let nobody win: close as many lines as there are to close."""
    return _best(board, lot, lambda after: 100 * _danger(after) + _open_lines(after), _columns(board))


def fill(board: Board, lot: Random) -> int:
    """Fill up the highest column, and let nobody win meanwhile."""
    return _best(
        board, lot, lambda after: 100 * _danger(after) - board.moves.count(after.moves[-1]), _columns(board)
    )


def _best(board: Board, lot: Random, cost: Callable[[Board], float], columns: Iterable[int]) -> int:
    """Return a column after which the cost is least. To win costs more than anything else."""
    costs = {}
    for column in columns:
        after = board.drop(column)
        costs[column] = 10_000.0 if after.winner is not None else cost(after)
    least = min(costs.values())
    return lot.choice([column for column, each in costs.items() if each == least])


def _danger(after: Board) -> int:
    """Return how many columns let the side to move win, and how many leave the other side nothing else."""
    forced = 0
    for column in _columns(after):
        reply = after.drop(column)
        if not reply.over and len(_wins(reply)) == len(_columns(reply)):
            forced += 1
    return 10 * len(_wins(after)) + forced


def _wins(board: Board) -> list[int]:
    return [column for column in _columns(board) if board.drop(column).winner is not None]


def _columns(board: Board) -> list[int]:
    if board.over:
        return []
    return [column for column in range(COLUMNS) if board.has_room(column)]


def _open_lines(board: Board) -> int:
    """Return how many lines either side may still fill."""
    first, second = board.discs
    return sum(1 for line in _LINES if not (first & line and second & line))

"""Monte Carlo one game at a time: what the engines of `gateway.engines.montecarlo` are compared with.

Knows positions, a number of random games and a deadline; whichever is reached first ends the thinking. A win
at once and a win of the opponent's that can be stopped need no games.

`flat` plays the same number of games after each move. `uct` grows a tree: each game starts where the games
before it went well or were few, and adds the position where it left the tree.
"""

from collections.abc import Iterator
from math import log, sqrt
from random import random
from time import monotonic

from gateway.engines.bits import BOTTOM, FULL, column_of, has_four, landing, sides, urgent
from gateway.game.board import Board

_CURIOSITY = 1.0
"""How much a move that was tried rarely is preferred to one that did well."""
_ROOM = 200_000
"""Positions in a tree, which keeps it under 100 MB. One that is full grows no more."""


def flat(board: Board, budget: float, *, games: int | None = None) -> int:
    """Return a column after `games` random games, or after `budget` seconds if that is sooner.

    Each move is tried at least once; moves are tried in turn.
    """
    deadline = monotonic() + budget
    mine, theirs = sides(board)
    column = urgent(mine, theirs)
    if column is not None:
        return column
    cells = list(_each(landing(mine | theirs)))
    points = [0] * len(cells)
    for _ in _rounds(deadline, None if games is None else games // len(cells)):
        for number, cell in enumerate(cells):
            points[number] -= _random_game(theirs, mine | cell)
    return column_of(cells[points.index(max(points))])


def uct(board: Board, budget: float, *, games: int | None = None) -> int:
    """Return a column after `games` random games, or after `budget` seconds if that is sooner."""
    deadline = monotonic() + budget
    mine, theirs = sides(board)
    column = urgent(mine, theirs)
    if column is not None:
        return column
    root = _Node(mine, theirs)
    size = 1
    for _ in _rounds(deadline, games):
        size += _grow(root, may_add=size < _ROOM)
    return column_of(max(root.children, key=lambda node: node.games).cell)


def _rounds(deadline: float, most: int | None) -> Iterator[None]:
    """Yield once, and again until `deadline` or until it has been `most` times."""
    done = 0
    while True:
        yield
        done += 1
        if (most is not None and done >= most) or monotonic() > deadline:
            return


class _Node:
    """A position in the tree, and how the games through it went."""

    __slots__ = ("cell", "children", "games", "mine", "points", "theirs", "untried")

    def __init__(self, mine: int, theirs: int, cell: int = 0) -> None:
        self.mine = mine
        self.theirs = theirs
        self.cell = cell
        """Where the move that led here was made."""
        self.untried = [] if has_four(theirs) else list(_each(landing(mine | theirs)))
        self.children: list[_Node] = []
        self.games = 0
        self.points = 0
        """Games won less games lost, for the side that moved here."""

    def add(self) -> "_Node":
        """Try a move that has not been tried."""
        cell = self.untried.pop(int(random() * len(self.untried)))
        node = _Node(self.theirs, self.mine | cell, cell)
        self.children.append(node)
        return node

    def promising(self) -> "_Node":
        """Return the child to try next (UCB1)."""
        share = 2 * log(self.games)
        return max(
            self.children, key=lambda node: node.points / node.games + _CURIOSITY * sqrt(share / node.games)
        )


def _grow(root: _Node, *, may_add: bool) -> bool:
    """Play one game from the tree; return whether that added a position to it."""
    path = [root]
    while not path[-1].untried and path[-1].children:
        path.append(path[-1].promising())
    adds = may_add and bool(path[-1].untried)
    if adds:
        path.append(path[-1].add())
    leaf = path[-1]
    result = 1 if has_four(leaf.theirs) else -_random_game(leaf.mine, leaf.theirs)
    for node in reversed(path):
        node.games += 1
        node.points += result
        result = -result
    return adds


def _random_game(mine: int, theirs: int) -> int:
    """Play on at random; return 1 where the side to move, which has `mine`, wins, -1 if not, 0 for a tie.

    The opponent has just moved, and may have won by that.
    """
    if has_four(theirs):
        return -1
    mask = mine | theirs
    result = 1
    while mask != FULL:
        cells = list(_each((mask + BOTTOM) & FULL))
        cell = cells[int(random() * len(cells))]
        mine |= cell
        mask |= cell
        if has_four(mine):
            return result
        mine ^= mask
        result = -result
    return 0


def _each(cells: int) -> Iterator[int]:
    while cells:
        cell = cells & -cells
        yield cell
        cells ^= cell

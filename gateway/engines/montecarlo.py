"""Monte Carlo engines: they play the move after which random games have the best results.

`flat` plays the same number of games after each move; `uct` builds a tree of the most promising moves. A
number of games or a deadline ends the search. The size of batches depends on the number of games, not on the
clock, so that a search with a number of games is reproducible.
"""

from collections.abc import Iterator, Sequence
from math import inf, log, sqrt
from random import getrandbits, random
from time import monotonic
from typing import TypeAlias

import numpy as np
from numpy import bitwise_count  # imported by name, so that a numpy older than 2.0 fails here
from numpy.typing import NDArray

from gateway.engines.bits import BOTTOM, CELLS_OF, STRIDE, column_of, completing, landing, sides, urgent
from gateway.game.board import CELLS, COLUMNS, ROWS, Board

# Random games, thousands at a time: each step is one numpy operation on an array of positions.
#
# All playable columns are equally likely, to within 1 in 500. The games are checked for four in a row only
# after each side has made a move. If both sides have it, the side that moved first has won.

Positions: TypeAlias = NDArray[np.uint64]
"""A set of cells for each game."""

_CHANCES = 12
"""The number of random bits that choose a column."""
_BOTTOM = np.uint64(BOTTOM)
_TOPS = np.uint64(BOTTOM << (ROWS - 1))
_GATHER = np.uint64(sum(1 << (STRIDE - 1) * column for column in range(COLUMNS)))
"""Multiplying by this factor moves the top cells, one in each column, to adjacent bits: the set of full
columns."""
_TO_CHANCES = np.uint64(COLUMNS * STRIDE - COLUMNS - 1 - _CHANCES)
_OF_FULL = np.uint64((1 << COLUMNS) - 1 << _CHANCES)
_SHORTEN = np.uint16(16 - _CHANCES)
_STEPS = tuple((np.uint64(step), np.uint64(2 * step)) for step in (1, STRIDE, STRIDE - 1, STRIDE + 1))


def _choices() -> Positions:
    """Return a table with the cells of the column to play, by the set of full columns and a random number."""
    numbers = np.arange(1 << _CHANCES)
    table = np.zeros((1 << COLUMNS, 1 << _CHANCES), np.uint64)
    for full in range((1 << COLUMNS) - 1):
        cells = [cells for column, cells in enumerate(CELLS_OF) if not full >> column & 1]
        table[full] = np.array(cells, np.uint64)[numbers * len(cells) >> _CHANCES]
    return table.ravel()


_CHOICES = _choices()


class Playouts:
    """Plays random games. The module `random` seeds them, so that they are reproducible."""

    def __init__(self) -> None:
        self._lot = np.random.Generator(np.random.SFC64(getrandbits(64)))

    def points(self, mine: Sequence[int], theirs: Sequence[int], times: int) -> list[int]:
        """Play each position `times` times; return, for each, won minus lost games of the side to move.

        That side has the discs `mine`. Neither side may have four in a row.
        """
        results = self._results(
            np.repeat(np.array(mine, np.uint64), times), np.repeat(np.array(theirs, np.uint64), times)
        )
        found: list[int] = results.reshape(-1, times).sum(axis=1, dtype=np.int64).tolist()
        return found

    def _results(self, mine: Positions, theirs: Positions) -> NDArray[np.int8]:
        """Play a game from each position. Return 1 if the side to move wins, -1 if it loses, 0 for a tie."""
        results = np.zeros(len(mine), np.int8)
        games = np.arange(len(mine))
        mask = mine | theirs
        for _ in range(0, CELLS - int(bitwise_count(mask).min()), 2):
            disc = self._discs(mask)
            mine |= disc
            mask |= disc
            mask |= self._discs(mask)
            fours = _fours(np.concatenate((mine, mask ^ mine))).reshape(2, -1)
            results[games[fours[1]]] = -1
            results[games[fours[0]]] = 1
            on = np.flatnonzero(~(fours[0] | fours[1]))
            mine, mask, games = mine.take(on), mask.take(on), games.take(on)
        return results

    def _discs(self, mask: Positions) -> Positions:
        """Return the cell of a random move in each position; 0 if the position is full."""
        choice = mask & _TOPS
        choice *= _GATHER
        choice >>= _TO_CHANCES
        choice &= _OF_FULL
        choice |= np.frombuffer(self._lot.bytes(2 * len(mask)), np.uint16) >> _SHORTEN
        discs = _CHOICES.take(choice.view(np.int64), mode="clip")
        discs &= np.add(mask, _BOTTOM, choice)
        return discs


def _fours(discs: Positions) -> NDArray[np.bool_]:
    """Return, for each set of cells, whether it has four in a row."""
    pairs, fours, found = np.empty_like(discs), np.empty_like(discs), np.zeros_like(discs)
    for step, twice in _STEPS:
        np.right_shift(discs, step, pairs)
        pairs &= discs
        np.right_shift(pairs, twice, fours)
        fours &= pairs
        found |= fours
    return found.astype(np.bool_)


_CURIOSITY = 1.0
"""The weight of exploration in UCB1."""
_ROOM = 200_000
"""The most positions in a tree, which keeps it under 100 MB."""
_FIRST, _MOST = 512, 8192
"""The games in the first batch of `flat` if their number is not set, and the most games in any batch."""
_LEAVES = 64
"""The most positions in a batch of `uct`."""
_TIMES = 16
"""The most games from one position in a batch of `uct`."""
_FEW = 1000
"""In a batch, the number of games from one position is the number of games of the search divided by this."""


def flat(board: Board, budget: float, *, games: int | None = None) -> int:
    """Return a column after `games` random games, or after `budget` seconds if that is sooner.

    The same number of games, at least one, is played after each move.
    """
    deadline = monotonic() + budget
    mine, theirs = sides(board)
    column = urgent(mine, theirs)
    if column is not None:
        return column
    cells = list(_each(landing(mine | theirs)))
    after = [mine | cell for cell in cells]
    points = [0] * len(cells)
    playouts = Playouts()
    for times in _rounds(deadline, games, len(cells)):
        found = playouts.points([theirs] * len(cells), after, times)
        points = [sum_ - more for sum_, more in zip(points, found, strict=True)]
    return column_of(cells[points.index(max(points))])


def _rounds(deadline: float, games: int | None, positions: int) -> Iterator[int]:
    """Yield, for each batch until `deadline`, how often to play each position. At least one batch is played.

    With `games`, the sum over all batches is that number divided by the number of positions, rounded down.
    """
    most = _MOST // positions
    left = None if games is None else max(1, games // positions)
    times = _FIRST // positions if left is None else min(left, most)
    while True:
        yield times
        if left is not None:
            left -= times
        if left == 0 or monotonic() > deadline:
            return
        times = min(2 * times if left is None else left, most)


def uct(board: Board, budget: float, *, games: int | None = None) -> int:
    """Return a column after `games` random games, or after `budget` seconds if that is sooner.

    The search also ends when a win is found, or all moves are known to lose.
    """
    deadline = monotonic() + budget
    mine, theirs = sides(board)
    column = urgent(mine, theirs)
    if column is not None:
        return column
    tree = _Tree(mine, theirs)
    left = inf if games is None else games
    times = max(1, int(min(_TIMES, left / _FEW)))
    while True:
        times = int(min(times, left))
        leaves = int(min(_LEAVES, left / times))
        tree.play(leaves, times)
        left -= leaves * times
        if not left or tree.decided is not None or monotonic() > deadline:
            return column_of(tree.best)


class _Node:
    """A position in the tree, and the results of the games through it."""

    __slots__ = ("cell", "children", "games", "is_won", "mine", "points", "theirs", "untried")

    def __init__(self, mine: int, theirs: int, cell: int = 0) -> None:
        self.mine = mine
        self.theirs = theirs
        self.cell = cell
        """The cell of the move that led here."""
        mask = mine | theirs
        cells = landing(mask)
        self.is_won = bool(completing(mine, mask) & cells)
        """Whether the side to move has an immediate win."""
        blocks = completing(theirs, mask) & cells
        self.untried = [] if self.is_won else list(_each(blocks or cells))
        self.children: list[_Node] = []
        self.games = 0
        self.points = 0
        """Won minus lost games of the side that moved here."""

    def add(self) -> "_Node":
        """Add a child for a random move that was not tried yet, and return it."""
        cell = self.untried.pop(int(random() * len(self.untried)))
        node = _Node(self.theirs, self.mine | cell, cell)
        self.children.append(node)
        return node

    def promising(self) -> "_Node":
        """Return the child to try next (UCB1)."""
        curiosity = _CURIOSITY * sqrt(2 * log(self.games))
        best, pick = -inf, self.children[0]
        for node in self.children:
            promise = node.points / node.games + curiosity / sqrt(node.games)
            if promise > best:
                best, pick = promise, node
        return pick


class _Tree:
    """The positions that were tried, without those known to be won or lost."""

    def __init__(self, mine: int, theirs: int) -> None:
        self.decided: int | None = None
        """The cell of the final choice, if its move is known to win or all moves are known to lose; otherwise
        None."""
        self._root = _Node(mine, theirs)
        self._size = 1
        self._playouts = Playouts()

    @property
    def best(self) -> int:
        """The best cell to move to."""
        if self.decided is not None:
            return self.decided
        return max(self._root.children, key=lambda node: node.games).cell

    def play(self, leaves: int, times: int) -> None:
        """Play a batch of games, `times` from each of `leaves` positions. Stop if the choice is decided."""
        paths = []
        for _ in range(leaves):
            path = self._path()
            if self.decided is not None:
                return
            paths.append(path)
            for node in path:  # virtual loss, so that the games of a batch start at different positions
                node.games += times
                node.points -= times
        found = self._playouts.points(
            [path[-1].mine for path in paths], [path[-1].theirs for path in paths], times
        )
        for path, points in zip(paths, found, strict=True):
            result = -points
            for node in reversed(path):
                node.points += times + result
                result = -result

    def _path(self) -> list[_Node]:
        """Return the nodes from the root to the position where games start.

        The last node is new, unless the tree is full or no move is untried.
        """
        path = [self._root]
        while self.decided is None:
            if path[-1].untried:
                if self._size >= _ROOM:
                    break
                path.append(path[-1].add())
                self._size += 1
                if not path[-1].is_won:
                    break
                self._refute(path)
                path = [self._root]
            elif path[-1].children:
                path.append(path[-1].promising())
            else:
                break
        return path

    def _refute(self, path: list[_Node]) -> None:
        """Remove the last move of `path`, which loses, and earlier moves that are thereby decided."""
        while len(path) > 1:
            refuted = path.pop()
            before = path.pop()
            before.children.remove(refuted)
            if before.untried or before.children:
                return
            # All moves from there lose, so the move that led there wins.
            self.decided = refuted.cell if not path else before.cell if len(path) == 1 else None


def _each(cells: int) -> Iterator[int]:
    while cells:
        cell = cells & -cells
        yield cell
        cells ^= cell

"""Random games, thousands at a time: each step is one operation of numpy on an array of positions.

Knows positions and chance. Does not know which of them are worth a game, nor the time.

Each playable column is as likely as any other, to within 1 in 500. Both sides move before anybody looks for
four in a row: where both have it, the first of the two moves had ended the game.
"""

from collections.abc import Sequence
from random import getrandbits
from typing import TypeAlias

import numpy as np
from numpy import bitwise_count  # by name: before numpy 2.0 there is none, and no import of this module
from numpy.typing import NDArray

from gateway.engines.bits import BOTTOM, CELLS_OF, STRIDE
from gateway.game.board import CELLS, COLUMNS, ROWS

Positions: TypeAlias = NDArray[np.uint64]
"""A set of cells for each game."""

_CHANCES = 12
"""Bits that choose a column."""
_BOTTOM = np.uint64(BOTTOM)
_TOPS = np.uint64(BOTTOM << (ROWS - 1))
_GATHER = np.uint64(sum(1 << (STRIDE - 1) * column for column in range(COLUMNS)))
"""Brings the top cells together, by multiplication: the columns that are full, as neighbouring bits."""
_TO_CHANCES = np.uint64(COLUMNS * STRIDE - COLUMNS - 1 - _CHANCES)
_OF_FULL = np.uint64((1 << COLUMNS) - 1 << _CHANCES)
_SHORTEN = np.uint16(16 - _CHANCES)
_STEPS = tuple((np.uint64(step), np.uint64(2 * step)) for step in (1, STRIDE, STRIDE - 1, STRIDE + 1))


def _choices() -> Positions:
    """Return the cells of the column to play, by the columns that are full and a random number."""
    numbers = np.arange(1 << _CHANCES)
    table = np.zeros((1 << COLUMNS, 1 << _CHANCES), np.uint64)
    for full in range((1 << COLUMNS) - 1):
        cells = [cells for column, cells in enumerate(CELLS_OF) if not full >> column & 1]
        table[full] = np.array(cells, np.uint64)[numbers * len(cells) >> _CHANCES]
    return table.ravel()


_CHOICES = _choices()


class Playouts:
    """Random games. They are the same again where the module `random` was seeded with the same number."""

    def __init__(self) -> None:
        self._lot = np.random.Generator(np.random.SFC64(getrandbits(64)))

    def points(self, mine: Sequence[int], theirs: Sequence[int], times: int) -> list[int]:
        """Play each position `times` times; return the games won less those lost by the side to move.

        That side has `mine`. Nobody has four in a row yet.
        """
        results = self._results(
            np.repeat(np.array(mine, np.uint64), times), np.repeat(np.array(theirs, np.uint64), times)
        )
        found: list[int] = results.reshape(-1, times).sum(axis=1, dtype=np.int64).tolist()
        return found

    def _results(self, mine: Positions, theirs: Positions) -> NDArray[np.int8]:
        """Return 1 for each game that the side to move wins, -1 for a lost one, 0 for a tie."""
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
        """Return a random move in each position, and none in one that is full."""
        choice = mask & _TOPS
        choice *= _GATHER
        choice >>= _TO_CHANCES
        choice &= _OF_FULL
        choice |= np.frombuffer(self._lot.bytes(2 * len(mask)), np.uint16) >> _SHORTEN
        discs = _CHOICES.take(choice.view(np.int64), mode="clip")
        discs &= np.add(mask, _BOTTOM, choice)
        return discs


def _fours(discs: Positions) -> NDArray[np.bool_]:
    """Tell which of the sets have four in a row."""
    pairs, fours, found = np.empty_like(discs), np.empty_like(discs), np.zeros_like(discs)
    for step, twice in _STEPS:
        np.right_shift(discs, step, pairs)
        pairs &= discs
        np.right_shift(pairs, twice, fours)
        fours &= pairs
        found |= fours
    return found.astype(np.bool_)

"""Elo of several players from one likelihood, that of Bradley and Terry, in which a draw is half a win.

In the result every player scored just what its Elo says it should, against all its opponents together. The
numbers say nothing of who met whom more often. The mean of all players is 0.

Where somebody scored all or nothing there would be no such numbers: there, and only there, half a drawn game
is added. Intervals come from a bootstrap: the pairs of each two players are drawn again with replacement,
which keeps the two games of a pair together. Pairs that all went alike would give an interval without
width, so one more pair can be drawn there, which went in any way.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log
from random import Random
from typing import TypeAlias

from gateway.match.pairs import SCORES, SPARE, expected

Pairing: TypeAlias = tuple[int, int]
"""Two players by number, the first-named one first."""
Crosstable: TypeAlias = Mapping[Pairing, Sequence[float]]
"""The pairs of each two players: five counts as in `pairs`. Two players are in it once, in either order."""

UNSEEN = 1.0
"""Where all pairs of two players went alike, so many more with any result are there to be drawn."""
_PER_ELO = log(10) / 400
_CLOSE = 1e-6
_ROUNDS = 100
_LEAP = 400.0
"""Elo that an estimate may change by at once."""


@dataclass(frozen=True, slots=True)
class Rating:
    """What is known of one of several players."""

    elo: float
    interval: tuple[float, float]
    """Of 95 %."""
    superiority: Sequence[float]
    """The likelihood that it is better than each of the players."""


def fitted(players: int, table: Crosstable, start: Sequence[float] | None = None) -> list[float]:
    """Return the Elo of each player; those who met nobody have that of `start`, or 0."""
    results = [(one, two, *_result(cells)) for (one, two), cells in table.items() if sum(cells)]
    found = list(start or [0.0] * players)
    for _ in range(_ROUNDS):
        steps = _newton(found, results)
        largest = max(map(abs, steps), default=0.0)
        scale = min(1.0, _LEAP / largest) if largest else 1.0
        found = [each + scale * step for each, step in zip(found, steps, strict=True)]
        if largest < _CLOSE:
            break
    mean = sum(found) / players
    return [each - mean for each in found]


def ratings(players: int, table: Crosstable, samples: int, lot: Random) -> list[Rating]:
    """Return what is known of each player, from so many samples of the bootstrap, at least one."""
    found = fitted(players, table)
    drawn = [fitted(players, _resampled(table, lot), found) for _ in range(samples)]
    rated = []
    for player in range(players):
        elos = sorted(sample[player] for sample in drawn)
        low, high = (elos[round(share * (samples - 1))] for share in (0.025, 0.975))
        better = [
            sum(_beats(each[player], each[other]) for each in drawn) / samples for other in range(players)
        ]
        rated.append(Rating(found[player], (min(low, found[player]), max(high, found[player])), better))
    return rated


def _beats(one: float, two: float) -> float:
    return 0.5 if abs(one - two) < 10 * _CLOSE else float(one > two)


def _result(cells: Sequence[float]) -> tuple[float, float]:
    """Return games and points of the first-named of two players, so that neither has all of them."""
    games = 2 * sum(cells)
    points = 2 * sum(count * score for count, score in zip(cells, SCORES, strict=True))
    spare = SPARE if points in (0, games) else 0.0
    return games + spare, points + spare / 2


def _newton(found: Sequence[float], results: Sequence[tuple[int, int, float, float]]) -> list[float]:
    """Return by how much each Elo is to change: one step of Newton's method."""
    size = len(found)
    matrix = [[0.0] * size for _ in range(size)]
    missing = [0.0] * size
    for one, two, games, points in results:
        share = expected(found[one] - found[two])
        lack = points - games * share
        weight = max(games * share * (1 - share), 1e-12) * _PER_ELO
        missing[one] += lack
        missing[two] -= lack
        for here, there in ((one, two), (two, one)):
            matrix[here][here] += weight
            matrix[here][there] -= weight
    for player in range(size):  # differences are known, and no level: each Elo is held, hardly, where it is
        matrix[player][player] += 1e-9
    return _solved(matrix, missing)


def _solved(matrix: list[list[float]], right: list[float]) -> list[float]:
    """Solve linear equations whose matrix is symmetric and positive definite."""
    size = len(right)
    for pivot in range(size):
        for row in range(pivot + 1, size):
            factor = matrix[row][pivot] / matrix[pivot][pivot]
            if factor:
                for column in range(pivot, size):
                    matrix[row][column] -= factor * matrix[pivot][column]
                right[row] -= factor * right[pivot]
    found = [0.0] * size
    for row in reversed(range(size)):
        known = sum(matrix[row][column] * found[column] for column in range(row + 1, size))
        found[row] = (right[row] - known) / matrix[row][row]
    return found


def _resampled(table: Crosstable, lot: Random) -> Crosstable:
    """Return as many pairs of each two players, drawn from theirs."""
    drawn: dict[Pairing, list[float]] = {}
    for pairing, cells in table.items():
        counts = [0.0] * len(cells)
        if pairs := round(sum(cells)):
            alike = sum(map(bool, cells)) == 1
            weights = [count + UNSEEN / len(cells) for count in cells] if alike else cells
            for cell in lot.choices(range(len(cells)), weights, k=pairs):
                counts[cell] += 1
        drawn[pairing] = counts
    return drawn

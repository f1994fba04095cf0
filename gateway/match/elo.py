"""Elo from pairs of games: the difference of two players, and the ratings of several players.

The two games of a pair have the same opening and swapped sides. They are not independent, so a pair counts as
one result. There are five results: 0 to 2 points for the first player in steps of a half. `cells` are the
numbers of pairs with each result. Elo is logistic; normalized Elo is defined in Michel Van den Bergh,
"Comments on normalized Elo".
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import erf, inf, log, log10, sqrt
from random import Random
from typing import TypeAlias

SCORES = (0.0, 0.25, 0.5, 0.75, 1.0)
"""The score of a pair of games for each of the five results."""
NORMALIZED = 800 / log(10)
"""The number of normalized Elo points per standard deviation of a game's result."""
SPARE = 0.5
"""The number of drawn games that are added if a player won or lost all games, so that its Elo is finite."""
UNSEEN = 1.0
"""The number of pairs that are added in the bootstrap, in equal parts for each of the five results.

They are added for two players whose pairs all have the same result.
"""
_Z95 = 1.959963984540054

Crosstable: TypeAlias = Mapping[tuple[int, int], Sequence[float]]
"""The cells for each pair of players that met. A key has the numbers of two players, in either order."""


def elo(score: float) -> float:
    """Return the difference in Elo for a mean score, which is more than 0 and less than 1."""
    return 400 * log10(score / (1 - score))


def expected(difference: float) -> float:
    """Return the expected score of a player that is better by `difference` Elo."""
    return float(1 / (1 + 10 ** (-difference / 400)))


def bounded(score: float, games: float) -> float:
    """Return a mean score after `games` games, limited so that the Elo is finite.

    The limits are the scores of a player that lost or won all games and has `SPARE` drawn games more.
    """
    least = SPARE / 2 / (games + SPARE)
    return min(max(score, least), 1 - least)


# Two players.


@dataclass(frozen=True, slots=True)
class Strength:
    """An estimate of the strength of the first of two players against the second. Intervals are of 95 %."""

    elo: float
    interval: tuple[float, float]
    """The interval of the difference, in Elo."""
    normalized: float
    """The difference in normalized Elo.

    If all pairs had the same result, it is plus or minus `inf`, or 0 if that result was 1 point.
    """
    normalized_error: float
    """Half the width of the interval of `normalized`."""
    superiority: float
    """The likelihood that the first player is better than the second."""


def strength(cells: Sequence[float]) -> Strength:
    """Estimate the difference of two players from their pairs of games. Needs at least one pair."""
    pairs = sum(cells)
    score = sum(count * each for count, each in zip(cells, SCORES, strict=True)) / pairs
    variance = sum(count * (each - score) ** 2 for count, each in zip(cells, SCORES, strict=True)) / pairs
    lead, free = score - 0.5, pairs - 1
    error = sqrt(variance / free) if free >= 1 else 0.0
    margin = _quantile(free) * error
    low, high = (elo(bounded(score + sign * margin, 2 * pairs)) for sign in (-1, 1))
    unit = NORMALIZED / sqrt(2 * variance) if variance else inf
    superiority = float(lead > 0) if lead else 0.5
    if error:
        superiority = (1 + erf(lead / (sqrt(2) * error))) / 2
    return Strength(
        elo=elo(bounded(score, 2 * pairs)),
        interval=(low, high),
        normalized=lead * unit if lead else 0.0,
        normalized_error=margin * unit if margin else 0.0,
        superiority=superiority,
    )


def _quantile(free: float) -> float:
    """Return Student's t for 95 % with `free` degrees of freedom, since the variance is only estimated."""
    if free <= 1:
        return 12.706
    z, inverse = _Z95, 1 / free
    return z + inverse * (
        (z**3 + z) / 4
        + inverse * ((5 * z**5 + 16 * z**3 + 3 * z) / 96)
        + inverse**2 * ((3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384)
    )


# Several players. Their Elo maximizes the Bradley-Terry likelihood, in which a draw is half a win. Then each
# player's score is the one to expect from its Elo and the Elo of its opponents. The mean Elo of all players
# is 0.

_PER_ELO = log(10) / 400
_CLOSE = 1e-6
_ROUNDS = 100
_LEAP = 400.0
"""The largest change of an Elo in one step of Newton's method."""


@dataclass(frozen=True, slots=True)
class Rating:
    """The rating of one of several players."""

    elo: float
    interval: tuple[float, float]
    """The 95 % interval of the Elo."""
    superiority: Sequence[float]
    """The likelihoods that this player is better than each other player, by player number."""


def ratings(players: int, table: Crosstable, samples: int, lot: Random) -> list[Rating]:
    """Return the rating of each player, with intervals from a bootstrap of `samples` samples, at least 1.

    For each sample, the pairs of games of every two players are drawn with replacement.
    """
    elos = fitted(players, table)
    drawn = []
    for _ in range(samples):
        sample = {}
        for pairing, cells in table.items():
            # If all pairs have the same result, the interval would have no width.
            alike = sum(map(bool, cells)) == 1
            weights = [count + UNSEEN / len(cells) for count in cells] if alike else cells
            pairs = round(sum(cells))
            results = lot.choices(range(len(cells)), weights, k=pairs) if pairs else []
            sample[pairing] = [results.count(each) for each in range(len(cells))]
        drawn.append(fitted(players, sample, elos))
    rated = []
    for player, own in enumerate(elos):
        sampled = sorted(sample[player] for sample in drawn)
        low, high = (sampled[round(share * (samples - 1))] for share in (0.025, 0.975))
        better = [
            sum(_beats(each[player], each[other]) for each in drawn) / samples for other in range(players)
        ]
        rated.append(Rating(own, (min(low, own), max(high, own)), better))
    return rated


def _beats(one: float, two: float) -> float:
    return 0.5 if abs(one - two) < 10 * _CLOSE else float(one > two)


def fitted(players: int, table: Crosstable, start: Sequence[float] | None = None) -> list[float]:
    """Return the Elo of each player. A player without games has its value in `start`, or else 0."""
    results = []
    for (one, two), cells in table.items():
        if pairs := sum(cells):
            points = 2 * sum(count * score for count, score in zip(cells, SCORES, strict=True))
            spare = (
                SPARE if points in (0, 2 * pairs) else 0.0
            )  # if all games are won or lost, the Elo would be infinite
            results.append((one, two, 2 * pairs + spare, points + spare / 2))
    elos = list(start or [0.0] * players)
    for _ in range(_ROUNDS):
        steps = _newton(elos, results)
        largest = max(map(abs, steps), default=0.0)
        scale = min(1.0, _LEAP / largest) if largest else 1.0
        elos = [each + scale * step for each, step in zip(elos, steps, strict=True)]
        if largest < _CLOSE:
            break
    mean = sum(elos) / players
    return [each - mean for each in elos]


def _newton(elos: Sequence[float], results: Sequence[tuple[int, int, float, float]]) -> list[float]:
    """Return the change of each Elo in one step of Newton's method.

    Each of `results` has two players, the number of their games, and the points of the first player.
    """
    size = len(elos)
    rows = [[0.0] * (size + 1) for _ in range(size)]  # the last column is the right-hand side
    for one, two, games, points in results:
        share = expected(elos[one] - elos[two])
        weight = max(games * share * (1 - share), 1e-12) * _PER_ELO
        for player, opponent, lack in (
            (one, two, points - games * share),
            (two, one, games * share - points),
        ):
            rows[player][player] += weight
            rows[player][opponent] -= weight
            rows[player][size] += lack
    for player in range(size):  # the games determine only differences; a small term keeps the matrix regular
        rows[player][player] += 1e-9
    # Gaussian elimination. The matrix is symmetric and positive definite, so no pivoting is needed.
    for pivot, above in enumerate(rows):
        for row in rows[pivot + 1 :]:
            if factor := row[pivot] / above[pivot]:
                for column in range(pivot, size + 1):
                    row[column] -= factor * above[column]
    steps = [0.0] * size
    for player in reversed(range(size)):
        row = rows[player]
        known = sum(row[other] * steps[other] for other in range(player + 1, size))
        steps[player] = (row[size] - known) / row[player]
    return steps

"""Pairs of games, and what they say about two players.

The two games of a pair share an opening, with colours swapped, so they depend on each other and are counted
as one. A pair has one of five results, from 0 points to 2 for the first-named player. Counts of these, in
this order, are its `cells`.

Arithmetic alone. Elo is logistic, normalized Elo as Michel Van den Bergh defines it, in the units in which a
game's standard deviation is one: `Comments on normalized Elo`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import erf, inf, log, log10, sqrt

SCORES = (0.0, 0.25, 0.5, 0.75, 1.0)
"""What a pair with each of the five results scores."""
NORMALIZED = 800 / log(10)
"""How many points of normalized Elo make one standard deviation of a game."""
SPARE = 0.5
"""Drawn games that are added where somebody scored all or nothing, so that Elo stays finite."""
_Z95 = 1.959963984540054


def elo(score: float) -> float:
    """Return the difference in Elo at which a player scores so, more than 0 and less than 1."""
    return 400 * log10(score / (1 - score))


def expected(difference: float) -> float:
    """Return what a player scores who is better by so much Elo."""
    return float(1 / (1 + 10 ** (-difference / 400)))


def bounded(score: float, games: float) -> float:
    """Return the score after so many games, kept from 0 and 1 by half a drawn game."""
    least = SPARE / 2 / (games + SPARE)
    return min(max(score, least), 1 - least)


@dataclass(frozen=True, slots=True)
class Strength:
    """What pairs say about the first of two players; intervals are of 95 %."""

    elo: float
    interval: tuple[float, float]
    """In Elo."""
    normalized: float
    """Its normalized Elo; plus or minus `inf` where no two pairs differ and the score is not even."""
    normalized_error: float
    superiority: float
    """The likelihood that it is the better one."""


def strength(cells: Sequence[float]) -> Strength:
    """Return what pairs say, at least one of them."""
    pairs = sum(cells)
    score = sum(count * each for count, each in zip(cells, SCORES, strict=True)) / pairs
    variance = sum(count * (each - score) ** 2 for count, each in zip(cells, SCORES, strict=True)) / pairs
    free = pairs - 1
    error = sqrt(variance / free) if free >= 1 else 0.0
    margin = _quantile(free) * error
    low, high = (elo(bounded(score + sign * margin, 2 * pairs)) for sign in (-1, 1))
    unit = NORMALIZED / sqrt(2 * variance) if variance else inf
    return Strength(
        elo=elo(bounded(score, 2 * pairs)),
        interval=(low, high),
        normalized=(score - 0.5) * unit if score != 0.5 else 0.0,
        normalized_error=margin * unit if margin else 0.0,
        superiority=_superiority(score - 0.5, error**2),
    )


def _quantile(free: float) -> float:
    """Return Student's t for 95 % and so many degrees of freedom: of few pairs, nobody knows the variance."""
    if free <= 1:
        return 12.706
    z, inverse = _Z95, 1 / free
    return z + inverse * (
        (z**3 + z) / 4
        + inverse * ((5 * z**5 + 16 * z**3 + 3 * z) / 96)
        + inverse**2 * ((3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384)
    )


def _superiority(lead: float, variance: float) -> float:
    if not variance:
        return 0.5 if not lead else float(lead > 0)
    return (1 + erf(lead / sqrt(2 * variance))) / 2

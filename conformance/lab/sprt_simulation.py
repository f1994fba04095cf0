"""Matches that nobody plays: how often does the test of a hypothesis go wrong?"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random

from gateway.match.elo import expected, strength
from gateway.match.sprt import LOGISTIC, Decision, Sprt

LONGEST = 100_000
"""Pairs after which a test is taken as not decided."""


@dataclass(frozen=True, slots=True)
class Kind:
    """What games are like, beside the strength of the players."""

    drawn: float = 0.2
    """The share of draws."""
    opening: float = 0.1
    """What the first move adds to a score, and takes from the opponent's."""


def shares(difference: float, kind: Kind) -> list[float]:
    """Return how likely each result of a pair is for a player who is better by so much Elo."""
    both = [_game(expected(difference) + sign * kind.opening, kind.drawn) for sign in (1, -1)]
    found = [0.0] * 5
    for one, first in enumerate(both[0]):
        for two, second in enumerate(both[1]):
            found[one + two] += first * second
    return found


def logistic(difference: float, model: str, kind: Kind) -> float:
    """Return the logistic Elo of a difference in the Elo of a model, of at most 100 either way."""
    if model == LOGISTIC:
        return difference
    low, high = -200.0, 200.0
    while high - low > 1e-6:
        middle = (low + high) / 2
        is_low = strength(shares(middle, kind)).normalized < difference
        low, high = (middle, high) if is_low else (low, middle)
    return low


def _game(score: float, drawn: float) -> tuple[float, float, float]:
    """Return how likely a game is lost, drawn and won. Raises ValueError for too many draws."""
    game = 1 - score - drawn / 2, drawn, score - drawn / 2
    if min(game) < 0:
        raise ValueError("with so many draws nobody scores so")
    return game


def verdict(test: Sprt, likely: Sequence[float], lot: Random) -> tuple[Decision, int]:
    """Play pairs until the test is decided; return what it says, and after how many."""
    cells = [0] * len(likely)
    for number, cell in enumerate(_drawn(likely, lot), 1):
        cells[cell] += 1
        decision = test.decision(test.ratio(cells))
        if decision is not Decision.GOES_ON:
            return decision, number
    return Decision.GOES_ON, LONGEST


def errors(test: Sprt, kind: Kind, times: int, seed: str) -> tuple[float, float, float]:
    """Return the shares of wrong verdicts at `elo0` and at `elo1`, and the mean number of pairs."""
    wrong, pairs = [], 0
    for difference, right in ((test.elo0, Decision.H0), (test.elo1, Decision.H1)):
        lot, likely = Random(f"{seed} {difference}"), shares(logistic(difference, test.model, kind), kind)
        found = [verdict(test, likely, lot) for _ in range(times)]
        wrong.append(sum(each is not right for each, _ in found) / times)
        pairs += sum(number for _, number in found)
    return wrong[0], wrong[1], pairs / (2 * times)


def _drawn(likely: Sequence[float], lot: Random) -> Iterator[int]:
    """Yield results of pairs, `LONGEST` of them."""
    for _ in range(LONGEST // 100):
        yield from lot.choices(range(len(likely)), likely, k=100)

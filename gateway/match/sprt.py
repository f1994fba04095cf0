"""The sequential probability ratio test (SPRT) of two hypotheses about a player's Elo: `elo0` and `elo1`.

The test uses the generalized likelihood ratio. Each hypothesis is represented by the distribution of results
that has its Elo and fits the counts best, so no model of draws or of pairs of games is needed. The
mathematics is that of Michel Van den Bergh, "Comparing the approximations for the generalized log likelihood
ratio of a multinomial distribution" and "Comments on normalized Elo". All functions are pure.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from math import log, sqrt

from gateway.match.elo import NORMALIZED, SCORES, expected

EMPTY = 1e-3
"""The count that replaces a count of 0, since every result is possible."""
MOST = 1000
"""The maximum Elo of a hypothesis. With a larger Elo, the score is too near to 0 or 1 to compute with."""
_CLOSE = 1e-10
_ROUNDS = 10
_SETTLED = 1e-4

LOGISTIC, NORMAL = MODELS = ("logistic", "normalized")
"""The two kinds of Elo in which hypotheses can be given."""


class Verdict(Enum):
    """The outcome of the test so far."""

    GOES_ON = "not decided"
    H0 = "H0 accepted"
    H1 = "H1 accepted"


@dataclass(frozen=True, slots=True)
class Sprt:
    """The parameters of a test. Raises ValueError if they are invalid."""

    elo0: float = 0.0
    elo1: float = 10.0
    alpha: float = 0.05
    """The maximum probability that `elo1` is accepted although the player has `elo0`."""
    beta: float = 0.05
    """The maximum probability that `elo0` is accepted although the player has `elo1`."""
    model: str = LOGISTIC

    def __post_init__(self) -> None:
        if not -MOST <= self.elo0 < self.elo1 <= MOST:
            raise ValueError(f"elo0 has to be less than elo1, and both are from -{MOST} to {MOST}")
        if not (0 < self.alpha < 1 and 0 < self.beta < 1 and self.alpha + self.beta < 1):
            raise ValueError("alpha and beta have to be more than 0, and less than 1 together")
        if self.model not in MODELS:
            raise ValueError(f"the model is {' or '.join(MODELS)}, not {self.model!r}")

    @property
    def bounds(self) -> tuple[float, float]:
        """The log-likelihood ratios at which `elo0` and `elo1` are accepted."""
        return log(self.beta / (1 - self.alpha)), log((1 - self.beta) / self.alpha)

    def ratio(self, cells: Sequence[float]) -> float:
        """Return the log-likelihood ratio of `elo1` over `elo0`.

        `cells` has the numbers of pairs with each of the five results, or of lost, drawn and won games.
        """
        counts = [count or EMPTY for count in cells]
        total = sum(counts)
        shares = [count / total for count in counts]
        steps = SCORES if len(cells) == len(SCORES) else (0.0, 0.5, 1.0)
        one, two = (self._fitted(each, shares, steps) for each in (self.elo0, self.elo1))
        return total * sum(share * log(q / p) for share, p, q in zip(shares, one, two, strict=True))

    def decision(self, ratio: float) -> Verdict:
        """Return the outcome for a log-likelihood ratio."""
        low, high = self.bounds
        if ratio >= high:
            return Verdict.H1
        return Verdict.H0 if ratio <= low else Verdict.GOES_ON

    def _fitted(self, difference: float, shares: Sequence[float], steps: Sequence[float]) -> list[float]:
        """Return the distribution of results with this Elo difference that fits `shares` best."""
        if self.model == LOGISTIC:
            mean = expected(difference)
            return _tilted(shares, [step - mean for step in steps])
        games = 2 if len(steps) == len(SCORES) else 1
        return _normalized(shares, steps, sqrt(games) * difference / NORMALIZED)


def _normalized(shares: Sequence[float], steps: Sequence[float], target: float) -> list[float]:
    """Return the best-fitting distribution whose mean is `target` standard deviations above 1/2.

    This condition is not linear. Each iteration replaces it by a linear condition at the current fit.
    """
    fit = [1 / len(steps)] * len(steps)
    for _ in range(_ROUNDS):
        mean = sum(p * step for p, step in zip(fit, steps, strict=True))
        deviation = sqrt(sum(p * (step - mean) ** 2 for p, step in zip(fit, steps, strict=True)))
        slopes = [
            step - 0.5 - target * deviation * (1 + ((step - mean) / deviation) ** 2) / 2 for step in steps
        ]
        before, fit = fit, _tilted(shares, slopes)
        if max(abs(p - q) for p, q in zip(before, fit, strict=True)) < _SETTLED:
            break
    return fit


def _tilted(shares: Sequence[float], slopes: Sequence[float]) -> list[float]:
    """Return the distribution nearest to `shares` for which the mean of `slopes` is 0.

    Each share p with slope a becomes p / (1 + t a), with t such that the mean is 0. The mean decreases in t;
    Newton's method finds the root, with bisection when a step leaves the interval.
    """
    pairs = list(zip(shares, slopes, strict=True))
    low, high = -1 / max(slopes), -1 / min(slopes)
    t = 0.0
    while high - low > _CLOSE:
        mean = sum(p * a / (1 + t * a) for p, a in pairs)
        low, high = (t, high) if mean > 0 else (low, t)
        step = mean / sum(p * (a / (1 + t * a)) ** 2 for p, a in pairs)
        if abs(step) < _CLOSE:
            break
        t += step
        if not low < t < high:
            t = (low + high) / 2
    return [p / (1 + t * a) for p, a in pairs]

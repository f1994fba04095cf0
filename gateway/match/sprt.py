"""The sequential probability ratio test: does a player gain `elo1` rather than `elo0`?

Of a generalized likelihood ratio: each hypothesis has the distribution of results that fits best what was
seen, among all that have its Elo. So nothing has to be known of draws, or of how the games of a pair depend
on each other. The mathematics is Michel Van den Bergh's: `Comparing the approximations for the generalized
log likelihood ratio of a multinomial distribution` and `Comments on normalized Elo`.

Pure: counts in, a ratio out.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from math import log, sqrt

from gateway.match.elo import NORMALIZED, SCORES, expected

EMPTY = 1e-3
"""What stands for a cell in which nothing was counted: no result is impossible."""
MOST = 1000
"""Elo of a hypothesis; beyond that a score is so near to 0 or 1 that there is nothing to be computed."""
_CLOSE = 1e-10
_ROUNDS = 10
_SETTLED = 1e-4

LOGISTIC, NORMAL = MODELS = ("logistic", "normalized")
"""In which Elo the hypotheses are."""


class Decision(Enum):
    """What the test says."""

    GOES_ON = "not decided"
    H0 = "H0 accepted"
    H1 = "H1 accepted"


@dataclass(frozen=True, slots=True)
class Sprt:
    """A test. Raises ValueError where its figures make none."""

    elo0: float = 0.0
    elo1: float = 10.0
    alpha: float = 0.05
    """The share of players with `elo0` that it takes for better ones, at most."""
    beta: float = 0.05
    """The share of players with `elo1` that it misses, at most."""
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
        """The ratios at which it is decided, for `elo0` and for `elo1`."""
        return log(self.beta / (1 - self.alpha)), log((1 - self.beta) / self.alpha)

    def ratio(self, cells: Sequence[float]) -> float:
        """Return the logarithm of the likelihood ratio of `elo1` over `elo0`.

        `cells` are counts of the results of pairs, five of them, or of games: lost, drawn, won.
        """
        counts = [count or EMPTY for count in cells]
        total = sum(counts)
        shares = [count / total for count in counts]
        steps = SCORES if len(cells) == len(SCORES) else (0.0, 0.5, 1.0)
        one, two = (self._fitted(each, shares, steps) for each in (self.elo0, self.elo1))
        return total * sum(share * log(q / p) for share, p, q in zip(shares, one, two, strict=True))

    def decision(self, ratio: float) -> Decision:
        """Return what a ratio decides."""
        low, high = self.bounds
        if ratio >= high:
            return Decision.H1
        return Decision.H0 if ratio <= low else Decision.GOES_ON

    def _fitted(self, difference: float, shares: Sequence[float], steps: Sequence[float]) -> list[float]:
        """Return the distribution of this Elo that fits the shares best."""
        if self.model == LOGISTIC:
            mean = expected(difference)
            return _tilted(shares, [step - mean for step in steps])
        games = 2 if len(steps) == len(SCORES) else 1
        return _normalized(shares, steps, sqrt(games) * difference / NORMALIZED)


def _normalized(shares: Sequence[float], steps: Sequence[float], target: float) -> list[float]:
    """Return the best fit in which the mean is `target` standard deviations above 1/2.

    That is no linear condition. It is replaced by its tangent where the fit is, over and over.
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
    """Return the distribution nearest to `shares` in which `slopes` have the mean 0.

    It is p / (1 + t a) for each share p and slope a, with the t that makes the mean 0. The mean falls as t
    grows; Newton's method finds its root, and halves the interval where that leads out of it.
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

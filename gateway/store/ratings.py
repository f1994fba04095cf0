"""Ratings: how strong a player seems, and how unsure that is.

Plackett and Luce's model, as openskill computes it: strength is a normal distribution with a mean and a
deviation. The only module that knows the library. The rule it keeps: a rating depends on the games and their
order alone, so that computing it again from the stored games gives the same number to the last bit.
"""

from dataclasses import dataclass

from openskill.models import PlackettLuce, PlackettLuceRating

MEAN = 25.0
DEVIATION = 25.0 / 3

_WIN, _LOSS = 1.0, 2.0
_RANKS = {0: [_WIN, _WIN], 1: [_WIN, _LOSS], 2: [_LOSS, _WIN]}


@dataclass(frozen=True, slots=True)
class Rating:
    """A strength and its uncertainty; what somebody starts with who has played no game."""

    mean: float = MEAN
    deviation: float = DEVIATION

    @property
    def sure(self) -> float:
        """The strength that the player has with a probability of 99.9 %; standings are in this order."""
        return self.mean - 3 * self.deviation


class Rater:
    """Rates two players after a game."""

    def __init__(self) -> None:
        self._model = PlackettLuce(mu=MEAN, sigma=DEVIATION)

    def after(self, first: Rating, second: Rating, result: int) -> tuple[Rating, Rating]:
        """Return both ratings after a game with `result`, 1 or 2 for who won, 0 for a draw."""
        (one,), (two,) = self._model.rate([[self._of(first)], [self._of(second)]], ranks=_RANKS[result])
        return Rating(one.mu, one.sigma), Rating(two.mu, two.sigma)

    def _of(self, rating: Rating) -> PlackettLuceRating:
        return self._model.rating(mu=rating.mean, sigma=rating.deviation)

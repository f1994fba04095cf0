"""The effect of a game on its players' totals and ratings. This module does not access the database.

The same code updates the totals when a game is stored and computes them again from all games, so both give
the same totals. Ratings depend only on the games and their order, to the last bit.
"""

from dataclasses import dataclass, field
from math import exp, sqrt
from typing import NamedTuple

MEAN = 25.0
DEVIATION = 25.0 / 3
_BETA = 25.0 / 6
"""The standard deviation of a player's performance in one game."""
_TAU = 25.0 / 300
"""The standard deviation of a player's change of strength between two games. No rating becomes certain."""
_KAPPA = 0.0001
"""The smallest factor by which the variance of a rating is multiplied after a game."""


class Rating(NamedTuple):
    """The strength of a player, as a normal distribution. The defaults are for a new player."""

    mean: float = MEAN
    deviation: float = DEVIATION

    @property
    def sure(self) -> float:
        """The strength that the player exceeds with a probability of 99.9 %. Standings are sorted by it."""
        return self.mean - 3 * self.deviation


def rated(first: Rating, second: Rating, result: int) -> tuple[Rating, Rating]:
    """Return both ratings after a game; `result` is 1 or 2 for the winner, 0 for a draw.

    The model is that of Plackett and Luce for two players: R. C. Weng, C.-J. Lin, "A Bayesian Approximation
    Method for Online Ranking", JMLR 12 (2011), algorithm 4. The package openskill computes the same ratings,
    but is too slow to be called for every game.
    """
    one, two = (sqrt(each.deviation * each.deviation + _TAU * _TAU) for each in (first, second))
    c = sqrt(one**2 + _BETA**2 + (two**2 + _BETA**2))
    strengths = exp(first.mean / c), exp(second.mean / c)
    ratings = []
    for number, (mean, deviation) in enumerate(((first.mean, one), (second.mean, two)), 1):
        share = strengths[number - 1] / (strengths[0] + strengths[1])  # the probability to win
        surprise = (1 - share) / 2 - share / 2 if result == 0 else (1 - share) if result == number else -share
        variance = deviation**2
        certainty = share * (1 - share) * (variance / c**2) * (sqrt(variance) / c)
        ratings.append(Rating(mean + surprise * (variance / c), deviation * sqrt(max(1 - certainty, _KAPPA))))
    return ratings[0], ratings[1]


def chance(first: Rating, second: Rating) -> float:
    """Return the probability that `first` beats `second`, by the model of `rated`."""
    c = sqrt(first.deviation**2 + second.deviation**2 + 2 * _BETA**2)
    return 1 / (1 + exp((second.mean - first.mean) / c))


class Ratings(NamedTuple):
    """Both players' ratings after a game, as they are stored with the game; None if they are unknown."""

    first_mean: float | None = None
    first_deviation: float | None = None
    second_mean: float | None = None
    second_deviation: float | None = None


class Entry(NamedTuple):
    """The fields of a game from which the totals are computed."""

    first: int
    """The first mover's number in the database."""
    second: int
    result: int
    """The winner as a digit, as in `GameRecord.result`."""
    reason: str
    first_thought: int
    """The first mover's thinking time in milliseconds."""
    second_thought: int
    moves: int
    """The number of moves of both players together."""


@dataclass(slots=True)
class PlayerTotals:
    """A player's totals. They include only games that count."""

    opened: int = 0
    """The number of games as first mover."""
    opened_won: int = 0
    opened_drawn: int = 0
    replied: int = 0
    """The number of games as second mover."""
    replied_won: int = 0
    replied_drawn: int = 0
    thought: int = 0
    """The thinking time in milliseconds."""
    moves: int = 0
    mean: float = MEAN
    deviation: float = DEVIATION


class Key(NamedTuple):
    """The key of a tally: the fields that all games of the tally have in common."""

    first: int
    second: int
    result: int
    reason: str


@dataclass(slots=True)
class Tally:
    """Sums over games with the same `Key`."""

    games: int = 0
    first_thought: int = 0
    second_thought: int = 0
    first_moves: int = 0
    second_moves: int = 0


@dataclass(slots=True)
class Totals:
    """The totals of players, by the player's number, and tallies, by key. Missing ones count as zero."""

    accounts: dict[int, PlayerTotals] = field(default_factory=dict)
    tallies: dict[Key, Tally] = field(default_factory=dict)

    def enter(self, entry: Entry) -> Ratings:
        """Add a game to the totals; return both players' ratings after it."""
        first = self.accounts.setdefault(entry.first, PlayerTotals())
        second = self.accounts.setdefault(entry.second, PlayerTotals())
        first_moves, second_moves = (entry.moves + 1) // 2, entry.moves // 2
        first.opened += 1
        first.opened_won += entry.result == 1
        first.opened_drawn += entry.result == 0
        first.thought += entry.first_thought
        first.moves += first_moves
        second.replied += 1
        second.replied_won += entry.result == 2
        second.replied_drawn += entry.result == 0
        second.thought += entry.second_thought
        second.moves += second_moves
        one, two = Rating(first.mean, first.deviation), Rating(second.mean, second.deviation)
        one, two = rated(one, two, entry.result)
        first.mean, first.deviation = one
        second.mean, second.deviation = two
        tally = self.tallies.setdefault(Key(*entry[:4]), Tally())
        tally.games += 1
        tally.first_thought += entry.first_thought
        tally.second_thought += entry.second_thought
        tally.first_moves += first_moves
        tally.second_moves += second_moves
        return Ratings(*one, *two)

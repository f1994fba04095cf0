"""Tournament formats: functions that compute the pairings of the next round.

The schedule calls the format when no game of the current round is left to play. If the format returns no
pairings, the tournament is over. A player without a pairing does not play in that round. A format with
several rounds, such as Swiss, can pair players by their earlier scores.
"""

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import NamedTuple, TypeAlias

Pairing: TypeAlias = tuple[int, int]
"""The numbers of two players. The first player moves first in the games with an even number (0, 2, ...)."""


class Score(NamedTuple):
    """The result of a pairing. If a player has withdrawn, some games may be missing."""

    pairing: Pairing
    points: tuple[float, float]
    """The points of each player: 1 for a win, 0.5 for a draw."""


Round: TypeAlias = Sequence[Score]
Format: TypeAlias = Callable[[Sequence[int], Sequence[Round]], Sequence[Pairing]]
"""A function that gets the players still taking part and the rounds so far, and returns the next pairings."""


def round_robin(players: Sequence[int], rounds: Sequence[Round]) -> list[Pairing]:
    """Pair each player with every other player, in one round."""
    return [] if rounds else list(combinations(players, 2))


def gauntlet(players: Sequence[int], rounds: Sequence[Round]) -> list[Pairing]:
    """Pair the first player with each other player, in one round."""
    return [] if rounds else [(players[0], other) for other in players[1:]]

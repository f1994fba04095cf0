"""Tournament formats: pure functions from players and earlier rounds to the pairings of the next round.

The schedule asks for the next round when every game of the last one has a result. If there are no pairings,
the tournament is over. A player without a pairing has a bye. Formats with several rounds, such as Swiss, can
pair by earlier scores.
"""

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import NamedTuple, TypeAlias

Pairing: TypeAlias = tuple[int, int]
"""Two players, by number. The first one has the first move in games with an even number, from 0."""


class Score(NamedTuple):
    """The result of a pairing. Some games are missing if a player has withdrawn."""

    pairing: Pairing
    points: tuple[float, float]
    """The points of each player: 1 for a win, 0.5 for a draw."""


Round: TypeAlias = Sequence[Score]
Format: TypeAlias = Callable[[Sequence[int], Sequence[Round]], Sequence[Pairing]]
"""Takes the players that have not withdrawn and the rounds so far; returns the pairings of the next round."""


def round_robin(players: Sequence[int], rounds: Sequence[Round]) -> list[Pairing]:
    """Pair each player with every other one, in one round."""
    return [] if rounds else list(combinations(players, 2))


def gauntlet(players: Sequence[int], rounds: Sequence[Round]) -> list[Pairing]:
    """Pair the first player with each of the others, in one round."""
    return [] if rounds else [(players[0], other) for other in players[1:]]

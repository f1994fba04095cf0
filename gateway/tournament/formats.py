"""Formats: who meets whom in the next round, as a pure function of who takes part and what was played.

A round is a list of pairings. The next one is asked for when every game of the last one has a result, and
none is the end. So Swiss and knockout fit as well as formats that have a single round: both pair by the
scores of earlier rounds. Whoever is in no pairing of a round has a bye in it, and whoever has withdrawn is
not among the players.
"""

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import NamedTuple, TypeAlias

Pairing: TypeAlias = tuple[int, int]
"""Two players, by number, who play each other. The first-named one opens their first game and every other."""


class Score(NamedTuple):
    """What a pairing came to, of whose games some are missing where a player has withdrawn."""

    pairing: Pairing
    points: tuple[float, float]
    """Of either player: 1 for each game won, half of one for each drawn."""


Round: TypeAlias = Sequence[Score]
Format: TypeAlias = Callable[[Sequence[int], Sequence[Round]], Sequence[Pairing]]
"""Returns the pairings of the next round for these players, after these rounds; none at the end."""


def round_robin(players: Sequence[int], rounds: Sequence[Round]) -> list[Pairing]:
    """Let everybody meet everybody."""
    return [] if rounds else list(combinations(players, 2))


def gauntlet(players: Sequence[int], rounds: Sequence[Round]) -> list[Pairing]:
    """Let the first player meet all others."""
    return [] if rounds else [(players[0], other) for other in players[1:]]

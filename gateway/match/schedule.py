"""Which games a match has, and which of them are still to be played.

A pairing is two players who play each other so many times, an even number. Games of a pairing are numbered
from 0; games 2k and 2k+1 are a pair: they share an opening, which the first-named player opens in the even
game. Pure: numbers in, numbers out.
"""

from collections.abc import Iterable, Sequence
from itertools import combinations

AT_MOST = 50
"""Games that are given to one table at once: a player may have to come back after them."""


class Schedule:
    """The games that are not over, and those of them that no table has taken."""

    def __init__(self, players: int, games: int, *, gauntlet: bool = False) -> None:
        """`games` are those of each two players, an even number. In a gauntlet player 0 meets all others."""
        everybody = list(combinations(range(players), 2))
        self.pairings: Sequence[tuple[int, int]] = everybody[: players - 1] if gauntlet else everybody
        """Who meets whom, by number."""
        self._ahead = [set(range(games)) for _ in self.pairings]
        self._open = [set(range(games)) for _ in self.pairings]
        self._tables = [0] * len(self.pairings)

    @property
    def left(self) -> int:
        """How many games are not over."""
        return sum(map(len, self._ahead))

    def done(self, pairing: int, number: int) -> None:
        """Note that a game is over. Raises ValueError where it was to be played no more, or never."""
        if not 0 <= pairing < len(self._ahead) or number not in self._ahead[pairing]:
            raise ValueError(f"game {number} of pairing {pairing} is there twice, or is none")
        self._ahead[pairing].remove(number)
        self._open[pairing].discard(number)

    def wants(self, pairing: int, number: int) -> bool:
        """Whether a game is to be played, or is being played: it is not over, nor was it dropped."""
        return number in self._ahead[pairing]

    def sit(self) -> int | None:
        """Return the pairing for another table, the one with the fewest tables; None where none has games."""
        waiting = [each for each, games in enumerate(self._open) if games]
        if not waiting:
            return None
        found = min(waiting, key=lambda each: (self._tables[each], -len(self._open[each]), each))
        self._tables[found] += 1
        return found

    def rise(self, pairing: int, unplayed: Iterable[int] = ()) -> None:
        """Note that a table has left a pairing; what it took and did not play is open again."""
        self._tables[pairing] -= 1
        self._open[pairing] |= self._ahead[pairing].intersection(unplayed)

    def take(self, pairing: int) -> list[int]:
        """Return the next games for a table, whole pairs unless one is half played; none where none is open.

        As long as there are many it is a part of them, so that all tables of the pairing end together.
        """
        games = sorted(self._open[pairing])
        share = len(games) // (2 * max(1, self._tables[pairing]))
        taken = games[: max(2, min(AT_MOST, share))]
        if len(taken) < len(games) and taken[-1] % 2 == 0 and games[len(taken)] == taken[-1] + 1:
            taken.append(taken[-1] + 1)
        self._open[pairing].difference_update(taken)
        return taken

    def drop(self, pairing: int) -> int:
        """Play no more games of a pairing; return how many these are."""
        dropped = len(self._ahead[pairing])
        self._ahead[pairing].clear()
        self._open[pairing].clear()
        return dropped

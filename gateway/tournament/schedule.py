"""The games of a tournament: those to be played, those being played, and those that are over.

Knows players, pairings and games by number only. Games of a pairing are numbered from 0; games 2k and 2k + 1
are a pair with the same opening and swapped sides. Results are stored elsewhere: a tournament that was
stopped goes on after all stored results were counted again.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

AT_MOST = 50
"""The most games that one table takes at once."""


@dataclass(slots=True)
class _Games:
    """The state of a pairing's games."""

    players: tuple[int, int]
    over: set[int] = field(default_factory=set)
    taken: set[int] = field(default_factory=set)
    """Games that a table has taken and that are not over."""
    first: int = 0
    """A lower bound: no game before this one is open."""
    tables: int = 0
    points: float = 0.0
    """The points of the first player."""
    given: float = 0.0
    """The points of both players together."""


class Schedule:
    """The games of a tournament. A game is open if it is not over and no table has taken it."""

    def __init__(self, games: int) -> None:
        """`games` is the number of games of each pairing, which has to be even."""
        self.games = games
        self._pairings: list[_Games] = []
        self._unfinished = set[int]()
        """The pairings that are not over."""
        self._withdrawn = set[int]()

    @property
    def pairings(self) -> list[tuple[int, int]]:
        """The players of each pairing. The first one has the first move in games with an even number."""
        return [each.players for each in self._pairings]

    def add(self, pairings: Iterable[tuple[int, int]]) -> None:
        """Add pairings. They are numbered from 0 in the order in which they were added."""
        before = len(self._pairings)
        self._pairings += map(_Games, pairings)
        self._unfinished.update(range(before, len(self._pairings)))

    @property
    def over(self) -> int:
        """The number of pairings whose games are all over."""
        return len(self._pairings) - len(self._unfinished)

    @property
    def left(self) -> int:
        """The number of games that are still to be played by players that have not withdrawn."""
        return sum(
            self.games - len(each.over) for each in self._pairings if self._withdrawn.isdisjoint(each.players)
        )

    def is_wanted(self, pairing: int, number: int) -> bool:
        """Whether a game exists, is not over, and neither player has withdrawn."""
        return (
            0 <= pairing < len(self._pairings)
            and 0 <= number < self.games
            and self._withdrawn.isdisjoint(self._pairings[pairing].players)
            and number not in self._pairings[pairing].over
        )

    def is_over(self, pairing: int) -> bool:
        """Whether all games of a pairing are over."""
        return len(self._pairings[pairing].over) == self.games

    def is_open(self, pairing: int) -> bool:
        """Whether a pairing has games to be played, and neither player has withdrawn."""
        games = self._pairings[pairing]
        return len(games.over) < self.games and self._withdrawn.isdisjoint(games.players)

    def open_pairings(self) -> list[int]:
        """Return the pairings with games to be played whose players have not withdrawn."""
        return [number for number in sorted(self._unfinished) if self.is_open(number)]

    def unfinished(self) -> list[int]:
        """Return the pairings that are not over."""
        return sorted(self._unfinished)

    def points(self, pairing: int) -> tuple[float, float]:
        """Return the points of both players of a pairing."""
        games = self._pairings[pairing]
        return games.points, games.given - games.points

    def count(self, pairing: int, number: int, points: float, given: float = 1.0) -> None:
        """Count a game that is over, with the `points` of the first player of the pairing.

        `given` is the sum of the points of both, 0 if both players forfeited the game. Raises ValueError if
        there is no such game, or it was over before.
        """
        if not (0 <= pairing < len(self._pairings) and 0 <= number < self.games):
            raise ValueError(f"pairing {pairing} has no game {number}")
        games = self._pairings[pairing]
        if number in games.over:
            raise ValueError(f"game {number} of pairing {pairing} is there twice")
        games.over.add(number)
        games.taken.discard(number)
        games.points += points
        games.given += given
        self._note(pairing)

    def recount(self, pairing: int, points: Mapping[int, tuple[float, float]]) -> None:
        """Replace what was counted for a pairing. `points` has the points of both players for each game."""
        games = self._pairings[pairing]
        games.over = {*points}
        games.taken -= games.over
        games.points = sum(first for first, _ in points.values())
        games.given = sum(first + second for first, second in points.values())
        games.first = 0
        self._note(pairing)

    def _note(self, pairing: int) -> None:
        if len(self._pairings[pairing].over) == self.games:
            self._unfinished.discard(pairing)
        else:
            self._unfinished.add(pairing)

    def withdraw(self, player: int) -> int:
        """Record that a player has withdrawn; return the number of its games that will not be played."""
        left_out = sum(
            self.games - len(each.over)
            for each in self._pairings
            if player in each.players and self._withdrawn.isdisjoint(each.players)
        )
        self._withdrawn.add(player)
        return left_out

    def restore(self, player: int) -> None:
        """Record that a player who had withdrawn takes part again."""
        self._withdrawn.discard(player)

    # Tables. Each plays games of one pairing, one after the other.

    def assign(self) -> int | None:
        """Assign a table to the pairing with the fewest tables.

        Return the number of that pairing, or None if no game is open.
        """
        waiting = [number for number in range(len(self._pairings)) if self._count_open(number)]
        if not waiting:
            return None
        pairing = min(waiting, key=lambda number: (self._pairings[number].tables, -self._count_open(number)))
        self._pairings[pairing].tables += 1
        return pairing

    def take(self, pairing: int) -> list[int]:
        """Assign the next games of a pairing to a table; return them, or an empty list if no game is open.

        Games are assigned in whole pairs, except for a pair of which one game is not open. A table gets a
        share of the open games, so that all tables of the pairing end at about the same time.
        """
        games = self._pairings[pairing]
        share = self._count_open(pairing) // (2 * max(1, games.tables))
        if not self._count_open(pairing):
            return []
        wanted, taken = max(2, min(AT_MOST, share)), list[int]()
        for number in range(games.first, self.games):
            if number in games.over or number in games.taken:
                continue
            # One more game is taken if it completes a pair.
            if len(taken) >= wanted and not (number % 2 and number == taken[-1] + 1):
                break
            taken.append(number)
        games.first = taken[-1] + 1
        games.taken.update(taken)
        return taken

    def take_series(self, pairing: int) -> range:
        """Assign the first open pair of games of a pairing to a table, or its open half; return the games."""
        games = self._pairings[pairing]
        if not self._count_open(pairing):
            return range(0)
        busy = games.over | games.taken
        first = next(number for number in range(self.games) if number not in busy)
        end = first + 1 if first % 2 or first + 1 in busy else first + 2
        games.taken.update(range(first, end))
        return range(first, end)

    def reserve(self, pairing: int, games: Iterable[int]) -> None:
        """Assign these games to a table, except those that are over."""
        state = self._pairings[pairing]
        state.taken.update(each for each in games if each not in state.over)

    def release(self, pairing: int, unplayed: Iterable[int] = ()) -> None:
        """Remove a table from its pairing. Its `unplayed` games are open again."""
        games = self._pairings[pairing]
        games.tables = max(0, games.tables - 1)
        games.taken.difference_update(unplayed)
        games.first = min(games.first, *unplayed, self.games)

    def release_all(self) -> None:
        """Remove all tables."""
        for games in self._pairings:
            games.taken.clear()
            games.tables = games.first = 0

    def _count_open(self, pairing: int) -> int:
        """Return the number of open games of a pairing."""
        games = self._pairings[pairing]
        if not self._withdrawn.isdisjoint(games.players):
            return 0
        return self.games - len(games.over) - len(games.taken)

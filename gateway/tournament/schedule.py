"""The schedule of a tournament: games to be played, games being played, games with a result.

The schedule depends only on the format and the stored entries, so a tournament that was stopped goes on with
the same games. The games of a pairing are numbered from 0. Games 2k and 2k + 1 are a pair with the same
opening and swapped sides.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeAlias, TypeVar

from gateway.tournament.formats import Format, Pairing, Score

AT_MOST = 50
"""The maximum number of games that a table takes at a time, apart from one that completes a pair."""


class Result(Protocol):
    """A game that has a result."""

    @property
    def pairing(self) -> int:
        """The number of the game's pairing. Pairings are numbered from 0 in the order of the format."""

    @property
    def number(self) -> int:
        """The game's number in its pairing."""

    @property
    def points(self) -> float:
        """The points of the first player of the pairing: 1, 0.5 or 0."""


R = TypeVar("R", bound=Result)


@dataclass(frozen=True, slots=True)
class Withdrawal:
    """An entry that says that a player has withdrawn from the tournament."""

    player: int


Entry: TypeAlias = R | Withdrawal


class Storage(Protocol[R]):
    """Stores results and withdrawals on disk.

    If a format has one round, withdrawals need not be stored; a player that has withdrawn then takes part
    again after a restart. If it has several rounds, that would change the pairings of later rounds.
    """

    def load(self) -> Iterable[Entry[R]]:
        """Return all entries in the order in which they were appended. Raises OSError or ValueError."""

    def append(self, entry: Entry[R]) -> None:
        """Store an entry. If this raises OSError, the entry does not count."""


@dataclass(slots=True)
class _Games:
    """The state of a pairing's games."""

    over: set[int] = field(default_factory=set)
    """The games that have a result."""
    taken: set[int] = field(default_factory=set)
    """The games that a table has taken and that are not over."""
    first: int = 0
    """The number below which no game is open."""
    tables: int = 0
    points: float = 0.0
    """The points of the pairing's first player."""


class Schedule(Generic[R]):
    """The games of a tournament."""

    def __init__(
        self,
        players: int,
        games: int,
        format: Format,
        storage: Storage[R],
        on_result: Callable[[R], None] | None = None,
    ) -> None:
        """Load the stored entries. `games` is the number of games in each pairing, which must be even.

        `on_result` is called with each stored result, and later with each new result. Raises OSError, or
        ValueError if an entry occurs twice or has an unknown game or player.
        """
        self.pairings: list[Pairing] = []
        """The pairings of all rounds so far."""
        self.games = games
        self.left = 0
        """The number of games, in all pairings so far, that are still to be played."""
        self._players = players
        self._format = format
        self._storage = storage
        self._on_result = on_result
        self._rounds: list[slice] = []
        """For each round, the indices of its pairings."""
        self._games: list[_Games] = []
        self._withdrawn = set[int]()
        self._begin_rounds()
        for entry in storage.load():
            self._check(entry)
            self._count(entry)

    def record(self, result: R) -> None:
        """Store and count a result. Raises OSError, or ValueError if no result of the game is wanted."""
        self._check(result)
        self._storage.append(result)
        self._count(result)

    def withdraw(self, player: int) -> int:
        """Store that a player withdraws; return the number of its games that will not be played.

        Raises OSError, or ValueError if the player has withdrawn before.
        """
        withdrawal = Withdrawal(player)
        self._check(withdrawal)
        self._storage.append(withdrawal)
        return self._count(withdrawal)

    def is_wanted(self, pairing: int, number: int) -> bool:
        """Whether a game exists and is not over, and both its players still take part."""
        return (
            0 <= pairing < len(self.pairings)
            and 0 <= number < self.games
            and self._withdrawn.isdisjoint(self.pairings[pairing])
            and number not in self._games[pairing].over
        )

    # Tables. Each table plays games of one pairing, one after the other. A game is open if it is not over and
    # no table has taken it.

    def assign(self) -> int | None:
        """Assign a table to the pairing that has the fewest tables among those with open games.

        Returns the number of the pairing, or None if no game is open.
        """
        waiting = [number for number in range(len(self.pairings)) if self._count_open(number)]
        if not waiting:
            return None
        pairing = min(waiting, key=lambda number: (self._games[number].tables, -self._count_open(number)))
        self._games[pairing].tables += 1
        return pairing

    def take(self, pairing: int) -> list[int]:
        """Assign the next games of a pairing to a table; return them, or an empty list if no game is open.

        Both games of a pair are assigned together if both are open. A table gets only a part of the open
        games, so that all tables of the pairing end at about the same time.
        """
        games = self._games[pairing]
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

    def release(self, pairing: int, unplayed: Iterable[int] = ()) -> None:
        """Remove a table from its pairing. The `unplayed` games of the table become open again."""
        games = self._games[pairing]
        games.tables -= 1
        games.taken.difference_update(unplayed)
        games.first = min(games.first, *unplayed, self.games)

    def _count_open(self, pairing: int) -> int:
        """Return the number of open games of a pairing."""
        games = self._games[pairing]
        if not self._withdrawn.isdisjoint(self.pairings[pairing]):
            return 0
        return self.games - len(games.over) - len(games.taken)

    # Entries.

    def _check(self, entry: Entry[R]) -> None:
        """Raise ValueError if an entry occurs twice or has an unknown game or player."""
        if isinstance(entry, Withdrawal):
            if not 0 <= entry.player < self._players or entry.player in self._withdrawn:
                raise ValueError(f"player {entry.player} has withdrawn twice, or is none")
        elif not self.is_wanted(entry.pairing, entry.number):
            raise ValueError(f"game {entry.number} of pairing {entry.pairing} is there twice, or is none")

    def _count(self, entry: Entry[R]) -> int:
        """Count an entry; return the number of games that will not be played because of it."""
        left_out = 0
        if isinstance(entry, Withdrawal):
            left_out = sum(
                self.games - len(games.over)
                for pairing, games in zip(self.pairings, self._games, strict=True)
                if entry.player in pairing and self._withdrawn.isdisjoint(pairing)
            )
            self._withdrawn.add(entry.player)
            self.left -= left_out
        else:
            games = self._games[entry.pairing]
            games.over.add(entry.number)
            games.taken.discard(entry.number)
            games.points += entry.points
            self.left -= 1
            if self._on_result is not None:
                self._on_result(entry)
        self._begin_rounds()
        return left_out

    def _begin_rounds(self) -> None:
        """Add the pairings of the next round if no game of the current round is left to play."""
        while not self.left:
            scores = [
                Score(pairing, (games.points, len(games.over) - games.points))
                for pairing, games in zip(self.pairings, self._games, strict=True)
            ]
            players = [each for each in range(self._players) if each not in self._withdrawn]
            further = self._format(players, [scores[each] for each in self._rounds])
            if not further:
                break
            self.pairings += further
            self._rounds.append(slice(len(scores), len(self.pairings)))
            self._games += [_Games() for _ in further]
            self.left = self.games * len(further)

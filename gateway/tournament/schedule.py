"""The schedule: which games are to be played, which are being played, and which have a result.

What is to be played follows from the format and from what is stored, results and withdrawals, alone: so
whoever was stopped goes on with the same games, those that were on included. A game that ended without a
result, as where it was aborted, is not recorded; it is released, and is played again.

Games of a pairing are numbered from 0. Games 2k and 2k + 1 are a pair: they share an opening, and the
first-named player opens the even one.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeAlias, TypeVar

from gateway.tournament.formats import Format, Pairing, Score

AT_MOST = 50
"""Games that one table takes at once: a player may have to come back after them."""


class Result(Protocol):
    """A game that has a result."""

    @property
    def pairing(self) -> int:
        """The number of its pairing, from 0 on in the order in which the format returned them."""

    @property
    def number(self) -> int:
        """Its number in the pairing."""

    @property
    def points(self) -> float:
        """What the first-named player of the pairing got: 1, 0.5 or 0."""


R = TypeVar("R", bound=Result)


@dataclass(frozen=True, slots=True)
class Withdrawal:
    """A player takes part no more."""

    player: int


Entry: TypeAlias = R | Withdrawal


class Storage(Protocol[R]):
    """Where results and withdrawals stay when the process ends, however it does.

    One for formats of a single round MAY forget withdrawals. Then a player that has withdrawn takes part
    again after a stop; with several rounds the later ones would be paired otherwise than they were.
    """

    def load(self) -> Iterable[Entry[R]]:
        """Return all entries, in the order in which they were appended. Raises OSError, ValueError."""

    def append(self, entry: Entry[R]) -> None:
        """Store an entry. Raises OSError; then it does not count."""


@dataclass(slots=True)
class _Games:
    """The state of a pairing's games."""

    over: set[int] = field(default_factory=set)
    taken: set[int] = field(default_factory=set)
    """Those that a table has, and that are not over."""
    first: int = 0
    """No game before this one is open."""
    tables: int = 0
    points: float = 0.0
    """Of the first-named player."""


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
        """Count what is stored. `games` are those of each pairing, an even number.

        `on_result` is called with each result that counts: now with those that are stored, later with those
        that are recorded. Raises OSError, and ValueError where an entry is there twice, or is of no game or
        player.
        """
        self.pairings: list[Pairing] = []
        """Those of all rounds so far."""
        self.games = games
        self.left = 0
        """How many games of these are still to be played."""
        self._players = players
        self._format = format
        self._storage = storage
        self._on_result = on_result
        self._rounds: list[slice] = []
        """Which of the pairings are those of each round."""
        self._games: list[_Games] = []
        self._withdrawn = set[int]()
        self._begin_rounds()
        for entry in storage.load():
            self._check(entry)
            self._count(entry)

    def record(self, result: R) -> None:
        """Store a result, and count it. Raises OSError, and ValueError if its game was not to be played."""
        self._check(result)
        self._storage.append(result)
        self._count(result)

    def withdraw(self, player: int) -> int:
        """Store that a player takes part no more; return how many of its games are left out.

        Raises OSError, and ValueError if it has withdrawn before.
        """
        withdrawal = Withdrawal(player)
        self._check(withdrawal)
        self._storage.append(withdrawal)
        return self._count(withdrawal)

    def is_wanted(self, pairing: int, number: int) -> bool:
        """Whether a game is to be played, or is being played: it is not over, and nobody has withdrawn."""
        return (
            0 <= pairing < len(self.pairings)
            and 0 <= number < self.games
            and self._withdrawn.isdisjoint(self.pairings[pairing])
            and number not in self._games[pairing].over
        )

    # Tables: where games of one pairing are played, one after the other.

    def assign(self) -> int | None:
        """Return the pairing for another table, the one with the fewest; None where no game is open."""
        waiting = [number for number in range(len(self.pairings)) if self._count_open(number)]
        if not waiting:
            return None
        pairing = min(waiting, key=lambda number: (self._games[number].tables, -self._count_open(number)))
        self._games[pairing].tables += 1
        return pairing

    def take(self, pairing: int) -> list[int]:
        """Return the next games for a table, whole pairs unless one is half played; none where none is open.

        As long as there are many it is a part of them, so that all tables of the pairing end together.
        """
        games = self._games[pairing]
        share = self._count_open(pairing) // (2 * max(1, games.tables))
        if not self._count_open(pairing):
            return []
        wanted, taken = max(2, min(AT_MOST, share)), list[int]()
        for number in range(games.first, self.games):
            if number in games.over or number in games.taken:
                continue
            # One more is taken where that completes a pair.
            if len(taken) >= wanted and not (number % 2 and number == taken[-1] + 1):
                break
            taken.append(number)
        games.first = taken[-1] + 1
        games.taken.update(taken)
        return taken

    def release(self, pairing: int, unplayed: Iterable[int] = ()) -> None:
        """Take a table from its pairing; what it has taken and not played is open again."""
        games = self._games[pairing]
        games.tables -= 1
        games.taken.difference_update(unplayed)
        games.first = min(games.first, *unplayed, self.games)

    def _count_open(self, pairing: int) -> int:
        """Return how many games of a pairing nobody has taken."""
        games = self._games[pairing]
        if not self._withdrawn.isdisjoint(self.pairings[pairing]):
            return 0
        return self.games - len(games.over) - len(games.taken)

    # What is stored.

    def _check(self, entry: Entry[R]) -> None:
        """Raise ValueError where an entry cannot follow those before it."""
        if isinstance(entry, Withdrawal):
            if not 0 <= entry.player < self._players or entry.player in self._withdrawn:
                raise ValueError(f"player {entry.player} has withdrawn twice, or is none")
        elif not self.is_wanted(entry.pairing, entry.number):
            raise ValueError(f"game {entry.number} of pairing {entry.pairing} is there twice, or is none")

    def _count(self, entry: Entry[R]) -> int:
        """Count an entry; return how many games are left out because of it."""
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
        """Add the pairings of the next round if all games of the last one are over."""
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

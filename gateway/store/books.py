"""The arithmetic of statistics: what one more game does to two players' totals and ratings.

Pure: knows numbers, no database. The same few lines keep the running figures, game by game as they are
stored, and compute them again from all games; so the two cannot differ.
"""

from dataclasses import dataclass, field
from typing import NamedTuple

from gateway.store.ratings import Rater, Rating


class Entry(NamedTuple):
    """What a game that counts is for the books."""

    first: int
    """A player's number in the database."""
    second: int
    result: int
    """As `GameRecord.result` has it."""
    reason: str
    first_thought: int
    """Milliseconds."""
    second_thought: int
    moves: int
    """Of both together."""


@dataclass(slots=True)
class Account:
    """A player's totals, over the games that count."""

    opened: int = 0
    """Games as first mover."""
    opened_won: int = 0
    opened_drawn: int = 0
    replied: int = 0
    """Games as second mover."""
    replied_won: int = 0
    replied_drawn: int = 0
    thought: int = 0
    """Milliseconds."""
    moves: int = 0
    mean: float = Rating().mean
    deviation: float = Rating().deviation


class Key(NamedTuple):
    """What the games have in common that are counted together."""

    first: int
    second: int
    result: int
    reason: str


@dataclass(slots=True)
class Tally:
    """Games that are counted together."""

    games: int = 0
    first_thought: int = 0
    second_thought: int = 0
    first_moves: int = 0
    second_moves: int = 0


@dataclass(slots=True)
class Books:
    """Accounts, by the player's number, and tallies; what is missing begins at nothing."""

    accounts: dict[int, Account] = field(default_factory=dict)
    tallies: dict[Key, Tally] = field(default_factory=dict)
    _rater: Rater = field(default_factory=Rater, compare=False)

    def enter(self, entry: Entry) -> None:
        """Count a game."""
        first = self.accounts.setdefault(entry.first, Account())
        second = self.accounts.setdefault(entry.second, Account())
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
        self._rate(first, second, entry.result)
        tally = self.tallies.setdefault(Key(*entry[:4]), Tally())
        tally.games += 1
        tally.first_thought += entry.first_thought
        tally.second_thought += entry.second_thought
        tally.first_moves += first_moves
        tally.second_moves += second_moves

    def _rate(self, first: Account, second: Account, result: int) -> None:
        before = Rating(first.mean, first.deviation), Rating(second.mean, second.deviation)
        one, two = self._rater.after(*before, result)
        first.mean, first.deviation = one.mean, one.deviation
        second.mean, second.deviation = two.mean, two.deviation

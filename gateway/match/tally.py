"""What is counted in a match.

Knows records of games, and players by the names that they have in the match. Of each game it keeps the hash
of its moves, to know which were the same, and no more.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import sqrt

from gateway.game.events import Reason
from gateway.match.journal import Played

ENOUGH = 10
"""Pairs after which it is known whether most repeat each other."""


@dataclass(slots=True)
class Score:
    """The games of one player, or of one against another."""

    won: int = 0
    drawn: int = 0
    lost: int = 0

    @property
    def games(self) -> int:
        """All of them."""
        return self.won + self.drawn + self.lost

    @property
    def points(self) -> float:
        """1 for each game won, half of one for each drawn."""
        return self.won + self.drawn / 2

    def add(self, points: float) -> None:
        """Count a game."""
        self.won += points == 1
        self.drawn += points == 0.5
        self.lost += points == 0


@dataclass(slots=True)
class Player:
    """What is counted of one player."""

    name: str
    by_colour: tuple[Score, Score] = field(default_factory=lambda: (Score(), Score()))
    """Its games, moving first and moving second."""
    moves: int = 0
    thought: int = 0
    """Milliseconds."""
    late: int = 0
    """Moves that took longer than ``--think`` allows."""
    faults: Counter[Reason] = field(default_factory=Counter)
    """Games that it lost in another way than on the board."""
    left: list[int] = field(default_factory=lambda: [0, 0])
    """Of these, those that it left, as where it crashed: moving first, and moving second."""

    @property
    def total(self) -> Score:
        """All its games."""
        first, second = self.by_colour
        return Score(first.won + second.won, first.drawn + second.drawn, first.lost + second.lost)

    @property
    def leaves_most(self) -> bool:
        """Whether it left half of its games or more, which says nothing of its strength.

        Either colour weighs the same: of a pair one game may be over, and not the other.
        """
        shares = [left / games for left, games in self._left_by_colour() if games]
        return any(self.left) and 2 * sum(shares) >= len(shares)

    @property
    def goes_on_leaving(self) -> bool:
        """Whether it did so by three standard deviations more, with one of the colours or with both."""
        counts = [*self._left_by_colour(), (sum(self.left), self.total.games)]
        return self.leaves_most and any(
            games and 2 * left - games >= 3 * sqrt(games) for left, games in counts
        )

    def _left_by_colour(self) -> list[tuple[int, int]]:
        """Return games left and games played, moving first and moving second."""
        return [(left, score.games) for left, score in zip(self.left, self.by_colour, strict=True)]


@dataclass(slots=True)
class Meeting:
    """What is counted of two players against each other."""

    cells: list[int] = field(default_factory=lambda: [0] * 5)
    """Pairs, by the points of the first-named."""
    halves: dict[int, Played] = field(default_factory=dict)
    """The games of pairs of which the other game is not over, by the number of the pair."""
    pairs: set[int] = field(default_factory=set)
    """The hashes of the pairs."""

    @property
    def repeats(self) -> str:
        """Why these pairs prove nothing, as they are no independent ones; empty where that is not so."""
        played, different = sum(self.cells), len(self.pairs)
        if played < ENOUGH or 2 * different >= played:
            return ""
        return f"most pairs of games repeat each other: of {played} only {different} differ"

    def add(self, played: Played) -> None:
        """Count a pair, once both its games are over."""
        other = self.halves.pop(played.number // 2, None)
        if other is None:
            self.halves[played.number // 2] = played
        else:
            self.cells[round(2 * (played.points + other.points))] += 1
            moves = ((each.number % 2, each.record.moves) for each in (played, other))
            self.pairs.add(hash(frozenset(moves)))


class Tally:
    """All that is counted."""

    def __init__(self, players: Sequence[str], pairings: Sequence[tuple[int, int]]) -> None:
        self.players = [Player(name) for name in players]
        self.pairings = pairings
        self.meetings = [Meeting() for _ in pairings]
        self.firsts = Score()
        """All games, as the first movers scored."""
        self.cross: dict[tuple[int, int], Score] = {}
        """What a player scored that moved first against another."""
        self._games: set[int] = set()

    @property
    def games(self) -> int:
        """How many games were played."""
        return self.firsts.games

    @property
    def different(self) -> int:
        """How many of these were different: in players, colours or moves."""
        return len(self._games)

    def add(self, played: Played) -> None:
        """Count a game."""
        record, pairing = played.record, self.pairings[played.pairing]
        order = pairing if played.number % 2 == 0 else pairing[::-1]
        points = 0.5 if record.winner is None else 1.0 - record.winner
        self.firsts.add(points)
        self.cross.setdefault(order, Score()).add(points)
        self._games.add(hash((order, record.moves)))
        self.meetings[played.pairing].add(played)
        for side, gained in enumerate((points, 1 - points)):
            player = self.players[order[side]]
            player.by_colour[side].add(gained)
            player.moves += len(record.moves[played.opening :][(side + played.opening) % 2 :: 2])
            player.thought += record.thought[side]
            player.late += played.late[side]
            if gained == 0 and record.reason is not Reason.FOUR:
                player.faults[record.reason] += 1
                player.left[side] += record.reason is Reason.LEFT

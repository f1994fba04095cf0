"""The counts of a match: scores, faults, and pairs of games.

Knows records of games. Keeps only a hash of each game's moves, to recognize repeated games.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import sqrt

from gateway.game.events import Reason
from gateway.match.journal import Played

ENOUGH = 10
"""The minimum number of pairs for which `Meeting.repeats` can report repetitions."""


@dataclass(slots=True)
class Score:
    """The results of one player, in all games or against one other player."""

    won: int = 0
    drawn: int = 0
    lost: int = 0

    @property
    def games(self) -> int:
        """The number of games."""
        return self.won + self.drawn + self.lost

    @property
    def points(self) -> float:
        """The points: 1 for each won game, 0.5 for each drawn game."""
        return self.won + self.drawn / 2

    def add(self, points: float) -> None:
        """Count a game with these points: 0, 0.5 or 1."""
        self.won += points == 1
        self.drawn += points == 0.5
        self.lost += points == 0


@dataclass(slots=True)
class Player:
    """The counts of one player."""

    name: str
    by_colour: tuple[Score, Score] = field(default_factory=lambda: (Score(), Score()))
    """The player's scores as first mover and as second mover."""
    moves: int = 0
    thought: int = 0
    """The thinking time in all games, in milliseconds."""
    late: int = 0
    """The number of moves that took longer than ``--think`` allows."""
    faults: Counter[Reason] = field(default_factory=Counter)
    """The number of games that the player lost for each reason other than four in a row."""
    left: list[int] = field(default_factory=lambda: [0, 0])
    """The numbers of games that the player left as first and as second mover, for example by crashing."""

    @property
    def total(self) -> Score:
        """The player's score in all games."""
        first, second = self.by_colour
        return Score(first.won + second.won, first.drawn + second.drawn, first.lost + second.lost)

    @property
    def leaves_most(self) -> bool:
        """Whether the player left half of its games or more, so that the games do not show its strength.

        The share is computed for each side, and both shares have the same weight, since the player may have
        played more games on one side.
        """
        shares = [left / games for left, games in self._left_by_colour() if games]
        return any(self.left) and 2 * sum(shares) >= len(shares)

    @property
    def goes_on_leaving(self) -> bool:
        """Whether the player leaves half of its games or more, and not by chance.

        It is not by chance if the player left half of its games plus three standard deviations, on one side
        or in total.
        """
        counts = [*self._left_by_colour(), (sum(self.left), self.total.games)]
        return self.leaves_most and any(
            games and 2 * left - games >= 3 * sqrt(games) for left, games in counts
        )

    def _left_by_colour(self) -> list[tuple[int, int]]:
        """Return the numbers of games left and games played, as first mover and as second mover."""
        return [(left, score.games) for left, score in zip(self.left, self.by_colour, strict=True)]


@dataclass(slots=True)
class Meeting:
    """The counts of two players against each other."""

    cells: list[int] = field(default_factory=lambda: [0] * 5)
    """The number of pairs of games with each result. A result is the points of the first player."""
    halves: dict[int, Played] = field(default_factory=dict)
    """The games whose pair is not complete, by the number of the pair."""
    pairs: set[int] = field(default_factory=set)
    """The hashes of the moves of the pairs."""

    @property
    def repeats(self) -> str:
        """A text if most pairs of games repeat each other and so are not independent; otherwise empty."""
        played, different = sum(self.cells), len(self.pairs)
        if played < ENOUGH or 2 * different >= played:
            return ""
        return f"most pairs of games repeat each other: of {played} only {different} differ"

    def add(self, played: Played) -> None:
        """Add a game. If both games of its pair are over, count the pair."""
        other = self.halves.pop(played.number // 2, None)
        if other is None:
            self.halves[played.number // 2] = played
        else:
            self.cells[round(2 * (played.points + other.points))] += 1
            moves = ((each.number % 2, each.record.moves) for each in (played, other))
            self.pairs.add(hash(frozenset(moves)))


class MatchTally:
    """All counts of a match."""

    def __init__(self, players: Sequence[str], pairings: Sequence[tuple[int, int]]) -> None:
        self.players = [Player(name) for name in players]
        self.pairings = pairings
        self.meetings = [Meeting() for _ in pairings]
        self.firsts = Score()
        """The score of all first movers."""
        self.cross: dict[tuple[int, int], Score] = {}
        """The score of each first mover against each second mover."""
        self._games: set[int] = set()

    @property
    def games(self) -> int:
        """The number of games played."""
        return self.firsts.games

    @property
    def different(self) -> int:
        """The number of different games. Games are the same if players, sides and moves are the same."""
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

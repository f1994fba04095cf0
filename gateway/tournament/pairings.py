"""The state of a pairing: its stored games, what was decided about them, and what follows from both.

Pure. The same games and decisions give the same state, whether a game was added before or after a decision.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias, assert_never

from gateway.game.ids import GameId
from gateway.tournament.formats import Pairing
from gateway.tournament.log import Awarded, Forfeited, Replayed, TournamentResult, Voided

UNDECIDED = ("aborted", "stopped", "replayed")
"""The words for reasons after which a game is played again."""
LEFT = "left"
"""The word for the reason of a game that a player has lost by leaving."""
BREAKS = 3
"""How often a player may leave the same game before both have moved; at the last time it has lost it."""

Decided: TypeAlias = Forfeited | Awarded | Voided
"""A decision that stands for the result of a game."""


class Ruling(NamedTuple):
    """A decision on games of a pairing."""

    entry: Decided | Replayed
    made: int
    """In milliseconds of Unix time."""
    blamed: Sequence[int] = ()
    """The players for which a forfeit counts as a fault."""


class PlayerEnd(NamedTuple):
    """How a game ended for one of its players."""

    player: int
    at: int
    """In milliseconds of Unix time."""
    fault: str | None
    """Its fault, one of `gateway.game.results.FAULT_WORDS`; None if it made none."""


@dataclass(slots=True)
class PairingState:
    """A pairing, its games and the decisions on them. Call `recount` after any of them was added."""

    pairing: Pairing
    stage: int = 0
    """The number of its stage, from 0."""
    made: int = 0
    """When it was added, in milliseconds of Unix time."""
    results: list[TournamentResult] = field(default_factory=list)
    """All stored games, in the order of storing."""
    rulings: list[Ruling] = field(default_factory=list)
    """All decisions, in their order."""

    # All that follows is set by `recount`.
    decided: Mapping[int, Decided] = field(default_factory=dict)
    """The decisions that stand for the results of games, by the numbers of these games."""
    games: dict[int, TournamentResult] = field(default_factory=dict)
    """The games whose results count, by their numbers."""
    broken: list[TournamentResult] = field(default_factory=list)
    """All other games: those without a result, which are played again; second results of the same game; and
    those whose results a decision replaced."""
    points: dict[int, tuple[float, float]] = field(default_factory=dict)
    """The points of the two players for each game that is over, by its number."""
    thought: tuple[int, int] = (0, 0)
    """The thinking time of each player in `games`, in milliseconds."""
    ends: list[PlayerEnd] = field(default_factory=list)
    """How its games ended for each player, in no certain order."""

    @property
    def players(self) -> tuple[int, ...]:
        """The two players, or the one that has a bye."""
        first, second, _ = self.pairing
        return (first,) if second is None else (first, second)

    @property
    def faults(self) -> tuple[int, int]:
        """The number of faults of each player."""
        faulty = [each.player for each in self.ends if each.fault is not None]
        return faulty.count(self.pairing.first), sum(player == self.pairing.second for player in faulty)

    @property
    def forfeited(self) -> dict[int, Forfeited]:
        """The games that are not played since a player was absent, by their numbers."""
        return {number: each for number, each in self.decided.items() if isinstance(each, Forfeited)}

    @property
    def finished_at(self) -> int:
        """When the latest game or decision came, in milliseconds of Unix time; 0 without any."""
        return max([each.ended for each in self.results] + [each.made for each in self.rulings], default=0)

    def stored(self, numbers: Iterable[int]) -> AbstractSet[GameId]:
        """Return the stored games with these numbers."""
        wanted = {*numbers}
        return {each.game for each in self.results if each.number in wanted}

    def recount(self, games: int) -> None:
        """Derive the rest of the state. `games` is the number of games of each pairing."""
        first, second, _ = self.pairing
        if second is None:
            self.points = dict.fromkeys(range(games), (0.0, 0.0))
            return
        self.decided, annulled = self._decide()
        self.games, self.broken, self.ends, thought = {}, [], [], [0, 0]
        leavings = defaultdict[tuple[int, int], set[GameId]](set)
        for game in self.results:
            # The first mover of a game with an even number is the first player of the pairing.
            swapped = game.number % 2
            is_ruled = game.game in annulled or isinstance(self.decided.get(game.number), Awarded | Voided)
            is_first = not is_ruled and game.number not in self.games and game.number not in self.decided
            if not is_ruled:
                self._add_ends(game, (second, first) if swapped else (first, second))
            counted = game
            if is_first and game.culprit is not None and game.reason in UNDECIDED:
                times = leavings[game.number, game.culprit]
                times.add(game.game)
                if len(times) >= BREAKS:  # otherwise a player that always leaves at once would never lose
                    counted = game._replace(result=2 - game.culprit, reason=LEFT)
            self.broken = [each for each in self.broken if each.game != game.game]  # stored with a result now
            if not is_first or counted.reason in UNDECIDED or game.number >= games:
                self.broken.append(game)
                continue
            self.games[game.number] = counted
            points = {0: 0.5, 1: 1.0, 2: 0.0}[counted.result]
            self.points[game.number] = (1 - points, points) if swapped else (points, 1 - points)
            for place in (0, 1):
                thought[place] += game.thought[place ^ swapped]
        self.thought = thought[0], thought[1]
        self.points = {number: self.points[number] for number in self.games}
        for number, decision in self.decided.items():
            self.points[number] = _points_by(decision, (first, second))
        for entry, made, blamed in self.rulings:
            if any(each is entry for each in self.decided.values()):
                self.ends += [PlayerEnd(player, made, "walkover") for player in blamed]

    def _decide(self) -> tuple[dict[int, Decided], AbstractSet[GameId]]:
        """Return the decisions that are in force, and the games that are played again by a decision."""
        decided, annulled = dict[int, Decided](), set[GameId]()
        for entry, *_ in self.rulings:
            match entry:
                case Forfeited(_, numbers, _):
                    for number in numbers:
                        decided.setdefault(number, entry)
                case Awarded(_, number, _):
                    decided[number] = entry
                case Voided(_, numbers):
                    decided.update(dict.fromkeys(numbers, entry))
                case Replayed(_, numbers, games):
                    for number in numbers:
                        decided.pop(number, None)
                    annulled.update(games)
                case _:
                    assert_never(entry)
        return decided, annulled

    def _add_ends(self, game: TournamentResult, movers: tuple[int, int]) -> None:
        for side, player in enumerate(movers):
            if game.culprit == side and game.fault is not None:
                self.ends.append(PlayerEnd(player, game.ended, game.fault))
            elif game.reason not in UNDECIDED:
                self.ends.append(PlayerEnd(player, game.ended, None))


def _points_by(decision: Decided, players: tuple[int, int]) -> tuple[float, float]:
    match decision:
        case Forfeited(_, _, absent):
            first, second = (float(player not in absent) for player in players)
        case Awarded(_, _, winner):
            first, second = (0.5 if winner is None else float(player == winner) for player in players)
        case Voided():
            first = second = 0.0
        case _:
            assert_never(decision)
    return first, second

"""Test games: two games of a client against a house player at a tournament's table, which do not count.

A tournament may demand them of each player before it enters, and the director may ask for them later. Pure.
They are stored as games of pairings from `TESTS` on, so they are known again after a crash.
"""

from dataclasses import dataclass, field

from gateway.game.commands import is_house_name
from gateway.tournament.log import TournamentResult
from gateway.tournament.pairings import UNDECIDED

TESTS = 1_000_000
"""The number of the first test. Lower numbers are those of pairings; no tournament has so many."""
MOST_OF_PLAYER = 20
"""The most tests that a player plays to enter. A bot that fails and comes back would be tested for ever."""
MOST = 5_000
"""The most tests of a tournament after which players are still tested to enter, since anybody may come, and
every reader of the tournament reads them."""
GAMES = 2
"""The number of games of a test. Each player has the first move in one of them."""
_WORDS = {
    "illegal": "it made an illegal move",
    "time": "its clock ran out",
    "stall": "it did not move in time",
    "crash": "its connection ended",
}
"""Why a player has not passed, by its fault. A test has no walkover."""


@dataclass(slots=True)
class PlayedTest:
    """The games of one test so far."""

    player: str
    house: str
    """The names of both players."""
    stored: list[TournamentResult] = field(default_factory=list)
    """All its stored games."""
    games: dict[int, TournamentResult] = field(default_factory=dict)
    """The games with a result or a fault of the player, by their numbers."""

    def add(self, game: TournamentResult) -> None:
        """Add a stored game."""
        self.stored.append(game)
        # After a crash another player's test may have got the same number.
        is_its = self.player in (game.first, game.second)
        if is_its and game.number in range(GAMES) and (game.reason not in UNDECIDED or self._fault_in(game)):
            self.games.setdefault(game.number, game)

    @property
    def fault(self) -> str | None:
        """The fault of the player, one of `gateway.game.results.FAULT_WORDS`; None if it made none."""
        return next(filter(None, map(self._fault_in, self.games.values())), None)

    @property
    def is_passed(self) -> bool:
        """Whether both games ended without a fault of the player."""
        return len(self.games) == GAMES and self.fault is None

    @property
    def is_over(self) -> bool:
        """Whether no further game is needed to know whether the player has passed."""
        return len(self.games) == GAMES or self.fault is not None

    @property
    def points(self) -> float:
        """The points of the player: 1 for each game won, half a point for each game drawn."""
        games = self.games.values()
        won = sum(game.result == (1 if game.first == self.player else 2) for game in games)
        return won + sum(game.result == 0 and game.reason not in UNDECIDED for game in games) / 2

    @property
    def why(self) -> str:
        """Why the player has not passed; empty if it has, or may still pass."""
        return "" if self.fault is None else _WORDS[self.fault]

    def _fault_in(self, game: TournamentResult) -> str | None:
        culprit = (game.first, game.second)[game.culprit] if game.culprit is not None else None
        return game.fault if culprit == self.player else None


def add_game(tests: dict[int, PlayedTest], game: TournamentResult) -> PlayedTest:
    """Add a stored game to its test, and return that; the keys of `tests` are the numbers of the tests."""
    names = game.first, game.second
    side = int(is_house_name(names[0]))
    test = tests.setdefault(game.pairing, PlayedTest(names[side], names[1 - side]))
    test.add(game)
    return test

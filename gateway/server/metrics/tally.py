"""The games of this run of the server, counted as the feed tells of them.

Knows facts. Does not know names: of a player it looks at the dialect alone. Moves are counted when their game
is over, so that no fact has to be made of each.
"""

from collections import Counter

from gateway.game.board import other
from gateway.game.events import Reason
from gateway.game.facts import GameStarted
from gateway.game.results import Finished
from gateway.hub.feed import Feed
from gateway.store.records import WORDS


class Tally:
    """Subscribes to a feed, and counts."""

    def __init__(self, feed: Feed) -> None:
        self.started: Counter[tuple[str, str]] = Counter()
        """Games that began, by the dialects of the first mover and the second."""
        self.ended: Counter[tuple[str, str]] = Counter()
        """Games whose end was told, by these."""
        self.reasons: Counter[str] = Counter()
        """The same, by the reason, in the word of exports."""
        self.moves: Counter[str] = Counter()
        """Moves in them, by the mover's dialect."""
        self.time_losses: Counter[str] = Counter()
        """Games in them that were lost on time, by the loser's dialect."""
        self._facts = feed.subscribe(self._count, (GameStarted, Finished))

    @property
    def playing(self) -> int:
        """How many games are on, or over and not told yet."""
        return self.started.total() - self.ended.total()

    def _count(self) -> None:
        for fact in self._facts.take():
            match fact:
                case GameStarted():
                    self.started[fact.kinds] += 1
                case Finished():
                    self._count_end(fact)

    def _count_end(self, game: Finished) -> None:
        first, second = (player.manners.kind for player in game.players)
        moves = len(game.board.moves)
        self.ended[first, second] += 1
        self.reasons[WORDS[game.reason]] += 1
        self.moves[first] += (moves + 1) // 2
        self.moves[second] += moves // 2
        if game.reason is Reason.TIME and game.winner is not None:
            self.time_losses[(first, second)[other(game.winner)]] += 1

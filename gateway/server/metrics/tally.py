"""Counts of the games of this run of the server, from the facts of the feed.

Knows facts. Of a player it knows only the dialect. Moves are counted when their game is over, so that no fact
is needed for each move.
"""

from collections import Counter

from gateway.game.board import other
from gateway.game.events import Reason
from gateway.game.facts import GameStarted
from gateway.game.results import Finished
from gateway.hub.feed import Feed
from gateway.store.records import WORDS


class GameCounts:
    """Subscribes to a feed and counts games."""

    def __init__(self, feed: Feed) -> None:
        self.started: Counter[tuple[str, str]] = Counter()
        """Games that began, by the dialects of the first and the second mover."""
        self.ended: Counter[tuple[str, str]] = Counter()
        """Games that ended, by the dialects of the first and the second mover."""
        self.reasons: Counter[str] = Counter()
        """Games that ended, by reason. The words for the reasons are those of exports."""
        self.moves: Counter[str] = Counter()
        """Moves in games that ended, by the mover's dialect."""
        self.time_losses: Counter[str] = Counter()
        """Games that were lost on time, by the loser's dialect."""
        self._facts = feed.subscribe(self._count, (GameStarted, Finished))

    @property
    def playing(self) -> int:
        """The number of games that began and whose end was not published yet."""
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

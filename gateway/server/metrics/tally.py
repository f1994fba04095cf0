"""Counts of the games in this run of the server, computed from the facts of the feed.

Knows facts, and players only by their dialects. Moves are counted when their game is over, so the feed needs
no fact for each move.
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
        """The number of games that began, by the dialects of the first and the second mover."""
        self.ended: Counter[tuple[str, str]] = Counter()
        """The number of games that ended, by the dialects of the first and the second mover."""
        self.reasons: Counter[str] = Counter()
        """The number of games that ended, by reason. The reasons have the same words as in exports."""
        self.moves: Counter[str] = Counter()
        """The number of moves in games that ended, by the mover's dialect."""
        self.time_losses: Counter[str] = Counter()
        """The number of games lost on time, by the loser's dialect."""
        self._facts = feed.subscribe(self._count, (GameStarted, Finished))

    @property
    def playing(self) -> int:
        """The number of games that are being played, or whose end is not published yet."""
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

"""A feed whose games are tallied, and games to tell of."""

from gateway.game.board import Board, Side
from gateway.game.events import Reason
from gateway.game.facts import GameStarted
from gateway.game.manners import Afterwards, Illegal, Manners
from gateway.game.results import Finished, NoResults, Player
from gateway.hub.feed import Feed
from gateway.server.metrics.tally import Tally

NAME = "<img src=x onerror=alert(1)>\u202e\n"


def player(kind: str) -> Player:
    return Player(NAME, Manners(Illegal.RETRY, Afterwards.STEP_OUT, kind=kind))


class Told:
    """A feed, and what is counted of the games that it tells of."""

    def __init__(self) -> None:
        self.feed = Feed(NoResults(), self._fail)
        self.tally = Tally(self.feed)

    def start(self, first: str, second: str, times: int = 1) -> None:
        for _ in range(times):
            self.feed.publish(GameStarted("1", (1, 2), (NAME, NAME), (first, second), NAME, 1, None))

    def end(self, kinds: tuple[str, str], moves: str, reason: Reason, winner: Side | None) -> None:
        board = Board()
        for column in moves:
            board = board.drop(int(column))
        players = player(kinds[0]), player(kinds[1])
        self.feed.end(Finished("1", players, board, winner, reason, (1.0, 2.0), 1, table=NAME))

    @staticmethod
    def _fail() -> None:
        raise  # noqa: PLE0704

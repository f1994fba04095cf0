"""A server with nothing but figures: games that are told of, and whatever else is counted."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from worlds.hub import World

from gateway.game.board import Board, Side
from gateway.game.events import Reason
from gateway.game.facts import GameStarted
from gateway.game.manners import Afterwards, Illegal, Manners
from gateway.game.results import Finished, Player
from gateway.runtime.histogram import Histogram
from gateway.runtime.turns import TimedTurns
from gateway.server.metrics.families import Sources, texts
from gateway.server.metrics.requests import Requests
from gateway.server.metrics.tally import GameCounts

NAME = "<img src=x onerror=alert(1)>\u202e\n"


def player(kind: str) -> Player:
    return Player(NAME, Manners(Illegal.RETRY, Afterwards.STEP_OUT, kind=kind))


class Told:
    """A hub whose feed tells of games, and what is counted of them."""

    def __init__(self) -> None:
        self.hub = World().hub
        self.feed = self.hub.feed
        self.tally = GameCounts(self.feed)
        self.sources = Sources(
            self.hub, self.tally, TimedTurns(), ["nac4", "arena", "droidcon"], dict, dict, None, None
        )

    def text(self, **other: Any) -> str:
        """Return the text of all families; `other` sources take the place of those that there are."""
        return b"".join(texts(replace(self.sources, **other))).decode()

    def start(self, first: str, second: str, times: int = 1) -> None:
        for _ in range(times):
            self.feed.publish(GameStarted("1", (1, 2), (NAME, NAME), (first, second), NAME, 1, None))

    def end(self, kinds: tuple[str, str], moves: str, reason: Reason, winner: Side | None) -> None:
        board = Board()
        for column in moves:
            board = board.drop(int(column))
        players = player(kinds[0]), player(kinds[1])
        self.feed.end(Finished("1", players, board, winner, reason, (1.0, 2.0), 1, table=NAME))


@dataclass
class Kept:
    """A store, as far as metrics look at it."""

    waiting: int = 0
    behind: bool = False
    held: bool = False
    journaled: int = 0
    commits: Histogram = field(default_factory=Histogram)
    errors: Counter[str] = field(default_factory=lambda: Counter(passing=0, refused=0, tidying=0))

    @property
    def open(self) -> "Kept":
        return self


@dataclass
class Joined:
    """A cluster, as far as metrics look at it."""

    pairs: str | None = "a"
    alone: bool = False
    registry: bool = True
    nodes: int = 3

    def condition(self) -> Mapping[str, object]:
        about = {"pairs": self.pairs, "alone": self.alone, "registry": self.registry}
        return {"node": "a", "linked": ["b", "c"], **about}


def everything() -> str:
    """Return the text of a server that has all that can be counted, once at least."""
    told, requests = Told(), Requests()
    told.hub.cluster = Joined()  # type: ignore[assignment]  what the page needs of it is left out
    told.start("nac4", "arena", 2)
    told.end(("nac4", "arena"), "0101010", Reason.TIME, 0)
    for what in ("connections", "refused", "dropped", "limit_messages", "entry_refused"):
        told.feed.counts[what, "x"] += 1
    requests.add("page", 200, 0.1)
    house = {"house": lambda: {"quick": 1}, "restarts": lambda: {"web": 1}}
    return told.text(batcher=Kept(), requests=requests, **house)

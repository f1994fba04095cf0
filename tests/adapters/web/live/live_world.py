"""What happens, told by hand, and a viewer who knows what it was told."""

import copy
import json
from collections.abc import Iterable, Sequence
from typing import Any

from adapters.web.live.channel import Channel, Wanted
from adapters.web.live.live import Live
from gateway.game.board import Board, Side
from gateway.game.events import Reason
from gateway.game.fact_encoding import encode_fact
from gateway.game.facts import (
    Away,
    Back,
    Came,
    GameStarted,
    Hindered,
    MoveMade,
    Obstacle,
    Shown,
    Standing,
    Waits,
)
from gateway.game.manners import Afterwards, Illegal, Manners
from gateway.game.results import Finished, Player

NASTY = [
    "<img src=x onerror=alert(1)>",
    "\u202eevil",
    "\ud83d",
    "\udcff\ud800",
    "a\0b\r\ndata: x\n\nevent: y",
    "\u2028\x85",
    "\N{PILE OF POO}" * 256,
    "",
    '"}]',
]
"""Names that somebody may have chosen to break something."""
MANNERS = Manners(illegal=Illegal.RETRY, afterwards=Afterwards.STEP_OUT)
PLAYERS = Player("ann", MANNERS), Player("bob", MANNERS)


def identity(number: int) -> str:
    """Return the id of a game."""
    return f"00000-{number:06}"


def game(
    number: int,
    names: tuple[str, str] = ("ann", "bob"),
    table: str | None = None,
    clock: float | None = None,
) -> GameStarted:
    """Return how a game starts; its players are `2 * number` and the one behind."""
    players = 2 * number, 2 * number + 1
    return GameStarted(identity(number), players, names, ("one", "two"), table, 1, clock)


def move(number: int, side: Side, column: int = 3, left: float | None = None) -> MoveMade:
    """Return a move that took half a second."""
    return MoveMade(identity(number), side, column, 0.5, left)


def away(number: int, side: Side, grace: float = 30.0, seconds: float = 0.0) -> Away:
    """Return that the connection of a player of a game broke, so many seconds ago."""
    return Away(identity(number), side, "", grace, seconds)


def back(number: int, side: Side, seconds: float = 1.0) -> Back:
    """Return that this player has come back."""
    return Back(identity(number), side, "", seconds)


def over(
    number: int,
    winner: Side | None = 0,
    reason: Reason = Reason.FOUR,
    thought: tuple[float, float] = (1.0, 2.0),
) -> Finished:
    """Return an end."""
    return Finished(identity(number), PLAYERS, Board(), winner, reason, thought, 1)


def stands(
    started: GameStarted, moves: Sequence[int] = (), thinking: float = 0.0
) -> tuple[GameStarted, Standing]:
    """Return a game that is on."""
    return started, Standing(tuple(moves), (0.5,) * len(moves), None, thinking)


def waits(player: int, name: str, table: str | None = None, waited: float = 0.0) -> list[Shown]:
    """Return that a player comes, and waits."""
    return [Came(player, name, "one"), Waits(player, table, waited)]


def hindered(player: int, why: Obstacle | None) -> Hindered:
    """Return why a player that waits has no opponent."""
    return Hindered(player, "", why, is_first=True)


class Games:
    """The live games, at times that a test gives."""

    def __init__(self, *told: Shown) -> None:
        """Let this be on."""
        self._now = 0.0
        self.live = Live("run", self._watch, lambda: self._now)
        self.tell_all(*told)

    def tell_all(self, *facts: Shown, number: int = 1, now: float = 0.0) -> None:
        """Tell all that is on, as the server does."""
        self.live.begin(number)
        self.hear(facts, now)
        self.complete(now)

    def hear(self, facts: Iterable[Shown], now: float) -> None:
        self._now = now
        self.live.hear(map(encode_fact, facts))

    def complete(self, now: float) -> None:
        self._now = now
        self.live.complete()

    def tick(self, now: float) -> None:
        self._now = now
        self.live.tick()

    def open(self, wanted: Wanted) -> Channel:
        return self.live.open(wanted)

    def close(self, channel: Channel, now: float) -> None:
        self._now = now
        self.live.close(channel)

    async def _watch(self, number: int) -> None:
        """Tell nothing but what a test does."""


def events_in(data: bytes) -> list[tuple[str, str, Any]]:
    """Return the events of a stream: id, kind, data. Whatever a browser could misread is an error."""
    found = []
    for block in data.decode().split("\n\n")[:-1]:
        lines = [line for line in block.split("\n") if not line.startswith((":", "retry: "))]
        if lines:
            fields = dict(line.split(": ", 1) for line in lines)
            assert [*fields] == ["id", "event", "data"], lines
            assert "\r" not in block
            found.append((fields["id"], fields["event"], json.loads(fields["data"])))
    return found


class Browser:
    """Knows what it was told."""

    def __init__(self) -> None:
        self.last = ""
        """The id of the latest event."""
        self.kinds: list[str] = []
        self.told: list[tuple[str, Any]] = []
        """All events, as they came."""
        self.games: dict[int, dict[str, Any]] = {}
        """By place."""
        self.counts: dict[str, Any] = {}
        self.watching = 0

    def read(self, data: bytes) -> None:
        """Take in a piece of the stream that ends with a whole event."""
        for event_id, kind, told in events_in(data):
            self.last = event_id
            self.kinds.append(kind)
            self.told.append((kind, copy.deepcopy(told)))
            getattr(self, f"_{kind}")(told)

    def named(self, game: str) -> dict[str, Any]:
        """Return a game that is carried."""
        [found] = [each for each in self.games.values() if each["game"] == game]
        return found

    def _snapshot(self, told: dict[str, Any]) -> None:
        games = told.pop("games")
        self.games = {each["place"]: each for each in games}
        assert len(self.games) == len(games)
        self.counts = told

    def _started(self, told: dict[str, Any]) -> None:
        before = self.games.get(told["place"])
        assert before is None or before["reason"] is not None, "two games at one place"
        self.games[told["place"]] = told

    def _moved(self, told: dict[str, Any]) -> None:
        game = self.named(told["game"])
        assert game["reason"] is None
        assert game["to_move"] == told["side"]
        game["moves"] += str(told["column"])
        game["position"] += str(told["column"] + 1)
        assert len(game["moves"]) == told["number"]
        game["to_move"], game["left"] = 1 - told["side"], told["left"]
        game["thought"][told["side"]] += told["used"]
        if "used" in game:
            game["used"].append(told["used"])

    def _rated(self, told: dict[str, Any]) -> None:
        self.named(told["game"])["ratings"] = told["ratings"]

    def _away(self, told: dict[str, Any]) -> None:
        game = self.named(told["game"])
        assert game["reason"] is None
        game["away"] = told["away"]

    def _ended(self, told: dict[str, Any]) -> None:
        game = self.named(told["game"])
        assert game["reason"] is None
        game.update(told, to_move=None, away=[None, None])

    def _gone(self, told: dict[str, Any]) -> None:
        game = self.named(told["game"])
        assert game["reason"] is not None
        del self.games[game["place"]]

    def _counts(self, told: dict[str, Any]) -> None:
        self.counts = told

    def _watching(self, told: dict[str, Any]) -> None:
        self.watching = told["watching"]

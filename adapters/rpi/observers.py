"""Answers questions about players and games, and tells observers what happens (PROTOCOL.md 6).

All observers of a server share one subscription to the hub's feed, and one model of the players and games.
The model is what the observers have been told, so a list or a game that a client asks for fits the messages
before and after it. While no connected client has asked for anything, there is neither.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TypeAlias, TypeVar

import trio

from adapters.client.connection import Connection
from adapters.client.delayed import Delayed
from adapters.rpi.codec import RpiCodec
from adapters.rpi.messages import (
    Began,
    Came,
    ClientMessage,
    Error,
    Games,
    Get,
    ListGames,
    ListPlayers,
    Moved,
    Observe,
    Observing,
    Over,
    Ping,
    Players,
    ServerMessage,
    Setting,
    Waits,
    Watch,
    Watched,
    Went,
)
from adapters.rpi.translator import in_alphabet
from gateway.game import facts
from gateway.game.events import Reason
from gateway.game.facts import Fact, GameStarted, Left, Missed, MoveMade, Snapshot, Standing
from gateway.game.ids import GameId, number_in
from gateway.game.results import Finished
from gateway.hub.feed import Subscription
from gateway.hub.hub import HubForPlayers

PERIOD = 0.1
"""Seconds for which what happens is collected, and then sent to all observers at once."""
MOST_LISTED = 1000
"""The most players, and the most games, in a list; and the most players that are known from before the first
question."""
LIST_SIZE = 60_000
"""The most characters in a list, about."""
_WAITING = 1000
"""The most facts that wait, so that a question after a long time takes no longer than others."""
_KINDS: tuple[type[Fact], ...] = (facts.Came, facts.Waits, Left, GameStarted, MoveMade, Finished)
_SETTINGS = {
    "TOURNAMENT_STATUS": "false",
    "TOURNAMENT_DATA": "",
    "BRACKET_PAIRINGS": "",
    "MOVE_WAIT": "0",
    "DEMO_MODE": "false",
}
"""What the original would say with its defaults, but without its pause between moves (PROTOCOL.md 7.1)."""

_ENTRY = 16
"""About the characters of an entry of a list, without names."""

Listed = TypeVar("Listed")
RpiConnection: TypeAlias = Connection[ClientMessage, ServerMessage]


class Observers:
    """The clients of one server that ask questions, and those that are told all that happens."""

    def __init__(self, hub: HubForPlayers) -> None:
        self._hub = hub
        self._codec = RpiCodec()
        self._asking: dict[RpiConnection, None] = {}
        """The connected clients that have asked for anything."""
        self._observing: dict[RpiConnection, None] = {}
        self._following: set[RpiConnection] = set()
        """The clients in whose tasks `Delayed.follow` runs. It goes on when they observe no more."""
        self._subscription: Subscription | None = None
        self._model = Model()
        self._delayed = Delayed(self.publish, PERIOD)

    def answer(self, message: ClientMessage, client: RpiConnection) -> Sequence[str] | None:
        """Return the texts that answer a client's question; None if the message is none."""
        match message:
            case Ping():
                return ()
            case Get(key) if key in _SETTINGS:
                answer: ServerMessage = Setting(key, _SETTINGS[key])
            case Get():
                answer = Error("ERROR:INVALID:GET")
            case Observe() if client.has_name:
                answer = Error("ERROR:INVALID:OBSERVE")
            case Observe():
                self._catch_up(client)
                answer = Observing(self._toggled(client))
            case ListPlayers():
                self._catch_up(client)
                return (self._model.players_text(self._codec.encode),)
            case ListGames():
                self._catch_up(client)
                return (self._model.games_text(self._codec.encode),)
            case Watch(number):
                self._catch_up(client)
                answer = self._model.watched(number) or Error("ERROR:INVALID:WATCH")
            case _:
                return None
        return (self._codec.encode(answer),)

    def forget(self, client: RpiConnection) -> None:
        """Forget a client, which has left."""
        self._observing.pop(client, None)
        self._following.discard(client)
        self._asking.pop(client, None)
        if not self._asking and self._subscription is not None:
            self._subscription.close()
            self._subscription, self._model = None, Model()

    def publish(self) -> None:
        """Tell the observers what has happened."""
        if self._subscription is None:
            return
        happened = self._subscription.take()
        if not happened:
            return
        if isinstance(happened[0], Missed):
            messages = self._load().told_at_once()  # as if all observers had asked (PROTOCOL.md 6)
        else:
            messages = (message for fact in happened for message in self._model.hear(fact))
        texts = [self._codec.encode(message) for message in messages]
        for client in tuple(self._observing):
            if client.has_name:  # it is a player now
                del self._observing[client]
            else:
                client.tell(texts)

    def _toggled(self, client: RpiConnection) -> bool:
        """Make a client an observer, or none if it is one; return whether it is one now."""
        if client in self._observing:
            del self._observing[client]
            return False
        self._observing[client] = None
        if client not in self._following:
            self._following.add(client)
            client.start_soon(self._delayed.follow)
        return True

    def _catch_up(self, client: RpiConnection) -> None:
        """Bring the model up to date, since a client has asked for something."""
        self._asking[client] = None
        if self._subscription is None:
            self._subscription = self._hub.feed.subscribe(self._delayed.wake, _KINDS, _WAITING)
            self._load()
        else:
            self.publish()

    def _load(self) -> "Model":
        """Return a new model with the present state of the hub."""
        some = islice(self._hub.seats(), MOST_LISTED)
        self._model = Model()
        self._model.load(self._hub.snapshot(trio.current_time(), some))
        return self._model


@dataclass(slots=True)
class _Player:
    name: str
    is_ready: bool = False
    game: GameId | None = None
    """The game that the player plays."""


@dataclass(slots=True)
class _Game:
    number: int
    names: tuple[str, str]
    """The names of the first and the second mover."""
    players: tuple[int, int]
    moves: list[int] = field(default_factory=list)


class Model:
    """The players and games of a server, with names that observers can be told. Pure."""

    def __init__(self) -> None:
        self._players: dict[int, _Player] = {}
        self._games: dict[GameId, _Game] = {}
        self._numbers: dict[int, GameId] = {}
        self._players_text = self._games_text = ""
        """The latest lists; empty if they are out of date."""

    def load(self, snapshot: Snapshot) -> None:
        """Take over the state of a hub."""
        for each in (*snapshot.players, *snapshot.waiting, *snapshot.games):
            match each:
                case (GameStarted() as started, Standing(moves)):
                    [*self.hear(started)]
                    self._games[started.game].moves.extend(moves)
                case facts.Came() | facts.Waits():
                    [*self.hear(each)]

    def hear(self, fact: Fact | Missed) -> Iterator[ServerMessage]:
        """Yield what observers are told of a fact."""
        match fact:
            case MoveMade(game, side, column):
                known = self._games.get(game)
                if known is not None:
                    known.moves.append(column)
                    yield Moved(known.number, known.names[side], column)
            case facts.Came(player, name):
                yield from self._came(player, in_alphabet(name))
            case facts.Waits(player):
                yield from self._ready(player, is_ready=True)
            case Left(player):
                if player in self._players:
                    self._players_text = ""
                    yield Went(self._players.pop(player).name)
            case GameStarted():
                yield from self._started(fact)
            case Finished():
                yield from self._finished(fact)
            case _:
                pass

    def watched(self, number: int) -> Watched | None:
        """Return a game by its number; None if there is no such game."""
        game = self._games.get(self._numbers.get(number, ""))
        return None if game is None else Watched(game.number, game.names, tuple(game.moves))

    def players_text(self, encode: Callable[[ServerMessage], str]) -> str:
        """Return the list of players as a text, which is made again only if the list has changed."""
        if not self._players_text:
            self._players_text = encode(self._listed_players())
        return self._players_text

    def games_text(self, encode: Callable[[ServerMessage], str]) -> str:
        """Return the list of games as a text, which is made again only if the list has changed."""
        if not self._games_text:
            self._games_text = encode(self._listed_games())
        return self._games_text

    def told_at_once(self) -> Iterator[ServerMessage]:
        """Yield all that an observer has to know that has missed something."""
        yield self._listed_players()
        games = self._listed_games()
        yield games
        for number, _ in games.games:
            game = self.watched(number)
            assert game is not None
            yield game

    def _listed_players(self) -> Players:
        some = islice(self._players.values(), MOST_LISTED)
        listed = [(each.name, each.is_ready, each.game is not None) for each in some]
        return Players(tuple(_short(listed, lambda each: len(each[0]))))

    def _listed_games(self) -> Games:
        listed = [(each.number, each.names) for each in islice(self._games.values(), MOST_LISTED)]
        return Games(tuple(_short(listed, lambda each: len(each[1][0]) + len(each[1][1]))))

    def _came(self, player: int, name: str) -> Iterator[ServerMessage]:
        known = self._players.get(player)
        if known is None:
            known = _Player(name)
        elif known.name == name:
            return
        else:
            yield Went(known.name)
            known = replace(known, name=name)
        self._players[player], self._players_text = known, ""
        yield Came(name)
        if known.is_ready:
            yield Waits(name, is_ready=True)

    def _ready(self, player: int, *, is_ready: bool) -> Iterator[ServerMessage]:
        known = self._players.get(player)
        if known is not None and known.is_ready != is_ready:
            known.is_ready, self._players_text = is_ready, ""
            yield Waits(known.name, is_ready)

    def _started(self, started: GameStarted) -> Iterator[ServerMessage]:
        one, two = map(in_alphabet, started.names)
        number = number_in(started.game)
        # Moves name their player, so the two have to differ (PROTOCOL.md 6.7)
        names = one, f"{two}_" if one == two else two
        game = self._games[started.game] = _Game(number, names, started.players)
        self._numbers[number] = started.game
        self._players_text = self._games_text = ""
        yield Began(number, game.names)
        for player in started.players:
            if player in self._players:
                self._players[player].game = started.game
            yield from self._ready(player, is_ready=False)

    def _finished(self, finished: Finished) -> Iterator[ServerMessage]:
        game = self._games.pop(finished.game, None)
        if game is None:
            return
        del self._numbers[game.number]
        self._players_text = self._games_text = ""
        for player in game.players:
            known = self._players.get(player)
            if known is not None and known.game == finished.game:
                known.game = None
        winner = None if finished.winner is None else game.names[finished.winner]
        yield Over(game.number, winner, finished.reason is Reason.FULL)


def _short(listed: Iterable[Listed], size: Callable[[Listed], int]) -> Iterator[Listed]:
    """Yield the first entries of a list, up to about `LIST_SIZE` characters."""
    room = LIST_SIZE
    for each in listed:
        room -= size(each) + _ENTRY
        if room < 0:
            return
        yield each

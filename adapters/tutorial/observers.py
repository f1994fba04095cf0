"""Shows games to spectators, who have asked for one by its key (PROTOCOL.md 7).

All spectators of a server share one subscription to the hub's feed. A key is found among the keys of the
connected players of this dialect. While nobody watches, there is no subscription.
"""

from collections.abc import Iterable, Sequence
from typing import TypeAlias

from adapters.client.connection import Connection
from adapters.client.delayed import Delayed
from adapters.tutorial.codec import TutorialCodec
from adapters.tutorial.messages import (
    COLORS,
    NO_RESULT,
    ClientMessage,
    Error,
    InitRequest,
    Play,
    ServerMessage,
)
from adapters.tutorial.translator import TutorialTranslator, disc, result, watch_key
from gateway.game.board import Board
from gateway.game.facts import Fact, GameStarted, Missed, MoveMade
from gateway.game.ids import GameId
from gateway.game.results import Finished
from gateway.hub.feed import Subscription
from gateway.hub.hub import HubForPlayers

PERIOD = 0.05
"""Seconds for which moves are collected, and then sent to all spectators at once."""
_KINDS: tuple[type[Fact], ...] = (GameStarted, MoveMade, Finished)

TutorialConnection: TypeAlias = Connection[ClientMessage, ServerMessage]
Spectators: TypeAlias = dict[TutorialConnection, None]


class Observers:
    """The players and the spectators of one server."""

    def __init__(self, hub: HubForPlayers) -> None:
        self._feed = hub.feed
        self._codec = TutorialCodec()
        self._players: dict[TutorialConnection, TutorialTranslator] = {}
        self._spectators: Spectators = {}
        self._boards: dict[GameId, Board] = {}
        """The games that are watched."""
        self._watching: dict[GameId, Spectators] = {}
        self._waiting: dict[str, Spectators] = {}
        """Who waits for the next game at a table, by its key."""
        self._subscription: Subscription | None = None
        self._delayed = Delayed(self._publish, PERIOD)

    def add(self, client: TutorialConnection, translator: TutorialTranslator) -> None:
        """Add a client, whose translator knows the key of its game."""
        self._players[client] = translator

    def forget(self, client: TutorialConnection) -> None:
        """Forget a client, which has left."""
        del self._players[client]
        if client not in self._spectators:
            return
        del self._spectators[client]
        for spectators in (*self._watching.values(), *self._waiting.values()):
            spectators.pop(client, None)
        self._watching = {game: them for game, them in self._watching.items() if them}
        self._boards = {game: self._boards[game] for game in self._watching}
        self._waiting = {key: them for key, them in self._waiting.items() if them}
        if not self._spectators and self._subscription is not None:
            self._subscription.close()
            self._subscription = None

    def answer(self, message: ClientMessage, client: TutorialConnection) -> Sequence[str] | None:
        """Return the moves so far for a client that begins to watch; None for any message of a player."""
        if client in self._spectators:
            return ()  # PROTOCOL.md 7.3
        match message:
            case InitRequest(watch=str(key)) if not client.has_name:
                return self._begin(client, key.strip())
            case _:
                return None

    def _begin(self, client: TutorialConnection, key: str) -> Sequence[str] | None:
        """Let a client watch the game with a key; return None if there is none."""
        players = [each for each, translator in self._players.items() if translator.watch == key]
        game = next((each.game for each in players if each.game is not None), None)
        if game is None and not any(self._players[each].table for each in players):
            return None
        if self._subscription is None:
            self._subscription = self._feed.subscribe(self._delayed.wake, _KINDS)
        self._publish()  # so that no move of the game comes twice
        if game is None:
            spectators = self._waiting.setdefault(key, {})
        else:
            spectators, self._boards[game.game] = self._watching.setdefault(game.game, {}), game.board
        spectators[client] = self._spectators[client] = None
        client.start_soon(self._delayed.follow)
        board = Board() if game is None else game.board
        return self._texts(Play(COLORS[side], column, row) for column, row, side in board.placed())

    def _publish(self) -> None:
        """Tell the spectators what has happened."""
        for fact in () if self._subscription is None else self._subscription.take():
            match fact:
                case MoveMade(game, _, column) if game in self._watching:
                    board = self._boards[game] = self._boards[game].drop(column)
                    self._tell(game, [disc(board, column)])
                case GameStarted(game, table=str(table)) if self._waiting:
                    spectators = self._waiting.pop(watch_key(table), None)
                    if spectators:
                        self._watching[game], self._boards[game] = spectators, Board()
                case Finished(game) if game in self._watching:
                    self._tell(game, [*result(fact.winner, fact.reason, fact.leaver)])
                    del self._watching[game], self._boards[game]
                case Missed():
                    for each in tuple(self._watching):
                        self._tell(each, [Error(NO_RESULT)])
                    self._watching, self._boards = {}, {}
                case _:
                    pass

    def _tell(self, game: GameId, messages: Iterable[ServerMessage]) -> None:
        texts = self._texts(messages)
        for client in tuple(self._watching[game]):
            client.tell(texts)

    def _texts(self, messages: Iterable[ServerMessage]) -> Sequence[str]:
        return [self._codec.encode(message) for message in messages]

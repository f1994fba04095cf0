"""The live games, the games that ended a moment ago, and the players that wait.

Pure: facts and the time come in as arguments. Does not know viewers. The rule it keeps: a fact about an
unknown game or player changes nothing. The state arrives in parts, and a fact may be about a part that is
still to come.
"""

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any, TypeAlias, assert_never

from gateway.game.board import Side, position_string
from gateway.game.facts import (
    Came,
    GameStarted,
    Hindered,
    Left,
    MoveMade,
    Obstacle,
    Shown,
    Standing,
    Vanished,
    Waits,
)
from gateway.game.ids import GameId
from gateway.game.results import Finished
from gateway.store.records import WORDS

HELD = 8.0
"""Seconds for which a game is shown after its end."""
MINUTE = 60.0
LOBBY = 100
"""The most waiting players that are listed."""
LOBBY_TEXT = 10_000
"""Characters in all names that are listed with them, together."""
NAMESAKES = 8
"""The most players of one name that are listed."""

Json: TypeAlias = Mapping[str, Any]


@dataclass(slots=True)
class Wait:
    """The wait of a player."""

    table: str | None
    since: float
    obstacle: Obstacle | None = None

    @property
    def why(self) -> Json | None:
        """Why no opponent is here, as viewers get it."""
        why = self.obstacle
        return None if why is None else {"cause": why.cause.value, "name": why.name, "alike": why.alike}

    @property
    def characters(self) -> int:
        """How long the names in it are together."""
        return len(self.table or "") + (0 if self.obstacle is None else self.obstacle.characters)


@dataclass(eq=False, slots=True)
class Game:
    """A live game, or one that ended a moment ago."""

    started: GameStarted
    moves: str
    left: tuple[float, float] | None
    asked: float
    """When the latest request for a move was made."""
    winner: Side | None = None
    reason: str | None = None
    """Why it ended; None for a live game."""
    ended: float = 0.0

    def shown(self, place: int, now: float) -> Json:
        """Return the game as viewers get it."""
        is_on, started = self.reason is None, self.started
        return {
            "game": started.game,
            "place": place,
            "players": [
                {"name": name, "kind": kind} for name, kind in zip(started.names, started.kinds, strict=True)
            ],
            "table": started.table,
            "round": started.round,
            "clock": None if started.clock is None else round(started.clock, 3),
            "moves": self.moves,
            "position": position_string(map(int, self.moves)),
            "to_move": len(self.moves) & 1 if is_on else None,
            "left": self.left,
            "thinking": round(max(0.0, now - self.asked), 3) if is_on else 0.0,
            "winner": self.winner,
            "reason": self.reason,
        }

    def move(self, move: MoveMade, now: float) -> None:
        """Take in a move."""
        self.moves += str(move.column)
        self.asked = now
        if self.left is not None and move.left is not None:
            one, other = self.left
            left = round(move.left, 3)
            self.left = (one, left) if move.side else (left, other)

    def end(self, over: Finished, now: float) -> None:
        """Take in the end."""
        self.winner, self.reason, self.ended = over.winner, WORDS[over.reason], now
        clock = self.started.clock
        if self.left is not None and clock is not None:
            one, other = (
                max(0.0, min(left, round(clock - thought, 3)))
                for left, thought in zip(self.left, over.thought, strict=True)
            )
            self.left = one, other


class Model:
    """The state of all games and players."""

    def __init__(self, earlier: "Model | None" = None) -> None:
        """`earlier` is a model that missed facts. Its count of moves goes on."""
        self.games: dict[GameId, Game] = {}
        """Live games."""
        self.over: dict[GameId, Game] = {}
        """Games that ended less than `HELD` ago, the first to end first."""
        self._players: dict[int, Came] = {}
        self._waiting: dict[int, Wait] = {}
        """The players that wait, the longest wait first."""
        self._moves: deque[tuple[float, int]] = deque() if earlier is None else earlier._moves
        """Moves in each second: when the second began, and how many came."""

    def hear(self, fact: Shown, now: float) -> Game | None:
        """Take in a fact; return the game that it is about, if that game is known."""
        match fact:
            case MoveMade():
                return self._moved(fact, now)
            case GameStarted():
                for player in fact.players:
                    self._waiting.pop(player, None)
                left = None if fact.clock is None else (fact.clock, fact.clock)
                return self._stands(fact, Standing((), (0.0, 0.0), left, 0.0), now)
            case Finished():
                return self._ended(fact, now)
            case Came():
                self._players[fact.player] = fact
            case Waits():
                self._waiting[fact.player] = Wait(fact.table, now - fact.waited)
            case Hindered():
                if fact.player in self._waiting:
                    self._waiting[fact.player].obstacle = fact.obstacle
            case Left():
                self._players.pop(fact.player, None)
                self._waiting.pop(fact.player, None)
            case Vanished():
                self._vanish(fact)
            case (started, standing):
                return self._stands(started, standing, now)
            case _:
                assert_never(fact)
        return None

    def complete(self) -> None:
        """Take in that the state is complete: its players come in no order."""
        self._waiting = dict(sorted(self._waiting.items(), key=lambda item: item[1].since))

    def let_go(self, now: float) -> list[Game]:
        """Drop the games that ended `HELD` seconds ago, and return them."""
        past = [game for game in self.over.values() if now >= game.ended + HELD]
        for game in past:
            del self.over[game.started.game]
        return past

    def counts(self, now: float) -> Json:
        """Return the numbers of games and players, and the players that wait."""
        while self._moves and self._moves[0][0] <= now - MINUTE:
            self._moves.popleft()
        return {
            "playing": len(self.games),
            "waiting": len(self._waiting),
            "moves": sum(count for _, count in self._moves),
            "lobby": self._lobby(now),
        }

    def named(self, name: str, now: float) -> list[Json]:
        """Return the players of a name, and for how many seconds each has waited, or None."""
        players = (player for player, came in self._players.items() if came.name == name)
        return [self._about(player, now) for player in islice(players, NAMESAKES)]

    def _about(self, player: int, now: float) -> Json:
        kind, wait = self._players[player].kind, self._waiting.get(player)
        if wait is None:
            return {"kind": kind, "table": None, "waited": None, "why": None}
        return {"kind": kind, "table": wait.table, "waited": max(0.0, now - wait.since), "why": wait.why}

    def _lobby(self, now: float) -> list[Json]:
        """Return the waiting players that are listed, the longest wait last."""
        listed, characters = list[Json](), 0
        for player, wait in islice(reversed(self._waiting.items()), LOBBY):
            came = self._players.get(player)
            if came is None:
                continue
            characters += len(came.name) + wait.characters
            if characters > LOBBY_TEXT:
                break
            about = {"name": came.name, "kind": came.kind, "table": wait.table, "why": wait.why}
            listed.append({**about, "waited": round(max(0.0, now - wait.since), 1)})
        return listed

    def _moved(self, move: MoveMade, now: float) -> Game | None:
        if self._moves and now < self._moves[-1][0] + 1:
            begun, count = self._moves.pop()
            self._moves.append((begun, count + 1))
        else:
            self._moves.append((now, 1))
        game = self.games.get(move.game)
        if game is not None:
            game.move(move, now)
        return game

    def _vanish(self, lost: Vanished) -> None:
        numbers = range(lost.first, lost.last + 1)
        self._players = {player: each for player, each in self._players.items() if player not in numbers}
        self._waiting = {player: each for player, each in self._waiting.items() if player not in numbers}
        self.games = {
            game: each for game, each in self.games.items() if each.started.players[0] not in numbers
        }

    def _stands(self, started: GameStarted, standing: Standing, now: float) -> Game:
        moves = "".join(map(str, standing.moves))
        one, other = standing.left or (0.0, 0.0)
        left = None if standing.left is None else (round(one, 3), round(other, 3))
        game = Game(started, moves, left, now - standing.thinking)
        self.games[started.game] = game
        return game

    def _ended(self, over: Finished, now: float) -> Game | None:
        game = self.games.pop(over.game, None)
        if game is not None:
            game.end(over, now)
            self.over[over.game] = game
        return game

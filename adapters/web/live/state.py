"""The state: live games, games that ended a moment ago, and the players that wait.

Pure: facts and the time are arguments. Does not know viewers. The state arrives in parts. A fact about an
unknown game or player is ignored, because a later part of the state already includes the fact.
"""

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, TypeAlias, assert_never

from gateway.game.board import Side, position_string
from gateway.game.facts import (
    Away,
    Back,
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
"""The most characters in all names in the list of waiting players."""
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
        """Why the player has no opponent, as sent to viewers; None if it is not known."""
        why = self.obstacle
        return None if why is None else {"cause": why.cause.value, "name": why.name, "alike": why.alike}


@dataclass(eq=False, slots=True)
class Game:
    """A live game, or one that ended a moment ago."""

    id: GameId
    started: GameStarted
    moves: str
    left: tuple[float, float] | None
    asked: float
    """When the latest request for a move was made."""
    away: list[tuple[float, float] | None] = field(default_factory=lambda: [None, None])
    """Since when each side's player has been away, and for how many seconds its seat is kept; None if it is
    here."""
    used: list[float] = field(default_factory=list)
    """The seconds that each move took."""
    ratings: list[Json | None] = field(default_factory=lambda: [None, None])
    """The rank and the rating of each side's player, as sent to viewers; None if they are not known."""
    winner: Side | None = None
    reason: str | None = None
    """Why the game ended; None for a live game."""
    ended: float = 0.0

    @property
    def strength(self) -> float:
        """The sum of both players' sure ratings. A rating that is not known counts 0, as a new player's."""
        return sum(float(each["sure"]) for each in self.ratings if each is not None)

    def shown(self, place: int, now: float, *, timed: bool = False) -> Json:
        """Return the game as it is sent to viewers; `timed` adds the time of each move."""
        is_on, started = self.reason is None, self.started
        shown = {
            "game": started.game,
            "place": place,
            "players": [
                {"name": name, "kind": kind} for name, kind in zip(started.names, started.kinds, strict=True)
            ],
            "table": started.table,
            "round": started.round,
            "pairing": None if started.scheduled is None else started.scheduled.pairing + 1,
            "number": None if started.scheduled is None else started.scheduled.first + started.round,
            "clock": None if started.clock is None else round(started.clock, 3),
            "moves": self.moves,
            "position": position_string(map(int, self.moves)),
            "to_move": len(self.moves) & 1 if is_on else None,
            "left": self.left,
            "thinking": round(max(0.0, now - self.asked), 3) if is_on else 0.0,
            "thought": [round(sum(self.used[side::2]), 3) for side in (0, 1)],
            "ratings": self.ratings,
            "away": self.absences(now),
            "winner": self.winner,
            "reason": self.reason,
        }
        if timed:
            shown["used"] = [round(each, 3) for each in self.used]
        return shown

    def absences(self, now: float) -> Sequence[Json | None]:
        """Return the absence of each side's player as it is sent to viewers; None if it is here."""
        return [
            None
            if each is None
            else {"seconds": round(max(0.0, now - each[0]), 1), "grace": round(each[1], 1)}
            for each in self.away
        ]

    def move(self, move: MoveMade, now: float) -> None:
        """Apply a move."""
        self.moves += str(move.column)
        self.used.append(move.used)
        self.asked = now
        if self.left is not None and move.left is not None:
            one, other = self.left
            left = round(move.left, 3)
            self.left = (one, left) if move.side else (left, other)

    def end(self, over: Finished, now: float) -> None:
        """Apply the end of the game."""
        self.winner, self.reason, self.ended = over.winner, WORDS[over.reason], now
        self.away = [None, None]
        clock = self.started.clock
        if self.left is not None and clock is not None:
            one, other = (
                max(0.0, min(left, round(clock - thought, 3)))
                for left, thought in zip(self.left, over.thought, strict=True)
            )
            self.left = one, other


@dataclass(slots=True)
class Second:
    """A second in which moves were made."""

    began: float
    moves: int = 0


class State:
    """All games and players."""

    def __init__(self, earlier: "State | None" = None) -> None:
        """Create an empty state, which has the count of moves and the ratings of an `earlier` one."""
        self.games: dict[GameId, Game] = {}
        """Live games."""
        self.over: dict[GameId, Game] = {}
        """Games that ended less than `HELD` seconds ago, the first to end first."""
        self._players: dict[int, Came] = {}
        self._waiting: dict[int, Wait] = {}
        """The players that wait, the longest wait first."""
        self._moves: deque[Second] = deque() if earlier is None else earlier._moves
        self._ratings: Mapping[str, Json] = {} if earlier is None else earlier._ratings

    def hear(self, fact: Shown, now: float) -> Game | None:
        """Apply a fact; return the game that it is about, if that game is known."""
        match fact:
            case MoveMade():
                if not self._moves or now >= self._moves[-1].began + 1:
                    self._moves.append(Second(now))
                self._moves[-1].moves += 1
                game = self.games.get(fact.game)
                if game is not None:
                    game.move(fact, now)
                return game
            case GameStarted():
                for player in fact.players:
                    self._waiting.pop(player, None)
                clocks = None if fact.clock is None else (fact.clock, fact.clock)
                return self._begin(fact, Standing((), (), clocks, 0.0), now)
            case Away() | Back():
                game = self.games.get(fact.game)
                if game is not None:
                    game.away[fact.side] = (now - fact.away, fact.grace) if isinstance(fact, Away) else None
                return game
            case Finished():
                game = self.games.pop(fact.game, None)
                if game is not None:
                    self.over[game.id] = game
                    game.end(fact, now)
                return game
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
                lost = range(fact.first, fact.last + 1)
                self._players = {each: came for each, came in self._players.items() if each not in lost}
                self._waiting = {each: wait for each, wait in self._waiting.items() if each not in lost}
                on = self.games.items()
                self.games = {name: game for name, game in on if game.started.players[0] not in lost}
            case (started, standing):
                return self._begin(started, standing, now)
            case _:
                assert_never(fact)
        return None

    def complete(self) -> None:
        """Sort the waiting players, because they arrive in no order."""
        self._waiting = dict(sorted(self._waiting.items(), key=lambda item: item[1].since))

    def names(self) -> set[str]:
        """Return the names of all players of live games."""
        return {name for game in self.games.values() for name in game.started.names}

    def rate(self, ratings: Mapping[str, Json]) -> list[Game]:
        """Set the ratings of players by name; return the live games that have other ratings now."""
        self._ratings = ratings
        changed = list[Game]()
        for game in self.games.values():
            found = [*map(ratings.get, game.started.names)]
            if found != game.ratings:
                game.ratings = found
                changed.append(game)
        return changed

    def drop_old(self, now: float) -> list[Game]:
        """Drop the games that ended `HELD` seconds ago, and return them."""
        past = [game for game in self.over.values() if now >= game.ended + HELD]
        for game in past:
            del self.over[game.id]
        return past

    def counts(self, now: float) -> Json:
        """Return the numbers of games and players, and a list of waiting players.

        The player that has waited longest is last in the list.
        """
        while self._moves and self._moves[0].began <= now - MINUTE:
            self._moves.popleft()
        lobby, characters = list[Json](), 0
        for player, wait in islice(reversed(self._waiting.items()), LOBBY):
            came = self._players.get(player)
            if came is None:
                continue
            characters += len(came.name) + len(wait.table or "")
            characters += 0 if wait.obstacle is None else wait.obstacle.characters
            if characters > LOBBY_TEXT:
                break
            about = {"name": came.name, "kind": came.kind, "table": wait.table, "why": wait.why}
            lobby.append({**about, "waited": round(max(0.0, now - wait.since), 1)})
        return {
            "playing": len(self.games),
            "waiting": len(self._waiting),
            "moves": sum(each.moves for each in self._moves),
            "lobby": lobby,
        }

    def named(self, name: str, now: float) -> list[Json]:
        """Return the connected players with this name; ``waited`` is in seconds, None if not waiting."""
        found = list[Json]()
        for player, came in self._players.items():
            if came.name == name and len(found) < NAMESAKES:
                wait = self._waiting.get(player)
                waited = None if wait is None else max(0.0, now - wait.since)
                table, why = (None, None) if wait is None else (wait.table, wait.why)
                found.append({"kind": came.kind, "table": table, "waited": waited, "why": why})
        return found

    def containing(self, text: str, limit: int) -> dict[str, str]:
        """Return up to `limit` names of connected players that contain a text, with the kinds of the players.

        The name that is the text is always among them.
        """
        key, found = text.casefold(), dict[str, str]()
        for came in self._players.values():
            if came.name == text or (len(found) < limit and key in came.name.casefold()):
                found[came.name] = came.kind
        return found

    def _begin(self, started: GameStarted, standing: Standing, now: float) -> Game:
        moves = "".join(map(str, standing.moves))
        one, other = standing.left or (0.0, 0.0)
        left = None if standing.left is None else (round(one, 3), round(other, 3))
        away = [None if each is None else (now - each.seconds, each.grace) for each in standing.away]
        ratings = [*map(self._ratings.get, started.names)]
        game = self.games[started.game] = Game(
            *(started.game, started, moves, left, now - standing.thinking, away, [*standing.used], ratings),
        )
        return game

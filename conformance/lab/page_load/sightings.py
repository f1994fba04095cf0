"""What one viewer saw: the events of a stream, in their order, and the moves that did not come.

Pure: lines in, with the time at which they came. A game is known here by its table and round, as it is to its
players; so a move is the same for both ends without a word between them.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

Move: TypeAlias = tuple[str, int, int]
"""Table, round from 1, number in the game from 1."""


@dataclass(slots=True)
class _Game:
    table: str
    round: int
    moves: int


@dataclass(slots=True)
class Sightings:
    """What one viewer has seen so far."""

    seen: list[tuple[Move, float]] = field(default_factory=list)
    """Each move, and when it came."""
    snapshots: int = 0
    missed: int = 0
    """Moves that it should have heard of, and did not, or heard of twice."""
    _games: dict[str, _Game] = field(default_factory=dict)
    _event: str = ""
    _data: str = ""

    def line(self, line: str, now: float) -> None:
        """Take a line of the stream, without its end. Raises ValueError, KeyError for what is no event."""
        name, _, value = line.partition(": ")
        if name == "event":
            self._event = value
        elif name == "data":
            self._data = value
        elif not line and self._event:
            self._take(self._event, json.loads(self._data), now)
            self._event = ""

    def _take(self, event: str, data: Mapping[str, Any], now: float) -> None:
        match event:
            case "snapshot":
                self.snapshots += 1
                self._games = {game["game"]: _game(game) for game in data["games"]}
            case "started":
                self._games[data["game"]] = _game(data)
            case "moved":
                self._moved(self._games[data["game"]], data["number"], now)
            case "gone":
                del self._games[data["game"]]

    def _moved(self, game: _Game, number: int, now: float) -> None:
        self.missed += abs(number - game.moves - 1)
        game.moves = number
        self.seen.append(((game.table, game.round, number), now))


def _game(data: Mapping[str, Any]) -> _Game:
    return _Game(data["table"] or "", data["round"], len(data["moves"]))

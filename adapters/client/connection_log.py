"""The line of the log that a player's connection leaves: who came from where, why it ended, which games.

Knows names, words and ids of games. Does not know how a connection works. A connection whose client never
gave a name is told of for debugging alone, so that strangers cannot fill the log.
"""

import logging

from gateway.game.ids import GameId
from gateway.game.text import quoted

logger = logging.getLogger("gateway.connections")


class Stay:
    """What is remembered of a connection for its line."""

    __slots__ = ("_came", "_game", "_games", "cause")

    def __init__(self, now: float) -> None:
        self._came = now
        self._games = 0
        self._game: GameId | None = None
        self.cause = ""
        """Why the connection ends, once that is known."""

    def ends(self, cause: str) -> None:
        """Note why the connection ends: the first cause counts."""
        self.cause = self.cause or cause

    def plays(self, game: GameId) -> None:
        """Note that the player was told of the start of a game."""
        self._games += 1
        self._game = game

    def log(self, kind: str, name: str | None, origin: str, now: float) -> None:
        """Log the end of the connection, of a dialect called `kind`."""
        level = logging.DEBUG if name is None else logging.INFO
        if not logger.isEnabledFor(level):
            return
        seconds = now - self._came
        who = "nobody" if name is None else quoted(name)
        last = f", the last one {self._game}" if self._games else ""
        logger.log(
            level,
            "%s: %s at %s is gone after %.1f s: %s; games: %d%s",
            *(kind, who, origin or "no address", seconds, self.cause, self._games, last),
            extra={
                "event": "player_gone",
                "front_end": kind,
                "player": name,
                "origin": origin,
                "cause": self.cause,
                "games": self._games,
                "game": self._game,
                "seconds": round(seconds, 3),
            },
        )

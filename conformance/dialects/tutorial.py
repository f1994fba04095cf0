"""The websockets tutorial: a JSON object in each frame. Clauses are those of adapters/tutorial/PROTOCOL.md.

A bot asks for a table or an opponent in its URL, since only then the server always says which colour it has.
"""

import json
from dataclasses import replace
from functools import lru_cache
from urllib.parse import quote

from conformance.dialects.frames import cut_frames, frame
from conformance.dialects.script import LEFT, Cut, Dialect, Phase, Place, Script, Step, Wish
from conformance.steps import Manner
from conformance.values import Encoding, Plain, ValueSyntaxError, read

_COLORS = ("red", "yellow")
_NO_RESULT = "The game has ended without a result."


class Tutorial(Script):
    """A bot that plays at a table, against an opponent whom it names, or in the lobby."""

    start = Place(Phase.NAMING)
    wins_aborted = True  # 6.3

    def resource(self, wish: Wish) -> str | None:
        if wish.table is None and wish.against is not None:
            return f"/?against={quote(wish.against)}"
        return f"/?table={quote(wish.table or 'lobby')}"

    def opening(self, wish: Wish) -> bytes:
        token = {} if wish.token is None else {"token": wish.token}
        return frame(json.dumps({"type": "init", "name": wish.name} | token).encode())

    def cut(self, data: bytes) -> Cut:
        return cut_frames(data)

    def move(self, column: str) -> bytes:
        return frame(b'{"type": "play", "column": %s}' % column.encode())

    def advance(self, place: Place, message: bytes, name: str) -> Step | None:
        told = _told(message)
        match place.phase, told.get("type"):
            case Phase.NAMING, "init" if told.keys() == {"type", "join", "watch"}:  # 3.3
                return Step(Place(Phase.WAITING), entered=True)
            case Phase.WAITING, "init" if (color := told.get("player")) in _COLORS:  # 4.3
                now = Place(Phase.PLAYING, color == _COLORS[0])
                step = self.answer(now, begun=True) if self.to_move(now) else Step(now, begun=True)
                return step and replace(step, place=now)
            case Phase.PLAYING, "play":
                return self._play(place, told)
            case Phase.PLAYING, "win" if (color := told.get("player")) in _COLORS:  # 6.1, 6.3
                winner = _COLORS.index(color) + 1
                is_early = place.discs < len(self.game.moves) or winner != self.game.winner
                return self._over(place, winner, late=self.timed and is_early)
            case Phase.PLAYING, "error" if told.get("message") == _NO_RESULT:  # 6.4
                return self._over(place, 0)
        return None

    def _play(self, place: Place, told: dict[str, Plain]) -> Step | None:
        moves, discs = self.game.moves, place.discs
        if discs == len(moves):
            return None
        column, color = int(moves[discs]), _COLORS[discs % 2]
        row = moves[:discs].count(moves[discs])
        if told != {"type": "play", "player": color, "column": column, "row": row}:  # 5.2
            return None
        now = Place(Phase.PLAYING, place.opens, discs + 1)
        # A bot's own move is counted when it comes back.
        heard = 0 if self.to_move(place) else 1
        is_last = now.discs == len(moves) and self.game.reason != LEFT
        if is_last and not self.game.winner:  # 6.2: nothing else comes
            step = self._over(now, 0)
            return step and replace(step, told=heard)
        if not is_last and self.to_move(now):
            step = self.answer(now, heard)
            return step and replace(step, place=now)
        return Step(now, told=heard)

    def _over(self, place: Place, winner: int, *, late: bool = False) -> Step | None:
        step = self.over(place, winner, late=late, then=Place(Phase.NAMING))
        return step and replace(step, again=True)


@lru_cache(maxsize=1024)
def _told(message: bytes) -> dict[str, Plain]:
    """Parse a message; return an empty dict if it is not an object."""
    try:
        value = read(Encoding.JSON, message.decode(errors="replace"))
    except ValueSyntaxError:
        return {}
    return {str(key): item for key, item in value.items()} if isinstance(value, dict) else {}


DIALECT = Dialect("tutorial", "ws", {"": Manner.JSON, "raw": Manner.RAW}, {"tutorial": Tutorial})

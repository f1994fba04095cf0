"""arena: one value, JSON or EDN, in each websocket frame. Clauses are those of adapters/arena/PROTOCOL.md.

Every `state` is parsed, in any order of its keys, and compared with the game: columns, cells, turn and
result. Parsing is slow, so each different text is parsed only once: bots cache the result for each text.
"""

import json
from dataclasses import replace
from functools import lru_cache, partial

from conformance.boards import arena_cells
from conformance.dialects.frames import cut_frames, frame
from conformance.dialects.script import DRAWN, LEFT, Cut, Dialect, Game, Phase, Place, Script, Step, Wish
from conformance.steps import Manner
from conformance.values import Encoding, Keyword, Plain, ValueSyntaxError, read

_MOVE = {Encoding.JSON: '{"type":"move","move":%s}', Encoding.EDN: '{:type "move", :move %s}'}
_START = {
    Encoding.JSON: '{"type":"start","id":%s,"against":%s}',
    Encoding.EDN: '{:type "start", :id %s, :against %s}',
}
_TOKEN = {Encoding.JSON: ',"token":%s}', Encoding.EDN: " :token %s}"}
_NOBODY = {Encoding.JSON: "null", Encoding.EDN: "nil"}


@lru_cache(maxsize=1024)
def _cells(moves: str) -> Plain:
    return read(Encoding.JSON, arena_cells(moves))


class Arena(Script):
    """A bot that plays at a table, in the lobby, or against the player that each `start` names."""

    start = Place(Phase.WAITING)

    def __init__(self, encoding: Encoding, game: Game = DRAWN, *, timed: bool = False) -> None:
        super().__init__(game, timed=timed)
        self._encoding = encoding

    def opening(self, wish: Wish) -> bytes:
        against = _NOBODY[self._encoding] if wish.against is None else json.dumps(wish.against)
        start = _START[self._encoding] % (json.dumps(wish.name), against)
        if wish.token is not None:
            start = start[:-1] + _TOKEN[self._encoding] % json.dumps(wish.token)
        return frame(start.encode())

    def cut(self, data: bytes) -> Cut:
        return cut_frames(data)

    def move(self, column: str) -> bytes:
        return frame((_MOVE[self._encoding] % column).encode())

    def advance(self, place: Place, message: bytes, name: str) -> Step | None:
        told = _told(self._encoding, message)
        match place.phase, told.get("type"):
            case Phase.WAITING, "state":
                return self._state(Place(Phase.PLAYING, told.get("you") == 1), 0, told)
            case Phase.PLAYING, "state":
                return self._next_state(place, told)
            case Phase.PLAYING, "disconnected" if self.game.reason == LEFT:  # 4.8
                return self.over(place, self.game.winner)
            case Phase.OVER, "end":
                return Step(Place(Phase.WAITING), again=True)
        return None

    def _next_state(self, place: Place, told: dict[str, Plain]) -> Step | None:
        winner = told.get("winner")
        # 8.1: the state after a loss on time has no last move.
        if self.timed and isinstance(winner, int) and "last-move" not in told:
            return self.over(place, winner, late=True, then=Place(Phase.OVER))
        return self._state(place, place.discs + 1, told)

    def _state(self, place: Place, discs: int, told: dict[str, Plain]) -> Step | None:
        """Return the step for a `state` message with `discs` discs; None if the message does not match."""
        game = self.game
        is_over = discs == len(game.moves) and game.reason != LEFT
        wanted: dict[str, Plain] = {
            "you": self.own_number(place),
            "turn": 0 if is_over else 1 + discs % 2,
            "moves": [int(column) for column in game.moves[:discs]],
            "state": _cells(game.moves[:discs]),
            "winner": game.winner if is_over else None,
        }
        if any(told.get(key) != value for key, value in wanted.items()):
            return None
        now = Place(Phase.PLAYING, place.opens, discs)
        # A state also confirms the bot's own move, which is counted only then.
        heard = 1 if discs and not self.to_move(place) else 0
        if is_over:
            step = self.over(now, game.winner, then=Place(Phase.OVER))
            return step and Step(step.place, told=heard, outcome=step.outcome)
        if self.to_move(now):
            step = self.answer(now, heard, begun=not discs)
            return step and replace(step, place=now)
        return Step(now, begun=not discs, told=heard)


@lru_cache(maxsize=1024)
def _told(encoding: Encoding, message: bytes) -> dict[str, Plain]:
    """Parse a message into a dict with text keys; return an empty dict if the message is not a map."""
    try:
        value = read(encoding, message.decode(errors="replace"))
    except ValueSyntaxError:
        return {}
    if not isinstance(value, dict):
        return {}
    return {key.name if isinstance(key, Keyword) else str(key): item for key, item in value.items()}


DIALECT = Dialect(
    "arena",
    "ws",
    {"json": Manner.JSON, "edn": Manner.EDN, "raw": Manner.RAW},
    {"arena-json": partial(Arena, Encoding.JSON), "arena-edn": partial(Arena, Encoding.EDN)},
)

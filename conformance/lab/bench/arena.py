"""The arena bot, in JSON or EDN, pure.

Clauses are those of adapters/arena/PROTOCOL.md. Every `state` is read as a value, whatever the order of
its keys, and compared with the drawn game: columns, cells, turn and result. That is slow and therefore done
once for each different text: whoever plays remembers what a text came to.
"""

from functools import lru_cache

from conformance.boards import arena_cells
from conformance.lab.bench.frames import cut_frames, frame
from conformance.lab.bench.script import COLUMNS, MOVES, Cut, Phase, Place, Script, Step, Ticket
from conformance.lab.house_load import DRAWN
from conformance.values import Encoding, Keyword, Plain, ValueSyntaxError, read

_CELLS = [read(Encoding.JSON, arena_cells(DRAWN[:discs])) for discs in range(MOVES + 1)]
_MOVES = {
    Encoding.JSON: [frame(b'{"type":"move","move":%d}' % column) for column in COLUMNS],
    Encoding.EDN: [frame(b'{:type "move", :move %d}' % column) for column in COLUMNS],
}
_STARTS = {
    Encoding.JSON: '{"type":"start","id":"%s","against":%s}',
    Encoding.EDN: '{:type "start", :id "%s", :against %s}',
}
_NOBODY = {Encoding.JSON: "null", Encoding.EDN: "nil"}


class Arena(Script):
    """Plays the drawn game at a table of two, or against the one it wishes for."""

    start = Place(Phase.WAITING)

    def __init__(self, encoding: Encoding) -> None:
        self._encoding = encoding

    def opening(self, ticket: Ticket) -> bytes:
        against = _NOBODY[self._encoding] if ticket.has_tables else f'"{ticket.partner}"'
        return frame((_STARTS[self._encoding] % (ticket.name, against)).encode())

    def again(self, ticket: Ticket) -> bytes:
        return self.opening(ticket)

    def cut(self, data: bytes) -> Cut:
        return cut_frames(data)

    def advance(self, place: Place, message: bytes, name: str) -> Step | None:
        told = _told(self._encoding, message)
        match place.phase, told.get("type"):
            case Phase.WAITING, "state":
                opens = told.get("you") == 1
                return self._state(Place(Phase.PLAYING, opens), 0, told)
            case Phase.PLAYING, "state":
                return self._state(place, place.discs + 1, told)
            case Phase.OVER, "end":
                return Step(Place(Phase.WAITING), again=True)
        return None

    def _state(self, place: Place, discs: int, told: dict[str, Plain]) -> Step | None:
        """Return what the state with so many discs does; None if it is not that state."""
        is_over = discs == MOVES
        wanted: dict[str, Plain] = {
            "you": 1 if place.opens else 2,
            "turn": 0 if is_over else 1 + discs % 2,
            "moves": list(COLUMNS[:discs]),
            "state": _CELLS[discs],
            "winner": 0 if is_over else None,
        }
        if any(told.get(key) != value for key, value in wanted.items()):
            return None
        now = Place(Phase.OVER if is_over else Phase.PLAYING, place.opens, discs)
        heard = 1 if discs and place.opens == (discs % 2 == 0) else 0
        move = _MOVES[self._encoding][discs] if now.is_to_move else b""
        return Step(now, told=heard, ended=int(is_over), move=move)


@lru_cache(maxsize=1024)
def _told(encoding: Encoding, message: bytes) -> dict[str, Plain]:
    """Return the map that a message is, its keys as text; an empty one where it is none."""
    try:
        value = read(encoding, message.decode(errors="replace"))
    except ValueSyntaxError:
        return {}
    if not isinstance(value, dict):
        return {}
    return {key.name if isinstance(key, Keyword) else str(key): item for key, item in value.items()}

"""The nac4 bot: a word of text a frame, pure.

Clauses are those of adapters/nac4/PROTOCOL.md. A genmove shows the whole board, so the bot's place is
checked against the server's at every move.
"""

from conformance.boards import nac4_board
from conformance.lab.bench.frames import cut_frames, frame
from conformance.lab.bench.script import COLUMNS, MOVES, Cut, Phase, Place, Script, Step, Ticket
from conformance.lab.house_load import DRAWN

_BOARDS = [nac4_board(DRAWN[:discs]) for discs in range(MOVES + 1)]
_MOVES = [frame(b"playmove %d\r\n" % column) for column in COLUMNS]

_TOLD = len(b"..genmove ") + MOVES + len(b" R PlayR")
"""So many bytes of a genmove's frame tell all but the time."""


def without_time(data: bytes) -> bytes:
    """Return what tells one chunk from another: all of it, but of a genmove by itself not the time.

    Other messages that come alone lose only what the length of their frame tells too.
    """
    return data[:_TOLD] if len(data) > _TOLD and data[1] + 2 == len(data) else data


class Nac4(Script):
    """Plays the drawn game at a table of two, or with anyone in the lobby."""

    start = Place(Phase.NAMING)

    def key(self, data: bytes) -> bytes:
        return without_time(data)

    def opening(self, ticket: Ticket) -> bytes:
        return frame(b"connect %s\r\n" % ticket.name.encode())

    def cut(self, data: bytes) -> Cut:
        return cut_frames(data)

    def advance(self, place: Place, message: bytes, name: str) -> Step | None:
        match place.phase, message.decode(errors="replace").split():
            case Phase.NAMING, ["connected", *_]:
                return Step(Place(Phase.WAITING))
            case Phase.WAITING, ["newgame", red, yellow] if name in (red, yellow):
                opens = name == red
                return Step(Place(Phase.PLAYING, opens), opponent=yellow if opens else red)
            case Phase.PLAYING, ["genmove", *words]:
                return _genmove(place, words)
            case Phase.PLAYING, ["endgame", *words]:
                return _endgame(place, words)
        return None


def _genmove(place: Place, words: list[str]) -> Step | None:
    told = 0 if place.is_to_move and not place.discs else 1
    discs, color = place.discs + told, "R" if place.opens else "Y"
    now = Place(Phase.PLAYING, place.opens, discs)
    if not now.is_to_move or words[:3] != [_BOARDS[discs], color, f"Play{color}"]:
        return None
    return Step(Place(Phase.PLAYING, place.opens, discs + 1), told=told, move=_MOVES[discs])


def _endgame(place: Place, words: list[str]) -> Step | None:
    told, color = (1, "R") if place.opens else (0, "Y")  # the last of 42 moves is yellow's
    if place.discs + told != MOVES or words != [_BOARDS[MOVES], color, "Tie", "Ok"]:
        return None
    return Step(Place(Phase.WAITING), told=told, ended=1)

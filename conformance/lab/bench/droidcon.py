"""The Droidcon bot: lines over TCP, pure.

Clauses are those of adapters/droidcon/PROTOCOL.md. Knows nothing beyond that document, so that any server
of the dialect can be measured: a series may have any number of rounds, and the hang-up behind it is no error.
"""

from conformance.lab.bench.script import COLUMNS, MOVES, Cut, Phase, Place, Script, Step, Ticket

_ENTERING = {
    (Phase.NAMING, b"SUCCESS"): Phase.JOINING,
    (Phase.JOINING, b"SUCCESS"): Phase.WAITING,
    (Phase.WAITING, b"NEW_GAME"): Phase.PLAYING,
}
_PUTS = [b"PUT %d\n" % column for column in COLUMNS]


def cut_lines(data: bytes) -> Cut:
    """Cut into lines without their ends."""
    *lines, rest = data.split(b"\n")
    return Cut(lines, rest)


class Droidcon(Script):
    """Plays the drawn game in a channel of two."""

    start = Place(Phase.NAMING)
    may_hang_up = True

    def resource(self, ticket: Ticket) -> str | None:
        return None

    def opening(self, ticket: Ticket) -> bytes:
        return f"NAME {ticket.name}\nJOIN {ticket.table}\n".encode()

    def cut(self, data: bytes) -> Cut:
        return cut_lines(data)

    def advance(self, place: Place, message: bytes, name: str) -> Step | None:
        match place.phase, message:
            case (phase, word) if (phase, word) in _ENTERING:
                return Step(Place(_ENTERING[phase, word]))
            case Phase.PLAYING, b"YOUR_MOVE":
                return _move(place)
            case Phase.PLAYING, b"DRAW" if place.discs == MOVES:
                return Step(Place(Phase.WAITING), ended=1)
            case Phase.PLAYING, _:
                return _told(place, message)
        return None


def _move(place: Place) -> Step | None:
    if place.opens is None:
        place = Place(Phase.PLAYING, opens=True)
    if not place.is_to_move:
        return None
    return Step(Place(Phase.PLAYING, place.opens, place.discs + 1), move=_PUTS[place.discs])


def _told(place: Place, message: bytes) -> Step | None:
    if place.opens is None:  # 4.1: it was not told to move, so the other one opens
        place = Place(Phase.PLAYING, opens=False)
    if place.is_to_move or place.discs == MOVES or message != _PUTS[place.discs].rstrip():
        return None
    return Step(Place(Phase.PLAYING, place.opens, place.discs + 1), told=1)

"""The bots of the two floors: whatever they say comes back; pure.

Each is its own opponent: a message is a move, its echo the news of it. A message has the size of a move.
"""

from conformance.lab.bench.droidcon import cut_lines
from conformance.lab.bench.frames import cut_frames, frame
from conformance.lab.bench.script import Cut, Phase, Place, Script, Step, Ticket

_THERE = Place(Phase.PLAYING)
_LINE = b"PUT 3"
_TEXT = b"playmove 3\r\n"


class LineEcho(Script):
    """Says a line over TCP."""

    start = _THERE

    def resource(self, ticket: Ticket) -> str | None:
        return None

    def opening(self, ticket: Ticket) -> bytes:
        return _LINE + b"\n"

    def cut(self, data: bytes) -> Cut:
        return cut_lines(data)

    def advance(self, place: Place, message: bytes, name: str) -> Step | None:
        return Step(_THERE, told=1, move=_LINE + b"\n") if message == _LINE else None


class TextEcho(Script):
    """Says a text over a websocket."""

    start = _THERE

    def opening(self, ticket: Ticket) -> bytes:
        return frame(_TEXT)

    def cut(self, data: bytes) -> Cut:
        return cut_frames(data)

    def advance(self, place: Place, message: bytes, name: str) -> Step | None:
        return Step(_THERE, told=1, move=frame(_TEXT)) if message == _TEXT else None

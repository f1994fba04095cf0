"""Droidcon: lines over TCP. Clauses are those of adapters/droidcon/PROTOCOL.md.

A series may have any number of rounds. The server may hang up after a series.
"""

from conformance.dialects.script import Cut, Dialect, Phase, Place, Script, Step, Wish
from conformance.steps import Manner

_ENTERING = {
    (Phase.NAMING, b"SUCCESS"): Phase.JOINING,
    (Phase.JOINING, b"SUCCESS"): Phase.WAITING,
    (Phase.WAITING, b"NEW_GAME"): Phase.PLAYING,
}
_RESULTS = {b"YOU_WON": True, b"YOU_LOST": False, b"DRAW": None}


def cut_lines(data: bytes) -> Cut:
    """Cut received bytes into lines without their line endings."""
    *lines, rest = data.split(b"\n")
    return Cut(lines, rest)


class Droidcon(Script):
    """A bot that plays at a table, against an opponent whom it names, or in the lobby."""

    start = Place(Phase.NAMING)
    may_hang_up = True
    wins_aborted = True  # 4.13

    def resource(self, wish: Wish) -> str | None:
        return None

    def opening(self, wish: Wish) -> bytes:
        where = wish.table or ("lobby" if wish.against is None else f"@{wish.against}")
        return f"NAME {wish.called}\nJOIN {where}\n".encode()

    def cut(self, data: bytes) -> Cut:
        return cut_lines(data)

    def move(self, column: str) -> bytes:
        return f"PUT {column}\n".encode()

    def advance(self, place: Place, message: bytes, name: str) -> Step | None:
        match place.phase, message:
            case (phase, word) if (phase, word) in _ENTERING:
                now = _ENTERING[phase, word]
                return Step(Place(now), entered=now is Phase.WAITING, begun=now is Phase.PLAYING)
            case Phase.PLAYING, b"YOUR_MOVE":
                return self.answer(Place(Phase.PLAYING, True) if place.opens is None else place)
            case Phase.PLAYING, word if word in _RESULTS:
                return self._over(place, _RESULTS[word])
            case Phase.PLAYING, _:
                return self._told(place, message)
        return None

    def _told(self, place: Place, message: bytes) -> Step | None:
        if place.opens is None:  # 4.1: no YOUR_MOVE came first, so the opponent opens
            place = Place(Phase.PLAYING, opens=False)
        moves = self.game.moves[place.discs :]
        if self.to_move(place) or not moves or message != b"PUT %s" % moves[0].encode():
            return None
        return Step(Place(Phase.PLAYING, place.opens, place.discs + 1), told=1)

    def _over(self, place: Place, won: bool | None) -> Step | None:
        own = self.own_number(place)
        winner = 0 if won is None else own if won else 3 - own
        # 4.4: the server sends the last disc before the result. A result without it is a loss on time.
        is_early = place.discs < len(self.game.moves) or winner != self.game.winner
        return self.over(place, winner, late=self.timed and is_early)


DIALECT = Dialect("droidcon", "tcp", {"": Manner.LINES}, {"droidcon": Droidcon}, "tcp")

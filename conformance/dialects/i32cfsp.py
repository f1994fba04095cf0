"""I32CFSP: lines over TCP, ending in CR LF. Clauses are those of adapters/i32cfsp/PROTOCOL.md.

A bot always moves first, plays one game on a connection, and cannot name a table.
"""

from dataclasses import replace

from conformance.dialects.droidcon import cut_lines
from conformance.dialects.script import Cut, Dialect, Phase, Place, Script, Step, Wish
from conformance.steps import Manner

_WINNERS = {b"WINNER_RED": 1, b"WINNER_YELLOW": 2}


class I32cfsp(Script):
    """A bot that plays whoever waits in the lobby."""

    start = Place(Phase.NAMING)
    may_hang_up = True
    has_one_game = True  # 5.1
    wins_aborted = True  # 5.6

    def resource(self, wish: Wish) -> str | None:
        return None

    def opening(self, wish: Wish) -> bytes:
        return f"I32CFSP_HELLO {wish.called}\r\nAI_GAME 7 6\r\n".encode()

    def cut(self, data: bytes) -> Cut:
        cut = cut_lines(data)
        return Cut([line.removesuffix(b"\r") for line in cut.messages], cut.rest)

    def move(self, column: str) -> bytes:
        return f"DROP {int(column) + 1}\r\n".encode()

    def advance(self, place: Place, message: bytes, name: str) -> Step | None:
        step: Step | None = None
        match place.phase, message:
            case Phase.NAMING, _ if message == b"WELCOME " + name.encode():
                step = Step(Place(Phase.WAITING), entered=True)
            case Phase.WAITING, b"READY":
                step = self.answer(Place(Phase.PLAYING, True), begun=True)
            case Phase.PLAYING, b"READY":
                step = self.answer(place)
            case Phase.PLAYING, b"OKAY":
                step = None if self.to_move(place) else Step(place)
            case Phase.PLAYING, word if word in _WINNERS:
                is_early = place.discs < len(self.game.moves) or _WINNERS[word] != self.game.winner
                step = self.over(place, _WINNERS[word], late=self.timed and is_early)
            case Phase.PLAYING, _:
                step = self._told(place, message)
        return step

    def _told(self, place: Place, message: bytes) -> Step | None:
        moves = self.game.moves[place.discs :]
        if self.to_move(place) or not moves or message + b"\r\n" != self.move(moves[0]):
            return None
        now = Place(Phase.PLAYING, True, place.discs + 1)
        if now.discs == len(self.game.moves) and not self.game.winner:
            over = self.over(now, 0)  # 5.4: the server hangs up without a word
            return over and replace(over, told=1)
        return Step(now, told=1)


DIALECT = Dialect(
    "i32cfsp", "tcp", {"": Manner.RAW}, {"i32cfsp": I32cfsp}, has_tables=False, always_opens=True
)

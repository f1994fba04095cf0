"""RPI: words with colons between them in websocket frames. Clauses are those of adapters/rpi/PROTOCOL.md.

A bot sends its first READY without waiting for CONNECT:ACK, and the next ones at TOURNAMENT:END. The move
that ends a game is not reported to the opponent, which counts it when the result comes.
"""

from urllib.parse import quote

from conformance.dialects.frames import cut_frames, frame
from conformance.dialects.script import LEFT, WAITING, Cut, Dialect, Phase, Place, Script, Step, Wish
from conformance.steps import Manner

_RESULTS = {b"GAME:WINS": True, b"GAME:LOSS": False, b"GAME:DRAW": None, b"GAME:TERMINATED": None}
_NEEDS = {b"GAME:DRAW": False, b"GAME:TERMINATED": True}
"""Whether a result without a winner is that of a game that a player left (5.4, 5.6)."""
_AGAIN = Place(Phase.JOINING, opens=False)
"""The place of a bot that has asked for another game."""


class Rpi(Script):
    """A bot that plays at a table, against an opponent whom the URL names, or in the lobby."""

    start = Place(Phase.NAMING)

    def resource(self, wish: Wish) -> str | None:
        if wish.table is None and wish.against is not None:
            return f"/?against={quote(wish.against)}"
        return super().resource(wish)

    def opening(self, wish: Wish) -> bytes:
        name = wish.name if wish.token is None else f"{wish.name}:{wish.token}"
        return frame(f"CONNECT:{name}".encode()) + self.asking(wish)

    def asking(self, wish: Wish) -> bytes:
        return frame(b"READY")

    def cut(self, data: bytes) -> Cut:
        return cut_frames(data)

    def move(self, column: str) -> bytes:
        return frame(f"PLAY:{column}".encode())

    def advance(self, place: Place, message: bytes, name: str) -> Step | None:
        step: Step | None = None
        match place.phase, message.split(b":"):
            case Phase.NAMING, [b"CONNECT", b"ACK"]:
                step = Step(Place(Phase.JOINING))
            case Phase.JOINING, [b"READY", b"ACK"]:
                step = Step(WAITING, entered=place != _AGAIN)
            case Phase.WAITING, [b"GAME", b"START", b"1" | b"0" as first]:
                now = Place(Phase.PLAYING, first == b"1")
                step = self.answer(now, begun=True) if now.opens else Step(now, begun=True)
            case Phase.PLAYING, [b"OPPONENT", column] if not self.to_move(place):
                if [column.decode(errors="replace")] == [*self.game.moves[place.discs : place.discs + 1]]:
                    step = self.answer(Place(Phase.PLAYING, place.opens, place.discs + 1), told=1)
            case Phase.PLAYING, _ if message in _RESULTS:
                is_left = self.game.reason == LEFT
                if message not in _NEEDS or _NEEDS[message] is is_left:
                    step = self._over(place, _RESULTS[message])
            case Phase.OVER, [b"TOURNAMENT", b"END"]:
                step = Step(_AGAIN, again=True)
            case _:
                pass
        return step

    def _over(self, place: Place, won: bool | None) -> Step | None:
        own, last = self.own_number(place), len(self.game.moves) - 1
        winner = 0 if won is None else own if won else 3 - own
        told = 0
        # 5.3, 5.4: the move that ends the game is not told to the opponent
        if self.game.reason != LEFT and place.discs == last and not self.to_move(place):
            told = 1 if winner == self.game.winner else 0
        now = Place(Phase.PLAYING, place.opens, place.discs + told)
        is_early = now.discs <= last or winner != self.game.winner
        step = self.over(now, winner, late=self.timed and is_early, then=Place(Phase.OVER))
        return step and Step(step.place, told=told, outcome=step.outcome)


DIALECT = Dialect("rpi", "ws", {"": Manner.BARE, "raw": Manner.RAW}, {"rpi": Rpi})

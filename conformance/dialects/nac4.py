"""nac4: a line of words in each websocket frame. Clauses are those of adapters/nac4/PROTOCOL.md.

A genmove contains the whole board, so every move compares the bot's board with the server's.
"""

from functools import lru_cache
from urllib.parse import quote

from conformance.boards import CELLS, nac4_board
from conformance.dialects.frames import cut_frames, frame
from conformance.dialects.script import LEFT, Cut, Dialect, Phase, Place, Script, Step, Wish
from conformance.steps import Manner

_board = lru_cache(maxsize=1024)(nac4_board)
_STATUS = {"Tie": 0, "WinR": 1, "WinY": 2}
_TOLD = len(b"..genmove ") + CELLS + len(b" R PlayR")
"""The length of the part of a genmove's frame before the time, in bytes."""


def without_time(data: bytes) -> bytes:
    """Return a chunk without the time, if the chunk is a single genmove: the time has no effect on a bot.

    Any other single message is cut at the same length. The length in its frame header still identifies it.
    """
    return data[:_TOLD] if len(data) > _TOLD and data[1] + 2 == len(data) else data


class Nac4(Script):
    """A bot that plays at a table, against an opponent whom it names, or in the lobby."""

    start = Place(Phase.NAMING)

    def key(self, data: bytes) -> bytes:
        return without_time(data)

    def resource(self, wish: Wish) -> str | None:
        if wish.table is None and wish.against is not None:
            return f"/?against={quote(wish.against)}"
        return super().resource(wish)

    def opening(self, wish: Wish) -> bytes:
        return frame(f"connect {wish.called}\r\n".encode())

    def cut(self, data: bytes) -> Cut:
        return cut_frames(data)

    def move(self, column: str) -> bytes:
        return frame(f"playmove {column}\r\n".encode())

    def advance(self, place: Place, message: bytes, name: str) -> Step | None:
        match place.phase, message.decode(errors="replace").split():
            case Phase.NAMING, ["connected", *_]:
                return Step(Place(Phase.WAITING), entered=True)
            case Phase.WAITING, ["newgame", red, yellow] if name in (red, yellow):
                opens = name == red
                return Step(Place(Phase.PLAYING, opens), begun=True, opponent=yellow if opens else red)
            case Phase.PLAYING, ["genmove", board, color, playing, _]:
                told = 0 if place.opens and not place.discs else 1
                now = Place(Phase.PLAYING, place.opens, place.discs + told)
                own = "R" if place.opens else "Y"
                if [board, color, playing] == [_board(self.game.moves[: now.discs]), own, f"Play{own}"]:
                    return self.answer(now, told)
            case Phase.PLAYING, ["endgame", board, color, status, battle]:
                winner = _winner(board, status, battle)
                if winner is not None and color == ("R" if place.opens else "Y"):
                    return self._over(place, board, winner, battle)
        return None

    def _over(self, place: Place, board: str, winner: int, battle: str) -> Step | None:
        if battle == "Timeout":
            return self.over(place, winner, late=True)
        told = 1 if place.discs < len(self.game.moves) and not self.to_move(place) else 0
        now = Place(Phase.PLAYING, place.opens, place.discs + told)
        if battle != ("Disconnected" if self.game.reason == LEFT else "Ok"):  # 5.10
            return None
        step = self.over(now, winner)
        if step is None or board != _board(self.game.moves):
            return None
        return Step(step.place, told=told, outcome=step.outcome)


def _winner(board: str, status: str, battle: str) -> int | None:
    """Return the winner that an `endgame` names, as in `Game`; None if the message contradicts itself."""
    if status.startswith("Play"):  # 5.14: no winner; the status names the player to move
        to_move = "RY"[sum(cell != "." for cell in board) % 2]
        return 0 if (status, battle) == (f"Play{to_move}", "Disconnected") else None
    return None if (status, battle) == ("Tie", "Disconnected") else _STATUS.get(status)


DIALECT = Dialect("nac4", "ws", {"": Manner.TEXT, "raw": Manner.RAW}, {"nac4": Nac4})

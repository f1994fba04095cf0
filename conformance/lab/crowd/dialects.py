"""The three dialects as far as a game of seven moves needs them; pure.

Clauses are those of adapters/<dialect>/PROTOCOL.md. A loss on the board and a loss on time are told apart by
what the server says of them, never by what the bot thinks that it deserved.
"""

import json
from collections.abc import Iterator
from urllib.parse import quote

from conformance.lab.bench.droidcon import cut_lines
from conformance.lab.bench.frames import cut_frames, frame
from conformance.lab.bench.script import Cut, OutOfStep
from conformance.lab.crowd.speech import MOVES_OF_FIRST, Heard, Speech, Wish

_PUTS = {True: b"PUT 0\n", False: b"PUT 1\n"}
_PLAYMOVES = {True: frame(b"playmove 0\r\n"), False: frame(b"playmove 1\r\n")}
_MOVES = {True: frame(b'{"type":"move","move":0}'), False: frame(b'{"type":"move","move":1}')}
_SHOWN = 200


def speech_of(kind: str, wish: Wish) -> Speech:
    """Return what a bot of this dialect says. Raises KeyError."""
    kinds: dict[str, type[Speech]] = {"droidcon": Droidcon, "nac4": Nac4, "arena": Arena}
    return kinds[kind](wish)


def _strange(message: bytes) -> OutOfStep:
    return OutOfStep(f"was told {message[:_SHOWN]!r}, which does not belong there")


def _path(wish: Wish) -> str:
    if wish.table is not None:
        return f"/?table={quote(wish.table)}"
    return "/" if wish.against is None else f"/?against={quote(wish.against)}"


class Droidcon(Speech):
    """Lines over TCP."""

    def __init__(self, wish: Wish) -> None:
        super().__init__(wish)
        self._successes = 0
        self._puts = 0
        """Moves of the opponent in this game."""

    @property
    def resource(self) -> None:
        return None

    def opening(self) -> bytes:
        wish = self.wish
        where = wish.table or ("lobby" if wish.against is None else f"@{wish.against}")
        return f"NAME {wish.name}\nJOIN {where}\n".encode()

    def move(self) -> bytes:
        return _PUTS[bool(self.opens)]

    def _cut(self, data: bytes) -> Cut:
        return cut_lines(data)

    def _meaning(self, message: bytes) -> Iterator[Heard]:
        match message:
            case b"YOUR_MOVE":
                self.opens = self._puts == 0 if self.opens is None else self.opens
                yield Heard.ASKED
            case b"PUT 0" | b"PUT 1":
                self.opens = False if self.opens is None else self.opens
                self._puts += 1
            case b"NEW_GAME":
                self.opens, self._puts = None, 0
                yield Heard.BEGUN
            case b"YOU_WON":
                yield Heard.WON
            case b"YOU_LOST":  # 4.4: the opponent's last disc would have been told before it
                yield Heard.LOST if self._puts == MOVES_OF_FIRST else Heard.LATE
            case b"SUCCESS":
                self._successes += 1
                if self._successes == 2:
                    yield Heard.ENTERED
            case _:
                raise _strange(message)


class Nac4(Speech):
    """Words over a websocket."""

    @property
    def resource(self) -> str:
        return _path(self.wish)

    def opening(self) -> bytes:
        return frame(b"connect %s\r\n" % self.wish.name.encode())

    def move(self) -> bytes:
        return _PLAYMOVES[bool(self.opens)]

    def _cut(self, data: bytes) -> Cut:
        return cut_frames(data)

    def _meaning(self, message: bytes) -> Iterator[Heard]:
        match message.split():
            case [b"genmove", _, color, _, _]:
                self.opens = color == b"R"
                yield Heard.ASKED
            case [b"newgame", red, _]:
                self.opens = red == self.wish.name.encode()
                yield Heard.BEGUN
            case [b"endgame", _, color, status, battle]:
                if status == b"Win" + color:
                    yield Heard.WON
                else:
                    yield Heard.LATE if battle == b"Timeout" else Heard.LOST
            case [b"connected", *_]:
                yield Heard.ENTERED
            case _:
                raise _strange(message)


class Arena(Speech):
    """JSON over a websocket. The opponent, where one is wished for by name, stands in each `start`."""

    @property
    def resource(self) -> str:
        return _path(self.wish)

    def opening(self) -> bytes:
        words = {"type": "start", "id": self.wish.name, "against": self.wish.against}
        return frame(json.dumps(words).encode())

    def move(self) -> bytes:
        return _MOVES[bool(self.opens)]

    def _cut(self, data: bytes) -> Cut:
        return cut_frames(data)

    def _meaning(self, message: bytes) -> Iterator[Heard]:
        told = json.loads(message)
        match told["type"]:
            case "state":
                yield from self._state(told)
            case "disconnected":
                yield Heard.WON
                yield Heard.FREE
            case "end":
                yield Heard.FREE
            case _:
                raise _strange(message)

    def _state(self, told: dict[str, object]) -> Iterator[Heard]:
        you, turn = told["you"], told["turn"]
        self.opens = you == 1
        if not told["moves"] and turn:
            yield Heard.BEGUN
        if turn == you:
            yield Heard.ASKED
        elif turn == 0:
            if told["winner"] == you:
                yield Heard.WON
            else:  # 8.1: no column brought about a loss on time
                yield Heard.LOST if "last-move" in told else Heard.LATE

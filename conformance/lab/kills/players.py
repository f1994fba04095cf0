"""A client in each dialect that plays a course of games and notes the results that it is told, pure.

Bytes in, bytes out; no sockets, no time. The rule it keeps: a player knows what comes next, and whatever
else a server says, another move, another result, an error, raises OutOfStep. So a result that was noted is
the one that was to be told. Clauses are those of the dialects' PROTOCOL.md.
"""

import json
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

from conformance.boards import nac4_board
from conformance.lab.bench.droidcon import cut_lines
from conformance.lab.bench.frames import cut_frames, frame
from conformance.lab.bench.script import Cut, OutOfStep
from conformance.lab.kills.games import LEFT, Game, Result


class Player(ABC):
    """One client, for one course."""

    dialect: ClassVar[str]

    def __init__(self, name: str, partner: str, table: str, games: Sequence[Game]) -> None:
        self.name = name
        self.results: list[Result] = []
        """What it was told, one for each game."""
        self.is_leaving = False
        """Whether it is time to leave, as the game that is on demands."""
        self._partner = partner
        self._table = table
        self._games = games
        self._game: Game | None = None
        """The game that is on."""
        self._opens: bool | None = None
        """Whether its first move is this player's; None where it was not told yet."""
        self._discs = 0

    def __str__(self) -> str:
        return f"{self.dialect} player {self.name}"

    @property
    def has_all(self) -> bool:
        """Whether it was told of the last game. Nothing comes after that."""
        return len(self.results) == len(self._games)

    @property
    def resource(self) -> str | None:
        """The path that a websocket asks for; None for plain TCP."""
        return f"/?table={self._table}"

    def cut(self, data: bytes) -> Cut:
        """Cut what was received into messages. Raises OutOfStep."""
        return cut_frames(data)

    @property
    @abstractmethod
    def opening(self) -> bytes:
        """What is sent first."""

    @abstractmethod
    def hear(self, message: bytes) -> bytes:
        """Take in a message; return what is to be sent. Raises OutOfStep."""

    @abstractmethod
    def _put(self, column: str) -> bytes:
        """Return the bytes of a move."""

    # What all dialects have in common.

    def _begin(self, *, opens: bool | None) -> None:
        if self._game is not None or self.has_all:
            raise self._wrong("a game begins")
        self._game, self._opens, self._discs = self._games[len(self.results)], opens, 0

    def _on(self, message: object) -> Game:
        """Return the game that is on. Raises OutOfStep."""
        if self._game is None:
            raise self._wrong(message)
        return self._game

    def _move(self, message: object) -> bytes:
        """Answer a request to move."""
        game = self._on(message)
        if self._opens is not (self._discs % 2 == 0):
            raise self._wrong(message)
        if self._discs == len(game.moves):
            self.is_leaving = True  # a game that ends by a move asks for none behind it
            return b""
        self._discs += 1
        return self._put(game.moves[self._discs - 1])

    def _over(self, winner: int, message: object) -> None:
        """Note the result of the game that is on."""
        game = self._on(message)
        if self._discs != len(game.moves) or winner != game.winner:
            raise self._wrong(message)
        players = (self.name, self._partner) if self._opens else (self._partner, self.name)
        self.results.append(Result(*players, game))
        self._game = None

    def _wrong(self, message: object) -> OutOfStep:
        number = len(self.results) + 1
        return OutOfStep(f"{self} was told {message!r} with {self._discs} discs in game {number}")


class Droidcon(Player):
    """Lines over TCP."""

    dialect = "droidcon"

    @property
    def resource(self) -> str | None:
        return None

    @property
    def opening(self) -> bytes:
        return f"NAME {self.name}\nJOIN {self._table}\n".encode()

    def cut(self, data: bytes) -> Cut:
        return cut_lines(data)

    def hear(self, message: bytes) -> bytes:
        match message.decode(errors="replace").split(" "):
            case ["SUCCESS"] if self._game is None:
                pass
            case ["NEW_GAME"]:
                self._begin(opens=None)
            case ["YOUR_MOVE"]:
                if self._opens is None:  # 4.1
                    self._opens = True
                return self._move(message)
            case ["PUT", column]:
                self._hear_move(column, message)
            case [("YOU_WON" | "YOU_LOST" | "DRAW") as word]:
                own, other = (1, 2) if self._opens else (2, 1)
                self._over({"YOU_WON": own, "YOU_LOST": other, "DRAW": 0}[word], message)
            case _:
                raise self._wrong(message)
        return b""

    def _hear_move(self, column: str, message: bytes) -> None:
        if self._opens is None:
            self._opens = False
        if self._opens is (self._discs % 2 == 0) or self._on(message).moves[self._discs :][:1] != column:
            raise self._wrong(message)
        self._discs += 1

    def _put(self, column: str) -> bytes:
        return f"PUT {column}\n".encode()


class Nac4(Player):
    """Words in websocket frames; every message shows the board."""

    dialect = "nac4"

    @property
    def opening(self) -> bytes:
        return frame(f"connect {self.name}\r\n".encode())

    def hear(self, message: bytes) -> bytes:
        match message.decode(errors="replace").split():
            case ["connected", *_] if self._game is None:
                pass
            case ["newgame", red, yellow] if {red, yellow} == {self.name, self._partner}:
                self._begin(opens=red == self.name)
            case ["genmove", board, _, _, _]:
                self._look_at(board, message)
                return self._move(message)
            case ["endgame", board, _, status, battle]:
                self._look_at(board, message)
                if (battle == "Disconnected") is not (self._on(message).reason == LEFT):  # 5.10
                    raise self._wrong(message)
                self._over({"WinR": 1, "WinY": 2, "Tie": 0}.get(status, -1), message)
            case _:
                raise self._wrong(message)
        return b""

    def _look_at(self, board: str, message: bytes) -> None:
        """Take in at most one move of the other."""
        moves, discs = self._on(message).moves, self._discs
        if board != nac4_board(moves[:discs]):
            self._discs += 1
            if discs == len(moves) or board != nac4_board(moves[: discs + 1]):
                raise self._wrong(message)

    def _put(self, column: str) -> bytes:
        return frame(f"playmove {column}\r\n".encode())


class Arena(Player):
    """JSON in websocket frames; every message has all moves in it."""

    dialect = "arena"

    @property
    def opening(self) -> bytes:
        return frame(json.dumps({"type": "start", "id": self.name}).encode())

    def hear(self, message: bytes) -> bytes:
        match told := _value(message):
            case {"type": "state", "turn": _, "you": _, "moves": [*_]}:
                return self._hear_state(told, message)
            case {"type": "disconnected"}:
                game = self._on(message)
                self._over(game.winner if game.reason == LEFT else -1, message)  # 4.8
            case {"type": "end"} if self._game is None:
                return b"" if self.has_all else self.opening
            case _:
                raise self._wrong(message)
        return b""

    def _hear_state(self, told: dict[str, Any], message: bytes) -> bytes:
        moves = "".join(map(str, told["moves"]))
        if not moves:
            self._begin(opens=told["you"] == 1)
        game = self._on(message)
        if not game.moves.startswith(moves) or len(moves) - self._discs not in (0, 1):
            raise self._wrong(message)
        self._discs = len(moves)
        if "winner" in told:
            self._over(told["winner"] if game.reason != LEFT else -1, message)
            return b""
        return self._move(message) if told["turn"] == told["you"] else b""

    def _put(self, column: str) -> bytes:
        return frame(json.dumps({"type": "move", "move": int(column)}).encode())


def _value(message: bytes) -> Any:
    try:
        return json.loads(message)
    except ValueError:
        return None


PLAYERS: tuple[type[Player], ...] = (Droidcon, Nac4, Arena)

"""Players of all dialects on memory streams: what each says, and what it is to be told.

The wording is written out here once more, by hand from the protocols and naively, so that the tests do not
agree with the translators' mistakes. Each dialect has one class. Where dialects differ, its class says so in
the variables of `Player`, and no test asks which dialect it is.
"""

import json
import random
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from itertools import product
from typing import ClassVar

import trio
import trio.testing
import trio_websocket
from worlds.hub import Heard
from worlds.memory_client import MemoryClient, serve

from adapters.dialects import DIALECTS
from adapters.entrance.handshake import HttpPort
from adapters.entrance.one_port import receiving
from gateway.game.clock import Terms
from gateway.game.results import Finished
from gateway.hub.hub import Hub
from gateway.hub.seats import Seated
from gateway.matchmaking.standard import LobbyAndTables
from gateway.server.app import keep_time

CLOCK = 42.0
IDLE = 30.0


class Player(ABC):
    """A player, whatever the dialect. Subclasses know what it says, and what it is told of a game."""

    dialect: ClassVar[str]
    line_end: ClassVar[str | None] = None
    """The end of a line; None on a websocket."""
    always_opens: ClassVar = False
    """Whether it moves first in every game, has no tables, and is hung up on after a game."""
    asks: ClassVar = False
    """Whether it has to enter again for each further game."""
    rounds: ClassVar = 1
    is_clocked: ClassVar = False
    falls: ClassVar = False
    """Whether it is hung up on for a fault of its own, and together with it an opponent that falls too."""

    def __init__(self, name: str, table: str | None, stream: MemoryClient) -> None:
        self.name = name
        self.table = table
        self.stream = stream
        self.side = 0
        self.names = ("", "")
        """Who plays this game, the first mover first."""
        self.unread: list[str] = []
        """What the player was told since the last call of `told`."""
        self._websocket: trio_websocket.WebSocketConnection | None = None
        self._has_entered = False

    # On the stream.

    async def connect(self, nursery: trio.Nursery) -> None:
        if self.line_end is None:
            wrap = trio_websocket.wrap_client_stream
            self._websocket = await wrap(nursery, self.stream, "gateway", f"/?table={self.table or 'lobby'}")
            nursery.start_soon(self._listen_to_frames, self._websocket)
        else:
            nursery.start_soon(self._listen_to_lines, self.line_end)

    async def _listen_to_lines(self, line_end: str) -> None:
        data = b""
        async for chunk in self.stream:
            *lines, data = (data + chunk).split(line_end.encode())
            self.unread += [line.decode() for line in lines]
        self.unread.append("closed")
        await self.stream.aclose()

    async def _listen_to_frames(self, websocket: trio_websocket.WebSocketConnection) -> None:
        try:
            while True:
                text = str(await websocket.get_message())
                self.unread.append(_in_one_spelling(text))
        except trio_websocket.ConnectionClosed as closed:
            self.unread.append(f"closed {closed.reason.code}" if closed.reason else "closed")

    async def told(self) -> list[str]:
        """Return what the player was told since the last call, once nothing more comes by itself."""
        await trio.testing.wait_all_tasks_blocked()
        told, self.unread = self.unread, []
        return told

    async def enter(self) -> None:
        """Ask for a game."""
        words, self._has_entered = self.asking() if self._has_entered else self.entering(), True
        for message in words:
            await self._say(message)

    async def play(self, column: int) -> None:
        """Drop a disc."""
        await self._say(self.move(column))

    async def leave(self) -> None:
        """Leave as one does in this dialect."""
        if self._websocket is not None:
            await self._websocket.aclose()
        else:
            await self.stream.send_eof()

    def reset(self) -> None:
        """Vanish without a word."""
        self.stream.reset()

    async def _say(self, message: str) -> None:
        if self._websocket is not None:
            await self._websocket.send_message(message)
        else:
            await self.stream.send_all(f"{message}{self.line_end}".encode())

    # What it says.

    @abstractmethod
    def entering(self) -> list[str]:
        """Return the messages that ask for the first game."""

    def asking(self) -> list[str]:
        """Return the messages that ask for a further game, where the player `asks`."""
        return self.entering()

    @abstractmethod
    def move(self, column: int) -> str:
        """Return the message that drops a disc."""

    # What it is told.

    def entered(self) -> list[str]:
        """Return what the player is told when it has entered."""
        return []

    def asked_again(self) -> list[str]:
        """Return what the player is told when it has asked for a further game."""
        return []

    @abstractmethod
    def started(self) -> list[str]:
        """Return what the player is told of the start."""

    @abstractmethod
    def moved(self, moves: Sequence[int]) -> list[str]:
        """Return what the player is told of the latest of `moves`, which did not end the game."""

    @abstractmethod
    def ended(self, moves: Sequence[int], winner: int | None) -> list[str]:
        """Return what the player is told of the latest of `moves`, which ended the game."""

    @abstractmethod
    def timed_out(self, moves: Sequence[int], winner: int) -> list[str]:
        """Return what the player is told when time is up."""

    @abstractmethod
    def left(self, moves: Sequence[int]) -> list[str]:
        """Return what the player is told when the other one has left; if one has not moved, nobody won."""

    @abstractmethod
    def forfeited(self, moves: Sequence[int]) -> list[str]:
        """Return what the player is told when the other one has forfeited."""

    @abstractmethod
    def refused(self, what: str, column: int, moves: Sequence[int]) -> list[str]:
        """Return what the player is told of its own illegal move: a `turn`, a `column` or a `full` one."""

    def forfeits(self, what: str) -> bool:
        """Return whether such a move loses the game."""
        return False

    def hung_up(self, code: int) -> str:
        """Return how the player is hung up on by a server that stops (1001) or is at fault (1011)."""
        return "closed" if self._websocket is None else f"closed {code}"

    def has_made_last(self, moves: Sequence[int]) -> bool:
        return (len(moves) - 1) % 2 == self.side


class Nac4(Player):
    dialect = "nac4"
    is_clocked = True

    def entering(self) -> list[str]:
        return [f"connect {self.name}\r\n"]

    def move(self, column: int) -> str:
        return f"playmove {column}\r\n"

    def entered(self) -> list[str]:
        return [f"connected hello {self.name}\r\n"]

    def started(self) -> list[str]:
        start = f"newgame {self.names[0]} {self.names[1]}\r\n"
        return [start, *self._asked([])] if self.side == 0 else [start]

    def moved(self, moves: Sequence[int]) -> list[str]:
        return [] if self.has_made_last(moves) else self._asked(moves)

    def ended(self, moves: Sequence[int], winner: int | None) -> list[str]:
        return [self._endgame(moves, "Tie" if winner is None else f"Win{'RY'[winner]}", "Ok")]

    def timed_out(self, moves: Sequence[int], winner: int) -> list[str]:
        return [self._endgame(moves, f"Win{'RY'[winner]}", "Timeout")]

    def left(self, moves: Sequence[int]) -> list[str]:
        status = f"Play{'RY'[len(moves)]}" if len(moves) < 2 else f"Win{'RY'[self.side]}"
        return [self._endgame(moves, status, "Disconnected")]

    def forfeited(self, moves: Sequence[int]) -> list[str]:
        return [self._endgame(moves, f"Win{'RY'[self.side]}", "Disconnected")]

    def refused(self, what: str, column: int, moves: Sequence[int]) -> list[str]:
        return [] if what == "turn" else self._asked(moves, CLOCK - 1)

    def _asked(self, moves: Sequence[int], rest: float = CLOCK) -> list[str]:
        color = "RY"[self.side]
        return [f"genmove {_nac4_board(moves)} {color} Play{color} {rest:.1f}\r\n"]

    def _endgame(self, moves: Sequence[int], status: str, battle: str) -> str:
        return f"endgame {_nac4_board(moves)} {'RY'[self.side]} {status} {battle}\r\n"


class Arena(Player):
    dialect = "arena"
    asks = True

    def entering(self) -> list[str]:
        return [json.dumps({"type": "start", "id": self.name, "against": None})]

    def move(self, column: int) -> str:
        return json.dumps(self._move(column))

    def started(self) -> list[str]:
        return [self._state([])]

    def moved(self, moves: Sequence[int]) -> list[str]:
        return [self._state(moves, **{"last-move": moves[-1]})]

    def ended(self, moves: Sequence[int], winner: int | None) -> list[str]:
        number = 0 if winner is None else winner + 1
        return [self._state(moves, **{"last-move": moves[-1], "winner": number, "turn": 0}), _END]

    def timed_out(self, moves: Sequence[int], winner: int) -> list[str]:
        return [self._state(moves, winner=winner + 1, turn=0), _END]

    def left(self, moves: Sequence[int]) -> list[str]:
        return [_dumped({"type": "disconnected"})]

    def forfeited(self, moves: Sequence[int]) -> list[str]:
        return self.timed_out(moves, self.side)

    def refused(self, what: str, column: int, moves: Sequence[int]) -> list[str]:
        reason = "Not your turn" if what == "turn" else "Invalid move"
        return [_dumped({"type": "ignored", "msg": self._move(column), "reason": reason})]

    def _move(self, column: int) -> dict[str, object]:
        return {"type": "move", "move": column}

    def _state(self, moves: Sequence[int], **more: int) -> str:
        state = {
            "type": "state",
            "turn": len(moves) % 2 + 1,
            "you": self.side + 1,
            "moves": [*moves],
            "state": [cell for column in _columns(moves) for cell in [*column, *[0] * 6][:6]],
        }
        return _dumped(state | more)


class Droidcon(Player):
    dialect = "droidcon"
    line_end = "\n"
    rounds = 4
    falls = True

    def entering(self) -> list[str]:
        return [f"NAME {self.name}", f"JOIN {self.table or 'lobby'}"]

    def move(self, column: int) -> str:
        return f"PUT {column}"

    def entered(self) -> list[str]:
        return ["SUCCESS", "SUCCESS"]

    def started(self) -> list[str]:
        return ["NEW_GAME", "YOUR_MOVE"] if self.side == 0 else ["NEW_GAME"]

    def moved(self, moves: Sequence[int]) -> list[str]:
        return [] if self.has_made_last(moves) else [f"PUT {moves[-1]}", "YOUR_MOVE"]

    def ended(self, moves: Sequence[int], winner: int | None) -> list[str]:
        last = [] if self.has_made_last(moves) else [f"PUT {moves[-1]}"]
        return [*last, "DRAW"] if winner is None else [*last, *self.timed_out(moves, winner)]

    def timed_out(self, moves: Sequence[int], winner: int) -> list[str]:
        return ["YOU_WON" if winner == self.side else "YOU_LOST"]

    def left(self, moves: Sequence[int]) -> list[str]:
        return ["YOU_WON"]

    def forfeited(self, moves: Sequence[int]) -> list[str]:
        return ["YOU_WON"]

    def refused(self, what: str, column: int, moves: Sequence[int]) -> list[str]:
        error = {"turn": "NOT_YOUR_TURN", "column": "INVALID_COLUMN", "full": "COLUMN_IS_FULL"}[what]
        return [f"Error {error}", "YOU_LOST"]

    def forfeits(self, what: str) -> bool:
        return True


class I32cfsp(Player):
    dialect = "i32cfsp"
    line_end = "\r\n"
    always_opens = True

    def entering(self) -> list[str]:
        return [f"I32CFSP_HELLO {self.name}", "AI_GAME 7 6"]

    def move(self, column: int) -> str:
        return f"DROP {column + 1}"

    def entered(self) -> list[str]:
        return [f"WELCOME {self.name}"]

    def started(self) -> list[str]:
        return ["READY"]

    def moved(self, moves: Sequence[int]) -> list[str]:
        return ["OKAY"] if self.has_made_last(moves) else [self.move(moves[-1]), "READY"]

    def ended(self, moves: Sequence[int], winner: int | None) -> list[str]:
        last = [] if self.has_made_last(moves) else [self.move(moves[-1])]
        return [*last, "closed"] if winner is None else [*last, *self.timed_out(moves, winner)]

    def timed_out(self, moves: Sequence[int], winner: int) -> list[str]:
        return ["WINNER_YELLOW" if winner else "WINNER_RED", "closed"]

    def left(self, moves: Sequence[int]) -> list[str]:
        return ["WINNER_RED", "closed"]

    def forfeited(self, moves: Sequence[int]) -> list[str]:
        return ["WINNER_RED", "closed"]

    def refused(self, what: str, column: int, moves: Sequence[int]) -> list[str]:
        return ["ERROR", "WINNER_YELLOW", "closed"] if what == "turn" else ["INVALID", "READY"]

    def forfeits(self, what: str) -> bool:
        return what == "turn"


class Rpi(Player):
    dialect = "rpi"
    asks = True

    def entering(self) -> list[str]:
        return [f"CONNECT:{self.name}", "READY"]

    def asking(self) -> list[str]:
        return ["READY"]

    def move(self, column: int) -> str:
        return f"PLAY:{column}"

    def entered(self) -> list[str]:
        return ["CONNECT:ACK", "READY:ACK"]

    def asked_again(self) -> list[str]:
        return ["READY:ACK"]

    def started(self) -> list[str]:
        return ["GAME:START:1" if self.side == 0 else "GAME:START:0"]

    def moved(self, moves: Sequence[int]) -> list[str]:
        return [] if self.has_made_last(moves) else [f"OPPONENT:{moves[-1]}"]

    def ended(self, moves: Sequence[int], winner: int | None) -> list[str]:
        return ["GAME:DRAW", "TOURNAMENT:END"] if winner is None else self.timed_out(moves, winner)

    def timed_out(self, moves: Sequence[int], winner: int) -> list[str]:
        return ["GAME:WINS" if winner == self.side else "GAME:LOSS", "TOURNAMENT:END"]

    def left(self, moves: Sequence[int]) -> list[str]:
        return ["GAME:TERMINATED" if len(moves) < 2 else "GAME:WINS", "TOURNAMENT:END"]

    def forfeited(self, moves: Sequence[int]) -> list[str]:
        return ["GAME:WINS", "TOURNAMENT:END"]

    def refused(self, what: str, column: int, moves: Sequence[int]) -> list[str]:
        if self.table is None:
            return ["ERROR:INVALID:MOVE", "GAME:TERMINATED", "closed 1000"]
        return ["ERROR:INVALID:MOVE", "GAME:LOSS", "TOURNAMENT:END"]

    def forfeits(self, what: str) -> bool:
        return True


class Tutorial(Player):
    dialect = "tutorial"
    asks = True

    def entering(self) -> list[str]:
        return [_dumped({"type": "init", "name": self.name})]

    def move(self, column: int) -> str:
        return _dumped({"type": "play", "column": column})

    def entered(self) -> list[str]:
        return [_dumped({"type": "init", "join": self.table, "watch": self.table and _A_KEY})]

    def asked_again(self) -> list[str]:
        return self.entered()

    def started(self) -> list[str]:
        told = {"type": "init", "join": self.table, "watch": _A_KEY, "player": _COLORS[self.side]}
        return [_dumped(told)]

    def moved(self, moves: Sequence[int]) -> list[str]:
        row = moves.count(moves[-1]) - 1
        color = _COLORS[(len(moves) - 1) % 2]
        return [_dumped({"type": "play", "player": color, "column": moves[-1], "row": row})]

    def ended(self, moves: Sequence[int], winner: int | None) -> list[str]:
        return self.moved(moves) + ([] if winner is None else self.timed_out(moves, winner))

    def timed_out(self, moves: Sequence[int], winner: int) -> list[str]:
        return [_dumped({"type": "win", "player": _COLORS[winner]})]

    def left(self, moves: Sequence[int]) -> list[str]:
        return self.timed_out(moves, self.side)

    def forfeited(self, moves: Sequence[int]) -> list[str]:
        return self.timed_out(moves, self.side)

    def refused(self, what: str, column: int, moves: Sequence[int]) -> list[str]:
        message = {
            "turn": "It isn't your turn.",
            "column": "Column has to be an integer from 0 to 6.",
            "full": "This slot is full.",
        }[what]
        return [_dumped({"type": "error", "message": message})]


PLAYERS: dict[str, type[Player]] = {
    each.dialect: each for each in (Nac4, Arena, Droidcon, I32cfsp, Rpi, Tutorial)
}
PAIRS = [each for each in product(PLAYERS, PLAYERS) if not PLAYERS[each[1]].always_opens]
"""The ordered pairs of dialects of which the first can move first."""


class Failing:
    """A session that makes a mistake with its next move."""

    def __init__(self, session: object) -> None:
        self._session = session

    def __getattr__(self, name: str) -> object:
        if name == "play":
            raise ZeroDivisionError
        return getattr(self._session, name)


class Gateway:
    """A gateway without sockets."""

    def __init__(self, nursery: trio.Nursery) -> None:
        self.finished: list[Finished] = []
        terms = Terms(clock=CLOCK, idle=IDLE)
        matchmaker, results = LobbyAndTables(random.Random(0)), Heard(self.finished.append)
        self.hub = Hub(terms, matchmaker, results, self._on_fault)
        self.faults: list[list[str]] = []
        """Who was hung up on for a mistake, by name."""
        self._is_spoilt = False
        self._nursery = nursery
        http = HttpPort("no page\n")
        self._receive = {
            each.name: receiving(each, each.front_end(self.hub, each.options(), None), http)
            for each in DIALECTS
        }
        nursery.start_soon(keep_time, self.hub)

    async def connect(self, dialect: str, name: str, table: str | None = None) -> Player:
        """Return a player who is connected, but has not entered."""
        stream = MemoryClient()
        self._nursery.start_soon(serve, stream, dialect, self._receive[dialect])
        player = PLAYERS[dialect](name, table, stream)
        await player.connect(self._nursery)
        return player

    async def meet(self, dialects: Sequence[str]) -> tuple[Player, Player]:
        """Return two players in a game, of whom the first moves first.

        At a table who sits down first moves first. They meet in the lobby if one knows no tables: it opens.
        """
        table = None if any(PLAYERS[each].always_opens for each in dialects) else "table"
        one, two = await self._sit(dialects[0], "ann", table), await self._sit(dialects[1], "bob", table)
        return one, two

    async def _sit(self, dialect: str, name: str, table: str | None) -> Player:
        """Return a player who has entered and heard what one hears at that."""
        player = await self.connect(dialect, name, table)
        await player.enter()
        welcome, heard = player.entered(), await player.told()
        assert heard[: len(welcome)] == welcome
        player.unread = heard[len(welcome) :]
        return player

    def spoil(self, name: str) -> None:
        """Let a mistake be made in the game of the player of that name, with its next move."""
        (seat,) = (seat for seat in self.hub.seats() if seat.name == name)
        assert isinstance(seat.situation, Seated)
        series = seat.situation.series
        series.session = Failing(series.session)  # type: ignore[assignment]
        self._is_spoilt = True

    def _on_fault(self, names: Sequence[str | None]) -> None:
        if not self._is_spoilt:
            raise  # noqa: PLE0704  the hub handles one
        self.faults.append(sorted(map(str, names)))


@asynccontextmanager
async def gateway() -> AsyncIterator[Gateway]:
    async with trio.open_nursery() as nursery:
        yield Gateway(nursery)
        nursery.cancel_scope.cancel()


def _in_one_spelling(text: str) -> str:
    """Return a message with its keys in order, and any key for spectators as the same one."""
    if not text.startswith("{"):
        return text
    message = json.loads(text)
    return _dumped(message | {"watch": _A_KEY} if message.get("watch") else message)


def _dumped(value: object) -> str:
    return json.dumps(value, sort_keys=True)


_END = _dumped({"type": "end"})
_A_KEY = "a key"
_COLORS = ("red", "yellow")


def _columns(moves: Sequence[int]) -> list[list[int]]:
    columns: list[list[int]] = [[] for _ in range(7)]
    for number, column in enumerate(moves):
        columns[column].append(number % 2 + 1)
    return columns


def _nac4_board(moves: Sequence[int]) -> str:
    columns = _columns(moves)
    return "".join(
        ".RY"[columns[column][row]] if row < len(columns[column]) else "."
        for row in range(6)
        for column in range(7)
    )

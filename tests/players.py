"""Players of all dialects on memory streams, and what each is to be told.

The wording is written out here once more, by hand from the protocols and naively, so that the tests do
not agree with the translators' mistakes.
"""

import json
import random
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial

import trio
import trio.testing
import trio_websocket
from worlds.hub import Heard
from worlds.memory_client import MemoryClient, serve

import adapters.arena.server
import adapters.droidcon.server
import adapters.nac4.server
from adapters.entrance.handshake import HttpPort
from adapters.entrance.one_port import Receive, receive_lines, receive_request
from gateway.game.clock import Terms
from gateway.game.results import Finished
from gateway.hub.hub import Hub
from gateway.hub.seats import Seated
from gateway.matchmaking.standard import LobbyAndTables
from gateway.server.app import keep_time

CLOCK = 42.0
IDLE = 30.0
DIALECTS = ("nac4", "arena", "droidcon")


class Player:
    """Someone at the table, whatever the dialect. Subclasses speak it."""

    dialect: str

    def __init__(self, name: str, table: str | None, stream: MemoryClient) -> None:
        self.name = name
        self.table = table
        self.stream = stream
        self.unread: list[str] = []
        """What the player was told since the last call of `told`."""

    async def told(self) -> list[str]:
        """Return what the player was told since the last call, once nothing more comes by itself."""
        await trio.testing.wait_all_tasks_blocked()
        told, self.unread = self.unread, []
        return told

    def reset(self) -> None:
        """Vanish without a word."""
        self.stream.reset()

    async def enter(self) -> None:
        """Sit down."""
        raise NotImplementedError

    async def play(self, column: int) -> None:
        """Drop a disc."""
        raise NotImplementedError

    async def leave(self) -> None:
        """Leave as one does in this dialect."""
        raise NotImplementedError


class DroidconPlayer(Player):
    """A player on a line stream."""

    dialect = "droidcon"

    async def listen(self) -> None:
        data = b""
        async for chunk in self.stream:
            *lines, data = (data + chunk).split(b"\n")
            self.unread += [line.decode() for line in lines]
        self.unread.append("closed")
        await self.stream.aclose()

    async def enter(self) -> None:
        await self._say(f"NAME {self.name}\nJOIN {self.table or 'lobby'}\n")

    async def play(self, column: int) -> None:
        await self._say(f"PUT {column}\n")

    async def leave(self) -> None:
        await self.stream.send_eof()

    async def _say(self, text: str) -> None:
        await self.stream.send_all(text.encode())


class WebsocketPlayer(Player):
    """A player on a websocket."""

    def __init__(
        self,
        name: str,
        table: str | None,
        stream: MemoryClient,
        websocket: trio_websocket.WebSocketConnection,
    ) -> None:
        super().__init__(name, table, stream)
        self._websocket = websocket

    async def listen(self) -> None:
        try:
            while True:
                text = await self._websocket.get_message()
                self.unread.append(str(text))
        except trio_websocket.ConnectionClosed as closed:
            self.unread.append(f"closed {closed.reason.code}" if closed.reason else "closed")

    async def leave(self) -> None:
        await self._websocket.aclose()


class Nac4Player(WebsocketPlayer):
    dialect = "nac4"

    async def enter(self) -> None:
        await self._websocket.send_message(f"connect {self.name}\r\n")

    async def play(self, column: int) -> None:
        await self._websocket.send_message(f"playmove {column}\r\n")


class ArenaPlayer(WebsocketPlayer):
    dialect = "arena"

    async def enter(self) -> None:
        await self._websocket.send_message(json.dumps({"type": "start", "id": self.name, "against": None}))

    async def play(self, column: int) -> None:
        await self._websocket.send_message(json.dumps({"type": "move", "move": column}))


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
        self._receive: dict[str, Receive] = {
            "nac4": partial(receive_request, adapters.nac4.server.serving(self.hub), http),
            "arena": partial(receive_request, adapters.arena.server.serving(self.hub), http),
            "droidcon": partial(receive_lines, adapters.droidcon.server.serving(self.hub, rounds=4)),
        }
        nursery.start_soon(keep_time, self.hub)

    async def connect(self, dialect: str, name: str, table: str | None = None) -> Player:
        """Return a player who is connected, but has not entered."""
        stream = MemoryClient()
        self._nursery.start_soon(serve, stream, dialect, self._receive[dialect])
        player: DroidconPlayer | WebsocketPlayer
        if dialect == "droidcon":
            player = DroidconPlayer(name, table, stream)
        else:
            target = "/" if table is None else f"/?table={table}"
            websocket = await trio_websocket.wrap_client_stream(self._nursery, stream, "gateway", target)
            kind = Nac4Player if dialect == "nac4" else ArenaPlayer
            player = kind(name, table, stream, websocket)
        self._nursery.start_soon(player.listen)
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

    async def sit(self, dialect: str, name: str, table: str = "table") -> Player:
        """Return a player who has sat down at a table and heard what one hears at that."""
        player = await self.connect(dialect, name, table)
        await player.enter()
        welcome = entered(player)
        heard = await player.told()
        assert heard[: len(welcome)] == welcome
        player.unread = heard[len(welcome) :]
        return player


@asynccontextmanager
async def gateway() -> AsyncIterator[Gateway]:
    async with trio.open_nursery() as nursery:
        yield Gateway(nursery)
        nursery.cancel_scope.cancel()


def entered(player: Player) -> list[str]:
    """Return what a player is told when it enters."""
    match player.dialect:
        case "nac4":
            return [f"connected hello {player.name}\r\n"]
        case "arena":
            return []
        case _:
            return ["SUCCESS", "SUCCESS"]


@dataclass
class Told:
    """What one player is told of one game."""

    dialect: str
    side: int
    names: tuple[str, str]

    def started(self) -> list[str]:
        """Return what the player is told of the start."""
        match self.dialect:
            case "nac4":
                start = f"newgame {self.names[0]} {self.names[1]}\r\n"
                return [start, *self.asked([])] if self.side == 0 else [start]
            case "arena":
                return [self._state([])]
            case _:
                return ["NEW_GAME", "YOUR_MOVE"] if self.side == 0 else ["NEW_GAME"]

    def asked(self, moves: Sequence[int], rest: float = CLOCK) -> list[str]:
        """Return how a nac4 player is asked for its move."""
        color = "RY"[self.side]
        return [f"genmove {_nac4_board(moves)} {color} Play{color} {rest:.1f}\r\n"]

    def moved(self, moves: Sequence[int]) -> list[str]:
        """Return what the player is told of the latest of `moves`, which did not end the game."""
        by_me = (len(moves) - 1) % 2 == self.side
        match self.dialect:
            case "nac4":
                return [] if by_me else self.asked(moves)
            case "arena":
                return [self._state(moves, last=True)]
            case _:
                return [] if by_me else [f"PUT {moves[-1]}", "YOUR_MOVE"]

    def won_or_drawn(self, moves: Sequence[int], winner: int | None) -> list[str]:
        """Return what the player is told of the latest of `moves`, which ended the game."""
        by_me = (len(moves) - 1) % 2 == self.side
        match self.dialect:
            case "nac4":
                return [self._endgame(moves, winner, "Ok")]
            case "arena":
                return [self._state(moves, last=True, winner=winner, over=True), _END]
            case _:
                return [*([] if by_me else [f"PUT {moves[-1]}"]), self._result(winner)]

    def timed_out(self, moves: Sequence[int], winner: int) -> list[str]:
        """Return what the player is told when time is up."""
        match self.dialect:
            case "nac4":
                return [self._endgame(moves, winner, "Timeout")]
            case "arena":
                return [self._state(moves, winner=winner, over=True), _END]
            case _:
                return [self._result(winner)]

    def left(self, moves: Sequence[int]) -> list[str]:
        """Return what the player is told when the other one has left; if one has not moved, nobody won."""
        is_aborted = len(moves) < 2
        match self.dialect:
            case "nac4" if is_aborted:
                status = ("PlayR", "PlayY")[len(moves)]
                return [f"endgame {_nac4_board(moves)} {'RY'[self.side]} {status} Disconnected\r\n"]
            case "nac4":
                return [self._endgame(moves, self.side, "Disconnected")]
            case "arena":
                return [dumped({"type": "disconnected"})]
            case _:
                return ["YOU_WON"]

    def forfeited(self, moves: Sequence[int]) -> list[str]:
        """Return what the player is told when the other one has forfeited."""
        match self.dialect:
            case "nac4":
                return [self._endgame(moves, self.side, "Disconnected")]
            case "arena":
                return [self._state(moves, winner=self.side, over=True), _END]
            case _:
                return ["YOU_WON"]

    def _endgame(self, moves: Sequence[int], winner: int | None, battle: str) -> str:
        status = "Tie" if winner is None else f"Win{'RY'[winner]}"
        return f"endgame {_nac4_board(moves)} {'RY'[self.side]} {status} {battle}\r\n"

    def _result(self, winner: int | None) -> str:
        if winner is None:
            return "DRAW"
        return "YOU_WON" if winner == self.side else "YOU_LOST"

    def _state(
        self, moves: Sequence[int], *, last: bool = False, winner: int | None = None, over: bool = False
    ) -> str:
        columns = _columns(moves)
        state: dict[str, object] = {
            "type": "state",
            "turn": 0 if over else len(moves) % 2 + 1,
            "you": self.side + 1,
            "moves": [*moves],
            "state": [cell for column in columns for cell in [*column, *[0] * 6][:6]],
        }
        if last:
            state["last-move"] = moves[-1]
        if over:
            state["winner"] = 0 if winner is None else winner + 1
        return dumped(state)


def same(heard: Sequence[str]) -> list[str]:
    """Return what was heard with JSON in one spelling."""
    return [dumped(json.loads(text)) if text.startswith("{") else text for text in heard]


def dumped(value: object) -> str:
    return json.dumps(value, sort_keys=True)


_END = dumped({"type": "end"})


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

"""Transcripts that an original was recorded for hold at servers with another clock, and with sides by lot."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import pytest
import trio
import trio_websocket
from runner_fakes import websocket_server

from conformance.boards import arena_cells, arena_moves, nac4_board
from conformance.cli import Places
from conformance.outcome import Failed, Passed
from conformance.play import Setting, play
from conformance.steps import Transcript
from conformance.targets import Address
from conformance.transcript import parse
from gateway.game.board import Board

pytestmark = pytest.mark.trio

Client = trio_websocket.WebSocketConnection


def recorded(identity: str) -> Transcript:
    path = Places().transcripts / f"{identity}.txt"
    transcript = parse(path.read_text(encoding="utf-8"), identity, path)
    assert transcript.source == "recorded"
    return transcript


class Referee:
    """Two clients, and one game after the other between them. `swapped` says who opens each game."""

    def __init__(self, swapped: list[bool]) -> None:
        self.swapped = swapped
        self.ready: list[Client] = []
        self.players: list[Client] = []
        self.board = Board()

    @property
    def columns(self) -> str:
        return "".join(map(str, self.board.moves))

    @property
    def over(self) -> bool:
        return self.board.winner is not None

    def begins(self, client: Client) -> bool:
        """Note that a client is ready; return whether a game begins with it."""
        self.ready.append(client)
        if len(self.ready) < 2:
            return False
        self.players = self.ready[::-1] if self.swapped.pop(0) else self.ready
        self.ready, self.board = [], Board()
        return True


class Arena(Referee):
    """As much of an arena server as the transcripts below need."""

    async def hear(self, client: Client, text: str) -> None:
        message = json.loads(text)
        playing = client in self.players and not self.over
        if message["type"] == "start":
            if self.begins(client):
                await self.tell({})
        elif playing and message["type"] == "move":
            self.board = self.board.drop(message["move"])
            await self.tell({"last-move": message["move"]})
        else:
            reason = "Only start messages allowed in current state"
            await client.send_message(json.dumps({"msg": message, "type": "ignored", "reason": reason}))

    async def tell(self, more: dict[str, object]) -> None:
        state = {"type": "state", "turn": 1 + len(self.board.moves) % 2, **more}
        state |= {
            "moves": json.loads(arena_moves(self.columns)),
            "state": json.loads(arena_cells(self.columns)),
        }
        if self.board.winner is not None:
            state |= {"turn": 0, "winner": self.board.winner + 1}
        for you, client in enumerate(self.players, 1):
            await client.send_message(json.dumps({**state, "you": you}))
            if self.over:
                await client.send_message('{"type": "end"}')


class Nac4(Referee):
    """As much of a nac4 server as the transcripts below need. Nobody's time runs there."""

    def __init__(self, clock: float) -> None:
        super().__init__([False, True, False])
        self.clock = clock
        self.names: dict[Client, str] = {}

    async def hear(self, client: Client, text: str) -> None:
        word, argument = text.split()
        if word == "connect":
            self.names[client] = argument
            await client.send_message(f"connected hello {argument}\r\n")
            if self.begins(client):
                await self.open()
        elif word == "playmove":
            self.board = self.board.drop(int(argument))
            await (self.close() if self.over else self.ask())

    async def open(self) -> None:
        for client in self.players:
            await client.send_message(
                f"newgame {' '.join(self.names[player] for player in self.players)}\r\n"
            )
        await self.ask()

    async def ask(self) -> None:
        turn = len(self.board.moves) % 2
        board, color = nac4_board(self.columns), "RY"[turn]
        await self.players[turn].send_message(f"genmove {board} {color} Play{color} {self.clock:.1f}\r\n")

    async def close(self) -> None:
        assert self.board.winner is not None
        winner = "RY"[self.board.winner]
        for color, client in zip("RY", self.players, strict=True):
            board = nac4_board(self.columns)
            await client.send_message(f"endgame {board} {color} Win{winner} Ok\r\n")
        for client in sorted(self.players, key=self.names.__getitem__):
            if self.begins(client):
                await self.open()


@asynccontextmanager
async def serving(server: Arena | Nac4) -> AsyncIterator[Address]:
    async def handler(client: Client) -> None:
        with suppress(trio_websocket.ConnectionClosed):
            while True:
                await server.hear(client, await client.get_message())

    async with websocket_server(handler) as address:
        yield address


@pytest.mark.parametrize("swapped", [[False, False], [False, True], [True, False], [True, True]])
@pytest.mark.parametrize("identity", ["arena/win_diagonal", "arena/win_row"])
async def test_transcript_holds_whichever_sides_the_server_gives(identity: str, swapped: list[bool]) -> None:
    async with serving(Arena(list(swapped))) as address:
        setting = Setting({"arena": address}, 5.0)
        assert await play(recorded(identity), setting, "x1") == Passed()


@pytest.mark.parametrize("clock", [10.0, 42.0, 300.0])
@pytest.mark.parametrize("identity", ["nac4/win", "nac4/win_yellow"])
async def test_transcript_holds_whatever_the_clock_of_the_server(identity: str, clock: float) -> None:
    async with serving(Nac4(clock)) as address:
        setting = Setting({"nac4": address}, 5.0, clock)
        assert await play(recorded(identity), setting, "x1") == Passed()


async def test_another_clock_than_was_said_is_a_failure() -> None:
    async with serving(Nac4(10.0)) as address:
        outcome = await play(recorded("nac4/win"), Setting({"nac4": address}, 5.0), "x1")
    assert isinstance(outcome, Failed)
    assert outcome.expected.endswith("R PlayR 42.0")
    assert outcome.got.endswith("R PlayR 10.0")


async def test_member_says_nothing_for_a_while_behind_its_handshake() -> None:
    """The original of arena loses what comes too early."""
    times = []

    async def handler(client: Client) -> None:
        times.append(trio.current_time())
        await client.get_message()
        times.append(trio.current_time())
        await client.aclose()

    async with websocket_server(handler) as address:
        await play(recorded("arena/copy"), Setting({"arena": address}, 5.0, delay=0.1), "x1")
    assert times[1] - times[0] > 0.05

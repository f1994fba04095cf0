"""The clients of the three dialects, over real sockets, against a running gateway and each other."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TypeAlias

import pytest
import trio
from worlds.server import EVERY_PORT, PATIENCE, Served, served

import adapters.arena.client
import adapters.droidcon.client
import adapters.nac4.client
from adapters.arena.messages import (
    Encoding,
    End,
    Ignored,
    Move,
    Said,
    Start,
    State,
    StateRequest,
)
from adapters.client.contract import PeerGone
from adapters.droidcon.messages import Error, Join, Name, Put, Word
from adapters.nac4.messages import Connect, Connected, EndGame, GenMove, NewGame, PlayMove

SAID = Said({})
FIRST, SECOND = "ann", "bob"
Playing: TypeAlias = Callable[[int], Awaitable[str]]
"""Plays the column given whenever it is its turn; returns how the game ended, for this player."""


@pytest.fixture(scope="module")
def gateway():
    with served(*EVERY_PORT, "--rounds", "1") as running:
        yield running


@asynccontextmanager
async def nac4(gateway: Served, table: str, name: str) -> AsyncIterator[Playing]:
    async with adapters.nac4.client.open_client(gateway.url("nac4", f"/?table={table}")) as client:
        await client.send(Connect(name))
        assert await client.receive() == Connected(f"hello {name}")

        async def play(column: int) -> str:
            assert isinstance(await client.receive(), NewGame)
            while isinstance(message := await client.receive(), GenMove):
                await client.send(PlayMove(column))
            assert isinstance(message, EndGame)
            return "won" if message.status == f"Win{message.color}" else "lost"

        yield play


@asynccontextmanager
async def arena(gateway: Served, table: str, name: str, encoding: Encoding) -> AsyncIterator[Playing]:
    async with adapters.arena.client.open_client(
        gateway.url("arena", f"/?table={table}"), encoding
    ) as client:
        await client.send(Start(SAID, name))
        if name == FIRST:  # who sits down first is told nothing, so it asks whether it has its seat
            await client.send(StateRequest(SAID))
            assert isinstance(await client.receive(), Ignored)

        async def play(column: int) -> str:
            while isinstance(message := await client.receive(), State) and message.winner is None:
                if message.turn == message.you:
                    await client.send(Move(SAID, column))
            assert isinstance(message, State)
            assert await client.receive() == End()
            return "won" if message.winner == message.you else "lost"

        yield play


@asynccontextmanager
async def droidcon(gateway: Served, table: str, name: str) -> AsyncIterator[Playing]:
    async with adapters.droidcon.client.open_client("127.0.0.1", gateway.port("droidcon")) as client:
        await client.send(Name(name), Join(table))
        assert [await client.receive() for _ in range(2)] == [Word.SUCCESS, Word.SUCCESS]

        async def play(column: int) -> str:
            assert await client.receive() == Word.NEW_GAME
            while (message := await client.receive()) not in (Word.YOU_WON, Word.YOU_LOST):
                if message is Word.YOUR_MOVE:
                    await client.send(Put(column))
            with pytest.raises(PeerGone):
                await client.receive()
            return "won" if message is Word.YOU_WON else "lost"

        yield play


def seated(dialect: str, gateway: Served, table: str, name: str) -> AbstractAsyncContextManager[Playing]:
    match dialect:
        case "nac4":
            return nac4(gateway, table, name)
        case "droidcon":
            return droidcon(gateway, table, name)
    return arena(gateway, table, name, Encoding[dialect])


@pytest.mark.parametrize("second", ["nac4", "JSON", "EDN", "droidcon"])
@pytest.mark.parametrize("first", ["nac4", "JSON", "EDN", "droidcon"])
async def test_client_of_any_dialect_can_beat_one_of_any_other(gateway, first, second):
    table = f"{first}-{second}"
    endings = {}

    async def note(seat: str, ending: Awaitable[str]) -> None:
        endings[seat] = await ending

    with trio.fail_after(PATIENCE):
        async with (
            seated(first, gateway, table, FIRST) as one,
            seated(second, gateway, table, SECOND) as two,
            trio.open_nursery() as games,
        ):
            games.start_soon(note, "first", one(3))
            games.start_soon(note, "second", two(4))
    assert endings == {"first": "won", "second": "lost"}


async def test_answer_to_nonsense_is_a_message_like_any_other(gateway):
    with trio.fail_after(PATIENCE):
        async with adapters.droidcon.client.open_client("127.0.0.1", gateway.port("droidcon")) as client:
            await client.send(Put(1))
            assert await client.receive() is Error.NOT_JOINED_TO_CHANNEL


async def test_client_says_so_where_no_server_is():
    with trio.socket.socket() as closed:
        await closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
    with pytest.raises(OSError, match="connect"):
        async with adapters.nac4.client.open_client(f"ws://127.0.0.1:{port}"):
            pass

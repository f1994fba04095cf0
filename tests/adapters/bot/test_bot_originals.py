"""The bot against servers that do what the originals do, and PROTOCOL.md does not promise otherwise."""

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial

import pytest
import trio
from wires import wired

import adapters.client.talk
from adapters.bot.bot import Bot, Server
from adapters.bot.play import HINT, Ending, Kind
from adapters.bot.screen import Screen, Totals
from adapters.client.contract import Farewell
from adapters.client.dial import Address
from adapters.client.talk import Asked, Entry
from adapters.client.transports import received
from adapters.client.upgrade import Endpoint, serve_websocket
from adapters.client.websocket import WebSocketTransport
from adapters.dialects import DIALECTS

UNHEARD = {"type": "ignored", "reason": "Only start messages allowed in current state"}


class FirstColumn:
    """A player that needs no time."""

    async def choose(self, asked: Asked) -> int:
        return 0


@asynccontextmanager
async def serving(serve: Callable[[trio.SocketStream], Awaitable[None]]) -> AsyncIterator[int]:
    """Give the port of a server that serves each connection with `serve`."""

    async def handle(stream: trio.SocketStream) -> None:
        async with stream:
            await serve(stream)

    async with trio.open_nursery() as nursery:
        (listener,) = await nursery.start(partial(trio.serve_tcp, handle, 0, host="127.0.0.1"))
        with trio.fail_after(20):
            yield listener.socket.getsockname()[1]
        nursery.cancel_scope.cancel()


def dialled(dialect: str, port: int, name: str = "ann", table: str | None = None) -> Callable[..., object]:
    """Return what connects to a server as a player."""
    (found,) = [each for each in DIALECTS if each.name == dialect]
    return partial(found.open_dialogue, Entry(Address("127.0.0.1", port), name, table=table))


async def played(dial: Callable[..., object], games: int = 1) -> tuple[Ending, str]:
    """Return how the bot ended, and its summary."""
    totals = Totals(games)
    server = Server("here", dial, "ann")  # type: ignore[arg-type]
    ending = await Bot(server, FirstColumn(), totals, Screen(shows_games=False)).run(reconnect=False)
    return ending, totals.summary()


# Droidcon.


class Lines:
    """The server's end of a Droidcon connection."""

    def __init__(self, stream: trio.SocketStream) -> None:
        self._stream = stream
        self._rest = b""

    async def hears(self, *lines: str) -> None:
        for line in lines:
            while b"\n" not in self._rest:
                data = await self._stream.receive_some()
                assert data, f"no {line}"
                self._rest += data
            first, self._rest = self._rest.split(b"\n", 1)
            assert first.decode() == line

    async def says(self, *lines: str) -> None:
        await self._stream.send_all("".join(f"{line}\n" for line in lines).encode())


JOINED = ("NAME ann", "JOIN x")


async def test_droidcon_series_that_errors_and_illegal_moves_end_is_followed_by_another() -> None:
    connections = 0

    async def original(stream: trio.SocketStream) -> None:
        nonlocal connections
        connections += 1
        lines = Lines(stream)
        await lines.hears(*JOINED)
        await lines.says("SUCCESS", "SUCCESS", "NEW_GAME", "YOUR_MOVE")
        await lines.hears("PUT 0")
        if connections == 1:
            await lines.says("PUT 9", "YOU_WON")
        elif connections == 2:
            await lines.says("Error WRONG_COLUMN_FORMAT 0", "YOU_LOST")
        else:
            await lines.says("NEW_GAME", "PUT 3", "YOUR_MOVE")  # the opponent left, another one came
            await lines.hears("PUT 0")
            await lines.says("PUT 3", "YOUR_MOVE")
            await lines.hears("PUT 0")
            await lines.says("DRAW")

    async with serving(original) as port:
        ending, summary = await played(dialled("droidcon", port, table="x"), 3)
    assert ending == Ending(Kind.PLAYED)
    assert summary.splitlines()[:4] == [
        "3 games: 1 won, 1 lost, 1 drawn",
        "moving first, 2 games: 1 won, 1 lost, 0 drawn",
        "moving second, 1 game: 0 won, 0 lost, 1 drawn",
        "cut off before their end: 1",
    ]


async def test_server_that_hangs_up_in_mid_game_is_lost() -> None:
    async def stopping(stream: trio.SocketStream) -> None:
        lines = Lines(stream)
        await lines.hears(*JOINED)
        await lines.says("SUCCESS", "SUCCESS", "NEW_GAME")

    async with serving(stopping) as port:
        ending, summary = await played(dialled("droidcon", port, table="x"))
    assert ending == Ending(Kind.LOST, "the server hung up")
    assert "cut off before their end: 1" in summary


async def test_server_that_floods_is_of_another_dialect() -> None:
    async def flooding(stream: trio.SocketStream) -> None:
        await stream.send_all(b"x" * 10_000)
        await stream.receive_some()

    async with serving(flooding) as port:
        ending, _ = await played(dialled("droidcon", port, table="x"))
    assert ending.kind is Kind.REFUSED


async def test_server_that_says_nothing_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(adapters.client.talk, "DOUBT", 0.01)
    monkeypatch.setattr(adapters.client.talk, "PATIENCE", 0.01)

    async def brooding(stream: trio.SocketStream) -> None:
        while await stream.receive_some():
            pass

    async with serving(brooding) as port:
        ending, _ = await played(dialled("droidcon", port, table="x"))
    assert ending == Ending(Kind.LOST, f"the server gives no answer. {HINT}")


# nac4.


async def at_an_endpoint(stream: trio.abc.Stream, endpoint: Endpoint) -> None:
    await serve_websocket(wired(stream), endpoint)


async def send(transport: WebSocketTransport, texts: list[str]) -> None:
    if not transport.write(texts):
        await transport.drain()


EMPTY = "." * 42


async def test_nac4_server_that_is_silent_about_who_left_goes_on_with_the_next_game() -> None:
    async def original(transport: WebSocketTransport, _: str) -> None:
        assert await received(transport) == ["connect ann\r\n"]
        await send(transport, ["connected hello ann\r\n", "newgame ann bob\r\n"])
        await send(transport, [f"genmove {EMPTY} R PlayR 10.0\r\n"])
        assert await received(transport) == ["playmove 0\r\n"]
        await send(transport, ["newgame carl ann\r\n", f"genmove R{EMPTY[1:]} Y PlayY 10.0\r\n"])
        assert await received(transport) == ["playmove 0\r\n"]
        await send(transport, [f"endgame R{EMPTY[1:]} Y WinY Ok\r\n"])
        await received(transport)

    async with serving(partial(at_an_endpoint, endpoint=Endpoint(original, "no page\n"))) as port:
        ending, summary = await played(dialled("nac4", port))
    assert ending == Ending(Kind.PLAYED)
    assert "moving second, 1 game: 1 won" in summary
    assert "cut off before their end: 1" in summary


@pytest.mark.parametrize(
    "last", [b"", b"HTTP/1.1 500 Internal Server Error\r\n\r\n0014\r\nSomething went wrong"]
)
async def test_nac4_server_that_hangs_up_on_a_bad_name_gives_no_answer(last: bytes) -> None:
    async def original(transport: WebSocketTransport, _: str) -> None:
        await received(transport)
        if last:
            await transport._wire.send_all(last)
        await trio.aclose_forcefully(transport._wire)

    async with serving(partial(at_an_endpoint, endpoint=Endpoint(original, "no page\n"))) as port:
        ending, _ = await played(dialled("nac4", port, name="?"))
    assert ending == Ending(Kind.LOST, f"the server gives no answer. {HINT}")


# Arena.


def state(you: int, *moves: int, **more: int) -> str:
    turn = 0 if "winner" in more else 1 + len(moves) % 2
    return json.dumps({"type": "state", "turn": turn, "moves": moves, "state": [0] * 42, "you": you, **more})


async def test_arena_bot_outlives_a_lost_start_and_a_spoilt_connection(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(adapters.client.talk, "DOUBT", 0.01)
    heard: list[list[str]] = []

    async def original(transport: WebSocketTransport, _: str) -> None:
        mine: list[str] = []
        heard.append(mine)

        async def hears() -> None:
            (text,) = await received(transport)
            mine.append(json.loads(text)["type"])

        await hears()  # and loses it
        if len(heard) == 1:
            await hears()
            monkeypatch.setattr(adapters.client.talk, "DOUBT", 60.0)  # no answer from here on is lost
            await send(transport, [json.dumps(UNHEARD)])
            await hears()
        await send(transport, [state(1)])
        await hears()
        await send(transport, [state(1, 0, **{"last-move": 0})])
        if len(heard) == 1:
            await send(transport, [state(1, 0), '{"type":"disconnected"}', '{"type":"end"}'])
        else:
            await send(transport, [state(1, 0, 1, **{"last-move": 1, "winner": 2}), '{"type":"end"}'])
        await received(transport)
        await transport.close(Farewell())

    async with serving(partial(at_an_endpoint, endpoint=Endpoint(original, "no page\n"))) as port:
        ending, summary = await played(dialled("arena", port), 2)
    assert ending == Ending(Kind.PLAYED)
    assert heard == [["start", "state_request", "start", "move"], ["start", "move"]]
    assert summary.startswith("2 games: 0 won, 1 lost, 0 drawn, 1 left by the opponent")

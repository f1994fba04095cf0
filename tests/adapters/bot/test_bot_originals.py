"""The bot against servers that do what the originals do, and PROTOCOL.md does not promise otherwise."""

import json
from collections.abc import Callable
from functools import partial

import pytest
import trio
import trio.testing
from foreign_servers import serving, serving_websockets
from trio_websocket import ConnectionClosed, WebSocketConnection, wrap_server_stream

from adapters.bot.bot import Bot, Server
from adapters.bot.play import Ending, Kind, hint
from adapters.bot.screen import Screen, Totals
from adapters.client.dial import Endpoint
from adapters.client.talk import Asked, Entry
from adapters.dialects import DIALECTS

UNHEARD = {"type": "ignored", "reason": "Only start messages allowed in current state"}


class FirstColumn:
    """A player that needs no time."""

    async def choose(self, asked: Asked) -> int:
        return 0


@pytest.fixture
def patient_clock() -> trio.testing.MockClock:
    """Time that jumps to what is waited for, but not while the system brings bytes from end to end."""
    return trio.testing.MockClock(autojump_threshold=0.2)


def dialled(dialect: str, port: int, name: str = "ann", table: str | None = None) -> Callable[..., object]:
    """Return what connects to a server as a player."""
    (found,) = [each for each in DIALECTS if each.name == dialect]
    return partial(found.open_dialogue, Entry(Endpoint("127.0.0.1", port), name, table=table))


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


async def test_server_that_floods_is_of_another_dialect() -> None:
    async def flooding(stream: trio.SocketStream) -> None:
        await stream.send_all(b"x" * 10_000)
        await stream.receive_some()

    async with serving(flooding) as port:
        ending, _ = await played(dialled("droidcon", port, table="x"))
    assert ending.kind is Kind.REFUSED


async def test_server_that_says_nothing_is_given_up(patient_clock: trio.testing.MockClock) -> None:
    async def brooding(stream: trio.SocketStream) -> None:
        while await stream.receive_some():
            pass

    async with serving(brooding) as port:
        ending, _ = await played(dialled("droidcon", port, table="x"))
    assert ending == Ending(Kind.LOST, f"the server gives no answer. {hint()}")


# nac4.


EMPTY = "." * 42


async def test_nac4_server_that_is_silent_about_who_left_goes_on_with_the_next_game() -> None:
    async def original(websocket: WebSocketConnection, _: str) -> None:
        assert await websocket.get_message() == "connect ann\r\n"
        await websocket.send_message("connected hello ann\r\n")
        await websocket.send_message("newgame ann bob\r\n")
        await websocket.send_message(f"genmove {EMPTY} R PlayR 10.0\r\n")
        assert await websocket.get_message() == "playmove 0\r\n"
        await websocket.send_message("newgame carl ann\r\n")
        await websocket.send_message(f"genmove R{EMPTY[1:]} Y PlayY 10.0\r\n")
        assert await websocket.get_message() == "playmove 0\r\n"
        await websocket.send_message(f"endgame R{EMPTY[1:]} Y WinY Ok\r\n")
        await websocket.get_message()

    async with serving_websockets(original) as port:
        ending, summary = await played(dialled("nac4", port))
    assert ending == Ending(Kind.PLAYED)
    assert "moving second, 1 game: 1 won" in summary
    assert "cut off before their end: 1" in summary


@pytest.mark.parametrize(
    "last", [b"", b"HTTP/1.1 500 Internal Server Error\r\n\r\n0014\r\nSomething went wrong"]
)
async def test_nac4_server_that_hangs_up_on_a_bad_name_gives_no_answer(last: bytes) -> None:
    async def original(stream: trio.SocketStream) -> None:
        async with trio.open_nursery() as nursery:
            websocket = await (await wrap_server_stream(nursery, stream)).accept()
            await websocket.get_message()
            if last:
                await stream.send_all(last)
            await trio.aclose_forcefully(stream)

    async with serving(original) as port:
        ending, _ = await played(dialled("nac4", port, name="?"))
    assert ending == Ending(Kind.LOST, f"the server gives no answer. {hint()}")


# Arena.


def state(you: int, *moves: int, **more: int) -> str:
    turn = 0 if "winner" in more else 1 + len(moves) % 2
    return json.dumps({"type": "state", "turn": turn, "moves": moves, "state": [0] * 42, "you": you, **more})


async def test_arena_bot_outlives_a_lost_start_and_a_spoilt_connection(
    patient_clock: trio.testing.MockClock,
) -> None:
    heard: list[list[str]] = []

    async def original(websocket: WebSocketConnection, _: str) -> None:
        mine: list[str] = []
        heard.append(mine)

        async def hears() -> None:
            mine.append(json.loads(await websocket.get_message())["type"])

        async def says(*texts: str) -> None:
            for text in texts:
                await websocket.send_message(text)

        await hears()  # and loses it
        if len(heard) == 1:
            await hears()
            await says(json.dumps(UNHEARD))
            await hears()
        await says(state(1))
        await hears()
        await says(state(1, 0, **{"last-move": 0}))
        if len(heard) == 1:
            await says(state(1, 0), '{"type":"disconnected"}', '{"type":"end"}')
        else:
            await says(state(1, 0, 1, **{"last-move": 1, "winner": 2}), '{"type":"end"}')
        with pytest.raises(ConnectionClosed):
            await websocket.get_message()

    async with serving_websockets(original) as port:
        ending, summary = await played(dialled("arena", port), 2)
    assert ending == Ending(Kind.PLAYED)
    assert heard == [["start", "state_request", "start", "move"], ["start", "move"]]
    assert summary.startswith("2 games: 0 won, 1 lost, 0 drawn, 1 left by the opponent")

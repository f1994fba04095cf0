"""The client's end, against real sockets."""

import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from functools import partial

import pytest
import trio
import trio.testing
import trio_websocket
from worlds.connection import ToyCodec

import adapters.client.dial
from adapters.client.contract import PeerGone, WireError
from adapters.client.dial import Client, open_lines, open_websocket
from adapters.net.http import by_http

pytestmark = pytest.mark.trio


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


@pytest.fixture
def deaf_port() -> Iterator[int]:
    """A port where nobody listens, and nobody will."""
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        yield sock.getsockname()[1]


def websocket_server(
    talk: Callable[[trio_websocket.WebSocketConnection, str], Awaitable[None]],
) -> Callable[[trio.SocketStream], Awaitable[None]]:
    """Return what serves a websocket by `talk`, which gets the request's target, and then closes it."""

    async def serve(stream: trio.SocketStream) -> None:
        async with trio.open_nursery() as nursery:
            request = await trio_websocket.wrap_server_stream(nursery, stream)
            websocket = await request.accept()
            with suppress(trio_websocket.ConnectionClosed):
                await talk(websocket, request.path)
            await websocket.aclose()

    return serve


async def no_talk(_: trio_websocket.WebSocketConnection, _target: str) -> None:
    pass


async def echo_texts(websocket: trio_websocket.WebSocketConnection, _: str) -> None:
    while True:
        await websocket.send_message(await websocket.get_message())


@asynccontextmanager
async def to_server(said: bytes) -> AsyncIterator[tuple[Client[str, str], trio.MemoryReceiveChannel[bytes]]]:
    """Give a client of a server that says something and hangs up, and what the server hears, by packets."""
    packets, heard = trio.open_memory_channel[bytes](100)

    async def say(stream: trio.SocketStream) -> None:
        await stream.send_all(said)
        await stream.send_eof()
        while data := await stream.receive_some():
            packets.send_nowait(data)

    async with serving(say) as port, open_lines("127.0.0.1", port) as transport:
        yield Client(transport, ToyCodec()), heard


async def test_messages_of_one_packet_are_received_one_by_one() -> None:
    async with to_server(b"a\nb\nc\n") as (client, _):
        assert [await client.receive() for _ in range(3)] == ["a", "b", "c"]
        with pytest.raises(PeerGone):
            await client.receive()


async def test_what_is_no_message_raises_and_the_next_one_is_received() -> None:
    async with to_server(b"what!\na\n") as (client, _):
        with pytest.raises(WireError):
            await client.receive()
        assert await client.receive() == "a"


async def test_messages_are_sent_in_one_packet() -> None:
    async with to_server(b"") as (client, heard):
        await client.send("a", "b")
        assert await heard.receive() == b"a\nb\n"


async def test_line_is_answered_and_its_end_is_seen_by_the_server() -> None:
    heard: list[bytes] = []

    async def echo(stream: trio.SocketStream) -> None:
        while data := await stream.receive_some():
            heard.append(data)
            await stream.send_all(data)
        heard.append(b"")

    async with serving(echo) as port:
        async with open_lines("127.0.0.1", port) as transport:
            await transport.send(["NAME ann", "JOIN x"])
            assert await transport.receive() == ["NAME ann", "JOIN x"]
        assert b"".join(heard) == b"NAME ann\nJOIN x\n"
        assert heard[-1] == b""


async def test_nobody_there_is_an_oserror(deaf_port: int) -> None:
    with pytest.raises(OSError):
        async with open_lines("127.0.0.1", deaf_port):
            pass
    with pytest.raises(OSError):
        async with open_websocket(f"ws://127.0.0.1:{deaf_port}"):
            pass


async def test_host_that_never_answers_is_an_os_error(
    monkeypatch: pytest.MonkeyPatch, autojump_clock: trio.testing.MockClock
) -> None:
    async def wait(_host: str, _port: int) -> trio.SocketStream:
        await trio.sleep_forever()
        raise AssertionError

    monkeypatch.setattr(trio, "open_tcp_stream", wait)
    for dialling in (open_lines("10.255.255.1", 1), open_websocket("ws://10.255.255.1:1")):
        with pytest.raises(OSError, match="timed out"):
            async with dialling:
                pass


@pytest.mark.parametrize(
    ("path", "target"),
    [("", "/"), ("/", "/"), ("/?table=x", "/?table=x"), ("/a/b?against=ann%20b&c", "/a/b?against=ann%20b&c")],
)
async def test_url_says_what_the_server_is_asked_for(path: str, target: str) -> None:
    async def tell(websocket: trio_websocket.WebSocketConnection, asked: str) -> None:
        await websocket.send_message(asked)

    async with (
        serving(websocket_server(tell)) as port,
        open_websocket(f"ws://127.0.0.1:{port}{path}") as transport,
    ):
        assert await transport.receive() == [target]


async def test_websocket_that_the_client_closes_is_closed_normally() -> None:
    codes: list[int] = []

    async def talk(websocket: trio_websocket.WebSocketConnection, _: str) -> None:
        with pytest.raises(trio_websocket.ConnectionClosed) as closed:
            await websocket.get_message()
        codes.append(closed.value.reason.code)

    async with serving(websocket_server(talk)) as port, open_websocket(f"ws://127.0.0.1:{port}"):
        pass
    assert codes == [1000]


async def test_server_that_hangs_up_gives_nothing_more() -> None:
    async with (
        serving(websocket_server(no_talk)) as port,
        open_websocket(f"ws://127.0.0.1:{port}") as transport,
    ):
        assert await transport.receive() == []
        with pytest.raises(PeerGone):
            await transport.send(["x"])


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"SUCCESS\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno",
    ],
)
async def test_server_that_speaks_no_websocket_is_a_peer_gone(
    answer: bytes,
) -> None:
    async def mumble(stream: trio.SocketStream) -> None:
        await stream.receive_some()
        await stream.send_all(answer)
        if answer:
            await trio.sleep_forever()

    async with serving(mumble) as port:
        with trio.fail_after(adapters.client.dial.PATIENCE / 2), pytest.raises(PeerGone):  # at once
            async with open_websocket(f"ws://127.0.0.1:{port}"):
                pass


async def test_server_that_takes_no_more_clients_is_an_os_error_that_says_so() -> None:
    async def refuse(stream: trio.SocketStream) -> None:
        await stream.receive_some()
        await stream.send_all(by_http("503 Service Unavailable", "The server is full."))

    async with serving(refuse) as port:
        with pytest.raises(OSError, match="takes no further client now"):
            async with open_websocket(f"ws://127.0.0.1:{port}/"):
                pass


async def test_server_that_says_nothing_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    async def brood(_: trio.SocketStream) -> None:
        await trio.sleep_forever()

    monkeypatch.setattr(adapters.client.dial, "PATIENCE", 0.05)
    async with serving(brood) as port:
        with pytest.raises(TimeoutError, match="does not answer"):
            async with open_websocket(f"ws://127.0.0.1:{port}"):
                pass


@pytest.mark.parametrize("error", [PeerGone, WireError, ZeroDivisionError])
async def test_what_goes_wrong_with_an_open_websocket_comes_out_as_it_is(error: type[Exception]) -> None:
    async with serving(websocket_server(echo_texts)) as port:
        with pytest.raises(error):
            async with open_websocket(f"ws://127.0.0.1:{port}"):
                raise error


async def test_several_clients_are_open_at_once() -> None:
    async with serving(websocket_server(echo_texts)) as port:
        url = f"ws://127.0.0.1:{port}"
        async with open_websocket(url) as one, open_websocket(url) as two:
            await one.send(["one"])
            await two.send(["two"])
            assert (await one.receive(), await two.receive()) == (["one"], ["two"])

"""The client's end, against real sockets."""

import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from functools import partial
from typing import TypeAlias

import pytest
import trio
import trio.testing
from shell_fakes import FakeTransport, ToyCodec, at_an_endpoint, send

import adapters.client.dial
from adapters.client.contract import Farewell, PeerGone, WireError
from adapters.client.dial import Client, open_lines, open_websocket
from adapters.client.transports import received
from adapters.client.upgrade import Endpoint
from adapters.client.websocket import WebSocketTransport
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


Talk: TypeAlias = Callable[[WebSocketTransport, str], Awaitable[None]]


def websocket_server(talk: Talk) -> Callable[..., Awaitable[None]]:
    return partial(at_an_endpoint, endpoint=Endpoint(talk, "no page\n"))


async def no_talk(transport: WebSocketTransport, _: str) -> None:
    await transport.close(Farewell(1001, "bye"))


async def test_messages_of_one_packet_are_received_one_by_one() -> None:
    transport = FakeTransport()
    client: Client[str, str] = Client(transport, ToyCodec())
    transport.arrives("a", "b")
    transport.arrives("c")
    transport.ends()
    assert [await client.receive() for _ in range(3)] == ["a", "b", "c"]
    with pytest.raises(PeerGone):
        await client.receive()


async def test_what_is_no_message_raises_and_the_next_one_is_received() -> None:
    transport = FakeTransport()
    client: Client[str, str] = Client(transport, ToyCodec())
    transport.arrives("what!", "a")
    with pytest.raises(WireError):
        await client.receive()
    assert await client.receive() == "a"


async def test_messages_are_sent_in_one_packet() -> None:
    transport = FakeTransport()
    client: Client[str, str] = Client(transport, ToyCodec())
    await client.send("a", "b")
    assert transport.packets == [["a", "b"]]


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
    async def tell(transport: WebSocketTransport, asked: str) -> None:
        await send(transport, [asked])
        await transport.close(Farewell())

    async with (
        serving(websocket_server(tell)) as port,
        open_websocket(f"ws://127.0.0.1:{port}{path}") as transport,
    ):
        assert await transport.receive() == [target]


async def test_websocket_that_the_client_closes_is_closed_normally() -> None:
    codes: list[int] = []

    async def talk(transport: WebSocketTransport, _: str) -> None:
        assert await received(transport) == []
        closed = transport._websocket.closed
        assert closed is not None
        codes.append(closed.code)

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
    async def wait(transport: WebSocketTransport, _: str) -> None:
        await received(transport)

    async with serving(websocket_server(wait)) as port:
        with pytest.raises(error):
            async with open_websocket(f"ws://127.0.0.1:{port}"):
                raise error


async def test_several_clients_are_open_at_once() -> None:
    async def echo(transport: WebSocketTransport, _: str) -> None:
        while texts := await received(transport):
            await send(transport, texts)

    async with serving(websocket_server(echo)) as port:
        url = f"ws://127.0.0.1:{port}"
        async with open_websocket(url) as one, open_websocket(url) as two:
            await one.send(["one"])
            await two.send(["two"])
            assert (await one.receive(), await two.receive()) == (["one"], ["two"])

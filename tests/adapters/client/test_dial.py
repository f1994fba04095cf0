"""The client's end, against real sockets."""

import socket
import struct
from collections.abc import Iterator

import pytest
import trio
import trio.testing
from foreign_servers import serving, serving_websockets
from trio_websocket import ConnectionClosed, WebSocketConnection, wrap_server_stream
from worlds.connection import ToyCodec
from worlds.memory_client import MemoryClient, socket_of

from adapters.client.contract import PeerGone, WireError
from adapters.client.dial import Client, TcpLine, open_lines, open_websocket
from gateway.access.heads import try_later

pytestmark = pytest.mark.trio


@pytest.fixture
def deaf_port() -> Iterator[int]:
    """A port where nobody listens, and nobody will."""
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        yield sock.getsockname()[1]


def dialogue() -> tuple[MemoryClient, Client[str, str]]:
    """Return the server's end of a line in memory, and the client at the other."""
    server = MemoryClient()
    return server, Client(TcpLine(socket_of(server)), ToyCodec())


async def test_messages_of_one_packet_are_received_and_sent_together() -> None:
    server, client = dialogue()
    await server.send_all(b"a\nwhat!\nb\n")
    await server.send_eof()
    assert await client.receive() == "a"
    with pytest.raises(WireError):
        await client.receive()
    assert await client.receive() == "b"
    with pytest.raises(PeerGone):
        await client.receive()
    assert not client.has_farewell  # lines have none
    await client.send("a", "b")
    assert await server.receive_some() == b"a\nb\n"


async def test_line_is_answered_and_its_end_is_seen_by_the_server() -> None:
    heard: list[bytes] = []

    async def echo(stream: trio.SocketStream) -> None:
        while data := await stream.receive_some():
            heard.append(data)
            await stream.send_all(data)
        heard.append(b"")

    async with serving(echo) as port:
        async with open_lines("127.0.0.1", port) as line:
            await line.send(["NAME ann", "JOIN x"])
            assert await line.receive() == ["NAME ann", "JOIN x"]
        assert b"".join(heard) == b"NAME ann\nJOIN x\n"
        assert heard[-1] == b""


async def test_nobody_there_is_an_oserror(deaf_port: int) -> None:
    with pytest.raises(OSError):
        async with open_lines("127.0.0.1", deaf_port):
            pass
    with pytest.raises(OSError):
        async with open_websocket(f"ws://127.0.0.1:{deaf_port}"):
            pass


class NeverResolves(trio.abc.HostnameResolver):
    """Knows no host, and never says so."""

    async def getaddrinfo(self, *_: object) -> list[object]:  # type: ignore[override]
        await trio.sleep_forever()
        raise AssertionError

    async def getnameinfo(self, *_: object) -> tuple[str, str]:
        raise AssertionError


async def test_host_that_never_answers_is_an_os_error(autojump_clock: trio.testing.MockClock) -> None:
    trio.socket.set_custom_hostname_resolver(NeverResolves())
    for dialling in (open_lines("c4.example", 1), open_websocket("ws://c4.example:1")):
        with pytest.raises(OSError, match="timed out"):
            async with dialling:
                pass


@pytest.mark.parametrize(
    ("path", "target"),
    [("", "/"), ("/", "/"), ("/?table=x", "/?table=x"), ("/a/b?against=ann%20b&c", "/a/b?against=ann%20b&c")],
)
async def test_url_says_what_the_server_is_asked_for(path: str, target: str) -> None:
    async def tell(websocket: WebSocketConnection, asked: str) -> None:
        await websocket.send_message(asked)

    async with (
        serving_websockets(tell) as port,
        open_websocket(f"ws://127.0.0.1:{port}{path}") as line,
    ):
        assert await line.receive() == [target]


async def test_websocket_that_the_client_closes_is_closed_normally() -> None:
    codes: list[int | None] = []

    async def talk(websocket: WebSocketConnection, _: str) -> None:
        with pytest.raises(ConnectionClosed) as closed:
            await websocket.get_message()
        codes.append(closed.value.reason.code)

    async with serving_websockets(talk) as port, open_websocket(f"ws://127.0.0.1:{port}"):
        pass
    assert codes == [1000]


async def test_server_that_hangs_up_gives_nothing_more() -> None:
    async def hang_up(websocket: WebSocketConnection, _: str) -> None:
        await websocket.aclose(1001, "bye")

    async with serving_websockets(hang_up) as port, open_websocket(f"ws://127.0.0.1:{port}") as line:
        assert await line.receive() == []
        assert line.has_farewell
        with pytest.raises(PeerGone):
            await line.send(["x"])


def reset(stream: trio.SocketStream) -> None:
    """Let the connection of a stream end as if the network broke."""
    stream.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    stream.socket.close()


@pytest.mark.parametrize("is_reset", [False, True])
async def test_websocket_that_ends_without_a_close_frame_has_no_farewell(is_reset: bool) -> None:
    async def break_off(stream: trio.SocketStream) -> None:
        async with trio.open_nursery() as nursery:
            websocket = await (await wrap_server_stream(nursery, stream)).accept()
            await websocket.get_message()
            if is_reset:
                reset(stream)
            else:
                await trio.aclose_forcefully(stream)

    async with serving(break_off) as port, open_websocket(f"ws://127.0.0.1:{port}") as line:
        assert not line.has_farewell
        await line.send(["x"])
        assert await line.receive() == []
        assert not line.has_farewell


@pytest.mark.parametrize("is_asked", [False, True])
async def test_server_that_resets_the_connection_in_the_handshake_is_none_at_once(is_asked: bool) -> None:
    async def break_off(stream: trio.SocketStream) -> None:
        if is_asked:
            await stream.receive_some()
        reset(stream)

    async with serving(break_off) as port:
        with trio.fail_after(5), pytest.raises(OSError):
            async with open_websocket(f"ws://127.0.0.1:{port}"):
                pass


@pytest.mark.parametrize(
    "answer", [b"", b"SUCCESS\n", b"HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno"]
)
async def test_server_that_speaks_no_websocket_is_a_peer_gone(answer: bytes) -> None:
    async def mumble(stream: trio.SocketStream) -> None:
        await stream.receive_some()
        await stream.send_all(answer)
        if answer:
            await trio.sleep_forever()

    async with serving(mumble) as port:
        with trio.fail_after(5), pytest.raises(PeerGone):  # at once
            async with open_websocket(f"ws://127.0.0.1:{port}"):
                pass


async def test_server_that_takes_no_more_clients_is_an_os_error_that_says_so() -> None:
    async def refuse(stream: trio.SocketStream) -> None:
        await stream.receive_some()
        await stream.send_all(try_later(503, "The server is full."))

    async with serving(refuse) as port:
        with pytest.raises(OSError, match="takes no further client now"):
            async with open_websocket(f"ws://127.0.0.1:{port}/"):
                pass


async def test_server_that_says_nothing_is_none(autojump_clock: trio.testing.MockClock) -> None:
    autojump_clock.autojump_threshold = 0.2  # the system takes a while to connect

    async def brood(_: trio.SocketStream) -> None:
        await trio.sleep_forever()

    async with serving(brood) as port:
        with pytest.raises(TimeoutError, match="does not answer"):
            async with open_websocket(f"ws://127.0.0.1:{port}"):
                pass


@pytest.mark.parametrize("error", [PeerGone, ZeroDivisionError])
async def test_what_goes_wrong_with_an_open_websocket_comes_out_as_it_is(error: type[Exception]) -> None:
    async def wait(websocket: WebSocketConnection, _: str) -> None:
        await websocket.get_message()

    async with serving_websockets(wait) as port:
        with pytest.raises(error):
            async with open_websocket(f"ws://127.0.0.1:{port}"):
                raise error

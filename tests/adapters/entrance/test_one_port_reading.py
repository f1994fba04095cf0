"""One port: what is read before anybody knows what a client wants."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
import trio
import trio.testing
from adapters.client.transports import received
from adapters.client.upgrade import Endpoint, PlainRequest, serve_websocket
from adapters.client.websocket import WebSocketTransport
from adapters.net.wire import Wire
from shell_fakes import drained
from wires import wired

from adapters.client.contract import Farewell
from adapters.dialects import DIALECTS
from adapters.entrance.one_port import Shared, by_first_bytes
from adapters.entrance.preamble import SILENCE

pytestmark = pytest.mark.trio

HANDSHAKE = (
    b"GET %s HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
)
WEBSOCKETS = [each for each in DIALECTS if each.scheme]


async def lines(wire: Wire) -> None:
    await echo(b"lines:", wire)


async def http(wire: Wire) -> None:
    await echo(b"http:", wire)


async def echo(name: bytes, wire: Wire) -> None:
    await wire.send_all(name)
    while data := await wire.receive_some():
        await wire.send_all(data)
    await wire.linger()


@asynccontextmanager
async def at_the_port() -> AsyncIterator[trio.StapledStream]:
    client, server = trio.testing.memory_stream_pair()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(by_first_bytes(lines, http), wired(server))
        yield client


@pytest.mark.parametrize(
    ("data", "heard"),
    [
        (b"NAME ann\n", b"lines:NAME ann\n"),
        (b"GET / HTTP/1.1\r\n", b"http:GET / HTTP/1.1\r\n"),
        (b"PUT 3", b"lines:PUT 3"),
        (b"PU", b"lines:PU"),
        (b"", b"lines:"),
    ],
)
@pytest.mark.parametrize("size", [1, 100])
async def test_who_serves_a_client_reads_all_of_it(data: bytes, heard: bytes, size: int) -> None:
    async with at_the_port() as client:
        for at in range(0, len(data), size):
            await client.send_all(data[at : at + size])
        await client.send_eof()
        assert await drained(client) == heard


async def test_client_that_says_nothing_may_say_so_as_long_as_lines_allow(
    autojump_clock: trio.testing.MockClock,
) -> None:
    for begin in (b"", b"P"):
        async with at_the_port() as client:
            start = trio.current_time()
            await client.send_all(begin)
            assert await drained(client) == b""
            assert trio.current_time() - start == pytest.approx(SILENCE, abs=2)


async def test_client_that_vanishes_first_is_served_by_nobody() -> None:
    client, server = trio.testing.memory_stream_pair()
    server.receive_stream.close()
    await by_first_bytes(lines, http)(wired(server))
    await client.aclose()


# Websockets.


def answering(name: str) -> Endpoint:
    async def talk(transport: WebSocketTransport, target: str) -> None:
        texts = await received(transport)
        transport.write([f"{name} {target} {texts}"])
        await transport.drain()
        await transport.close(Farewell())

    return Endpoint(talk, name)


async def answer(target: str, *frames: bytes) -> bytes:
    """Return what a client hears that asks for a websocket and sends frames."""
    shared = Shared([(each, answering(each.name)) for each in WEBSOCKETS])
    client, server = trio.testing.memory_stream_pair()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(serve_websocket, wired(server), Endpoint(shared.talk, ""))
        await client.send_all(HANDSHAKE % target.encode() + b"".join(frames))
        heard = await drained(client)
        await client.aclose()
    return heard.partition(b"\r\n\r\n")[2]


def frame(text: str) -> bytes:
    return bytes((0x81, 0x80 | len(text), 0, 0, 0, 0)) + text.encode()


@pytest.mark.parametrize("dialect", [each.name for each in WEBSOCKETS])
async def test_path_names_the_dialect_and_nothing_is_read_before(
    dialect: str, autojump_clock: trio.testing.MockClock
) -> None:
    heard = await answer(f"/{dialect}?table=x", frame("{}"))
    assert f"{dialect} /{dialect}?table=x ['{{}}']".encode() in heard


@pytest.mark.parametrize(
    ("text", "dialect"),
    [
        ("{}", "arena"),
        (' ,{"type": "start"}', "arena"),
        ("#:x{:a 1}", "arena"),
        ("connect ann\r\n", "nac4"),
        ("", "nac4"),
        ("[1]", "nac4"),
    ],
)
async def test_first_message_says_what_the_path_does_not_and_is_not_lost(
    text: str, dialect: str, autojump_clock: trio.testing.MockClock
) -> None:
    assert f"{dialect} / {[text]}".encode() in await answer("/", frame(text))


async def test_several_first_messages_keep_their_order(autojump_clock: trio.testing.MockClock) -> None:
    assert b"arena / ['{}', 'second']" in await answer("/", frame("{}") + frame("second"))


async def test_websocket_without_a_message_is_closed_when_no_dialect_would_wait_longer(
    autojump_clock: trio.testing.MockClock,
) -> None:
    client, server = trio.testing.memory_stream_pair()
    shared = Shared([(each, answering(each.name)) for each in WEBSOCKETS])
    async with trio.open_nursery() as nursery:
        nursery.start_soon(serve_websocket, wired(server), Endpoint(shared.talk, ""))
        start = trio.current_time()
        await client.send_all(HANDSHAKE % b"/")
        heard = b""
        while b"no message came" not in heard:
            await client.send_all(b"\x8a\x80\0\0\0\0")  # it is there
            heard += await client.receive_some(1000)
        assert trio.current_time() - start == pytest.approx(SILENCE, abs=5)
        await client.aclose()


async def test_client_that_leaves_before_its_first_message_is_answered_by_nobody(
    autojump_clock: trio.testing.MockClock,
) -> None:
    assert await answer("/", b"\x88\x82\0\0\0\0\x03\xe8") == b"\x88\x02\x03\xe8"


# Requests.


async def test_request_for_no_websocket_is_passed_on_whole() -> None:
    requests: list[PlainRequest] = []

    async def pass_on(wire: Wire, request: PlainRequest) -> None:
        requests.append(request)

    endpoint = Endpoint(Shared([]).talk, "", pass_on=pass_on)
    for data, is_single in (
        (b"POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc", False),
        (b"GET / HTTP/1.1\r\nHost: x\r\nVia: 1.1 p\r\n\r\nGET", True),
    ):
        client, server = trio.testing.memory_stream_pair()
        await client.send_all(data)
        await client.send_eof()
        await serve_websocket(wired(server), endpoint)
        assert requests.pop() == PlainRequest(data, is_single=is_single)
        assert await drained(client) == b""

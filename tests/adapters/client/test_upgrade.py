"""The endpoint of a websocket port: pages for browsers, websockets for bots, errors for nonsense."""

import gc
import logging
import weakref
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

import pytest
import trio
import trio.testing
import trio_websocket
from shell_fakes import Breakable, at_an_endpoint, collect, send
from wires import wired

from adapters.client.boundary import serve_connection
from adapters.client.contract import Farewell, PeerGone
from adapters.client.transports import received
from adapters.client.upgrade import (
    FRAME_LIMIT,
    MESSAGE_LIMIT,
    Endpoint,
    Talk,
    Websites,
    serve_websocket,
    wanted_place,
)
from adapters.client.websocket import WebSocketTransport
from adapters.net.pacing import UNLIMITED, ClientLimits

PAGE = "Connect with a websocket client.\n"
HANDSHAKE = (
    b"GET /?table=x HTTP/1.1\r\nHost: localhost\r\nConnection: keep-alive, Upgrade\r\nUpgrade: websocket\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
)
ACCEPT = b"s3pPLMBiTxaQ9kYGzzhZRbK+xOo="
"""What RFC 6455 1.3 answers to the key above."""
HELLO = b"\x81\x85\x00\x00\x00\x00hello"
"""A text frame, masked with zeros."""
BEGIN, GO_ON, CLOSE, PING, PONG = (bytes((head, 0x80, 0, 0, 0, 0)) for head in (0x01, 0x00, 0x88, 0x89, 0x8A))
"""Frames without a payload: a text begins, or goes on, and neither ends it."""


async def echo(transport: WebSocketTransport, target: str) -> None:
    """Send back the target, then every text, and close as one does."""
    try:
        await send(transport, [target])
        while texts := await received(transport):
            await send(transport, texts)
    except PeerGone:
        pass
    finally:
        await transport.close(Farewell())


@asynccontextmanager
async def at_the_door(
    talk: Talk = echo, page: int | None = None
) -> AsyncIterator[tuple[trio.StapledStream, Breakable]]:
    """Give the client's end of a connection to a websocket port, and the server's."""
    client, server = trio.testing.memory_stream_pair()
    stream = Breakable(server)
    async with trio.open_nursery() as nursery:
        serve = partial(serve_websocket, endpoint=Endpoint(talk, PAGE, page))
        nursery.start_soon(serve_connection, "test", serve, wired, stream)
        yield client, stream
        await client.aclose()


async def until(stream: trio.abc.ReceiveStream, end: bytes) -> bytes:
    data = b""
    while end not in data and (chunk := await stream.receive_some(65_536)):
        data += chunk
    return data


async def everything(stream: trio.abc.ReceiveStream) -> bytes:
    data = b""
    while chunk := await stream.receive_some(65_536):
        data += chunk
    return data


async def answer(request: bytes, page: int | None = None) -> tuple[int, dict[str, str], str]:
    """Return status, headers and body of the answer to a request, after which the stream ends."""
    async with at_the_door(page=page) as (client, _):
        await client.send_all(request)
        head, _, body = (await everything(client)).decode().partition("\r\n\r\n")
    status, *lines = head.split("\r\n")
    headers = dict(line.lower().split(": ", 1) for line in lines)
    assert status.startswith("HTTP/1.1 ")
    return int(status.split()[1]), headers, body


# Pages of websites.


def from_page(*origins: str) -> bytes:
    lines = "".join(f"Origin: {origin}\r\n" for origin in origins)
    return HANDSHAKE.removesuffix(b"\r\n") + f"{lines}\r\n".encode("latin-1")


@pytest.mark.trio
@pytest.mark.parametrize("origins", [(), ("",), ("http://localhost:3000",), ("http://[::1]",)])
async def test_page_of_this_machine_and_what_is_no_page_get_a_websocket(origins: tuple[str, ...]) -> None:
    async with at_the_door() as (client, _):
        await client.send_all(from_page(*origins))
        assert (await until(client, b"\r\n\r\n")).startswith(b"HTTP/1.1 101 ")


@pytest.mark.trio
@pytest.mark.parametrize(
    "origins", [("http://evil.example",), ("null",), ("http://localhost", "http://evil.example"), ("\xe4",)]
)
async def test_page_of_another_website_gets_none_and_hears_how_it_could(origins: tuple[str, ...]) -> None:
    status, headers, body = await answer(from_page(*origins))
    assert (status, headers["connection"]) == (403, "close")
    assert "--allow-origin" in body
    assert body.count("\n") == 1


@pytest.mark.trio
async def test_pages_that_are_refused_are_counted_and_logged_once_in_a_while(
    caplog: pytest.LogCaptureFixture, autojump_clock: trio.testing.MockClock
) -> None:
    caplog.set_level(logging.INFO)
    counts = Counter[tuple[str, str]]()
    endpoint = Endpoint(echo, PAGE, websites=Websites(["https://c4.example", "*"], counts))
    for pause in (0.0, 1.0, 60.0):
        await trio.sleep(pause)
        client, server = trio.testing.memory_stream_pair()
        await client.send_all(from_page("http://evil.example/" + "x" * 200))
        await client.send_eof()
        await serve_websocket(wired(server), endpoint)
    assert counts == {("entry_refused", "foreign_origin"): 3}
    assert [record.levelname for record in caplog.records] == ["INFO"] * 2
    assert "'http://evil.example/xxx" in caplog.text
    assert "x" * 100 not in caplog.text


@pytest.mark.trio
@pytest.mark.parametrize("request_", [b"POST / HTTP/1.1\r\nHost: x\r\n\r\n", HANDSHAKE])
async def test_request_with_two_lengths_is_refused_and_nothing_behind_it_read(request_: bytes) -> None:
    lengths = b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
    status, headers, body = await answer(request_.removesuffix(b"\r\n") + lengths + HANDSHAKE)
    assert (status, headers["connection"]) == (400, "close")
    assert body == "a request has Content-Length or Transfer-Encoding, not both\n"


@pytest.mark.trio
@pytest.mark.parametrize("only_tls", [True, False])
@pytest.mark.parametrize(
    "begun", [b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", HANDSHAKE, from_page("null"), b"x\r\n\r\n"]
)
async def test_browser_is_told_to_stay_with_tls_where_there_is_nothing_else(
    begun: bytes, only_tls: bool
) -> None:
    client, server = trio.testing.memory_stream_pair()
    wire = wired(server)
    wire.only_tls = only_tls
    async with trio.open_nursery() as nursery:
        nursery.start_soon(serve_websocket, wire, Endpoint(echo, PAGE))
        await client.send_all(begun)
        head = await until(client, b"\r\n\r\n")
        await client.aclose()
    assert (b"\r\nstrict-transport-security: max-age=" in head.lower()) == only_tls


# Pages.


@pytest.mark.trio
@pytest.mark.parametrize("target", ["/", "/index.html", "/?table=x", "/api/results"])
@pytest.mark.parametrize("version", ["1.0", "1.1"])
async def test_plain_get_is_told_what_to_connect_with(target: str, version: str) -> None:
    status, headers, body = await answer(f"GET {target} HTTP/{version}\r\nHost: x\r\n\r\n".encode())
    assert (status, body) == (200, PAGE)
    assert headers["content-type"] == "text/plain; charset=utf-8"
    assert headers["content-length"] == str(len(PAGE))
    assert headers["connection"] == "close"


@pytest.mark.trio
async def test_head_gets_the_head_of_the_page_alone() -> None:
    status, headers, body = await answer(b"HEAD / HTTP/1.1\r\nHost: x\r\n\r\n")
    assert (status, headers["content-length"], body) == (200, str(len(PAGE)), "")


@pytest.mark.trio
@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("c4.example:8080", "c4.example"),
        ("127.0.0.1", "127.0.0.1"),
        ("[::1]:8080", "[::1]"),
        *((odd, "192.0.2.7") for odd in ("", "a b", "x/y", "user@x", "x:y", "[::1", "x" * 254, "\xe4")),
    ],
)
async def test_browser_is_sent_to_the_page_on_the_host_it_came_to(host: str, expected: str) -> None:
    request = f"GET /?table=x HTTP/1.1\r\nHost: {host}\r\nAccept: text/html\r\n\r\n"
    status, headers, body = await answer(request.encode("latin-1"), page=8000)
    assert (status, headers["location"]) == (303, f"http://{expected}:8000/")
    assert body == f"The page is at http://{expected}:8000/\n"


@pytest.mark.trio
@pytest.mark.parametrize(
    ("page", "accept"), [(None, "text/html"), (8000, "*/*"), (8000, "application/json"), (8000, "")]
)
async def test_without_a_page_or_a_browser_the_text_is_the_answer(page: int | None, accept: str) -> None:
    request = f"GET / HTTP/1.1\r\nHost: x\r\nAccept: {accept}\r\n\r\n".encode()
    assert (await answer(request, page))[::2] == (200, PAGE)


@pytest.mark.trio
@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS"])
async def test_other_methods_are_not_allowed(method: str) -> None:
    status, headers, _ = await answer(f"{method} / HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n".encode())
    assert (status, headers["allow"]) == (405, "get, head")


@pytest.mark.trio
@pytest.mark.parametrize(
    "nonsense",
    [
        b"NAME ann\nJOIN lobby\n\n",
        b"connect ann\r\n\r\n",
        b"GET / HTTP/1.1\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\xff" * 100 + b"\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\nno header\r\n\r\n",
    ],
)
async def test_what_is_no_http_is_a_bad_request(nonsense: bytes) -> None:
    status, _, _ = await answer(nonsense)
    assert status == 400


@pytest.mark.trio
async def test_endless_head_is_refused() -> None:
    status, _, _ = await answer(b"GET / HTTP/1.1\r\nHost: x\r\n" + b"X-Filler: " + b"x" * 1_000_000)
    assert status == 431


@pytest.mark.trio
async def test_other_version_of_the_protocol_is_told_ours() -> None:
    status, headers, _ = await answer(HANDSHAKE.replace(b"Version: 13", b"Version: 8"))
    assert (status, headers["sec-websocket-version"]) == (426, "13")


@pytest.mark.trio
@pytest.mark.parametrize(
    "request_",
    [
        HANDSHAKE.replace(b"GET", b"POST"),
        HANDSHAKE.replace(b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n", b""),
        HANDSHAKE.replace(b"HTTP/1.1", b"HTTP/1.0"),
        HANDSHAKE.replace(b"dGhlIHNhbXBsZSBub25jZQ==", b"\xff\xfe"),
        HANDSHAKE.replace(b"\r\n\r\n", b"\r\nContent-Length: 5\r\n\r\nhello"),
        HANDSHAKE.replace(b"\r\n\r\n", b"\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"),
        HANDSHAKE.replace(b"\r\n\r\n", b"\r\nSec-WebSocket-Extensions: nonsense; \xff\r\n\r\n"),
        HANDSHAKE.replace(b"\r\n\r\n", b"\r\nSec-WebSocket-Protocol: ,,\r\n\r\n"),
        HANDSHAKE.replace(b"localhost", b"\xff"),
        HANDSHAKE.replace(b"localhost", b"xn--a"),
        HANDSHAKE.replace(b"localhost", b"a..b" + b"x" * 70),
        HANDSHAKE.replace(b"/?table=x", b"//[?"),
    ],
)
async def test_strange_handshake_is_never_our_bug(
    request_: bytes, caplog: pytest.LogCaptureFixture, autojump_clock: trio.testing.MockClock
) -> None:
    async with at_the_door() as (client, _):
        await client.send_all(request_)
        assert (await until(client, b"\r\n\r\n")).startswith(b"HTTP/1.1 ")
        await client.aclose()
    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []


@pytest.mark.trio
@pytest.mark.parametrize("begun", [b"", b"GET / HT"])
async def test_client_that_asks_for_nothing_is_told_so_and_hung_up_on_after_a_minute(
    begun: bytes, autojump_clock: trio.testing.MockClock
) -> None:
    async with at_the_door() as (client, _):
        begin = trio.current_time()
        await client.send_all(begun)
        assert (await everything(client)).startswith(b"HTTP/1.1 408 Request Timeout\r\n")
        assert trio.current_time() - begin == UNLIMITED.request == 60


@pytest.mark.trio
async def test_client_that_sends_its_request_byte_by_byte_has_as_long_as_any(
    autojump_clock: trio.testing.MockClock,
) -> None:
    reached: list[str] = []
    client, server = trio.testing.memory_stream_pair()
    wire = wired(server)
    wire.limits = ClientLimits(request=5, reached=lambda option, _: reached.append(option))
    async with trio.open_nursery() as nursery:
        nursery.start_soon(serve_websocket, wire, Endpoint(echo, PAGE))
        for number in range(9):
            assert not reached, number
            await client.send_all(b"G")
            await trio.sleep(0.6)
        assert (await everything(client)).startswith(b"HTTP/1.1 408 ")
    assert reached == ["request-seconds"]


@pytest.mark.trio
async def test_reading_a_page_leaves_the_websocket_side_undisturbed() -> None:
    async with at_the_door() as (bot, _):
        await bot.send_all(HANDSHAKE)
        await until(bot, b"/?table=x")
        assert (await answer(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"))[0] == 200
        await bot.send_all(HELLO)
        assert await until(bot, b"hello") == b"\x81\x05hello"


# Websockets.


@pytest.mark.trio
async def test_handshake_is_answered_as_the_rfc_says() -> None:
    async with at_the_door() as (client, _):
        await client.send_all(HANDSHAKE)
        head, _, frames = (await until(client, b"/?table=x")).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 101 ")
    assert ACCEPT in head
    assert frames == b"\x81\x09/?table=x"


@pytest.mark.trio
async def test_handshake_split_at_every_byte_is_the_same() -> None:
    async with at_the_door() as (client, _):
        for byte in HANDSHAKE + HELLO:
            await client.send_all(bytes([byte]))
            await trio.testing.wait_all_tasks_blocked()
        assert (await until(client, b"hello")).endswith(b"\x81\x09/?table=x\x81\x05hello")


@pytest.mark.trio
@pytest.mark.parametrize("frames", [1, 2, 50])
async def test_frames_in_the_packet_of_the_handshake_are_not_lost(frames: int) -> None:
    async with at_the_door() as (client, _):
        await client.send_all(HANDSHAKE + HELLO * frames)
        await client.send_all(b"\x81\x83\x00\x00\x00\x00end")
        assert (await until(client, b"end")).count(b"\x81\x05hello") == frames


@pytest.mark.trio
@pytest.mark.parametrize(
    "header", [b"upgrade: WebSocket", b"UPGRADE: WEBSOCKET", b"Upgrade:websocket", b"Upgrade:   websocket  "]
)
async def test_headers_match_without_case_and_blanks(header: bytes) -> None:
    async with at_the_door() as (client, _):
        await client.send_all(HANDSHAKE.replace(b"Upgrade: websocket", header))
        assert (await until(client, b"/?table=x")).startswith(b"HTTP/1.1 101 ")


@asynccontextmanager
async def dialled() -> AsyncIterator[trio_websocket.WebSocketConnection]:
    """Give a websocket client, already told its target."""
    async with at_the_door() as (stream, _), trio.open_nursery() as nursery:
        client = await trio_websocket.wrap_client_stream(nursery, stream, "host", "/", max_message_size=2**21)
        assert await client.get_message() == "/"
        yield client
        nursery.cancel_scope.cancel()


@pytest.mark.trio
async def test_message_of_64_kib_is_read() -> None:
    async with dialled() as client, trio.open_nursery() as nursery:
        nursery.start_soon(client.send_message, "x" * MESSAGE_LIMIT)
        assert await client.get_message() == "x" * MESSAGE_LIMIT


@pytest.mark.trio
@pytest.mark.parametrize("size", [MESSAGE_LIMIT + 1, 1_000_000])
async def test_message_over_64_kib_is_closed_with_1009(
    size: int, autojump_clock: trio.testing.MockClock, caplog: pytest.LogCaptureFixture
) -> None:
    async with dialled() as client, trio.open_nursery() as nursery:
        nursery.start_soon(client.send_message, "x" * size)
        with pytest.raises(trio_websocket.ConnectionClosed):
            await client.get_message()
        assert client.closed.code == 1009
    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []


@pytest.mark.trio
@pytest.mark.parametrize(
    ("frame", "code"),
    [
        (b"\x81\x05hello", 1002),  # not masked
        (b"\x81\x82\x00\x00\x00\x00\xc3\x28", 1007),  # a text that is no UTF-8
        (b"\x83\x80\x00\x00\x00\x00", 1002),  # an opcode that is none
        (b"\xf1\x80\x00\x00\x00\x00", 1002),  # reserved bits
        (b"\x80\x80\x00\x00\x00\x00", 1002),  # goes on with a message that never began
        (b"\x88\x81\x00\x00\x00\x00x", 1002),  # half a close code
        (b"\x89\xfe\x00\x7e\x00\x00\x00\x00" + b"x" * 126, 1002),  # a ping too long
    ],
)
async def test_broken_frame_is_closed_with_a_fitting_code_and_is_never_our_bug(
    frame: bytes, code: int, caplog: pytest.LogCaptureFixture, autojump_clock: trio.testing.MockClock
) -> None:
    async with at_the_door() as (client, _):
        await client.send_all(HANDSHAKE)
        await until(client, b"/?table=x")
        await client.send_all(frame)
        answer = await everything(client)
        assert answer[0] == 0x88
        assert answer[2:4] == code.to_bytes(2)
    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []


@pytest.mark.trio
@pytest.mark.parametrize("closes_first", [False, True])
@pytest.mark.parametrize(
    "said",
    [
        BEGIN + GO_ON * (FRAME_LIMIT + 100),
        BEGIN + GO_ON * (FRAME_LIMIT - 1) + CLOSE + GO_ON * 10,
        BEGIN + GO_ON * 10 + CLOSE + GO_ON * 10 + HELLO,
        CLOSE + HELLO + PING + PONG + BEGIN,
        CLOSE + CLOSE,
        CLOSE + b"\x83\x80\x00\x00\x00\x00",
    ],
    ids=[
        "fragments",
        "close, fragments",
        "close, few fragments",
        "close, all kinds",
        "closes",
        "close, junk",
    ],
)
async def test_what_comes_behind_a_close_frame_is_dropped(
    said: bytes, closes_first: bool, caplog: pytest.LogCaptureFixture, autojump_clock: trio.testing.MockClock
) -> None:
    async def talk(transport: WebSocketTransport, _: str) -> None:
        if not closes_first:
            await collect(transport, [])
            await trio.sleep(1)
        await transport.close(Farewell(1001))

    async with at_the_door(talk) as (client, _):
        await client.send_all(HANDSHAKE)
        await trio.testing.wait_all_tasks_blocked()
        await client.send_all(said)
        answer = (await everything(client)).partition(ACCEPT + b"\r\n\r\n")[2]
        closing = answer.index(b"\x88")
        assert len(answer) == closing + 2 + answer[closing + 1]
    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []


@pytest.mark.trio
@pytest.mark.parametrize("said", [b"", b"GET / HT", HANDSHAKE[:-4], HANDSHAKE, HANDSHAKE + HELLO[:3]])
@pytest.mark.parametrize("how", ["reset", "end"])
@pytest.mark.parametrize("when", ["at once", "later"])
async def test_client_that_vanishes_at_the_door_is_never_our_bug(
    said: bytes, how: str, when: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with at_the_door() as (client, stream):
        if said:
            await client.send_all(said)
        if when == "later":
            await trio.testing.wait_all_tasks_blocked()
        if how == "reset":
            stream.reset()
        await client.aclose()
    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []


@pytest.mark.trio
@pytest.mark.parametrize("extra", [0, 1_000_000])
async def test_flooding_client_hears_why_it_is_hung_up_on(extra: int) -> None:
    async with trio.open_nursery() as nursery:
        serve = partial(at_an_endpoint, endpoint=Endpoint(echo, PAGE))
        (listener,) = await nursery.start(partial(trio.serve_tcp, serve, 0, host="127.0.0.1"))
        stream = await trio.open_tcp_stream("127.0.0.1", listener.socket.getsockname()[1])
        with trio.fail_after(20):
            client = await trio_websocket.wrap_client_stream(nursery, stream, "host", "/")
            assert await client.get_message() == "/"
            nursery.start_soon(client.send_message, "x" * (MESSAGE_LIMIT + 1 + extra))
            with pytest.raises(trio_websocket.ConnectionClosed):
                await client.get_message()
        assert client.closed.code == 1009
        await trio.aclose_forcefully(stream)
        nursery.cancel_scope.cancel()


@pytest.mark.trio
async def test_what_ends_a_websocket_is_left_to_no_garbage_collector() -> None:
    errors: list[weakref.ref[Exception]] = []

    async def vanish(transport: WebSocketTransport, target: str) -> None:
        await trio.testing.wait_all_tasks_blocked()
        error = PeerGone()
        errors.append(weakref.ref(error))
        try:
            raise error
        finally:
            del error

    client, server = trio.testing.memory_stream_pair()
    gc.disable()
    try:
        async with trio.open_nursery() as nursery:
            serve = partial(serve_websocket, endpoint=Endpoint(vanish, PAGE))
            nursery.start_soon(serve_connection, "test", serve, wired, server)
            await client.send_all(HANDSHAKE)
            await everything(client)
            await client.aclose()
        assert [error() for error in errors] == [None]
    finally:
        gc.enable()


# Places.


@pytest.mark.parametrize(
    ("target", "place"),
    [
        ("/", (None, None)),
        ("/?table=x", ("x", None)),
        ("/?against=ann", (None, "ann")),
        ("/any/path?against=a%20b&table=%C3%A4+1", ("ä 1", "a b")),
        ("/?table=a&table=b", ("a", None)),
        ("/?table=", (None, None)),
        ("?;;&&==", (None, None)),
        ("http://[/?table=x", ("x", None)),
        ("//[x]/?table=x", ("x", None)),
        ("/?table=%ff", ("\ufffd", None)),
        ("*", (None, None)),
    ],
)
def test_request_target_names_table_and_opponent(target: str, place: tuple[str | None, str | None]) -> None:
    assert wanted_place(target) == place


@pytest.mark.trio
@pytest.mark.parametrize(
    ("header", "token"),
    [
        (b"Authorization: Bearer abc-_1\r\n", "abc-_1"),
        (b"authorization: bearer  abc\r\n", "abc"),
        (b"Authorization: Basic abc\r\n", None),
        (b"Authorization: Bearer a b\r\n", None),
        (b"Authorization: Bearer\r\n", None),
        (b"", None),
    ],
)
async def test_bearer_token_of_the_handshake_is_the_transport_s(header: bytes, token: str | None) -> None:
    told: list[str | None] = []

    async def talk(transport: WebSocketTransport, _: str) -> None:
        told.append(transport.token)

    request = HANDSHAKE.replace(b"\r\n\r\n", b"\r\n" + header + b"\r\n")
    async with at_the_door(talk) as (client, _):
        await client.send_all(request)
        await everything(client)
    assert told == [token]

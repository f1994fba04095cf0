"""Connections: what is answered on them, and how they end. On real sockets where these matter."""

import json
import logging
import socket
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext
from typing import TypeAlias, cast

import pytest
import trio
import trio.testing
from starlette.types import ASGIApp, Receive, Scope, Send
from trio.testing import memory_stream_one_way_pair

from adapters.web import server
from adapters.web.server import Stream, Web
from gateway.store import StoreError

Clock: TypeAlias = trio.testing.MockClock
Client: TypeAlias = trio.StapledStream[trio.abc.SendStream, trio.abc.ReceiveStream]
GET = b"GET %s HTTP/1.1\r\nHost: x\r\n%s\r\n"
PIECE, SMALL = b"x" * 20_000, b"x" * 4_000
HSTS = b"\r\nstrict-transport-security: max-age="


async def application(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer at once, at `/pieces` in three and at `/endless` in more; at `/fails` fail after the first."""
    path = scope["path"]
    if path in ("/", "/nowhere"):
        headers = [(b"content-length", b"2")]
        await send({"type": "http.response.start", "status": 200 if path == "/" else 404, "headers": headers})
        await send({"type": "http.response.body", "body": b"{}"})
        return
    if path not in ("/pieces", "/small", "/endless", "/fails"):
        await send({"type": "http.response.start", "status": 404, "headers": [(b"content-length", b"0")]})
        await send({"type": "http.response.body"})
        return
    await send({"type": "http.response.start", "status": 200, "headers": []})
    piece = SMALL if path == "/small" else PIECE
    for _ in range({"/fails": 1, "/endless": 1_000_000}.get(path, 3)):
        await send({"type": "http.response.body", "body": piece, "more_body": True})
    if path == "/fails":
        raise StoreError("the disk is gone")
    await send({"type": "http.response.body"})


def waiting(go_on: trio.Event) -> ASGIApp:
    """Return an application that answers once it may."""

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await go_on.wait()
        await application(scope, receive, send)

    return app


async def watch(_: Scope, receive: Receive, send: Send) -> None:
    """Answer until the client is gone, as the live stream does."""
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"hello", "more_body": True})
    while (await receive())["type"] != "http.disconnect":
        pass


class Wire:
    """The server's end of a connection in memory. It is its own socket."""

    family = socket.AF_INET

    def __init__(self, stream: Client) -> None:
        self.socket = self
        self.receive_some, self.send_all, self.send_eof = (
            stream.receive_some,
            stream.send_all,
            stream.send_eof,
        )
        self._stream = stream

    def close(self) -> None:
        for each in (self._stream.send_stream, self._stream.receive_stream):
            each.close()  # type: ignore[attr-defined]

    def setsockopt(self, level: int, option: int, value: object) -> None:
        pass

    def getpeername(self) -> tuple[str, int]:
        return "192.0.2.1", 50_000


class Endpoint:
    """A web front end that clients reach in memory."""

    def __init__(self, web: Web, nursery: trio.Nursery) -> None:
        self.web = web
        self.left = trio.Event()
        """Set once a connection is over."""
        self._nursery = nursery

    def dial(self, *, is_slow: bool = False) -> Client:
        """Return a client. What is sent to a slow one waits until it reads."""
        there, theirs = memory_stream_one_way_pair()
        pair = (
            trio.testing.lockstep_stream_one_way_pair if is_slow else trio.testing.memory_stream_one_way_pair
        )
        ours, back = pair()
        self._nursery.start_soon(self._serve, Wire(trio.StapledStream(ours, theirs)))
        return trio.StapledStream(there, back)

    async def stuck(self) -> Client:
        """Return a client that asked for a long answer, and stopped reading in the middle of it."""
        client = self.dial(is_slow=True)
        await client.send_all(GET % (b"/pieces", b""))
        assert (await client.receive_some()).startswith(b"HTTP/1.1 200")
        await trio.testing.wait_all_tasks_blocked()
        return client

    async def _serve(self, wire: Wire) -> None:
        await self.web.serve(cast("Stream", wire))
        self.left.set()


@asynccontextmanager
async def opened(app: ASGIApp = application, *, hsts: bool = False) -> AsyncIterator[Endpoint]:
    """Serve while the context lasts; at its end everybody is cut off at once."""
    with trio.fail_after(1000):
        async with trio.open_nursery() as nursery:
            yield Endpoint(Web(app, hsts=hsts), nursery)
            nursery.cancel_scope.cancel()


async def everything(stream: trio.abc.ReceiveStream) -> bytes:
    return b"".join([bytes(chunk) async for chunk in stream])


async def answer(stream: trio.abc.ReceiveStream) -> tuple[int, bytes, bytes]:
    """Read one answer that says how long it is: status, head, body."""
    data = b""
    while b"\r\n\r\n" not in data:
        chunk = await stream.receive_some()
        assert chunk, data
        data += chunk
    head, _, body = data.partition(b"\r\n\r\n")
    length = int(head.lower().partition(b"content-length: ")[2].split()[0])
    while len(body) < length:
        body += await stream.receive_some()
    return int(head.split()[1]), head, body


async def test_requests_that_come_at_once_are_answered_in_their_order() -> None:
    async with opened() as endpoint, endpoint.dial() as client:
        await client.send_all(b"".join(GET % (path, b"") for path in (b"/", b"/nowhere", b"/")))
        await client.send_eof()
        answers = (await everything(client)).split(b"HTTP/1.1 ")[1:]
    assert [each[:3] for each in answers] == [b"200", b"404", b"200"]
    assert all(json.loads(each.partition(b"\r\n\r\n")[2]) == {} for each in answers)


@pytest.mark.parametrize("behind", [b"", GET % (b"/", b""), b"not HTTP", b"x" * 40_000])
async def test_answer_is_whole_for_a_client_that_sends_no_more(behind: bytes) -> None:
    async with opened() as endpoint, endpoint.dial() as client:
        await client.send_all(GET % (b"/pieces", b"") + behind)
        await client.send_eof()
        told = await everything(client)
    assert told.count(PIECE) == 3
    assert b"x\r\n0\r\n\r\n" in told


async def test_client_of_http_1_0_gets_a_body_as_it_is_and_its_end() -> None:
    async with opened() as endpoint, endpoint.dial() as client:
        await client.send_all(b"GET /pieces HTTP/1.0\r\n\r\n")
        head, _, body = (await everything(client)).partition(b"\r\n\r\n")
    assert b"\r\nconnection: close" in head.lower()
    assert b"transfer-encoding" not in head.lower()
    assert body == 3 * PIECE


async def test_client_that_waits_to_send_a_body_is_told_to_go_on() -> None:
    go_on = trio.Event()
    async with opened(waiting(go_on)) as endpoint, endpoint.dial() as client:
        await client.send_all(GET % (b"/nowhere", b"Content-Length: 5\r\nExpect: 100-continue\r\n"))
        assert (await client.receive_some()).startswith(b"HTTP/1.1 100 ")
        await client.send_all(b"hello" + GET % (b"/", b"Connection: close\r\n"))
        await trio.testing.wait_all_tasks_blocked()
        go_on.set()
        told = await everything(client)
    assert [each[:3] for each in told.split(b"HTTP/1.1 ")[1:]] == [b"404", b"200"]


async def test_broken_body_is_refused_where_no_answer_has_begun(caplog: pytest.LogCaptureFixture) -> None:
    async def answer_late(_: Scope, receive: Receive, send: Send) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        await send({"type": "http.response.start", "status": 200, "headers": []})

    async with opened(answer_late) as endpoint, endpoint.dial() as client:
        await client.send_all(GET % (b"/", b"Transfer-Encoding: chunked\r\n") + b"zz\r\n")
        assert (await answer(client))[0] == 400
        assert await everything(client) == b""
    assert caplog.records == []


async def test_offer_of_another_protocol_is_not_taken_up() -> None:
    offer = b"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n"
    async with opened() as endpoint, endpoint.dial() as client:
        for _ in range(2):
            await client.send_all(GET % (b"/", offer))
            status, head, _ = await answer(client)
            assert status == 200
            assert head.startswith(b"HTTP/1.1 ")
            assert b"upgrade" not in head.lower()


@pytest.mark.parametrize(
    ("begun", "status"),
    [
        (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0", 505),
        (b"GET / HTTP/1.2\r\nHost: x\r\n\r\n", 505),
        (
            b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
            + GET % (b"/", b""),
            400,
        ),
        (GET % (b"/", b"Connection: upgrade\r\nUpgrade: WebSocket\r\n") + b"\x81\x85abcdhello" * 99, 400),
    ],
    ids=["HTTP/2", "HTTP/1.2", "smuggled", "websocket"],
)
async def test_other_protocol_is_refused_and_nothing_is_logged(
    begun: bytes, status: int, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    async with opened() as endpoint, endpoint.dial() as client:
        await client.send_all(begun)
        told, head, body = await answer(client)
        assert (told, body) == (status, b"")
        assert b"\r\nconnection: close" in head.lower()
        assert await everything(client) == b""
    assert caplog.records == []


@pytest.mark.parametrize("hsts", [True, False])
async def test_browser_is_told_to_stay_with_tls_where_there_is_nothing_else(
    hsts: bool, autojump_clock: Clock
) -> None:
    async with opened(hsts=hsts) as endpoint:
        heads = []
        for begun in (GET % (b"/", b""), GET % (b"/nowhere", b""), b"x\r\n\r\n"):
            async with endpoint.dial() as client:
                await client.send_all(begun)
                heads.append((await answer(client))[1])
        async with endpoint.dial() as late:
            await late.send_all(b"GET /hea")
            heads.append(await everything(late))
        refused, wire = trio.testing.memory_stream_pair()
        await refused.send_eof()
        await endpoint.web.refuse(cast("Stream", wire), "The server is full.")
        heads.append(await refused.receive_some())
    assert [each.split()[1] for each in heads] == [b"200", b"404", b"400", b"408", b"503"]
    assert [HSTS in each.lower() for each in heads] == [hsts] * 5
    assert not any(b"\r\nserver:" in each.lower() for each in heads)  # which would say what it is made of


async def test_body_that_nobody_reads_holds_nothing_up() -> None:
    async with opened() as endpoint, endpoint.dial() as client:
        await client.send_all(b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
        await client.send_all(b"1\r\nx\r\n" * 5_000)
        assert (await answer(client))[0] == 200
        await client.aclose()
        await endpoint.left.wait()


@pytest.mark.parametrize(
    "noise",
    [
        b"\0" * 100,
        b"NAME ann\nJOIN lobby\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET /\xff HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET http://[ HTTP/1.1\r\nHost: x\r\n\r\n",
        b"OPTIONS * HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
        b"POST /nowhere HTTP/1.1\r\nHost: x\r\nContent-Length: " + b"9" * 5000 + b"\r\n\r\n",
        b"POST /nowhere HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nffffffff\r\n"
        + b"x" * 300_000,
        b"GET / HTTP/1.1\r\nHost: x\r\nX: " + b"x" * 300_000,
        b"GET /" + b"x" * 300_000,
        b"GET /nowhere HTTP/1.1\r\nHost: x\r\nX: \0\r\n\r\n",
        b"GET /nowhere HTTP/1.1\r\nHost: [\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\nhel",
        b"GET /nowhere HTTP/1.1\r\nHost: x\r\n\r\n" * 3 + b"\0" * 100,
        b"POST /nowhere HTTP/1.1\r\nHost: x\r\nContent-Length: 20\r\n\r\n" + b"GET / HTTP/1.1\r\n\r\n",
    ],
    ids=range(14),
)
async def test_noise_is_answered_or_hung_up_on_and_disturbs_nobody(
    noise: bytes, caplog: pytest.LogCaptureFixture, autojump_clock: Clock
) -> None:
    async with opened() as endpoint, endpoint.dial() as client, endpoint.dial() as other:
        try:
            await client.send_all(noise)
            await client.send_eof()
        except trio.BrokenResourceError:
            pass
        told = await everything(client)
        assert b" 200 " not in told.partition(b"\r\n")[0]
        await other.send_all(GET % (b"/", b""))
        assert (await answer(other))[0] == 200
    assert caplog.records == []


async def test_client_that_asks_for_nothing_is_hung_up_on(autojump_clock: Clock) -> None:
    async with opened() as endpoint, endpoint.dial() as silent, endpoint.dial() as slow:
        await slow.send_all(b"GET /hea")
        assert await everything(silent) == b""
        assert (await everything(slow)).startswith(b"HTTP/1.1 408 Request Timeout\r\n")


async def test_client_that_does_not_finish_its_request_s_body_is_hung_up_on(autojump_clock: Clock) -> None:
    with_body = b"Content-Length: %d\r\n"
    async with opened(watch) as endpoint, endpoint.dial() as whole, endpoint.dial() as slow:
        await whole.send_all(GET % (b"/", with_body % 1) + b"x")
        await slow.send_all(GET % (b"/", with_body % 2) + b"x")
        assert b"hello" in await everything(slow)
        await endpoint.left.wait()
        endpoint.web.make_room()  # for which no client is hung up on that sent the whole body
        assert b" 200 " in await whole.receive_some()


async def test_client_that_sends_a_request_byte_by_byte_has_as_long_as_any(autojump_clock: Clock) -> None:
    async with opened() as endpoint, endpoint.dial() as slow:
        with pytest.raises(trio.BrokenResourceError):  # noqa: PT012 - as soon as the server hangs up
            for _ in range(100):
                await slow.send_all(b"X")
                await trio.sleep(1)


async def test_stop_lets_go_of_those_who_wait_and_gives_others_their_answer() -> None:
    async with opened() as endpoint, endpoint.dial() as silent, endpoint.dial() as idle:
        await idle.send_all(GET % (b"/", b""))
        await answer(idle)
        async with await endpoint.stuck() as stuck:
            endpoint.web.stop()
            assert await everything(silent) == b""
            assert await everything(idle) == b""
            assert (await everything(stuck)).endswith(b"\r\n0\r\n\r\n")


async def test_client_that_stops_reading_is_hung_up_on(autojump_clock: Clock) -> None:
    async with opened() as endpoint, await endpoint.stuck():
        await endpoint.left.wait()
        assert 20 < trio.current_time() < 100


async def test_where_too_much_waits_for_all_the_client_with_most_is_hung_up_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(server, "ALL_WAITING", len(PIECE) * 3 // 2)
    async with opened() as endpoint, await endpoint.stuck():
        assert not endpoint.left.is_set()
        async with await endpoint.stuck(), endpoint.dial() as other:
            await endpoint.left.wait()
            await other.send_all(GET % (b"/", b""))
            assert (await answer(other))[0] == 200


async def test_answer_ends_when_its_client_has_gone(caplog: pytest.LogCaptureFixture) -> None:
    async with opened() as endpoint:
        async with endpoint.dial(is_slow=True) as client:
            await client.send_all(GET % (b"/endless", b""))
            await client.receive_some()
        await endpoint.left.wait()
    assert caplog.records == []


async def test_answer_that_fails_midway_lacks_its_end_and_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    async with opened() as endpoint, endpoint.dial() as client:
        await client.send_all(GET % (b"/fails", b""))
        told = await everything(client)
    assert told.startswith(b"HTTP/1.1 200")
    assert PIECE in told
    assert not told.endswith(b"0\r\n\r\n")
    assert "the disk is gone" in caplog.text


async def test_who_has_asked_for_nothing_for_longest_makes_room() -> None:
    async with opened() as endpoint, endpoint.dial() as silent, endpoint.dial() as client:
        await client.send_all(GET % (b"/", b""))
        assert (await answer(client))[0] == 200
        endpoint.web.make_room()
        assert await everything(silent) == b""
        await client.send_all(GET % (b"/", b""))
        assert (await answer(client))[0] == 200
        await trio.testing.wait_all_tasks_blocked()  # until then the client counts as one that is answered
        endpoint.web.make_room()
        assert await everything(client) == b""
        await endpoint.left.wait()
        endpoint.web.make_room()  # there is nobody


async def test_who_reads_nothing_makes_room_in_the_end(mock_clock: Clock) -> None:
    async with opened() as endpoint, await endpoint.stuck():
        endpoint.web.make_room()
        await trio.testing.wait_all_tasks_blocked()
        assert not endpoint.left.is_set()
        mock_clock.jump(10)
        endpoint.web.make_room()
        await endpoint.left.wait()


async def test_who_is_answered_does_not_make_room() -> None:
    go_on = trio.Event()
    async with opened(waiting(go_on)) as endpoint, endpoint.dial() as client:
        await client.send_all(GET % (b"/", b""))
        await trio.testing.wait_all_tasks_blocked()
        endpoint.web.make_room()
        go_on.set()
        assert (await answer(client))[0] == 200


# On real sockets.


@asynccontextmanager
async def on_a_port() -> AsyncIterator[tuple[str, int, trio.Event]]:
    """Serve on a port; give it, and an event for the end of the first connection."""
    left, web = trio.Event(), Web(application)

    async def serve(stream: trio.SocketStream) -> None:
        await web.serve(stream)
        left.set()

    async with trio.open_nursery() as nursery:
        (listener,) = await trio.open_tcp_listeners(0, host="127.0.0.1")
        nursery.start_soon(trio.serve_listeners, serve, [listener])
        yield *listener.socket.getsockname(), left
        nursery.cancel_scope.cancel()


@pytest.mark.parametrize("path", [b"/fails", b"/pieces"])
async def test_connection_of_http_1_0_is_reset_where_its_end_would_look_like_that_of_the_answer(
    path: bytes,
) -> None:
    async with on_a_port() as (host, port, _), await trio.open_tcp_stream(host, port) as client:
        await client.send_all(b"GET %s HTTP/1.0\r\n\r\n" % path)
        with pytest.raises(trio.BrokenResourceError) if path == b"/fails" else nullcontext():
            await everything(client)


async def test_whole_answer_of_http_1_0_stays_for_a_client_that_reads_it_late(mock_clock: Clock) -> None:
    mock_clock.rate = 20
    async with on_a_port() as (host, port, left):
        client = trio.socket.socket()
        client.setsockopt(trio.socket.SOL_SOCKET, trio.socket.SO_RCVBUF, 4096)  # so the rest waits to be sent
        await client.connect((host, port))
        async with trio.SocketStream(client) as stream:
            await stream.send_all(b"GET /small HTTP/1.0\r\n\r\n")
            await left.wait()
            assert (await everything(stream)).count(SMALL) == 3


async def test_client_that_resets_in_the_middle_of_an_answer_leaves_nothing(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with on_a_port() as (host, port, left):
        client = await trio.open_tcp_stream(host, port)
        await client.send_all(GET % (b"/endless", b""))
        await client.receive_some()
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        await client.aclose()
        await left.wait()
    assert caplog.records == []

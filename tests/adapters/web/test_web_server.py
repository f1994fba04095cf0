"""Connections: what is answered on them, and how they end. On real sockets."""

import json
import logging
import socket
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext
from itertools import count
from typing import cast

import pytest
import trio
import trio.testing
from game_records import game
from sqlalchemy import Connection, event
from starlette.types import Receive, Scope, Send
from web_world import Site, keep

from adapters.web import server
from adapters.web.server import Stream, Web
from gateway.store import StoreError
from gateway.store.games import PAGE
from gateway.store.records import Participant

PATIENCE = 20
GET = b"GET %s HTTP/1.1\r\nHost: x\r\n%s\r\n"


class Endpoint:
    """A web front end on a port."""

    def __init__(self, web: Web) -> None:
        self.web = web
        self.port = 0
        self.left = trio.Event()
        """Set once a connection is over."""

    async def serve(self, stream: trio.SocketStream) -> None:
        await self.web.serve(stream)
        self.left.set()

    async def dial(self) -> trio.SocketStream:
        return await trio.open_tcp_stream("127.0.0.1", self.port)


@asynccontextmanager
async def opened(site: Site, *, hsts: bool = False) -> AsyncIterator[Endpoint]:
    """Serve while the context lasts; at its end everybody is cut off at once."""
    endpoint = Endpoint(Web(site.application, hsts=hsts))
    (listener,) = await trio.open_tcp_listeners(0, host="127.0.0.1")
    endpoint.port = listener.socket.getsockname()[1]
    with trio.fail_after(PATIENCE):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(trio.serve_listeners, endpoint.serve, [listener])
            yield endpoint
            nursery.cancel_scope.cancel()


async def everything(stream: trio.SocketStream) -> bytes:
    chunks = []
    try:
        async for chunk in stream:
            chunks.append(bytes(chunk))  # noqa: PERF401  what came before a reset counts
    except trio.BrokenResourceError:
        pass
    return b"".join(chunks)


async def answer(stream: trio.SocketStream) -> tuple[int, bytes, bytes]:
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


async def test_one_connection_takes_one_request_after_another(site: Site) -> None:
    keep(site.database, [game()])
    async with opened(site) as endpoint, await endpoint.dial() as client:
        for path in (b"/api/games", b"/healthz", b"/nowhere", b"/api/players/alice"):
            await client.send_all(GET % (path, b""))
            status, _, body = await answer(client)
            assert status == (404 if path == b"/nowhere" else 200)
            json.loads(body)


async def test_head_has_the_length_of_a_body_that_does_not_come(site: Site) -> None:
    async with opened(site) as endpoint, await endpoint.dial() as client:
        await client.send_all(b"HEAD /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        head, _, body = (await everything(client)).partition(b"\r\n\r\n")
        assert b"content-length: 26" in head
        assert body == b""


async def test_server_says_nothing_of_what_it_is_made_of(site: Site) -> None:
    async with opened(site) as endpoint, await endpoint.dial() as client:
        await client.send_all(GET % (b"/healthz", b"Connection: close\r\n"))
        told = (await everything(client)).lower()
        assert b"\r\nserver:" not in told
        assert b"h11" not in told


async def test_requests_that_come_at_once_are_answered_in_their_order(site: Site) -> None:
    async with opened(site) as endpoint, await endpoint.dial() as client:
        paths = (b"/healthz", b"/nowhere", b"/healthz")
        await client.send_all(b"".join(GET % (path, b"") for path in paths))
        await client.send_eof()
        answers = (await everything(client)).split(b"HTTP/1.1 ")[1:]
        assert [each[:3] for each in answers] == [b"200", b"404", b"200"]


async def test_what_follows_the_last_request_is_not_looked_at(site: Site) -> None:
    async with opened(site) as endpoint, await endpoint.dial() as client:
        await client.send_all(GET % (b"/healthz", b"Connection: close\r\n") + b"\r\nnot HTTP")
        answers = (await everything(client)).split(b"HTTP/1.1 ")[1:]
        assert [each[:3] for each in answers] == [b"200"]


@pytest.mark.parametrize("behind", [b"", GET % (b"/healthz", b""), b"not HTTP", b"x" * 40_000])
async def test_export_is_whole_for_a_client_that_sends_no_more(site: Site, behind: bytes) -> None:
    keep(site.database, [game()] * (PAGE + 1))
    async with opened(site) as endpoint, await endpoint.dial() as client:
        await client.send_all(GET % (b"/api/export.jsonl", b"") + behind)
        await client.send_eof()
        told = await everything(client)
    assert told.count(b'{"id": ') == PAGE + 1
    assert b"}\n\r\n0\r\n\r\n" in told


async def test_client_of_http_1_0_gets_a_body_as_it_is_and_its_end(site: Site) -> None:
    keep(site.database, [game()])
    async with opened(site) as endpoint, await endpoint.dial() as client:
        await client.send_all(b"GET /api/export.jsonl HTTP/1.0\r\n\r\n")
        head, _, body = (await everything(client)).partition(b"\r\n\r\n")
        assert b"\r\nconnection: close" in head.lower()
        assert b"transfer-encoding" not in head.lower()
        assert json.loads(body)["id"] == "1"


async def test_client_that_waits_to_send_a_body_is_told_to_go_on(site: Site) -> None:
    async with opened(site) as endpoint, await endpoint.dial() as client:
        await client.send_all(GET % (b"/nowhere", b"Content-Length: 5\r\nExpect: 100-continue\r\n"))
        assert (await client.receive_some()).startswith(b"HTTP/1.1 100 ")
        await client.send_all(b"hello" + GET % (b"/healthz", b""))
        assert [(await answer(client))[0] for _ in range(2)] == [404, 200]


async def test_broken_body_is_refused_where_no_answer_has_begun(
    site: Site, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def answer_late(_: Scope, receive: Receive, send: Send) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        await send({"type": "http.response.start", "status": 200, "headers": []})

    monkeypatch.setattr(site, "application", answer_late)
    async with opened(site) as endpoint, await endpoint.dial() as client:
        await client.send_all(GET % (b"/", b"Transfer-Encoding: chunked\r\n") + b"zz\r\n")
        assert (await answer(client))[0] == 400
        assert await everything(client) == b""
    assert caplog.records == []


@pytest.mark.parametrize(
    "offer", [b"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n"]
)
async def test_offer_of_another_protocol_is_not_taken_up(site: Site, offer: bytes) -> None:
    async with opened(site) as endpoint, await endpoint.dial() as client:
        for _ in range(2):
            await client.send_all(GET % (b"/healthz", offer))
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
            + GET % (b"/healthz", b""),
            400,
        ),
        (
            GET % (b"/healthz", b"Connection: upgrade\r\nUpgrade: WebSocket\r\n") + b"\x81\x85abcdhello" * 99,
            400,
        ),
    ],
)
async def test_other_protocol_is_refused_and_nothing_is_logged(
    site: Site, begun: bytes, status: int, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    async with opened(site) as endpoint, await endpoint.dial() as client:
        await client.send_all(begun)
        told, head, body = await answer(client)
        assert told == status
        assert b"\r\nconnection: close" in head.lower()
        assert body == b""
        assert await everything(client) == b""
        await client.aclose()
        await endpoint.left.wait()
    assert caplog.records == []


@pytest.mark.parametrize("hsts", [True, False])
@pytest.mark.parametrize("begun", [GET % (b"/healthz", b""), GET % (b"/nowhere", b""), b"x\r\n\r\n"])
async def test_browser_is_told_to_stay_with_tls_where_there_is_nothing_else(
    site: Site, begun: bytes, hsts: bool
) -> None:
    async with opened(site, hsts=hsts) as endpoint, await endpoint.dial() as client:
        await client.send_all(begun)
        _, head, _ = await answer(client)
    assert (b"\r\nstrict-transport-security: max-age=" in head.lower()) == hsts


@pytest.mark.parametrize("hsts", [True, False])
async def test_browser_that_is_not_served_is_told_that_too(
    site: Site, hsts: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "IDLE_LIMIT", 0.3)
    async with opened(site, hsts=hsts) as endpoint, await endpoint.dial() as slow:
        await slow.send_all(b"GET /hea")
        late = await everything(slow)
        client, stream = trio.testing.memory_stream_pair()
        await client.send_eof()
        await endpoint.web.refuse(cast("Stream", stream), "The server is full.")
        refused = await client.receive_some()
    assert [b" 408 " in late, b" 503 " in refused] == [True, True]
    assert [b"\r\nstrict-transport-security: " in each for each in (late, refused)] == [hsts, hsts]


@pytest.mark.parametrize("path", [b"/healthz", b"/api/clear"])
async def test_body_that_nobody_reads_holds_nothing_up(site: Site, path: bytes) -> None:
    async with opened(site) as endpoint, await endpoint.dial() as client:
        await client.send_all(b"POST %s HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n" % path)
        await client.send_all(b"1\r\nx\r\n" * 5_000)
        assert (await answer(client))[0] == 413
        await client.aclose()
        await endpoint.left.wait()


async def test_client_that_resets_in_the_middle_of_an_export_leaves_nothing(
    bulky: Site, caplog: pytest.LogCaptureFixture
) -> None:
    async with opened(bulky) as endpoint:
        client = await stuck(endpoint)
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        await client.aclose()
        await endpoint.left.wait()
    assert [record for record in caplog.records if record.levelno > logging.INFO] == []


@pytest.mark.parametrize(
    "noise",
    [
        b"\0" * 100,
        b"NAME ann\nJOIN lobby\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET /\xff HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET http://[ HTTP/1.1\r\nHost: x\r\n\r\n",
        b"OPTIONS * HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
        b"CONNECT x:1 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\nContent-Length: x\r\n\r\n",
        b"POST /api/clear HTTP/1.1\r\nHost: x\r\nContent-Length: " + b"9" * 5000 + b"\r\n\r\n",
        b"POST /api/clear HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nffffffff\r\n"
        + b"x" * 300_000,
        b"GET / HTTP/1.1\r\nHost: x\r\nX: " + b"x" * 300_000,
        b"GET /" + b"x" * 300_000,
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\xff" * 300,
        b"GET /no HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: h2c\r\nHTTP2-Settings: !!!\r\n\r\n"
        + b"x" * 100,
        b"GET /api/games HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n" + b"\x81" * 500,
        b"GET /nowhere HTTP/1.1\nHost: x\n\n",
        b"GET /nowhere HTTP/1.1\r\nHost: x\r\nX: \0\r\n\r\n",
        b"GET /nowhere HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n",
        b"GET /nowhere HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
        b"GET /nowhere HTTP/1.1\r\nHost: [\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\nhel",
        b"GET /nowhere HTTP/1.1\r\nHost: x\r\n\r\n" * 3 + b"\0" * 100,
        b"POST /nowhere HTTP/1.1\r\nHost: x\r\nContent-Length: 20\r\n\r\n" + b"GET / HTTP/1.1\r\n\r\n",
        b"GET /nowhere HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked\r\n\r\nzz\r\n",
    ],
    ids=range(23),
)
async def test_noise_is_answered_or_hung_up_on_and_disturbs_nobody(
    site: Site, noise: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    async with opened(site) as endpoint, await endpoint.dial() as client, await endpoint.dial() as other:
        try:
            await client.send_all(noise)
            await client.send_eof()
        except trio.BrokenResourceError:
            pass
        told = await everything(client)
        assert b"Traceback" not in told
        assert b" 200 " not in told.partition(b"\r\n")[0]
        await other.send_all(GET % (b"/healthz", b""))
        assert (await answer(other))[0] == 200
    assert caplog.records == []


async def test_client_that_asks_for_nothing_is_hung_up_on(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "IDLE_LIMIT", 0.3)
    async with opened(site) as endpoint, await endpoint.dial() as silent, await endpoint.dial() as slow:
        await slow.send_all(b"GET /hea")
        assert await everything(silent) == b""
        assert (await everything(slow)).startswith(b"HTTP/1.1 408 Request Timeout\r\n")


async def watch(_: Scope, receive: Receive, send: Send) -> None:
    """Answer until the client is gone, as the live stream does."""
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"hello", "more_body": True})
    while (await receive())["type"] != "http.disconnect":
        pass


async def test_client_that_does_not_finish_its_request_s_body_is_hung_up_on(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "IDLE_LIMIT", 0.05)
    monkeypatch.setattr(server, "PARTING", 0.05)
    monkeypatch.setattr(site, "application", watch)
    with_body = b"Content-Length: %d\r\n"
    async with opened(site) as endpoint, await endpoint.dial() as whole, await endpoint.dial() as slow:
        await whole.send_all(GET % (b"/", with_body % 1) + b"x")
        await slow.send_all(GET % (b"/", with_body % 2) + b"x")
        assert b"hello" in await everything(slow)
        await endpoint.left.wait()
        endpoint.web.make_room()  # for which no client is hung up on that sent the whole body
        assert b" 200 " in await whole.receive_some()


async def test_client_that_sends_a_request_byte_by_byte_has_as_long_as_any(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "IDLE_LIMIT", 0.05)
    monkeypatch.setattr(server, "PARTING", 0.05)
    async with opened(site) as endpoint, await endpoint.dial() as slow:
        with pytest.raises(trio.BrokenResourceError):  # noqa: PT012 - as soon as the server hangs up
            while True:
                await slow.send_all(b"X")
                await trio.lowlevel.checkpoint()


async def test_stop_lets_go_of_those_who_wait_at_once(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "IDLE_LIMIT", 1e6)
    async with opened(site) as endpoint, await endpoint.dial() as silent, await endpoint.dial() as idle:
        await idle.send_all(GET % (b"/healthz", b""))
        await answer(idle)
        endpoint.web.stop()
        assert await everything(silent) == b""
        assert await everything(idle) == b""


@pytest.fixture
def bulky(site: Site) -> Site:
    """A site with a game that is larger than all buffers on the way to a client."""
    keep(site.database, [game(players=(Participant("alice", "x" * 20_000_000), Participant("bob", "x")))])
    return site


async def stuck(endpoint: Endpoint) -> trio.SocketStream:
    """Return a client that asked for an export, and stopped reading in the middle of it."""
    client = await endpoint.dial()
    await client.send_all(GET % (b"/api/export.jsonl", b""))
    assert (await client.receive_some()).startswith(b"HTTP/1.1 200")
    return client


async def test_client_that_stops_reading_does_not_hold_up_the_end(bulky: Site) -> None:
    async with opened(bulky) as endpoint:
        client = await stuck(endpoint)
        endpoint.web.stop()
        await trio.testing.wait_all_tasks_blocked()
        assert not endpoint.left.is_set()
    await client.aclose()


async def test_client_that_stops_reading_is_hung_up_on(bulky: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "SEND_LIMIT", 0.01)
    async with opened(bulky) as endpoint, await stuck(endpoint):
        await endpoint.left.wait()


async def test_where_too_much_waits_for_all_the_client_with_most_is_hung_up_on(
    bulky: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "ALL_WAITING", 30_000_000)
    async with opened(bulky) as endpoint, await stuck(endpoint):
        await trio.testing.wait_all_tasks_blocked()
        assert not endpoint.left.is_set()
        async with await stuck(endpoint), await endpoint.dial() as other:
            with trio.fail_after(server.SEND_LIMIT / 2):
                await endpoint.left.wait()
            await other.send_all(GET % (b"/healthz", b""))
            assert (await answer(other))[0] == 200


async def test_export_ends_when_its_client_has_gone(bulky: Site) -> None:
    keep(bulky.database, [game()] * PAGE)
    begun: list[Connection] = []
    event.listen(bulky.database.engine, "begin", begun.append)
    async with opened(bulky) as endpoint:
        async with await stuck(endpoint):
            pass
        await endpoint.left.wait()
    assert len(begun) == 1


async def test_one_export_after_another_goes_over_one_connection(site: Site) -> None:
    keep(site.database, [game()])
    async with opened(site) as endpoint, await endpoint.dial() as client:
        for _ in range(3):
            await client.send_all(GET % (b"/api/export.jsonl", b""))
            told = b""
            while not told.endswith(b"\r\n0\r\n\r\n"):
                told += await client.receive_some()
            assert told.count(b'"id": "1"') == 1


async def test_answer_that_is_under_way_at_the_stop_is_given_whole(
    bulky: Site,
) -> None:
    async with opened(bulky) as endpoint, await stuck(endpoint) as client:
        endpoint.web.stop()
        told = await everything(client)
        assert told.endswith(b"\r\n0\r\n\r\n")


async def test_export_that_fails_midway_lacks_its_end_and_is_logged(
    site: Site, caplog: pytest.LogCaptureFixture
) -> None:
    keep(site.database, [game()] * PAGE)
    reads = count(1)

    def fail(_: Connection) -> None:
        if next(reads) == 2:
            raise StoreError("the disk is gone")

    event.listen(site.database.engine, "begin", fail)
    async with opened(site) as endpoint, await endpoint.dial() as client:
        await client.send_all(GET % (b"/api/export.jsonl", b""))
        told = await everything(client)
    assert told.startswith(b"HTTP/1.1 200")
    assert told.count(b"\n{") == PAGE - PAGE % 100
    assert not told.endswith(b"\r\n0\r\n\r\n")
    assert "the disk is gone" in caplog.text


@pytest.mark.parametrize("fails", [True, False])
async def test_connection_of_http_1_0_is_reset_where_its_end_would_look_like_that_of_the_answer(
    site: Site, fails: bool
) -> None:
    keep(site.database, [game()] * (PAGE + 1))
    reads = count(1)

    def fail(_: Connection) -> None:
        if next(reads) == 2 and fails:
            raise StoreError("the disk is gone")

    event.listen(site.database.engine, "begin", fail)
    async with opened(site) as endpoint, await endpoint.dial() as client:
        await client.send_all(b"GET /api/export.jsonl HTTP/1.0\r\n\r\n")
        with pytest.raises(trio.BrokenResourceError) if fails else nullcontext():
            async for _ in client:
                pass


async def test_whole_answer_of_http_1_0_stays_for_a_client_that_reads_it_late(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "PARTING", 0.05)
    keep(site.database, [game()] * 30)
    async with opened(site) as endpoint:
        client = trio.socket.socket()
        client.setsockopt(trio.socket.SOL_SOCKET, trio.socket.SO_RCVBUF, 4096)  # so the rest waits to be sent
        await client.connect(("127.0.0.1", endpoint.port))
        async with trio.SocketStream(client) as stream:
            await stream.send_all(b"GET /api/export.jsonl HTTP/1.0\r\n\r\n")
            await endpoint.left.wait()
            assert (await everything(stream)).count(b"\n{") == 30


async def test_who_has_asked_for_nothing_for_longest_makes_room(site: Site) -> None:
    async with opened(site) as endpoint, await endpoint.dial() as silent, await endpoint.dial() as client:
        await client.send_all(GET % (b"/healthz", b""))
        assert (await answer(client))[0] == 200
        endpoint.web.make_room()
        assert await everything(silent) == b""
        await client.send_all(GET % (b"/healthz", b""))
        assert (await answer(client))[0] == 200
        await trio.testing.wait_all_tasks_blocked()  # until then the client counts as one that is answered
        endpoint.web.make_room()
        assert await everything(client) == b""
        await endpoint.left.wait()
        endpoint.web.make_room()  # there is nobody


async def test_who_reads_nothing_makes_room_in_the_end(bulky: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    async with opened(bulky) as endpoint, await stuck(endpoint):
        await trio.testing.wait_all_tasks_blocked()
        endpoint.web.make_room()
        assert not endpoint.left.is_set()
        monkeypatch.setattr(server, "STUCK", 0.0)
        endpoint.web.make_room()
        await endpoint.left.wait()


async def test_who_is_answered_does_not_make_room(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    asked, go_on, application = trio.Event(), trio.Event(), site.application

    async def slow(scope: Scope, receive: Receive, send: Send) -> None:
        asked.set()
        await go_on.wait()
        await application(scope, receive, send)

    monkeypatch.setattr(site, "application", slow)
    async with opened(site) as endpoint, await endpoint.dial() as client:
        await client.send_all(GET % (b"/healthz", b""))
        await asked.wait()
        endpoint.web.make_room()
        go_on.set()
        assert (await answer(client))[0] == 200

"""The request by HTTP at a websocket port: pages for browsers, websockets for bots, errors for nonsense."""

import logging
from collections import Counter
from collections.abc import Sequence
from functools import partial

import certificates
import pytest
import trio
import trio.testing
from tcp_port import TcpPort, until
from worlds.connection import GET, HANDSHAKE, HERE, PAGE, TEXT, Client, answered, connections, frame

from adapters.client.accepted import Accepted
from adapters.entrance.handshake import HttpPort
from adapters.entrance.one_port import receive_request
from adapters.entrance.preamble import Preamble
from gateway.access.certificates import Certificate

ACCEPT = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="
"""What RFC 6455 1.3 answers to the handshake's key."""
HELLO = frame(TEXT, "hello")


def warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]


def with_headers(request: bytes, *headers: str) -> bytes:
    lines = "".join(f"{header}\r\n" for header in headers)
    return request.removesuffix(b"\r\n") + f"{lines}\r\n".encode("latin-1")


async def serve_nobody(client: Accepted) -> None:
    await client.socket.linger()


async def asked(request: bytes, origin: str = HERE, **options: object) -> Client:
    """Return a client that has sent a request and got the answer."""
    async with connections(**options) as world:
        client = world.dial(origin=origin)
        client.send(request)
        await world.quiet()
        status, headers, _ = client.response
        assert client.is_hung_up_on == (status != 101)
        assert headers["connection"] == ("upgrade" if status == 101 else "close")
        return client


async def answer(request: bytes, origin: str = HERE, **options: object) -> tuple[int, dict[str, str], str]:
    """Return status, headers and body of the answer to a request."""
    return (await asked(request, origin, **options)).response


# Websockets.


@pytest.mark.parametrize("frames", [0, 1, 50])
@pytest.mark.parametrize("size", [1, 17, 10_000])
async def test_handshake_is_answered_as_the_rfc_says_and_frames_may_come_with_it(
    frames: int, size: int
) -> None:
    async with connections() as world:
        ann = world.dial()
        data = HANDSHAKE + HELLO * frames
        for at in range(0, len(data), size):
            ann.send(data[at : at + size])
            await world.quiet()
        ann.say("end")
        await world.quiet()
        status, headers, _ = ann.response
        assert (status, headers["upgrade"]) == (101, "websocket")
        assert f"Sec-WebSocket-Accept: {ACCEPT}\r\n".encode() in ann.received
        assert answered(ann.texts) == [*["hello"] * frames, "end"]
        assert world.opened == [("/?table=x", None)]


async def test_nobody_gets_a_websocket_while_the_server_stops() -> None:
    async with connections() as world:
        world.is_stopping = True
        bob = world.dial()
        bob.send(HANDSHAKE)
        await world.quiet()
        status, headers, body = bob.response
        assert (status, headers["retry-after"]) == (503, "5")
        assert body == "The server is stopping. Try again later.\n"
        assert bob.is_hung_up_on


@pytest.mark.parametrize(
    ("header", "token"),
    [
        (("Authorization: Bearer abc-_1",), "abc-_1"),
        (("authorization: bearer  abc",), "abc"),
        (("Authorization: Basic abc",), None),
        (("Authorization: Bearer a b",), None),
        (("Authorization: Bearer",), None),
        ((), None),
    ],
)
async def test_bearer_token_of_the_handshake_is_the_connections(
    header: Sequence[str], token: str | None
) -> None:
    async with connections() as world:
        world.dial().send(with_headers(HANDSHAKE, *header))
        await world.quiet()
        assert world.opened == [("/?table=x", token)]


# Pages of websites.


@pytest.mark.parametrize(
    "origins", [(), ("",), ("http://localhost:3000",), ("http://[::1]",), ("https://c4.example",)]
)
async def test_page_that_may_play_and_what_is_no_page_get_a_websocket(origins: Sequence[str]) -> None:
    request = with_headers(HANDSHAKE, *(f"Origin: {each}" for each in origins))
    assert (await answer(request, allow_origin=["https://c4.example"]))[0] == 101


@pytest.mark.parametrize(
    "origins", [("http://evil.example",), ("null",), ("http://localhost", "http://evil.example"), ("\xe4",)]
)
async def test_page_of_another_website_gets_none_and_hears_how_it_could(origins: Sequence[str]) -> None:
    request = with_headers(HANDSHAKE, *(f"Origin: {each}" for each in origins))
    status, _, body = await answer(request, allow_origin=["https://c4.example", "*"])
    assert status == 403
    assert "--allow-origin" in body
    assert body.count("\n") == 1


async def test_pages_that_are_refused_are_counted_and_logged_once_a_minute(
    caplog: pytest.LogCaptureFixture, autojump_clock: trio.testing.MockClock
) -> None:
    caplog.set_level(logging.INFO)
    async with connections() as world:
        for pause in (0.0, 1.0, 60.0):
            await trio.sleep(pause)
            world.dial().send(with_headers(HANDSHAKE, "Origin: http://evil.example/" + "x" * 200))
            await world.quiet()
        assert world.counts == {("entry_refused", "foreign_origin"): 3}
    assert [record.levelname for record in caplog.records] == ["INFO"] * 2
    assert "'http://evil.example/xxx" in caplog.text
    assert "x" * 100 not in caplog.text


# No websockets.


@pytest.mark.parametrize(
    "request_",
    [
        *(
            f"GET {target} HTTP/1.1\r\nHost: x\r\n\r\n".encode()
            for target in ("/", "/?table=x", "/api/results")
        ),
        b"GET / HTTP/1.0\r\n\r\n",
        b"HEAD / HTTP/1.1\r\nHost: x\r\n\r\n",
        HANDSHAKE.replace(b"Upgrade: websocket\r\n", b""),
        HANDSHAKE.replace(b"Connection: keep-alive, Upgrade\r\n", b""),
    ],
)
async def test_request_for_no_websocket_is_told_what_to_connect_with(request_: bytes) -> None:
    status, headers, body = await answer(request_)
    assert (status, body) == (200, "" if request_.startswith(b"HEAD") else PAGE)
    assert headers["content-type"] == "text/plain; charset=utf-8"
    assert headers["content-length"] == str(len(PAGE))


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


@pytest.mark.parametrize(
    ("page", "accept"), [(None, "text/html"), (8000, "*/*"), (8000, "application/json"), (8000, "")]
)
async def test_without_a_page_or_a_browser_the_text_is_the_answer(page: int | None, accept: str) -> None:
    assert (await answer(with_headers(GET, f"Accept: {accept}"), page=page))[::2] == (200, PAGE)


async def test_other_methods_are_not_allowed() -> None:
    status, headers, _ = await answer(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n")
    assert (status, headers["allow"]) == (405, "get, head")


@pytest.mark.parametrize(
    ("data", "is_single"),
    [
        (b"POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc", False),
        (b"GET / HTTP/1.1\r\nHost: x\r\nVia: 1.1 p\r\n\r\nGET", True),
        (b"GET / HTTP/1.1\r\nHost: x\r\nForwarded: for=1.2.3.4\r\n\r\n", True),
        (with_headers(GET, "Accept: text/html"), False),
    ],
)
async def test_request_for_no_websocket_is_passed_on_whole(data: bytes, is_single: bool) -> None:
    async with connections(passes_on=True, page=8000) as world:
        client = world.dial()
        client.send(data)
        await world.quiet()
        assert world.passed_on == [(data, False, is_single)]
        assert client.received == b""


@pytest.mark.parametrize(("request_", "status"), [(HANDSHAKE, 101), (b"x\r\n\r\n", 400)])
async def test_request_for_a_websocket_and_nonsense_are_not_passed_on(request_: bytes, status: int) -> None:
    assert (await answer(request_, passes_on=True))[0] == status


# Nonsense.


@pytest.mark.parametrize(
    ("nonsense", "status"),
    [
        (b"NAME ann\nJOIN lobby\n\n", 400),
        (b"GET / HTTP/1.1\r\n\r\n", 400),
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\xff" * 100 + b"\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: x\r\nno header\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: x\r\nX-Filler: " + b"x" * 1_000_000, 431),
    ],
)
async def test_what_is_no_http_is_refused(nonsense: bytes, status: int) -> None:
    client = await asked(nonsense)
    assert client.response[0] == status
    assert not client.socket.was_cut_off


@pytest.mark.parametrize("request_", [b"POST / HTTP/1.1\r\nHost: x\r\n\r\n", HANDSHAKE])
async def test_request_with_two_lengths_is_refused_and_nothing_behind_it_read(request_: bytes) -> None:
    request_ = with_headers(request_, "Content-Length: 4", "Transfer-Encoding: chunked")
    status, _, body = await answer(request_ + b"0\r\n\r\n" + HANDSHAKE)
    assert (status, body) == (400, "a request has Content-Length or Transfer-Encoding, not both\n")


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        (HANDSHAKE.replace(b"GET", b"POST"), 400),
        (HANDSHAKE.replace(b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n", b""), 400),
        (HANDSHAKE.replace(b"dGhlIHNhbXBsZSBub25jZQ==", b"\xff\xfe"), 400),
        (HANDSHAKE.replace(b"Version: 13", b"Version: 8"), 426),
        (HANDSHAKE.replace(b"HTTP/1.1", b"HTTP/1.0"), 101),
        (HANDSHAKE.replace(b"Upgrade: websocket", b"UPGRADE:   WebSocket  "), 101),
        (with_headers(HANDSHAKE, "Content-Length: 5") + b"hello", 101),
        (with_headers(HANDSHAKE, "Transfer-Encoding: chunked") + b"5\r\nhello\r\n0\r\n\r\n", 101),
        (with_headers(HANDSHAKE, "Sec-WebSocket-Extensions: nonsense; \xff"), 101),
        (with_headers(HANDSHAKE, "Sec-WebSocket-Protocol: ,,"), 101),
        (HANDSHAKE.replace(b"localhost", b"\xff"), 101),
        (HANDSHAKE.replace(b"/?table=x", b"//[?"), 101),
    ],
)
async def test_strange_handshake_is_answered_and_never_our_bug(
    request_: bytes, status: int, caplog: pytest.LogCaptureFixture
) -> None:
    async with connections() as world:
        client = world.dial()
        client.send(request_)
        await world.quiet()
        assert client.response[0] == status
        if status == 426:
            headers = client.response[1]
            assert (headers["sec-websocket-version"], headers["upgrade"]) == ("13", "websocket")
        client.hangs_up()
        await world.quiet()
    assert warnings(caplog) == []


@pytest.mark.parametrize("said", [b"", b"GET / HT", HANDSHAKE[:-4], HANDSHAKE + HELLO[:3]])
@pytest.mark.parametrize("how", ["resets", "hangs up", "resets at once"])
async def test_client_that_vanishes_at_the_door_is_never_our_bug(
    said: bytes, how: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with connections() as world:
        ann = world.dial()
        ann.send(said)
        if how != "resets at once":
            await world.quiet()
        ann.hangs_up() if how == "hangs up" else ann.resets()
        await world.quiet()
        assert ann.socket.is_closed
        assert len(world.hub) == 0
    assert warnings(caplog) == []


# Time.


async def test_client_that_asks_for_nothing_is_told_so_and_hung_up_on_after_a_minute(
    autojump_clock: trio.testing.MockClock,
) -> None:
    async with connections() as world:
        ann = world.dial()
        await trio.sleep(59.9)
        assert ann.received == b""
        await trio.sleep(0.2)
        assert ann.response[0] == 408
        assert ann.is_hung_up_on


async def test_client_that_sends_its_request_byte_by_byte_has_as_long_as_any(
    autojump_clock: trio.testing.MockClock,
) -> None:
    async with connections(request_seconds=5) as world:
        ann = world.dial()
        for _ in range(9):
            assert not world.counts
            ann.send(b"G")
            await trio.sleep(0.6)
        assert ann.response[0] == 408
        assert world.counts == {("limit_request-seconds", "toy"): 1}


# TLS and proxies.


@certificates.needs_openssl
@pytest.mark.parametrize("begun", [GET, HANDSHAKE, with_headers(HANDSHAKE, "Origin: null"), b"x\r\n\r\n"])
@pytest.mark.parametrize(
    ("by_tls", "tls_only", "told"), [(True, True, True), (True, False, False), (False, True, False)]
)
async def test_browser_with_tls_is_told_to_stay_with_it_where_there_is_nothing_else(
    begun: bytes,
    by_tls: bool,
    tls_only: bool,
    told: bool,
    port: TcpPort,
    files: certificates.Files,
    certificate: Certificate,
) -> None:
    """Without TLS the answer may have been forged."""
    receive = partial(receive_request, serve_nobody, HttpPort(PAGE, has_hsts=tls_only))
    preamble = Preamble(certificate, Counter())
    client = await port.dial(receive, preamble, files.client() if by_tls else None)
    await client.send_all(begun)
    head = await until(client, b"\r\n\r\n")
    assert (b"\r\nstrict-transport-security: max-age=15552000\r\n" in head.lower()) == told


TRUSTED = ["10.0.0.0/8"]


@pytest.mark.parametrize(
    ("peer", "headers", "origin"),
    [
        ("10.0.0.1", ["X-Forwarded-For: 6.6.6.6, 203.0.113.7"], "203.0.113.7"),
        ("10.0.0.1", ["X-Forwarded-For: 203.0.113.7", "x-forwarded-for: 10.0.0.2"], "203.0.113.7"),
        ("10.0.0.1", ["X-Forwarded-For: 2001:db8::7"], "2001:db8::/64"),
        ("10.0.0.1", ["X-Forwarded-For: \xff"], "10.0.0.1"),
        ("10.0.0.1", [], "10.0.0.1"),
        ("192.0.2.1", ["X-Forwarded-For: 203.0.113.7"], "192.0.2.1"),
        ("", ["X-Forwarded-For: 203.0.113.7"], ""),
    ],
)
async def test_trusted_proxy_says_where_a_bot_is_and_nobody_else(
    peer: str, headers: Sequence[str], origin: str
) -> None:
    async with connections(trusted_proxy=TRUSTED) as world:
        world.dial(origin=peer).send(with_headers(HANDSHAKE, *headers))
        await world.quiet()
        assert [seat.origin for seat in world.hub.seats()] == [origin]


@pytest.mark.parametrize(
    ("peer", "proto", "scheme"),
    [("10.0.0.1", "https", "https"), ("10.0.0.1", "http", "http"), ("192.0.2.1", "https", "http")],
)
async def test_browser_stays_with_https_where_a_trusted_proxy_has_it(
    peer: str, proto: str, scheme: str
) -> None:
    request = b"GET / HTTP/1.1\r\nHost: c4.example\r\nAccept: text/html\r\n\r\n"
    request = with_headers(request, f"X-Forwarded-Proto: {proto}")
    _, headers, _ = await answer(request, peer, page=8000, trusted_proxy=TRUSTED)
    assert headers["location"] == f"{scheme}://c4.example:8000/"


@pytest.mark.parametrize(("peer", "is_secure"), [("10.0.0.1", True), ("192.0.2.1", False)])
async def test_request_that_is_passed_on_says_how_its_client_came(peer: str, is_secure: bool) -> None:
    request = with_headers(GET, "X-Forwarded-Proto: https", "X-Forwarded-For: 203.0.113.7")
    async with connections(passes_on=True, trusted_proxy=TRUSTED) as world:
        world.dial(origin=peer).send(request)
        await world.quiet()
        assert world.passed_on == [(request, is_secure, True)]


@pytest.mark.parametrize(
    ("peer", "named", "status"),
    [
        ("10.0.0.1", "bots.example", 101),
        ("10.0.0.1", "bots.example, inner.example", 101),
        ("10.0.0.1", "inner.example", 403),
        ("192.0.2.1", "bots.example", 403),
    ],
)
async def test_trusted_proxy_says_by_which_name_a_page_came(peer: str, named: str, status: int) -> None:
    request = with_headers(HANDSHAKE, "Origin: https://bots.example", f"X-Forwarded-Host: {named}")
    assert (await answer(request, peer, trusted_proxy=TRUSTED))[0] == status

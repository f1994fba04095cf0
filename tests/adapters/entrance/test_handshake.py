"""The request by HTTP at a websocket port: pages for browsers, websockets for bots, errors for nonsense.

What a host, an origin and a proxy's header mean is tested with `gateway.access`.
"""

import logging
from collections import Counter
from collections.abc import Callable
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
BROWSER = b"GET / HTTP/1.1\r\nHost: c4.example:1\r\nAccept: text/html\r\n\r\n"
PROXY = "10.0.0.1"
"""A proxy that is trusted where a test says so."""
BEHIND = {"trusted_proxy": ["10.0.0.0/8"]}


def warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]


def with_headers(request: bytes, *headers: str) -> bytes:
    lines = "".join(f"{header}\r\n" for header in headers)
    return request.removesuffix(b"\r\n") + f"{lines}\r\n".encode("latin-1")


async def asked(request: bytes, origin: str = HERE, **options: object) -> Client:
    """Return a client that has sent a request and got the answer."""
    async with connections(**options) as world:
        client = world.dial(origin=origin)
        client.send(request)
        await world.quiet()
        status, headers, _ = client.response
        assert client.is_hung_up_on == (status != 101)
        assert not client.socket.was_cut_off
        assert headers["connection"] == ("upgrade" if status == 101 else "close")
        return client


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


@pytest.mark.parametrize(
    ("header", "token"),
    [
        ("authorization: bearer  abc-_1", "abc-_1"),
        ("Authorization: Basic abc", None),
        ("Authorization: Bearer a b", None),
        ("Authorization: Bearer", None),
    ],
)
async def test_bearer_token_of_the_handshake_is_the_connections(header: str, token: str | None) -> None:
    async with connections() as world:
        world.dial().send(with_headers(HANDSHAKE, header))
        await world.quiet()
        assert world.opened == [("/?table=x", token)]


@pytest.mark.parametrize(
    "request_",
    [
        HANDSHAKE.replace(b"HTTP/1.1", b"HTTP/1.0"),
        HANDSHAKE.replace(b"Upgrade: websocket", b"UPGRADE:   WebSocket  "),
        HANDSHAKE.replace(b"localhost", b"\xff"),
        HANDSHAKE.replace(b"/?table=x", b"//[?"),
        with_headers(HANDSHAKE, "Sec-WebSocket-Extensions: nonsense; \xff", "Sec-WebSocket-Protocol: ,,"),
        with_headers(HANDSHAKE, "Content-Length: 5") + b"hello",
        with_headers(HANDSHAKE, "Transfer-Encoding: chunked") + b"5\r\nhello\r\n0\r\n\r\n",
    ],
)
async def test_strange_handshake_gets_a_websocket_and_is_never_our_bug(
    request_: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    async with connections() as world:
        client = world.dial()
        client.send(request_)
        await world.quiet()
        assert client.response[0] == 101
        client.hangs_up()
        await world.quiet()
    assert warnings(caplog) == []


TWO_LENGTHS = "Content-Length: 4", "Transfer-Encoding: chunked"


@pytest.mark.parametrize(
    ("request_", "status", "header", "text"),
    [
        (GET, 200, ("content-type", "text/plain; charset=utf-8"), PAGE),
        (GET.replace(b"/ HTTP/1.1", b"/?table=x HTTP/1.0"), 200, ("content-length", str(len(PAGE))), PAGE),
        (GET.replace(b"GET", b"HEAD"), 200, ("content-length", str(len(PAGE))), ""),
        (HANDSHAKE.replace(b"Upgrade: websocket\r\n", b""), 200, (), PAGE),
        (HANDSHAKE.replace(b"Connection: keep-alive, Upgrade\r\n", b""), 200, (), PAGE),
        (GET.replace(b"GET", b"POST"), 405, ("allow", "get, head"), "This port speaks websocket.\n"),
        (HANDSHAKE.replace(b": 13", b": 8"), 426, ("sec-websocket-version", "13"), None),
        (HANDSHAKE.replace(b": 13", b": 8"), 426, ("upgrade", "websocket"), None),
        (HANDSHAKE.replace(b"GET", b"POST"), 400, (), "This is no websocket handshake.\n"),
        (HANDSHAKE.replace(b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n", b""), 400, (), None),
        (HANDSHAKE.replace(b"dGhlIHNhbXBsZSBub25jZQ==", b"\xff\xfe"), 400, (), None),
        (b"NAME ann\nJOIN lobby\n\n", 400, (), None),
        (b"GET / HTTP/1.1\r\n\r\n", 400, (), None),
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\xff" * 100 + b"\r\n\r\n", 400, (), None),
        (GET[:-2] + b"X-Filler: " + b"x" * 1_000_000, 431, (), None),
        *(
            (
                with_headers(request, *TWO_LENGTHS) + b"0\r\n\r\n" + HANDSHAKE,
                400,
                (),
                "a request has Content-Length or Transfer-Encoding, not both\n",
            )
            for request in (GET.replace(b"GET", b"POST"), HANDSHAKE)
        ),
    ],
)
async def test_any_other_request_has_an_answer(
    request_: bytes, status: int, header: tuple[str, str] | tuple[()], text: str | None
) -> None:
    found, headers, body = (await asked(request_)).response
    assert found == status
    assert not header or headers[header[0]] == header[1]
    assert text is None or body == text


async def test_nobody_gets_a_websocket_while_the_server_stops() -> None:
    async with connections() as world:
        world.is_stopping = True
        bob = world.dial()
        bob.send(HANDSHAKE)
        await world.quiet()
        status, headers, body = bob.response
        assert (status, headers["retry-after"]) == (503, "5")
        assert body == "The server is stopping. Try again later.\n"


# Pages of websites.


@pytest.mark.parametrize(
    ("origins", "peer", "status"),
    [
        ([""], HERE, 101),
        (["http://localhost:3000"], HERE, 101),
        (["https://c4.example"], HERE, 101),
        (["http://evil.example"], HERE, 403),
        (["http://localhost", "http://evil.example"], HERE, 403),
        (["https://bots.example"], PROXY, 101),
        (["https://inner.example"], PROXY, 101),
        (["https://bots.example"], HERE, 403),
    ],
)
async def test_page_of_another_website_gets_no_websocket_and_hears_how_it_could(
    origins: list[str], peer: str, status: int
) -> None:
    """A trusted proxy says by which name a page came."""
    names = "X-Forwarded-Host: bots.example, inner.example"
    request = with_headers(HANDSHAKE, names, *(f"Origin: {each}" for each in origins))
    found, _, body = (await asked(request, peer, allow_origin=["https://c4.example"], **BEHIND)).response
    assert found == status
    assert ("--allow-origin" in body) == (status == 403)


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


# Browsers.


@pytest.mark.parametrize(
    ("request_", "peer", "place"),
    [
        (BROWSER, HERE, "http://c4.example:8000/"),
        (BROWSER.replace(b"c4.example:1", b"a b"), HERE, "http://192.0.2.7:8000/"),
        (with_headers(BROWSER, "X-Forwarded-Proto: https"), HERE, "http://c4.example:8000/"),
        (with_headers(BROWSER, "X-Forwarded-Proto: https"), PROXY, "https://c4.example:8000/"),
        (with_headers(BROWSER, "X-Forwarded-Proto: http"), PROXY, "http://c4.example:8000/"),
        (GET, HERE, None),
        (with_headers(GET, "Accept: application/json"), HERE, None),
    ],
)
async def test_browser_is_sent_to_the_page_on_the_host_it_came_to(
    request_: bytes, peer: str, place: str | None
) -> None:
    status, headers, body = (await asked(request_, peer, page=8000, **BEHIND)).response
    if place is None:
        assert (status, body) == (200, PAGE)
    else:
        assert (status, headers["location"], body) == (303, place, f"The page is at {place}\n")
    assert (await asked(request_, peer, **BEHIND)).response[::2] == (200, PAGE)


@pytest.mark.parametrize(
    ("data", "peer", "is_secure", "is_single"),
    [
        (b"POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc", HERE, False, False),
        (with_headers(GET, "Via: 1.1 p") + b"GET", HERE, False, True),
        (BROWSER, HERE, False, False),
        *(
            (with_headers(GET, "X-Forwarded-Proto: https", "X-Forwarded-For: 203.0.113.7"), *found)
            for found in ((PROXY, True, True), (HERE, False, True))
        ),
    ],
)
async def test_request_for_no_websocket_is_passed_on_whole_where_the_page_shares_the_port(
    data: bytes, peer: str, is_secure: bool, is_single: bool
) -> None:
    async with connections(passes_on=True, page=8000, **BEHIND) as world:
        client = world.dial(origin=peer)
        client.send(data)
        await world.quiet()
        assert world.passed_on == [(data, is_secure, is_single)]
        assert client.received == b""


@pytest.mark.parametrize(("request_", "status"), [(HANDSHAKE, 101), (b"x\r\n\r\n", 400)])
async def test_request_for_a_websocket_and_nonsense_are_not_passed_on(request_: bytes, status: int) -> None:
    assert (await asked(request_, passes_on=True)).response[0] == status


@certificates.needs_openssl
@pytest.mark.parametrize("begun", [GET, HANDSHAKE, b"x\r\n\r\n"])
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

    async def serve(client: Accepted) -> None:
        await client.socket.linger()

    receive = partial(receive_request, serve, HttpPort(PAGE, has_hsts=tls_only))
    preamble = Preamble(certificate, Counter())
    client = await port.dial(receive, preamble, files.client() if by_tls else None)
    await client.send_all(begun)
    head = await until(client, b"\r\n\r\n")
    assert (b"\r\nstrict-transport-security: max-age=15552000\r\n" in head.lower()) == told


# Where a bot is, and whether it is still there.


@pytest.mark.parametrize(
    ("peer", "headers", "origin"),
    [
        (PROXY, ["X-Forwarded-For: 203.0.113.7", "x-forwarded-for: 10.0.0.2"], "203.0.113.7"),
        (PROXY, ["X-Forwarded-For: \xff"], PROXY),
        (PROXY, [], PROXY),
        (HERE, ["X-Forwarded-For: 203.0.113.7"], HERE),
        ("", ["X-Forwarded-For: 203.0.113.7"], ""),
    ],
)
async def test_trusted_proxy_says_where_a_bot_is_and_nobody_else(
    peer: str, headers: list[str], origin: str
) -> None:
    async with connections(**BEHIND) as world:
        world.dial(origin=peer).send(with_headers(HANDSHAKE, *headers))
        await world.quiet()
        assert [seat.origin for seat in world.hub.seats()] == [origin]


@pytest.mark.parametrize("said", [b"", b"GET / HT", HANDSHAKE[:-4], HANDSHAKE + HELLO[:3]])
@pytest.mark.parametrize("how", [Client.resets, Client.hangs_up])
async def test_client_that_vanishes_at_the_door_is_never_our_bug(
    said: bytes, how: Callable[[Client], None], caplog: pytest.LogCaptureFixture
) -> None:
    async with connections() as world:
        ann = world.dial()
        ann.send(said)
        await world.quiet()
        how(ann)
        await world.quiet()
        assert ann.socket.is_closed
        assert len(world.hub) == 0
    assert warnings(caplog) == []


@pytest.mark.parametrize(("option", "seconds"), [(None, 60), (5, 5)])
async def test_request_has_its_seconds_also_if_it_comes_byte_by_byte(
    option: float | None, seconds: int, autojump_clock: trio.testing.MockClock
) -> None:
    async with connections(request_seconds=option) as world:
        ann = world.dial()
        for _ in range(seconds):
            await trio.sleep(0.99)
            ann.send(b"G")
        assert ann.received == b""
        await trio.sleep(1)
        assert ann.response[0] == 408
        assert ann.is_hung_up_on
        assert world.counts == {("limit_request-seconds", "toy"): 1}

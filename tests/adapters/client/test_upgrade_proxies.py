"""Requests that come by way of a proxy."""

from ipaddress import ip_network

import pytest
import trio.testing
from shell_fakes import drained
from wires import wired

from adapters.client.contract import Farewell
from adapters.client.upgrade import Endpoint, PlainRequest, serve_websocket
from adapters.client.websocket import WebSocketTransport
from adapters.net.wire import Wire

pytestmark = pytest.mark.trio

TRUSTED = (ip_network("10.0.0.0/8"),)
WEBSOCKET = (
    "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
)


async def answer(endpoint: Endpoint, peer: str, headers: str) -> bytes:
    """Return what a client hears whose request a peer passes on, with these headers."""
    client, server = trio.testing.memory_stream_pair()
    wire = wired(server)
    wire.address = peer
    await client.send_all(f"GET / HTTP/1.1\r\nHost: c4.example\r\n{headers}\r\n".encode())
    await client.send_eof()
    await serve_websocket(wire, endpoint)
    return await drained(client)


@pytest.mark.parametrize(
    ("peer", "headers", "origin"),
    [
        ("10.0.0.1", "X-Forwarded-For: 6.6.6.6, 203.0.113.7\r\n", "203.0.113.7"),
        ("10.0.0.1", "X-Forwarded-For: 203.0.113.7\r\nx-forwarded-for: 10.0.0.2\r\n", "203.0.113.7"),
        ("10.0.0.1", "X-Forwarded-For: 2001:db8::7\r\n", "2001:db8::/64"),
        ("10.0.0.1", "X-Forwarded-For: \xff\r\n", "10.0.0.1"),
        ("10.0.0.1", "", "10.0.0.1"),
        ("192.0.2.1", "X-Forwarded-For: 203.0.113.7\r\n", "192.0.2.1"),
        ("", "X-Forwarded-For: 203.0.113.7\r\n", ""),
    ],
)
async def test_trusted_proxy_says_where_a_bot_is_and_nobody_else(
    peer: str, headers: str, origin: str
) -> None:
    found: list[str] = []

    async def talk(transport: WebSocketTransport, _: str) -> None:
        found.append(transport.origin)
        await transport.close(Farewell())

    await answer(Endpoint(talk, "", trusted=TRUSTED), peer, headers + WEBSOCKET)
    assert found == [origin]


async def talk_to_nobody(transport: WebSocketTransport, _: str) -> None:
    raise AssertionError


@pytest.mark.parametrize(
    ("peer", "proto", "scheme"),
    [("10.0.0.1", "https", "https"), ("10.0.0.1", "http", "http"), ("192.0.2.1", "https", "http")],
)
async def test_browser_stays_with_https_where_a_trusted_proxy_has_it(
    peer: str, proto: str, scheme: str
) -> None:
    headers = f"X-Forwarded-Proto: {proto}\r\nAccept: text/html\r\n"
    endpoint = Endpoint(talk_to_nobody, "", page=8000, trusted=TRUSTED)
    assert f"Location: {scheme}://c4.example:8000/".encode() in await answer(endpoint, peer, headers)


@pytest.mark.parametrize(("peer", "is_secure"), [("10.0.0.1", True), ("192.0.2.1", False)])
async def test_request_that_is_passed_on_says_how_its_client_came(peer: str, is_secure: bool) -> None:
    requests: list[PlainRequest] = []

    async def pass_on(_: Wire, request: PlainRequest) -> None:
        requests.append(request)

    endpoint = Endpoint(talk_to_nobody, "", trusted=TRUSTED, pass_on=pass_on)
    await answer(endpoint, peer, "X-Forwarded-Proto: https\r\nX-Forwarded-For: 203.0.113.7\r\n")
    ((_, found, is_single),) = [(each.begun, each.is_secure, each.is_single) for each in requests]
    assert (found, is_single) == (is_secure, True)


@pytest.mark.parametrize(
    ("peer", "named", "opens"),
    [
        ("10.0.0.1", "bots.example", True),
        ("10.0.0.1", "bots.example, inner.example", True),
        ("10.0.0.1", "inner.example", False),
        ("192.0.2.1", "bots.example", False),
    ],
)
async def test_trusted_proxy_says_by_which_name_a_page_came(peer: str, named: str, opens: bool) -> None:
    opened: list[str] = []

    async def talk(transport: WebSocketTransport, target: str) -> None:
        opened.append(target)
        await transport.close(Farewell())

    headers = f"Origin: https://bots.example\r\nX-Forwarded-Host: {named}\r\n"
    heard = await answer(Endpoint(talk, "", trusted=TRUSTED), peer, headers + WEBSOCKET)
    assert (opened, heard[9:12]) == ((["/"], b"101") if opens else ([], b"403"))

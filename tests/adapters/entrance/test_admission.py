"""Clients that are let in, have to wait, or hear why they are not."""

import logging
import sys
from collections import Counter
from collections.abc import Mapping
from functools import partial
from ipaddress import ip_network
from math import inf

import certificates
import pytest
import trio
import trio.testing
from tcp_port import TcpPort, everything
from worlds.connection import HANDSHAKE, HERE, Client, Framing, World, connections

from adapters.client.accepted import Accepted
from adapters.dialects import DIALECTS
from adapters.entrance.admission import Admission, admission
from adapters.entrance.handshake import HttpPort
from adapters.entrance.one_port import receive_request
from adapters.entrance.preamble import Preamble
from gateway.access.certificates import Certificate
from gateway.access.limits import AddressLimits, ConnectionCounts
from gateway.options.server import parse

FULL = "The server is full. Try again later.\n"
ADDRESS = "Too many connections from your address are open. Close one first.\n"
CONNECTS = "Your address connects too often. Try again in some seconds.\n"
ALERT = b"\x15\x03\x03\0\2\2\x31"
"""access_denied (RFC 8446, 6.2)."""
PROXY = "10.0.0.1"
"""A proxy that is trusted where a test says so."""
BEHIND = {"trusted_proxy": ["10.0.0.0/8"]}
HEADER = b"PROXY TCP4 %s 192.0.2.7 12345 443\r\n"


@pytest.fixture(params=["lines", "websocket"])
def framing(request: pytest.FixtureRequest) -> Framing:
    found: Framing = request.param
    return found


def forwarded(address: str) -> bytes:
    """Return the request for a websocket with what a proxy adds to it."""
    return HANDSHAKE[:-2] + f"X-Forwarded-For: {address}\r\n\r\n".encode()


async def asks(
    world: World, framing: Framing = "websocket", origin: str = HERE, data: bytes | None = None
) -> Client:
    """Return a client that says something, and is let in or is not."""
    client = world.dial(framing, origin)
    await world.quiet()  # tasks begin in no order
    client.send((HANDSHAKE if framing == "websocket" else b"x\n") if data is None else data)
    await world.quiet()
    return client


def is_in(client: Client) -> bool:
    """Whether a client was let in; one that was not has heard why by now, and was hung up on."""
    found = client.received.startswith((b"HTTP/1.1 101 ", b"Refused"))
    assert found or client.is_hung_up_on
    return found


# Who is let in.


@pytest.mark.parametrize(
    ("limit", "text"),
    [({"max_connections": 2}, FULL), ({"max_per_address": 2}, ADDRESS)],
    ids=["all", "an address"],
)
async def test_client_too_many_hears_why_and_one_that_leaves_makes_room(
    limit: Mapping[str, int], text: str, framing: Framing
) -> None:
    async with connections(**limit) as world:
        first, second, late = [await asks(world, framing) for _ in range(3)]
        assert [is_in(each) for each in (first, second, late)] == [True, True, False]
        if framing == "lines":
            assert late.texts == ["Error FULL"]
        else:
            status, headers, body = late.response
            assert (status, headers["retry-after"], body) == (503, "5", text)
        option = next(iter(limit)).replace("_", "-")
        assert world.counts == {(f"limit_{option}", "toy"): 1}
        first.hangs_up()
        await world.quiet()
        assert [is_in(await asks(world, framing)) for _ in range(2)] == [True, False]


async def test_address_that_connects_too_fast_waits_and_is_refused_at_last(
    framing: Framing, autojump_clock: trio.testing.MockClock
) -> None:
    async with connections(connects_per_second=1) as world:
        begin = trio.current_time()
        clients = [await asks(world, framing) for _ in range(20)]
        refused = [each for each in clients if each.is_hung_up_on]
        times = dict[int, float]()
        while len(times) < len(clients) - len(refused):
            for number, each in enumerate(clients):
                if each.received and each not in refused:
                    times.setdefault(number, trio.current_time() - begin)
            await trio.sleep(0.01)
        assert list(times.values()) == pytest.approx([0, 0, 1, 2, 3, 4, 5], abs=0.1)
        if framing == "websocket":
            assert {each.response[2] for each in refused} == {CONNECTS}
        assert world.counts == {("limit_connects-per-second", "toy"): 5 + 13}


async def test_client_that_leaves_while_it_waits_counts_no_more(
    autojump_clock: trio.testing.MockClock,
) -> None:
    async with connections(connects_per_second=1, max_connections=3) as world:
        for client in [await asks(world) for _ in range(3)]:
            client.resets()
        await trio.sleep(10)
        assert [is_in(await asks(world)) for _ in range(2)] == [True, True]


# The options. With 0 there is no limit; without limits by address there is none for this machine's own.


@pytest.mark.parametrize(
    ("arguments", "let_in"),
    [
        ("--connects-per-second 0", 512),
        ("--max-connections 7", 7),
        ("--max-per-address 7", 7),
        ("--connects-per-second 1", 7),
        ("--max-connections 0 --max-per-address 0 --connects-per-second 0", 600),
    ],
)
def test_options_say_how_many_connections_there_may_be(arguments: str, let_in: int) -> None:
    limits = admission(parse(arguments.split(), DIALECTS), Counter())
    entered = [limits.connections.enter(HERE, 0.0) for _ in range(600)]
    assert len([each for each in entered if isinstance(each, float)]) == let_in


@pytest.mark.parametrize(
    ("arguments", "rate", "burst", "request_seconds"),
    [
        ("--messages-per-second 9 --message-burst 4", 9, 4, 60),
        ("--messages-per-second 0 --message-burst 4", inf, sys.maxsize, 60),
        ("--messages-per-second 0 --request-seconds 5", inf, sys.maxsize, 5),
    ],
)
def test_options_say_what_is_held_against_each_client(
    arguments: str, rate: float, burst: int, request_seconds: float
) -> None:
    limits = admission(parse(arguments.split(), DIALECTS), Counter()).limits
    assert (limits.rate, limits.burst, limits.request) == (rate, burst, request_seconds)


# Where a client counts.


async def test_client_of_a_trusted_proxy_counts_where_it_is_and_that_of_another_where_its_connection_is() -> (
    None
):
    async with connections(**BEHIND, max_per_address=1) as world:
        addresses = ["203.0.113.7", "203.0.113.8", "203.0.113.7"]
        first, other, again = [await asks(world, "websocket", PROXY, forwarded(each)) for each in addresses]
        direct = await asks(world, origin="203.0.113.7")
        untrusted = [await asks(world, "websocket", HERE, forwarded(each)) for each in addresses[:2]]
        clients = (first, other, again, direct, *untrusted)
        assert [is_in(each) for each in clients] == [True, True, False, False, True, False]
        assert again.response[::2] == direct.response[::2] == (503, ADDRESS)
        assert world.counts == {("limit_max-per-address", "toy"): 3}
        first.hangs_up()
        await world.quiet()
        assert is_in(await asks(world, origin="203.0.113.7"))
        assert not is_in(await asks(world, "websocket", PROXY, forwarded("203.0.113.7")))


async def test_client_of_a_trusted_proxy_waits_where_its_address_connects_too_fast(
    autojump_clock: trio.testing.MockClock,
) -> None:
    async with connections(**BEHIND, connects_per_second=1) as world:
        clients = [await asks(world, "websocket", PROXY, forwarded("203.0.113.7")) for _ in range(4)]
        assert [bool(each.received) for each in clients] == [True, True, False, False]
        assert is_in(await asks(world, "websocket", PROXY, forwarded("203.0.113.8")))
        await trio.sleep(2.2)
        assert all(map(is_in, clients))


async def test_client_whose_address_is_not_known_yet_has_no_limits_by_address() -> None:
    async with connections(**BEHIND, max_per_address=1, max_connections=4) as world:
        clients = [await asks(world, "websocket", PROXY, b"GET") for _ in range(5)]
        assert [each.is_hung_up_on for each in clients] == [False] * 4 + [True]
        assert clients[4].response[2] == FULL


async def test_client_behind_a_proxy_header_counts_where_that_says(framing: Framing) -> None:
    async with connections(proxy_protocol=True, max_per_address=1) as world:
        hello = HANDSHAKE if framing == "websocket" else b"x\n"
        clients = [
            await asks(world, framing, HERE, HEADER % each + hello)
            for each in (b"203.0.113.7", b"203.0.113.8", b"203.0.113.7")
        ]
        clients += [await asks(world, framing, HERE, b"PROXY UNKNOWN\r\n" + hello) for _ in range(2)]
        assert [is_in(each) for each in clients] == [True, True, False, True, False]


async def test_proxy_header_that_names_a_trusted_proxy_does_not_say_yet_where_the_client_is() -> None:
    async with connections(**BEHIND, proxy_protocol=True, max_per_address=1) as world:
        clients = [await asks(world, "websocket", HERE, HEADER % PROXY.encode()) for _ in range(3)]
        for client, address in zip(clients, ("203.0.113.7", "203.0.113.8", "203.0.113.7"), strict=True):
            client.send(forwarded(address))
            await world.quiet()
        assert [is_in(each) for each in clients] == [True, True, False]


async def test_client_that_counts_no_more_makes_room_for_another_once_and_limits_are_counted() -> None:
    limits = Admission(ConnectionCounts(2), Counter())
    async with limits.admit("toy", HERE) as first, limits.admit("toy", HERE):
        first.limits.reached("messages-per-second", HERE)
        first.leave()
        first.leave()
        async with limits.admit("toy", HERE):
            assert limits.connections.enter("", 0.0) != 0.0
    assert limits.counts == {("limit_messages-per-second", "toy"): 1}


# What those hear who are not let in.


async def test_of_many_that_are_not_let_in_at_once_only_some_hear_why(
    framing: Framing, autojump_clock: trio.testing.MockClock
) -> None:
    async with connections(max_connections=1) as world:
        await asks(world, framing)
        for _ in range(2):  # when they are gone others hear it
            crowd = [world.dial(framing) for _ in range(200)]
            for each in crowd:
                each.answers = False
            await world.quiet()
            assert 0 < len([each for each in crowd if each.received]) < 100
            assert all(each.is_hung_up_on for each in crowd)
            local = world.dial(framing, "127.0.0.1")  # as from `c4gateway health`
            await world.quiet()
            assert local.received
            await trio.sleep(2)
        assert world.counts["limit_max-connections", "toy"] == 402


@certificates.needs_openssl
@pytest.mark.parametrize(
    ("begin", "heard"),
    [
        (b"\x16\x03\x01", ALERT),
        (b"NAME ann\n", b"Error FULL\n"),
        (b"", b"Error FULL\n"),
        (HEADER % b"203.0.113.7", b""),  # TLS may come next
        (b"\r\n\r\n\0\r\nQUIT\n", b""),
    ],
)
async def test_client_that_is_not_let_in_and_may_use_tls_hears_no_plaintext(
    begin: bytes, heard: bytes, certificate: Certificate, autojump_clock: trio.testing.MockClock
) -> None:
    async with connections(max_connections=1, certificate=certificate) as world:
        assert is_in(await asks(world, "lines"))
        client = await asks(world, "lines", data=begin)
        assert begin or not client.received
        await trio.sleep(1.1)
        assert client.received == heard
        assert client.is_hung_up_on


@certificates.needs_openssl
@pytest.mark.parametrize("tls_only", [True, False])
async def test_refusal_keeps_browsers_with_tls_where_there_is_nothing_else(
    tls_only: bool, port: TcpPort, files: certificates.Files, certificate: Certificate
) -> None:
    async def serve(_: Accepted) -> None:
        raise AssertionError

    trusted = [ip_network("127.0.0.0/8")]
    limits = Admission(ConnectionCounts(others=AddressLimits(connections=0)), Counter(), trusted=trusted)
    preamble = Preamble(certificate, Counter(), tls_only=tls_only)
    receive = partial(receive_request, serve, HttpPort("", trusted=trusted))
    client = await port.dial(receive, preamble, files.client(), admission=limits)
    await client.send_all(forwarded("203.0.113.7"))
    heard = await everything(client)
    assert heard.startswith(b"HTTP/1.1 503 Service Unavailable\r\n")
    assert (b"\r\nstrict-transport-security: max-age=15552000\r\n" in heard) == tls_only


# The log.


async def test_limit_that_is_reached_is_logged_once_a_minute(
    autojump_clock: trio.testing.MockClock, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    async with connections(max_connections=1) as world:
        await asks(world)
        for pause in (0, 1, 50, 20):
            await trio.sleep(pause)
            await asks(world)
    first, second = [each for each in caplog.records if "reached the limit" in each.getMessage()]
    words = "a client reached the limit --max-connections: toy, from 192.0.2.1"
    assert first.getMessage() == second.getMessage() == words
    found = [vars(first)[each] for each in ("event", "limit", "front_end", "address")]
    assert found == ["limit_reached", "max-connections", "toy", HERE]

"""Clients behind proxies, from outside: the limits by address hold for them, and not for the proxy."""

import json
import time
from contextlib import ExitStack

import pytest
from shared_ports import on_one_port, stopped
from test_limits import Client, is_told_soon, let_in, one_of_many_is_told, paged
from worlds.server import EVERY_PORT, PATIENCE, Served, served

pytestmark = pytest.mark.operation

TRUSTED = ("--trusted-proxy", "127.0.0.0/8")
HEALTH = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n%s\r\n"
TOO_MANY = b"Too many connections from your address are open. Close one first.\n"


def behind(address: str) -> bytes:
    """Return what a proxy adds to the request of a client."""
    return f"X-Forwarded-For: 198.51.100.1, {address}\r\n".encode()


def handshake(address: str) -> bytes:
    return (
        b"GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
        + behind(address)
        + b"\r\n"
    )


def bot(stack: ExitStack, gateway: Served, address: str, port: str = "nac4") -> Client:
    """Return a client that has asked for a websocket, by way of the proxy."""
    client = Client(stack, gateway, port)
    client.say(handshake(address))
    return client


def test_class_behind_one_proxy_is_let_in_and_each_address_has_its_own_limit() -> None:
    with (
        served(*EVERY_PORT, *TRUSTED, "--max-per-address", "2", "--log-json") as gateway,
        ExitStack() as stack,
    ):
        for number in range(100):
            port = ("nac4", "arena")[number % 2]
            assert bot(stack, gateway, f"203.0.113.{number}", port).hears(b"HTTP/1.1 101 ")
        first = bot(stack, gateway, "203.0.113.200")
        second = bot(stack, gateway, "203.0.113.200", "arena")
        assert first.hears(b"HTTP/1.1 101 ")
        assert second.hears(b"HTTP/1.1 101 ")
        refusal = bot(stack, gateway, "203.0.113.200").everything()
        assert refusal.startswith(b"HTTP/1.1 503 ")
        assert refusal.endswith(TOO_MANY)
        first.close()
        assert is_told_soon(stack, gateway, "arena", handshake("203.0.113.200"), b"HTTP/1.1 101 ")
        _, err = gateway.stop()
    records = [json.loads(line) for line in err.splitlines()]
    (told,) = [record for record in records if record["event"] == "limit_reached"]
    assert (told["limit"], told["front_end"], told["address"]) == ("max-per-address", "nac4", "203.0.113.200")


def test_client_with_lines_counts_at_its_own_address_though_a_proxy_is_there() -> None:
    with ExitStack() as stack, served(*EVERY_PORT, *TRUSTED, "--max-per-address", "2") as gateway:
        for _ in range(2):
            let_in(stack, gateway, "droidcon")
        assert Client(stack, gateway, "droidcon").everything() == b"Error CHANNEL_IS_FULL\n"
        assert bot(stack, gateway, "203.0.113.7").hears(b"HTTP/1.1 101 ")


def test_address_that_connects_too_fast_by_way_of_a_proxy_is_slowed_and_then_refused() -> None:
    with ExitStack() as stack, served(*EVERY_PORT, *TRUSTED, "--connects-per-second", "1") as gateway:
        assert one_of_many_is_told(gateway, "nac4", handshake("203.0.113.7"), b"HTTP/1.1 503 ")
        assert bot(stack, gateway, "203.0.113.8").hears(b"HTTP/1.1 101 ")


@pytest.mark.operation
def test_page_on_the_one_port_holds_its_limits_against_clients_behind_a_proxy() -> None:
    with on_one_port(*TRUSTED, "--max-per-address", "1") as gateway, ExitStack() as stack:
        for number in range(3):
            viewer = Client(stack, gateway, "page")
            stream = b"GET /api/live/events HTTP/1.1\r\nHost: localhost\r\n%s\r\n"
            viewer.say(stream % behind(f"203.0.113.{number}"))
            assert viewer.hears(b"HTTP/1.1 200 ")
        other = Client(stack, gateway, "page")
        other.say(HEALTH % behind("203.0.113.1"))
        assert other.everything().endswith(TOO_MANY)
        stack.close()
        stopped(gateway)


@pytest.mark.operation
def test_page_on_a_port_of_its_own_takes_all_connections_of_a_proxy() -> None:
    with paged(*TRUSTED, "--max-per-address", "1") as gateway, ExitStack() as stack:
        for _ in range(3):
            client = Client(stack, gateway, "page")
            client.say(HEALTH % b"")
            assert client.hears(b"HTTP/1.1 200 ")


def test_connection_on_which_a_proxy_has_said_nothing_yet_is_one_of_all() -> None:
    hello = b"PROXY TCP4 203.0.113.7 192.0.2.1 12345 443\r\nNAME ann\n"
    with (
        served("--tcp", "0", "--proxy-protocol", "--max-connections", "2", addresses=1) as gateway,
        ExitStack() as stack,
    ):
        heard, give_up = b"", time.monotonic() + PATIENCE
        while heard != b"Error CHANNEL_IS_FULL\n":  # some silent clients may be let in later
            assert time.monotonic() < give_up
            Client(stack, gateway, "droidcon")
            client = Client(stack, gateway, "droidcon")
            client.say(hello)
            client.say_no_more()
            heard = client.everything()

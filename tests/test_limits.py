"""The limits on clients, from outside: what a client sees of each, and that others play on."""

import json
import resource
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from worlds.server import EVERY_PORT, PATIENCE, Served, served

pytestmark = pytest.mark.operation

HANDSHAKE = (
    b"GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
)
DIALECTS = ("nac4", "arena", "droidcon")
HELLO = {"nac4": HANDSHAKE, "arena": HANDSHAKE, "droidcon": b"NAME ann\n"}
WELCOME = {"nac4": b"HTTP/1.1 101 ", "arena": b"HTTP/1.1 101 ", "droidcon": b"SUCCESS\n"}
REFUSED = {"nac4": b"HTTP/1.1 503 ", "arena": b"HTTP/1.1 503 ", "droidcon": b"Error CHANNEL_IS_FULL\n"}


class Client:
    """A client of any dialect, in bytes."""

    def __init__(self, stack: ExitStack, gateway: Served, port: str) -> None:
        address = "127.0.0.1", gateway.port(port)
        self.sock = stack.enter_context(socket.create_connection(address, timeout=PATIENCE))

    def say(self, data: bytes) -> None:
        self.sock.sendall(data)

    def hears(self, begin: bytes) -> bool:
        """Read as much as `begin`, or until something else comes; return whether it was that."""
        data = b""
        while data != begin and begin.startswith(data) and (chunk := self.sock.recv(len(begin) - len(data))):
            data += chunk
        return data == begin

    def close(self) -> None:
        self.sock.close()


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


def let_in(stack: ExitStack, gateway: Served, dialect: str) -> Client:
    client = Client(stack, gateway, dialect)
    client.say(HELLO[dialect])
    assert client.hears(WELCOME[dialect])
    return client


def is_told_soon(stack: ExitStack, gateway: Served, port: str, hello: bytes, begin: bytes) -> bool:
    """Whether a client that says hello hears what begins so, the first one or a later one."""
    give_up = time.monotonic() + PATIENCE
    while time.monotonic() < give_up:
        client = Client(stack, gateway, port)
        client.say(hello)
        if client.hears(begin):
            return True
        client.close()
    return False


@pytest.mark.parametrize("option", ["--max-connections", "--max-per-address"])
def test_client_too_many_hears_so_in_its_dialect_and_another_that_leaves_makes_room(
    option: str, stack: ExitStack
) -> None:
    with served(*EVERY_PORT, option, "2", "--log-json") as gateway:
        first = let_in(stack, gateway, "droidcon")
        let_in(stack, gateway, "nac4")
        for dialect in DIALECTS:
            other = Client(stack, gateway, dialect)
            other.say(HELLO[dialect])
            assert other.hears(REFUSED[dialect])
        first.close()
        assert is_told_soon(stack, gateway, "arena", HANDSHAKE, WELCOME["arena"])
        stack.close()
        _, err = gateway.stop()
    records = [json.loads(line) for line in err.splitlines()]
    told = [record for record in records if record["event"] == "limit_reached"]
    assert [(each["limit"], each["front_end"], each["address"]) for each in told] == [
        (option[2:], DIALECTS[0], "127.0.0.1")
    ]


def test_client_that_sends_much_more_is_held_back_by_tcp_and_costs_no_other_anything(
    stack: ExitStack,
) -> None:
    with served(*EVERY_PORT, "--messages-per-second", "10", "--message-burst", "10") as gateway:
        flood = let_in(stack, gateway, "droidcon")
        flood.sock.settimeout(0.5)
        with pytest.raises(TimeoutError):
            flood.say(b"NAME ann\n" * 10_000_000)
        assert let_in(stack, gateway, "nac4")


def test_page_holds_the_limits_too(stack: ExitStack) -> None:
    health = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
    options = ("--tcp", "0", "--web", "0", "--max-per-address", "2", "--request-seconds", "0.5")
    with served(*options, addresses=2) as gateway:
        clients = [Client(stack, gateway, "page") for _ in range(2)]
        for client in clients:
            client.say(health)
            assert client.hears(b"HTTP/1.1 200 ")
        other = Client(stack, gateway, "page")
        other.say(health)
        assert other.hears(b"HTTP/1.1 503 ")
        let_in(stack, gateway, "droidcon")  # the bots' ports count for themselves
        for client in clients:
            client.close()
        began = time.monotonic()
        assert is_told_soon(stack, gateway, "page", b"GET /hea", b"HTTP/1.1 408 ")
        assert time.monotonic() - began < 10  # and not only after the page's usual 15 seconds


def test_behind_a_trusted_proxy_each_address_has_the_limit_and_not_the_proxy(stack: ExitStack) -> None:
    options = ("--nac4", "0", "--web", "0", "--max-per-address", "2", "--trusted-proxy", "127.0.0.0/8")
    with served(*options, addresses=2) as gateway:
        for address, answer in ((7, "101"), (7, "101"), (8, "101"), (7, "503")):
            client = Client(stack, gateway, "nac4")
            client.say(HANDSHAKE[:-2] + f"X-Forwarded-For: 203.0.113.{address}\r\n\r\n".encode())
            assert client.hears(f"HTTP/1.1 {answer} ".encode())
        for _ in range(4):
            client = Client(stack, gateway, "page")
            client.say(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert client.hears(b"HTTP/1.1 200 ")


@pytest.mark.skipif(not hasattr(resource, "prlimit"), reason="needs Linux, to take files from a process")
def test_without_files_accepting_pauses_and_games_go_on(stack: ExitStack) -> None:
    with served(*EVERY_PORT) as gateway:
        pid = gateway.process.pid
        ann, bob = (let_in(stack, gateway, "droidcon") for _ in range(2))
        files = resource.prlimit(pid, resource.RLIMIT_NOFILE)
        resource.prlimit(pid, resource.RLIMIT_NOFILE, (3, files[1]))
        late = Client(stack, gateway, "droidcon")
        late.say(b"NAME eve\n")
        for each in (ann, bob):
            each.say(b"JOIN table\n")
            assert each.hears(b"SUCCESS\n")
        assert ann.hears(b"NEW_GAME\nYOUR_MOVE\n")
        ann.say(b"PUT 3\n")
        assert bob.hears(b"NEW_GAME\nPUT 3\nYOUR_MOVE\n")
        late.sock.settimeout(0.3)
        with pytest.raises(TimeoutError):
            late.hears(b"SUCCESS\n")
        late.sock.settimeout(PATIENCE)
        resource.prlimit(pid, resource.RLIMIT_NOFILE, files)
        assert late.hears(b"SUCCESS\n")
        stack.close()
        _, err = gateway.stop()
    assert "cannot accept connections: Too many open files" in err

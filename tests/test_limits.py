"""The limits on clients, from outside: what a client sees of each, and that others play on."""

import json
import resource
import socket
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import pytest
from worlds.server import EVERY_PORT, PATIENCE, Served, begun, served

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
        self._sock = stack.enter_context(socket.create_connection(address, timeout=PATIENCE))

    def say(self, data: bytes) -> None:
        self._sock.sendall(data)

    def hears(self, begin: bytes) -> bool:
        """Read as much as `begin`, or until something else comes; return whether it was that."""
        data = b""
        while data != begin and begin.startswith(data) and (chunk := self._sock.recv(len(begin) - len(data))):
            data += chunk
        return data == begin

    def everything(self) -> bytes:
        data = b""
        while chunk := self._sock.recv(65_536):
            data += chunk
        return data

    def say_no_more(self) -> None:
        self._sock.shutdown(socket.SHUT_WR)

    def close(self) -> None:
        self._sock.close()


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


@contextmanager
def paged(*options: str) -> Iterator[Served]:
    """Run a gateway with the page."""
    command = [sys.executable, "-W", "error", "-m", "gateway", "--web", "0", "--db", "none", "--tcp", "0"]
    with begun([*command, *options], 2) as gateway:
        yield gateway


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


def one_of_many_is_told(gateway: Served, port: str, hello: bytes, begin: bytes) -> bool:
    """Whether one of many clients that come at once is told that; the last is asked first."""
    with ExitStack() as stack:
        clients: list[Client] = []
        for _ in range(20):
            clients.append(Client(stack, gateway, port))
            clients[-1].say(hello)
        return any(client.hears(begin) for client in reversed(clients))


def is_let_in_soon(stack: ExitStack, gateway: Served, dialect: str) -> bool:
    """Whether a client is let in, now or once the server has noticed that another left."""
    return is_told_soon(stack, gateway, dialect, HELLO[dialect], WELCOME[dialect])


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
        assert is_let_in_soon(stack, gateway, "arena")
        stack.close()
        _, err = gateway.stop()
    records = [json.loads(line) for line in err.splitlines()]
    told = [record for record in records if record["event"] == "limit_reached"]
    assert [(each["limit"], each["front_end"], each["address"]) for each in told] == [
        (option[2:], DIALECTS[0], "127.0.0.1")
    ]


def test_address_that_connects_too_fast_is_slowed_and_then_refused(stack: ExitStack) -> None:
    with served(*EVERY_PORT, "--connects-per-second", "1") as gateway:
        for dialect in DIALECTS:  # the third has to wait
            let_in(stack, gateway, dialect)
        for dialect in DIALECTS:
            assert one_of_many_is_told(gateway, dialect, HELLO[dialect], REFUSED[dialect])


def test_defaults_hold_nobody_back_on_this_machine(stack: ExitStack) -> None:
    with served(*EVERY_PORT) as gateway:
        clients = [Client(stack, gateway, "droidcon") for _ in range(600)]
        for client in clients:
            client.say(b"NAME ann\n")
        assert all(client.hears(b"SUCCESS\n") for client in clients)


def test_client_over_its_rate_is_slowed_and_nothing_of_what_it_sends_is_lost(stack: ExitStack) -> None:
    with served(*EVERY_PORT, "--messages-per-second", "500", "--message-burst", "100") as gateway:
        fast = let_in(stack, gateway, "droidcon")
        begin = time.monotonic()
        fast.say(b"PUT 3\n" * 599)
        assert fast.hears(b"Error NOT_JOINED_TO_CHANNEL\n" * 599)
        assert time.monotonic() - begin > 0.7  # twice the burst at most, the rest at the rate


def test_client_that_sends_much_more_is_held_back_by_tcp_and_costs_no_other_anything(
    stack: ExitStack,
) -> None:
    with served(*EVERY_PORT, "--messages-per-second", "10", "--message-burst", "10") as gateway:
        flood = let_in(stack, gateway, "droidcon")
        flood._sock.settimeout(0.5)
        with pytest.raises(TimeoutError):
            flood.say(b"NAME ann\n" * 10_000_000)
        assert let_in(stack, gateway, "nac4")
        flood.close()
        assert is_let_in_soon(stack, gateway, "droidcon")


def test_client_of_a_websocket_over_its_rate_is_slowed(stack: ExitStack) -> None:
    frame = b"\x81\x82\x00\x00\x00\x00{}"
    with served(*EVERY_PORT, "--messages-per-second", "100", "--message-burst", "10") as gateway:
        fast = Client(stack, gateway, "arena")
        fast.say(HANDSHAKE)
        head = b""
        while b"\r\n\r\n" not in head:
            head += fast._sock.recv(1)
        begin = time.monotonic()
        fast.say(frame * 110)
        told = b""
        while told.count(b'"ignored"') < 110:
            told += fast._sock.recv(65_536)
        assert time.monotonic() - begin > 0.8


def test_request_that_does_not_come_in_time_is_answered_408(stack: ExitStack) -> None:
    with served(*EVERY_PORT, "--request-seconds", "0.2") as gateway:
        clients = [Client(stack, gateway, port) for port in ("nac4", "arena") for _ in range(2)]
        for client in clients[::2]:
            client.say(b"GET / HTTP/1.1\r\nHo")
        assert all(client.hears(b"HTTP/1.1 408 Request Timeout\r\n") for client in clients)
        let_in(stack, gateway, "nac4")


def test_page_holds_the_limits_too(stack: ExitStack) -> None:
    health = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
    with paged("--max-per-address", "2", "--request-seconds", "0.5") as gateway:
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
        assert is_told_soon(stack, gateway, "page", b"GET /hea", b"HTTP/1.1 408 ")


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
        late._sock.settimeout(0.3)
        with pytest.raises(TimeoutError):
            late.hears(b"SUCCESS\n")
        late._sock.settimeout(PATIENCE)
        resource.prlimit(pid, resource.RLIMIT_NOFILE, files)
        assert late.hears(b"SUCCESS\n")
        stack.close()
        _, err = gateway.stop()
    assert "cannot accept connections: Too many open files" in err

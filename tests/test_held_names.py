"""Names and seats that dead connections hold, on real sockets: who gets them, when, and who never does."""

import ctypes
import json
import signal
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from itertools import count

import pytest
import websocket as websocket_client
import websockets.sync.client
from several_nodes import HAS_REGISTRY, two_nodes
from websockets.sync.client import ClientConnection
from worlds.server import EVERY_PORT, PATIENCE, Served, served

from adapters.client.contract import PROBE_LIMIT

pytestmark = [
    pytest.mark.operation,
    pytest.mark.skipif(sys.platform != "linux", reason="needs Linux, to make sockets dead"),
]
ELSEWHERE = "127.0.0.2"
SOON = 1.0
"""Seconds in which a player is answered whose name a live connection has."""
_DROP_ALL = ctypes.create_string_buffer(struct.pack("HBBI", 0x06, 0, 0, 0))
"""A program for packets (BPF) that returns 0: nothing of any of them is let in."""
_STOPPED = """
import sys, websockets.sync.client
with websockets.sync.client.connect(sys.argv[1], proxy=None) as client:
    client.send("connect " + sys.argv[2])
    print(client.recv(), flush=True)
    client.recv()
"""


@pytest.fixture(scope="module")
def gateway() -> Iterator[Served]:
    with served(*EVERY_PORT) as gateway:
        yield gateway
        status, err = gateway.stop()
        assert status == 0
        assert "ERROR" not in err


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


_names = count(1)


@pytest.fixture
def name() -> str:
    return f"held{next(_names)}"


def kill(sock: socket.socket) -> None:
    """Let no packet reach the socket any more: its system acknowledges nothing, and says nothing."""
    program = struct.pack("HP", 1, ctypes.addressof(_DROP_ALL))
    sock.setsockopt(socket.SOL_SOCKET, 26, program)  # SO_ATTACH_FILTER


def hang_up(sock: socket.socket) -> None:
    with suppress(OSError):
        sock.shutdown(socket.SHUT_RDWR)  # which wakes the thread that reads


def bot(
    stack: ExitStack, gateway: Served, target: str = "/", address: str = "127.0.0.1", dialect: str = "nac4"
) -> ClientConnection:
    """Return a websocket, which answers pings by itself."""
    sock = socket.create_connection(("127.0.0.1", gateway.port(dialect)), PATIENCE, (address, 0))
    stack.callback(sock.close)
    stack.callback(hang_up, sock)
    url = gateway.url(dialect, target)
    return stack.enter_context(
        websockets.sync.client.connect(url, sock=sock, proxy=None, ping_interval=None, close_timeout=0)
    )


def said(client: ClientConnection, text: str) -> tuple[str, float]:
    """Send a text; return the answer, and after how many seconds it came."""
    began = time.monotonic()
    client.send(text)
    answer = client.recv(PATIENCE)
    return str(answer).strip(), time.monotonic() - began


def connected(
    stack: ExitStack, gateway: Served, name: str, target: str = "/", address: str = "127.0.0.1"
) -> ClientConnection:
    client = bot(stack, gateway, target, address)
    assert said(client, f"connect {name}")[0] == f"connected hello {name}"
    return client


def assert_given_over(answer: tuple[str, float], name: str) -> None:
    assert answer[0] == f"connected hello {name}"
    assert PROBE_LIMIT - 0.1 <= answer[1] <= PROBE_LIMIT + SOON


def assert_refused(answer: tuple[str, float], name: str) -> None:
    assert answer[0] == f"not-connected {name} already used"
    assert answer[1] < SOON


def test_name_of_a_dead_connection_is_given_over_at_its_own_address_alone(
    gateway: Served, stack: ExitStack, name: str
) -> None:
    held = connected(stack, gateway, name)
    kill(held.socket)
    assert_refused(said(bot(stack, gateway, address=ELSEWHERE), f"connect {name}"), name)
    assert_given_over(said(bot(stack, gateway), f"connect {name}"), name)


def test_name_of_a_live_connection_is_never_given_over(gateway: Served, stack: ExitStack, name: str) -> None:
    held = connected(stack, gateway, name)
    for _ in range(5):
        assert_refused(said(bot(stack, gateway), f"connect {name}"), name)
    with pytest.raises(TimeoutError):
        held.recv(PROBE_LIMIT + 0.5)


def test_bot_that_thinks_and_reads_nothing_keeps_its_name(
    gateway: Served, stack: ExitStack, name: str
) -> None:
    thinks = websocket_client.create_connection(gateway.url("nac4", f"/?table={name}"), timeout=PATIENCE)
    stack.callback(thinks.shutdown)
    thinks.send(f"connect {name}")
    other = connected(stack, gateway, f"{name}-other", f"/?table={name}")
    heard = [str(thinks.recv()).split()[0] for _ in range(3)]
    assert heard == ["connected", "newgame", "genmove"]
    assert_refused(said(bot(stack, gateway), f"connect {name}"), name)
    time.sleep(PROBE_LIMIT + 0.5)
    assert_refused(said(bot(stack, gateway), f"connect {name}"), name)
    thinks.send("playmove 3")
    assert [str(other.recv(PATIENCE)).split()[0] for _ in range(2)] == ["newgame", "genmove"]


def test_process_that_is_stopped_answers_no_ping_and_loses_its_name(
    gateway: Served, stack: ExitStack, name: str
) -> None:
    command = [sys.executable, "-c", _STOPPED, gateway.url("nac4"), name]
    process = stack.enter_context(subprocess.Popen(command, stdout=subprocess.PIPE))
    stack.callback(process.kill)
    assert process.stdout is not None
    assert process.stdout.readline().startswith(b"connected")
    process.send_signal(signal.SIGSTOP)
    assert_given_over(said(bot(stack, gateway), f"connect {name}"), name)


def lines(stack: ExitStack, gateway: Served, name: str, address: str = "127.0.0.1") -> socket.socket:
    """Return a Droidcon client that has asked for a seat at the table of its name."""
    sock = socket.create_connection(("127.0.0.1", gateway.port("droidcon")), PATIENCE, (address, 0))
    stack.callback(sock.close)
    sock.sendall(f"NAME {name}\nJOIN {name}\n".encode())
    return sock


def heard_by(sock: socket.socket, count: int) -> list[str]:
    with sock.makefile() as heard:
        return [heard.readline().strip() for _ in range(count)]


def test_seat_at_a_table_is_given_over_in_every_dialect_as_a_name_is(
    gateway: Served, stack: ExitStack, name: str
) -> None:
    held = lines(stack, gateway, name)
    assert heard_by(held, 2) == ["SUCCESS"] * 2
    start = json.dumps({"type": "start", "id": f"{name}-arena", "table": name})
    other = bot(stack, gateway, dialect="arena")
    other.send(start)
    assert heard_by(held, 2) == ["NEW_GAME", "YOUR_MOVE"]
    assert json.loads(other.recv(PATIENCE))["type"] == "state"

    assert heard_by(lines(stack, gateway, name), 2) == ["SUCCESS", "Error CHANNEL_IS_FULL"]
    answer = json.loads(said(bot(stack, gateway, dialect="arena"), start)[0])
    assert answer["type"] == "ignored"
    held.settimeout(PROBE_LIMIT + 0.5)
    with pytest.raises(TimeoutError):
        held.recv(1)

    kill(held)
    elsewhere = lines(stack, gateway, name, ELSEWHERE)
    assert heard_by(elsewhere, 2) == ["SUCCESS", "Error CHANNEL_IS_FULL"]
    again = lines(stack, gateway, name)
    assert heard_by(again, 2) == ["SUCCESS"] * 2
    assert json.loads(other.recv(PATIENCE))["type"] == "disconnected"

    kill(other.socket)
    came = json.loads(said(bot(stack, gateway, dialect="arena"), start)[0])
    assert came["type"] == "state"


@pytest.mark.skipif(not HAS_REGISTRY, reason="no Redis server here")
@pytest.mark.parametrize("first", [0, 1])
def test_name_that_is_held_at_another_node_is_given_over(stack: ExitStack, first: int) -> None:
    nodes = stack.enter_context(two_nodes())
    one, other = nodes[first], nodes[1 - first]
    held = connected(stack, one, "ann")
    assert_refused(said(bot(stack, other), "connect ann"), "ann")
    kill(held.socket)
    time.sleep(PROBE_LIMIT)  # which it is not probed again for
    assert_refused(said(bot(stack, other, address=ELSEWHERE), "connect ann"), "ann")
    assert_given_over(said(bot(stack, other), "connect ann"), "ann")

"""Peers that vanish without a word, on a network that can be cut, where the system lets us make one.

The system's times are shortened; everything else is the server as it is.
"""

import ctypes
import os
import random
import shutil
import socket
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
import trio

import adapters.arena.server
import adapters.droidcon.server
import adapters.nac4.server
from adapters.entrance.admission import without_limits
from adapters.entrance.entrance import Entrance
from adapters.entrance.handshake import HttpPort
from adapters.entrance.one_port import Receive, receive_lines, receive_request
from adapters.entrance.preamble import Preamble
from adapters.net.epoll import EpollPoller
from adapters.net.socket import Socket, taken
from gateway.game.clock import Terms
from gateway.hub.hub import Hub
from gateway.matchmaking.standard import LobbyAndTables
from gateway.runtime.accepting import accept
from gateway.server.app import keep_time

pytestmark = [
    pytest.mark.operation,
    pytest.mark.trio,
    pytest.mark.skipif(
        sys.platform != "linux" or os.geteuid() != 0 or shutil.which("ip") is None,
        reason="needs Linux, root and the command ip, for a network namespace",
    ),
]
HANDSHAKE = (
    b"GET /?table=%s HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
)
CLONE_NEWNET = 0x40000000
SHORT = (
    (socket.SOL_SOCKET, "SO_KEEPALIVE", 1),
    (socket.IPPROTO_TCP, "TCP_KEEPIDLE", 1),
    (socket.IPPROTO_TCP, "TCP_KEEPINTVL", 1),
    (socket.IPPROTO_TCP, "TCP_KEEPCNT", 1),
    (socket.IPPROTO_TCP, "TCP_USER_TIMEOUT", 5000),
)


class Network:
    """A network of two: the gateway here, its clients in a namespace of their own."""

    def __init__(self) -> None:
        number = os.getpid() % 10_000
        self._name, self._near, self._far = f"c4t{number}", f"c4n{number}", f"c4f{number}"
        prefix = f"198.18.{number // 250}.{number % 250 // 4 * 4}"[: -len(str(number % 250 // 4 * 4))]
        base = number % 250 // 4 * 4
        self.here, there = f"{prefix}{base + 1}", f"{prefix}{base + 2}"
        _ip("netns", "add", self._name)
        _ip("link", "add", self._near, "type", "veth", "peer", "name", self._far)
        _ip("link", "set", self._far, "netns", self._name)
        _ip("address", "add", f"{self.here}/30", "dev", self._near)
        _ip("link", "set", self._near, "up")
        _ip("-n", self._name, "address", "add", f"{there}/30", "dev", self._far)
        _ip("-n", self._name, "link", "set", self._far, "up")

    def cut(self) -> None:
        """Let nothing pass any more."""
        _ip("-n", self._name, "link", "set", self._far, "down")

    def close(self) -> None:
        _ip("netns", "delete", self._name)  # and with it both ends of the link

    def connect(self, port: int) -> socket.socket:
        """Return a connection from the namespace. A thread enters it, as it cannot be left again."""
        made: list[socket.socket] = []

        def enter() -> None:
            libc = ctypes.CDLL(None, use_errno=True)
            with Path("/run/netns", self._name).open() as namespace:
                assert libc.setns(namespace.fileno(), CLONE_NEWNET) == 0
            made.append(socket.create_connection((self.here, port), timeout=5))

        thread = threading.Thread(target=enter)
        thread.start()
        thread.join()
        return made[0]


def _ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True)


@pytest.fixture
def network() -> Iterator[Network]:
    try:
        network = Network()
    except subprocess.CalledProcessError as error:
        pytest.skip(f"no network namespace: {error.stderr.decode().strip()}")
    yield network
    network.close()


class Server:
    """A gateway in this process, and clients of it on both sides of the network."""

    def __init__(self, network: Network, nursery: trio.Nursery) -> None:
        self.hub = Hub(Terms(), LobbyAndTables(random.Random(0)))
        self.ports: dict[str, int] = {}
        self._network = network
        self._nursery = nursery

    async def open(self) -> None:
        poller = EpollPoller()
        self._nursery.start_soon(poller.run)
        self._nursery.start_soon(keep_time, self.hub)

        def open_socket(stream: trio.SocketStream) -> Socket:
            sock = taken(stream)
            for level, option, value in SHORT:
                sock.setsockopt(level, getattr(socket, option), value)
            return Socket(sock, poller)

        http = HttpPort("no page\n")
        ports: dict[str, Receive] = {
            "nac4": partial(receive_request, adapters.nac4.server.serving(self.hub), http),
            "arena": partial(receive_request, adapters.arena.server.serving(self.hub), http),
            "droidcon": partial(receive_lines, adapters.droidcon.server.serving(self.hub, rounds=1)),
        }
        for name, receive in ports.items():
            (listener,) = await trio.open_tcp_listeners(0, host=self._network.here)
            self.ports[name] = listener.socket.getsockname()[1]
            entrance = Entrance(name, receive, open_socket, without_limits(), Preamble(None, Counter()))
            self._nursery.start_soon(accept, listener, entrance.serve, self._nursery, trio.Semaphore(1000))

    async def far(self, dialect: str, words: str) -> trio.SocketStream:
        """Return a client on the other side that has said something and been answered."""
        sock = await trio.to_thread.run_sync(self._network.connect, self.ports[dialect])
        sock.settimeout(None)
        return await self._talking(trio.SocketStream(trio.socket.from_stdlib_socket(sock)), dialect, words)

    async def near(self, dialect: str, words: str) -> trio.SocketStream:
        """Return a client on this side."""
        stream = await trio.open_tcp_stream(self._network.here, self.ports[dialect])
        return await self._talking(stream, dialect, words)

    async def _talking(self, stream: trio.SocketStream, dialect: str, words: str) -> trio.SocketStream:
        if dialect != "droidcon":
            await stream.send_all(HANDSHAKE % dialect.encode())
            while b"\r\n\r\n" not in await stream.receive_some():
                pass
            await stream.send_all(bytes((0x81, 0x80 | len(words))) + bytes(4) + words.encode())
        else:
            await stream.send_all(words.encode())
        return stream

    async def until(self, players: int) -> None:
        """Wait until so many players are here."""
        with trio.fail_after(10):
            while len(self.hub) != players:  # noqa: ASYNC110  the hub tells nobody who goes
                await trio.sleep(0.02)


async def test_vanished_players_are_not_paired_and_soon_found(network: Network) -> None:
    async with trio.open_nursery() as nursery:
        server = Server(network, nursery)
        await server.open()
        idle = await server.far("droidcon", "NAME ann\nJOIN lobby\n")
        table = await server.far("arena", '{"type":"start","id":"bob"}')
        named = await server.far("nac4", "connect cid")
        await server.until(3)
        await trio.sleep(0.1)
        network.cut()
        await trio.sleep(1.3)  # until a probe is not answered
        near = [
            await server.near("droidcon", "NAME dan\nJOIN lobby\n"),
            await server.near("arena", '{"type":"start","id":"eve"}'),
        ]
        await server.until(5)
        await server.until(2)
        near.append(await server.near("nac4", "connect cid"))
        assert await near[0].receive_some(1000) == b"SUCCESS\nSUCCESS\n"
        assert b"connected hello cid" in await near[2].receive_some(1000)
        for stream in near:
            with trio.move_on_after(0.05):
                raise AssertionError(await stream.receive_some(1000))
        nursery.cancel_scope.cancel()
    for stream in (idle, table, named, *near):
        await trio.aclose_forcefully(stream)

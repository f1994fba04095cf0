"""What stays of a client who has gone: nothing that would wait for the cyclic garbage collector.

That one looks seldom, so memory would grow with the number of games for as long as it does not.
"""

import gc
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from ipaddress import ip_network
from itertools import product

import certificates
import pytest
import trio
import trio.testing
from players import PAIRS, PLAYERS, Player, gateway
from worlds.memory_client import MemoryClient, serve
from wsproto.frame_protocol import FrameDecoder

from adapters.client.accepted import Accepted
from adapters.client.connection import Connection
from adapters.entrance.admission import Admission, Admitted
from adapters.entrance.handshake import HttpPort
from adapters.entrance.one_port import receive_request
from adapters.entrance.preamble import Preamble
from adapters.net.socket import Socket
from adapters.net.tls import Session
from gateway.access.certificates import Certificate
from gateway.access.limits import AddressLimits, ConnectionCounts

pytestmark = pytest.mark.trio
Clock = trio.testing.MockClock

pairs = pytest.mark.parametrize("pair", PAIRS, ids="-".join)


@pytest.fixture(autouse=True)
def no_collector() -> Iterator[None]:
    """Let nothing be cleared away but what nobody refers to, and count only what a test makes."""
    gc.collect()
    gc.freeze()
    gc.disable()
    yield
    gc.enable()


def connections() -> int:
    """Return how many connections there are in memory."""
    return sum(type(thing) is Connection for thing in gc.get_objects())


def parsers() -> int:
    """Return how many parsers of clients' frames are in memory, each with what has come of a message."""
    return sum(type(thing) is FrameDecoder and not thing.client for thing in gc.get_objects())


def stops_reading(player: Player) -> None:
    player.stream.socket.capacity = 0
    player.stream.socket.arrives(b"what\n" * 50 if player.line_end else b"\x81\x84\0\0\0\0what" * 50)


def breaks_in_a_message(player: Player) -> None:
    player.stream.socket.arrives(b"PUT" if player.line_end else b"\x01\x85\0\0\0\0he")
    player.stream.reset()


def answers_no_more(player: Player) -> None:
    player.stream.is_mute = True
    player.stream.socket.silence = 100.0


WAYS: dict[str, Callable[[Player], object]] = {
    "stops reading": stops_reading,
    "breaks in a message": breaks_in_a_message,
    "answers no more": answers_no_more,
    "resets": lambda player: player.reset(),
    "ends": lambda player: player.stream.socket.ends(),
    "floods": lambda player: player.stream.socket.arrives(bytes(100_000)),
}
NOTICED = [
    (dialect, way)
    for dialect, way in product(PLAYERS, WAYS)
    if way != "answers no more" or PLAYERS[dialect].line_end is None  # lines need no answer
]


@pytest.mark.parametrize(("dialect", "way"), NOTICED)
async def test_nothing_is_left_however_a_client_goes(dialect: str, way: str, autojump_clock: Clock) -> None:
    async with gateway() as room:
        player = await room.connect(dialect, "ann")
        await player.enter()
        assert await player.told() == player.entered()
        assert connections() == 1
        WAYS[way](player)
        await trio.sleep(100)
        assert len(room.hub) == 0
        assert connections() == parsers() == 0


# Those that are not served.

FULL, PROXIED, FOR_PROXIES, WITH_TLS = "full", "proxied", "behind proxies", "with TLS"
HANDSHAKE = (
    b"GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n%s\r\n"
)
STRANGERS = {
    "asks for the page": ("", b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"),
    "asks in no HTTP": ("", b"nonsense\r\n\r\n"),
    "asks from another website": ("", HANDSHAKE % b"Origin: http://elsewhere.example\r\n"),
    "does not end its request": ("", b"GET / HTTP/1.1\r\nHost:"),
    "is one too many": (FULL, HANDSHAKE % b""),
    "is one too many behind a proxy": (FOR_PROXIES, HANDSHAKE % b"X-Forwarded-For: 192.0.2.9\r\n"),
    "has no PROXY header": (PROXIED, HANDSHAKE % b""),
    "has a PROXY header that is none": (PROXIED, b"PROXY TCP4 x\r\n"),
    "has a PROXY header and is one too many": (PROXIED, b"PROXY TCP4 192.0.2.9 192.0.2.7 1 2\r\n"),
    "fails at TLS": (WITH_TLS, b"\x16\x03\x01\0\x05hello"),
    "begins TLS": (WITH_TLS, b"\x16\x03\x01\0\x05h"),
}


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Certificate:
    files = certificates.make(tmp_path_factory.mktemp("certificate"))
    return Certificate(files.certificate, files.key)


@certificates.needs_openssl
@pytest.mark.parametrize("breaks", [False, True], ids=["ends", "breaks"])
@pytest.mark.parametrize("way", STRANGERS)
async def test_nothing_is_left_of_who_is_not_served(
    way: str, certificate: Certificate, autojump_clock: Clock, *, breaks: bool
) -> None:
    async def fail(_: Accepted) -> None:
        raise AssertionError

    def sockets() -> int:
        return sum(isinstance(thing, Socket | Session | Admitted) for thing in gc.get_objects())

    port, words = STRANGERS[way]
    proxies = [ip_network("192.0.2.1")] if port == FOR_PROXIES else []
    limits = ConnectionCounts(others=AddressLimits(connections=1 if port in ("", WITH_TLS) else 0))
    admission = Admission(limits, Counter(), trusted=proxies, proxied=port == PROXIED)
    preamble = Preamble(certificate if port == WITH_TLS else None, Counter(), proxied=port == PROXIED)
    client = MemoryClient()
    async with trio.open_nursery() as nursery:
        receive = partial(receive_request, fail, HttpPort("no page\n", trusted=proxies))
        nursery.start_soon(serve, client, "nac4", receive, admission, preamble)
        client.socket.arrives(words)
        await trio.sleep(0.5)
        if breaks:
            client.reset()
        else:
            client.socket.ends()
    assert client.socket.is_closed
    assert sockets() == 0


@pairs
async def test_nothing_is_left_of_who_played(pair: Sequence[str], autojump_clock: Clock) -> None:
    async with gateway() as room:
        one, two = await room.meet(pair)
        for column in "0101010":
            await (one, two)[int(column)].play(int(column))
            await trio.testing.wait_all_tasks_blocked()
        assert len(room.finished) == 1
        assert connections() == 2 - one.always_opens
        for player in (one, two):
            if "closed" not in await player.told():
                await player.leave()
            await trio.sleep(10)
        assert len(room.hub) == 0
        assert connections() == parsers() == 0

"""Streams that send without waiting where they can."""

import socket
import ssl
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from math import inf
from typing import TypeAlias

import certificates
import pytest
import trio
import trio.testing
from shell_fakes import sockets
from wires import MemorySocket

from adapters.net.epoll import EpollReader
from adapters.net.sockets import DirectSocket, is_answered, origin_at
from adapters.net.tls import Session, TlsSocket
from adapters.net.wire import Wire
from gateway.access.certificates import Certificate

Either: TypeAlias = DirectSocket | MemorySocket | TlsSocket

pytestmark = pytest.mark.trio


async def direct_pair() -> tuple[DirectSocket, DirectSocket]:
    async with sockets() as (server, client):
        return DirectSocket(server), DirectSocket(client)


async def direct_clogged_pair() -> tuple[DirectSocket, DirectSocket]:
    """Return a pair of which neither end can send more without waiting."""
    pair = await direct_pair()
    for stream in pair:
        while stream.send_some(b"x" * 65_536):
            pass
    return pair


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Certificate:
    files = certificates.make(tmp_path_factory.mktemp("certificate"))
    return Certificate(files.certificate, files.key)


def with_tls(
    server: DirectSocket, client: DirectSocket, certificate: Certificate
) -> tuple[TlsSocket, TlsSocket]:
    """Return the ends, after their handshake."""
    trusting = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    trusting.check_hostname, trusting.verify_mode = False, ssl.CERT_NONE
    theirs, ours = Session(trusting, "server"), Session(certificate.context)
    done = False
    while not done:
        done = theirs.shake_hands()
        ours.incoming.write(theirs.outgoing.read())
        done = ours.shake_hands() and done
        theirs.incoming.write(ours.outgoing.read())
    return TlsSocket(server, ours), TlsSocket(client, theirs)


TLS = [pytest.param(name, marks=certificates.needs_openssl) for name in ("tls", "tls looked at")]


@pytest.fixture(params=["looked at", "direct", "fake", *TLS])
async def pair(request: pytest.FixtureRequest, nursery: trio.Nursery) -> AsyncIterator[tuple[Either, Either]]:
    """The same rules hold for all kinds, and for what stands in for a socket in other tests."""
    epoll = None
    if request.param.endswith("looked at"):
        epoll = EpollReader()
        nursery.start_soon(epoll.run)
    async with sockets() as (server, client):
        ends: tuple[Either, Either]
        if request.param == "fake":
            ends = MemorySocket(server), MemorySocket(client)
        else:
            ends = DirectSocket(server, epoll), DirectSocket(client, epoll)
        if request.param.startswith("tls"):
            ends = with_tls(*ends, request.getfixturevalue("certificate"))
        async with closing(*ends):
            yield ends


@asynccontextmanager
async def closing(*streams: Either) -> AsyncIterator[None]:
    try:
        yield
    finally:
        for stream in streams:
            stream.close()


async def read(stream: Either, max_bytes: int) -> bytes:
    """Return what arrives next."""
    got: list[bytes] = []

    def ready() -> bool:
        data = stream.read(max_bytes)
        if data is not None:
            got.append(data)
        return data is None

    await stream.listen(ready)
    return got[0]


async def send_for_ever(stream: Either) -> None:
    while True:
        await stream.send_more(b"x" * 1000)


async def test_what_is_sent_at_once_arrives() -> None:
    server, client = await direct_pair()
    async with closing(server, client):
        assert server.send_some(b"YOUR_MOVE\n") == 10
        assert await read(client, 100) == b"YOUR_MOVE\n"


async def test_full_socket_takes_nothing_and_raises_nothing() -> None:
    server, client = await direct_clogged_pair()
    async with closing(server, client):
        assert server.send_some(b"x") == 0


async def test_small_writes_are_not_held_back() -> None:
    server, client = await direct_pair()
    async with closing(server, client):
        assert server._socket.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) != 0


async def test_stream_is_readable_once_something_has_come_and_at_its_end() -> None:
    server, client = await direct_pair()
    async with closing(server):
        assert not server.is_readable
        client.send_some(b"x")
        await trio.lowlevel.wait_readable(server._socket)
        assert server.is_readable
        assert await read(server, 100) == b"x"
        assert not server.is_readable
        client.close()
        await trio.lowlevel.wait_readable(server._socket)
        assert server.is_readable


async def test_sending_to_a_peer_that_has_gone_is_a_broken_stream() -> None:
    server, client = await direct_pair()
    async with closing(server):
        client.close()
        with pytest.raises(trio.BrokenResourceError):
            await send_for_ever(server)


async def test_nothing_is_sent_by_a_stream_that_is_closed() -> None:
    server, client = await direct_pair()
    async with closing(client):
        server.close()
        with pytest.raises(trio.ClosedResourceError):
            server.send_some(b"x")


# Whether the peer is there.


@pytest.mark.parametrize(
    ("retransmits", "probes", "answered"),
    [(0, 0, True), (1, 0, True), (2, 0, False), (0, 1, False), (9, 0, False), (0, 3, False)],
)
async def test_peer_answers_unless_a_probe_or_data_sent_again_is_without_an_answer(
    retransmits: int, probes: int, answered: bool
) -> None:
    assert is_answered(bytes((1, 0, retransmits, probes, 0, 6, 0x77, 0))) is answered


async def test_peer_that_is_there_is_reachable() -> None:
    server, client = await direct_pair()
    async with closing(server, client):
        assert server.is_reachable
        server.send_some(b"NEW_GAME\n")
        assert server.is_reachable
        assert 0 <= server.silence < 20
        assert await read(client, 100) == b"NEW_GAME\n"


async def test_stream_that_is_closed_is_not_reachable() -> None:
    server, client = await direct_pair()
    async with closing(client):
        server.close()
        server.probe_after(1)
        assert not server.is_reachable
        assert server.silence == inf


async def test_stream_that_cannot_tell_is_reachable() -> None:
    one, other = socket.socketpair()  # which knows nothing of TCP
    with other:
        stream = DirectSocket(trio.SocketStream(trio.socket.from_stdlib_socket(one)))
        async with closing(stream):
            stream.probe_after(1)
            assert stream.is_reachable
            assert stream.silence == 0


@pytest.mark.skipif(sys.platform != "linux", reason="needs TCP's figures, as Linux has them")
@pytest.mark.parametrize("is_tls", [False, True])
async def test_peer_is_probed_without_data_and_its_system_answers(
    certificate: Certificate, is_tls: bool
) -> None:
    async with sockets() as (stream, other):
        stream.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        direct, client = DirectSocket(stream), DirectSocket(other)
        server = with_tls(direct, client, certificate)[0] if is_tls else direct
        async with closing(server, client):
            server.probe_after(1)
            with trio.fail_after(20):
                while server.silence < 0.5:  # noqa: ASYNC110  the system tells nobody
                    await trio.sleep(0.01)
                while server.silence > 0.4:  # noqa: ASYNC110  as above
                    await trio.sleep(0.01)
            assert not client.is_readable


# Every kind.


async def test_all_that_is_sent_arrives_and_then_the_end(pair: tuple[Either, Either]) -> None:
    server, client = pair
    data = bytes(range(256)) * 4000

    async def send() -> None:
        sent = server.send_some(data)
        while sent < len(data):
            sent += await server.send_more(data[sent:])
        await server.send_eof()

    received = b""
    async with trio.open_nursery() as nursery:
        nursery.start_soon(send)
        while some := await read(client, 10_000):
            received += some
    assert received == data


async def test_both_ways_go_on_after_one_has_ended(pair: tuple[Either, Either]) -> None:
    server, client = pair
    await server.send_eof()
    assert await read(client, 10) == b""
    await client.send_more(b"PUT 3")
    assert await read(server, 10) == b"PUT 3"


async def test_reader_of_a_stream_that_is_closed_is_told(pair: tuple[Either, Either]) -> None:
    server, _ = pair

    async def wait() -> None:
        with pytest.raises(trio.ClosedResourceError):
            await read(server, 10)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(wait)
        await trio.testing.wait_all_tasks_blocked()
        server.close()
    with pytest.raises(trio.ClosedResourceError):
        await server.send_more(b"x")


async def test_closing_twice_is_harmless(pair: tuple[Either, Either]) -> None:
    pair[0].close()
    pair[0].close()


async def test_clients_of_one_address_have_one_origin_whatever_their_port() -> None:
    server, client = await direct_pair()
    async with closing(server, client):
        assert server.address == client.address == "127.0.0.1"
        assert Wire(server).origin == Wire(client).origin == "127.0.0.1"


@pytest.mark.parametrize(
    ("host", "origin"),
    [
        ("2001:db8:1:2::1", "2001:db8:1:2::/64"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("fe80::1%eth0", "fe80::/64"),
    ],
)
async def test_clients_of_one_network_have_one_origin(host: str, origin: str) -> None:
    assert origin_at(host) == origin


async def test_socket_of_another_family_has_no_origin() -> None:
    one, other = trio.socket.socketpair()
    with other:
        stream = DirectSocket(trio.SocketStream(one))
        async with closing(stream):
            assert stream.address == Wire(stream).origin == ""


async def test_client_that_has_gone_already_has_no_origin() -> None:
    async with sockets() as (server, client):
        await client.aclose()
        server.socket.shutdown(socket.SHUT_RDWR)
        stream = DirectSocket(server)
        async with closing(stream):
            assert stream.address in ("", "127.0.0.1")


# With TLS.


@pytest.fixture
async def secure_pair(certificate: Certificate) -> AsyncIterator[tuple[TlsSocket, TlsSocket]]:
    async with sockets() as (server, client):
        ends = with_tls(DirectSocket(server), DirectSocket(client), certificate)
        async with closing(*ends):
            yield ends


@certificates.needs_openssl
async def test_text_counts_as_sent_when_all_of_it_has_left(secure_pair: tuple[TlsSocket, TlsSocket]) -> None:
    server, client = secure_pair
    sent, waiting = b"", b"x" * 1000
    while server.send_some(waiting):
        sent += waiting
    assert server.send_some(waiting) == 0  # the same again is not sent twice
    received = b""

    async def read_all() -> None:
        nonlocal received
        while len(received) < len(sent) + len(waiting) + 4:
            received += await read(client, 65_536)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(read_all)
        left = waiting + b"last"
        while left:
            left = left[await server.send_more(left) :]
    assert received == sent + waiting + b"last"


@certificates.needs_openssl
async def test_end_that_is_told_by_tls_alone_ends_the_stream(
    secure_pair: tuple[TlsSocket, TlsSocket],
) -> None:
    server, client = secure_pair
    client.send_some(b"NAME ann")
    with pytest.raises(ssl.SSLWantReadError):
        client._session.tls.unwrap()
    client._flush()  # and nothing of TCP's own
    data: list[bytes | None] = []

    def ready() -> bool:
        data.append(server.read(4096))
        return data[-1] != b""

    await server.listen(ready)
    assert b"".join(each or b"" for each in data) == b"NAME ann"
    assert await read(server, 10) == b""


@certificates.needs_openssl
@pytest.mark.parametrize("garbage", [b"NAME ann\n", b"\x17\x03\x03\x00\x05hello"])
async def test_what_is_not_encrypted_breaks_the_stream(
    secure_pair: tuple[TlsSocket, TlsSocket], garbage: bytes
) -> None:
    server, client = secure_pair
    client._direct.send_some(garbage)
    with pytest.raises(trio.BrokenResourceError):
        await read(server, 10)


@certificates.needs_openssl
async def test_stream_of_which_the_end_comes_without_a_word_has_ended(
    secure_pair: tuple[TlsSocket, TlsSocket],
) -> None:
    server, client = secure_pair
    client.close()
    assert await read(server, 10) == b""

"""What comes before a client's first word: a proxy's header, TLS, and what is read of it at most."""

import logging
import ssl
import threading
from collections import Counter
from collections.abc import Callable
from contextlib import suppress

import certificates
import pytest
import trio
import trio.testing
from tcp_port import TcpPort, until
from worlds.connection import GET, HERE, Client, World, answered, connections

from adapters.entrance.admission import Admitted
from adapters.entrance.preamble import Preamble
from adapters.net.socket import Socket
from gateway.access.certificates import Certificate

HEADER = b"PROXY TCP4 203.0.113.7 192.0.2.7 12345 443\r\n"
HELLO = b"\x16\x03\x01\x02\x00\x01"
"""What a handshake of TLS begins with."""


async def echo(sock: Socket, _: Admitted) -> None:
    """Say where the client is, and then what it says."""
    await sock.send_all(f"{sock.address} {'secure' if sock.is_secure else 'plain'}:".encode())
    while data := await sock.receive_some():
        await sock.send_all(data)
    await sock.linger()


async def sends(world: World, data: bytes, size: int = 1 << 20) -> Client:
    """Return a client that writes lines and sends this, in pieces."""
    client = world.dial("lines")
    for at in range(0, len(data), size):
        client.send(data[at : at + size])
        await world.quiet()
    return client


# A proxy's header.


@pytest.mark.parametrize(
    ("header", "origin"),
    [
        (HEADER, "203.0.113.7"),
        (b"PROXY UNKNOWN\r\n", HERE),  # the proxy speaks for itself
    ],
)
@pytest.mark.parametrize("size", [1, 1000])
async def test_header_of_a_proxy_says_where_the_client_is(header: bytes, origin: str, size: int) -> None:
    async with connections(proxy_protocol=True) as world:
        client = await sends(world, header + b"x\n", size)
        assert answered(client.texts) == ["x"]
        assert [seat.origin for seat in world.hub.seats()] == [origin]
        assert not world.counts


@pytest.mark.parametrize("data", [b"NAME ann\n", b"PRO", b""])
async def test_client_without_the_header_is_hung_up_on_and_that_is_counted_and_logged_once_a_minute(
    data: bytes, caplog: pytest.LogCaptureFixture, autojump_clock: trio.testing.MockClock
) -> None:
    async with connections(proxy_protocol=True) as world:
        for pause in (0, 1, 60):
            await trio.sleep(pause)
            client = await sends(world, data)
            client.hangs_up()
            await world.quiet()
            assert client.is_hung_up_on
            assert client.received == b""
        assert world.counts == {("entry_refused", "no_proxy_header"): 3}
    first, _ = [each.getMessage() for each in caplog.records if each.levelno >= logging.WARNING]
    assert first.startswith("a connection from 192.0.2.1 was refused: ")


@pytest.mark.parametrize("begun", [b"", HEADER[:-1]])
async def test_proxy_has_five_seconds_for_its_header(
    begun: bytes, autojump_clock: trio.testing.MockClock
) -> None:
    async with connections(proxy_protocol=True) as world:
        client = await sends(world, begun)
        await trio.sleep(4.9)
        assert not client.is_hung_up_on
        await trio.sleep(0.2)
        assert client.is_hung_up_on
        assert world.counts == {("entry_refused", "no_proxy_header"): 1}


async def test_header_of_a_proxy_is_a_line_like_others_where_nobody_asked_for_it() -> None:
    async with connections() as world:
        client = await sends(world, HEADER)
        assert answered(client.texts) == [HEADER.decode().rstrip()]


# TLS, and what comes instead of it.


@certificates.needs_openssl
async def test_client_without_tls_is_served_as_ever(certificate: Certificate) -> None:
    preambles = [
        Preamble(None, Counter()),
        Preamble(certificate, Counter()),
        Preamble(None, Counter(), proxied=True),
    ]
    assert [each.is_plain for each in preambles] == [True, False, False]
    async with connections(certificate=certificate) as world:
        client = await sends(world, b"x\n", 1)
        assert answered(client.texts) == ["x"]
        assert not world.counts


@certificates.needs_openssl
@pytest.mark.parametrize("silence", [60.0, None])
async def test_client_may_say_nothing_as_long_as_its_port_allows(
    silence: float | None, certificate: Certificate, autojump_clock: trio.testing.MockClock
) -> None:
    async with connections(certificate=certificate, silence=silence) as world:
        mute, late = world.dial("lines", receive=echo), world.dial("lines", receive=echo)
        await trio.sleep((silence or 300) - 1)
        assert not mute.is_hung_up_on
        late.send(b"x\n")
        await trio.sleep(2)
        assert mute.is_hung_up_on
        assert (mute.received, late.received) == (b"", b"192.0.2.1 plain:x\n")
        assert not world.counts


@certificates.needs_openssl
@pytest.mark.parametrize(
    ("data", "answer"),
    [
        (b"NAME ann\n", b"Error TLS_REQUIRED\n"),
        *((data, b"HTTP/1.1 426 Upgrade Required\r\n") for data in (GET, b"G")),
    ],
)
async def test_where_tls_is_demanded_others_hear_so(
    data: bytes, answer: bytes, certificate: Certificate
) -> None:
    async with connections(certificate=certificate, tls_only=True) as world:
        client = await sends(world, data)
        assert client.received.startswith(answer)
        assert b"strict-transport-security" not in client.received  # anybody on the way may have written it
        assert client.is_hung_up_on
        assert world.counts == {("entry_refused", "no_tls"): 1}


@certificates.needs_openssl
async def test_handshake_may_take_a_minute(
    certificate: Certificate, autojump_clock: trio.testing.MockClock
) -> None:
    async with connections(certificate=certificate) as world:
        client = await sends(world, HELLO)
        await trio.sleep(59)
        assert not client.is_hung_up_on
        await trio.sleep(2)
        assert client.is_hung_up_on
        assert client.received == b""
        assert world.counts == {("entry_refused", "no_handshake"): 1}


@certificates.needs_openssl
@pytest.mark.parametrize("begun", [b"", HEADER[:9], HEADER, HEADER + HELLO])
@pytest.mark.parametrize("how", [Client.resets, Client.hangs_up])
async def test_client_that_vanishes_before_its_first_word_is_never_our_bug(
    begun: bytes, how: Callable[[Client], None], certificate: Certificate, caplog: pytest.LogCaptureFixture
) -> None:
    async with connections(certificate=certificate, proxy_protocol=True) as world:
        client = await sends(world, begun)
        how(client)
        await world.quiet()
        assert client.socket.is_closed
    assert not [each for each in caplog.records if each.levelno >= logging.ERROR]


@certificates.needs_openssl
@pytest.mark.parametrize("data", [b"\x16\x03\x01\xff\xffhello", b"\x16\x03\x01\x00\x05hello"])
async def test_broken_handshake_is_answered_with_an_alert(
    data: bytes, certificate: Certificate, port: TcpPort
) -> None:
    counts: Counter[tuple[str, str]] = Counter()
    client = await port.dial(echo, Preamble(certificate, counts))
    await client.send_all(data)
    assert (await client.receive_some())[:1] == b"\x15"
    assert await client.receive_some() == b""
    assert counts == {("entry_refused", "no_handshake"): 1}


@certificates.needs_openssl
async def test_handshake_without_an_end_is_hung_up_on(
    certificate: Certificate, port: TcpPort, mock_clock: trio.testing.MockClock
) -> None:
    hello = b"\x01\x01\xff\xff" + bytes(0x1FFFF)  # as long as one may be for OpenSSL, or nearly so
    counts: Counter[tuple[str, str]] = Counter()
    client = await port.dial(echo, Preamble(certificate, counts))
    with suppress(trio.BrokenResourceError):
        for start in range(0, 5 * 16_384, 16_384):
            piece = hello[start : start + 16_384]
            await client.send_all(b"\x16\x03\x01" + len(piece).to_bytes(2) + piece)
        assert await client.receive_some() == b""
    assert mock_clock.current_time() == 0
    assert counts == {("entry_refused", "no_handshake"): 1}


@certificates.needs_openssl
@pytest.mark.parametrize(
    ("before", "version"), [(b"", ssl.TLSVersion.TLSv1_2), (HEADER, ssl.TLSVersion.TLSv1_3)]
)
async def test_client_with_either_version_of_tls_is_served_by_it(
    before: bytes,
    version: ssl.TLSVersion,
    files: certificates.Files,
    certificate: Certificate,
    port: TcpPort,
) -> None:
    counts: Counter[tuple[str, str]] = Counter()
    preamble = Preamble(certificate, counts, tls_only=True, proxied=bool(before))
    context = files.client()
    context.minimum_version = context.maximum_version = version
    client = await port.dial(echo, preamble, context, before=before)
    await client.send_all(b"NAME ann\n")
    where = b"203.0.113.7" if before else b"127.0.0.1"
    assert await until(client, b"\n") == where + b" secure:NAME ann\n"
    assert not counts


@certificates.needs_openssl
@pytest.mark.parametrize("pieces", [[*range(10_000)], [0, -1]], ids=["byte by byte", "all but the last byte"])
async def test_handshake_and_what_comes_with_it_may_come_in_pieces_and_take_its_time(
    pieces: list[int],
    files: certificates.Files,
    certificate: Certificate,
    port: TcpPort,
    mock_clock: trio.testing.MockClock,
) -> None:
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    session = files.client().wrap_bio(incoming, outgoing, server_hostname="127.0.0.1")
    client = await port.dial(echo, Preamble(certificate, Counter()))

    async def send(data: bytes) -> None:
        starts = [each % len(data) for each in pieces if each < len(data)]
        for start, end in zip(starts, [*starts[1:], len(data)], strict=True):
            await client.send_all(data[start:end])
            await trio.testing.wait_all_tasks_blocked()

    with suppress(ssl.SSLWantReadError):
        session.do_handshake()
    await send(outgoing.read())
    incoming.write(await client.receive_some())
    mock_clock.jump(15)  # as where the server is busy
    session.do_handshake()
    session.write(b"hello")
    await send(outgoing.read())
    said = b""
    while not said.endswith(b" secure:hello"):
        incoming.write(await client.receive_some())
        with suppress(ssl.SSLWantReadError):
            while True:
                said += session.read(100)


@certificates.needs_openssl
async def test_handshake_does_not_wait_for_another_one_to_be_computed(
    files: certificates.Files, certificate: Certificate, port: TcpPort
) -> None:
    both = threading.Barrier(2, timeout=10)

    def compute(*_: object) -> None:
        both.wait()

    certificate.context.sni_callback = compute
    preamble = Preamble(certificate, Counter())
    clients = [await port.dial(echo, preamble, files.client()) for _ in range(2)]
    async with trio.open_nursery() as nursery:
        for client in clients:
            nursery.start_soon(client.send_all, b"x")
    for client in clients:
        assert await until(client, b"x") == b"127.0.0.1 secure:x"

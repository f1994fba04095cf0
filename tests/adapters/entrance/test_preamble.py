"""What comes before a client's first word: a proxy's header, TLS, and what is read of it at most."""

import logging
import ssl
import threading
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import certificates
import pytest
import trio
import trio.testing
from adapters.net.wire import Wire
from shell_fakes import drained, sockets
from wires import wired

from adapters.entrance.preamble import HANDSHAKE_LIMIT, PROXY_LIMIT, SILENCE, Preamble
from adapters.net.tls import Session
from gateway.access.certificates import Certificate
from gateway.access.proxies import LONGEST

pytestmark = pytest.mark.trio

HEADER = b"PROXY TCP4 203.0.113.7 192.0.2.1 12345 443\r\n"


async def echo(wire: Wire) -> None:
    """Say where the client is, and then what it says."""
    try:
        await wire.send_all(f"{wire.address} {'secure' if wire.is_secure else 'plain'}:".encode())
        while data := await wire.receive_some():
            await wire.send_all(data)
        await wire.linger()
    except trio.BrokenResourceError:
        pass
    finally:
        await trio.aclose_forcefully(wire)


@asynccontextmanager
async def let_in(entry: Preamble, silence: float = SILENCE) -> AsyncIterator[trio.StapledStream]:
    """Give a client's end of a connection that comes by an entry."""
    client, server = trio.testing.memory_stream_pair()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(entry.before(echo, silence), wired(server))
        yield client
        await client.aclose()


@pytest.fixture
def counts() -> Counter[tuple[str, str]]:
    return Counter()


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> certificates.Files:
    return certificates.make(tmp_path_factory.mktemp("certificate"))


@pytest.fixture(scope="module")
def certificate(files: certificates.Files) -> Certificate:
    return Certificate(files.certificate, files.key)


async def test_without_tls_and_proxies_nothing_stands_before_a_client(
    counts: Counter[tuple[str, str]],
) -> None:
    assert Preamble(None, counts).before(echo) is echo


# A proxy's header.


@pytest.mark.parametrize("size", [1, 5, 1000])
async def test_header_of_a_proxy_says_where_the_client_is(
    size: int, counts: Counter[tuple[str, str]]
) -> None:
    async with let_in(Preamble(None, counts, proxied=True)) as client:
        data = HEADER + b"NAME ann\n"
        for at in range(0, len(data), size):
            await client.send_all(data[at : at + size])
        await client.send_eof()
        assert await drained(client) == b"203.0.113.7 plain:NAME ann\n"
    assert counts == {}


@pytest.mark.parametrize(
    "data",
    [b"NAME ann\n", b"GET / HTTP/1.1\r\n\r\n", b"PROXY TCP4 x\r\n", b"PROXY " + b"x" * LONGEST * 2, b"PRO"],
)
async def test_client_without_the_header_is_hung_up_on_and_counted(
    data: bytes, counts: Counter[tuple[str, str]], caplog: pytest.LogCaptureFixture
) -> None:
    entry = Preamble(None, counts, proxied=True)
    for _ in range(2):
        async with let_in(entry) as client:
            await client.send_all(data)
            await client.send_eof()
            assert await drained(client) == b""
    assert counts == {("entry_refused", "no_proxy_header"): 2}
    (record,) = [each for each in caplog.records if each.levelno >= logging.WARNING]
    assert "PROXY header" in record.getMessage()


async def test_proxy_that_says_nothing_is_hung_up_on(
    counts: Counter[tuple[str, str]], autojump_clock: trio.testing.MockClock
) -> None:
    async with let_in(Preamble(None, counts, proxied=True)) as client:
        begin = trio.current_time()
        assert await drained(client) == b""
        assert trio.current_time() - begin == pytest.approx(PROXY_LIMIT, abs=2)
    assert counts == {("entry_refused", "no_proxy_header"): 1}


# TLS.


@certificates.needs_openssl
async def test_client_without_tls_is_served_as_ever(
    certificate: Certificate, counts: Counter[tuple[str, str]]
) -> None:
    async with let_in(Preamble(certificate, counts)) as client:
        await client.send_all(b"NAME ann\n")
        await client.send_eof()
        assert await drained(client) == b" plain:NAME ann\n"


@certificates.needs_openssl
@pytest.mark.parametrize("silence", [60.0, SILENCE])
async def test_client_may_say_nothing_as_long_as_its_port_allows(
    silence: float,
    certificate: Certificate,
    counts: Counter[tuple[str, str]],
    autojump_clock: trio.testing.MockClock,
) -> None:
    async with let_in(Preamble(certificate, counts), silence) as client:
        begin = trio.current_time()
        assert await drained(client) == b""
        assert trio.current_time() - begin == pytest.approx(silence, abs=2)
    async with let_in(Preamble(certificate, counts), silence) as client:
        await trio.sleep(silence - 1)
        await client.send_all(b"NAME ann\n")
        assert await client.receive_some(100) == b" plain:"
    assert counts == {}


@certificates.needs_openssl
@pytest.mark.parametrize(
    ("data", "answer"),
    [
        (b"NAME ann\n", b"Error TLS_REQUIRED\n"),
        (b"GET / HTTP/1.1\r\n", b"HTTP/1.1 426 Upgrade Required\r\n"),
        (b"G", b"HTTP/1.1 426 Upgrade Required\r\n"),
    ],
)
async def test_where_tls_is_demanded_others_hear_so(
    data: bytes, answer: bytes, certificate: Certificate, counts: Counter[tuple[str, str]]
) -> None:
    async with let_in(Preamble(certificate, counts, tls_only=True)) as client:
        await client.send_all(data)
        await client.send_eof()
        assert (await drained(client)).startswith(answer)
    assert counts == {("entry_refused", "no_tls"): 1}


@certificates.needs_openssl
async def test_client_that_does_not_finish_its_handshake_is_hung_up_on(
    certificate: Certificate, counts: Counter[tuple[str, str]], autojump_clock: trio.testing.MockClock
) -> None:
    async with let_in(Preamble(certificate, counts)) as client:
        begin = trio.current_time()
        await client.send_all(b"\x16\x03\x01\x02\x00\x01")
        assert await drained(client) == b""
        assert trio.current_time() - begin == pytest.approx(HANDSHAKE_LIMIT, abs=2)
    assert counts == {("entry_refused", "no_handshake"): 1}


@certificates.needs_openssl
async def test_handshake_without_an_end_is_hung_up_on(
    certificate: Certificate, counts: Counter[tuple[str, str]], mock_clock: trio.testing.MockClock
) -> None:
    hello = b"\x01\x01\xff\xff" + bytes(0x1FFFF)  # as long as one may be for OpenSSL, or nearly so
    pieces = [hello[start : start + 16_384] for start in range(0, 5 * 16_384, 16_384)]
    async with let_in(Preamble(certificate, counts)) as client:
        for piece in pieces:
            with suppress(trio.BrokenResourceError):
                await client.send_all(b"\x16\x03\x01" + len(piece).to_bytes(2) + piece)
        with suppress(trio.BrokenResourceError):
            assert await drained(client) == b""
        assert mock_clock.current_time() == 0
    assert counts == {("entry_refused", "no_handshake"): 1}


@certificates.needs_openssl
async def test_client_of_a_busy_server_may_take_its_time_for_the_handshake(
    files: certificates.Files,
    certificate: Certificate,
    counts: Counter[tuple[str, str]],
    mock_clock: trio.testing.MockClock,
) -> None:
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    session = files.client().wrap_bio(incoming, outgoing, server_hostname="127.0.0.1")
    async with sockets() as (server, client), trio.open_nursery() as nursery:
        nursery.start_soon(Preamble(certificate, counts).before(echo), wired(server))
        with suppress(ssl.SSLWantReadError):
            session.do_handshake()
        await client.send_all(outgoing.read())
        incoming.write(await client.receive_some())
        mock_clock.jump(15)
        session.do_handshake()
        await client.send_all(outgoing.read())
        assert await client.receive_some()
        await client.aclose()
    assert counts == {}


@certificates.needs_openssl
async def test_handshake_does_not_wait_for_another_one_to_be_computed(
    certificate: Certificate, counts: Counter[tuple[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    both = threading.Barrier(2, timeout=10)

    def shake_hands(session: Session) -> bool:
        both.wait()
        raise ssl.SSLError

    monkeypatch.setattr(Session, "shake_hands", shake_hands)
    entry = Preamble(certificate, counts)
    async with let_in(entry) as client, let_in(entry) as other:
        for stream in (client, other):
            await stream.send_all(b"\x16\x03\x01\x00\x01x")
            await stream.send_eof()
        assert await drained(client) == await drained(other) == b""
    assert counts == {("entry_refused", "no_handshake"): 2}


@certificates.needs_openssl
async def test_bytes_of_a_handshake_that_come_one_by_one_are_computed_together(
    files: certificates.Files,
    certificate: Certificate,
    counts: Counter[tuple[str, str]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    computed, shake_hands = [0], Session.shake_hands

    def counted(session: Session) -> bool:
        computed[0] += 1
        return shake_hands(session)

    monkeypatch.setattr(Session, "shake_hands", counted)
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    session = files.client().wrap_bio(incoming, outgoing, server_hostname="127.0.0.1")
    async with sockets() as (server, client), trio.open_nursery() as nursery:
        nursery.start_soon(Preamble(certificate, counts).before(echo), wired(server))
        with suppress(ssl.SSLWantReadError):
            session.do_handshake()
        for byte in outgoing.read():
            await client.send_all(bytes([byte]))
            await trio.testing.wait_all_tasks_blocked()
        incoming.write(await client.receive_some())
        assert computed == [1]
        session.do_handshake()
        session.write(b"hello")
        sent = outgoing.read()
        await client.send_all(sent[:-1])  # what was begun before the handshake was done is not lost
        await client.send_all(sent[-1:])
        said = b""
        while not said.endswith(b":hello"):
            incoming.write(await client.receive_some())
            with suppress(ssl.SSLWantReadError):
                while True:
                    said += session.read(100)
        await client.aclose()
    assert counts == {}


@certificates.needs_openssl
async def test_record_that_can_be_none_is_answered_at_once(
    certificate: Certificate, counts: Counter[tuple[str, str]]
) -> None:
    async with let_in(Preamble(certificate, counts)) as client:
        await client.send_all(b"\x16\x03\x01\xff\xffhello")
        assert (await drained(client))[:1] == b"\x15"


@certificates.needs_openssl
async def test_broken_handshake_is_answered_with_an_alert(
    certificate: Certificate, counts: Counter[tuple[str, str]]
) -> None:
    async with let_in(Preamble(certificate, counts)) as client:
        await client.send_all(b"\x16\x03\x01\x00\x05hello")
        await client.send_eof()
        assert (await drained(client))[:1] == b"\x15"
    assert counts == {("entry_refused", "no_handshake"): 1}


@certificates.needs_openssl
@pytest.mark.parametrize("begin", [b"", HEADER])
async def test_client_with_tls_is_served_by_tls(
    begin: bytes, files: certificates.Files, certificate: Certificate, counts: Counter[tuple[str, str]]
) -> None:
    entry = Preamble(certificate, counts, tls_only=True, proxied=bool(begin))
    async with sockets() as (server, client), trio.open_nursery() as nursery:
        nursery.start_soon(entry.before(echo), wired(server))
        if begin:
            await client.send_all(begin)
        secure = trio.SSLStream(client, files.client(), server_hostname="127.0.0.1", https_compatible=True)
        await secure.send_all(b"NAME ann\n")
        heard = await until(secure, b"\n")
        assert heard == (b"203.0.113.7" if begin else b"127.0.0.1") + b" secure:NAME ann\n"
        await secure.aclose()
    assert counts == {}


@certificates.needs_openssl
async def test_connection_keeps_its_certificate_when_another_one_is_read(
    tmp_path: Path, counts: Counter[tuple[str, str]]
) -> None:
    old, new = certificates.make(tmp_path), certificates.make(tmp_path, "new")
    certificate = Certificate(old.certificate, old.key)
    trusts_old, trusts_new = old.client(), new.client()
    entry = Preamble(certificate, counts)
    async with sockets() as (first, early), sockets() as (second, late), trio.open_nursery() as nursery:
        for server in (first, second):
            nursery.start_soon(entry.before(echo), wired(server))
        playing = trio.SSLStream(early, trusts_old, server_hostname="127.0.0.1")
        await playing.do_handshake()
        await trio.Path(new.certificate).rename(old.certificate)
        await trio.Path(new.key).rename(old.key)
        certificate.reload()
        coming = trio.SSLStream(late, trusts_new, server_hostname="127.0.0.1")
        for stream in (playing, coming):
            await stream.send_all(b"PUT 3\n")
            assert (await until(stream, b"\n")).endswith(b"secure:PUT 3\n")
        nursery.cancel_scope.cancel()


async def until(stream: trio.abc.ReceiveStream, end: bytes) -> bytes:
    data = b""
    while not data.endswith(end):
        data += await stream.receive_some(1000)
    return data

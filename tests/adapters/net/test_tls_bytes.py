"""TLS without sockets, and the client's end of it on one."""

import socket
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, closing
from pathlib import Path

import certificates
import pytest
import trio
from foreign_servers import serving
from hypothesis import given
from hypothesis import strategies as st

from adapters.net.socket import Socket, taken
from adapters.net.tls import Session, whole_records
from adapters.net.tls_client import Untrusted, secure, trusting
from gateway.access.certificates import Certificate


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> certificates.Files:
    return certificates.make(tmp_path_factory.mktemp("certificate"))


# Records.


def record(size: int) -> bytes:
    return b"\x17\x03\x03" + size.to_bytes(2, "big") + bytes(size)


@given(st.lists(st.integers(0, 300), max_size=5), st.data())
def test_whole_records_end_where_the_next_one_begins(sizes: list[int], data: st.DataObject) -> None:
    records = [record(size) for size in sizes]
    last = record(data.draw(st.integers(0, 300)))
    cut = data.draw(st.integers(0, len(last) - 1))
    whole = b"".join(records)
    assert whole_records(whole + last[:cut]) == len(whole)


@pytest.mark.parametrize("size", [16_384, 18_432])
def test_record_may_be_as_long_as_tls_allows_and_longer_ones_are_for_the_library_to_refuse(size: int) -> None:
    assert whole_records(record(size)[:-1]) == 0
    assert whole_records(record(size)) == 5 + size
    assert whole_records(record(18_433)[:6]) == 6


# A session.


def shake_hands(files: certificates.Files) -> tuple[Session, Session]:
    """Return the server's end and the client's."""
    server = Session(Certificate(files.certificate, files.key).context)
    client = Session(files.client(), "127.0.0.1")
    done = client.shake_hands(b"")
    while not done:
        done = server.shake_hands(client.outgoing())
        done = client.shake_hands(server.outgoing()) and done
    return server, client


@certificates.needs_openssl
@pytest.mark.parametrize("size", [1, 16_384, 16_385, 100_000])
def test_what_one_end_encrypts_the_other_decrypts(files: certificates.Files, size: int) -> None:
    data = bytes(range(256)) * (size // 256 + 1)
    for one, other in (ends := shake_hands(files), ends[::-1]):
        encrypted = one.encrypt(data[:size])
        assert data[:32] not in encrypted or size < 32
        assert other.decrypt(encrypted[:10]) == b""
        assert other.decrypt(encrypted[10:]) == data[:size]
        assert not other.has_ended
    server, client = ends
    assert client.decrypt(server.encrypt(b"DRAW\n") + server.end()) == b"DRAW\n"
    assert client.has_ended


@certificates.needs_openssl
def test_what_is_nonsense_or_was_changed_on_its_way_fails_and_an_alert_says_so(
    files: certificates.Files,
) -> None:
    session = Session(Certificate(files.certificate, files.key).context)
    with pytest.raises(ssl.SSLError):
        session.shake_hands(b"\x16\x03\x01\0\5hello")
    assert session.outgoing()[0] == 0x15
    server, client = shake_hands(files)
    encrypted = bytearray(client.encrypt(b"PUT 3\n"))
    encrypted[-1] ^= 1
    with pytest.raises(ssl.SSLError):
        server.decrypt(bytes(encrypted))


# The client's end on a socket.


@asynccontextmanager
async def dialled(serve: Callable[[trio.SocketStream], Awaitable[None]]) -> AsyncIterator[Socket]:
    """Give a socket that leads to a server."""
    async with serving(serve) as port:
        with closing(Socket(taken(await trio.open_tcp_stream("127.0.0.1", port)))) as sock:
            yield sock


@certificates.needs_openssl
async def test_client_talks_to_a_server_with_tls(files: certificates.Files) -> None:
    async def echo(stream: trio.SocketStream) -> None:
        context = Certificate(files.certificate, files.key).context
        async with trio.SSLStream(stream, context, server_side=True) as secured:
            async for data in secured:
                await secured.send_all(data)

    async with dialled(echo) as sock:
        await secure(sock, "127.0.0.1", trusting(files.certificate), 10)
        assert sock.is_secure
        await sock.send_all(b"NAME ann\n")
        assert await sock.receive_some() == b"NAME ann\n"
        await sock.linger()


@certificates.needs_openssl
@pytest.mark.parametrize(
    ("name", "trusts", "lacks_authority"), [("127.0.0.1", False, True), ("elsewhere.example", True, False)]
)
async def test_server_is_trusted_under_its_name_and_by_an_authority_alone(
    files: certificates.Files, name: str, *, trusts: bool, lacks_authority: bool
) -> None:
    async def greet(stream: trio.SocketStream) -> None:
        context = Certificate(files.certificate, files.key).context
        with pytest.raises((trio.BrokenResourceError, ssl.SSLError)):
            await trio.SSLStream(stream, context, server_side=True).receive_some()

    async with dialled(greet) as sock:
        with pytest.raises(Untrusted) as refused:
            await secure(sock, name, trusting(files.certificate if trusts else None), 10)
    assert refused.value.lacks_authority is lacks_authority


async def hangs_up(stream: trio.SocketStream) -> None:
    await stream.receive_some()


async def resets(stream: trio.SocketStream) -> None:
    await trio.sleep(0.01)
    stream.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")


async def speaks_plainly(stream: trio.SocketStream) -> None:
    await stream.send_all(b"HTTP/1.1 400 Bad Request\r\n\r\n")
    await stream.receive_some()


async def says_nothing(_: trio.SocketStream) -> None:
    await trio.sleep_forever()


@pytest.mark.parametrize(
    ("serve", "words"),
    [
        (hangs_up, "does not speak TLS"),
        (resets, "hung up in the handshake"),
        (speaks_plainly, "does not speak TLS"),
        (says_nothing, "does not answer a handshake"),
    ],
)
async def test_server_without_tls_is_an_os_error_that_says_so(
    serve: Callable[[trio.SocketStream], Awaitable[None]], words: str
) -> None:
    async with dialled(serve) as sock:
        with pytest.raises(OSError, match=words):
            await secure(sock, "127.0.0.1", trusting(None), 0.1)


def test_file_without_a_certificate_is_an_os_error_that_names_it(tmp_path: Path) -> None:
    file = tmp_path / "ca.pem"
    file.write_text("nothing")
    with pytest.raises(OSError, match=r"--tls-ca: .* has no certificate in PEM"):
        trusting(str(file), "--tls-ca")

"""Taking a browser's connection to the process that serves the page."""

import socket
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from ipaddress import ip_network

import certificates
import pytest
import trio
import trio.testing
from adapters.net.wire import Wire
from shell_fakes import drained, sockets
from wires import wired

from adapters.client.boundary import serve_connection
from adapters.entrance.preamble import Preamble
from adapters.entrance.web_handoff import SHARES, WebHandoff
from gateway.access.certificates import Certificate
from gateway.access.proxies import Network

pytestmark = pytest.mark.trio


@dataclass
class Process:
    """Stands for the page's process."""

    taken: list[tuple[trio.SocketStream, bytes, bool]] = field(default_factory=list)
    arrived: trio.Event = field(default_factory=trio.Event)
    fails: bool = False

    async def give(
        self, number: int, begun: bytes, address: str, *, is_secure: bool, is_single: bool
    ) -> None:
        assert address == "127.0.0.1"
        if self.fails:
            raise TimeoutError
        copy = trio.socket.from_stdlib_socket(socket.socket(fileno=socket.dup(number)))
        self.taken.append((trio.SocketStream(copy), begun, is_secure))
        self.arrived.set()


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> certificates.Files:
    return certificates.make(tmp_path_factory.mktemp("certificate"))


async def test_plain_connection_is_given_away_and_stays_open() -> None:
    process = Process()
    page = WebHandoff(process, Counter())
    async with sockets() as (server, client), trio.open_nursery() as nursery:
        nursery.start_soon(serve_connection, "page", page.serve, wired, server)
        await client.send_all(b"GET / HTTP/1.1\r\n")
        await process.arrived.wait()
        ((stream, begun, is_secure),) = process.taken
        assert (begun, is_secure) == (b"GET / HTTP/1.1\r\n", False)
        await trio.testing.wait_all_tasks_blocked(0.01)
        async with stream:
            await client.send_all(b"more")
            assert await stream.receive_some(100) == b"more"
            await stream.send_all(b"answer")
        assert await drained(client) == b"answer"


@asynccontextmanager
async def by_tls(
    files: certificates.Files, process: Process
) -> AsyncIterator[tuple[trio.SSLStream[trio.SocketStream], trio.SocketStream]]:
    """Give a client's end, and the page's end of its relay."""
    entry = Preamble(Certificate(files.certificate, files.key), Counter())
    serve = entry.before(WebHandoff(process, Counter()).serve)
    async with sockets() as (server, client), trio.open_nursery() as nursery:
        nursery.start_soon(serve_connection, "page", serve, wired, server)
        secure = trio.SSLStream(client, files.client(), server_hostname="127.0.0.1", https_compatible=True)
        await secure.send_all(b"GET / HTTP/1.1\r\n")
        await process.arrived.wait()
        ((stream, begun, is_secure),) = process.taken
        assert (begun, is_secure) == (b"GET / HTTP/1.1\r\n", True)
        async with stream:
            yield secure, stream


@certificates.needs_openssl
async def test_connection_with_tls_is_relayed_both_ways_until_the_page_ends_it(
    files: certificates.Files,
) -> None:
    data = bytes(range(256)) * 2000
    async with by_tls(files, Process()) as (client, page):

        async def answer() -> None:
            await page.send_all(data)
            await page.aclose()

        await client.send_all(b"more")
        assert await page.receive_some(100) == b"more"
        async with trio.open_nursery() as nursery:
            nursery.start_soon(answer)
            assert await drained(client) == data


@certificates.needs_openssl
async def test_relay_ends_for_the_page_when_its_client_does(files: certificates.Files) -> None:
    async with by_tls(files, Process()) as (client, page):
        await client.aclose()
        assert await page.receive_some(100) == b""


async def send_for_ever(stream: trio.SocketStream) -> None:
    while True:
        await stream.send_all(b"x" * 100_000)


@certificates.needs_openssl
async def test_client_that_does_not_read_makes_the_page_wait(files: certificates.Files) -> None:
    async with by_tls(files, Process()) as (client, page):
        waiting = trio.CancelScope()
        with waiting:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(send_for_ever, page)
                await trio.testing.wait_all_tasks_blocked(0.01)
                waiting.cancel()
        assert waiting.cancelled_caught
        await trio.aclose_forcefully(client)


@pytest.mark.parametrize("only_tls", [True, False])
async def test_page_that_takes_nobody_is_busy_and_that_is_counted(only_tls: bool) -> None:
    counts: Counter[tuple[str, str]] = Counter()
    page = WebHandoff(Process(fails=True), counts)

    async def serve(wire: Wire) -> None:
        wire.only_tls = only_tls
        await page.serve(wire)

    async with sockets() as (server, client), trio.open_nursery() as nursery:
        nursery.start_soon(serve_connection, "page", serve, wired, server)
        await client.send_all(b"GET / HTTP/1.1\r\n")
        await client.send_eof()
        heard = await drained(client)
        assert heard.startswith(b"HTTP/1.1 503 Service Unavailable\r\n")
        assert (b"\r\nstrict-transport-security: " in heard) == only_tls
    assert counts == {("page_refused", ""): 1}


@certificates.needs_openssl
@pytest.mark.parametrize(("trusted", "most"), [((), 2), ((ip_network("127.0.0.1"),), 2 * SHARES)])
async def test_one_address_has_a_part_of_the_relays_and_a_trusted_proxy_all(
    trusted: Sequence[Network], most: int, files: certificates.Files, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("adapters.entrance.web_handoff.MOST_RELAYS", 2 * SHARES)
    process, counts = Process(), Counter[tuple[str, str]]()
    entry = Preamble(Certificate(files.certificate, files.key), Counter())
    serve = entry.before(WebHandoff(process, counts, trusted).serve)
    async with trio.open_nursery() as nursery, AsyncExitStack() as stack:

        async def asked() -> trio.abc.ReceiveStream:
            server, client = await stack.enter_async_context(sockets())
            nursery.start_soon(serve_connection, "page", serve, wired, server)
            secure = trio.SSLStream(
                client, files.client(), server_hostname="127.0.0.1", https_compatible=True
            )
            await secure.send_all(b"GET / HTTP/1.1\r\n")
            return secure

        for _ in range(most):
            process.arrived = trio.Event()
            await asked()
            await process.arrived.wait()
        assert (await (await asked()).receive_some(12)) == b"HTTP/1.1 503"
        for stream, _, _ in process.taken:
            await stream.aclose()
        nursery.cancel_scope.cancel()
    assert counts == {("page_refused", ""): 1}


async def test_client_that_sends_nothing_is_hung_up_on(autojump_clock: trio.testing.MockClock) -> None:
    client, server = trio.testing.memory_stream_pair()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(WebHandoff(Process(), Counter()).serve, wired(server))
        assert await drained(client) == b""
        await client.aclose()

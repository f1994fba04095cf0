"""Taking a browser's connection to the process that serves the page."""

import resource
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import closing
from ipaddress import ip_network

import certificates
import pytest
import trio
import trio.testing
from tcp_port import TcpPort, everything
from worlds.connection import Client, connections

from adapters.entrance.admission import Admission
from adapters.entrance.preamble import Preamble
from adapters.entrance.web_handoff import WebHandoff
from adapters.net.fd_passing import FdPassing, PassedListener, PassedStream
from gateway.access.certificates import Certificate
from gateway.access.limits import AddressLimits, ConnectionCounts

GET = b"GET / HTTP/1.1\r\n"
BUSY = b"HTTP/1.1 503 Service Unavailable\r\n"


@pytest.fixture
async def passing() -> AsyncIterator[FdPassing]:
    with closing(FdPassing()) as found:
        yield found


@pytest.fixture
async def page(passing: FdPassing) -> AsyncIterator[PassedListener]:
    """The page's process."""
    async with PassedListener(passing.socket.dup()) as found:
        yield found


async def test_plain_connection_is_given_away_and_stays_open(
    passing: FdPassing, page: PassedListener, port: TcpPort
) -> None:
    client = await port.dial(WebHandoff(passing, Counter()).serve)
    await client.send_all(GET)
    async with await page.accept() as stream:
        assert (stream.address, stream.is_secure, stream.is_single) == ("127.0.0.1", False, False)
        assert await stream.receive_some() == GET
        await trio.testing.wait_all_tasks_blocked(0.01)
        await client.send_all(b"more")
        assert await stream.receive_some() == b"more"
        await stream.send_all(b"answer")
    assert await everything(client) == b"answer"


@pytest.mark.parametrize("seconds", [15.0, None])
async def test_client_that_sends_nothing_is_hung_up_on(
    seconds: float | None, passing: FdPassing, autojump_clock: trio.testing.MockClock
) -> None:
    async with connections(request_seconds=seconds) as world:
        client = world.dial("websocket", receive=WebHandoff(passing, Counter()).serve)
        await trio.sleep((seconds or 60) - 1)
        assert not client.is_hung_up_on
        await trio.sleep(2)
        assert client.is_hung_up_on
        assert client.received == b""


@pytest.mark.parametrize("how", [Client.resets, Client.hangs_up])
async def test_client_that_vanishes_is_given_to_nobody(
    passing: FdPassing, how: Callable[[Client], None]
) -> None:
    counts: Counter[tuple[str, str]] = Counter()
    async with connections() as world:
        client = world.dial("websocket", receive=WebHandoff(passing, counts).serve)
        how(client)
        await world.quiet()
        assert client.socket.is_closed
    assert not counts


# With TLS.


class Secure:
    """A server whose clients come with TLS."""

    def __init__(
        self, port: TcpPort, files: certificates.Files, handoff: WebHandoff, page: PassedListener
    ) -> None:
        self.port, self.files, self.handoff, self.page = port, files, handoff, page
        self.preamble = Preamble(Certificate(files.certificate, files.key), Counter())

    async def asks(self, admission: Admission | None = None) -> trio.abc.Stream:
        """Return a client that has sent a request."""
        client = await self.port.dial(
            self.handoff.serve, self.preamble, self.files.client(), admission=admission
        )
        await client.send_all(GET)
        return client

    async def gives_away(self, admission: Admission) -> None:
        """Let a client without TLS send a request, and the page take it."""
        client = await self.port.dial(self.handoff.serve, admission=admission)
        await client.send_all(GET)
        self.port.stack.push_async_callback((await self.page.accept()).aclose)

    async def relayed(self, admission: Admission | None = None) -> tuple[trio.abc.Stream, PassedStream]:
        """Return a client, and the page's end of its relay."""
        client = await self.asks(admission)
        stream = await self.page.accept()
        self.port.stack.push_async_callback(stream.aclose)
        assert (stream.address, stream.is_secure) == ("127.0.0.1", True)
        assert await stream.receive_some() == GET
        return client, stream


@pytest.fixture
def secure(port: TcpPort, files: certificates.Files, passing: FdPassing, page: PassedListener) -> Secure:
    return Secure(port, files, WebHandoff(passing, Counter()), page)


@certificates.needs_openssl
async def test_connection_with_tls_is_relayed_both_ways_until_the_page_ends_it(secure: Secure) -> None:
    data = bytes(range(256)) * 2000
    client, stream = await secure.relayed()

    async def answer() -> None:
        await stream.send_all(data)
        await stream.aclose()

    await client.send_all(b"more")
    assert await stream.receive_some() == b"more"
    async with trio.open_nursery() as nursery:
        nursery.start_soon(answer)
        assert await everything(client) == data


@certificates.needs_openssl
async def test_client_that_sends_no_more_still_hears_the_answer(secure: Secure) -> None:
    client, stream = await secure.relayed()
    await stream.send_all(b"wait")
    assert await client.receive_some() == b"wait"
    assert isinstance(client, trio.SSLStream)
    await client.transport_stream.send_eof()
    assert await stream.receive_some() == b""
    await stream.send_all(b"answer")
    await stream.aclose()
    assert await everything(client) == b"answer"


@certificates.needs_openssl
async def test_client_that_does_not_read_makes_the_page_wait(secure: Secure) -> None:
    _, stream = await secure.relayed()

    async def send_for_ever() -> None:
        while True:
            await stream.send_all(b"x" * 100_000)

    with trio.CancelScope() as waiting:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(send_for_ever)
            await trio.testing.wait_all_tasks_blocked(0.01)
            waiting.cancel()
    assert waiting.cancelled_caught


@pytest.mark.parametrize("by_tls", [False, pytest.param(True, marks=certificates.needs_openssl)])
async def test_connection_that_is_given_away_makes_room_for_another(secure: Secure, by_tls: bool) -> None:
    limits = Admission(ConnectionCounts(1, AddressLimits(), AddressLimits(connections=1)), Counter())
    for _ in range(3):
        await (secure.relayed(limits) if by_tls else secure.gives_away(limits))
    assert not limits.counts


@pytest.fixture
def few_files() -> Iterator[None]:
    """Let this process have few files, and so few relays."""
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, limits[1]))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, limits)


@certificates.needs_openssl
@pytest.mark.usefixtures("few_files")
async def test_one_address_has_a_quarter_of_the_relays_and_a_trusted_proxy_all(
    passing: FdPassing, secure: Secure, nursery: trio.Nursery
) -> None:
    counts, relayed = Counter[tuple[str, str]](), list[PassedStream]()

    async def greet() -> None:
        while True:
            relayed.append(await secure.page.accept())
            secure.port.stack.push_async_callback(relayed[-1].aclose)
            await relayed[-1].send_all(b"hello")

    async def room() -> int:
        """Return for how many further clients there is room."""
        before = len(relayed)
        while (heard := await (await secure.asks()).receive_some()) == b"hello":
            pass
        assert heard.startswith(BUSY)
        return len(relayed) - before

    nursery.start_soon(greet)
    secure.handoff = WebHandoff(passing, counts)
    quarter = await room()
    assert await room() == 0
    await relayed[0].aclose()
    await trio.testing.wait_all_tasks_blocked(0.01)
    assert await room() == 1
    secure.handoff = WebHandoff(passing, counts, [ip_network("127.0.0.0/8")])
    assert await room() == 4 * quarter > 0
    assert counts == {("page_refused", ""): 4}


# A page that takes nobody.


@certificates.needs_openssl
@pytest.mark.parametrize(("is_secure", "has_hsts"), [(True, True), (True, False), (False, True)])
async def test_page_that_takes_nobody_is_busy_and_that_is_counted(
    is_secure: bool, has_hsts: bool, passing: FdPassing, secure: Secure
) -> None:
    counts: Counter[tuple[str, str]] = Counter()
    handoff = WebHandoff(passing, counts, has_hsts=has_hsts)
    passing.close()
    if is_secure:
        secure.handoff = handoff
        client = await secure.asks()
    else:
        client = await secure.port.dial(handoff.serve)
        await client.send_all(GET)
    heard = await everything(client)
    assert heard.startswith(BUSY)
    assert heard.endswith(b"The page is busy. Try again in a while.\n")
    assert (b"\r\nstrict-transport-security: " in heard) == (is_secure and has_hsts)
    assert counts == {("page_refused", ""): 1}

"""One client's bytes: over sockets, over sockets with TLS, and over what stands in for them in other tests.

The client is trio's own, with its own TLS, so that ours is not tried against itself alone.
"""

import os
import socket
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager, closing, suppress
from math import inf

import certificates
import pytest
import trio
import trio.testing
from worlds.memory_client import MemoryClient, socket_of

from adapters.net.epoll import EpollPoller, Poller
from adapters.net.socket import Backlogs, Socket, is_answered, taken
from adapters.net.tls import Session
from gateway.access.certificates import Certificate

pytestmark = pytest.mark.trio

MUCH = bytes(range(256)) * 8000
"""More than a system takes before the other end reads."""


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> certificates.Files:
    return certificates.make(tmp_path_factory.mktemp("certificate"))


@asynccontextmanager
async def streams() -> AsyncIterator[tuple[trio.SocketStream, trio.SocketStream]]:
    """Give both ends of a TCP connection, the server's first."""
    (listener,) = await trio.open_tcp_listeners(0, host="127.0.0.1")
    port = listener.socket.getsockname()[1]
    with trio.fail_after(20):
        async with listener, await trio.open_tcp_stream("127.0.0.1", port) as client:
            server = await listener.accept()
            server.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 65_536)
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65_536)
            yield server, client


async def begin_tls(sock: Socket, files: certificates.Files) -> None:
    """Do the handshake, as a server does it."""
    context = Certificate(files.certificate, files.key).context
    context.num_tickets = 0  # a client that closes with one of them unread resets the connection
    session, data = Session(context), b""
    while not session.shake_hands(data):
        await sock.send_all(session.outgoing())
        data = await sock.receive_some()
    await sock.send_all(session.outgoing())
    sock.secure(session)


@asynccontextmanager
async def connected(
    files: certificates.Files | None, poller: Poller | None = None, backlogs: Backlogs | None = None
) -> AsyncIterator[tuple[Socket, trio.abc.Stream]]:
    """Give a client's socket, and the client, with TLS where there are `files` for it."""
    async with streams() as (server, stream):
        client: trio.abc.Stream = stream
        with closing(Socket(taken(server), poller, backlogs=backlogs)) as sock:
            if files is not None:
                client = trio.SSLStream(stream, files.client(), server_hostname="127.0.0.1")
                async with trio.open_nursery() as nursery:
                    nursery.start_soon(begin_tls, sock, files)
                    await client.do_handshake()
            yield sock, client


TLS = pytest.param("TLS", marks=certificates.needs_openssl)
TLS_EPOLL = pytest.param("TLS epoll", marks=certificates.needs_openssl)


@pytest.fixture(params=["plain", "plain epoll", TLS, TLS_EPOLL, "memory"])
async def pair(
    request: pytest.FixtureRequest, nursery: trio.Nursery
) -> AsyncIterator[tuple[Socket, trio.abc.Stream]]:
    """Give a client's socket, of each kind, and the client."""
    if request.param == "memory":
        client = MemoryClient()
        client.socket.capacity = 100_000
        with closing(socket_of(client)) as sock:
            yield sock, client
        return
    poller = None
    if request.param.endswith("epoll"):
        poller = EpollPoller()
        nursery.start_soon(poller.run)
    files = request.getfixturevalue("files") if request.param.startswith("TLS") else None
    async with connected(files, poller) as found:
        yield found


async def read_all(read: Callable[[], object], size: int | None = None) -> bytes:
    """Return what comes up to the end, or as many bytes."""
    data = b""
    while (size is None or len(data) < size) and (more := await read()):  # type: ignore[misc]
        data += bytes(more)
    return data


# Reading and writing, whatever the kind.


async def test_all_that_is_written_arrives_in_order_and_then_the_end(
    pair: tuple[Socket, trio.abc.Stream],
) -> None:
    sock, client = pair
    received = b""

    async def send() -> None:
        for begin in range(0, len(MUCH), 100_000):
            sock.write(MUCH[begin : begin + 100_000])
        await sock.drain()
        assert sock.waiting == 0
        await sock.linger()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(send)
        received = await read_all(client.receive_some)
        await client.aclose()
    assert received == MUCH


async def test_all_that_the_client_sends_is_read_in_order_and_then_the_end(
    pair: tuple[Socket, trio.abc.Stream],
) -> None:
    sock, client = pair

    async def send() -> None:
        await client.send_all(MUCH)
        await client.aclose()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(send)
        assert await read_all(sock.receive_some) == MUCH
    assert sock.ended
    assert sock.is_readable


async def test_what_fits_leaves_at_once_in_the_task_that_writes_it(
    pair: tuple[Socket, trio.abc.Stream],
) -> None:
    sock, client = pair
    assert sock.write(b"YOUR_MOVE\n")
    assert sock.waiting == 0
    assert await client.receive_some() == b"YOUR_MOVE\n"


async def test_reading_calls_back_for_each_arrival_until_it_is_told_to_stop(
    pair: tuple[Socket, trio.abc.Stream],
) -> None:
    sock, client = pair
    lines: list[bytes] = []

    def ready() -> bool:
        lines.append(sock.read())
        return b"last" not in lines

    async with trio.open_nursery() as nursery:
        nursery.start_soon(sock.listen, ready)
        for line in (b"first", b"second", b"last"):
            seen = len(lines)
            await client.send_all(line)
            while len(lines) == seen:  # noqa: ASYNC110  the system tells the other task alone
                await trio.sleep(0.001)
    assert [line for line in lines if line] == [b"first", b"second", b"last"]


async def test_each_read_counts_and_has_its_time_and_nothing_to_read_is_no_end(
    pair: tuple[Socket, trio.abc.Stream],
) -> None:
    sock, client = pair
    assert sock.read() == b""
    assert not sock.ended
    reads, before = sock.reads, trio.current_time()
    await client.send_all(b"PUT 3\n")
    assert await sock.receive_some() == b"PUT 3\n"
    assert sock.reads > reads
    assert before <= sock.read_at <= trio.current_time()


async def test_read_begins_with_what_was_pushed_back() -> None:
    client = MemoryClient()
    sock = socket_of(client)
    sock.push_back(b"early")
    await client.send_all(b"late")
    assert [await sock.receive_some() for _ in range(2)] == [b"early", b"late"]


async def test_socket_is_quiet_only_while_a_task_listens_and_nothing_has_arrived(
    pair: tuple[Socket, trio.abc.Stream],
) -> None:
    sock, client = pair
    assert not sock.is_read
    assert not sock.is_quiet
    async with trio.open_nursery() as nursery:
        nursery.start_soon(sock.receive_some)
        await trio.testing.wait_all_tasks_blocked()
        assert sock.is_read
        assert sock.is_quiet
        await client.send_all(b"x")
    assert not sock.is_quiet


async def test_no_socket_is_quiet_while_any_of_those_ready_with_it_has_yet_to_be_read(
    nursery: trio.Nursery,
) -> None:
    epoll, quiet = EpollPoller(), list[bool]()
    nursery.start_soon(epoll.run)
    async with AsyncExitStack() as stack:
        pairs = [await stack.enter_async_context(connected(None, epoll)) for _ in range(100)]

        async def read(sock: Socket) -> None:
            def ready() -> bool:
                quiet.extend(each.is_quiet for each, _ in pairs if each is not sock and not each.reads)
                return not sock.read()

            await sock.listen(ready)

        async with trio.open_nursery() as readers:
            for sock, _ in pairs:
                readers.start_soon(read, sock)
            await trio.testing.wait_all_tasks_blocked()
            assert all(sock.is_quiet for sock, _ in pairs)
            for _, client in pairs:
                assert isinstance(client, trio.SocketStream)
                os.write(client.socket.fileno(), b"x")  # all of them before the next poll
    assert quiet
    assert not any(quiet)


async def test_all_who_use_a_socket_are_told_that_it_was_closed(pair: tuple[Socket, trio.abc.Stream]) -> None:
    sock, _ = pair
    while sock.write(MUCH):
        pass

    async def wait() -> None:
        with pytest.raises(trio.ClosedResourceError):
            await sock.receive_some()

    async def drain() -> None:
        with suppress(trio.ClosedResourceError):  # one of them has nothing to do any more
            await sock.drain()

    async with trio.open_nursery() as nursery:
        for task in (wait, drain, drain):
            nursery.start_soon(task)
        await trio.testing.wait_all_tasks_blocked()
        sock.close()
    for use in (sock.read, lambda: sock.write(b"x")):
        with pytest.raises(trio.ClosedResourceError):
            use()
    assert sock.waiting == 0
    sock.close()  # once more is harmless


# A message is never torn.


async def test_what_waits_stays_whole_and_in_order_though_its_task_is_cancelled_and_more_is_written(
    pair: tuple[Socket, trio.abc.Stream],
) -> None:
    sock, client = pair
    assert not sock.write(MUCH)
    assert not sock.write(b"YOUR_")
    received = b""
    while sock.waiting:
        with trio.CancelScope() as impatient:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(sock.drain)
                received += bytes(await client.receive_some())
                impatient.cancel()
    sock.write(b"MOVE")
    everything = MUCH + b"YOUR_MOVE"
    assert received + await read_all(client.receive_some, len(everything) - len(received)) == everything


async def test_drained_means_that_all_has_left_the_process(pair: tuple[Socket, trio.abc.Stream]) -> None:
    """Encrypted or not: a player's time runs from there."""
    sock, client = pair
    assert not sock.write(MUCH)
    assert sock.waiting > 0
    received = b""

    async def drain() -> None:
        await sock.drain()
        assert sock.waiting == 0
        sock.close()  # after which nothing more can leave

    async with trio.open_nursery() as nursery:
        nursery.start_soon(drain)
        with suppress(trio.BrokenResourceError):  # TLS without its good-bye
            while more := await client.receive_some():
                received += bytes(more)
    assert received == MUCH


# The end.


async def test_what_was_written_arrives_though_the_client_was_not_read(
    pair: tuple[Socket, trio.abc.Stream],
) -> None:
    """A reset would overtake it."""
    sock, client = pair
    await client.send_all(b"unread" * 1000)
    async with trio.open_nursery() as nursery:
        sock.write(b"YOU_LOST\n")
        nursery.start_soon(sock.linger)
        assert await read_all(client.receive_some) == b"YOU_LOST\n"
        await client.aclose()


async def test_client_that_does_not_hang_up_is_closed_after_a_while(
    autojump_clock: trio.testing.MockClock,
) -> None:
    client = MemoryClient()
    sock = socket_of(client)
    with trio.fail_after(1.1):
        await sock.linger()
    assert await client.receive_some() == b""
    with pytest.raises(trio.ClosedResourceError):
        sock.write(b"x")


async def test_client_that_has_ended_is_still_told_things_and_not_waited_for() -> None:
    async with connected(None) as (sock, client):
        assert isinstance(client, trio.SocketStream)
        await client.send_eof()
        assert await sock.receive_some() == b""
        assert sock.ended
        sock.write(b"SUCCESS\n")
        assert await client.receive_some() == b"SUCCESS\n"
        with trio.fail_after(0.5):
            await sock.linger()


@pytest.mark.parametrize("is_tls", [False, pytest.param(True, marks=certificates.needs_openssl)])
async def test_peer_that_is_gone_is_a_broken_socket(request: pytest.FixtureRequest, *, is_tls: bool) -> None:
    async with connected(request.getfixturevalue("files") if is_tls else None) as (sock, client):
        await trio.aclose_forcefully(client)
        with pytest.raises(trio.BrokenResourceError):  # the system notices at the second at the latest
            await sock.send_all(2 * MUCH)


async def test_reset_is_a_broken_socket() -> None:
    async with connected(None) as (sock, client):
        sock.write(b"x")
        await trio.testing.wait_all_tasks_blocked(0.001)
        await client.aclose()  # with something unread
        with pytest.raises(trio.BrokenResourceError):
            await read_all(sock.receive_some)


# With TLS, byte by byte.


@asynccontextmanager
async def taking_tls(files: certificates.Files) -> AsyncIterator[tuple[Socket, trio.SocketStream, Session]]:
    """Give a client's socket, and the client's end of TCP and of TLS: what goes over it is up to the test."""
    async with streams() as (server, stream):
        session = Session(files.client(), "127.0.0.1")
        with closing(Socket(taken(server))) as sock, trio.fail_after(20):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(begin_tls, sock, files)
                data = b""
                while not session.shake_hands(data):
                    await stream.send_all(session.outgoing())
                    data = await stream.receive_some()
                await stream.send_all(session.outgoing())
            yield sock, stream, session


async def read_once(sock: Socket) -> bytes:
    """Return what one read says, when there is something to read."""
    read: list[bytes] = []

    def ready() -> bool:
        read.append(sock.read())
        return False

    await sock.listen(ready)
    return read[0]


@certificates.needs_openssl
async def test_records_are_read_whole_however_their_bytes_come(files: certificates.Files) -> None:
    async with taking_tls(files) as (sock, stream, session):
        read: list[bytes] = []
        for byte in session.encrypt(b"NAME ann\n") + session.encrypt(b"PUT 3\n"):
            await stream.send_all(bytes([byte]))
            read.append(await read_once(sock))
        assert [data for data in read if data] == [b"NAME ann\n", b"PUT 3\n"]
        await stream.send_all(session.encrypt(b"one") + session.encrypt(b"two"))
        assert await sock.receive_some() == b"onetwo"  # the second would wait for the next packet


@certificates.needs_openssl
@pytest.mark.parametrize("pieces", [1, 2])
async def test_what_comes_with_the_end_of_the_handshake_is_read_next(
    files: certificates.Files, pieces: int
) -> None:
    server = Session(Certificate(files.certificate, files.key).context)
    client = Session(files.client(), "127.0.0.1")
    client.shake_hands(b"")
    server.shake_hands(client.outgoing())
    assert client.shake_hands(server.outgoing())
    finished, early = client.outgoing(), client.encrypt(b"NAME ann\n")
    memory = MemoryClient()
    sock = socket_of(memory)
    if pieces == 1:
        assert server.shake_hands(finished + early)
        sock.secure(server)
    else:
        assert server.shake_hands(finished)
        sock.secure(server, early)
    assert sock.is_secure
    with trio.fail_after(5):
        assert await sock.receive_some() == b"NAME ann\n"
        await memory.send_all(client.encrypt(b"PUT 3\n"))
        assert await sock.receive_some() == b"PUT 3\n"


@certificates.needs_openssl
@pytest.mark.parametrize("is_together", [False, True])
async def test_end_that_is_told_by_tls_alone_ends_the_stream(
    files: certificates.Files, *, is_together: bool
) -> None:
    async with taking_tls(files) as (sock, stream, session):
        data = session.encrypt(b"NAME ann")
        if is_together:
            data += session.end()
        await stream.send_all(data)
        assert await sock.receive_some() == b"NAME ann"
        if not is_together:
            await stream.send_all(session.end())
        assert await sock.receive_some() == b""
        assert sock.ended
        await sock.send_all(b"SUCCESS\n")  # it may still hear
        assert session.decrypt(await stream.receive_some()) == b"SUCCESS\n"
        with trio.fail_after(0.5):
            await sock.linger()


@certificates.needs_openssl
async def test_end_that_comes_without_a_word_ends_the_stream(files: certificates.Files) -> None:
    async with taking_tls(files) as (sock, stream, session):
        await stream.send_all(session.encrypt(b"NAME ann")[:-1])
        await stream.send_eof()
        assert await sock.receive_some() == b""
        assert sock.ended


@certificates.needs_openssl
async def test_server_that_hangs_up_says_so_by_tls(files: certificates.Files) -> None:
    async with taking_tls(files) as (sock, stream, session), trio.open_nursery() as nursery:
        sock.write(b"YOU_WON\n")
        nursery.start_soon(sock.linger)
        assert session.decrypt(await read_all(stream.receive_some)) == b"YOU_WON\n"
        assert session.has_ended
        await stream.aclose()


@certificates.needs_openssl
@pytest.mark.parametrize("garbage", [b"NAME ann\n", b"\x17\x03\x03\x00\x05hello", b"\x16\x03\x01\xff\xff"])
async def test_what_is_not_encrypted_breaks_the_socket(files: certificates.Files, garbage: bytes) -> None:
    async with taking_tls(files) as (sock, stream, _):
        await stream.send_all(garbage)
        with pytest.raises(trio.BrokenResourceError):
            await read_all(sock.receive_some)
        await stream.aclose()
        with trio.fail_after(0.5):
            await sock.linger()


@certificates.needs_openssl
async def test_bytes_wait_encrypted_and_are_counted_so(files: certificates.Files) -> None:
    async with taking_tls(files) as (sock, stream, session):
        assert not sock.write(MUCH)
        assert 0 < sock.waiting < len(MUCH) * 1.01
        before = sock.waiting
        sock.write(b"x" * 16_384)
        assert sock.waiting > before + 16_384
        async with trio.open_nursery() as nursery:
            nursery.start_soon(sock.drain)
            received = b""
            while len(received) < len(MUCH) + 16_384:
                received += session.decrypt(await stream.receive_some())
        assert received == MUCH + b"x" * 16_384


# What waits for all clients together.


def slow(backlogs: Backlogs) -> tuple[Socket, MemoryClient]:
    """Return the socket of a client that takes nothing, and the client."""
    client = MemoryClient()
    client.socket.capacity = 0
    sock = socket_of(client, backlogs=backlogs)
    return sock, client


async def test_beyond_the_limit_for_all_the_client_for_whom_most_waits_is_given_up_and_nobody_else() -> None:
    backlogs = Backlogs(1000)
    sockets = [slow(backlogs)[0] for _ in range(3)]
    for sock, size in zip(sockets, (300, 400, 300), strict=True):
        assert not sock.write(b"x" * size)
    assert [sock.is_given_up for sock in sockets] == [False, False, False]
    assert not sockets[2].write(b"x")
    with pytest.raises(trio.BrokenResourceError):
        sockets[1].write(b"x")
    assert [sock.waiting for sock in sockets] == [300, 0, 301]
    assert [sock.is_given_up for sock in sockets] == [False, True, False]
    assert backlogs.total == 601


async def test_every_task_of_a_client_that_is_given_up_hears_of_it() -> None:
    backlogs = Backlogs(1000)
    sock, _ = slow(backlogs)
    sock.write(b"x" * 500)

    async def fails(use: Callable[[], object]) -> None:
        with pytest.raises((trio.BrokenResourceError, trio.ClosedResourceError)):
            await use()  # type: ignore[misc]

    async with trio.open_nursery() as nursery:
        for use in (sock.drain, sock.drain, sock.receive_some):
            nursery.start_soon(fails, use)
        await trio.testing.wait_all_tasks_blocked()
        sock.write(b"x" * 501)
    assert backlogs.total == 0
    await sock.linger()  # and nothing more is waited for


async def test_what_has_left_and_what_is_closed_counts_no_more() -> None:
    backlogs = Backlogs(1000)
    (sock, client), (other, _) = slow(backlogs), slow(backlogs)
    sock.write(b"x" * 600)
    other.write(b"x" * 300)
    assert backlogs.total == 900
    client.socket.capacity = 1000
    await sock.drain()
    assert backlogs.total == 300
    other.close()
    assert backlogs.total == 0


@pytest.mark.parametrize("is_tls", [False, pytest.param(True, marks=certificates.needs_openssl)])
async def test_task_that_drains_a_real_socket_hears_that_it_is_given_up(
    request: pytest.FixtureRequest, *, is_tls: bool
) -> None:
    backlogs, files = Backlogs(2 * len(MUCH)), request.getfixturevalue("files") if is_tls else None

    async def drain(sock: Socket) -> None:
        with pytest.raises((trio.BrokenResourceError, trio.ClosedResourceError)):
            await sock.drain()

    async with connected(files, backlogs=backlogs) as (sock, _), trio.open_nursery() as nursery:
        assert not sock.write(MUCH)
        nursery.start_soon(drain, sock)
        await trio.testing.wait_all_tasks_blocked()
        while not sock.is_given_up:
            sock.write(b"x" * 100_000)
    assert backlogs.total == 0


# Whether the peer is there, and where.


@pytest.mark.parametrize(
    ("retransmits", "probes", "answered"),
    [(0, 0, True), (1, 0, True), (2, 0, False), (0, 1, False), (9, 0, False), (0, 3, False)],
)
async def test_peer_answers_unless_a_probe_or_data_sent_again_is_without_an_answer(
    retransmits: int, probes: int, *, answered: bool
) -> None:
    assert is_answered(bytes((1, 0, retransmits, probes, 0, 6, 0x77, 0))) is answered


async def test_peer_that_is_there_is_reachable_until_the_socket_is_closed(
    pair: tuple[Socket, trio.abc.Stream],
) -> None:
    sock, client = pair
    assert sock.is_reachable
    sock.write(b"NEW_GAME\n")
    assert sock.is_reachable
    assert 0 <= sock.silence < 20
    assert await client.receive_some() == b"NEW_GAME\n"
    sock.close()
    sock.probe_after(1)
    if not isinstance(client, MemoryClient):
        assert not sock.is_reachable
        assert sock.silence == inf


async def test_socket_of_another_family_has_no_origin_and_counts_as_reachable() -> None:
    one, other = socket.socketpair()  # which knows nothing of TCP
    one.setblocking(False)
    with other, closing(Socket(one)) as sock:
        sock.probe_after(1)
        assert sock.is_reachable
        assert sock.silence == 0
        assert (sock.address, sock.origin, sock.host) == ("", "", "localhost")


@pytest.mark.skipif(sys.platform != "linux", reason="needs TCP's figures, as Linux has them")
async def test_peer_is_probed_without_data_and_its_system_answers() -> None:
    async with streams() as (server, client):
        server.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        with closing(Socket(taken(server))) as sock:
            sock.probe_after(1)
            with trio.fail_after(20):
                while sock.silence < 0.5:  # noqa: ASYNC110  the system tells nobody
                    await trio.sleep(0.01)
                while sock.silence > 0.4:  # noqa: ASYNC110  as above
                    await trio.sleep(0.01)
        assert await client.receive_some() == b""


@pytest.mark.skipif(sys.platform != "linux", reason="needs TCP's options, as Linux has them")
@pytest.mark.parametrize(("seconds", "until_the_next"), [(1, 1), (10, 5)])
async def test_peer_is_probed_again_soon_as_the_first_answer_may_be_lost(
    seconds: int, until_the_next: int
) -> None:
    async with streams() as (server, _):
        sock = taken(server)
        with closing(Socket(sock)) as probing:
            probing.probe_after(seconds)
            options = (socket.TCP_KEEPIDLE, socket.TCP_KEEPINTVL)
            assert [sock.getsockopt(socket.IPPROTO_TCP, each) for each in options] == [
                seconds,
                until_the_next,
            ]


async def test_stream_whose_socket_is_taken_is_closed_and_small_writes_are_not_held_back() -> None:
    async with streams() as (server, client):
        with closing(taken(server)) as sock:
            assert server.socket.fileno() == -1
            assert sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) != 0
            with pytest.raises(BlockingIOError):
                sock.recv(1)
            sock.send(b"x")
            assert await client.receive_some() == b"x"


async def test_client_has_an_address_unless_it_has_gone_already() -> None:
    async with connected(None) as (sock, _):
        assert sock.address == sock.origin == sock.host == "127.0.0.1"
    async with streams() as (server, client):
        await client.aclose()
        server.socket.shutdown(socket.SHUT_RDWR)
        with closing(Socket(taken(server))) as sock:
            assert sock.address in ("", "127.0.0.1")

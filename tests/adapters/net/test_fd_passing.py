"""Sockets of clients, on their way from the server to the web process."""

import socket
from collections.abc import Iterator

import pytest
import trio
import trio.testing

from adapters.net.fd_passing import LIMIT, FdPassing, PassedListener

pytestmark = pytest.mark.trio


@pytest.fixture
def passing() -> Iterator[FdPassing]:
    found = FdPassing()
    yield found
    found.close()


async def give(
    passing: FdPassing, begun: bytes, *, is_secure: bool = False, is_single: bool = False
) -> socket.socket:
    """Give one end of a pair; return the other."""
    ours, theirs = socket.socketpair()
    with theirs:
        await passing.give(theirs.fileno(), begun, "2001:db8::7", is_secure=is_secure, is_single=is_single)
    return ours


@pytest.mark.parametrize(
    ("begun", "is_secure", "is_single"),
    [(b"", False, False), (b"GET", True, False), (b"x" * 40_000, False, True)],
)
async def test_socket_arrives_with_what_was_read_of_it_and_is_known_of_it(
    passing: FdPassing, begun: bytes, is_secure: bool, is_single: bool
) -> None:
    client = await give(passing, begun, is_secure=is_secure, is_single=is_single)
    passed = PassedListener(passing.socket.dup())
    async with passed, await passed.accept() as stream:
        assert (stream.is_secure, stream.is_single) == (is_secure, is_single)
        assert stream.address == "2001:db8::7"
        with client:
            client.sendall(b" more")
            received = b""
            while len(received) < len(begun) + 5:
                received += await stream.receive_some()
            assert received == begun + b" more"
            await stream.send_all(b"answer")
            await stream.send_eof()
            assert client.recv(100) + client.recv(100) == b"answer"


async def test_sockets_on_their_way_wait_for_the_next_process(passing: FdPassing) -> None:
    with await give(passing, b"one"), await give(passing, b"two"):
        for begun in (b"one", b"two"):
            async with PassedListener(passing.socket.dup()) as passed, await passed.accept() as stream:
                assert await stream.receive_some() == begun


async def test_sockets_that_come_together_leave_in_the_same_turn(passing: FdPassing) -> None:
    with trio.testing.assert_no_checkpoints():
        clients = [await give(passing, b"") for _ in range(3)]
    for client in clients:
        client.close()


async def test_process_that_takes_none_is_waited_for_a_while(
    passing: FdPassing, autojump_clock: trio.testing.MockClock
) -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        start = trio.current_time()
        with pytest.raises(TimeoutError):  # noqa: PT012  how many may be on their way is the system's affair
            while True:
                await passing.give(theirs.fileno(), b"x" * 1000, "", is_secure=False, is_single=False)
        assert trio.current_time() == start + LIMIT


async def test_socket_cannot_be_given_when_nobody_takes_any_more(passing: FdPassing) -> None:
    passing.socket.close()
    ours, theirs = socket.socketpair()
    with ours, theirs, pytest.raises(OSError):
        await passing.give(theirs.fileno(), b"", "", is_secure=False, is_single=False)

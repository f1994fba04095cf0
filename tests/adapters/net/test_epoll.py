"""One task that waits for many sockets, and calls whoever listens to one that has something."""

import gc
import socket
import weakref
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import ExitStack, closing, suppress

import pytest
import trio
import trio.testing
from loop_turns import slow_turns

from adapters.net.epoll import AT_ONCE, EpollReader
from gateway.runtime.throttle import EACH

pytestmark = pytest.mark.trio


@pytest.fixture
async def epoll(nursery: trio.Nursery) -> EpollReader:
    epoll = EpollReader()
    nursery.start_soon(epoll.run)
    return epoll


@pytest.fixture
def sock() -> Iterator[socket.socket]:
    """One end of a connection, of which `peer` is the other."""
    with closing(_Socket()) as made:
        yield made


class _Socket(socket.socket):
    """A socket that keeps its peer."""

    def __init__(self) -> None:
        one, self.peer = socket.socketpair()
        super().__init__(one.family, one.type, one.proto, one.detach())
        self.setblocking(False)

    def close(self) -> None:
        self.peer.close()
        super().close()


class Reader:
    """Reads what there is, as often as it is to."""

    def __init__(self, sock: socket.socket, times: int) -> None:
        self.got: list[bytes] = []
        self._sock = sock
        self._times = times

    def __call__(self) -> bool:
        self.got.append(self._sock.recv(100))
        return len(self.got) < self._times


async def test_listener_is_called_each_time_until_it_has_had_enough(
    epoll: EpollReader, sock: _Socket
) -> None:
    reader = Reader(sock, 2)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(epoll.listen, sock, reader)
        for data in (b"one", b"two", b"three"):
            await trio.testing.wait_all_tasks_blocked()
            sock.peer.send(data)
            await trio.testing.wait_all_tasks_blocked(0.001)
    assert reader.got == [b"one", b"two"]
    assert sock.recv(100) == b"three"


async def test_what_came_before_anybody_listened_is_found(epoll: EpollReader, sock: _Socket) -> None:
    sock.peer.send(b"early")
    reader = Reader(sock, 1)
    await epoll.listen(sock, reader)
    assert reader.got == [b"early"]


async def test_end_of_a_stream_is_something_to_read(epoll: EpollReader, sock: _Socket) -> None:
    sock.peer.close()
    reader = Reader(sock, 1)
    await epoll.listen(sock, reader)
    assert reader.got == [b""]


async def test_what_goes_wrong_with_a_listener_is_its_own(epoll: EpollReader, sock: _Socket) -> None:
    def fail() -> bool:
        raise LookupError

    other = _Socket()
    with closing(other):
        reader = Reader(other, 1)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(epoll.listen, other, reader)
            sock.peer.send(b"x")
            with pytest.raises(LookupError):
                await epoll.listen(sock, fail)
            other.peer.send(b"y")
    assert reader.got == [b"y"]


async def test_what_went_wrong_is_forgotten_without_the_garbage_collector(
    epoll: EpollReader, sock: _Socket
) -> None:
    errors: list[weakref.ref[Exception]] = []

    class Oops(Exception):
        def __init__(self) -> None:
            errors.append(weakref.ref(self))

    def fail() -> bool:
        raise Oops

    async def listen() -> None:
        with suppress(Oops):
            await epoll.listen(sock, fail)

    gc.disable()
    try:
        sock.peer.send(b"x")
        async with trio.open_nursery() as nursery:
            nursery.start_soon(listen)
        assert [error() for error in errors] == [None]
    finally:
        gc.enable()


async def test_listener_that_is_cancelled_is_not_called_again(epoll: EpollReader, sock: _Socket) -> None:
    reader = Reader(sock, 9)
    with trio.move_on_after(0):
        await epoll.listen(sock, reader)
    sock.peer.send(b"x")
    await trio.testing.wait_all_tasks_blocked(0.001)
    assert reader.got == []
    await epoll.listen(sock, Reader(sock, 1))


async def test_listener_that_cancels_itself_is_cancelled_and_no_more(
    epoll: EpollReader, sock: _Socket
) -> None:
    scope = trio.CancelScope()

    def cancel() -> bool:
        scope.cancel()
        return False

    sock.peer.send(b"x")
    with scope:
        await epoll.listen(sock, cancel)
    assert scope.cancelled_caught


async def test_of_those_ready_at_once_one_may_send_away_the_other(epoll: EpollReader, sock: _Socket) -> None:
    called: list[_Socket] = []

    async def listen(own: _Socket, other: _Socket) -> None:
        def ready() -> bool:
            called.append(own)
            epoll.closing(other)
            return False

        try:
            await epoll.listen(own, ready)
        except trio.ClosedResourceError:
            closed.append(own)

    closed: list[_Socket] = []
    other = _Socket()
    with closing(other):
        for each in (sock, other):
            each.peer.send(b"x")
        async with trio.open_nursery() as nursery:
            nursery.start_soon(listen, sock, other)
            nursery.start_soon(listen, other, sock)
    assert len(called) == len(closed) == 1
    assert called != closed


async def test_socket_has_one_listener_at_a_time(epoll: EpollReader, sock: _Socket) -> None:
    async with trio.open_nursery() as nursery:
        nursery.start_soon(epoll.listen, sock, Reader(sock, 1))
        await trio.testing.wait_all_tasks_blocked()
        with pytest.raises(trio.BusyResourceError):
            await epoll.listen(sock, Reader(sock, 1))
        sock.peer.send(b"x")


class Turns(trio.abc.Instrument):
    """Counts the turns of the event loop."""

    def __init__(self) -> None:
        self.count = 0

    def before_io_wait(self, timeout: float) -> None:
        self.count += 1


@pytest.fixture
async def turns() -> AsyncIterator[Turns]:
    counted = Turns()
    trio.lowlevel.add_instrument(counted)
    yield counted
    trio.lowlevel.remove_instrument(counted)


async def test_all_that_is_ready_is_found_by_one_look(epoll: EpollReader, turns: Turns) -> None:
    """What is left for later looks would count as arrived later."""
    socks = [_Socket() for _ in range(300)]

    def note(each: _Socket) -> bool:
        each.recv(10)
        found.append(turns.count)
        return False

    found: list[int] = []
    async with trio.open_nursery() as nursery:
        for each in socks:
            nursery.start_soon(epoll.listen, each, lambda each=each: note(each))
        await trio.testing.wait_all_tasks_blocked()
        for each in socks:
            each.peer.send(b"x")
    assert found == [found[0]] * 300
    for each in socks:
        each.close()


@pytest.mark.parametrize(("turn", "going"), [(0.0, [2, 2, 2, 2, 2]), (4.5 * EACH, [2, 4, 4])])
async def test_many_that_leave_at_once_go_on_a_few_in_each_turn(
    mock_clock: trio.testing.MockClock, epoll: EpollReader, turns: Turns, turn: float, going: Sequence[int]
) -> None:
    gone: list[int] = []

    async def wait(sock: socket.socket) -> None:
        await epoll.listen(sock, Reader(sock, 1))
        gone.append(turns.count)

    with ExitStack() as stack:
        socks = [stack.enter_context(closing(_Socket())) for _ in range(sum(going))]
        stack.enter_context(slow_turns(mock_clock, turn))
        async with trio.open_nursery() as nursery:
            for sock in socks:
                nursery.start_soon(wait, sock)
            await trio.testing.wait_all_tasks_blocked()
            for sock in socks:
                sock.peer.close()
    assert [*Counter(gone).values()] == going


async def test_one_that_waits_to_go_on_does_not_listen(
    mock_clock: trio.testing.MockClock, epoll: EpollReader
) -> None:
    others: list[bool] = []

    async def wait(sock: socket.socket) -> None:
        await epoll.listen(sock, Reader(sock, 1))
        others.extend(epoll.listens(each) for each in socks)

    with ExitStack() as stack:
        socks = [stack.enter_context(closing(_Socket())) for _ in range(AT_ONCE + 1)]
        async with trio.open_nursery() as nursery:
            for sock in socks:
                nursery.start_soon(wait, sock)
            await trio.testing.wait_all_tasks_blocked()
            assert all(epoll.listens(sock) for sock in socks)
            for sock in socks:
                sock.peer.close()
    assert not any(others)


async def test_one_that_is_cancelled_while_it_waits_to_go_on_costs_the_others_nothing(
    mock_clock: trio.testing.MockClock, epoll: EpollReader, nursery: trio.Nursery
) -> None:
    found: list[trio.CancelScope] = []
    gone: list[trio.CancelScope] = []

    async def wait(sock: socket.socket) -> None:
        def ready() -> bool:
            found.append(scope)
            if len(found) == AT_ONCE + 2:  # all before this one wait to go on
                found[-2].cancel()
            return False

        with trio.CancelScope() as scope:
            await epoll.listen(sock, ready)
            gone.append(scope)

    with ExitStack() as stack:
        socks = [stack.enter_context(closing(_Socket())) for _ in range(AT_ONCE + 2)]
        for sock in socks:
            nursery.start_soon(wait, sock)
        await trio.testing.wait_all_tasks_blocked()
        for sock in socks:
            sock.peer.close()
        await trio.testing.wait_all_tasks_blocked()
    assert {*gone} == {*found} - {found[-2]}

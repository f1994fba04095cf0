"""Waiting for sockets: a reader is called when there is something to read, whichever poller waits for it."""

import gc
import select
import socket
import weakref
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import ExitStack, asynccontextmanager, closing, suppress

import pytest
import trio
import trio.testing
from loop_turns import added_each_turn, slow_turns

from adapters.net.epoll import EpollPoller, Poller, TaskPoller, polling
from gateway.runtime.turns import Turns

pytestmark = pytest.mark.trio


@pytest.fixture
async def epoll(nursery: trio.Nursery) -> EpollPoller:
    made = EpollPoller()
    nursery.start_soon(made.run)
    return made


@pytest.fixture(params=["epoll", "tasks"])
def poller(request: pytest.FixtureRequest, epoll: EpollPoller) -> Poller:
    return epoll if request.param == "epoll" else TaskPoller()


class _Socket(socket.socket):
    """A socket that keeps its peer."""

    def __init__(self) -> None:
        one, self.peer = socket.socketpair()
        super().__init__(one.family, one.type, one.proto, one.detach())
        self.setblocking(False)

    def close(self) -> None:
        self.peer.close()
        super().close()


@pytest.fixture
def sock() -> Iterator[_Socket]:
    """One end of a connection, of which `peer` is the other."""
    with closing(_Socket()) as made:
        yield made


@pytest.fixture
def other() -> Iterator[_Socket]:
    """One end of another connection."""
    with closing(_Socket()) as made:
        yield made


class Reader:
    """Reads what there is, as often as it is to."""

    def __init__(self, sock: socket.socket, times: int) -> None:
        self.got: list[bytes] = []
        self._sock = sock
        self._times = times

    def __call__(self) -> bool:
        self.got.append(self._sock.recv(100))
        return len(self.got) < self._times


async def test_reader_is_called_each_time_until_it_has_had_enough(poller: Poller, sock: _Socket) -> None:
    reader = Reader(sock, 2)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(poller.listen, sock, reader)
        for data in (b"one", b"two", b"three"):
            await trio.testing.wait_all_tasks_blocked()
            sock.peer.send(data)
            await trio.testing.wait_all_tasks_blocked(0.001)
    assert reader.got == [b"one", b"two"]
    assert sock.recv(100) == b"three"


@pytest.mark.parametrize("data", [b"early", b""], ids=["bytes", "the end"])
async def test_what_came_before_anybody_listened_is_found(poller: Poller, sock: _Socket, data: bytes) -> None:
    sock.peer.send(data) if data else sock.peer.close()
    reader = Reader(sock, 1)
    await poller.listen(sock, reader)
    assert reader.got == [data]


@pytest.mark.parametrize("error", [LookupError, SystemExit])
async def test_error_of_a_reader_is_its_own(
    poller: Poller, sock: _Socket, other: _Socket, error: type[BaseException]
) -> None:
    def fail() -> bool:
        raise error

    reader = Reader(other, 1)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(poller.listen, other, reader)
        sock.peer.send(b"x")
        with pytest.raises(error):
            await poller.listen(sock, fail)
        assert not poller.listens(sock)
        other.peer.send(b"y")
    assert reader.got == [b"y"]


async def test_reader_that_is_cancelled_is_not_called_and_its_socket_may_be_listened_to_again(
    poller: Poller, sock: _Socket
) -> None:
    reader = Reader(sock, 9)
    with trio.move_on_after(0):
        await poller.listen(sock, reader)
    assert not poller.listens(sock)
    sock.peer.send(b"x")
    await trio.testing.wait_all_tasks_blocked(0.001)
    assert reader.got == []
    await poller.listen(sock, Reader(sock, 1))


async def test_socket_has_one_reader_at_a_time(poller: Poller, sock: _Socket) -> None:
    async with trio.open_nursery() as nursery:
        nursery.start_soon(poller.listen, sock, Reader(sock, 1))
        await trio.testing.wait_all_tasks_blocked()
        with pytest.raises(trio.BusyResourceError):
            await poller.listen(sock, Reader(sock, 1))
        assert poller.listens(sock)
        sock.peer.send(b"x")
    assert not poller.listens(sock)


async def test_socket_that_is_about_to_be_closed_is_waited_for_no_more(poller: Poller, sock: _Socket) -> None:
    closed: list[str] = []

    async def wait(which: str, until: Callable[[], Awaitable[None]]) -> None:
        with pytest.raises(trio.ClosedResourceError):
            await until()
        closed.append(which)

    with suppress(BlockingIOError):
        while True:
            sock.send(bytes(65_536))
    async with trio.open_nursery() as nursery:
        nursery.start_soon(wait, "reading", lambda: poller.listen(sock, Reader(sock, 1)))
        nursery.start_soon(wait, "writing", lambda: poller.wait_writable(sock))
        await trio.testing.wait_all_tasks_blocked()
        poller.closing(sock)
        sock.close()
    assert sorted(closed) == ["reading", "writing"]
    assert not poller.listens(sock)


async def test_socket_is_writable_once_the_system_takes_more(poller: Poller, sock: _Socket) -> None:
    with trio.testing.assert_checkpoints():
        await poller.wait_writable(sock)
    with suppress(BlockingIOError):
        while True:
            sock.send(bytes(65_536))
    with trio.move_on_after(0.01) as waiting:
        await poller.wait_writable(sock)
    assert waiting.cancelled_caught
    with suppress(BlockingIOError):
        while True:
            sock.peer.recv(1 << 20, socket.MSG_DONTWAIT)
    await poller.wait_writable(sock)


@pytest.mark.parametrize("has_epoll", [True, False])
async def test_every_system_has_a_poller(
    monkeypatch: pytest.MonkeyPatch, sock: _Socket, has_epoll: bool
) -> None:
    if not has_epoll:
        monkeypatch.delattr(select, "epoll")
    sock.peer.send(b"x")
    async with polling(Turns()) as poller:
        await poller.listen(sock, Reader(sock, 1))


@pytest.mark.parametrize("fails", [False, True])
async def test_reader_that_has_ended_is_forgotten_at_once_and_so_is_its_error(
    poller: Poller, sock: _Socket, fails: bool
) -> None:
    objects: list[weakref.ref[object]] = []

    class Oops(Exception):
        def __init__(self) -> None:
            objects.append(weakref.ref(self))

    async def listen() -> None:
        def ready() -> bool:
            if fails:
                raise Oops  # kept in no variable, or its traceback would make a cycle
            return False

        objects.append(weakref.ref(ready))
        with suppress(Oops):
            await poller.listen(sock, ready)

    gc.disable()
    try:
        sock.peer.send(b"x")
        async with trio.open_nursery() as nursery:
            nursery.start_soon(listen)
        assert [each() for each in objects] == [None] * (1 + fails)
    finally:
        gc.enable()


# One poll for all sockets.


@pytest.mark.parametrize("by", ["closing it", "cancelling it"])
async def test_of_those_ready_at_once_one_may_send_away_itself_or_the_other(
    epoll: EpollPoller, sock: _Socket, other: _Socket, by: str
) -> None:
    called: list[_Socket] = []
    gone: list[_Socket] = []
    scopes = {sock: trio.CancelScope(), other: trio.CancelScope()}

    async def listen(own: _Socket, another: _Socket) -> None:
        def ready() -> bool:
            called.append(own)
            if by == "closing it":
                epoll.closing(another)
            else:
                for scope in scopes.values():
                    scope.cancel()
            return False

        with scopes[own], suppress(trio.ClosedResourceError):
            await epoll.listen(own, ready)
            return
        gone.append(own)

    for each in (sock, other):
        each.peer.send(b"x")
    async with trio.open_nursery() as nursery:
        nursery.start_soon(listen, sock, other)
        nursery.start_soon(listen, other, sock)
    assert len(called) == 1
    assert {*gone} == {sock, other} - ({*called} if by == "closing it" else set())


class Counted(trio.abc.Instrument):
    """Counts the turns of the event loop."""

    def __init__(self) -> None:
        self.count = 0

    def before_io_wait(self, timeout: float) -> None:
        self.count += 1


@pytest.fixture
async def counted() -> AsyncIterator[Counted]:
    turns = Counted()
    trio.lowlevel.add_instrument(turns)
    yield turns
    trio.lowlevel.remove_instrument(turns)


@pytest.fixture
def many() -> Iterator[list[_Socket]]:
    """Connections by the dozen."""
    with ExitStack() as stack:
        yield [stack.enter_context(closing(_Socket())) for _ in range(60)]


async def test_all_that_is_ready_is_found_by_one_poll(
    epoll: EpollPoller, counted: Counted, many: list[_Socket]
) -> None:
    """What is left for later polls would count as arrived later."""

    def note(each: _Socket) -> bool:
        each.recv(10)
        found.append(counted.count)
        return False

    found: list[int] = []
    async with trio.open_nursery() as nursery:
        for each in many:
            nursery.start_soon(epoll.listen, each, lambda each=each: note(each))
        await trio.testing.wait_all_tasks_blocked()
        for each in many:
            each.peer.send(b"x")
    assert found == [found[0]] * len(many)


@asynccontextmanager
async def all_listening(
    turns: Turns, socks: Sequence[_Socket], listen: Callable[[EpollPoller, _Socket], Awaitable[None]]
) -> AsyncIterator[EpollPoller]:
    """Let a task listen to each socket; their peers hang up at the same moment when the block ends."""
    async with trio.open_nursery() as polls:
        epoll = EpollPoller(turns)
        polls.start_soon(epoll.run)
        async with trio.open_nursery() as nursery:
            for sock in socks:
                nursery.start_soon(listen, epoll, sock)
            await trio.testing.wait_all_tasks_blocked()
            yield epoll
            for sock in socks:
                sock.peer.close()
        polls.cancel_scope.cancel()


async def leaving_each_turn(turns: Turns) -> list[int]:
    """Let many hang up at the same moment; return how many of their tasks go on in each turn."""
    gone: list[_Socket] = []

    async def listen(epoll: EpollPoller, sock: _Socket) -> None:
        await epoll.listen(sock, Reader(sock, 1))
        gone.append(sock)

    with ExitStack() as stack:
        socks = [stack.enter_context(closing(_Socket())) for _ in range(60)]
        with added_each_turn(gone) as steps:
            async with all_listening(turns, socks, listen):
                pass
    return steps


async def test_of_many_that_leave_at_once_a_few_go_on_in_each_turn_and_more_in_long_turns(
    mock_clock: trio.testing.MockClock,
) -> None:
    highest = []
    for seconds, is_full in ((0.01, True), (0.0, False), (0.01, False), (0.03, False)):
        with slow_turns(mock_clock, seconds, is_full=is_full) as turns:
            steps = await leaving_each_turn(turns)
        assert sum(steps) == 60
        highest.append(max(steps))
    assert 1 == highest[0] < highest[1] < highest[2] < highest[3] < 60


async def test_task_that_waits_to_go_on_does_not_listen_and_may_be_cancelled(
    mock_clock: trio.testing.MockClock, many: list[_Socket]
) -> None:
    found: list[trio.CancelScope] = []
    gone: list[trio.CancelScope] = []
    listened: list[bool] = []

    async def listen(epoll: EpollPoller, sock: _Socket) -> None:
        def ready() -> bool:
            found.append(scope)
            if len(found) == len(many):  # all before this one wait to go on
                found[-2].cancel()
            return False

        with trio.CancelScope() as scope:
            await epoll.listen(sock, ready)
            gone.append(scope)
            listened.extend(epoll.listens(each) for each in many)

    with slow_turns(mock_clock, 0.01, is_full=True) as turns:
        async with all_listening(turns, many, listen) as epoll:
            assert all(epoll.listens(sock) for sock in many)
    assert {*gone} == {*found} - {found[-2]}
    assert not any(listened)

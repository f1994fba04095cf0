"""Connections are taken many at once, and a system that has no room for more stops nobody."""

import errno
import logging
import os
import resource
import socket
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager

import pytest
import trio
import trio.testing
from loop_turns import added_each_turn, slow_turns

from gateway.runtime.accepting import accept, connections_within, watch
from gateway.runtime.turns import Turns


@asynccontextmanager
async def admission(
    room: trio.Semaphore | None = None,
    paused: Callable[[], None] = lambda: None,
    turns: Turns | None = None,
    limit: float = 20,
) -> AsyncIterator[tuple[int, list[trio.SocketStream]]]:
    """Give a port, and the connections that were accepted there. Who serves one waits until it has ended."""
    streams: list[trio.SocketStream] = []
    room = room or trio.Semaphore(1000)

    async def serve(stream: trio.SocketStream) -> None:
        streams.append(stream)
        if room.value == 0:
            await stream.receive_some()

    (listener,) = await trio.open_tcp_listeners(0, host="127.0.0.1")
    async with listener, trio.open_nursery() as nursery:
        nursery.start_soon(accept, listener, serve, nursery, room, paused, turns)
        with trio.fail_after(limit):
            yield listener.socket.getsockname()[1], streams
        nursery.cancel_scope.cancel()
    for stream in streams:
        await trio.aclose_forcefully(stream)


async def accepted_each_turn(turns: Turns) -> list[int]:
    """Let 60 connect at the same moment; return how many are accepted in each turn."""
    async with admission(turns=turns) as (port, streams):
        with ExitStack() as stack, added_each_turn(streams) as steps:
            for _ in range(60):
                stack.enter_context(socket.create_connection(("127.0.0.1", port)))
            while len(streams) < 60:
                await trio.lowlevel.checkpoint()
            await trio.lowlevel.checkpoint()
    return steps


async def test_several_who_wait_are_accepted_in_one_turn_and_more_in_a_long_one(
    mock_clock: trio.testing.MockClock,
) -> None:
    highest = []
    for seconds in (0.0, 0.02, 0.08):
        with slow_turns(mock_clock, seconds) as turns:
            steps = await accepted_each_turn(turns)
        assert sum(steps) == 60
        highest.append(max(steps))
    assert 1 < highest[0] < highest[1] < highest[2] < 60


async def test_one_is_accepted_in_each_turn_though_no_time_is_left(
    mock_clock: trio.testing.MockClock,
) -> None:
    with slow_turns(mock_clock, 0.02, is_full=True) as turns:
        assert await accepted_each_turn(turns) == [1] * 60


async def test_what_is_accepted_is_the_connection_that_was_made() -> None:
    async with admission() as (port, streams), await trio.open_tcp_stream("127.0.0.1", port) as client:
        await trio.testing.wait_all_tasks_blocked()
        await client.send_all(b"NAME ann\n")
        assert await streams[0].receive_some() == b"NAME ann\n"


def refusing(monkeypatch: pytest.MonkeyPatch, *failures: int | MemoryError) -> None:
    """Let the system refuse connections in these ways, one after the other."""
    left, real = list(failures), socket.socket.accept

    def refuse(self: socket.socket) -> tuple[socket.socket, object]:
        if left:
            failure = left.pop(0)
            raise OSError(failure, "cannot") if isinstance(failure, int) else failure
        return real(self)

    monkeypatch.setattr(socket.socket, "accept", refuse)


LASTING = [errno.EMFILE, errno.ENOMEM, errno.EINVAL, errno.EBADF, errno.EIO]
PASSING = ["ECONNABORTED", "ECONNRESET", "EHOSTUNREACH", "ENETDOWN"]
PASSING += ["ENETUNREACH", "EPERM", "EPROTO", "ETIMEDOUT"]


@pytest.mark.parametrize(
    ("failures", "pauses", "said"),
    [
        *(([number], 1, ["cannot"]) for number in LASTING),
        ([MemoryError(), MemoryError(), errno.ECONNABORTED], 2, ["Cannot allocate memory"]),
        *(([getattr(errno, name)], 0, []) for name in PASSING),
        ([errno.EMFILE, errno.EIO] * 20, 40, ["cannot", "cannot"]),
    ],
    ids=[*map(errno.errorcode.get, LASTING), "memory", *PASSING, "each kind is said once"],
)
async def test_error_of_accept_ends_no_listener_which_pauses_unless_a_connection_came_to_nothing(
    autojump_clock: trio.testing.MockClock,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    failures: list[int | MemoryError],
    pauses: int,
    said: list[str],
) -> None:
    refusing(monkeypatch, *failures)
    paused: list[str] = []
    async with admission(paused=lambda: paused.append("paused")) as (port, streams):
        with socket.create_connection(("127.0.0.1", port)):
            await trio.sleep(10)
    assert (len(streams), len(paused)) == (1, pauses)
    assert [(record.levelno, record.getMessage()) for record in caplog.records] == [
        (logging.ERROR, f"cannot accept connections: {words}") for words in said
    ]


@contextmanager
def no_more_files() -> Iterator[None]:
    """Let the system open no file for this process."""
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    highest = max(int(number) for number in os.listdir("/proc/self/fd"))
    with ExitStack() as stack:
        for _ in range(highest):  # so that no number below the limit is free
            descriptor = os.open(os.devnull, os.O_RDONLY)
            stack.callback(os.close, descriptor)
            if descriptor > highest:
                break
        resource.setrlimit(resource.RLIMIT_NOFILE, (descriptor + 1, limits[1]))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, limits)


@pytest.mark.skipif(sys.platform != "linux", reason="counts open files as Linux does")
async def test_system_without_a_file_to_spare_keeps_those_who_connect_waiting(
    autojump_clock: trio.testing.MockClock, caplog: pytest.LogCaptureFixture
) -> None:
    async with admission() as (port, streams):
        with socket.socket() as client:
            await trio.sleep(1.0)
            with no_more_files():
                client.connect(("127.0.0.1", port))
                await trio.sleep(1.0)
                assert not streams
            await trio.sleep(1.0)
            assert len(streams) == 1
    assert [record.getMessage() for record in caplog.records] == [
        "cannot accept connections: Too many open files"
    ]


async def test_error_that_lasts_for_longer_is_logged_again_each_minute(
    autojump_clock: trio.testing.MockClock,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    refusing(monkeypatch, *[errno.EMFILE] * 100_000)
    async with admission(limit=200) as (port, streams):
        with socket.create_connection(("127.0.0.1", port)):
            await trio.sleep(150)
    assert not streams
    assert len(caplog.records) == 3


async def test_connection_without_room_waits_until_another_has_ended(
    autojump_clock: trio.testing.MockClock, caplog: pytest.LogCaptureFixture
) -> None:
    room = trio.Semaphore(1)
    async with admission(room) as (port, streams), admission(room) as (other_port, others):
        with socket.create_connection(("127.0.0.1", port)):
            await trio.sleep(1)
            later = socket.create_connection(("127.0.0.1", other_port))
            await trio.sleep(1)
            assert (len(streams), len(others)) == (1, 0)
        with later:
            await trio.sleep(1)
    assert len(streams) == len(others) == 1
    assert [record.getMessage() for record in caplog.records] == [
        "cannot accept connections: as many are open as the limit of open files allows"
    ]


async def test_of_those_who_come_together_no_more_are_accepted_than_there_is_room_for(
    autojump_clock: trio.testing.MockClock,
) -> None:
    async with admission(trio.Semaphore(1)) as (port, streams):
        address = "127.0.0.1", port
        with socket.create_connection(address) as first, socket.create_connection(address):
            await trio.sleep(1)
            assert len(streams) == 1
            first.close()
            await trio.sleep(1)
            assert len(streams) == 2


def test_clients_cannot_take_the_files_that_the_server_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    rooms = {files: connections_within(files) for files in range(1, 3000)}
    for files, room in rooms.items():
        assert max(1, files // 4) <= room <= files  # some, however few files there are
        assert files - room >= 64 or room == max(1, files // 4)
    assert [*rooms.values()] == sorted(rooms.values())
    assert 10_000 - connections_within(10_000) < 100
    assert connections_within(sys.maxsize) > 10**12


async def test_system_is_to_find_out_whether_a_peer_has_vanished() -> None:
    async with admission() as (port, streams), await trio.open_tcp_stream("127.0.0.1", port):
        await trio.testing.wait_all_tasks_blocked()
        assert streams[0].getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)
        if sys.platform == "linux":
            idle, interval, probes, user = (
                int(streams[0].getsockopt(socket.IPPROTO_TCP, option))
                for option in (
                    socket.TCP_KEEPIDLE,
                    socket.TCP_KEEPINTVL,
                    socket.TCP_KEEPCNT,
                    socket.TCP_USER_TIMEOUT,
                )
            )
            assert 0 < user <= 25_000
            assert idle + interval * probes <= 25


async def test_option_that_a_socket_refuses_is_done_without() -> None:
    one, other = socket.socketpair()  # which knows nothing of TCP
    with one, other:
        watch(one)
        one.send(b"x")
        assert other.recv(1) == b"x"

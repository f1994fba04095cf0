"""Connections are taken many at once, and a system that has no room for more stops nobody."""

import errno
import logging
import os
import socket
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import ExitStack, asynccontextmanager

import pytest
import trio
import trio.testing
from loop_turns import added_each_turn, slow_turns

import gateway.runtime.accepting
from gateway.runtime.accepting import LOG_PERIOD, RESERVE, RESERVE_PER_CORE, accept, connections_within, watch
from gateway.runtime.throttle import EACH


@asynccontextmanager
async def admission(
    room: trio.Semaphore | None = None, paused: Callable[[], None] = lambda: None
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
        nursery.start_soon(accept, listener, serve, nursery, room, paused)
        with trio.fail_after(20):
            yield listener.socket.getsockname()[1], streams
        nursery.cancel_scope.cancel()
    for stream in streams:
        await trio.aclose_forcefully(stream)


@pytest.mark.parametrize(("turn", "taken"), [(0.0, [2, 2, 2, 2, 2, 2]), (5.5 * EACH, [2, 5, 5])])
async def test_several_who_wait_are_taken_in_one_turn_and_no_more(
    mock_clock: trio.testing.MockClock, turn: float, taken: Sequence[int]
) -> None:
    async with admission() as (port, streams):
        with ExitStack() as stack, slow_turns(mock_clock, turn), added_each_turn(streams) as steps:
            for _ in range(sum(taken)):
                stack.enter_context(socket.create_connection(("127.0.0.1", port)))
            for _ in range(50):
                await trio.lowlevel.checkpoint()
        assert steps == taken


async def test_what_is_accepted_is_the_connection_that_was_made() -> None:
    async with admission() as (port, streams), await trio.open_tcp_stream("127.0.0.1", port) as client:
        await trio.testing.wait_all_tasks_blocked()
        await client.send_all(b"NAME ann\n")
        assert await streams[0].receive_some() == b"NAME ann\n"


def refusing(monkeypatch: pytest.MonkeyPatch, *failures: int | MemoryError) -> None:
    """Let the system refuse connections in these ways, one after the other."""
    numbers, real = list(failures), gateway.runtime.accepting._next

    def next_connection(listening: socket.socket) -> trio.SocketStream:
        if numbers:
            failure = numbers.pop(0)
            raise OSError(failure, "cannot") if isinstance(failure, int) else failure
        return real(listening)

    monkeypatch.setattr(gateway.runtime.accepting, "_next", next_connection)
    monkeypatch.setattr(gateway.runtime.accepting, "PAUSE", 0.001)


@pytest.mark.parametrize("number", [errno.EMFILE, errno.ENOMEM, errno.EINVAL, errno.EBADF, errno.EIO])
async def test_no_error_of_accept_ends_the_listener(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, number: int
) -> None:
    refusing(monkeypatch, number)
    async with admission() as (port, streams), await trio.open_tcp_stream("127.0.0.1", port):
        while not streams:
            await trio.lowlevel.checkpoint()
    assert [(record.levelno, record.getMessage()) for record in caplog.records] == [
        (logging.ERROR, "cannot accept connections: cannot")
    ]


async def test_shortage_of_memory_pauses_the_listener_and_is_told_of(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    refusing(monkeypatch, MemoryError(), MemoryError(), errno.ECONNABORTED)
    pauses: list[str] = []
    async with (
        admission(paused=lambda: pauses.append("paused")) as (port, streams),
        await trio.open_tcp_stream("127.0.0.1", port),
    ):
        while not streams:
            await trio.lowlevel.checkpoint()
    assert pauses == ["paused", "paused"]
    assert [record.getMessage() for record in caplog.records] == [
        "cannot accept connections: Cannot allocate memory"
    ]


@pytest.mark.parametrize("number", sorted(trio._highlevel_socket._ignorable_accept_errnos))
async def test_connection_that_came_to_nothing_is_passed_over_without_a_word(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, number: int
) -> None:
    refusing(monkeypatch, number)
    async with admission() as (port, streams), await trio.open_tcp_stream("127.0.0.1", port):
        while not streams:
            await trio.lowlevel.checkpoint()
    assert caplog.records == []


async def test_error_that_lasts_is_logged_once_in_a_while(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    refusing(monkeypatch, *([errno.EMFILE, errno.EIO] * 20))
    async with admission() as (port, streams), await trio.open_tcp_stream("127.0.0.1", port):
        while not streams:
            await trio.lowlevel.checkpoint()
    assert len(caplog.records) == 2


async def test_error_that_comes_back_later_is_logged_again(
    autojump_clock: trio.testing.MockClock, caplog: pytest.LogCaptureFixture
) -> None:
    troubles = gateway.runtime.accepting.Troubles()
    for _ in range(10):
        troubles.log(OSError(errno.EMFILE, "cannot"))
        await trio.sleep(LOG_PERIOD / 5)
    assert len(caplog.records) == 2


async def test_who_finds_no_room_waits_until_another_has_left(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(gateway.runtime.accepting, "PAUSE", 0.001)
    room = trio.Semaphore(1)
    async with admission(room) as (port, streams), admission(room) as (other_port, others):
        async with await trio.open_tcp_stream("127.0.0.1", port):
            while not streams:
                await trio.lowlevel.checkpoint()
            later = await trio.open_tcp_stream("127.0.0.1", other_port)
            while not caplog.records:
                await trio.lowlevel.checkpoint()
            assert not others
        async with later:
            while not others:
                await trio.lowlevel.checkpoint()
    assert len(streams) == len(others) == 1
    assert [record.getMessage() for record in caplog.records] == [
        "cannot accept connections: as many are open as the limit of open files allows"
    ]


async def test_of_those_who_come_together_no_more_are_taken_than_there_is_room_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(gateway.runtime.accepting, "PAUSE", 0.001)
    async with admission(trio.Semaphore(1)) as (port, streams):
        address = "127.0.0.1", port
        with socket.create_connection(address) as first, socket.create_connection(address):
            for _ in range(10):
                await trio.lowlevel.checkpoint()
            assert len(streams) == 1
            first.close()
            while len(streams) < 2:
                await trio.lowlevel.checkpoint()


@pytest.mark.parametrize("files", [4, 60, 100, 1024, 1 << 20])
def test_clients_cannot_take_the_files_that_the_server_needs(
    monkeypatch: pytest.MonkeyPatch, files: int
) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    assert files - connections_within(files) >= min(RESERVE + 2 * RESERVE_PER_CORE, files * 3 // 4)
    assert connections_within(files) >= 1


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
            assert idle + interval * probes + user / 1000 <= 50


async def test_option_that_a_socket_refuses_is_done_without() -> None:
    one, other = socket.socketpair()  # which knows nothing of TCP
    with one, other:
        watch(one)
        one.send(b"x")
        assert other.recv(1) == b"x"

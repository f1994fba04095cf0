"""Connections are taken many at once, and a system that has no room for more stops nobody."""

import errno
import logging
import socket
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager

import pytest
import trio
import trio.testing

import gateway.accepting
from gateway.accepting import AT_ONCE, accept

pytestmark = pytest.mark.trio


@asynccontextmanager
async def door() -> AsyncIterator[tuple[int, list[trio.SocketStream]]]:
    """Give a port, and the connections that were accepted there."""
    streams: list[trio.SocketStream] = []

    async def serve(stream: trio.SocketStream) -> None:
        streams.append(stream)

    (listener,) = await trio.open_tcp_listeners(0, host="127.0.0.1")
    async with listener, trio.open_nursery() as nursery:
        nursery.start_soon(accept, listener, serve, nursery)
        with trio.fail_after(20):
            yield listener.socket.getsockname()[1], streams
        nursery.cancel_scope.cancel()
    for stream in streams:
        await trio.aclose_forcefully(stream)


async def test_all_who_wait_are_taken_in_one_turn() -> None:
    async with door() as (port, streams):
        with ExitStack() as stack:
            for _ in range(AT_ONCE):
                stack.enter_context(socket.create_connection(("127.0.0.1", port)))
            for _ in range(4):
                await trio.lowlevel.checkpoint()
            assert len(streams) == AT_ONCE


async def test_what_is_accepted_is_the_connection_that_was_made() -> None:
    async with door() as (port, streams), await trio.open_tcp_stream("127.0.0.1", port) as client:
        await trio.testing.wait_all_tasks_blocked()
        await client.send_all(b"NAME ann\n")
        assert await streams[0].receive_some() == b"NAME ann\n"


async def test_system_without_room_is_tried_again(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    failures = [errno.EMFILE, errno.ECONNABORTED]
    real = gateway.accepting._next

    def next_connection(listening: socket.socket) -> trio.SocketStream:
        if failures:
            number = failures.pop(0)
            raise OSError(number, "cannot")
        return real(listening)

    monkeypatch.setattr(gateway.accepting, "_next", next_connection)
    monkeypatch.setattr(gateway.accepting, "PAUSE", 0.001)
    async with door() as (port, streams), await trio.open_tcp_stream("127.0.0.1", port):
        while not streams:
            await trio.lowlevel.checkpoint()
    assert [(record.levelno, record.getMessage()) for record in caplog.records] == [
        (logging.ERROR, "no room for another connection: cannot")
    ]


async def test_any_other_failure_is_not_swallowed(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: socket.socket) -> trio.SocketStream:
        raise OSError(errno.EBADF, "bad")

    monkeypatch.setattr(gateway.accepting, "_next", fail)
    with pytest.RaisesGroup(OSError, flatten_subgroups=True):
        async with door() as (port, _):
            with socket.create_connection(("127.0.0.1", port)):
                await trio.sleep_forever()

"""A client's bytes: written at once or kept in order, read with the time of their arrival."""

from contextlib import AsyncExitStack

import pytest
import trio
import trio.testing
from adapters.net.wire import Wire
from shell_fakes import sockets
from wires import wired

from adapters.net.epoll import AT_ONCE, EpollReader

pytestmark = pytest.mark.trio


async def test_read_begins_with_what_was_pushed_back() -> None:
    client, server = trio.testing.memory_stream_pair()
    wire = wired(server)
    wire.push_back(b"early")
    await client.send_all(b"late")
    assert await wire.receive_some(100) == b"early"
    assert await wire.receive_some(100) == b"late"


async def test_wire_is_quiet_only_while_somebody_waits_and_nothing_has_arrived() -> None:
    async with sockets() as (server, client), wired(server) as wire, trio.open_nursery() as nursery:
        assert not wire.is_quiet
        nursery.start_soon(wire.receive_some, 10)
        await trio.testing.wait_all_tasks_blocked()
        assert wire.is_quiet
        client.socket._sock.send(b"x")
        assert not wire.is_quiet


async def test_wire_whose_reader_has_yet_to_go_on_is_not_quiet(mock_clock: trio.testing.MockClock) -> None:
    quiet: list[bool] = []
    epoll = EpollReader()
    async with AsyncExitStack() as stack, trio.open_nursery() as running, trio.open_nursery() as nursery:
        running.start_soon(epoll.run)
        pairs = [trio.socket.socketpair() for _ in range(AT_ONCE + 1)]
        clients = [await stack.enter_async_context(trio.SocketStream(one)) for one, _ in pairs]
        servers = [trio.SocketStream(other) for _, other in pairs]
        wires = [await stack.enter_async_context(wired(server, epoll)) for server in servers]

        async def read(wire: Wire) -> None:
            await wire.listen(lambda: wire.read() is None)
            quiet.extend(wire.is_quiet for wire in wires)
            running.cancel_scope.cancel()

        for wire in wires:
            nursery.start_soon(read, wire)
        await trio.testing.wait_all_tasks_blocked()
        assert all(wire.is_quiet for wire in wires)
        for client in clients:
            client.socket._sock.send(b"x")
    assert quiet
    assert not any(quiet)

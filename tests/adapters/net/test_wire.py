"""A client's bytes: written at once or kept in order, read with the time of their arrival."""

from contextlib import AsyncExitStack

import pytest
import trio
import trio.testing
from shell_fakes import Stallable, drained, sockets
from wires import wired

from adapters.net.epoll import AT_ONCE, EpollReader
from adapters.net.pacing import PERIOD, SHARED, Turns
from adapters.net.wire import Backlogs, Wire

pytestmark = pytest.mark.trio


async def test_read_begins_with_what_was_pushed_back() -> None:
    client, server = trio.testing.memory_stream_pair()
    wire = wired(server)
    wire.push_back(b"early")
    await client.send_all(b"late")
    assert await wire.receive_some(100) == b"early"
    assert await wire.receive_some(100) == b"late"


async def test_client_that_sends_several_messages_again_and_again_leaves_some_to_others() -> None:
    turns = Turns()
    fast, other = (wired(trio.testing.memory_stream_pair()[1], turns=turns) for _ in range(2))
    granted = []
    for step in range(8):
        fast.read_at = step * PERIOD / 4
        granted.append(fast.granted(4))
    assert granted == [4, 1, 1, 1, 4, 1, 1, 1]
    other.read_at = fast.read_at
    assert other.granted(SHARED) == SHARED - 2  # beside one, of which nothing is left
    assert fast.granted(4) == 1


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


async def test_what_is_written_while_something_leaves_is_not_lost() -> None:
    client, server = trio.testing.lockstep_stream_pair()
    wire = wired(server)

    async def leave() -> None:
        await wire.drain()
        await wire.aclose()

    async with trio.open_nursery() as nursery:
        assert not wire.write(b"YOUR_")
        nursery.start_soon(leave)
        await trio.testing.wait_all_tasks_blocked()
        assert not wire.write(b"MOVE\n")
        assert await drained(client) == b"YOUR_MOVE\n"


# What waits for all together.


def slow(backlogs: Backlogs) -> Wire:
    """Return a wire from which nothing leaves."""
    _, server = trio.testing.memory_stream_pair()
    stalled = Stallable(server)
    stalled.stalls = True
    return wired(stalled, backlogs=backlogs)


async def test_server_holds_no_more_than_its_limit_for_all_clients_together() -> None:
    backlogs = Backlogs(10_000)
    wires = [slow(backlogs) for _ in range(40)]
    for _ in range(10):
        for wire in wires:
            try:
                wire.write(b"x" * 100)
            except trio.BrokenResourceError:
                assert wire.waiting == 0
            assert sum(each.waiting for each in wires) == backlogs.total <= 10_000
    assert backlogs.total > 9000


async def test_client_for_whom_most_waits_is_given_up_and_nobody_else() -> None:
    backlogs = Backlogs(1000)
    wires = [slow(backlogs) for _ in range(3)]
    for wire, size in zip(wires, (300, 400, 200), strict=True):
        assert not wire.write(b"x" * size)
    wires[2].write(b"x" * 150)
    with pytest.raises(trio.BrokenResourceError):
        wires[1].write(b"x")
    assert [wire.waiting for wire in wires] == [300, 0, 350]


async def test_task_that_drains_is_told_that_the_client_is_given_up() -> None:
    backlogs = Backlogs(1000)
    wire = slow(backlogs)
    wire.write(b"x" * 500)

    async def drain() -> None:
        with pytest.raises(trio.BrokenResourceError):
            await wire.drain()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(drain)
        nursery.start_soon(drain)
        await trio.testing.wait_all_tasks_blocked()
        wire.write(b"x" * 501)
    assert backlogs.total == 0


async def test_what_has_left_and_what_is_closed_counts_no_more() -> None:
    backlogs = Backlogs(1000)
    client, server = trio.testing.memory_stream_pair()
    wire, other = wired(server, backlogs=backlogs), slow(backlogs)
    wire.write(b"x" * 600)
    other.write(b"x" * 300)
    assert backlogs.total == 900
    await wire.drain()
    assert backlogs.total == 300
    await other.aclose()
    assert backlogs.total == 0
    await client.aclose()


async def test_wire_whose_stream_has_ended_is_closed_without_another_look(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    client, server = trio.testing.memory_stream_pair()
    wire = wired(server)
    await client.send_eof()
    assert await wire.receive_some() == b""
    monkeypatch.delattr(type(wire._socket), "listen")
    await wire.linger()

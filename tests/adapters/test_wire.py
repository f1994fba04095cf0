"""A client's bytes: written at once or kept in order, read with the time of their arrival."""

import pytest
import trio
import trio.testing
from shell_fakes import drained, sockets

from adapters.wire import Wire

pytestmark = pytest.mark.trio


async def test_read_begins_with_what_was_pushed_back() -> None:
    client, server = trio.testing.memory_stream_pair()
    wire = Wire(server)
    wire.push_back(b"early")
    await client.send_all(b"late")
    assert await wire.receive_some(100) == b"early"
    assert await wire.receive_some(100) == b"late"


async def test_wire_is_quiet_only_while_somebody_waits_and_nothing_has_arrived() -> None:
    async with sockets() as (server, client), Wire(server) as wire, trio.open_nursery() as nursery:
        assert not wire.is_quiet
        nursery.start_soon(wire.receive_some, 10)
        await trio.testing.wait_all_tasks_blocked()
        assert wire.is_quiet
        client.socket._sock.send(b"x")
        assert not wire.is_quiet


async def test_what_is_written_while_something_leaves_is_not_lost() -> None:
    client, server = trio.testing.lockstep_stream_pair()
    wire = Wire(server)

    async def leave() -> None:
        await wire.drain()
        await wire.aclose()

    async with trio.open_nursery() as nursery:
        assert not wire.write(b"YOUR_")
        nursery.start_soon(leave)
        await trio.testing.wait_all_tasks_blocked()
        assert not wire.write(b"MOVE\n")
        assert await drained(client) == b"YOUR_MOVE\n"

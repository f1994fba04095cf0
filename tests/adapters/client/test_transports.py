"""Lines over byte streams; whatever goes wrong with a peer is PeerGone."""

import pytest
import trio
import trio.testing
from shell_fakes import Breakable, collect, drained, sockets
from wires import wired

from adapters.client.contract import SEND_LIMIT, Farewell, Flooded, PeerGone
from adapters.client.transports import LineTransport

pytestmark = pytest.mark.trio
CLOSE_LIMIT = 2.0


async def test_line_in_pieces_arrives_once_it_is_whole(autojump_clock: trio.testing.MockClock) -> None:
    client, server = trio.testing.memory_stream_pair()
    transport = LineTransport(wired(server))
    async with trio.open_nursery() as nursery:
        nursery.start_soon(client.send_all, b"PU")
        with trio.move_on_after(1) as waiting:
            await transport.receive()
        assert waiting.cancelled_caught
        nursery.start_soon(client.send_all, b"T 1\nPUT")
        assert await transport.receive() == ["PUT 1"]


async def test_lines_of_one_packet_arrive_together() -> None:
    client, server = trio.testing.memory_stream_pair()
    await client.send_all(b"a\nb\nc\n")
    assert await LineTransport(wired(server)).receive() == ["a", "b", "c"]


async def test_end_of_input_comes_after_the_lines_before_it() -> None:
    client, server = trio.testing.memory_stream_pair()
    await client.send_all(b"a\nb")
    await client.send_eof()
    transport = LineTransport(wired(server))
    assert await transport.receive() == ["a"]
    assert await transport.receive() == ["b"]
    assert await transport.receive() == []
    assert await transport.receive() == []


async def test_flood_without_a_newline_raises() -> None:
    client, server = trio.testing.memory_stream_pair()
    await client.send_all(b"a\n" + b"x" * 1_000_000)
    transport = LineTransport(wired(server))
    assert await transport.receive() == ["a"]
    with pytest.raises(Flooded):
        await transport.receive()


async def test_reset_is_a_peer_gone_for_reader_and_writer() -> None:
    _, server = trio.testing.memory_stream_pair()
    stream = Breakable(server)
    transport = LineTransport(wired(stream))
    stream.reset()
    with pytest.raises(PeerGone):
        await transport.receive()
    with pytest.raises(PeerGone):
        await transport.send(["a"])


async def test_lines_are_sent_in_one_packet() -> None:
    client, server = trio.testing.memory_stream_pair()
    await LineTransport(wired(server)).send(["NEW_GAME", "YOUR_MOVE"])
    assert await client.receive_some() == b"NEW_GAME\nYOUR_MOVE\n"


async def test_client_that_lets_nothing_in_is_gone_after_five_seconds(
    autojump_clock: trio.testing.MockClock,
) -> None:
    _client, server = trio.testing.lockstep_stream_pair()
    transport = LineTransport(wired(server))
    begin = trio.current_time()
    with pytest.raises(PeerGone, match="stopped reading"):
        await transport.send(["YOUR_MOVE"])
    assert trio.current_time() - begin == SEND_LIMIT == 5.0


async def test_client_that_is_given_up_for_all_others_has_stopped_reading() -> None:
    _client, server = trio.testing.lockstep_stream_pair()
    wire = wired(server)
    transport = LineTransport(wire)
    transport.write(["YOUR_MOVE"])
    wire.give_up()
    with pytest.raises(PeerGone, match="stopped reading"):
        await transport.drain()


async def test_read_at_is_when_the_bytes_were_read(autojump_clock: trio.testing.MockClock) -> None:
    client, server = trio.testing.memory_stream_pair()
    transport = LineTransport(wired(server))
    await trio.sleep(3)
    await client.send_all(b"a\n")
    await transport.receive()
    read_at = trio.current_time()
    await trio.sleep(4)
    assert transport.read_at == read_at


async def test_settled_line_stream_has_handed_out_all_that_had_arrived(
    autojump_clock: trio.testing.MockClock,
) -> None:
    client, server = trio.testing.memory_stream_pair()
    transport = LineTransport(wired(server))
    texts: list[str] = []
    numbers = [str(number) for number in range(500)]
    async with trio.open_nursery() as nursery:
        nursery.start_soon(collect, transport, texts)
        await trio.testing.wait_all_tasks_blocked()
        await client.send_all("".join(f"{number}\n" for number in numbers).encode())
        await transport.settle()
        assert texts == numbers
        nursery.cancel_scope.cancel()


async def test_nobody_waits_longer_than_a_second_for_a_stream_that_does_not_settle(
    autojump_clock: trio.testing.MockClock,
) -> None:
    _, server = trio.testing.memory_stream_pair()
    begin = trio.current_time()
    await LineTransport(wired(server)).settle()  # nobody reads it
    assert trio.current_time() - begin <= 1.1


async def test_bytes_in_the_socket_are_read_before_a_stream_is_settled() -> None:
    async with sockets() as (server, client), wired(server) as wire, trio.open_nursery() as nursery:
        transport = LineTransport(wire)
        texts: list[str] = []
        nursery.start_soon(collect, transport, texts)
        await trio.testing.wait_all_tasks_blocked()
        for number in range(3000):
            client.socket._sock.send(b"PUT %d\n" % number)
        await transport.settle()
        assert texts == [f"PUT {number}" for number in range(3000)]
        nursery.cancel_scope.cancel()


async def test_hang_up_ends_the_stream_and_waits_for_the_client(
    autojump_clock: trio.testing.MockClock,
) -> None:
    client, server = trio.testing.memory_stream_pair()
    transport = LineTransport(wired(server))
    await transport.send(["YOU_LOST"])
    async with trio.open_nursery() as nursery:
        nursery.start_soon(transport.close, Farewell())
        assert await drained(client) == b"YOU_LOST\n"
        begin = trio.current_time()
        await client.aclose()
    assert trio.current_time() == begin


async def test_hang_up_on_a_client_that_stays_is_over_within_two_seconds(
    autojump_clock: trio.testing.MockClock,
) -> None:
    _client, server = trio.testing.memory_stream_pair()
    with trio.fail_after(CLOSE_LIMIT):
        await LineTransport(wired(server)).close(Farewell())
    with pytest.raises(trio.ClosedResourceError):
        await server.send_all(b"x")


async def test_hang_up_on_a_client_that_never_stops_sending_is_over_within_two_seconds(
    autojump_clock: trio.testing.MockClock,
) -> None:
    client, server = trio.testing.memory_stream_pair()

    async def flood() -> None:
        while True:
            await client.send_all(b"x" * 100)
            await trio.sleep(0.01)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(flood)
        with trio.fail_after(CLOSE_LIMIT):
            await LineTransport(wired(server)).close(Farewell())
        nursery.cancel_scope.cancel()


async def test_hang_up_on_a_client_that_has_gone_raises_nothing() -> None:
    _, server = trio.testing.memory_stream_pair()
    stream = Breakable(server)
    stream.reset()
    await LineTransport(wired(stream)).close(Farewell())
    with pytest.raises(trio.ClosedResourceError):
        await server.send_all(b"x")


async def test_hang_up_closes_the_stream_even_if_it_is_cancelled() -> None:
    _client, server = trio.testing.memory_stream_pair()
    with trio.CancelScope() as scope:
        scope.cancel()
        await LineTransport(wired(server)).close(Farewell())
    with pytest.raises(trio.ClosedResourceError):
        await server.send_all(b"x")


async def test_unread_input_does_not_destroy_the_last_words_of_a_line_stream() -> None:
    async with sockets() as (server, client), trio.open_nursery() as nursery:
        transport = LineTransport(wired(server))
        await client.send_all(b"PUT 1\n" * 20_000)
        await transport.receive()
        await transport.send(["Error NOT_JOINED_TO_CHANNEL", "YOU_LOST"])
        nursery.start_soon(transport.close, Farewell())
        assert await drained(client) == b"Error NOT_JOINED_TO_CHANNEL\nYOU_LOST\n"
        await client.aclose()

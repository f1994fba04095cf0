"""Texts over byte streams and websockets; whatever goes wrong with a peer is PeerGone."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
import trio
import trio.testing
import trio_websocket
from shell_fakes import Breakable, Stallable, websocket_pair

from adapters.contract import SEND_LIMIT, Farewell, Flooded, PeerGone, Transport
from adapters.transports import PING_PERIOD, LineTransport, WebSocketTransport, Wire

pytestmark = pytest.mark.trio
CLOSE_LIMIT = 2.0


@asynccontextmanager
async def websockets() -> AsyncIterator[tuple[WebSocketTransport, trio_websocket.WebSocketConnection]]:
    """Give a transport and the websocket at its other end."""
    client_stream, server_stream = trio.testing.memory_stream_pair()
    async with trio.open_nursery() as nursery:
        wire = Wire(server_stream)
        server, client = await websocket_pair(nursery, wire, client_stream)
        yield WebSocketTransport(server, wire), client
        nursery.cancel_scope.cancel()


@asynccontextmanager
async def sockets() -> AsyncIterator[tuple[trio.SocketStream, trio.SocketStream]]:
    """Give both ends of a TCP connection."""
    (listener,) = await trio.open_tcp_listeners(0, host="127.0.0.1")
    port = listener.socket.getsockname()[1]
    with trio.fail_after(20):
        async with (
            listener,
            await trio.open_tcp_stream("127.0.0.1", port) as client,
            await listener.accept() as server,
        ):
            yield server, client


async def collect(transport: Transport, texts: list[str]) -> None:
    while found := await transport.receive():
        texts += found


async def drained(stream: trio.abc.ReceiveStream) -> bytes:
    """Return all that comes until the end of a stream."""
    data = b""
    while chunk := await stream.receive_some(65_536):
        data += chunk
    return data


# Lines.


async def test_line_in_pieces_arrives_once_it_is_whole(autojump_clock: trio.testing.MockClock) -> None:
    client, server = trio.testing.memory_stream_pair()
    transport = LineTransport(Wire(server))
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
    assert await LineTransport(Wire(server)).receive() == ["a", "b", "c"]


async def test_end_of_input_comes_after_the_lines_before_it() -> None:
    client, server = trio.testing.memory_stream_pair()
    await client.send_all(b"a\nb")
    await client.send_eof()
    transport = LineTransport(Wire(server))
    assert await transport.receive() == ["a"]
    assert await transport.receive() == ["b"]
    assert await transport.receive() == []
    assert await transport.receive() == []


async def test_flood_without_a_newline_raises() -> None:
    client, server = trio.testing.memory_stream_pair()
    await client.send_all(b"a\n" + b"x" * 1_000_000)
    transport = LineTransport(Wire(server))
    assert await transport.receive() == ["a"]
    with pytest.raises(Flooded):
        await transport.receive()


async def test_reset_is_a_peer_gone_for_reader_and_writer() -> None:
    _, server = trio.testing.memory_stream_pair()
    stream = Breakable(server)
    transport = LineTransport(Wire(stream))
    stream.reset()
    with pytest.raises(PeerGone):
        await transport.receive()
    with pytest.raises(PeerGone):
        await transport.send(["a"])


async def test_lines_are_sent_in_one_packet() -> None:
    client, server = trio.testing.memory_stream_pair()
    await LineTransport(Wire(server)).send(["NEW_GAME", "YOUR_MOVE"])
    assert await client.receive_some() == b"NEW_GAME\nYOUR_MOVE\n"


async def test_client_that_lets_nothing_in_is_gone_after_five_seconds(
    autojump_clock: trio.testing.MockClock,
) -> None:
    _client, server = trio.testing.lockstep_stream_pair()
    transport = LineTransport(Wire(server))
    begin = trio.current_time()
    with pytest.raises(PeerGone):
        await transport.send(["YOUR_MOVE"])
    assert trio.current_time() - begin == SEND_LIMIT == 5.0


async def test_read_at_is_when_the_bytes_were_read(autojump_clock: trio.testing.MockClock) -> None:
    client, server = trio.testing.memory_stream_pair()
    transport = LineTransport(Wire(server))
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
    transport = LineTransport(Wire(server))
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
    await LineTransport(Wire(server)).settle()  # nobody reads it
    assert trio.current_time() - begin <= 1.1


async def test_bytes_in_the_socket_are_read_before_a_stream_is_settled() -> None:
    async with sockets() as (server, client), trio.open_nursery() as nursery:
        transport = LineTransport(Wire(server))
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
    transport = LineTransport(Wire(server))
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
        await LineTransport(Wire(server)).close(Farewell())
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
            await LineTransport(Wire(server)).close(Farewell())
        nursery.cancel_scope.cancel()


async def test_hang_up_on_a_client_that_has_gone_raises_nothing() -> None:
    _, server = trio.testing.memory_stream_pair()
    stream = Breakable(server)
    stream.reset()
    await LineTransport(Wire(stream)).close(Farewell())
    with pytest.raises(trio.ClosedResourceError):
        await server.send_all(b"x")


async def test_hang_up_closes_the_stream_even_if_it_is_cancelled() -> None:
    _client, server = trio.testing.memory_stream_pair()
    with trio.CancelScope() as scope:
        scope.cancel()
        await LineTransport(Wire(server)).close(Farewell())
    with pytest.raises(trio.ClosedResourceError):
        await server.send_all(b"x")


async def test_unread_input_does_not_destroy_the_last_words_of_a_line_stream() -> None:
    async with sockets() as (server, client), trio.open_nursery() as nursery:
        transport = LineTransport(Wire(server))
        await client.send_all(b"PUT 1\n" * 20_000)
        await transport.receive()
        await transport.send(["Error NOT_JOINED_TO_CHANNEL", "YOU_LOST"])
        nursery.start_soon(transport.close, Farewell())
        assert await drained(client) == b"Error NOT_JOINED_TO_CHANNEL\nYOU_LOST\n"
        await client.aclose()


# Websockets.


async def test_websocket_messages_are_texts_binary_ones_too() -> None:
    async with websockets() as (transport, client), trio.open_nursery() as nursery:
        nursery.start_soon(client.send_message, "connect ann\r\n")
        assert await transport.receive() == ["connect ann\r\n"]
        nursery.start_soon(client.send_message, b"playmove 3\r\n")
        assert await transport.receive() == ["playmove 3\r\n"]


async def test_binary_message_that_is_no_utf8_becomes_a_text_with_surrogates() -> None:
    async with websockets() as (transport, client), trio.open_nursery() as nursery:
        nursery.start_soon(client.send_message, b"a\xff")
        assert await transport.receive() == ["a\udcff"]


async def test_texts_are_sent_a_frame_each() -> None:
    async with websockets() as (transport, client), trio.open_nursery() as nursery:
        nursery.start_soon(transport.send, ["a", "b\n"])
        assert await client.get_message() == "a"
        assert await client.get_message() == "b\n"


async def test_closed_websocket_gives_nothing_after_the_messages_before_it() -> None:
    async with websockets() as (transport, client), trio.open_nursery() as nursery:

        async def leave() -> None:
            await client.send_message("a")
            await client.send_message("b")
            await client.aclose()

        nursery.start_soon(leave)
        assert await transport.receive() == ["a"]
        await trio.testing.wait_all_tasks_blocked()
        assert await transport.receive() == ["b"]
        assert await transport.receive() == []
        with pytest.raises(PeerGone):
            await transport.send(["c"])


async def test_client_that_reads_no_frames_is_gone_after_five_seconds(
    autojump_clock: trio.testing.MockClock,
) -> None:
    client, server = trio.testing.memory_stream_pair()
    stalled = Stallable(server)
    async with trio.open_nursery() as nursery:
        websocket, _ = await websocket_pair(nursery, stalled, client)
        transport = WebSocketTransport(websocket, Wire(stalled))
        stalled.stalls = True
        begin = trio.current_time()
        with pytest.raises(PeerGone):
            await transport.send(["a"])
        assert trio.current_time() - begin == SEND_LIMIT
        with trio.fail_after(CLOSE_LIMIT):
            await transport.close(Farewell())
        nursery.cancel_scope.cancel()


async def test_nothing_follows_a_frame_that_was_sent_in_part(autojump_clock: trio.testing.MockClock) -> None:
    client_stream, server_stream = trio.testing.memory_stream_pair()
    stalled = Stallable(server_stream)
    async with trio.open_nursery() as nursery:
        wire = Wire(stalled)
        server, client = await websocket_pair(nursery, wire, client_stream)
        transport = WebSocketTransport(server, wire)
        stalled.stalls = True
        with pytest.raises(PeerGone):
            await transport.send(["a"])
        stalled.stalls = False
        wire.lent = True
        await transport.close(Farewell(1000))
        await wire.linger()
        with pytest.raises(trio_websocket.ConnectionClosed) as closed:
            await client.get_message()
        assert closed.value.reason is not None
        assert closed.value.reason.code == 1006
        nursery.cancel_scope.cancel()


async def test_pings_that_nobody_answers_do_not_pile_up(autojump_clock: trio.testing.MockClock) -> None:
    client_stream, server_stream = trio.testing.memory_stream_pair()
    mute = Stallable(client_stream)
    async with trio.open_nursery() as nursery:
        wire = Wire(server_stream)
        server, _ = await websocket_pair(nursery, wire, mute)
        mute.drops = True
        nursery.start_soon(WebSocketTransport(server, wire).keep_pinging)
        await trio.sleep(20 * PING_PERIOD)
        assert mute.dropped >= 15  # the pongs
        assert len(server._pings) <= 1
        nursery.cancel_scope.cancel()


async def test_settled_websocket_has_handed_out_all_that_had_arrived() -> None:
    async with sockets() as (server_stream, client_stream), trio.open_nursery() as nursery:
        wire = Wire(server_stream)
        server, client = await websocket_pair(nursery, wire, client_stream)
        transport = WebSocketTransport(server, wire)
        texts: list[str] = []
        nursery.start_soon(collect, transport, texts)
        for number in range(300):
            await client.send_message(str(number))
        await transport.settle()
        assert len(texts) == 300
        nursery.cancel_scope.cancel()


async def test_farewell_is_the_close_frame() -> None:
    async with websockets() as (transport, client):
        await transport.send(["endgame\r\n"])
        await transport.close(Farewell(1001, "server stops"))
        assert await client.get_message() == "endgame\r\n"
        with pytest.raises(trio_websocket.ConnectionClosed):
            await client.get_message()
        assert (client.closed.code, client.closed.reason) == (1001, "server stops")


async def test_client_that_does_not_answer_a_close_frame_is_hung_up_on_within_two_seconds(
    autojump_clock: trio.testing.MockClock,
) -> None:
    client_stream, server_stream = trio.testing.memory_stream_pair()
    mute = Stallable(client_stream)
    async with trio.open_nursery() as nursery:
        wire = Wire(server_stream)
        server, _ = await websocket_pair(nursery, wire, mute)
        mute.drops = True
        with trio.fail_after(CLOSE_LIMIT):
            await WebSocketTransport(server, wire).close(Farewell(1001))
    with pytest.raises(trio.ClosedResourceError):
        await server_stream.send_all(b"x")


async def test_closing_a_websocket_twice_is_harmless() -> None:
    async with websockets() as (transport, _client):
        await transport.close(Farewell(1000))
        await transport.close(Farewell(1001))


async def test_unread_frames_do_not_destroy_the_last_words_of_a_websocket() -> None:
    async with sockets() as (server_stream, client_stream), trio.open_nursery() as nursery:
        wire = Wire(server_stream)
        server, client = await websocket_pair(nursery, wire, client_stream)
        transport = WebSocketTransport(server, wire)
        for _ in range(500):
            await client.send_message("playmove 3\r\n" * 20)
        await transport.send(["not-connected\r\n"])
        nursery.start_soon(transport.close, Farewell(1008))
        assert await client.get_message() == "not-connected\r\n"
        with pytest.raises(trio_websocket.ConnectionClosed):
            await client.get_message()
        assert client.closed.code == 1008


async def test_pings_go_out_and_a_missing_pong_is_not_punished(
    autojump_clock: trio.testing.MockClock,
) -> None:
    client, server = trio.testing.memory_stream_pair()
    mute = Stallable(server)
    async with trio.open_nursery() as nursery:
        websocket, _ = await websocket_pair(nursery, mute, client)
        transport = WebSocketTransport(websocket, Wire(mute))
        mute.drops = True
        nursery.start_soon(transport.keep_pinging)
        await trio.sleep(3 * PING_PERIOD + 30)
        assert mute.dropped >= 3
        mute.drops = False
        await transport.send(["genmove\r\n"])
        nursery.cancel_scope.cancel()


# Wires.


@pytest.mark.parametrize("rest", [b"", b"rest"])
async def test_what_follows_a_pushed_back_head_is_read_once_the_head_was_answered(
    rest: bytes, autojump_clock: trio.testing.MockClock
) -> None:
    client, server = trio.testing.memory_stream_pair()
    wire = Wire(server)
    wire.push_back(b"head", rest)
    await client.send_all(b"body")
    assert await wire.receive_some(100) == b"head"
    with trio.move_on_after(1) as waiting:
        await wire.receive_some(100)
    assert waiting.cancelled_caught
    await wire.send_all(b"answer")
    if rest:
        assert await wire.receive_some(100) == rest
    assert await wire.receive_some(100) == b"body"


async def test_wire_is_quiet_only_while_somebody_waits_and_nothing_has_arrived() -> None:
    async with sockets() as (server, client), trio.open_nursery() as nursery:
        wire = Wire(server)
        assert not wire.is_quiet
        nursery.start_soon(wire.receive_some, 10)
        await trio.testing.wait_all_tasks_blocked()
        assert wire.is_quiet
        client.socket._sock.send(b"x")
        assert not wire.is_quiet

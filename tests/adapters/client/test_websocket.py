"""Texts over websockets; whatever goes wrong with a peer is PeerGone."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from itertools import pairwise
from math import inf

import pytest
import trio
import trio.testing
import trio_websocket
from frame_strategies import streams as frame_streams
from hypothesis import given, settings
from shell_fakes import Stallable, collect, drained, send, sockets
from trials import FEW
from wires import wired

from adapters.client.boundary import serve_connection
from adapters.client.contract import PROBE_LIMIT, SEND_LIMIT, Farewell, PeerGone
from adapters.client.transports import received
from adapters.client.upgrade import FRAME_LIMIT, Endpoint, serve_websocket
from adapters.client.websocket import PING_PERIOD, PONG_LIMIT, WebSocketTransport
from adapters.net.pacing import Turns

pytestmark = pytest.mark.trio
CLOSE_LIMIT = 2.0
TOO_LONG = "sent a message that is too long (1009)"
HANDSHAKE = (
    b"GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
)


@asynccontextmanager
async def between(
    server_stream: trio.abc.Stream, client_stream: trio.abc.Stream
) -> AsyncIterator[tuple[WebSocketTransport, trio_websocket.WebSocketConnection]]:
    """Give the transport at one end of a websocket and the library's object at the other."""
    transports: list[WebSocketTransport] = []
    over = trio.Event()

    async def talk(transport: WebSocketTransport, _: str) -> None:
        transports.append(transport)
        await over.wait()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(serve_websocket, wired(server_stream), Endpoint(talk, ""))
        client = await trio_websocket.wrap_client_stream(nursery, client_stream, "host", "/")
        yield transports[0], client
        over.set()
        nursery.cancel_scope.cancel()


@asynccontextmanager
async def websockets() -> AsyncIterator[tuple[WebSocketTransport, trio_websocket.WebSocketConnection]]:
    """Give both ends of a websocket over memory."""
    client_stream, server_stream = trio.testing.memory_stream_pair()
    async with between(server_stream, client_stream) as both:
        yield both


async def test_websocket_messages_are_texts_binary_ones_too() -> None:
    async with websockets() as (transport, client), trio.open_nursery() as nursery:
        nursery.start_soon(client.send_message, "connect ann\r\n")
        assert await received(transport) == ["connect ann\r\n"]
        nursery.start_soon(client.send_message, b"playmove 3\r\n")
        assert await received(transport) == ["playmove 3\r\n"]


async def test_binary_message_that_is_no_utf8_becomes_a_text_with_surrogates() -> None:
    async with websockets() as (transport, client), trio.open_nursery() as nursery:
        nursery.start_soon(client.send_message, b"a\xff")
        assert await received(transport) == ["a\udcff"]


async def test_texts_are_sent_a_frame_each() -> None:
    async with websockets() as (transport, client), trio.open_nursery() as nursery:
        nursery.start_soon(send, transport, ["a", "b\n"])
        assert await client.get_message() == "a"
        assert await client.get_message() == "b\n"


async def test_closed_websocket_gives_nothing_after_the_messages_before_it() -> None:
    async with websockets() as (transport, client), trio.open_nursery() as nursery:

        async def leave() -> None:
            await client.send_message("a")
            await client.send_message("b")
            await client.aclose()

        nursery.start_soon(leave)
        assert await received(transport) == ["a"]
        await trio.testing.wait_all_tasks_blocked()
        assert await received(transport) == ["b"]
        assert await received(transport) == []
        with pytest.raises(PeerGone):
            await send(transport, ["c"])


async def test_client_that_reads_no_frames_is_gone_after_five_seconds(
    autojump_clock: trio.testing.MockClock,
) -> None:
    client_stream, server_stream = trio.testing.memory_stream_pair()
    stalled = Stallable(server_stream)
    async with between(stalled, client_stream) as (transport, _):
        stalled.stalls = True
        begin = trio.current_time()
        with pytest.raises(PeerGone):
            await send(transport, ["a"])
        assert trio.current_time() - begin == SEND_LIMIT
        with trio.fail_after(CLOSE_LIMIT):
            await transport.close(Farewell())


async def test_nothing_follows_a_frame_that_was_sent_in_part(autojump_clock: trio.testing.MockClock) -> None:
    client_stream, server_stream = trio.testing.memory_stream_pair()
    stalled = Stallable(server_stream)
    async with between(stalled, client_stream) as (transport, client):
        stalled.stalls = True
        with pytest.raises(PeerGone):
            await send(transport, ["a"])
        stalled.stalls = False
        await transport.close(Farewell(1000))
        await transport._wire.linger()
        with pytest.raises(trio_websocket.ConnectionClosed) as closed:
            await client.get_message()
        assert closed.value.reason is not None
        assert closed.value.reason.code == 1006


async def test_settled_websocket_has_handed_out_all_that_had_arrived() -> None:
    async with (
        sockets() as streams,
        between(*streams) as (transport, client),
        trio.open_nursery() as nursery,
    ):
        texts: list[str] = []
        nursery.start_soon(collect, transport, texts)
        for number in range(300):
            await client.send_message(str(number))
        await transport.settle()
        assert len(texts) == 300
        nursery.cancel_scope.cancel()


async def test_farewell_is_the_close_frame() -> None:
    async with websockets() as (transport, client):
        await send(transport, ["endgame\r\n"])
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
    async with between(server_stream, mute) as (transport, _):
        mute.drops = True
        with trio.fail_after(CLOSE_LIMIT):
            await transport.close(Farewell(1001))
        with trio.fail_after(CLOSE_LIMIT):
            await transport._wire.linger()
    with pytest.raises(trio.ClosedResourceError):
        await server_stream.send_all(b"x")


@pytest.mark.parametrize(
    ("data", "ended"),
    [
        (b"\x81\x01a", "broke the websocket protocol (1002)"),
        (b"\x81\x81\0\0\0\0\xff", "broke the websocket protocol (1007)"),
        (b"\x81\xff" + (70_000).to_bytes(8, "big") + b"\0\0\0\0" + b"a" * 70_000, TOO_LONG),
        (b"\x88\x82\0\0\0\0\x03\xe8", "hung up"),
        (b"\x88\x82\0\0\0\0\x03\xea", "hung up"),
        (b"\x88\x80\0\0\0\0", "hung up"),
        (b"", "hung up"),
    ],
    ids=["unmasked", "no UTF-8", "too long", "close", "close with 1002", "close without a code", "end"],
)
async def test_websocket_that_ended_says_who_broke_the_protocol(data: bytes, ended: str) -> None:
    async with sockets() as streams, between(*streams) as (transport, _):
        client = streams[1]
        if data:
            await client.send_all(data)
        else:
            await client.send_eof()
        assert await received(transport) == []
        assert transport.ended == ended


async def test_closing_a_websocket_twice_is_harmless() -> None:
    async with websockets() as (transport, _client):
        await transport.close(Farewell(1000))
        await transport.close(Farewell(1001))


async def test_unread_frames_do_not_destroy_the_last_words_of_a_websocket() -> None:
    async with (
        sockets() as streams,
        between(*streams) as (transport, client),
        trio.open_nursery() as nursery,
    ):
        for _ in range(20):  # which is what any socket takes that nobody reads
            await client.send_message("playmove 3\r\n" * 20)
        await send(transport, ["not-connected\r\n"])
        nursery.start_soon(transport.close, Farewell(1008))
        assert await client.get_message() == "not-connected\r\n"
        with pytest.raises(trio_websocket.ConnectionClosed):
            await client.get_message()
        assert client.closed.code == 1008


# Signs of life.


async def seconds_kept(*, thinks: float = 0, says: bytes = b"", at: float = 0) -> float:
    """Return how long a client is kept, an hour at most, that says something every `at` seconds or not.

    A move is asked of it until `thinks` seconds have passed.
    """
    client, server = trio.testing.memory_stream_pair()
    begin = trio.current_time()

    async def talk(transport: WebSocketTransport, _: str) -> None:
        transport.thinks = lambda: trio.current_time() < begin + thinks
        await collect(transport, [])

    async def live() -> None:
        await client.send_all(HANDSHAKE)
        while says:
            await trio.sleep(at)
            await client.send_all(says)

    with trio.move_on_after(3600):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(live)
            nursery.start_soon(drained, client)
            await serve_connection(
                "test", partial(serve_websocket, endpoint=Endpoint(talk, "")), wired, server
            )
            nursery.cancel_scope.cancel()
    return trio.current_time() - begin


async def test_client_that_says_nothing_to_a_ping_is_gone_before_the_third(
    autojump_clock: trio.testing.MockClock,
) -> None:
    assert 2 * PING_PERIOD <= await seconds_kept() <= 2 * PING_PERIOD + 1


@pytest.mark.parametrize(
    "says",
    [b"\x8a\x80\0\0\0\0", b"\x8a\x83\0\0\0\0abc", b"\x89\x80\0\0\0\0", b"\x81\x81\0\0\0\0x"],
    ids=["pong", "other pong", "ping", "text"],
)
async def test_client_from_whom_anything_comes_is_kept(
    autojump_clock: trio.testing.MockClock, says: bytes
) -> None:
    assert await seconds_kept(says=says, at=PING_PERIOD - 1) == 3600


async def test_client_that_is_asked_for_a_move_need_not_answer_pings(
    autojump_clock: trio.testing.MockClock,
) -> None:
    assert await seconds_kept(thinks=inf) == 3600


async def test_ping_that_came_while_a_client_thought_need_not_be_answered(
    autojump_clock: trio.testing.MockClock,
) -> None:
    assert 3 * PING_PERIOD <= await seconds_kept(thinks=PING_PERIOD + 1) <= 3 * PING_PERIOD + 1


async def test_client_that_owes_a_pong_is_not_reachable_unless_it_thinks(
    autojump_clock: trio.testing.MockClock,
) -> None:
    client, server = trio.testing.memory_stream_pair()
    line = Stallable(client)
    async with between(server, line) as (transport, _), trio.open_nursery() as nursery:
        nursery.start_soon(collect, transport, [])
        line.drops = True  # pongs, too
        await trio.sleep(PING_PERIOD + PONG_LIMIT - 0.1)
        assert transport.is_reachable
        await trio.sleep(1)
        assert not transport.is_reachable
        transport.thinks = lambda: True
        assert transport.is_reachable
        nursery.cancel_scope.cancel()


@pytest.mark.parametrize(
    ("mute", "thinks", "answers", "after"),
    [
        (0.0, False, True, 0.02),
        (2.9, False, True, PROBE_LIMIT),
        (inf, False, False, PROBE_LIMIT),
        (inf, True, True, 0.02),
    ],
    ids=["reads", "reads just in time", "does not read", "thinks"],
)
async def test_client_is_there_if_it_answers_a_probe_in_time_or_thinks_and_its_system_does(
    autojump_clock: trio.testing.MockClock, mute: float, thinks: bool, answers: bool, after: float
) -> None:
    client, server = trio.testing.memory_stream_pair()
    line = Stallable(client)
    async with between(server, line) as (transport, library), trio.open_nursery() as nursery:
        nursery.start_soon(collect, transport, [])

        async def read_again() -> None:
            await trio.sleep(mute)
            line.drops = False
            await library.pong(b"")

        line.drops = mute > 0
        if mute < inf:
            nursery.start_soon(read_again)
        begin = trio.current_time()
        assert await transport.answers(lambda: thinks) is answers
        assert trio.current_time() - begin == pytest.approx(after, abs=0.02)
        nursery.cancel_scope.cancel()


async def test_client_that_has_not_got_its_probe_is_there_if_its_system_is(
    autojump_clock: trio.testing.MockClock,
) -> None:
    client, server = trio.testing.memory_stream_pair()
    stalled = Stallable(server)
    async with between(stalled, client) as (transport, _), trio.open_nursery() as nursery:
        nursery.start_soon(collect, transport, [])
        stalled.stalls = True
        assert await transport.answers(lambda: False)
        nursery.cancel_scope.cancel()


async def test_client_that_is_not_read_owes_no_pong(autojump_clock: trio.testing.MockClock) -> None:
    client, server = trio.testing.memory_stream_pair()
    async with between(server, Stallable(client)) as (transport, _):
        await trio.sleep(3 * PING_PERIOD)
        assert transport.is_reachable


async def test_pong_that_came_while_the_server_stood_still_counts(
    autojump_clock: trio.testing.MockClock,
) -> None:
    client, server = trio.testing.memory_stream_pair()
    async with between(server, Stallable(client)) as (transport, _), trio.open_nursery() as nursery:
        nursery.start_soon(collect, transport, [])
        before = transport._wire.reads
        await client.send_all(b"\x8a\x80\0\0\0\0")
        await transport.settle()
        assert transport._wire.reads > before
        nursery.cancel_scope.cancel()


# What a client may send.


async def closed_with(data: bytes) -> int | None:
    """Return the code with which a client is closed that sends `data`."""
    async with sockets() as streams, between(*streams) as (transport, client), trio.open_nursery() as nursery:
        nursery.start_soon(collect, transport, [])
        await streams[1].send_all(data)
        with pytest.raises(trio_websocket.ConnectionClosed):
            await client.get_message()
        nursery.cancel_scope.cancel()
        return None if client.closed is None else int(client.closed.code)


@pytest.mark.parametrize("payload", [b"", b"a"])
async def test_message_of_too_many_fragments_is_too_long(payload: bytes) -> None:
    piece = bytes((0x00, 0x80 | len(payload))) + bytes(4) + payload
    assert await closed_with(b"\x01\x80\0\0\0\0" + piece * FRAME_LIMIT) == 1009


async def test_message_of_many_fragments_with_pings_between_is_read() -> None:
    piece, ping = b"\x00\x81\0\0\0\0a", b"\x89\x80\0\0\0\0"
    texts, _ = await conversation(
        [b"\x01\x80\0\0\0\0" + (piece + ping) * (FRAME_LIMIT - 2) + b"\x80\x80\0\0\0\0"] * 2, usual=True
    )
    assert texts == ["a" * (FRAME_LIMIT - 2)] * 2


async def test_unfinished_message_lies_in_few_pieces_however_it_came() -> None:
    async with websockets() as (transport, client), trio.open_nursery() as nursery:
        nursery.start_soon(collect, transport, [])
        await client._stream.send_all(b"\x01\xfe\x10\0\0\0\0\0")
        for _ in range(1000):
            await client._stream.send_all(b"ab")
            await trio.testing.wait_all_tasks_blocked()
        assert "".join(transport._websocket._message_parts) == "ab" * 1000
        assert len(transport._websocket._message_parts) < 100
        nursery.cancel_scope.cancel()


async def test_library_pauses_for_others_now_and_then() -> None:
    async with websockets() as (transport, _client), trio.open_nursery() as nursery:
        nursery.start_soon(collect, transport, [])
        transport._leave_reading(b"\x8a\x80\0\0\0\0" * 1000)
        turns = 0
        while transport._library._given:
            await trio.lowlevel.checkpoint()
            turns += 1
        assert turns >= 10
        nursery.cancel_scope.cancel()


class TurnsOfOthers(Turns):
    """Turns that others have until they are over."""

    def __init__(self) -> None:
        super().__init__()
        self.over = trio.Event()

    async def take(self) -> None:
        await self.over.wait()


async def test_library_waits_for_its_turn_to_read_much_but_not_to_read_little() -> None:
    async with websockets() as (transport, client), trio.open_nursery() as nursery:
        nursery.start_soon(collect, transport, [])
        transport._wire._turns = others = TurnsOfOthers()
        transport._leave_reading(b"\x89\x84\0\0\0\0ping")
        await trio.testing.wait_all_tasks_blocked()
        assert len(transport._library._given) == 0
        await client._stream.send_all(b"\x8a\x80\0\0\0\0" * 100)
        await trio.testing.wait_all_tasks_blocked()
        assert len(transport._library._given) == 600
        others.over.set()
        await trio.testing.wait_all_tasks_blocked()
        assert len(transport._library._given) == 0
        nursery.cancel_scope.cancel()


class Told(trio.abc.Instrument):
    """How many texts there are by the end of each turn of the loop, for as long as a condition holds."""

    def __init__(self, texts: list[str], holds: Callable[[], bool]) -> None:
        self.counts: list[int] = []
        self._texts, self._holds = texts, holds

    def after_io_wait(self, timeout: float) -> None:
        if self._holds():
            self.counts.append(len(self._texts))


async def test_clients_whose_messages_the_library_reads_and_who_send_much_take_turns(
    mock_clock: trio.testing.MockClock,
) -> None:
    texts: list[str] = []
    async with websockets() as (one, _), websockets() as (two, _), trio.open_nursery() as nursery:
        two._wire._turns = one._wire._turns
        told = Told(texts, lambda: one._library.has_much and two._library.has_much)
        for transport in (one, two):
            nursery.start_soon(collect, transport, texts)
            transport._leave_reading(b"\x81\x81\0\0\0\0a" * 500)
        trio.lowlevel.add_instrument(told)
        await trio.testing.wait_all_tasks_blocked()
        trio.lowlevel.remove_instrument(told)
        assert (texts, len(told.counts) > 100) == (["a"] * 1000, True)
        assert max(after - before for before, after in pairwise(told.counts)) == 1
        nursery.cancel_scope.cancel()


# Beside the library.


async def test_pings_do_not_pile_up_for_a_client_that_reads_no_pongs() -> None:
    client_stream, server_stream = trio.testing.memory_stream_pair()
    stalled = Stallable(server_stream)
    async with between(stalled, client_stream) as (transport, _), trio.open_nursery() as nursery:
        stalled.stalls = True
        nursery.start_soon(collect, transport, [])
        for _ in range(1000):
            await client_stream.send_all(b"\x89\xfd" + bytes(129))
            await trio.testing.wait_all_tasks_blocked()
        assert len(transport._library._given) < 20_000
        nursery.cancel_scope.cancel()


async def conversation(pieces: list[bytes], *, usual: bool) -> tuple[list[str], bytes]:
    """Let a client send some pieces, then hang up; return the texts that came of it, and what it got."""
    client, server = trio.testing.memory_stream_pair()
    texts: list[str] = []

    async def talk(transport: WebSocketTransport, _: str) -> None:
        if not usual:
            transport._leave_reading()
        await collect(transport, texts)
        await transport.close(Farewell())

    async with trio.open_nursery() as nursery:
        nursery.start_soon(serve_websocket, wired(server), Endpoint(talk, ""))
        await client.send_all(HANDSHAKE)
        await trio.testing.wait_all_tasks_blocked()
        for piece in pieces:
            await client.send_all(piece)
            await trio.testing.wait_all_tasks_blocked()
        await client.send_eof()
        answer = await drained(client)
    return texts, answer


@settings(max_examples=FEW)
@given(frame_streams)
async def test_reading_beside_the_library_is_reading_by_the_library(data: bytes) -> None:
    whole = await conversation([data], usual=False)
    assert await conversation([data], usual=True) == whole
    bytewise = [data[index : index + 1] for index in range(len(data))]
    assert await conversation(bytewise, usual=True) == await conversation(bytewise, usual=False)

"""What a bot is told is divided into packets as the scenario asks for."""

import pytest
import trio
from worlds.memory_client import MemoryClient, socket_of

from adapters.check.scenarios import Pace
from adapters.check.wire import CheckedSocket, frame_end, pieces
from adapters.client.contract import SEND_LIMIT
from adapters.client.framing import text_frame


def connected(*, frames: bool = False) -> tuple[CheckedSocket, MemoryClient]:
    """Return a bot's socket, and the bot."""
    bot = MemoryClient()
    sock = socket_of(bot, CheckedSocket)
    sock.prepare(frames=frames, patience=1.0)
    return sock, bot


@pytest.mark.parametrize("size", [0, 5, 125, 126, 70_000])
def test_first_frame_ends_where_the_next_one_begins(size):
    one = text_frame("x" * size)
    assert frame_end(one + text_frame("next")) == len(one)
    assert frame_end(one) == len(one)


async def test_how_a_bot_began_is_kept_and_not_what_it_went_on_to_say():
    sock, bot = connected()
    for said in (b"GET /" + bytes(2000), b"more"):
        await bot.send_all(said)
        await sock.receive_some()
    assert sock.first == b"GET /" + bytes(1019)


MESSAGES = [b"SUCCESS\n", b"NEW_GAME\n", b"PUT 3\n", b"x" * 100 + b"\n"]


@pytest.mark.parametrize(
    ("pace", "packets"), [(Pace.MESSAGES, MESSAGES), (Pace.TOGETHER, [b"".join(MESSAGES)])]
)
async def test_messages_come_one_by_one_or_together(pace, packets, autojump_clock):
    sock, bot = connected()
    sock.change_pace(pace)
    assert not sock.write(b"".join(MESSAGES))
    async with trio.open_nursery() as nursery:
        nursery.start_soon(sock.drain)
        assert [await bot.receive_some() for _ in packets] == packets


async def test_what_takes_too_long_in_pieces_leaves_before_the_bot_counts_as_gone(autojump_clock):
    sock, bot = connected()
    messages = b"YOUR_MOVE\n" * 1000
    sock.write(messages)
    with trio.fail_after(SEND_LIMIT):
        await sock.drain()
    assert await bot.receive_some() == messages


@pytest.mark.parametrize("size", [0, 1, 8, 9, 10, 11, 24, 200])
def test_message_in_pieces_is_whole_and_its_ends_come_byte_by_byte(size):
    message = bytes(range(size))
    found = list(pieces(message, Pace.BYTES))
    assert b"".join(found) == message
    ends = [*found[:8], *found[-2:]]
    assert all(len(each) == 1 for each in ends)
    assert len(found) <= 10 + size / 13 + 1


async def test_end_of_a_game_that_came_together_comes_with_the_beginning_of_the_next(autojump_clock):
    sock, bot = connected()
    sock.change_pace(Pace.TOGETHER)
    sock.change_pace(Pace.MESSAGES)
    for expected in (b"".join(MESSAGES), MESSAGES[0]):
        sock.write(b"".join(MESSAGES))
        async with trio.open_nursery() as nursery:
            nursery.start_soon(sock.flush)
            assert await bot.receive_some() == expected


@pytest.mark.parametrize(
    ("read", "ponged", "hung_up"),
    [
        (b"\x88\x80\0\0\0\0", False, True),
        (b"\x81\x81\0\0\0\0x\x88\x80\0\0\0\0", False, True),
        (b"\x8a\x84\0\0\0\0c4gw", True, False),
        (b"\x81\x81\0\0\0\0x\x8a\x84\0\0\0\0c4gw", True, False),
        (b"\x81\x81\0\0\0\0\x88", False, False),
    ],
)
async def test_close_frame_is_a_hang_up_whatever_came_before_it(read, ponged, hung_up):
    """Clients may leave it to the server to close the connection (RFC 6455, 7.1.1): websocket-client does."""
    sock, bot = connected(frames=True)
    sock.begin()
    await bot.send_all(read)
    await sock.receive_some()
    assert (sock.has_ponged, sock.has_hung_up) == (ponged, hung_up)


@pytest.mark.parametrize(
    ("waits", "has_hung_up", "lasted"), [(0.0, True, 0.0), (0.5, True, 0.5), (5.0, False, 0.0)]
)
async def test_bot_has_its_patience_to_hang_up_when_the_server_has(
    waits, has_hung_up, lasted, autojump_clock
):
    sock, bot = connected()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(sock.linger)
        await trio.sleep(waits)
        await bot.send_eof()
    assert sock.is_cut_off
    assert (sock.has_hung_up, sock.lasted) == (has_hung_up, pytest.approx(lasted, abs=0.01))
    assert bot.socket.is_closed


async def test_bot_that_has_hung_up_first_is_not_cut_off(autojump_clock):
    sock, bot = connected()
    await bot.send_eof()
    assert await sock.receive_some() == b""
    await sock.linger()
    assert (sock.has_hung_up, sock.is_cut_off) == (True, False)

"""What stays of a client who has gone: nothing that would wait for the cyclic garbage collector.

That one looks seldom, so memory would grow with the number of games for as long as it does not.
"""

import gc
from collections.abc import Callable, Iterator, Sequence
from itertools import product

import pytest
import trio
import trio.testing
from players import DIALECTS, Player, entered, gateway
from wsproto.frame_protocol import FrameDecoder

from adapters.client.connection import Connection

pytestmark = pytest.mark.trio
Clock = trio.testing.MockClock

dialects = pytest.mark.parametrize("dialect", DIALECTS)
pairs = pytest.mark.parametrize("pair", [*product(DIALECTS, DIALECTS)], ids="-".join)


@pytest.fixture(autouse=True)
def no_collector() -> Iterator[None]:
    """Let nothing be cleared away but what nobody refers to, and count only what a test makes."""
    gc.collect()
    gc.freeze()
    gc.disable()
    yield
    gc.enable()


def connections() -> int:
    """Return how many connections there are in memory."""
    return sum(type(thing) is Connection for thing in gc.get_objects())


def parsers() -> int:
    """Return how many parsers of clients' frames are in memory, each with what has come of a message."""
    return sum(type(thing) is FrameDecoder and not thing.client for thing in gc.get_objects())


@dialects
@pytest.mark.parametrize("vanishes", [False, True], ids=["leaves", "vanishes"])
async def test_nothing_is_left_of_who_waited(dialect: str, vanishes: bool, autojump_clock: Clock) -> None:
    async with gateway() as room:
        player = await room.connect(dialect, "ann")
        await player.enter()
        assert await player.told() == entered(player)
        assert connections() == 1
        if vanishes:
            player.reset()
        else:
            await player.leave()
        await trio.sleep(10)
        assert len(room.hub) == 0
        assert connections() == parsers() == 0


def stops_reading(player: Player) -> None:
    player.stream.socket.capacity = 0
    player.stream.socket.arrives(
        b"\x81\x84\0\0\0\0what" * 50 if player.dialect != "droidcon" else b"what\n" * 50
    )


def breaks_in_a_message(player: Player) -> None:
    player.stream.socket.arrives(b"\x01\x85\0\0\0\0he" if player.dialect != "droidcon" else b"PUT")
    player.stream.reset()


def answers_no_more(player: Player) -> None:
    player.stream.is_mute = True
    player.stream.socket.silence = 100.0


WAYS: dict[str, Callable[[Player], object]] = {
    "stops reading": stops_reading,
    "breaks in a message": breaks_in_a_message,
    "answers no more": answers_no_more,
    "ends": lambda player: player.stream.socket.ends(),
    "floods": lambda player: player.stream.socket.arrives(bytes(100_000)),
}
NOTICED = [case for case in product(DIALECTS, WAYS) if case != ("droidcon", "answers no more")]
"""There is nothing that lines would have to be answered with."""


@pytest.mark.parametrize(("dialect", "way"), NOTICED)
async def test_nothing_is_left_however_a_client_goes(dialect: str, way: str, autojump_clock: Clock) -> None:
    async with gateway() as room:
        player = await room.connect(dialect, "ann")
        await player.enter()
        assert await player.told() == entered(player)
        WAYS[way](player)
        await trio.sleep(100)
        assert len(room.hub) == 0
        assert connections() == parsers() == 0


@pairs
async def test_nothing_is_left_of_who_played(pair: Sequence[str], autojump_clock: Clock) -> None:
    async with gateway() as room:
        one, two = await room.sit(pair[0], "ann"), await room.sit(pair[1], "bob")
        for column in "0101010":
            await (one, two)[int(column)].play(int(column))
            await trio.testing.wait_all_tasks_blocked()
        assert len(room.finished) == 1
        assert connections() == 2
        await one.leave()
        await trio.sleep(10)
        if "closed" not in await two.told():
            await two.leave()
        await trio.sleep(10)
        assert len(room.hub) == 0
        assert connections() == parsers() == 0

"""How much of one client is carried out at once: none waits for one who sends much, and nothing is lost."""

from collections.abc import Callable
from math import inf

import pytest
import trio
import trio.testing
from loop_turns import added_each_turn, slow_turns
from worlds.connection import (
    BEGIN,
    BINARY,
    END,
    GO_ON,
    PING,
    PONG,
    TEXT,
    Client,
    Framing,
    answered,
    connections,
    frame,
)

pytestmark = pytest.mark.trio


def fragmented(text: str) -> bytes:
    return frame(BEGIN, text[:1]) + frame(GO_ON, text[1:]) + frame(GO_ON | END)


KINDS: dict[str, tuple[Framing, Callable[[str], bytes]]] = {
    "lines": ("lines", lambda text: f"{text}\n".encode()),
    "texts": ("websocket", lambda text: frame(TEXT, text)),
    "binary": ("websocket", lambda text: frame(BINARY, text)),
    "fragments": ("websocket", fragmented),
    "pings between": ("websocket", lambda text: frame(PING) + frame(TEXT, text)),
    "pongs between": ("websocket", lambda text: frame(PONG) * 3 + frame(BINARY, text)),
}
"""How a client may write a text."""


def floods(client: Client, kind: str, texts: int, length: int = 1) -> None:
    """Let a client send many texts in one packet."""
    client.send(b"".join(KINDS[kind][1](f"{number} {'x' * length}") for number in range(texts)))


def carried_out(client: Client) -> list[str]:
    return [text.split()[0] for text in answered(client.texts)]


async def turns(until: Callable[[], bool]) -> int:
    """Return how many turns of the loop pass until something is so."""
    for number in range(10_000):
        if until():
            return number
        await trio.lowlevel.checkpoint()
    raise AssertionError


@pytest.mark.parametrize("kind", KINDS)
async def test_client_that_sends_little_does_not_wait_for_one_that_sends_much(
    kind: str, mock_clock: trio.testing.MockClock
) -> None:
    async with connections() as world:
        crowd = [await world.connect(KINDS[kind][0]) for _ in range(5)]
        ann = await world.connect(KINDS[kind][0])
        for each in crowd:
            floods(each, kind, 200, length=200)
        await turns(lambda: any(each.texts for each in crowd))
        mock_clock.jump(1)
        ann.say("a")
        assert await turns(lambda: ann.texts != []) <= 5
        assert sum(len(each.texts) for each in crowd) < 500
        await world.quiet()
        assert [carried_out(each) for each in crowd] == [[str(number) for number in range(200)]] * 5


class Told:
    """How many texts clients have been sent."""

    def __init__(self, *clients: Client) -> None:
        self._clients = clients

    def __len__(self) -> int:
        return sum(len(each.texts) for each in self._clients)


async def test_few_texts_at_once_are_answered_in_the_turn_of_the_loop_in_which_they_are_read(
    framing: Framing, mock_clock: trio.testing.MockClock
) -> None:
    async with connections() as world:
        ann = await world.connect(framing)
        for _ in range(5):
            mock_clock.jump(1)
            with added_each_turn(Told(ann)) as steps:
                ann.say("a", "b", "c")
                await world.quiet()
            assert steps == [3]


@pytest.mark.parametrize(
    ("kind", "length", "most"),
    [*((kind, 1, 16) for kind in KINDS), ("lines", 1000, 8), ("texts", 1000, 8)],
)
async def test_no_turn_of_the_loop_carries_out_much_beside_the_first_text_of_each_client(
    kind: str, length: int, most: int, mock_clock: trio.testing.MockClock
) -> None:
    """64 short maps of EDN in one packet once took 20 ms of a turn."""
    async with connections() as world:
        crowd = [await world.connect(KINDS[kind][0]) for _ in range(10)]
        with added_each_turn(Told(*crowd)) as steps:
            for each in crowd:
                floods(each, kind, 100, length)
            await world.quiet()
        assert steps[0] <= 10 + most
        assert max(steps[1:]) <= most
        assert [carried_out(each) for each in crowd] == [[str(number) for number in range(100)]] * 10


async def test_no_turn_carries_out_much_where_many_clients_send_a_few_texts_at_once(
    framing: Framing, mock_clock: trio.testing.MockClock
) -> None:
    """Ten clients that renamed themselves a thousand times a second once took 12 ms of a turn."""
    async with connections() as world:
        crowd = [await world.connect(framing) for _ in range(40)]
        with added_each_turn(Told(*crowd)) as steps:
            for each in crowd:
                each.say(*"abcd")
            await world.quiet()
        assert steps[0] <= 40 + 16
        assert max(steps[1:]) <= 16
        assert [answered(each.texts) for each in crowd] == [[*"abcd"]] * 40


async def test_where_turns_of_the_loop_are_long_more_is_done_in_each(
    mock_clock: trio.testing.MockClock,
) -> None:
    async def turns_for(seconds: float) -> int:
        with slow_turns(mock_clock, seconds) as seen:
            async with connections(idle=inf, turns=seen) as world:
                crowd = [await world.connect("lines") for _ in range(20)]
                for each in crowd:
                    floods(each, "lines", 100)
                return await turns(lambda: all(len(each.texts) == 100 for each in crowd))

    assert await turns_for(0.02) < await turns_for(0.0) / 2


# Limits.


async def test_client_over_its_rate_is_read_no_further_until_it_may_go_on(
    framing: Framing, autojump_clock: trio.testing.MockClock
) -> None:
    async with connections(rate=8, burst=2) as world:
        fast, other = await world.connect(framing), await world.connect(framing)
        begin = trio.current_time()
        fast.say("enter ann", *(str(number) for number in range(9)))
        other.say("enter bob")
        times: dict[int, float] = {}
        while len(fast.texts) < 11:
            await trio.sleep(0.01)
            times.setdefault(len(fast.texts), trio.current_time() - begin)
        assert answered(fast.texts) == [*"012345678"]
        assert min(times) == 3  # at once: `Entered`, `Started`, and the answer to 0
        assert 1.0 <= times[11] < 1.2
        assert all(after - before <= 2 for before, after in zip(times, [*times][1:], strict=False))
        assert other.texts == ["Entered", "Started"]
        assert {*world.counts} == {("limit_messages-per-second", "toy")}


async def test_pings_are_no_messages(autojump_clock: trio.testing.MockClock) -> None:
    async with connections(rate=1, burst=2) as world:
        ann = await world.connect("websocket")
        ann.send(frame(PING) * 100 + frame(PONG) * 100 + frame(TEXT, "x"))
        await world.quiet()
        assert answered(ann.texts) == ["x"]
        assert len(ann.frames) == 100


async def test_client_over_its_rate_that_is_hung_up_on_is_gone_at_once(framing: Framing) -> None:
    async with connections(rate=1e-6, burst=1) as world:
        fast = await world.connect(framing)
        fast.say("enter ann", "x")
        await world.quiet()
        assert fast.texts == ["Entered"]
        world.hub.close(trio.current_time())
        await world.quiet()
        assert fast.is_hung_up_on
        assert len(world.hub) == 0

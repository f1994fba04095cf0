"""Texts that a front end answers by itself, and what it tells a client that no event of its seat causes."""

from collections.abc import Sequence
from typing import Any

import pytest
import trio
import trio.testing
from worlds.connection import Framing, connections

from adapters.client.connection import Connection

pytestmark = pytest.mark.trio

Clock = trio.testing.MockClock


class Lists:
    """``?WORDS`` is answered with each of the words; ``?`` with none."""

    def __init__(self) -> None:
        self.clients: list[Connection[Any, Any]] = []
        """Who asked."""

    def answer(self, message: str, client: Connection[Any, Any]) -> Sequence[str] | None:
        if not message.startswith("?"):
            return None
        self.clients.append(client)
        return message[1:].split()


async def test_answers_come_in_the_order_of_the_texts(framing: Framing) -> None:
    async with connections(queries=Lists()) as world:
        ann = await world.connect(framing)
        ann.say("x", "?one two", "?", "y", "?three")
        await world.quiet()
        assert ann.texts == [
            "Refused NOT_ENTERED|UNFIT x",
            "one",
            "two",
            "Refused NOT_ENTERED|UNFIT y",
            "three",
        ]


async def test_answers_wait_for_the_result_that_is_told_before_them(framing: Framing) -> None:
    async with connections(queries=Lists()) as world:
        ann, bob = await world.game(framing)
        world.results.hold()
        ann.hangs_up()
        await world.quiet()
        bob.say("x", "?one two", "y")
        await world.quiet()
        assert bob.texts == []
        world.results.store()
        await world.quiet()
        assert bob.texts == [
            "Ended",
            "Refused NOT_ENTERED|UNFIT x",
            "one",
            "two",
            "Refused NOT_ENTERED|UNFIT y",
        ]


async def test_long_answers_that_wait_for_a_result_stop_the_reading(framing: Framing) -> None:
    async with connections(queries=Lists()) as world:
        ann, bob = await world.game(framing)
        world.results.hold()
        ann.hangs_up()
        await world.quiet()
        for _ in range(20):
            bob.say("?" + "a" * 1000)
            await world.quiet()
        assert bob.unread >= 10_000
        world.results.store()
        await world.quiet()
        assert bob.texts == ["Ended", *["a" * 1000] * 20]
        assert bob.unread == 0


async def test_client_can_be_told_more_later(framing: Framing) -> None:
    lists = Lists()
    async with connections(queries=lists) as world:
        ann = await world.connect(framing)
        ann.say("?")
        await world.quiet()
        lists.clients[0].tell(["later", "too"])
        await world.quiet()
        assert ann.packets == [["later", "too"]]


async def test_client_that_does_not_take_what_it_is_told_is_hung_up_on(
    framing: Framing, autojump_clock: Clock
) -> None:
    lists = Lists()
    async with connections(queries=lists) as world:
        ann = await world.connect(framing)
        ann.say("?")
        await world.quiet()
        ann.stops_reading()
        for _ in range(300):
            lists.clients[0].tell(["a" * 1000])
        await trio.sleep(60)
        assert len(world.hub) == 0
        assert ann.is_hung_up_on
        lists.clients[0].tell(["and nothing more"])


async def test_client_that_is_told_too_much_while_a_result_is_open_is_hung_up_on(framing: Framing) -> None:
    lists = Lists()
    async with connections(queries=lists) as world:
        ann, bob = await world.game(framing)
        bob.say("?")
        await world.quiet()
        world.results.hold()
        ann.hangs_up()
        await world.quiet()
        for _ in range(10_000):
            lists.clients[0].tell(["a"])
        await world.quiet()
        assert bob.is_hung_up_on


async def test_task_of_a_front_end_ends_with_the_connection(framing: Framing, autojump_clock: Clock) -> None:
    lists, ticks = Lists(), []

    async def tick() -> None:
        while True:
            ticks.append(trio.current_time())
            await trio.sleep(1)

    async with connections(queries=lists) as world:
        ann = await world.connect(framing)
        ann.say("?")
        await world.quiet()
        lists.clients[0].start_soon(tick)
        await trio.sleep(2.5)
        assert len(ticks) == 3
        ann.hangs_up()
        await trio.sleep(2.5)
        lists.clients[0].start_soon(tick)
        await trio.sleep(2.5)
        assert len(ticks) == 3

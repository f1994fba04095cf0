"""A bot that does not get on says what it waits for."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import trio

from adapters.bot.screen import FIRST, LATER, Phase, Waiting


@asynccontextmanager
async def waiting_at(phase: Phase | None, reason: str = "") -> AsyncIterator[tuple[Waiting, list[str]]]:
    said: list[str] = []
    waiting = Waiting({each: each.name for each in Phase}, said.append, reason)
    waiting.at(phase)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(waiting.run)
        yield waiting, said
        nursery.cancel_scope.cancel()


async def test_who_waits_long_says_so_after_some_seconds_and_then_seldom(autojump_clock: object) -> None:
    async with waiting_at(Phase.GREETING) as (_, said):
        for seconds, times in ((FIRST - 1, 0), (2, 1), (LATER - 2, 1), (2, 2), (10 * LATER, 12)):
            await trio.sleep(seconds)
            assert said == ["GREETING"] * times


async def test_who_waits_for_an_opponent_says_so_once_and_why_only_the_first_time(
    autojump_clock: object,
) -> None:
    async with waiting_at(Phase.LOOKING, "Bob is not bob") as (waiting, said):
        await trio.sleep(10 * LATER)
        assert said == ["LOOKING; Bob is not bob"]
        waiting.at(None)
        waiting.at(Phase.LOOKING)
        await trio.sleep(10 * LATER)
        assert said[1:] == ["LOOKING"]


async def test_who_gets_on_says_nothing(autojump_clock: object) -> None:
    async with waiting_at(Phase.DIALLING) as (waiting, said):
        for phase in (Phase.GREETING, Phase.LOOKING, None, Phase.LOOKING, None):
            await trio.sleep(FIRST - 1)
            waiting.at(phase)
        await trio.sleep(10 * LATER)
        assert said == []
        waiting.at(Phase.LOOKING)
        await trio.sleep(FIRST - 1)
        waiting.at(Phase.LOOKING)
        await trio.sleep(2)
        assert said == ["LOOKING"]

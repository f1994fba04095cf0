"""When the server is asked to tell what happens, and how those wait who watch."""

import gc
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TypeAlias

import pytest
import trio
import trio.testing
from live_world import Browser, events_in, game, identity, move

from adapters.web.live import live as live_module
from adapters.web.live.channel import Channel, Wanted
from adapters.web.live.live import KEPT, PATIENCE, TICK, Live, UnavailableError
from gateway.game.fact_encoding import encode_fact

Clock: TypeAlias = trio.testing.MockClock
ALL = Wanted()


class Server:
    """Tells what is on when it is asked to, unless a test keeps it silent."""

    def __init__(self) -> None:
        self.asked: list[int] = []
        self.on: list[bytes] = []
        self.is_silent = False
        self.live = Live("run", self.watch)

    async def watch(self, number: int) -> None:
        await trio.lowlevel.checkpoint()
        self.asked.append(number)
        if number and not self.is_silent:
            self.live.begin(number)
            self.tell(*self.on)
            self.live.complete()

    def tell(self, *facts: bytes) -> None:
        self.live.hear(facts)


@asynccontextmanager
async def serving() -> AsyncIterator[Server]:
    server = Server()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(server.live.run)
        yield server
        nursery.cancel_scope.cancel()


async def test_server_is_asked_while_somebody_watches_and_for_some_seconds_after(
    autojump_clock: Clock,
) -> None:
    async with serving() as server:
        await trio.sleep(1000)
        assert server.asked == []
        async with server.live.viewer(ALL), server.live.viewer(Wanted(most=1)):
            await trio.sleep(1000)
        assert server.asked == [1]
        await trio.sleep(KEPT - TICK)
        assert server.asked == [1]
        await trio.sleep(3 * TICK)
        assert server.asked == [1, 0]
        await server.live.state(ALL)
        assert server.asked == [1, 0, 2]


async def test_viewer_is_woken_by_the_next_event(autojump_clock: Clock) -> None:
    async with serving() as server, server.live.viewer(ALL) as channel, trio.open_nursery() as nursery:
        number = channel.number
        nursery.start_soon(channel.news.park)
        await trio.sleep(0.1)
        assert len(nursery.child_tasks) == 1
        server.tell(encode_fact(game(1)), encode_fact(move(1, 0)))
        await trio.testing.wait_all_tasks_blocked()
        assert len(nursery.child_tasks) == 0
        assert [kind for _, kind, _ in events_in(channel.since(number, 0.0))] == ["started", "moved"]


async def test_viewer_that_comes_again_goes_on_where_it_was(autojump_clock: Clock) -> None:
    browser = Browser()
    async with serving() as server:
        for number in range(3):
            async with server.live.viewer(ALL) as channel:
                browser.read(channel.since(channel.number_in(browser.last), trio.current_time()))
            server.tell(encode_fact(game(number)))
            await trio.sleep(KEPT - 2 * TICK)
    assert [kind for kind in browser.kinds if kind != "counts"] == ["snapshot", "started", "started"]


async def test_what_was_told_for_an_earlier_request_changes_nothing(autojump_clock: Clock) -> None:
    async with serving() as server:
        server.on = [encode_fact(game(1))]
        await server.live.state(ALL)
        await trio.sleep(2 * KEPT)
        server.is_silent = True
        server.live.begin(1)
        server.tell(*server.on)
        server.live.complete()
        server.tell(encode_fact(move(1, 0)))
        with pytest.raises(UnavailableError):
            await server.live.state(ALL)
        server.is_silent, server.on = False, [encode_fact(game(2))]
        await server.watch(server.asked[-1])
        assert [each["game"] for each in (await server.live.state(ALL))["games"]] == [identity(2)]


async def test_first_viewer_waits_until_all_is_told_but_not_for_ever(autojump_clock: Clock) -> None:
    async with serving() as server:
        server.on = [encode_fact(game(1))]
        state = await server.live.state(ALL)
        assert [each["game"] for each in state["games"]] == [identity(1)]
        await trio.sleep(2 * KEPT)
        server.is_silent = True
        begun_at = trio.current_time()
        with pytest.raises(UnavailableError):
            await server.live.state(ALL)
        assert trio.current_time() - begun_at == pytest.approx(PATIENCE)


async def test_viewers_are_bounded_and_one_who_goes_makes_room(
    autojump_clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live_module, "VIEWERS", 1)
    async with serving() as server:
        for _ in range(2):
            async with server.live.viewer(ALL):
                with pytest.raises(UnavailableError):
                    async with server.live.viewer(ALL):
                        pass


async def test_nothing_is_left_of_viewers_who_have_gone(autojump_clock: Clock) -> None:
    async with serving() as server, server.live.viewer(ALL) as last:
        await trio.sleep(2 * TICK)  # from here on nothing happens
        for number in range(300):
            wanted = Wanted(player=f"p{number}") if number % 2 else ALL
            async with server.live.viewer(wanted) as channel:
                channel.since(None, 0.0)
                with trio.move_on_after(0.001):
                    await channel.news.park()
        await trio.sleep(2 * KEPT)
        del channel
        gc.collect()
        assert [each for each in gc.get_objects() if isinstance(each, Channel)] == [last]
        assert (server.live.watching, len(server.live.channels), len(last.news)) == (1, 1, 0)

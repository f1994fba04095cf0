"""Games that are finished before the server stops."""

import logging
import random
from functools import partial

import pytest
import trio
from trio.testing import MockClock

from gateway.game.clock import Terms
from gateway.game.commands import AtTable, Enter, Leave
from gateway.game.events import Dismissed, Event, Why
from gateway.game.manners import Afterwards, Illegal, Manners
from gateway.hub.hub import Hub
from gateway.hub.seats import Seat
from gateway.matchmaking.standard import LobbyAndTables
from gateway.server.app import drain

MANNERS = Manners(illegal=Illegal.RETRY, afterwards=Afterwards.STEP_OUT)


class Player:
    """A mailbox that notes when it got its good-bye."""

    is_reachable = True

    def __init__(self, hub: Hub, name: str, table: str) -> None:
        self.hung_up: float | None = None
        self.seat: Seat = hub.open(self, MANNERS, trio.current_time())
        hub.submit(self.seat, Enter(AtTable(table), name), trio.current_time())

    def deliver(self, event: Event) -> None:
        if event == Dismissed(Why.STOPPED):
            self.hung_up = trio.current_time()

    async def settle(self) -> None:
        await trio.lowlevel.checkpoint()

    def resume(self) -> None:
        pass


@pytest.fixture
def hub() -> Hub:
    return Hub(Terms(), LobbyAndTables(random.Random(0)))


def told(caplog: pytest.LogCaptureFixture) -> list[tuple[int, str]]:
    return [(record.levelno, record.getMessage()) for record in caplog.records]


async def test_drain_of_a_server_where_nobody_plays_is_over_at_once(
    autojump_clock: MockClock, hub: Hub, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    waiting = [Player(hub, f"ann {number}", f"table {number}") for number in range(300)]
    begin = trio.current_time()
    await drain(hub, 60, trio.sleep_forever)
    assert trio.current_time() - begin < 1
    assert all(player.hung_up == begin for player in waiting)
    assert told(caplog) == [(logging.INFO, "drained: all games are over")]


async def test_drain_ends_soon_after_the_last_game(autojump_clock: MockClock, hub: Hub) -> None:
    ann, _ = Player(hub, "ann", "x"), Player(hub, "bob", "x")

    async def leave() -> None:
        await trio.sleep(20)
        hub.submit(ann.seat, Leave(), trio.current_time())

    begin = trio.current_time()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(leave)
        await drain(hub, 60, trio.sleep_forever)
    assert 20 <= trio.current_time() - begin < 21


async def test_drain_takes_no_longer_than_it_may(
    autojump_clock: MockClock, hub: Hub, caplog: pytest.LogCaptureFixture
) -> None:
    players = [Player(hub, "ann", "x"), Player(hub, "bob", "x")]
    begin = trio.current_time()
    await drain(hub, 60, trio.sleep_forever)
    assert trio.current_time() - begin == 60
    assert [player.hung_up for player in players] == [None, None]
    assert told(caplog) == [(logging.WARNING, "drained: 2 players are cut off")]


async def test_second_request_ends_the_drain_at_once(autojump_clock: MockClock, hub: Hub) -> None:
    for name in ("ann", "bob"):
        Player(hub, name, "x")
    begin = trio.current_time()
    await drain(hub, 60, partial(trio.sleep, 5))
    assert trio.current_time() - begin == 5


async def test_other_tasks_run_between_two_good_byes(autojump_clock: MockClock, hub: Hub) -> None:
    players = [Player(hub, f"ann {number}", f"table {number}") for number in range(50)]
    seen = set[int]()

    async def watch() -> None:
        while (left := sum(player.hung_up is None for player in players)) > 0:
            seen.add(left)
            await trio.lowlevel.checkpoint()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(watch)
        await drain(hub, 60, trio.sleep_forever)
    assert len(seen) >= 25  # tasks take their turns in any order, so it may miss every other one

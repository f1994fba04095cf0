"""Whether results are taken in, however often that is asked."""

import trio
from web_world import Idle

from adapters.web.health import FRESH, LASTING, PATIENCE, Health
from adapters.web.link import Condition
from gateway.store import StoreError


class Database:
    """Takes what it is given, or not, after some seconds."""

    def __init__(self) -> None:
        self.tries = 0
        self.takes = True
        self.seconds = 0.0

    async def probe(self) -> None:
        self.tries += 1
        await trio.sleep(self.seconds)
        if not self.takes:
            raise StoreError("disk full")


async def test_many_who_ask_cost_one_try(autojump_clock: trio.abc.Clock) -> None:
    database = Database()
    health = Health(Idle().condition, database.probe)
    database.seconds = 0.1
    async with trio.open_nursery() as nursery:
        for _ in range(100):
            nursery.start_soon(health.condition)
    assert database.tries == 1
    await trio.sleep(LASTING)
    assert await health.condition() == {"ok": True, "waiting": 0}
    assert database.tries == 2


async def test_many_who_ask_cost_the_server_one_answer(autojump_clock: trio.abc.Clock) -> None:
    asked = 0

    async def server() -> Condition:
        nonlocal asked
        asked += 1
        return Condition(1, asked, False)

    health = Health(server, Database().probe)
    for _ in range(100):
        assert await health.condition() == {"ok": True, "waiting": 1}
    await trio.sleep(FRESH)
    assert await health.condition() == {"ok": True, "waiting": 2}


async def test_server_that_drains_is_not_well(autojump_clock: trio.abc.Clock) -> None:
    async def server() -> Condition:
        return Condition(1, 3, False, is_draining=True)

    condition = await Health(server, Database().probe).condition()
    error = "the server drains and admits no players"
    assert condition == {"ok": False, "waiting": 3, "error": error, "draining": True}


async def test_server_that_does_not_answer_is_told_of_in_time(autojump_clock: trio.abc.Clock) -> None:
    async def server() -> Condition:
        await trio.sleep_forever()
        raise AssertionError

    begin = trio.current_time()
    condition = await Health(server, Database().probe).condition()
    assert condition == {"ok": False, "error": "the server does not answer"}
    assert trio.current_time() - begin == PATIENCE


async def test_what_fails_is_told_until_it_works_again(autojump_clock: trio.abc.Clock) -> None:
    database = Database()
    health = Health(Idle().condition, database.probe)
    database.takes = False
    assert await health.condition() == {"ok": False, "waiting": 0, "error": "the database takes no results"}
    database.takes = True
    assert not (await health.condition())["ok"]
    await trio.sleep(LASTING)
    assert await health.condition() == {"ok": True, "waiting": 0}


async def test_database_that_does_not_answer_is_told_of_in_time(autojump_clock: trio.abc.Clock) -> None:
    database = Database()
    database.seconds = 1e6
    health = Health(Idle().condition, database.probe)
    begin = trio.current_time()
    assert await health.condition() == {"ok": False, "waiting": 0, "error": "the database does not answer"}
    assert trio.current_time() - begin == PATIENCE

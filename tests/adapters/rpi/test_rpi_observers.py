"""What observers are told, and what is answered to questions, from the first question on."""

from collections.abc import Awaitable, Callable, Sequence
from typing import cast

import pytest
import trio
import trio.testing
from worlds.hub import DRAWN, HANGING_UP, STANDING_BY, STEPPING_OUT, TABLE, Client, World, wishing

from adapters.rpi.messages import (
    ClientMessage,
    Connect,
    Get,
    ListGames,
    ListPlayers,
    Observe,
    Ping,
    Ready,
    Watch,
)
from adapters.rpi.observers import MOST_LISTED, Observers, RpiConnection
from gateway.game.commands import AtTable, Introduce
from gateway.game.events import Started
from gateway.game.ids import number_in

pytestmark = pytest.mark.trio
PERIOD = 0.1


class Reader:
    """A client's connection, as far as its front end uses it."""

    def __init__(self, nursery: trio.Nursery) -> None:
        self.has_name = False
        self.texts: list[str] = []
        self.scope = trio.CancelScope()
        self._nursery = nursery

    def tell(self, texts: Sequence[str]) -> None:
        self.texts += texts

    def start_soon(self, work: Callable[[], Awaitable[object]]) -> None:
        async def scoped() -> None:
            with self.scope:
                await work()

        self._nursery.start_soon(scoped)

    @property
    def connection(self) -> RpiConnection:
        return cast("RpiConnection", self)

    async def news(self) -> list[str]:
        """Return what it was told since the last call, a while later."""
        await trio.sleep(2 * PERIOD)
        news, self.texts = self.texts, []
        return news


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture
def observers(world: World) -> Observers:
    return Observers(world.hub)


@pytest.fixture
def reader(nursery: trio.Nursery, autojump_clock: trio.testing.MockClock) -> Reader:
    return Reader(nursery)


def ask(observers: Observers, reader: Reader, message: ClientMessage) -> list[str]:
    answer = observers.answer(message, reader.connection)
    assert answer is not None
    return [*answer]


def started(player: Client) -> str:
    return player.last(Started).game


async def test_command_is_no_question(observers: Observers, reader: Reader) -> None:
    for message in (Connect("ann"), Ready()):
        assert observers.answer(message, reader.connection) is None


async def test_settings_and_pings_need_no_state(observers: Observers, reader: Reader) -> None:
    assert ask(observers, reader, Get("MOVE_WAIT")) == ["GET:MOVE_WAIT:0"]
    assert ask(observers, reader, Get("x")) == ["ERROR:INVALID:GET"]
    assert ask(observers, reader, Ping()) == []


@pytest.mark.parametrize("observes", [False, True])
async def test_lists_and_games_are_right_whenever_they_are_asked_for(
    world: World, observers: Observers, reader: Reader, observes: bool
) -> None:
    if observes:
        ask(observers, reader, Observe())
    ann, bob = world.pair(STANDING_BY, STEPPING_OUT)
    world.play("34", (ann, bob))
    number = number_in(started(ann))
    assert ask(observers, reader, ListGames()) == [f"GAME:LIST:{number},ann,bob"]
    assert ask(observers, reader, ListPlayers()) == ["PLAYER:LIST:ann,false,true|bob,false,true"]
    watched = f"GAME:WATCH:ACK:{number},ann,bob|ann,3|bob,4"
    assert ask(observers, reader, Watch(number)) == [watched]
    world.play("5", (ann,))
    assert ask(observers, reader, Watch(number)) == [f"{watched}|ann,5"]
    bob.leave()
    assert ask(observers, reader, ListGames()) == ["GAME:LIST:"]
    assert ask(observers, reader, ListPlayers()) == ["PLAYER:LIST:ann,true,false"]
    assert ask(observers, reader, Watch(number)) == ["ERROR:INVALID:WATCH"]


async def test_player_with_another_name_still_waits_or_plays(
    world: World, observers: Observers, reader: Reader
) -> None:
    ask(observers, reader, Observe())
    ann = world.player(HANGING_UP, "ann", TABLE)
    await reader.news()
    ann.say(Introduce("eve"))
    assert await reader.news() == ["DISCONNECT:ann", "CONNECT:eve", "READY:eve:true"]
    assert ask(observers, reader, ListPlayers()) == ["PLAYER:LIST:eve,true,false"]
    bob = world.player(STEPPING_OUT, "bob", TABLE)
    ann.say(Introduce("ann"))
    assert ask(observers, reader, ListPlayers()) == ["PLAYER:LIST:ann,false,true|bob,false,true"]
    bob.leave()
    assert ask(observers, reader, ListPlayers()) == ["PLAYER:LIST:ann,false,false"]


async def test_two_of_one_name_differ_and_so_do_a_draw_and_no_result(
    world: World, observers: Observers, reader: Reader
) -> None:
    ask(observers, reader, Observe())
    players = [world.player(STEPPING_OUT, "ann", TABLE) for _ in range(2)]
    number = number_in(started(players[0]))
    world.play(DRAWN, players)
    news = await reader.news()
    assert f"GAME:START:{number},ann,ann_" in news
    assert news[-2:] == [f"GAME:{number}:MOVE:ann_:3", f"GAME:{number}:DRAW"]
    for each in players:
        each.enter(TABLE, "ann")
    players[0].leave()
    assert f"GAME:{number + 1}:TERMINATED" in await reader.news()


async def test_end_of_a_game_that_comes_late_ends_no_later_one(
    world: World, observers: Observers, reader: Reader
) -> None:
    world.kept.is_slow = True
    ask(observers, reader, Observe())
    ann, bob = world.pair(STEPPING_OUT, STEPPING_OUT)
    game = started(ann)
    world.play("0101010", (ann, bob))
    for each, name in ((ann, "ann"), (bob, "bob")):
        each.enter(TABLE, name)
    world.kept.store(game)
    world.hub.feed.tell_ends()
    assert ask(observers, reader, ListPlayers()) == ["PLAYER:LIST:ann,false,true|bob,false,true"]


async def test_all_observers_are_told_the_same_together(
    world: World, observers: Observers, nursery: trio.Nursery, autojump_clock: trio.testing.MockClock
) -> None:
    readers = [Reader(nursery) for _ in range(3)]
    for each in readers:
        assert ask(observers, each, Observe()) == ["OBSERVE:ACK:1"]
    ann = world.nac4("a:nn", TABLE)
    assert [await each.news() for each in readers] == [["CONNECT:a_nn", "READY:a_nn:true"]] * 3
    bob = world.arena("bob", TABLE)
    number = number_in(started(ann))
    readers[0].scope.cancel()  # whose task might have been the one to tell the others
    observers.forget(readers[0].connection)
    world.play("0101010", (ann, bob))
    news = [await each.news() for each in readers]
    assert news[0] == []
    assert news[1] == news[2]
    moves = [
        f"GAME:{number}:MOVE:{('a_nn', 'bob')[ply % 2]}:{column}" for ply, column in enumerate("0101010")
    ]
    assert news[1][:-1] == [
        *("CONNECT:bob", "READY:bob:true", f"GAME:START:{number},a_nn,bob"),
        *("READY:a_nn:false", "READY:bob:false", *moves),
        *(f"GAME:{number}:WIN:a_nn",),
    ]
    assert news[1][-1] == "READY:a_nn:true"


async def test_observer_is_told_no_more_once_it_asks_for_that_or_plays(
    world: World, observers: Observers, nursery: trio.Nursery, autojump_clock: trio.testing.MockClock
) -> None:
    one, two, _ = readers = [Reader(nursery) for _ in range(3)]
    for each in readers:
        ask(observers, each, Observe())
    assert ask(observers, one, Observe()) == ["OBSERVE:ACK:0"]
    two.has_name = True
    world.nac4("ann")
    assert [bool(await each.news()) for each in readers] == [False, False, True]
    assert ask(observers, two, Observe()) == ["ERROR:INVALID:OBSERVE"]
    assert ask(observers, one, Observe()) == ["OBSERVE:ACK:1"]
    world.nac4("bob")
    assert "CONNECT:bob" in await one.news()


async def test_hub_makes_facts_for_observers_only_while_there_are_any(
    world: World, observers: Observers, reader: Reader
) -> None:
    assert not world.hub.feed.moves
    ask(observers, reader, ListPlayers())
    assert world.hub.feed.moves
    observers.forget(reader.connection)
    assert not world.hub.feed.moves
    world.nac4("ann")
    assert ask(observers, reader, ListPlayers()) == ["PLAYER:LIST:ann,true,false"]


async def test_observers_that_fell_behind_are_told_everything(
    world: World, observers: Observers, reader: Reader
) -> None:
    ask(observers, reader, Observe())
    ann, bob = world.pair(STANDING_BY, STEPPING_OUT)
    world.play("34", (ann, bob))
    number = number_in(started(ann))
    others = [world.client(STEPPING_OUT) for _ in range(600)]
    for at, each in enumerate(others):  # two facts each, which is too much at once
        each.enter(AtTable(f"t{at}"), f"p{at}")
    players, games, *watched = await reader.news()
    assert players.startswith("PLAYER:LIST:ann,false,true|bob,false,true|p0,true,false|")
    assert players.count("|") == 601
    assert games == f"GAME:LIST:{number},ann,bob"
    assert watched == [f"GAME:WATCH:ACK:{number},ann,bob|ann,3|bob,4"]
    world.play("5", (ann,))
    assert await reader.news() == [f"GAME:{number}:MOVE:ann:5"]


async def test_lists_are_short_enough(world: World, observers: Observers, reader: Reader) -> None:
    for at in range(MOST_LISTED + 50):
        world.client(STEPPING_OUT).enter(AtTable(f"t{at}"), f"p{at}")
    (text,) = ask(observers, reader, ListPlayers())
    assert text.count("|") == MOST_LISTED - 1
    for at in range(400):
        world.client(STEPPING_OUT).enter(wishing("nobody"), f"{at}" + "x" * 250)
    observers.forget(reader.connection)
    (text,) = ask(observers, reader, ListPlayers())
    assert len(text) < 65_000


async def test_end_of_a_game_that_nobody_was_told_of_is_no_news(
    world: World, observers: Observers, reader: Reader
) -> None:
    world.kept.is_slow = True
    ann, bob = world.pair(STANDING_BY, STEPPING_OUT)
    world.play("0101010", (ann, bob))  # its end is published when it is stored
    ask(observers, reader, Observe())
    world.kept.store(started(ann))
    world.hub.feed.tell_ends()
    assert await reader.news() == []

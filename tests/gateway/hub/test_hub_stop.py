"""How a hub ends: it lets the games that are on be finished, or cuts them off, and begins no other."""

import pytest
from worlds.hub import (
    FIRST_WINS,
    LOBBY,
    MANNERS,
    STANDING_BY,
    STEPPING_OUT,
    TABLE,
    House,
    World,
    wishing,
)

from gateway.game.commands import Ask, Enter, Leave, Play
from gateway.game.events import Dismissed, Ended, Entered, Reason, Refused, ToMove, Why
from gateway.game.manners import Manners

STOPPED = Dismissed(Why.STOPPED)


@pytest.fixture
def world() -> World:
    return World(clock=10.0)


def let_go(world: World) -> int:
    """Say good-bye to all who do not play; return how many they were."""
    return sum(world.hub.let_go(seat, world.now) for seat in world.hub.seats())


# The close.


def test_close_hangs_up_on_everybody_once_and_nothing_happens_afterwards(world: World) -> None:
    clients = [world.nac4("ann"), world.nac4("bob"), world.arena("cid"), world.client(STANDING_BY)]
    clients += [world.droidcon("eve", TABLE), world.arena("fay", TABLE)]
    world.play("3", clients[:2])
    world.play(FIRST_WINS, clients[4:])
    for client in clients:
        client.news()
    world.now = 4.0
    for _ in range(2):
        world.hub.close(world.now)
    assert [client.news() for client in clients] == [[STOPPED]] * len(clients)
    assert len(world.hub) == 0
    world.wait(100)
    for client in clients:
        for command in (Play(0), Ask(), Enter(LOBBY, "x"), Leave()):
            assert client.say(command) == []
        world.hub.flag(client.seat, world.now)
    cut_off = world.results[1:]
    assert [(each.winner, each.reason, each.counted, each.ended) for each in cut_off] == [
        (None, Reason.STOPPED, False, 4.0)
    ]


def test_flag_that_was_named_before_the_close_falls_nowhere(world: World) -> None:
    ann, bob = world.nac4("ann"), world.nac4("bob")
    mover = ann if ann.request is not None else bob
    mover.hand()
    (seat,) = world.hub.tick(10)
    world.hub.close(world.now)
    world.hub.flag(seat, 10)
    world.hub.handed(mover.seat, mover.last(ToMove), 11)
    assert world.hub.tick(100) == []
    assert [result.reason for result in world.results] == [Reason.STOPPED]


@pytest.mark.parametrize("drains", [True, False])
def test_who_comes_later_is_hung_up_on_at_once(world: World, drains: bool) -> None:
    assert not world.hub.is_draining
    if drains:
        world.hub.drain()
    else:
        world.hub.close(world.now)
    assert world.hub.is_draining == drains
    client = world.client(STANDING_BY)
    assert client.news() == [STOPPED]
    assert client.enter(LOBBY, "ann") == []
    assert len(world.hub) == 0


# Games that are finished.


@pytest.mark.parametrize("one", MANNERS.values(), ids=MANNERS)
@pytest.mark.parametrize("two", MANNERS.values(), ids=MANNERS)
def test_game_is_played_to_its_end_and_no_other_begins(world: World, one: Manners, two: Manners) -> None:
    players = world.pair(one, two)
    world.play("01", players)
    world.hub.drain()
    assert let_go(world) == 0
    world.play(FIRST_WINS[2:], players)
    assert [(result.reason, result.counted) for result in world.results] == [(Reason.FOUR, True)]
    for client in players:
        client.enter(TABLE, client.seat.name)
    world.wait(5)
    assert let_go(world) == 2
    assert len(world.hub) == 0
    assert [(client.games, len(client.all(Ended)), client.last(Dismissed)) for client in players] == [
        (1, 1, STOPPED)
    ] * 2


def test_whoever_plays_none_is_hung_up_on_once_and_whoever_plays_is_not(world: World) -> None:
    playing = [world.nac4("ann"), world.nac4("bob")]
    others = [world.droidcon("dan", TABLE), world.client(STEPPING_OUT)]
    seats = world.hub.seats()
    for client in (*playing, *others):
        client.news()
    world.hub.drain()
    assert sum(world.hub.let_go(seat, world.now) for seat in seats * 2) == 2
    assert [client.news() for client in others] == [[STOPPED]] * 2
    assert [client.news() for client in playing] == [[], []]


def test_who_asks_to_enter_is_answered_and_gets_no_game(world: World) -> None:
    playing, _ = world.arena("ann"), world.arena("bob")
    waiting = world.arena("cid")
    wishing_late, asking_for_house = world.client(STEPPING_OUT), world.client(STEPPING_OUT)
    House(world, lobby="random")
    world.hub.drain()
    assert [type(event) for event in playing.say(Enter(LOBBY, "ann"))] == [Refused]
    assert not playing.held
    assert wishing_late.enter(wishing("cid"), "dan") == [Entered("dan")]
    assert asking_for_house.enter(wishing("random"), "eve") == [Entered("eve")]
    world.wait(10)
    assert [each.games for each in (waiting, wishing_late, asking_for_house)] == [0, 0, 0]
    assert let_go(world) == 3

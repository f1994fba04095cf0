"""What the hub makes of the lobby's pairs: who waits again by itself, who asks, and what counts."""

import pytest
from worlds.hub import FIRST_WINS, LOBBY, STANDING_BY, STEPPING_OUT, Client, World, wishing

from gateway.game.events import Entered, Reason


@pytest.fixture
def world() -> World:
    return World()


def play_out(world: World, *players: Client) -> None:
    world.play(FIRST_WINS, players)


@pytest.mark.parametrize("cap", [1, 3])
def test_who_stands_by_is_paired_again_by_itself_so_often_under_its_name(cap: int) -> None:
    world = World(games_per_pair=cap)
    ann, bob = world.pair(STANDING_BY, STANDING_BY, LOBBY)
    for _ in range(2 * cap):
        play_out(world, ann, bob)
        world.wait(1.1)
    assert (ann.games, ann.plays, len(world.results)) == (2 * cap, False, 2 * cap)
    for client in (ann, bob):
        client.leave()
    again = world.pair(STANDING_BY, STANDING_BY, LOBBY)
    assert [client.games for client in again] == [0, 0]


def test_game_that_one_wished_for_goes_beyond_so_many() -> None:
    world = World(games_per_pair=1)
    ann, bob = world.nac4("ann", wishing("bob")), world.nac4("bob")
    for _ in range(6):
        play_out(world, ann, bob)
    assert ann.games == 7


def test_who_steps_out_is_out_until_it_asks_again_for_whom_and_as_whom_it_likes(world: World) -> None:
    ann, bob = world.pair(STEPPING_OUT, STEPPING_OUT, LOBBY)
    play_out(world, ann, bob)
    world.nac4("cid")
    world.wait(20)
    assert ann.games == bob.games == 1
    assert ann.enter(LOBBY, "ann")[0] == Entered("ann")
    assert ann.opponent == "cid"
    bob.enter(wishing("zoe"), "eve")
    assert bob.games == 1
    world.arena("zoe", wishing("eve"))
    assert bob.opponent == "zoe"


@pytest.mark.parametrize("leaves", [True, False])
def test_who_steps_out_may_ask_again_at_once(world: World, leaves: bool) -> None:
    ann, bob = world.pair(STEPPING_OUT, STEPPING_OUT, LOBBY)
    if leaves:
        bob.leave()
        bob = world.client(STEPPING_OUT)
    else:
        play_out(world, ann, bob)
    assert ann.enter(LOBBY, "ann") == [Entered("ann")]
    bob.enter(LOBBY, "bob")
    assert (ann.games, bob.opponent) == (2, "ann")


def test_aborted_game_is_remembered_as_a_meeting(world: World) -> None:
    ann, bob = world.pair(STANDING_BY, STEPPING_OUT, LOBBY)
    bob.leave()
    assert [result.reason for result in world.results] == [Reason.ABORTED]
    for name in ("bob", "cid"):
        world.arena(name, wishing("ann"))
    world.wait(0.6)
    assert ann.opponent == "cid"

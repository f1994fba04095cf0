"""Nobody is paired whose player cannot be reached, and nobody loses its place by that."""

import pytest
from worlds.hub import (
    FIRST_WINS,
    HANGING_UP,
    LOBBY,
    MANNERS,
    STANDING_BY,
    STEPPING_OUT,
    TABLE,
    House,
    World,
    wishing,
)

from gateway.game.commands import Introduce, Place
from gateway.game.events import Ended, Reason
from gateway.game.manners import Manners

places = pytest.mark.parametrize("place", [LOBBY, TABLE], ids=["lobby", "table"])


@pytest.fixture
def world() -> World:
    return World()


@pytest.mark.parametrize("manners", MANNERS.values(), ids=MANNERS)
@places
def test_who_cannot_be_reached_gets_no_game_until_it_can(
    world: World, manners: Manners, place: Place
) -> None:
    ann = world.player(manners, "ann", place)
    ann.is_reachable = False
    bob = world.player(manners, "bob", place)
    world.wait(10)
    assert (ann.games, bob.games) == (0, 0)
    ann.is_reachable = True
    world.wait(1.1)
    assert (ann.games, bob.games) == (1, 1)


@places
def test_two_who_cannot_be_reached_are_both_looked_for(world: World, place: Place) -> None:
    ann, bob = world.arena("ann", wishing("bob") if place == LOBBY else place), world.client(STEPPING_OUT)
    ann.is_reachable = bob.is_reachable = False
    bob.enter(place, "bob")
    for client, games in ((ann, 0), (bob, 1)):
        world.wait(2.5)
        client.is_reachable = True
        world.wait(2.5)
        assert (ann.games, bob.games) == (games, games)


def test_opponent_of_one_who_cannot_be_reached_gets_the_next_best_at_once(world: World) -> None:
    ann, _ = (world.arena(name, wishing("dan")) for name in ("ann", "bob"))
    ann.is_reachable = False
    assert world.arena("dan").opponent == "bob"
    assert ann.games == 0


def test_one_who_was_not_there_keeps_its_place(world: World) -> None:
    ann = world.arena("ann", wishing("dan"))
    world.wait(1)
    bob = world.arena("bob", wishing("dan"))
    ann.is_reachable = bob.is_reachable = False
    dan = world.arena("dan")
    world.wait(1.5)
    ann.is_reachable = bob.is_reachable = True
    world.wait(2)
    assert dan.opponent == "ann"


def test_place_among_those_of_one_name_is_kept(world: World) -> None:
    bob = world.client(STEPPING_OUT)
    bob.is_reachable = False
    first, second = world.droidcon("ann"), world.droidcon("ann")
    first.is_reachable = False
    bob.enter(LOBBY, "bob")
    first.is_reachable = True
    world.wait(1.5)
    bob.is_reachable = True
    world.wait(1.5)
    assert (first.games, second.games, bob.games) == (1, 0, 1)


@pytest.mark.parametrize("place", [LOBBY, wishing("random")], ids=["lonely", "wish"])
def test_house_player_comes_to_nobody_who_cannot_be_reached(world: World, place: Place) -> None:
    house, ann = House(world, lobby="random"), world.client(STEPPING_OUT)
    ann.is_reachable = False
    ann.enter(place, "ann")
    world.wait(20)
    assert house.players == []
    ann.is_reachable = True
    world.wait(6)
    assert ann.opponent == "random"


def test_player_who_lost_on_time_and_cannot_be_reached_is_not_paired_again() -> None:
    world = World(clock=2)
    ann, bob = world.pair(STANDING_BY, STANDING_BY)
    ann.hand()
    ann.is_reachable = False
    world.wait(10)
    assert bob.last(Ended).reason is Reason.TIME
    assert (ann.games, bob.games) == (1, 1)


def test_round_of_a_series_waits_for_nobody(world: World) -> None:
    ann, bob = world.pair(HANGING_UP, HANGING_UP)
    ann.is_reachable = False
    world.play(FIRST_WINS, (ann, bob))
    assert ann.games == 2


def test_one_who_leaves_while_it_is_looked_for_leaves_nothing_behind(world: World) -> None:
    ann = world.nac4("ann")
    ann.is_reachable = False
    world.nac4("bob")
    ann.leave()
    world.wait(3)
    assert len(world.hub) == 1
    assert world.nac4("ann").games == 1


def test_name_can_be_taken_while_it_is_looked_for(world: World) -> None:
    ann = world.droidcon("ann")
    ann.is_reachable = False
    bob = world.arena("bob")
    ann.say(Introduce("cid"))
    ann.is_reachable = True
    world.wait(2)
    assert bob.opponent == "cid"


def test_namesake_of_one_who_cannot_be_reached_plays_once_nobody_else_plays_under_its_name(
    world: World,
) -> None:
    player, _ = world.arena("ann"), world.arena("bob")
    bob, absent, present = world.droidcon("bob"), world.droidcon("ann"), world.droidcon("ann")
    absent.is_reachable = False
    player.leave()
    assert (bob.games, absent.games, present.games) == (1, 0, 1)

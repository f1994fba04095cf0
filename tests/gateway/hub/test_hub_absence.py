"""Nobody is paired whose player cannot be reached, and nobody loses its place by that."""

from collections.abc import Callable

import pytest
from test_hub_house import FakeHouse
from worlds.hub import FIRST_WINS, LOBBY, STEPPING_OUT, TABLE, Client, World, wishing

from gateway.game.commands import Introduce, Place
from gateway.game.events import Ended, Reason

Coming = Callable[[World, str, Place], Client]

comings = pytest.mark.parametrize("come", [World.nac4, World.arena, World.droidcon])
places = pytest.mark.parametrize("place", [LOBBY, TABLE], ids=["lobby", "table"])


@comings
@places
def test_player_who_cannot_be_reached_gets_no_game(come: Coming, place: Place) -> None:
    world = World()
    ann = come(world, "ann", place)
    ann.is_reachable = False
    bob = come(world, "bob", place)
    world.wait(10)
    assert (ann.games, bob.games) == (0, 0)


@comings
@places
def test_player_who_can_be_reached_again_plays_within_a_second(come: Coming, place: Place) -> None:
    world = World()
    ann = come(world, "ann", place)
    ann.is_reachable = False
    bob = come(world, "bob", place)
    world.wait(3.5)
    ann.is_reachable = True
    world.wait(1.1)
    assert (ann.games, bob.games) == (1, 1)


@places
def test_two_who_cannot_be_reached_are_both_looked_for(place: Place) -> None:
    world = World()
    ann, bob = world.arena("ann", wishing("bob") if place == LOBBY else place), world.client(STEPPING_OUT)
    ann.is_reachable = bob.is_reachable = False
    bob.enter(place, "bob")
    world.wait(2.5)
    ann.is_reachable = True
    world.wait(2.5)
    assert ann.games == 0
    bob.is_reachable = True
    world.wait(2.1)
    assert ann.games == bob.games == 1


def test_others_are_paired_past_one_who_cannot_be_reached() -> None:
    world = World()
    ann = world.nac4("ann")
    ann.is_reachable = False
    bob, cid = world.nac4("bob"), world.nac4("cid")
    assert (bob.opponent, cid.opponent) == ("cid", "bob")
    assert ann.games == 0


def test_opponent_of_one_who_cannot_be_reached_gets_the_next_best_at_once() -> None:
    world = World()
    ann = world.arena("ann", wishing("dan"))
    bob = world.arena("bob", wishing("dan"))
    ann.is_reachable = False
    dan = world.arena("dan")
    assert dan.opponent == "bob"
    assert (ann.games, bob.games) == (0, 1)


def test_one_who_was_not_there_keeps_its_place() -> None:
    world = World()
    ann = world.arena("ann", wishing("dan"))
    world.wait(1)
    bob = world.arena("bob", wishing("dan"))
    ann.is_reachable = bob.is_reachable = False
    dan = world.arena("dan")
    world.wait(1.5)
    ann.is_reachable = bob.is_reachable = True
    world.wait(2)
    assert dan.opponent == "ann"


def test_place_among_those_of_one_name_is_kept() -> None:
    world = World()
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


def test_house_player_comes_to_nobody_who_cannot_be_reached() -> None:
    world = World()
    house = FakeHouse(world)
    ann = world.client(STEPPING_OUT)
    ann.is_reachable = False
    ann.enter(wishing("random"), "ann")
    world.wait(2.5)
    assert house.players == []
    ann.is_reachable = True
    world.wait(1.1)
    assert ann.opponent == "random"


def test_house_player_comes_to_the_lonely_once_they_can_be_reached() -> None:
    world = World()
    house = FakeHouse(world, lobby="aima")
    ann = world.nac4("ann")
    ann.is_reachable = False
    world.wait(20)
    assert house.players == []
    ann.is_reachable = True
    world.wait(6)
    assert ann.opponent == "aima"


def test_player_who_lost_on_time_and_cannot_be_reached_is_not_paired_again() -> None:
    world = World(clock=2)
    ann, bob = world.nac4("ann"), world.nac4("bob")
    mover, other = (ann, bob) if ann.moves_first else (bob, ann)
    mover.hand()
    mover.is_reachable = False
    world.wait(10)
    assert other.last(Ended).reason is Reason.TIME
    assert (mover.games, other.games) == (1, 1)


def test_round_of_a_series_waits_for_nobody() -> None:
    world = World()
    ann, bob = world.droidcon("ann", TABLE), world.droidcon("bob", TABLE)
    ann.is_reachable = False
    world.play(FIRST_WINS, (ann, bob))
    assert ann.games == 2


def test_one_who_leaves_while_it_is_looked_for_leaves_nothing_behind() -> None:
    world = World()
    ann = world.nac4("ann")
    ann.is_reachable = False
    world.nac4("bob")
    ann.leave()
    world.wait(3)
    assert len(world.hub) == 1
    assert world.nac4("ann").games == 1


def test_name_can_be_taken_while_it_is_looked_for() -> None:
    world = World()
    ann = world.droidcon("ann")
    ann.is_reachable = False
    bob = world.arena("bob")
    ann.say(Introduce("cid"))
    ann.is_reachable = True
    world.wait(2)
    assert bob.opponent == "cid"


def test_namesake_of_one_who_cannot_be_reached_plays_as_soon_as_nobody_else_plays_under_its_name() -> None:
    world = World()
    player, _ = world.arena("ann"), world.arena("bob")
    bob, absent, present = world.droidcon("bob"), world.droidcon("ann"), world.droidcon("ann")
    assert (bob.games, absent.games, present.games) == (0, 0, 0)
    absent.is_reachable = False
    player.leave()
    assert (bob.games, absent.games, present.games) == (1, 0, 1)

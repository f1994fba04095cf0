"""Nobody is paired who cannot be reached, or while pairing is paused, and nobody loses its place by that."""

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

from gateway.game.commands import Place
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
    assert not world.hub.can_reach(ann.seat.number)  # for a player of another node either
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


def test_one_who_leaves_while_it_is_looked_for_leaves_nothing_behind(world: World) -> None:
    ann = world.nac4("ann")
    ann.is_reachable = False
    world.nac4("bob")
    ann.leave()
    world.wait(3)
    assert len(world.hub) == 1
    assert world.nac4("ann").games == 1


# While the operator has paused pairing.


def test_players_come_and_wait_and_are_paired_after_a_pause(world: World) -> None:
    world.hub.pause(is_paused=True)
    pairs = [
        (world.nac4("ann"), world.nac4("bob")),
        (world.arena("cid", TABLE), world.arena("dan", TABLE)),
        (world.arena("eve", wishing("fay")), world.arena("fay", wishing("eve"))),
    ]
    gone = world.arena("gus")
    gone.leave()
    world.wait(3)
    assert not any(client.games for pair in pairs for client in pair)
    assert len(world.hub.snapshot(world.now).waiting) == 6
    assert not any(world.hub.can_reach(client.seat.number) for pair in pairs for client in pair)
    world.hub.pause(is_paused=False)
    world.wait(2.0)
    assert [one.opponent == two.seat.name for one, two in pairs] == [True] * 3
    assert world.hub.can_reach(pairs[0][0].seat.number)
    assert gone.games == 0


def test_series_that_is_on_has_all_its_games_and_its_players_wait_afterwards(world: World) -> None:
    one_game, series = world.pair(STANDING_BY, STANDING_BY, TABLE), [world.droidcon(name) for name in "cd"]
    world.hub.pause(is_paused=True)
    world.play(FIRST_WINS, one_game)
    for _ in range(HANGING_UP.rounds or 0):
        world.play(FIRST_WINS, series)
    world.wait(3)
    assert [(each.games, each.gone) for each in (*one_game, *series)] == [(1, False)] * 2 + [(4, True)] * 2
    world.hub.pause(is_paused=False)
    world.wait(2.0)
    assert [each.games for each in one_game] == [2, 2]


def test_many_players_whom_a_pause_holds_back_are_not_looked_at_in_one_step(world: World) -> None:
    world.hub.pause(is_paused=True)
    clients = [world.nac4(f"p{number}") for number in range(200)]
    world.now += 1.0
    world.hub.pause(is_paused=False)
    steps = []
    while world.now < 2.0:
        before = sum(client.games for client in clients)
        world.now += 0.005
        world.hub.tick(world.now)
        steps.append(sum(client.games for client in clients) - before)
    assert sum(steps) == 200
    assert max(steps) <= 8

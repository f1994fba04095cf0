"""Players of the server's own, who come when they are asked for and go with their series."""

import dataclasses

import pytest
from worlds.hub import (
    FIRST_WINS,
    HANGING_UP,
    LOBBY,
    MANNERS,
    STEPPING_OUT,
    Client,
    House,
    World,
    wishing,
)

from gateway.game.commands import Introduce
from gateway.game.events import Dismissed, Entered, Objection, Refused, Why
from gateway.game.manners import Manners
from gateway.matchmaking.matchmaker import Opponent

manners = pytest.mark.parametrize("manners", MANNERS.values(), ids=MANNERS)


@pytest.fixture
def world() -> World:
    return World(games_per_pair=1)


def play_out(world: World, client: Client, house: House) -> None:
    """Let a game against the latest house player be played to its end; whoever moves first wins."""
    world.play(FIRST_WINS, (client, house.players[-1]))


@manners
def test_wish_for_a_house_player_begins_games_at_once_any_number_at_a_time(
    world: World, manners: Manners
) -> None:
    house = House(world)
    clients = [world.player(manners, name, wishing("Random")) for name in ("ann", "bob")]
    assert [client.opponent for client in clients] == ["random"] * 2
    assert [player.games for player in house.players] == [1, 1]


def test_house_player_is_gone_with_its_series(world: World) -> None:
    house = House(world)
    dora = world.player(dataclasses.replace(HANGING_UP, rounds=2), "dora", wishing("random"))
    for _ in range(2):
        assert not house.players[0].gone
        play_out(world, dora, house)
    assert [each.last(Dismissed).why for each in (dora, *house.players)] == [Why.SERIES_OVER] * 2


def test_who_stands_by_for_a_house_player_gets_one_game_after_the_other(world: World) -> None:
    house = House(world)
    nora = world.nac4("nora", wishing("random"))
    for game in range(1, 5):
        assert nora.games == game
        play_out(world, nora, house)
    assert [player.gone for player in house.players] == [True] * 4 + [False]


@pytest.mark.parametrize("is_busy", [True, False])
def test_wish_that_cannot_be_granted_is_refused_and_the_next_one_taken(world: World, is_busy: bool) -> None:
    house, ann = House(world), world.client(STEPPING_OUT)
    house.is_busy = is_busy
    wish = wishing("aima" if is_busy else "perfect")
    assert ann.enter(wish, "ann") == [Refused(Objection.NOT_AVAILABLE)]
    house.is_busy = False
    ann.enter(wishing("aima"), "ann")
    assert ann.plays


@manners
def test_house_is_told_whom_it_is_to_play(world: World, manners: Manners) -> None:
    house = House(world, lobby="aima")
    world.player(manners, "ann", wishing("random"), "192.0.2.7")
    world.player(manners, "bob", LOBBY, "192.0.2.8")
    world.wait(6.0)
    assert {*house.opponents[:2]} == {Opponent("192.0.2.7", "ann", manners.clocked)}
    assert {*house.opponents[2:]} == {Opponent("192.0.2.8", "bob", manners.clocked)}


# Names.


@manners
@pytest.mark.parametrize("name", ["random", "\0perf\u200bect"])
def test_name_of_a_house_player_lets_nobody_in(world: World, manners: Manners, name: str) -> None:
    impostor = world.client(manners)
    refused, *rest = impostor.enter(LOBBY, name)
    assert refused == Refused(Objection.NAME_RESERVED, 0)
    assert rest == ([Dismissed(Why.REFUSED, Objection.NAME_RESERVED)] if manners.strict_entry else [])
    assert impostor.seat.name is None


def test_name_of_a_house_player_is_not_taken_and_the_one_before_stays(world: World) -> None:
    ann = world.client(HANGING_UP)
    ann.say(Introduce("ann", counted=False))
    assert ann.say(Introduce("Aima")) == [Refused(Objection.NAME_RESERVED, 0)]
    assert (ann.seat.name, ann.seat.counted) == ("ann", False)
    assert ann.enter(LOBBY) == [Entered("ann")]
    assert ann.say(Introduce("perfect")) == [Refused(Objection.NAME_RESERVED, 0)]
    assert world.arena("bob").opponent == "ann"


# Those who wait for anybody.


def test_lobby_player_comes_to_whom_nobody_meets_not_before_its_time_and_when_it_has_time(
    world: World,
) -> None:
    house = House(world, lobby="aima")
    house.is_busy = True
    ann, picky = world.arena("ann"), world.arena("cid", wishing("bob"))
    world.wait(6.0)
    assert not ann.plays
    house.is_busy = False
    world.wait(5.0)
    bob = world.arena("eve")
    assert ann.opponent == "aima"
    world.wait(4.9)
    assert not bob.plays
    world.wait(0.2)
    assert (bob.opponent, picky.plays) == ("aima", False)


def test_lobby_player_goes_again_where_the_two_have_had_their_games(world: World) -> None:
    house, nora = House(world, lobby="aima"), world.nac4("nora")
    for _ in range(5):
        world.wait(6.0)
        if nora.plays:
            play_out(world, nora, house)
    assert nora.games == 2
    assert len(world.hub) == 1

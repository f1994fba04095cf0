"""A move that a player sends while it waits: it is the first one of the game, if the player moves first."""

from dataclasses import replace

import pytest
from two_nodes import TwoNodes
from worlds.hub import FIRST_WINS, LOBBY, STEPPING_OUT, TABLE, Client, World

from gateway.game.commands import AtTable, Introduce, Play
from gateway.game.events import Moved, Objection, Refused, ToMove
from gateway.game.manners import Illegal

EARLY = replace(STEPPING_OUT, moves_early=True)
OUT_OF_TURN = Objection.NOT_YOUR_TURN


@pytest.fixture
def world() -> World:
    return World()


def waiting(world: World, *columns: int | None) -> Client:
    """Return ann, who waits at a table and has sent moves."""
    ann = world.player(EARLY, "ann", TABLE)
    for column in columns:
        ann.play(column)
    return ann


def test_early_move_is_the_first_of_the_game(world: World) -> None:
    ann = waiting(world, 3)
    bob = world.player(STEPPING_OUT, "bob", TABLE)
    assert [ann.last(Moved).column, bob.last(Moved).column] == [3, 3]
    assert bob.last(ToMove).board.moves == (3,)


def test_last_of_several_early_moves_counts(world: World) -> None:
    waiting(world, 3, 5)
    assert world.player(STEPPING_OUT, "bob", TABLE).last(ToMove).board.moves == (5,)


@pytest.mark.parametrize("column", [None, -1, 7])
def test_what_is_no_column_is_refused_at_once(world: World, column: int | None) -> None:
    ann = waiting(world, column)
    assert Objection.WAITING in ann.last(Refused).objections
    assert world.player(STEPPING_OUT, "bob", TABLE).all(ToMove) == []


def test_early_move_of_the_second_mover_is_refused_when_the_game_begins(world: World) -> None:
    ann, bob = world.player(EARLY, "ann", TABLE), world.player(EARLY, "bob", TABLE)
    world.play(FIRST_WINS, (ann, bob))
    ann.enter(TABLE, "ann")
    ann.say(Play(3, 9))  # bob moves first in the second round
    bob.enter(TABLE, "bob")
    assert ann.last(Refused) == Refused(OUT_OF_TURN, 9, bob.last(ToMove).game)
    assert bob.last(ToMove).board.moves == ()


def test_early_move_of_the_second_mover_costs_it_nothing(world: World) -> None:
    ann = world.player(STEPPING_OUT, "ann", TABLE)
    world.hub.pause(is_paused=True)
    bob = world.player(replace(EARLY, illegal=Illegal.FORFEIT), "bob", TABLE)
    bob.play(3)
    world.hub.pause(is_paused=False)
    world.wait(3.0)
    assert bob.last(Refused).objections == OUT_OF_TURN
    world.play("34", (ann, bob))


def test_only_the_first_mover_s_counts_where_both_have_sent_one(world: World) -> None:
    world.hub.pause(is_paused=True)
    ann, bob = world.player(EARLY, "ann", TABLE), world.player(EARLY, "bob", TABLE)
    ann.play(1)
    bob.play(2)
    world.hub.pause(is_paused=False)
    world.wait(3.0)
    assert bob.last(ToMove).board.moves == (1,)
    assert [event.objections for event in bob.all(Refused)] == [OUT_OF_TURN]


def test_who_sits_down_elsewhere_has_sent_none(world: World) -> None:
    ann = world.player(EARLY, "ann", AtTable("other"))
    ann.play(3)
    ann.say(Introduce(None))
    ann.enter(TABLE, "ann")
    bob = world.player(STEPPING_OUT, "bob", TABLE)
    assert (len(ann.all(ToMove)), bob.all(ToMove)) == (1, [])


def test_without_that_manner_the_move_is_refused(world: World) -> None:
    ann = world.player(STEPPING_OUT, "ann", LOBBY)
    assert ann.play(3) == [Refused(Objection.WAITING, 0)]


def test_early_move_of_the_second_mover_on_another_node_is_refused_too() -> None:
    way = TwoNodes()
    host, remote = way.host.player(EARLY, "ann"), way.remote.player(EARLY, "bob")
    host.play(1)
    remote.play(2)
    way.meet(host, remote)
    assert remote.last(ToMove).board.moves == (1,)
    assert [event.objections for event in remote.all(Refused)] == [OUT_OF_TURN]

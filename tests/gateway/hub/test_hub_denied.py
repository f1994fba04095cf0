"""A name that a player may not bear is refused, after a while."""

import pytest
from worlds.hub import FIRST_WINS, HANGING_UP, LOBBY, STANDING_BY, STEPPING_OUT, TABLE, World

from gateway.game.commands import Denied, Enter, Introduce, Leave, Play
from gateway.game.events import Dismissed, Ended, Entered, Introduced, Objection, Refused, ToMove, Why
from gateway.game.manners import Manners

WRONG = Objection.TOKEN_WRONG


@pytest.fixture
def world() -> World:
    return World()


@pytest.mark.parametrize("manners", [STEPPING_OUT, HANGING_UP])
def test_denied_name_is_refused_when_its_pause_is_over(world: World, manners: Manners) -> None:
    client = world.client(manners)
    assert client.say(Denied(WRONG, 2.0, 7)) == []
    world.wait(1.9)
    assert client.news() == []
    world.wait(0.1)
    assert client.news() == [Refused(WRONG, 7)]
    assert not client.gone


def test_player_is_held_until_a_denied_name_is_refused(world: World) -> None:
    client = world.client(STEPPING_OUT)
    client.say(Denied(WRONG, 2.0))
    assert client.held
    world.wait(2.0)
    assert not client.held
    assert client.enter(LOBBY, "bob") == [Entered("bob")]


def test_strict_player_is_hung_up_on_for_a_denied_name(world: World) -> None:
    client = world.client(STANDING_BY)
    client.say(Denied(WRONG, 0.0, 1))
    world.wait(0.05)
    assert client.heard == [Refused(WRONG, 1), Dismissed(Why.REFUSED, WRONG)]


def test_more_that_is_said_before_the_answer_is_refused_and_the_answer_comes(world: World) -> None:
    client = world.client(HANGING_UP)
    client.say(Denied(WRONG, 1.0, 1))
    for command in (Denied(WRONG, 9.0, 2), Introduce("ann", to=2), Enter(LOBBY, "ann", 2)):
        assert client.say(command) == [Refused(Objection.WAITING, 2)]
    world.wait(1.0)
    assert client.news()[-1] == Refused(WRONG, 1)


def test_player_who_leaves_before_the_answer_gets_none(world: World) -> None:
    client = world.client(STEPPING_OUT)
    client.say(Denied(WRONG, 1.0))
    client.say(Leave())
    world.wait(2.0)
    assert client.heard == [Dismissed(Why.LEFT)]
    assert len(world.hub) == 0


def test_time_to_enter_does_not_run_out_while_the_answer_waits(world: World) -> None:
    client = world.client(STANDING_BY)
    world.wait(59.0)
    client.say(Denied(WRONG, 8.0))
    world.wait(7.9)
    assert client.heard == []
    world.wait(0.1)
    assert client.heard[-1] == Dismissed(Why.REFUSED, WRONG)


def test_denied_name_changes_nothing_in_a_game(world: World) -> None:
    ann, bob = world.client(HANGING_UP), world.client(HANGING_UP)
    for client, name in ((ann, "ann"), (bob, "bob")):
        assert client.say(Introduce(name)) == [Introduced(name)]
        client.enter(TABLE)
    ann.say(Denied(WRONG, 0.25, 3))
    world.wait(0.25)
    assert ann.news()[-1] == Refused(Objection.PLAYING | WRONG, 3)
    ann.say(Play(3))
    assert isinstance(bob.heard[-1], ToMove)
    assert (ann.seat.name, bob.opponent) == ("ann", "ann")


def test_game_that_ends_before_the_answer_ends_as_ever(world: World) -> None:
    ann, bob = world.client(STEPPING_OUT), world.client(STEPPING_OUT)
    ann.enter(TABLE, "ann")
    bob.enter(TABLE, "bob")
    ann.say(Denied(WRONG, 8.0, 3))
    world.play(FIRST_WINS, (ann, bob))
    assert len(ann.all(Ended)) == 1
    assert ann.all(Refused) == []
    world.wait(8.0)
    assert ann.all(Refused) == [Refused(WRONG, 3)]

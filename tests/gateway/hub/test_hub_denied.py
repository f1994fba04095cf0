"""A name that a player may not bear is refused, after a while."""

import pytest
from worlds.hub import FIRST_WINS, HANGING_UP, LOBBY, STANDING_BY, STEPPING_OUT, World

from gateway.game.commands import Denied, Enter, Introduce
from gateway.game.events import Dismissed, Ended, Entered, Objection, Refused, Why
from gateway.game.manners import Manners

WRONG = Objection.TOKEN_WRONG


@pytest.fixture
def world() -> World:
    return World()


@pytest.mark.parametrize("manners", [STEPPING_OUT, HANGING_UP])
def test_denied_name_is_refused_when_its_pause_is_over_and_the_player_held_until_then(
    world: World, manners: Manners
) -> None:
    client = world.client(manners)
    client.say(Denied(WRONG, 2.0, 7))
    world.wait(1.9)
    assert (client.heard, client.held) == ([], True)
    world.wait(0.1)
    assert (client.heard, client.held) == ([Refused(WRONG, 7)], False)
    assert client.enter(LOBBY, "bob") == [Entered("bob")]


def test_strict_player_is_hung_up_on_and_not_for_its_silence_while_the_answer_waits(world: World) -> None:
    client = world.client(STANDING_BY)
    world.wait(59.0)
    client.say(Denied(WRONG, 8.0, 1))
    world.wait(7.9)
    assert client.heard == []
    world.wait(0.1)
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
    client.leave()
    world.wait(2.0)
    assert client.heard == [Dismissed(Why.LEFT)]


@pytest.mark.parametrize("is_over", [True, False])
def test_denied_name_changes_nothing_in_a_game(world: World, is_over: bool) -> None:
    ann, bob = world.pair(STEPPING_OUT, STEPPING_OUT)
    ann.say(Denied(WRONG, 0.25, 3))
    world.play(FIRST_WINS if is_over else "34", (ann, bob))
    assert (len(ann.all(Ended)), ann.all(Refused)) == (is_over, [])
    world.wait(0.25)
    assert ann.all(Refused) == [Refused(WRONG if is_over else Objection.PLAYING | WRONG, 3)]
    assert (ann.seat.name, ann.gone) == ("ann", False)

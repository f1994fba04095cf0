"""Who is let in, under which name, and what is refused to whom."""

import dataclasses

import pytest
from worlds.hub import (
    FIRST_WINS,
    HANGING_UP,
    LOBBY,
    STANDING_BY,
    STEPPING_OUT,
    TABLE,
    Client,
    World,
)

from gateway.game.commands import Ask, AtTable, Command, Denied, Enter, Introduce, Play, Unfit, Unreadable
from gateway.game.events import Dismissed, Ended, Entered, Introduced, Objection, Refused, Shown, Why
from gateway.game.manners import Manners

WRONG = Objection.TOKEN_WRONG
OTHERS = [Play(3, 7), Play(None, 7), Ask(7), Unfit(7), Unreadable(7)]
"""Commands that let nobody in."""
OWN = {Unfit: Objection.UNFIT, Unreadable: Objection.UNREADABLE}


@pytest.fixture
def world() -> World:
    return World()


def objections_to(client: Client, command: Command) -> Objection:
    """Return what stands against a command, which is refused."""
    refused = client.say(command)[0]
    assert isinstance(refused, Refused)
    assert refused.to == getattr(command, "to", 0)
    return refused.objections


def test_player_enters_under_the_name_that_it_gives_or_gave_before(world: World) -> None:
    assert world.client(STANDING_BY).enter(LOBBY, "ann") == [Entered("ann")]
    other = world.client(HANGING_UP)
    assert other.say(Enter(TABLE, None, 17)) == [Refused(Objection.NO_NAME, 17)]
    assert other.say(Introduce("bob")) == [Introduced("bob")]
    assert other.enter(TABLE) == [Entered("bob", table=TABLE.name)]
    assert len(world.hub) == 2


# What is refused.


@pytest.mark.parametrize("command", OTHERS)
def test_who_has_not_entered_is_told_so(world: World, command: Command) -> None:
    client = world.client(HANGING_UP)
    own = Objection.NOT_A_COLUMN if command == Play(None, 7) else OWN.get(type(command), Objection(0))
    assert objections_to(client, command) == Objection.NOT_ENTERED | own
    assert not client.gone


@pytest.mark.parametrize("command", [Ask(7), Unfit(7), Unreadable(7)])
def test_who_waits_or_plays_is_told_so(world: World, command: Command) -> None:
    client = world.arena("ann")
    own = OWN.get(type(command), Objection(0))
    assert objections_to(client, command) == Objection.WAITING | own
    bob = world.arena("bob")
    if own:
        assert objections_to(client, command) == Objection.PLAYING | own
    else:
        assert [type(event) for event in client.say(command)] == [Shown]
    bob.leave()
    assert objections_to(client, command) == Objection.NOT_ENTERED | own


@pytest.mark.parametrize("command", OTHERS)
def test_strict_player_is_hung_up_on_for_a_first_message_that_does_not_enter(
    world: World, command: Command
) -> None:
    client, inside = world.client(STANDING_BY), world.nac4("ann")
    refused, dismissed = client.say(command)
    assert isinstance(refused, Refused)
    assert dismissed == Dismissed(Why.REFUSED, refused.objections)
    inside.say(command)
    assert not inside.gone


@pytest.mark.parametrize("manners", [STANDING_BY, STEPPING_OUT])
def test_who_waits_or_plays_cannot_enter_again(world: World, manners: Manners) -> None:
    client = world.player(manners, "ann")
    assert objections_to(client, Enter(LOBBY, "eve")) == Objection.WAITING
    world.arena("bob")
    assert objections_to(client, Enter(TABLE, "eve")) == Objection.PLAYING
    assert client.plays


def test_all_that_stands_against_an_entry_is_named(world: World) -> None:
    ann, client = world.droidcon("ann", TABLE), world.client(HANGING_UP)
    world.droidcon("bob", TABLE)
    assert objections_to(ann, Enter(TABLE)) == Objection.PLAYING | Objection.TABLE_FULL
    assert objections_to(client, Enter(TABLE)) == Objection.NO_NAME | Objection.TABLE_FULL
    client.say(Introduce("cid"))
    assert objections_to(client, Enter(TABLE)) == Objection.TABLE_FULL
    assert client.enter(AtTable("other")) == [Entered("cid", table="other")]
    assert objections_to(client, Enter(TABLE)) == Objection.WAITING | Objection.TABLE_FULL


def test_commands_of_one_who_has_left_are_void(world: World) -> None:
    client = world.nac4("ann")
    assert client.leave() == [Dismissed(Why.LEFT)]
    for command in (*OTHERS, Enter(LOBBY, "x"), Introduce("x")):
        assert client.say(command) == []
    assert client.leave() == []
    assert len(world.hub) == 0


# The time for it.


@pytest.mark.parametrize("manners", [STANDING_BY, STEPPING_OUT, HANGING_UP])
def test_who_does_not_enter_in_time_is_hung_up_on(world: World, manners: Manners) -> None:
    client = world.client(dataclasses.replace(manners, entry_limit=60.0))
    if not manners.strict_entry:
        client.say(Introduce("ann"))
        client.say(Unfit())
    world.wait(59.9)
    assert not client.gone
    world.wait(0.2)
    assert client.last(Dismissed) == Dismissed(Why.SILENT)
    assert len(world.hub) == 0


def test_who_has_entered_or_has_no_limit_may_stay_as_long_as_it_likes(world: World) -> None:
    ann, free = world.client(dataclasses.replace(STEPPING_OUT, entry_limit=6.0)), world.client(STEPPING_OUT)
    ann.enter(LOBBY, "ann")
    world.wait(10)
    bob = world.arena("bob")
    world.play(FIRST_WINS, (ann, bob))
    world.wait(10)
    assert (ann.gone, free.gone) == (False, False)


# Names.


def test_name_of_one_bearer_is_refused_to_a_second_until_the_first_has_left(world: World) -> None:
    first = world.nac4("ann")
    for _ in range(2):
        assert world.nac4("ann").heard == [
            Refused(Objection.NAME_TAKEN, 0),
            Dismissed(Why.REFUSED, Objection.NAME_TAKEN),
        ]
    first.leave()
    assert not world.nac4("ann").gone


def test_name_of_one_bearer_is_free_for_others_and_in_another_spelling(world: World) -> None:
    clients = [world.arena("ann"), world.nac4("ann"), world.arena("ann"), world.droidcon("ann")]
    assert not any(client.gone or client.plays for client in clients)
    assert not world.nac4("Ann").gone


@pytest.mark.parametrize("place", [LOBBY, TABLE])
def test_who_takes_a_name_while_it_plays_bears_it_after_its_series(world: World, place: AtTable) -> None:
    ann, bob = world.pair(HANGING_UP, HANGING_UP, place)
    ann.say(Introduce("zoe"))
    world.play(FIRST_WINS, (ann, bob))
    assert (bob.games, bob.opponent) == (2, "ann")
    bob.leave()
    world.wait(1)
    assert world.droidcon("cid", place).opponent == "zoe"


# Names that a player may not bear, which are refused after a while.


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

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
    wishing,
)

from gateway.game.commands import Ask, AtTable, Command, Enter, Introduce, Play, Unfit, Unreadable
from gateway.game.events import Dismissed, Entered, Introduced, Objection, Refused, Shown, Started, Why
from gateway.game.manners import Manners


@pytest.fixture
def world() -> World:
    return World()


def test_who_enters_is_told_its_name(world: World) -> None:
    client = world.client(STANDING_BY)
    assert client.enter(LOBBY, "ann") == [Entered("ann")]


def test_who_was_introduced_enters_under_that_name(world: World) -> None:
    client = world.client(HANGING_UP)
    assert client.say(Introduce("ann")) == [Introduced("ann")]
    assert client.enter() == [Entered("ann")]


def test_nobody_enters_without_a_name(world: World) -> None:
    client = world.client(HANGING_UP)
    message = 17
    assert client.say(Enter(LOBBY, None, message)) == [Refused(Objection.NO_NAME, message)]
    client.say(Introduce("ann"))
    assert client.enter() == [Entered("ann")]


def test_the_hub_counts_who_is_here(world: World) -> None:
    clients = [world.client(STEPPING_OUT) for _ in range(3)]
    assert len(world.hub) == 3
    for client in clients:
        client.leave()
    assert len(world.hub) == 0


# Before entering.


@pytest.mark.parametrize("command", [Play(3, 7), Ask(7), Unfit(7)])
def test_who_has_not_entered_is_told_so(world: World, command: Command) -> None:
    (refused,) = world.client(STEPPING_OUT).say(command)
    assert isinstance(refused, Refused)
    assert Objection.NOT_ENTERED in refused.objections
    assert refused.to == 7


def test_a_move_before_entering_is_no_forfeit(world: World) -> None:
    client = world.client(HANGING_UP)
    client.play(None)
    client.play(9)
    assert not client.gone


def test_an_unreadable_message_is_refused_in_any_state(world: World) -> None:
    client = world.client(STEPPING_OUT)
    for standing in (Objection.NOT_ENTERED, Objection.WAITING, Objection.PLAYING):
        assert client.say(Unreadable(8)) == [Refused(standing | Objection.UNREADABLE, 8)]
        assert client.say(Unfit(9)) == [Refused(standing | Objection.UNFIT, 9)]
        if standing is Objection.NOT_ENTERED:
            client.enter(LOBBY, "ann")
        else:
            world.arena("bob")


@pytest.mark.parametrize("command", [Play(3), Ask(), Unfit(), Unreadable()])
def test_a_strict_door_closes_on_a_first_message_that_lets_nobody_in(world: World, command: Command) -> None:
    client = world.client(STANDING_BY)
    refused, dismissed = client.say(command)
    assert isinstance(refused, Refused)
    assert dismissed == Dismissed(Why.REFUSED, refused.objections)
    assert len(world.hub) == 0


@pytest.mark.parametrize("command", [Play(3), Ask(), Unfit(), Unreadable()])
def test_a_strict_door_is_behind_who_has_entered(world: World, command: Command) -> None:
    client = world.nac4("ann")
    client.say(command)
    assert not client.gone


def test_who_does_not_enter_in_time_is_hung_up_on(world: World) -> None:
    client = world.client(STANDING_BY)
    world.wait(59.9)
    assert client.news() == []
    world.wait(0.2)
    assert client.news() == [Dismissed(Why.SILENT)]
    assert len(world.hub) == 0


@pytest.mark.parametrize("manners", [STEPPING_OUT, HANGING_UP])
def test_who_is_introduced_or_refused_has_not_asked_for_an_opponent_in_time(manners: Manners) -> None:
    world = World()
    client = world.client(dataclasses.replace(manners, entry_limit=300.0))
    client.say(Introduce("ann"))
    client.say(Unfit())
    world.wait(299)
    assert not client.gone
    world.wait(1.1)
    assert client.last(Dismissed) == Dismissed(Why.SILENT)


def test_who_waits_or_has_played_may_stay_as_long_as_it_likes() -> None:
    world = World()
    manners = dataclasses.replace(STEPPING_OUT, entry_limit=300.0)
    ann = world.client(manners)
    ann.enter(LOBBY, "ann")
    world.wait(400)
    assert not ann.gone
    bob = world.client(manners)
    bob.enter(LOBBY, "bob")
    world.play(FIRST_WINS, (ann, bob))
    world.wait(400)
    assert not ann.gone
    assert not bob.gone


def test_who_has_entered_in_time_stays(world: World) -> None:
    client = world.nac4("ann")
    world.wait(61)
    assert not client.gone


@pytest.mark.parametrize("manners", [STEPPING_OUT, HANGING_UP])
def test_who_has_no_limit_may_stay_outside(world: World, manners: Manners) -> None:
    client = world.client(manners)
    world.wait(200)
    assert not client.gone


# Names.


def test_a_name_of_one_bearer_is_refused_to_a_second(world: World) -> None:
    first = world.nac4("ann")
    second = world.client(STANDING_BY)
    refused, dismissed = second.enter(LOBBY, "ann")
    assert refused == Refused(Objection.NAME_TAKEN, 0)
    assert dismissed == Dismissed(Why.REFUSED, Objection.NAME_TAKEN)
    assert not first.gone
    world.nac4("bob")
    assert first.plays


def test_a_name_is_free_again_once_its_bearer_has_left(world: World) -> None:
    world.nac4("ann").leave()
    assert not world.nac4("ann").gone


def test_a_refused_namesake_does_not_free_the_name(world: World) -> None:
    world.nac4("ann")
    assert world.nac4("ann").gone
    assert world.nac4("ann").gone


def test_names_differ_by_case(world: World) -> None:
    world.nac4("ann")
    assert not world.nac4("Ann").gone


def test_others_may_bear_a_name_that_is_taken(world: World) -> None:
    clients = [world.nac4("ann"), world.arena("ann"), world.arena("ann"), world.droidcon("ann")]
    assert not any(client.gone or client.plays for client in clients)


def test_a_name_that_others_bear_can_be_taken(world: World) -> None:
    world.arena("ann")
    world.droidcon("ann")
    assert not world.nac4("ann").gone


def test_who_takes_a_name_while_it_waits_is_met_under_it(world: World) -> None:
    ann = world.droidcon("ann")
    other = world.arena("ann")
    assert not ann.plays
    assert ann.say(Introduce("bob"))[0] == Introduced("bob")
    assert other.plays
    assert other.opponent == "bob"


def test_a_series_keeps_the_name_that_it_began_with(world: World) -> None:
    ann, bob = world.droidcon("ann", TABLE), world.droidcon("bob", TABLE)
    ann.say(Introduce("zoe"))
    world.play(FIRST_WINS, (ann, bob))
    assert bob.games == 2
    assert bob.opponent == "ann"
    bob.leave()
    cid = world.droidcon("cid", TABLE)
    assert cid.opponent == "zoe"


def test_who_took_a_name_while_it_played_waits_under_it(world: World) -> None:
    ann, bob = world.droidcon("ann"), world.droidcon("bob")
    ann.say(Introduce("zoe"))
    bob.leave()
    world.wait(1)
    assert world.arena("ann").opponent == "zoe"


# Entering twice.


@pytest.mark.parametrize("manners", [STANDING_BY, STEPPING_OUT])
def test_who_waits_or_plays_cannot_enter_again(world: World, manners: Manners) -> None:
    client = world.client(manners)
    client.enter(LOBBY, "ann")
    (refused,) = client.enter(LOBBY, "eve")
    assert isinstance(refused, Refused)
    assert Objection.WAITING in refused.objections
    world.arena("bob")
    (refused,) = client.enter(TABLE, "eve")
    assert isinstance(refused, Refused)
    assert Objection.PLAYING in refused.objections
    assert client.plays


def test_the_name_comes_before_the_table_and_the_table_before_the_channel(world: World) -> None:
    client = world.client(HANGING_UP)
    world.droidcon("ann", TABLE)
    world.droidcon("bob", TABLE)
    (refused,) = client.enter(TABLE)
    assert isinstance(refused, Refused)
    assert refused.objections == Objection.NO_NAME | Objection.TABLE_FULL
    client.say(Introduce("cid"))
    assert client.enter(TABLE) == [Refused(Objection.TABLE_FULL, 0)]
    assert client.enter(AtTable("other")) == [Entered("cid")]
    (refused,) = client.enter(TABLE)
    assert isinstance(refused, Refused)
    assert refused.objections == Objection.WAITING | Objection.TABLE_FULL


def test_a_full_table_is_full_for_those_who_sit_there_too(world: World) -> None:
    ann = world.droidcon("ann", TABLE)
    world.droidcon("bob", TABLE)
    (refused,) = ann.enter(TABLE)
    assert isinstance(refused, Refused)
    assert refused.objections == Objection.PLAYING | Objection.TABLE_FULL


# Gone.


def commands() -> list[Command]:
    return [Play(0), Ask(), Enter(LOBBY, "x"), Introduce("x"), Unfit(), Unreadable()]


def test_commands_of_one_who_has_left_are_void(world: World) -> None:
    client = world.nac4("ann")
    assert client.leave() == [Dismissed(Why.LEFT)]
    for command in commands():
        assert client.say(command) == []
    assert client.leave() == []


def test_who_left_while_it_waited_meets_nobody(world: World) -> None:
    world.arena("ann").leave()
    bob = world.arena("bob")
    assert not bob.plays


# Asking.


def test_who_asks_in_a_game_is_shown_it(world: World) -> None:
    ann, bob = world.arena("ann", TABLE), world.arena("bob", TABLE)
    ann.play(3)
    for client in (ann, bob):
        (shown,) = client.say(Ask())
        assert isinstance(shown, Shown)
        assert shown.board.moves == (3,)


def test_who_asks_while_it_waits_is_told_that_it_waits(world: World) -> None:
    assert world.arena("ann").say(Ask(7)) == [Refused(Objection.WAITING, 7)]


def test_who_asks_after_its_game_is_told_that_it_has_not_entered(world: World) -> None:
    ann, bob = world.arena("ann"), world.arena("bob")
    bob.leave()
    assert ann.say(Ask(7)) == [Refused(Objection.NOT_ENTERED, 7)]


# Wishes.


def test_a_wish_counts_across_manners(world: World) -> None:
    ann = world.nac4("ann", wishing("Bob"))
    cid = world.arena("cid")
    assert not ann.plays
    bob = world.droidcon("Bob", wishing("ANN", any_case=True))
    assert ann.plays
    assert bob.plays
    assert not cid.plays


def test_a_wish_for_a_house_player_waits_for_one(world: World) -> None:
    client: Client = world.arena("ann", wishing("random"))
    world.droidcon("random", wishing("ann"))
    assert not client.plays
    assert client.all(Started) == []

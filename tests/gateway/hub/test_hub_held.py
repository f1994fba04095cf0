"""A name, or a seat at a table, that somebody has who may be the very player that asks for it."""

import pytest
from worlds.hub import HANGING_UP, LOBBY, STANDING_BY, STEPPING_OUT, TABLE, Client, World

from gateway.game.commands import AtTable, Enter, Introduce, Place
from gateway.game.events import Dismissed, Ended, Entered, Event, Objection, Reason, Refused, Why
from gateway.game.manners import Manners

HERE, THERE = "192.0.2.7", "198.51.100.7"
TAKEN = [Refused(Objection.NAME_TAKEN), Dismissed(Why.REFUSED, Objection.NAME_TAKEN)]
FULL = [Refused(Objection.TABLE_FULL)]


@pytest.fixture
def world() -> World:
    return World()


def come(
    world: World, name: str = "ann", origin: str = HERE, place: Place = LOBBY, manners: Manners = STANDING_BY
) -> Client:
    client = world.client(manners, origin)
    client.enter(place, name)
    return client


def come_with_token(world: World, origin: str = HERE) -> Client:
    client = world.client(STANDING_BY, origin)
    client.say(Enter(LOBBY, "ann", proven=True))
    return client


def answers(world: World, client: Client) -> list[Event]:
    """Let a client answer its probe."""
    world.hub.alive(client.seat, world.now)
    return client.news()


def test_player_of_the_same_address_waits_until_the_bearer_of_its_name_has_answered(world: World) -> None:
    ann = come(world)
    again = come(world)
    assert (again.heard, again.held, ann.probes) == ([], True, 1)
    assert answers(world, ann) == [Entered("ann")]
    assert again.heard == TAKEN
    assert not again.held


def test_player_is_let_in_when_the_bearer_of_its_name_is_gone(world: World) -> None:
    ann = come(world)
    again = come(world)
    ann.leave()
    assert again.heard == [Entered("ann")]
    assert not again.held
    assert world.nac4("bob").opponent == "ann"


def test_game_of_who_is_gone_ends_as_when_anybody_leaves(world: World) -> None:
    ann, bob = come(world), world.nac4("bob")
    world.play("01", (ann, bob))
    again = come(world)
    ann.leave()
    assert bob.last(Ended).reason is Reason.LEFT
    assert again.heard[0] == Entered("ann")


@pytest.mark.parametrize(("held_at", "asked_at"), [(HERE, THERE), ("", ""), ("", HERE)])
def test_player_of_another_address_or_of_none_is_refused_at_once(
    world: World, held_at: str, asked_at: str
) -> None:
    ann = come(world, origin=held_at)
    assert come(world, origin=asked_at).heard == TAKEN
    assert ann.probes == 0


def test_address_does_not_do_for_a_name_whose_bearer_brought_its_token(world: World) -> None:
    ann = come_with_token(world)
    assert come(world).heard == TAKEN
    assert ann.probes == 0


@pytest.mark.parametrize("origin", [HERE, THERE, ""])
def test_who_has_the_token_may_come_from_anywhere(world: World, origin: str) -> None:
    ann = come_with_token(world)
    again = come_with_token(world, origin)
    assert ann.probes == 1
    ann.leave()
    assert again.heard == [Entered("ann")]


def test_first_who_asked_gets_the_name_and_the_next_one_waits_for_that_one(world: World) -> None:
    ann = come(world)
    first, second = come(world), come(world)
    ann.leave()
    assert (first.news(), second.heard) == ([Entered("ann")], [])
    assert first.probes == 1
    answers(world, first)
    assert second.heard == TAKEN


def test_player_who_has_gone_while_it_waited_gets_no_name(world: World) -> None:
    ann = come(world)
    again = come(world)
    again.leave()
    ann.leave()
    assert again.heard == [Dismissed(Why.LEFT)]
    assert come(world, origin=THERE).heard == [Entered("ann")]


def test_answer_that_nobody_waits_for_changes_nothing(world: World) -> None:
    ann = come(world)
    again = come(world)
    answers(world, ann)
    assert answers(world, ann) == []
    assert again.heard == TAKEN


def test_player_is_not_kept_from_entering_by_the_limit_for_that_while_it_waits(world: World) -> None:
    ann = come(world)
    again = world.client(STANDING_BY, HERE)
    world.wait(59.0)
    again.enter(LOBBY, "ann")
    world.wait(3.0)
    assert again.heard == []
    ann.leave()
    assert again.heard == [Entered("ann")]


def test_name_of_one_who_also_objects_to_more_is_probed_for_nobody(world: World) -> None:
    for name in ("bob", "cid"):
        come(world, name, THERE, TABLE)
    ann = come(world)
    assert come(world, place=TABLE).heard[0] == Refused(Objection.NAME_TAKEN | Objection.TABLE_FULL)
    assert ann.probes == 0


# Tables.


@pytest.mark.parametrize("manners", [STEPPING_OUT, HANGING_UP])
def test_seat_at_a_full_table_is_its_player_s_who_comes_back(world: World, manners: Manners) -> None:
    ann = come(world, place=TABLE, manners=manners)
    bob = come(world, "bob", place=TABLE, manners=manners)
    again = come(world, place=TABLE, manners=manners)
    assert (ann.probes, bob.probes, again.heard) == (1, 0, [])
    answers(world, ann)
    assert again.news() == FULL
    again.enter(TABLE, "ann")
    ann.leave()
    assert again.news()[0] == Entered("ann")


def test_full_table_is_full_for_another_name_or_address(world: World) -> None:
    ann = come(world, place=TABLE, manners=STEPPING_OUT)
    come(world, "bob", place=TABLE, manners=STEPPING_OUT)
    assert come(world, "cid", place=TABLE, manners=STEPPING_OUT).heard == FULL
    assert come(world, origin=THERE, place=TABLE, manners=STEPPING_OUT).heard == FULL
    assert ann.probes == 0


def test_seat_is_that_of_the_name_which_its_player_has_now(world: World) -> None:
    ann = come(world, place=TABLE, manners=HANGING_UP)
    come(world, "bob", place=TABLE, manners=HANGING_UP)
    ann.say(Introduce("cid"))
    assert come(world, place=TABLE, manners=HANGING_UP).heard == FULL
    assert come(world, "cid", place=TABLE, manners=HANGING_UP).heard == []


def test_name_and_seat_of_the_same_player_are_given_over_together(world: World) -> None:
    ann = come(world, place=TABLE)
    come(world, "bob", THERE, TABLE)
    again = come(world, place=AtTable("Round"))
    assert ann.probes == 1
    ann.leave()
    assert again.heard[0] == Entered("ann")
    assert again.opponent == "bob"


# Thinking.


def test_player_may_think_from_its_request_until_its_move_has_come_though_the_game_is_over(
    world: World,
) -> None:
    ann, bob = come(world), world.nac4("bob")
    mover, other = (ann, bob) if ann.request else (bob, ann)
    assert (mover.seat.may_think, other.seat.may_think) == (True, False)
    other.leave()
    assert mover.seat.may_think
    world.wait(5.0)
    assert mover.seat.may_think
    mover.play(3)
    assert not mover.seat.may_think

"""A name, or a seat at a table, that somebody has who may be the very player that asks for it."""

import pytest
from worlds.hub import HANGING_UP, LOBBY, STANDING_BY, STEPPING_OUT, TABLE, Client, World

from gateway.game.commands import AtTable, Enter, Place
from gateway.game.events import Dismissed, Ended, Entered, Event, Objection, Reason, Refused, Why
from gateway.game.manners import Manners

HERE, THERE = "192.0.2.7", "198.51.100.7"
TAKEN = [Refused(Objection.NAME_TAKEN), Dismissed(Why.REFUSED, Objection.NAME_TAKEN)]
FULL = [Refused(Objection.TABLE_FULL)]


@pytest.fixture
def world() -> World:
    return World()


def come(
    world: World,
    name: str = "ann",
    origin: str = HERE,
    place: Place = LOBBY,
    manners: Manners = STANDING_BY,
    *,
    proven: bool = False,
) -> Client:
    client = world.client(manners, origin)
    client.say(Enter(place, name, proven=proven))
    return client


def answers(world: World, client: Client) -> list[Event]:
    """Let a client answer its probe."""
    world.hub.alive(client.seat, world.now)
    return client.news()


def test_player_waits_until_the_bearer_of_its_name_has_answered(world: World) -> None:
    ann, again = come(world), come(world)
    assert (again.heard, again.held, ann.probes) == ([], True, 1)
    assert answers(world, ann) == [Entered("ann")]
    assert (again.heard, again.held) == (TAKEN, False)
    assert answers(world, ann) == []


def test_player_is_let_in_when_the_bearer_of_its_name_is_gone_whose_game_it_has_left(world: World) -> None:
    ann, bob = come(world), world.nac4("bob")
    world.play("01", (ann, bob))
    again = come(world)
    ann.leave()
    assert (again.heard[0], again.held) == (Entered("ann"), False)
    assert bob.last(Ended).reason is Reason.LEFT
    assert again.opponent == "bob"


@pytest.mark.parametrize(
    ("held_at", "asked_at", "held_by", "asked_with", "may_have_it"),
    [
        (HERE, HERE, False, False, True),
        (HERE, THERE, False, False, False),
        ("", "", False, False, False),
        ("", HERE, False, False, False),
        (HERE, HERE, True, False, False),  # its bearer brought a token
        (HERE, HERE, True, True, True),
        (HERE, THERE, True, True, True),
        (HERE, "", True, True, True),
    ],
)
def test_bearer_is_probed_for_who_has_its_address_or_its_token(
    world: World, held_at: str, asked_at: str, held_by: bool, asked_with: bool, may_have_it: bool
) -> None:
    ann = come(world, origin=held_at, proven=held_by)
    again = come(world, origin=asked_at, proven=asked_with)
    assert (ann.probes, again.heard) == ((1, []) if may_have_it else (0, TAKEN))


def test_first_who_asked_gets_the_name_and_the_next_one_waits_for_that_one(world: World) -> None:
    ann, first, second = come(world), come(world), come(world)
    ann.leave()
    assert (first.news(), second.heard, first.probes) == ([Entered("ann")], [], 1)
    answers(world, first)
    assert second.heard == TAKEN


def test_nobody_is_probed_where_more_stands_against_the_entry(world: World) -> None:
    for name in ("bob", "cid"):
        come(world, name, THERE, TABLE)
    ann = come(world)
    assert come(world, place=TABLE).heard[0] == Refused(Objection.NAME_TAKEN | Objection.TABLE_FULL)
    assert ann.probes == 0


# Tables.


@pytest.mark.parametrize("manners", [STEPPING_OUT, HANGING_UP])
def test_seat_at_a_full_table_is_its_player_s_who_comes_back(world: World, manners: Manners) -> None:
    ann, bob, again = (come(world, name, place=TABLE, manners=manners) for name in ("ann", "bob", "ann"))
    assert (ann.probes, bob.probes, again.heard) == (1, 0, [])
    answers(world, ann)
    assert again.news() == FULL
    again.enter(TABLE, "ann")
    ann.leave()
    assert again.news()[0] == Entered("ann", table=TABLE.name)


def test_full_table_is_full_for_another_name_or_address(world: World) -> None:
    ann, _ = (come(world, name, place=TABLE, manners=STEPPING_OUT) for name in ("ann", "bob"))
    for name, origin in (("cid", HERE), ("ann", THERE)):
        assert come(world, name, origin, TABLE, STEPPING_OUT).heard == FULL
    assert ann.probes == 0


def test_name_and_seat_of_the_same_player_are_given_over_together(world: World) -> None:
    ann = come(world, place=TABLE)
    come(world, "bob", THERE, TABLE)
    again = come(world, place=AtTable("Round"))
    assert ann.probes == 1
    ann.leave()
    assert again.heard[0] == Entered("ann", table="Round")
    assert again.opponent == "bob"


def test_player_may_think_from_its_request_until_its_move_has_come_though_the_game_is_over(
    world: World,
) -> None:
    ann, bob = world.pair(STANDING_BY, STANDING_BY)
    assert (ann.seat.may_think, bob.seat.may_think) == (True, False)
    bob.leave()
    world.wait(5.0)
    assert ann.seat.may_think
    ann.play(3)
    assert not ann.seat.may_think

"""A series of four rounds with a player who hangs up, against each of the three manners."""

import pytest
from worlds.hub import (
    FIRST_WINS,
    HANGING_UP,
    LOBBY,
    MANNERS,
    STANDING_BY,
    STEPPING_OUT,
    TABLE,
    Client,
    World,
    wishing,
)

from gateway.game.commands import Place
from gateway.game.events import Dismissed, Ended, Entered, Objection, Reason, Refused, Started, ToMove, Why
from gateway.game.manners import Manners

SERIES_OVER = Dismissed(Why.SERIES_OVER)
places = pytest.mark.parametrize("place", [LOBBY, TABLE], ids=["lobby", "table"])


@pytest.fixture
def world() -> World:
    return World(idle=60.0, clock=10.0)


def rounds(world: World, number: int, *players: Client) -> None:
    """Let the two play rounds to their end."""
    for _ in range(number):
        world.play(FIRST_WINS, players)


def between(world: World, place: Place = TABLE) -> tuple[Client, Client]:
    """Return a player who hangs up and one who steps out, after their first round."""
    ann, bob = world.pair(HANGING_UP, STEPPING_OUT, place)
    rounds(world, 1, ann, bob)
    for client in (ann, bob):
        client.news()
    return ann, bob


def kinds(client: Client) -> list[type]:
    return [type(event) for event in client.news()]


# To its end.


def test_series_has_four_rounds_one_after_the_other_then_both_are_hung_up_on(world: World) -> None:
    ann, bob = world.pair(HANGING_UP, HANGING_UP)
    for client in (ann, bob):
        client.news()
    rounds(world, 1, ann, bob)
    assert kinds(ann)[-2:] == [Ended, Started]
    assert kinds(bob)[-3:] == [Ended, Started, ToMove]
    rounds(world, 3, ann, bob)
    assert [client.last(Dismissed) for client in (ann, bob)] == [SERIES_OVER] * 2
    assert [started.you for started in ann.all(Started)] == [0, 1, 0, 1]
    assert len(world.hub) == 0


def test_who_steps_out_asks_for_each_round_without_its_wish(world: World) -> None:
    ann, bob = world.droidcon("ann"), world.arena("bob", wishing("ann"))
    for place in (LOBBY, wishing("ann"), LOBBY, None):
        rounds(world, 1, ann, bob)
        assert kinds(bob)[-1] is Ended
        if place is not None:
            assert bob.enter(place, "bob")[0] == Entered("bob")
            bob.news()
    assert (ann.gone, bob.gone) == (True, False)
    assert [result.round for result in world.results] == [1, 2, 3, 4]


# Between rounds, against one who must ask again.


def test_in_time_the_series_goes_on(world: World) -> None:
    ann, bob = between(world)
    world.wait(9.9)
    assert ann.news() == []
    bob.enter(TABLE, "bob")
    assert (kinds(ann), kinds(bob)) == ([Started], [Entered, Started, ToMove])
    world.wait(5)
    rounds(world, 1, ann, bob)
    assert world.results[-1].round == 2


@places
@pytest.mark.parametrize("how", ["late", "leaves", "elsewhere"])
def test_series_that_does_not_go_on_is_over_and_the_seat_of_who_hangs_up_is_kept(
    world: World, place: Place, how: str
) -> None:
    ann, bob = between(world, place)
    match how:
        case "late":
            world.wait(10.1)
        case "leaves":
            bob.leave()
        case "elsewhere":
            bob.enter(wishing("zoe"), "bob")
    assert ann.news() == []
    assert (bob.gone, len(world.results)) == (how == "leaves", 1)
    cid = world.arena("cid", place)
    assert ann.opponent == "cid"
    assert place is LOBBY or ann.moves_first
    rounds(world, 1, ann, cid)
    assert world.results[-1].round == 1


@pytest.mark.parametrize("name", ["bob", "eve"])
def test_too_late_or_under_another_name_the_series_begins_anew(world: World, name: str) -> None:
    ann, bob = between(world)
    world.wait(11.0 if name == "bob" else 0.0)
    bob.enter(TABLE, name)
    assert ann.opponent == name
    rounds(world, 1, ann, bob)
    assert world.results[-1].round == 1


def test_move_between_rounds_is_a_move_out_of_turn(world: World) -> None:
    ann, bob = between(world)
    assert bob.play(0) == [Refused(Objection.NOT_ENTERED, 0)]
    assert ann.play(0) == [Refused(Objection.WAITING, 0), Dismissed(Why.FORFEIT)]
    assert len(world.results) == 1


# Leaving.


@pytest.mark.parametrize("manners", MANNERS.values(), ids=MANNERS)
@pytest.mark.parametrize("played", [0, 1])
def test_who_hangs_up_keeps_its_place_when_the_other_leaves(
    world: World, manners: Manners, played: int
) -> None:
    ann, bob = world.pair(HANGING_UP, manners)
    rounds(world, played, ann, bob)
    if played and manners is STEPPING_OUT:
        bob.enter(TABLE, "bob")
    ann.news()
    ended, farewell = bob.leave()
    assert farewell == Dismissed(Why.LEFT)
    assert ann.news() == [ended]
    assert [result.reason for result in world.results][played:] == [Reason.ABORTED]
    world.wait(0.6)
    cid = world.droidcon("cid", TABLE)
    rounds(world, 4, ann, cid)
    assert (ann.last(Dismissed), ann.games) == (SERIES_OVER, played + 1 + 4)


# Forfeiting.


@pytest.mark.parametrize(("mover", "column"), [(0, None), (0, 7), (1, 0)])
def test_forfeit_ends_a_series_of_two_who_hang_up_for_both(
    world: World, mover: int, column: int | None
) -> None:
    players = world.pair(HANGING_UP, HANGING_UP)
    one, other = players[mover], players[1 - mover]
    other.news()
    refused, ended, farewell = one.play(column)
    assert isinstance(refused, Refused)
    assert isinstance(ended, Ended)
    assert (ended.winner, ended.reason) == (1 - mover, Reason.ILLEGAL)
    assert farewell == Dismissed(Why.FORFEIT)
    assert other.news() == [ended, SERIES_OVER]


@places
@pytest.mark.parametrize("column", [0, None])
def test_move_while_alone_forfeits(world: World, place: Place, column: int | None) -> None:
    ann, own = world.droidcon("ann", place), Objection(0) if column == 0 else Objection.NOT_A_COLUMN
    assert ann.play(column) == [Refused(Objection.WAITING | own, 0), Dismissed(Why.FORFEIT)]
    assert not world.arena("bob", place).plays


@pytest.mark.parametrize("manners", MANNERS.values(), ids=MANNERS)
@pytest.mark.parametrize("how", ["forfeit", "time"])
def test_only_one_like_it_goes_with_one_who_hangs_up_and_has_lost_the_series(
    world: World, manners: Manners, how: str
) -> None:
    ann, bob = world.pair(HANGING_UP, manners)
    if how == "forfeit":
        ann.play(9)
    else:
        ann.hand()
        world.wait(61)
    why, reason = {"forfeit": (Why.FORFEIT, Reason.ILLEGAL), "time": (Why.TIME, Reason.TIME)}[how]
    assert ann.last(Dismissed) == Dismissed(why)
    assert (bob.last(Ended).reason, bob.last(Ended).winner) == (reason, 1)
    assert bob.all(Dismissed) == ([SERIES_OVER] if manners is HANGING_UP else [])
    if manners is STEPPING_OUT:
        bob.enter(TABLE, "bob")
    assert world.arena("cid", TABLE).games == (0 if manners is HANGING_UP else 1)


@pytest.mark.parametrize("manners", [STANDING_BY, STEPPING_OUT])
def test_series_goes_on_when_the_other_one_made_an_illegal_move_or_slept(
    world: World, manners: Manners
) -> None:
    ann, bob = world.pair(HANGING_UP, manners)
    ann.play(0)
    bob.play(9)
    bob.hand()
    world.wait(60.1)
    assert [result.reason for result in world.results] == [Reason.TIME]
    if manners is STEPPING_OUT:
        bob.enter(TABLE, "bob")
    world.wait(0.6)
    rounds(world, 1, ann, bob)
    assert world.results[-1].round == 2

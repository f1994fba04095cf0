"""A series of four rounds with a player who hangs up, against each of the three manners."""

import pytest
from worlds.hub import (
    DRAWN,
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

from gateway.game.commands import AtTable
from gateway.game.events import Dismissed, Ended, Entered, Objection, Reason, Refused, Started, ToMove, Why
from gateway.game.manners import Manners


@pytest.fixture
def world() -> World:
    return World(idle=60.0, clock=10.0)


def rounds(world: World, number: int, one: Client, two: Client) -> None:
    """Let the two play rounds to their end."""
    for _ in range(number):
        world.play(FIRST_WINS, (one, two))


def with_arena(world: World, place: AtTable = TABLE) -> tuple[Client, Client]:
    """Return a player who hangs up and one who steps out, after their first round."""
    ann, bob = world.droidcon("ann", place), world.arena("bob", place)
    rounds(world, 1, ann, bob)
    ann.news()
    bob.news()
    return ann, bob


def kinds(client: Client) -> list[type]:
    return [type(event) for event in client.news()]


# To its end.


def test_a_series_has_four_rounds_then_both_are_hung_up_on(world: World) -> None:
    ann, bob = world.droidcon("ann", TABLE), world.droidcon("bob", TABLE)
    rounds(world, 4, ann, bob)
    for client in (ann, bob):
        assert client.games == 4
        assert client.last(Dismissed) == Dismissed(Why.SERIES_OVER)
    assert [started.you for started in ann.all(Started)] == [0, 1, 0, 1]
    assert [result.round for result in world.results] == [1, 2, 3, 4]
    assert len(world.hub) == 0


def test_the_next_round_follows_the_result_at_once(world: World) -> None:
    ann, bob = world.droidcon("ann", TABLE), world.droidcon("bob", TABLE)
    ann.news()
    bob.news()
    rounds(world, 1, ann, bob)
    assert kinds(ann)[-2:] == [Ended, Started]
    assert kinds(bob)[-3:] == [Ended, Started, ToMove]


def test_a_drawn_round_counts_as_a_round(world: World) -> None:
    ann, bob = world.droidcon("ann", TABLE), world.droidcon("bob", TABLE)
    world.play(DRAWN * 4, (ann, bob))
    assert ann.gone
    assert [result.winner for result in world.results] == [None] * 4


def test_who_stands_by_stays_after_a_series(world: World) -> None:
    ann, bob = world.droidcon("ann"), world.nac4("bob")
    rounds(world, 4, ann, bob)
    assert ann.last(Dismissed) == Dismissed(Why.SERIES_OVER)
    assert bob.games == 4
    world.arena("cid")
    assert bob.games == 5


def test_who_hangs_up_leaves_the_lobby_with_its_series(world: World) -> None:
    ann, bob = world.droidcon("ann"), world.nac4("bob")
    rounds(world, 4, ann, bob)
    cid = world.arena("cid")
    assert cid.opponent == "bob"


def test_who_steps_out_asks_for_each_round(world: World) -> None:
    ann, bob = world.droidcon("ann", TABLE), world.arena("bob", TABLE)
    for number in range(1, 5):
        assert ann.games == bob.games == number
        rounds(world, 1, ann, bob)
        assert kinds(bob)[-1] is Ended
        if number < 4:
            assert bob.enter(TABLE, "bob")[0] == Entered("bob")
            bob.news()
    assert ann.gone
    assert not bob.gone
    assert [started.you for started in bob.all(Started)] == [1, 0, 1, 0]


def test_who_steps_out_needs_no_wish_for_the_next_round(world: World) -> None:
    ann, bob = world.droidcon("ann"), world.arena("bob", wishing("ann"))
    rounds(world, 1, ann, bob)
    bob.enter(LOBBY, "bob")
    assert bob.games == 2
    rounds(world, 1, ann, bob)
    bob.enter(wishing("ann"), "bob")
    assert bob.games == 3
    assert [result.round for result in world.results] == [1, 2]


# Between rounds, against one who must ask again.


def test_who_waits_for_the_next_round_hears_nothing(world: World) -> None:
    ann, _ = with_arena(world)
    world.wait(9.9)
    assert ann.news() == []


def test_in_time_the_series_goes_on(world: World) -> None:
    ann, bob = with_arena(world)
    world.wait(9.9)
    bob.enter(TABLE, "bob")
    assert kinds(ann) == [Started]
    assert kinds(bob) == [Entered, Started, ToMove]
    world.wait(5)
    rounds(world, 1, ann, bob)
    assert world.results[-1].round == 2


@pytest.mark.parametrize("at_table", [False, True])
def test_too_late_the_series_is_over_and_the_seat_of_who_hangs_up_is_kept(
    world: World, at_table: bool
) -> None:
    place = TABLE if at_table else LOBBY
    ann, bob = world.droidcon("ann", place), world.arena("bob", place)
    rounds(world, 1, ann, bob)
    ann.news()
    world.wait(10.1)
    assert ann.news() == []
    assert not bob.gone
    cid = world.arena("cid", place)
    assert ann.opponent == "cid"
    rounds(world, 1, ann, cid)
    assert world.results[-1].round == 1


def test_too_late_one_may_still_ask_and_begins_anew(world: World) -> None:
    ann, bob = with_arena(world)
    world.wait(11)
    bob.enter(TABLE, "bob")
    rounds(world, 1, ann, bob)
    assert world.results[-1].round == 1


def test_under_another_name_the_series_begins_anew(world: World) -> None:
    ann, bob = with_arena(world)
    bob.enter(TABLE, "eve")
    assert ann.opponent == "eve"
    rounds(world, 1, ann, bob)
    assert world.results[-1].round == 1


def test_against_someone_else_the_series_is_over(world: World) -> None:
    ann, bob = world.droidcon("ann"), world.arena("bob")
    rounds(world, 1, ann, bob)
    ann.news()
    bob.enter(wishing("zoe"), "bob")
    assert not bob.plays
    assert ann.news() == []
    cid = world.arena("cid")
    assert ann.opponent == "cid"
    rounds(world, 1, ann, cid)
    assert world.results[-1].round == 1


def test_at_another_place_the_series_is_over(world: World) -> None:
    ann, bob = with_arena(world)
    bob.enter(LOBBY, "bob")
    assert not bob.plays
    world.droidcon("cid", TABLE)
    assert ann.opponent == "cid"
    assert ann.moves_first


def test_a_full_table_is_refused_and_the_series_waits_on(world: World) -> None:
    ann, bob = with_arena(world)
    other = AtTable("other")
    world.droidcon("x", other)
    world.droidcon("y", other)
    assert bob.enter(other, "bob") == [Refused(Objection.TABLE_FULL, 0)]
    bob.enter(TABLE, "bob")
    assert ann.games == 2


def test_who_leaves_between_rounds_leaves_the_seat_of_who_hangs_up(world: World) -> None:
    ann, bob = with_arena(world)
    bob.leave()
    assert ann.news() == []
    assert len(world.results) == 1
    world.nac4("cid", TABLE)
    assert ann.games == 2
    assert ann.opponent == "cid"


def test_who_hangs_up_may_leave_between_rounds(world: World) -> None:
    ann, bob = with_arena(world)
    ann.leave()
    assert bob.news() == []
    world.droidcon("cid", TABLE)
    assert bob.games == 1
    bob.enter(TABLE, "bob")
    assert bob.opponent == "cid"
    assert not bob.moves_first


def test_a_move_between_rounds_is_a_move_out_of_turn(world: World) -> None:
    ann, bob = with_arena(world)
    assert ann.play(0) == [Refused(Objection.WAITING, 0), Dismissed(Why.FORFEIT)]
    assert len(world.results) == 1
    bob.enter(TABLE, "bob")
    assert not bob.plays


def test_who_has_not_asked_for_the_next_round_has_not_entered(world: World) -> None:
    _, bob = with_arena(world)
    assert bob.play(0) == [Refused(Objection.NOT_ENTERED, 0)]


# Leaving.


@pytest.mark.parametrize("manners", [STANDING_BY, STEPPING_OUT, HANGING_UP])
@pytest.mark.parametrize("played", [0, 1, 3])
def test_who_hangs_up_keeps_its_place_when_the_other_leaves(
    world: World, manners: Manners, played: int
) -> None:
    ann = world.droidcon("ann", TABLE)
    makers = {STANDING_BY: world.nac4, STEPPING_OUT: world.arena, HANGING_UP: world.droidcon}
    bob = makers[manners]("bob", TABLE)
    for _ in range(played):
        rounds(world, 1, ann, bob)
        if manners is STEPPING_OUT:
            bob.enter(TABLE, "bob")
    ann.news()
    farewell = bob.leave()
    assert isinstance(farewell[0], Ended)
    assert farewell[1] == Dismissed(Why.LEFT)
    (ended,) = ann.news()
    assert isinstance(ended, Ended)
    assert ended.reason is Reason.ABORTED
    assert not ended.has_result
    assert [result.counted for result in world.results] == [*[True] * played, False]
    world.wait(0.6)
    cid = world.droidcon("cid", TABLE)
    assert ann.opponent == "cid"
    rounds(world, 4, ann, cid)
    assert ann.last(Dismissed) == Dismissed(Why.SERIES_OVER)
    assert ann.games == played + 1 + 4


def test_who_stands_by_goes_on_when_the_other_leaves(world: World) -> None:
    ann, bob = world.nac4("ann"), world.nac4("bob")
    bob.leave()
    assert ann.last(Ended).reason is Reason.ABORTED
    world.arena("cid")
    world.wait(0.6)
    assert ann.opponent == "cid"


# Forfeiting.


@pytest.mark.parametrize("column", [None, 7, -1])
def test_an_illegal_move_ends_a_series_of_two_who_hang_up_for_both(world: World, column: int | None) -> None:
    ann, bob = world.droidcon("ann", TABLE), world.droidcon("bob", TABLE)
    bob.news()
    refused, ended, farewell = ann.play(column)
    assert isinstance(refused, Refused)
    assert isinstance(ended, Ended)
    assert (ended.winner, ended.reason) == (1, Reason.ILLEGAL)
    assert farewell == Dismissed(Why.FORFEIT)
    assert bob.news() == [ended, Dismissed(Why.SERIES_OVER)]


def test_a_move_out_of_turn_forfeits(world: World) -> None:
    ann, bob = world.droidcon("ann", TABLE), world.droidcon("bob", TABLE)
    bob.play(0)
    assert bob.last(Dismissed) == Dismissed(Why.FORFEIT)
    assert ann.last(Dismissed) == Dismissed(Why.SERIES_OVER)


@pytest.mark.parametrize("place", [LOBBY, TABLE])
def test_a_move_while_alone_forfeits(world: World, place: AtTable) -> None:
    ann = world.droidcon("ann", place)
    (refused, farewell) = ann.play(0)
    assert refused == Refused(Objection.WAITING, 0)
    assert farewell == Dismissed(Why.FORFEIT)
    assert not world.arena("bob", place).plays


def test_while_alone_what_is_no_integer_is_told_so(world: World) -> None:
    (refused, _) = world.droidcon("ann").play(None)
    assert refused == Refused(Objection.WAITING | Objection.NOT_A_COLUMN, 0)


def test_who_steps_out_stays_when_the_other_forfeits(world: World) -> None:
    ann, bob = world.droidcon("ann", TABLE), world.arena("bob", TABLE)
    ann.play(9)
    assert ann.gone
    assert bob.last(Ended).reason is Reason.ILLEGAL
    assert not bob.gone
    bob.enter(TABLE, "bob")
    world.droidcon("cid", TABLE)
    assert bob.games == 2


def test_who_stands_by_stays_when_the_other_forfeits(world: World) -> None:
    ann, bob = world.droidcon("ann"), world.nac4("bob")
    (ann if ann.moves_first else bob).play(0)
    ann.play(9)
    assert ann.gone
    assert not bob.gone
    world.wait(0.6)
    world.arena("cid")
    assert bob.opponent == "cid"


def test_one_who_pays_or_retries_does_not_end_a_series_by_illegal_moves(world: World) -> None:
    ann, bob = world.droidcon("ann", TABLE), world.nac4("bob", TABLE)
    ann.play(0)
    bob.play(9)
    bob.play(0)
    assert ann.plays
    assert ann.request is not None


# Time.


def sleep(world: World, client: Client) -> None:
    """Let the client, who was asked to move, sleep until its time is over."""
    client.hand()
    world.wait(61)


def test_a_sleeper_who_hangs_up_is_hung_up_on_and_so_is_one_like_it(world: World) -> None:
    ann, bob = world.droidcon("ann", TABLE), world.droidcon("bob", TABLE)
    sleep(world, ann)
    assert ann.last(Ended).reason is Reason.TIME
    assert ann.last(Dismissed) == Dismissed(Why.TIME)
    assert bob.last(Dismissed) == Dismissed(Why.SERIES_OVER)


@pytest.mark.parametrize("place", [LOBBY, TABLE])
def test_a_sleeper_who_hangs_up_leaves_another_its_place(world: World, place: AtTable) -> None:
    ann, bob = world.droidcon("ann", place), world.nac4("bob", place)
    if bob.request is not None:
        bob.play(0)
    sleep(world, ann)
    assert ann.last(Dismissed) == Dismissed(Why.TIME)
    assert bob.last(Ended).winner == bob.last(Started).you
    world.arena("cid", place)
    assert bob.opponent == "cid"


def test_the_series_goes_on_when_one_who_stands_by_slept(world: World) -> None:
    ann, bob = world.droidcon("ann", TABLE), world.nac4("bob", TABLE)
    ann.play(0)
    sleep(world, bob)
    assert world.results[-1].reason is Reason.TIME
    assert ann.games == bob.games == 2
    assert not bob.gone
    rounds(world, 1, ann, bob)
    assert world.results[-1].round == 2


def test_the_series_goes_on_when_one_who_steps_out_slept_and_asks_again(world: World) -> None:
    ann, bob = world.droidcon("ann", TABLE), world.arena("bob", TABLE)
    ann.play(0)
    bob.hand()
    world.wait(60.1)
    assert bob.last(Ended).reason is Reason.TIME
    assert not ann.gone
    bob.enter(TABLE, "bob")
    assert ann.games == 2
    rounds(world, 1, ann, bob)
    assert world.results[-1].round == 2

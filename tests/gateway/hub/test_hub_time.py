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

from gateway.game.commands import AtTable
from gateway.game.events import Dismissed, Ended, Objection, Overlooked, Reason, Refused, Started, ToMove, Why
from gateway.game.manners import Manners


@pytest.fixture
def world() -> World:
    return World(clock=10.0, penalty=1.0, idle=60.0)


def tick(world: World, now: float) -> list[Client]:
    """Look at what is due at `now`; return those whose time is up."""
    world.now = now
    return [seat.mailbox for seat in world.hub.tick(now)]


def flag(world: World, client: Client) -> None:
    world.hub.flag(client.seat, world.now)


def at_table(world: World, one: Manners, two: Manners) -> tuple[Client, Client]:
    """Return two who play at a table; the first moves first."""
    makers = {STANDING_BY: world.nac4, STEPPING_OUT: world.arena, HANGING_UP: world.droidcon}
    return makers[one]("ann", TABLE), makers[two]("bob", TABLE)


# Clocks.


def test_a_game_has_a_clock_for_both_where_one_wants_it(world: World) -> None:
    ann, bob = at_table(world, STEPPING_OUT, STANDING_BY)
    assert ann.last(ToMove).rest == 10.0
    ann.play(0)
    assert bob.last(ToMove).rest == 10.0


def test_a_game_that_nobody_wants_a_clock_in_has_none(world: World) -> None:
    ann, _ = at_table(world, STEPPING_OUT, HANGING_UP)
    assert ann.last(ToMove).rest is None


def test_time_runs_from_the_handing_over(world: World) -> None:
    ann, bob = at_table(world, STANDING_BY, STANDING_BY)
    world.now = 100
    ann.hand()
    world.now = 103
    ann.play(0)
    bob.play(0)
    assert ann.last(ToMove).rest == 7.0
    assert bob.last(ToMove).rest == 10.0


def test_no_time_runs_before_the_handing_over(world: World) -> None:
    ann, _ = at_table(world, STANDING_BY, STANDING_BY)
    assert tick(world, 1000) == []
    assert ann.plays


def test_an_illegal_move_costs_its_time_and_a_penalty(world: World) -> None:
    ann, _ = at_table(world, STANDING_BY, STANDING_BY)
    ann.hand()
    world.now = 2
    refused, asked = ann.play(9)
    assert refused == Refused(Objection.OUTSIDE, 0, ann.last(Started).game)
    assert isinstance(asked, ToMove)
    assert asked.rest == 7.0
    ann.hand()
    assert tick(world, 8.9) == []
    assert tick(world, 9) == [ann]


def test_a_penalty_that_uses_up_the_rest_loses_on_time(world: World) -> None:
    ann, bob = at_table(world, STANDING_BY, STANDING_BY)
    ann.hand()
    world.now = 9.5
    ann.play(9)
    for client in (ann, bob):
        assert client.all(Ended)[0].reason is Reason.TIME
        assert client.all(Ended)[0].winner == 1
    assert ann.games == 2, "no move is owed, so nobody rests"


# Flags.


def test_a_tick_names_the_flag_and_ends_nothing(world: World) -> None:
    ann, bob = at_table(world, STANDING_BY, STANDING_BY)
    ann.hand()
    assert tick(world, 9.9) == []
    assert tick(world, 10) == [ann]
    assert tick(world, 10.1) == []
    assert ann.plays
    assert bob.plays
    flag(world, ann)
    for client in (ann, bob):
        assert (client.last(Ended).winner, client.last(Ended).reason) == (1, Reason.TIME)


def test_a_move_read_between_tick_and_flag_counts(world: World) -> None:
    ann, bob = at_table(world, STANDING_BY, STANDING_BY)
    ann.hand()
    assert tick(world, 10.2) == [ann]
    ann.play(0)
    flag(world, ann)
    assert ann.plays
    bob.hand()
    bob.play(0)
    assert ann.last(ToMove).rest == 0.1
    ann.hand()
    assert tick(world, 10.4) == [ann]


def test_a_flag_of_a_game_before_does_not_fall_in_the_next(world: World) -> None:
    ann, bob = at_table(world, STANDING_BY, STANDING_BY)
    world.play(FIRST_WINS[:-1], (ann, bob))
    ann.hand()
    assert tick(world, 10) == [ann]
    ann.play(0)
    assert ann.games == 2
    bob.hand()
    flag(world, ann)
    flag(world, bob)
    assert ann.plays


def test_flag_of_one_who_has_left_falls_nowhere(world: World) -> None:
    ann, bob = at_table(world, STANDING_BY, STANDING_BY)
    ann.hand()
    assert tick(world, 10) == [ann]
    ann.leave()
    flag(world, ann)
    assert len(bob.all(Ended)) == 1


@pytest.mark.parametrize("opponent", [STANDING_BY, HANGING_UP])
def test_an_illegal_move_without_a_price_does_not_stop_the_clock(world: World, opponent: Manners) -> None:
    ann, _ = at_table(world, STEPPING_OUT, opponent)
    ann.hand()
    world.now = 5
    ann.play(9)
    limit = 10 if opponent is STANDING_BY else 60
    assert tick(world, limit - 0.1) == []
    assert tick(world, limit) == [ann]


def test_an_illegal_move_between_tick_and_flag_saves_nobody(world: World) -> None:
    ann, _ = at_table(world, STEPPING_OUT, STANDING_BY)
    ann.hand()
    assert tick(world, 10) == [ann]
    ann.play(9)
    flag(world, ann)
    assert ann.last(Ended).reason is Reason.TIME


def test_a_move_out_of_turn_leaves_the_others_clock_alone(world: World) -> None:
    ann, bob = at_table(world, STANDING_BY, STANDING_BY)
    ann.hand()
    world.now = 5
    bob.play(0)
    assert tick(world, 10) == [ann]


def test_who_does_not_move_in_a_game_without_a_clock_loses_on_time_too(world: World) -> None:
    ann, bob = at_table(world, STEPPING_OUT, STEPPING_OUT)
    for _ in range(3):
        for client in (ann, bob):
            client.hand()
            world.wait(50)
            client.play(3)
    ann.hand()
    world.wait(59.9)
    assert ann.plays
    world.wait(0.2)
    assert ann.last(Ended).reason is Reason.TIME


def test_stale_requests_start_no_clock(world: World) -> None:
    ann, bob = at_table(world, STANDING_BY, STANDING_BY)
    stale = ann.last(ToMove)
    ann.play(0)
    world.hub.handed(ann.seat, stale, 1)
    world.hub.handed(bob.seat, stale, 1)
    assert tick(world, 1000) == []
    bob.leave()
    last = bob.last(ToMove)
    world.hub.handed(bob.seat, last, 1000)
    assert tick(world, 2000) == []


def test_the_next_alarm_is_no_later_than_what_is_due(world: World) -> None:
    assert world.hub.next_alarm() is None
    world.now = 5
    world.client(STANDING_BY)
    assert world.hub.next_alarm() == 65
    ann, _ = at_table(world, STANDING_BY, STANDING_BY)
    ann.hand()
    alarm = world.hub.next_alarm()
    assert alarm is not None
    assert alarm <= 15


# Moves that cross the end of their game.


def crossed(world: World, one: Manners, two: Manners, place: AtTable = TABLE) -> Client:
    """Return a player of the first manners who owes a move for a game whose other player left."""
    makers = {STANDING_BY: world.nac4, STEPPING_OUT: world.arena, HANGING_UP: world.droidcon}
    ann, bob = makers[one]("ann", place), makers[two]("bob", place)
    if ann.request is None:
        bob.play(0)
    bob.leave()
    ann.news()
    return ann


@pytest.mark.parametrize("manners", [STANDING_BY, HANGING_UP])
@pytest.mark.parametrize("place", [LOBBY, TABLE])
def test_who_owed_a_move_gets_no_new_game_for_half_a_second(
    world: World, manners: Manners, place: AtTable
) -> None:
    ann = crossed(world, manners, STEPPING_OUT, place)
    world.arena("cid", place)
    assert ann.news() == []
    world.wait(0.4)
    assert ann.news() == []
    world.wait(0.15)
    assert ann.games == 2


@pytest.mark.parametrize("manners", [STANDING_BY, HANGING_UP])
@pytest.mark.parametrize("column", [0, 99, None])
def test_a_move_that_crosses_the_end_is_dropped_and_the_next_game_may_begin(
    world: World, manners: Manners, column: int | None
) -> None:
    ann = crossed(world, manners, STEPPING_OUT)
    world.arena("cid", TABLE)
    heard = ann.play(column)
    assert not ann.gone
    assert not [event for event in heard if isinstance(event, Refused)]
    assert ann.games == 2
    ann.play(0)
    assert ann.request is None


def test_a_move_that_crosses_the_end_is_dropped_and_noted_once(world: World) -> None:
    ann = crossed(world, HANGING_UP, STEPPING_OUT)
    assert ann.play(9) == [Overlooked(ann.last(Ended).game)]
    assert ann.play(9) == [Refused(Objection.WAITING, 0), Dismissed(Why.FORFEIT)]


@pytest.mark.parametrize("waited", [0.0, 0.3, 2.0])
def test_a_move_before_the_next_request_is_dropped_once(world: World, waited: float) -> None:
    ann = crossed(world, HANGING_UP, STEPPING_OUT)
    world.wait(waited)
    assert ann.play(0) == [Overlooked(ann.last(Ended).game)]
    ann.play(0)
    assert ann.gone


def test_a_late_move_is_dropped_while_the_opponent_of_the_next_game_thinks(world: World) -> None:
    bob = world.arena("bob", TABLE)
    ann = world.droidcon("ann", TABLE)
    bob.play(0)
    bob.leave()
    world.wait(0.6)
    cid = world.arena("cid", TABLE)
    assert cid.moves_first
    ann.news()
    assert ann.play(0) == [Overlooked(ann.last(Ended).game)]
    cid.play(0)
    ann.play(9)
    assert ann.gone


def test_a_request_ends_the_patience_with_moves_that_cross(world: World) -> None:
    ann = crossed(world, HANGING_UP, STEPPING_OUT)
    world.wait(0.6)
    world.arena("cid", TABLE)
    assert ann.request is not None
    ann.play(9)
    assert ann.gone


def test_a_move_that_answers_a_request_counts_though_an_earlier_one_never_came(world: World) -> None:
    bob = world.arena("bob", TABLE)
    ann = world.droidcon("ann", TABLE)
    bob.play(0)
    bob.leave()
    world.wait(0.6)
    cid = world.arena("cid", TABLE)
    cid.play(0)
    ann.play(1)
    assert cid.request is not None
    assert cid.request.board.moves == (0, 1)


def test_a_late_move_does_not_cost_the_place_in_the_queue(world: World) -> None:
    ann = crossed(world, HANGING_UP, STEPPING_OUT, LOBBY)
    world.wait(1)
    eve = world.droidcon("eve", wishing("cid"))
    world.wait(1)
    ann.play(0)
    cid = world.arena("cid")
    assert cid.opponent == "ann"
    assert not eve.plays


def test_who_steps_out_does_not_rest(world: World) -> None:
    ann = crossed(world, STEPPING_OUT, STEPPING_OUT)
    assert ann.play(0) == [Refused(Objection.NOT_ENTERED, 0)]
    world.arena("cid", TABLE)
    ann.enter(TABLE, "ann")
    assert ann.games == 2


def test_who_owes_nothing_does_not_rest(world: World) -> None:
    ann, bob = at_table(world, HANGING_UP, STEPPING_OUT)
    ann.play(0)
    bob.leave()
    world.arena("cid", TABLE)
    assert ann.games == 2


def test_who_slept_rests_between_the_rounds_of_its_series(world: World) -> None:
    ann, bob = at_table(world, STANDING_BY, HANGING_UP)
    ann.hand()
    assert tick(world, 10) == [ann]
    flag(world, ann)
    ann.news()
    assert ann.games == 1
    assert ann.play(0) == [
        Overlooked(ann.last(Ended).game),
        Started(bob.last(Started).game, 1, ("bob", "ann")),
    ]
    assert bob.request is not None


def test_who_slept_rests_half_a_second_at_most(world: World) -> None:
    ann, bob = at_table(world, STANDING_BY, HANGING_UP)
    ann.hand()
    world.wait(10.05)
    assert ann.games == 1
    world.wait(0.6)
    assert ann.games == bob.games == 2


def test_who_owed_a_move_rests_when_the_other_forfeits_out_of_turn(world: World) -> None:
    ann, bob = at_table(world, STANDING_BY, HANGING_UP)
    bob.play(0)
    assert bob.gone
    world.droidcon("cid", TABLE)
    assert ann.games == 1
    world.wait(0.6)
    assert ann.games == 2


def test_who_leaves_while_it_rests_gets_no_game(world: World) -> None:
    ann = crossed(world, STANDING_BY, STEPPING_OUT)
    ann.leave()
    cid = world.arena("cid", TABLE)
    world.wait(1)
    assert not cid.plays


def test_flag_of_who_has_moved_is_never_named() -> None:
    world = World(clock=10.0)
    ann, bob = world.nac4("ann", TABLE), world.nac4("bob", TABLE)
    ann.hand()
    ann.play(3)
    assert world.hub.tick(20.0) == []
    bob.hand()
    assert world.hub.tick(20.0) == [bob.seat]

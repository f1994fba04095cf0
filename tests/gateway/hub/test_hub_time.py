"""Clocks and flags, and moves that cross the end of their game."""

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

from gateway.game.commands import Place
from gateway.game.events import Dismissed, Ended, Objection, Overlooked, Reason, Refused, Started, ToMove, Why
from gateway.game.manners import Manners


@pytest.fixture
def world() -> World:
    return World(clock=10.0, penalty=1.0, idle=60.0)


def due(world: World, now: float) -> list[Client]:
    """Look at what is due at `now`; return those whose time is up."""
    world.now = now
    return [seat.mailbox for seat in world.hub.tick(now)]


def flag(world: World, client: Client) -> None:
    world.hub.flag(client.seat, world.now)


# Flags.


@pytest.mark.parametrize(
    ("one", "two", "limit"),
    [
        (STANDING_BY, STANDING_BY, 10.0),
        (STEPPING_OUT, STANDING_BY, 10.0),
        (STEPPING_OUT, HANGING_UP, 60.0),
    ],
)
def test_flag_is_named_once_at_its_deadline_and_ends_nothing_before_it_falls(
    world: World, one: Manners, two: Manners, limit: float
) -> None:
    ann, bob = world.pair(one, two)
    assert due(world, 100.0) == []  # the request has not left
    ann.hand()
    alarm = world.hub.next_alarm()
    assert alarm is not None
    assert alarm <= 100.0 + limit
    assert due(world, 100.0 + limit - 0.1) == []
    assert due(world, 100.0 + limit) == [ann]
    assert due(world, 100.0 + limit) == []
    assert ann.plays
    flag(world, ann)
    for client in (ann, bob):
        assert (client.all(Ended)[0].winner, client.all(Ended)[0].reason) == (1, Reason.TIME)


@pytest.mark.parametrize("manners", [STANDING_BY, STEPPING_OUT])
def test_flag_is_named_at_its_own_deadline_however_many_were_before_it(manners: Manners) -> None:
    world = World(clock=10.0, idle=10.0)
    players = world.pair(manners, manners)
    for ply in range(9):
        mover = players[ply % 2]
        mover.hand()
        assert due(world, world.now + 1.0) == []
        mover.play(ply % 7)
    players[1].hand()  # of ten seconds for the game it has spent four
    deadline = world.now + (6.0 if manners.clocked else 10.0)
    assert due(world, deadline - 0.01) == []
    assert due(world, deadline) == [players[1]]


def test_every_round_of_a_series_has_its_flags() -> None:
    world = World(idle=10.0)
    ann, bob = world.pair(HANGING_UP, HANGING_UP)
    for first in (ann, bob):
        first.hand()
        world.now += 1.0
        world.play(FIRST_WINS, (ann, bob))
    ann.hand()
    assert due(world, world.now + 9.9) == []
    assert due(world, world.now + 0.2) == [ann]


def test_move_read_between_tick_and_flag_counts(world: World) -> None:
    ann, bob = world.pair(STANDING_BY, STANDING_BY)
    ann.hand()
    assert due(world, 10.2) == [ann]
    ann.play(0)
    flag(world, ann)
    assert ann.plays
    bob.hand()
    bob.play(0)
    assert ann.last(ToMove).rest == 0.1
    ann.hand()
    assert due(world, 10.4) == [ann]


@pytest.mark.parametrize("leaves", [True, False])
def test_flag_of_a_game_that_is_over_falls_nowhere(world: World, leaves: bool) -> None:
    ann, bob = world.pair(STANDING_BY, STANDING_BY)
    world.play(FIRST_WINS[:-1], (ann, bob))
    ann.hand()
    assert due(world, 10) == [ann]
    if leaves:
        ann.leave()
    else:
        ann.play(0)
        bob.hand()
        flag(world, bob)
    flag(world, ann)
    assert len(bob.all(Ended)) == 1


def test_stale_requests_start_no_clock(world: World) -> None:
    ann, bob = world.pair(STANDING_BY, STANDING_BY)
    stale = ann.last(ToMove)
    ann.hand()
    ann.play(0)
    for client in (ann, bob):
        world.hub.handed(client.seat, stale, 1)
    assert due(world, 1000) == []
    bob.leave()
    world.hub.handed(bob.seat, bob.last(ToMove), 1000)
    assert due(world, 2000) == []


def test_next_alarm_is_that_of_the_earliest_thing_due(world: World) -> None:
    assert world.hub.next_alarm() is None
    world.now = 5
    world.client(STANDING_BY)
    assert world.hub.next_alarm() == 65


# Moves that cross the end of their game.


def crossed(world: World, manners: Manners, place: Place = TABLE) -> Client:
    """Return a player who owes a move for a game whose other player left."""
    ann, bob = world.pair(manners, STEPPING_OUT, place)
    if ann.request is None:
        bob.play(0)
    bob.leave()
    ann.news()
    return ann


@pytest.mark.parametrize("manners", [STANDING_BY, HANGING_UP])
@pytest.mark.parametrize("place", [LOBBY, TABLE])
def test_who_owed_a_move_gets_no_new_game_for_half_a_second(
    world: World, manners: Manners, place: Place
) -> None:
    ann = crossed(world, manners, place)
    world.arena("cid", place)
    world.wait(0.4)
    assert ann.news() == []
    world.wait(0.15)
    assert ann.games == 2


@pytest.mark.parametrize("manners", [STANDING_BY, HANGING_UP])
@pytest.mark.parametrize("column", [0, 99, None])
def test_move_that_crosses_the_end_is_dropped_and_the_next_game_may_begin(
    world: World, manners: Manners, column: int | None
) -> None:
    ann = crossed(world, manners)
    world.arena("cid", TABLE)
    overlooked, *heard = ann.play(column)
    assert overlooked == Overlooked(ann.last(Ended).game)
    assert not [event for event in heard if isinstance(event, Refused)]
    assert ann.games == 2
    ann.play(0)
    assert ann.request is None


@pytest.mark.parametrize("waited", [0.0, 0.3, 2.0])
def test_move_before_the_next_request_is_dropped_once(world: World, waited: float) -> None:
    ann = crossed(world, HANGING_UP)
    world.wait(waited)
    assert ann.play(9) == [Overlooked(ann.last(Ended).game)]
    assert ann.play(9) == [Refused(Objection.WAITING, 0), Dismissed(Why.FORFEIT)]


def crossed_while_the_next_thinks(world: World) -> tuple[Client, Client]:
    """Return a player who owes a move for the game before, and its opponent, who is to move."""
    bob, ann = world.arena("bob", TABLE), world.droidcon("ann", TABLE)
    bob.play(0)
    bob.leave()
    world.wait(0.6)
    cid = world.arena("cid", TABLE)
    assert cid.moves_first
    ann.news()
    return ann, cid


def test_late_move_is_dropped_while_the_opponent_of_the_next_game_thinks(world: World) -> None:
    ann, cid = crossed_while_the_next_thinks(world)
    assert ann.play(0) == [Overlooked(ann.all(Ended)[0].game)]
    cid.play(0)
    ann.play(9)
    assert ann.gone


def test_move_that_answers_a_request_counts_though_an_earlier_one_never_came(world: World) -> None:
    ann, cid = crossed_while_the_next_thinks(world)
    cid.play(0)
    ann.play(1)
    assert cid.last(ToMove).board.moves == (0, 1)


def test_request_ends_the_wait_for_a_move_that_crosses(world: World) -> None:
    ann = crossed(world, HANGING_UP)
    world.wait(0.6)
    world.arena("cid", TABLE)
    assert ann.request is not None
    ann.play(9)
    assert ann.gone


def test_late_move_does_not_cost_the_place_in_the_queue(world: World) -> None:
    ann = crossed(world, HANGING_UP, LOBBY)
    world.wait(1)
    eve = world.droidcon("eve", wishing("cid"))
    world.wait(1)
    ann.play(0)
    assert world.arena("cid").opponent == "ann"
    assert not eve.plays


def test_who_steps_out_or_owes_nothing_may_play_at_once(world: World) -> None:
    ann = crossed(world, STEPPING_OUT)
    assert ann.play(0) == [Refused(Objection.NOT_ENTERED, 0)]
    world.arena("cid", TABLE)
    ann.enter(TABLE, "ann")
    assert ann.games == 2
    world = World()
    ann, bob = world.pair(HANGING_UP, STEPPING_OUT)
    ann.play(0)
    bob.leave()
    world.arena("cid", TABLE)
    assert ann.games == 2


@pytest.mark.parametrize("moves", [True, False])
def test_sleeper_gets_its_next_round_with_its_move_or_half_a_second_later(world: World, moves: bool) -> None:
    ann, bob = world.pair(STANDING_BY, HANGING_UP)
    ann.hand()
    world.wait(10.05)
    assert (len(ann.all(Ended)), ann.games) == (1, 1)
    if moves:
        overlooked, started = ann.play(0)
        assert overlooked == Overlooked(ann.last(Ended).game)
        assert started == Started(bob.last(Started).game, 1, ("bob", "ann"))
    else:
        world.wait(0.6)
    assert (ann.games, bob.games, bob.request is None) == (2, 2, False)

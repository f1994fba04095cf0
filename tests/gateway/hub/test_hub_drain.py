"""A hub that lets the games that are on be finished, and begins no other."""

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

from gateway.game.commands import Enter, Play
from gateway.game.events import Dismissed, Ended, Entered, Reason, Refused, Started, Why
from gateway.game.manners import Manners
from gateway.hub.seats import Seat
from gateway.matchmaking.matchmaker import Opponent

ALL = (STANDING_BY, STEPPING_OUT, HANGING_UP)


@pytest.fixture
def world() -> World:
    return World(clock=10.0)


def let_go(world: World) -> int:
    """Say good-bye to all who do not play; return how many they were."""
    return sum(world.hub.let_go(seat, world.now) for seat in world.hub.seats())


def entered(world: World, manners: Manners, name: str) -> Client:
    client = world.client(manners)
    client.enter(TABLE, name)
    return client


def test_whoever_plays_none_is_told_good_bye_and_whoever_plays_is_not(world: World) -> None:
    ann, bob = world.nac4("ann"), world.nac4("bob")
    waiting, out = world.droidcon("dan", TABLE), world.client(STEPPING_OUT)
    for client in (ann, bob, waiting, out):
        client.news()
    assert not world.hub.is_draining
    world.hub.drain()
    assert world.hub.is_draining
    assert let_go(world) == 2
    assert [client.news() for client in (waiting, out)] == [[Dismissed(Why.STOPPED)]] * 2
    assert [client.news() for client in (ann, bob)] == [[], []]
    assert len(world.hub) == 2


def test_who_comes_while_games_are_finished_is_hung_up_on_at_once(world: World) -> None:
    world.hub.drain()
    client = world.client(STANDING_BY)
    assert client.news() == [Dismissed(Why.STOPPED)]
    assert client.enter(LOBBY, "ann") == []


@pytest.mark.parametrize("one", ALL)
@pytest.mark.parametrize("two", ALL)
def test_game_is_played_to_its_end_and_no_other_begins(world: World, one: Manners, two: Manners) -> None:
    ann, bob = entered(world, one, "ann"), entered(world, two, "bob")
    world.play("01", (ann, bob))
    world.hub.drain()
    assert let_go(world) == 0
    world.play(FIRST_WINS[2:], (ann, bob))
    (result,) = world.results
    assert (result.winner, result.reason, result.counted) == (0, Reason.FOUR, True)
    for client in (ann, bob):
        client.enter(TABLE, client.seat.name)
    world.wait(5)
    let_go(world)
    assert len(world.hub) == 0
    for client in (ann, bob):
        assert len(client.all(Started)) == 1
        assert len(client.all(Ended)) == 1
        assert client.last(Dismissed) == Dismissed(Why.STOPPED)


def test_flag_falls_while_games_are_finished(world: World) -> None:
    ann, bob = world.nac4("ann"), world.nac4("bob")
    world.hub.drain()
    (ann if ann.request is not None else bob).hand()
    world.wait(11)
    assert [result.reason for result in world.results] == [Reason.TIME]


def test_who_leaves_has_lost_while_games_are_finished(world: World) -> None:
    ann, bob = world.droidcon("ann", TABLE), world.droidcon("bob", TABLE)
    world.play("01", (ann, bob))
    world.hub.drain()
    ann.leave()
    assert [(result.reason, result.winner) for result in world.results] == [(Reason.LEFT, 1)]
    assert let_go(world) == 1
    assert len(world.hub) == 0


def test_two_who_wait_are_not_paired_any_more(world: World) -> None:
    ann, bob = world.nac4("ann"), world.nac4("bob")
    world.play(FIRST_WINS, (ann, bob))
    assert ann.games == 2
    world.hub.drain()
    world.play(FIRST_WINS, (ann, bob))
    world.wait(5)
    assert ann.games == 2
    assert let_go(world) == 2


def test_series_between_two_rounds_is_over_for_both(world: World) -> None:
    ann, bob = world.droidcon("ann", TABLE), world.arena("bob", TABLE)
    world.play(FIRST_WINS, (ann, bob))
    world.hub.drain()
    assert let_go(world) == 2
    assert [client.last(Dismissed) for client in (ann, bob)] == [Dismissed(Why.STOPPED)] * 2
    assert len(world.results) == 1


def test_who_asks_to_enter_in_a_game_is_answered_and_plays_on(world: World) -> None:
    ann, bob = world.arena("ann"), world.arena("bob")
    world.hub.drain()
    assert [type(event) for event in ann.say(Enter(LOBBY, "ann"))] == [Refused]
    assert not ann.held
    world.play(FIRST_WINS, (ann, bob))
    assert len(world.results) == 1


def test_wish_that_comes_late_is_answered_and_then_told_good_bye(world: World) -> None:
    ann, bob = world.client(STEPPING_OUT), world.arena("bob")
    world.hub.drain()
    assert ann.enter(wishing("bob"), "ann") == [Entered("ann")]
    assert ann.games == bob.games == 0
    assert let_go(world) == 2


class Uninvited:
    """A house whose players must not come."""

    def has(self, name: str, opponent: Opponent) -> bool:
        return True

    def open_seat(self, name: str, opponent: Opponent, now: float) -> Seat:
        raise AssertionError(f"{name} has come")

    def lobby_player(self, opponent: Opponent) -> str | None:
        return "random"


def test_house_player_comes_to_nobody_any_more(world: World) -> None:
    world.hub.engage(Uninvited())
    ann, bob = world.client(STEPPING_OUT), world.arena("bob")
    world.hub.drain()
    ann.enter(wishing("random"), "ann")
    world.wait(10)
    assert ann.games == bob.games == 0
    assert let_go(world) == 2


def test_nobody_is_told_good_bye_twice(world: World) -> None:
    world.nac4("ann")
    seats = world.hub.seats()
    world.hub.drain()
    assert [world.hub.let_go(seat, world.now) for seat in seats * 2] == [True, False]


def test_games_that_take_too_long_are_cut_off_by_the_close(world: World) -> None:
    ann, bob = world.nac4("ann"), world.nac4("bob")
    world.hub.drain()
    world.hub.close(world.now)
    assert [result.reason for result in world.results] == [Reason.STOPPED]
    assert [client.say(Play(3)) for client in (ann, bob)] == [[], []]

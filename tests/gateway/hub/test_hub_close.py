import pytest
from worlds.hub import FIRST_WINS, LOBBY, STANDING_BY, STEPPING_OUT, TABLE, World

from gateway.game.commands import Ask, Enter, Leave, Play
from gateway.game.events import Dismissed, Ended, Reason, ToMove, Why


@pytest.fixture
def world() -> World:
    return World(clock=10.0)


def test_everybody_is_hung_up_on_and_hears_nothing_of_a_game(world: World) -> None:
    clients = [world.nac4("ann"), world.nac4("bob"), world.arena("cid"), world.client(STEPPING_OUT)]
    clients += [world.droidcon("dan", TABLE), world.droidcon("eve", TABLE)]
    for client in clients:
        client.news()
    world.hub.close(world.now)
    for client in clients:
        assert client.news() == [Dismissed(Why.STOPPED)]
    assert len(world.hub) == 0


def test_a_game_that_is_cut_off_has_no_winner_and_does_not_count(world: World) -> None:
    ann, bob = world.nac4("ann"), world.nac4("bob")
    world.play("3", (ann, bob))
    world.hub.close(world.now)
    (result,) = world.results
    assert (result.winner, result.reason, result.counted) == (None, Reason.STOPPED, False)
    assert ann.all(Ended) == []


def test_a_series_between_rounds_has_no_further_result(world: World) -> None:
    ann, bob = world.droidcon("ann", TABLE), world.arena("bob", TABLE)
    world.play(FIRST_WINS, (ann, bob))
    world.hub.close(world.now)
    assert len(world.results) == 1


def test_nothing_happens_after_the_close(world: World) -> None:
    ann, bob = world.nac4("ann"), world.nac4("bob")
    cid, dan = world.nac4("cid"), world.droidcon("dan")
    eve, fay = world.droidcon("eve", TABLE), world.arena("fay", TABLE)
    world.client(STANDING_BY)
    world.play(FIRST_WINS, (eve, fay))
    world.play(FIRST_WINS, (ann, bob))
    for client in (cid, dan):
        if client.request is not None:
            client.hand()
    world.hub.close(world.now)
    results = len(world.results)
    world.wait(100)
    for client in (ann, bob, cid, dan, eve, fay):
        for command in (Play(0), Ask(), Enter(LOBBY, "x"), Leave()):
            assert client.say(command) == []
        assert client.last(Dismissed) == Dismissed(Why.STOPPED)
        world.hub.flag(client.seat, world.now)
    assert len(world.results) == results


def test_a_flag_that_was_named_before_the_close_falls_nowhere(world: World) -> None:
    ann, bob = world.nac4("ann"), world.nac4("bob")
    mover = ann if ann.request is not None else bob
    mover.hand()
    (seat,) = world.hub.tick(10)
    world.hub.close(world.now)
    world.hub.flag(seat, 10)
    late = mover.last(ToMove)
    world.hub.handed(mover.seat, late, 11)
    assert world.hub.tick(100) == []


def test_closing_twice_says_good_bye_once(world: World) -> None:
    ann = world.nac4("ann")
    world.hub.close(world.now)
    world.hub.close(world.now)
    assert ann.all(Dismissed) == [Dismissed(Why.STOPPED)]


def test_who_comes_after_the_close_is_hung_up_on_at_once(world: World) -> None:
    world.hub.close(world.now)
    client = world.client(STANDING_BY)
    assert client.news() == [Dismissed(Why.STOPPED)]
    assert client.enter(LOBBY, "ann") == []
    assert len(world.hub) == 0

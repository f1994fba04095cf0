import pytest
from worlds.hub import (
    FIRST_WINS,
    LOBBY,
    Client,
    World,
    wishing,
)

from gateway.game.events import Ended, Entered, Reason, Started, ToMove


@pytest.fixture
def world() -> World:
    return World()


def play_out(world: World, *players: Client) -> None:
    world.play(FIRST_WINS, players)


def test_two_of_any_manners_are_paired_at_once(world: World) -> None:
    makers = (world.nac4, world.arena, world.droidcon)
    for one in makers:
        for two in makers:
            ann, bob = one("ann"), two("bob")
            assert ann.plays
            assert bob.plays
            assert ann.last(Started).names == bob.last(Started).names
            ann.leave()
            bob.leave()


def test_a_game_opens_with_one_request_to_move(world: World) -> None:
    ann, bob = world.nac4("ann"), world.arena("bob")
    assert sorted(len(client.all(ToMove)) for client in (ann, bob)) == [0, 1]
    first = ann if ann.moves_first else bob
    assert first.request is not None


def test_any_number_of_games_go_on_at_once(world: World) -> None:
    clients = [world.nac4(f"n{number}") for number in range(20)]
    assert all(client.plays for client in clients)


def test_who_stands_by_is_paired_again_by_itself(world: World) -> None:
    ann, bob = world.nac4("ann"), world.nac4("bob")
    play_out(world, ann, bob)
    assert (ann.games, bob.games) == (2, 2)


def test_who_stands_by_stops_at_so_many_games_in_each_order() -> None:
    world = World(games_per_pair=3)
    ann, bob = world.nac4("ann"), world.nac4("bob")
    firsts = []
    while ann.plays and ann.games < 20:
        firsts.append(ann.moves_first)
        play_out(world, ann, bob)
        world.wait(1.1)
    assert sorted(firsts) == [False] * 3 + [True] * 3


def test_a_wished_game_goes_beyond_so_many() -> None:
    world = World(games_per_pair=1)
    ann, bob = world.nac4("ann", wishing("bob")), world.nac4("bob")
    for _ in range(6):
        play_out(world, ann, bob)
    assert ann.games == 7


def test_who_steps_out_is_out_until_it_asks_again(world: World) -> None:
    ann, bob = world.arena("ann"), world.arena("bob")
    play_out(world, ann, bob)
    world.nac4("cid")
    world.wait(20)
    assert ann.games == bob.games == 1
    ann.enter(LOBBY, "ann")
    assert ann.games == 2
    assert ann.opponent == "cid"


def test_two_who_step_out_may_ask_again_at_once(world: World) -> None:
    ann, bob = world.arena("ann"), world.arena("bob")
    play_out(world, ann, bob)
    assert ann.enter(LOBBY, "ann") == [Entered("ann")]
    bob.enter(LOBBY, "bob")
    assert ann.games == bob.games == 2
    assert bob.opponent == "ann"


def test_who_asks_again_may_bear_another_name_and_wish(world: World) -> None:
    ann, bob = world.arena("ann"), world.arena("bob")
    play_out(world, ann, bob)
    bob.enter(LOBBY, "bob")
    ann.enter(wishing("zoe"), "eve")
    assert not ann.plays
    world.arena("zoe", wishing("eve"))
    assert ann.opponent == "zoe"


def test_a_survivor_who_steps_out_may_ask_again_at_once(world: World) -> None:
    ann, bob = world.arena("ann"), world.arena("bob")
    world.play("33", (ann, bob))
    bob.leave()
    assert ann.last(Ended).reason is Reason.LEFT
    ann.enter(LOBBY, "ann")
    world.arena("cid")
    assert ann.games == 2


def test_an_aborted_game_is_remembered_as_a_meeting(world: World) -> None:
    ann, bob = world.nac4("ann"), world.arena("bob")
    bob.leave()
    assert [result.reason for result in world.results] == [Reason.ABORTED]
    for name in ("bob", "cid"):
        world.arena(name, wishing("ann"))
    world.wait(0.6)
    assert ann.opponent == "cid"


def test_a_player_does_not_meet_itself_nor_twice_at_once(world: World) -> None:
    ann, bob = world.arena("ann"), world.arena("bob")
    namesakes = [world.arena("ann"), world.arena("bob")]
    assert ann.plays
    assert bob.plays
    assert not any(client.plays for client in namesakes)
    bob.leave()
    assert all(client.plays for client in namesakes)


def test_a_lobby_mixes() -> None:
    world = World(games_per_pair=0)
    clients = [world.nac4(f"n{number}") for number in range(6)]
    for _ in range(40):
        oldest = min((client for client in clients if client.plays), key=lambda client: client.games)
        names = oldest.last(Started).names
        play_out(world, *(client for client in clients if client.last(Started).names == names))
        world.wait(0.3)
    for client in clients:
        assert len({started.names[1 - started.you] for started in client.all(Started)}) == 5


def test_who_joins_a_waiting_lobby_meets_one_who_is_held_back(world: World) -> None:
    ann, bob = world.nac4("ann"), world.nac4("bob")
    cid, dan = world.nac4("cid"), world.nac4("dan")
    assert cid.opponent == "dan"
    world.wait(1.5)
    play_out(world, ann, bob)
    assert not ann.plays
    assert world.hub.next_alarm() is not None
    world.wait(0.5)
    assert not ann.plays
    eve = world.nac4("eve")
    assert eve.opponent in ("ann", "bob")
    play_out(world, cid, dan)
    assert sum(client.plays for client in (ann, bob, cid, dan, eve)) == 4


def test_nobody_is_held_back_for_more_than_a_second(world: World) -> None:
    ann, bob = world.nac4("ann"), world.nac4("bob")
    world.nac4("cid")
    world.nac4("dan")
    world.wait(1.5)
    play_out(world, ann, bob)
    world.wait(0.9)
    assert not ann.plays
    world.wait(0.2)
    assert ann.opponent == "bob"
    assert ann.games == 2


def test_testers_meet_under_one_name_and_do_not_count(world: World) -> None:
    clients = [world.droidcon("TEST") for _ in range(4)]
    assert all(client.plays for client in clients)
    clients[0].leave()
    assert not world.results[0].counted


def test_a_tester_meets_a_tester_in_another_case(world: World) -> None:
    upper, lower = world.droidcon("TEST"), world.droidcon("test")
    assert upper.opponent == "test"
    assert lower.opponent == "TEST"


def test_a_game_with_a_tester_does_not_count(world: World) -> None:
    ann, bob = world.nac4("ann"), world.droidcon("test")
    play_out(world, ann, bob)
    (result,) = world.results
    assert not result.counted


def test_every_game_is_reported_once(world: World) -> None:
    ann, bob = world.nac4("ann"), world.nac4("bob")
    for number in range(1, 5):
        play_out(world, ann, bob)
        assert len(world.results) == number
        assert world.results[-1].counted
        assert world.results[-1].round == 1


def test_the_cap_is_for_names_and_outlives_connections() -> None:
    world = World(games_per_pair=1)
    ann, bob = world.nac4("ann"), world.nac4("bob")
    play_out(world, ann, bob)
    ann.leave()
    bob.leave()
    ann, bob = world.nac4("ann"), world.nac4("bob")
    world.wait(2)
    assert not ann.plays
    assert not bob.plays

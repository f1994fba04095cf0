import pytest
from worlds.hub import FIRST_WINS, LOBBY, TABLE, Client, World

from gateway.game.commands import AtTable
from gateway.game.events import Dismissed, Ended, Entered, Objection, Refused, Started, Why


@pytest.fixture
def world() -> World:
    return World()


def play_out(world: World, *players: Client) -> None:
    world.play(FIRST_WINS, players)


def name_of_next(world: World) -> str | None:
    """Return the name of the table where two sit down who write its name in capitals."""
    ann, bob = (world.droidcon(name, AtTable("ROUND")) for name in ("yan", "zoe"))
    play_out(world, ann, bob)
    return world.results[-1].table


def test_who_sat_down_first_moves_first(world: World) -> None:
    for number in range(5):
        place = AtTable(f"t{number}")
        ann, bob = world.arena("ann", place), world.nac4(f"bob{number}", place)
        assert ann.moves_first
        assert not bob.moves_first


def test_one_alone_at_a_table_plays_nobody(world: World) -> None:
    ann = world.arena("ann", TABLE)
    bob = world.arena("bob", AtTable("other"))
    cid = world.arena("cid", LOBBY)
    assert not any(client.plays for client in (ann, bob, cid))


def test_names_may_be_the_same_at_a_table(world: World) -> None:
    ann, other = world.arena("ann", TABLE), world.droidcon("ann", TABLE)
    assert ann.plays
    assert other.last(Started).names == ("ann", "ann")


def test_a_table_has_its_name_in_any_case(world: World) -> None:
    ann = world.arena("ann", AtTable("Club"))
    world.arena("bob", AtTable("cLUB"))
    assert ann.plays


def test_a_full_table_refuses_a_third(world: World) -> None:
    world.arena("ann", TABLE)
    world.arena("bob", TABLE)
    third = world.arena("cid", TABLE)
    assert third.last(Refused) == Refused(Objection.TABLE_FULL, 0)
    assert third.enter(AtTable("other"), "cid") == [Entered("cid")]


def test_a_strict_door_closes_on_a_third_at_a_table(world: World) -> None:
    world.nac4("ann", TABLE)
    world.nac4("bob", TABLE)
    third = world.nac4("cid", TABLE)
    assert third.last(Dismissed) == Dismissed(Why.REFUSED, Objection.TABLE_FULL)
    assert not world.nac4("cid").gone


def test_two_who_stand_by_play_on_and_swap_the_first_move() -> None:
    world = World(games_per_pair=3)
    ann, bob = world.nac4("ann", TABLE), world.nac4("bob", TABLE)
    while ann.plays and ann.games < 20:
        play_out(world, ann, bob)
    assert [started.you for started in ann.all(Started)] == [0, 1] * 3
    assert not ann.gone
    assert not bob.gone


def test_without_a_limit_two_who_stand_by_play_on() -> None:
    world = World(games_per_pair=0)
    ann, bob = world.nac4("ann", TABLE), world.nac4("bob", TABLE)
    for _ in range(30):
        play_out(world, ann, bob)
    assert ann.games == 31


def test_a_game_that_one_asked_for_at_a_table_goes_beyond_the_limit() -> None:
    world = World(games_per_pair=1)
    ann, bob = world.nac4("ann", TABLE), world.arena("bob", TABLE)
    for number in range(1, 7):
        assert ann.games == number
        play_out(world, ann, bob)
        bob.enter(TABLE, "bob")


def test_two_who_step_out_play_again_once_both_have_asked(world: World) -> None:
    ann, bob = world.arena("ann", TABLE), world.arena("bob", TABLE)
    play_out(world, ann, bob)
    bob.enter(TABLE, "bob")
    assert bob.games == 1
    ann.enter(TABLE, "ann")
    assert bob.games == 2
    assert bob.moves_first


def test_a_seat_is_kept_for_one_who_steps_out(world: World) -> None:
    ann, bob = world.arena("ann", TABLE), world.arena("bob", TABLE)
    play_out(world, ann, bob)
    world.wait(9.9)
    cid = world.arena("cid", TABLE)
    assert cid.last(Refused).objections == Objection.TABLE_FULL
    bob.enter(TABLE, "bob")
    ann.enter(TABLE, "ann")
    assert ann.games == 2


def test_a_seat_is_free_once_it_was_kept_long_enough(world: World) -> None:
    ann, bob = world.arena("ann", TABLE), world.arena("bob", TABLE)
    play_out(world, ann, bob)
    world.wait(9)
    bob.enter(TABLE, "bob")
    world.wait(1.1)
    cid = world.arena("cid", TABLE)
    assert bob.opponent == "cid"
    assert cid.moves_first
    assert ann.enter(TABLE, "ann") == [Refused(Objection.TABLE_FULL, 0)]


def test_a_seat_is_kept_when_the_other_left(world: World) -> None:
    ann, bob = world.arena("ann", TABLE), world.arena("bob", TABLE)
    bob.leave()
    world.arena("cid", TABLE)
    dan = world.arena("dan", TABLE)
    assert dan.last(Refused).objections == Objection.TABLE_FULL
    ann.enter(TABLE, "ann")
    assert ann.opponent == "cid"
    assert ann.moves_first


def test_who_asks_under_another_name_sits_down_again(world: World) -> None:
    ann, bob = world.arena("ann", TABLE), world.arena("bob", TABLE)
    play_out(world, ann, bob)
    bob.enter(TABLE, "bob")
    ann.enter(TABLE, "eve")
    assert bob.last(Started).names == ("eve", "bob")


def test_who_asks_for_the_lobby_gives_up_its_seat(world: World) -> None:
    ann, bob = world.arena("ann", TABLE), world.arena("bob", TABLE)
    play_out(world, ann, bob)
    ann.enter(LOBBY, "ann")
    assert not ann.plays
    bob.enter(TABLE, "bob")
    world.arena("cid", TABLE)
    assert bob.opponent == "cid"


@pytest.mark.parametrize("rounds_over", range(4))
@pytest.mark.parametrize("leaver", [0, 1])
def test_a_newcomer_moves_first_where_the_leaver_did_in_the_present_round(
    world: World, rounds_over: int, leaver: int
) -> None:
    players = [world.droidcon("ann", TABLE), world.droidcon("bob", TABLE)]
    for _ in range(rounds_over):
        play_out(world, *players)
    gone, stays = players[leaver], players[1 - leaver]
    moved_first = gone.moves_first
    gone.leave()
    cid = world.droidcon("cid", TABLE)
    world.wait(0.6)
    assert cid.moves_first == moved_first
    assert stays.moves_first != moved_first
    assert stays.opponent == "cid"


def test_an_empty_table_is_forgotten(world: World) -> None:
    ann, bob = world.arena("ann", TABLE), world.nac4("bob", TABLE)
    play_out(world, ann, bob)
    bob.leave()
    world.wait(10.1)
    assert not ann.gone
    assert name_of_next(world) == "ROUND"


def test_who_is_alone_at_a_table_may_leave(world: World) -> None:
    world.arena("ann", TABLE).leave()
    bob, cid = world.arena("bob", TABLE), world.arena("cid", TABLE)
    assert bob.moves_first
    assert cid.plays


def test_a_channel_of_two_who_hang_up_is_free_after_their_series(world: World) -> None:
    ann, bob = world.droidcon("ann", TABLE), world.droidcon("bob", TABLE)
    for _ in range(4):
        play_out(world, ann, bob)
    assert ann.all(Ended)
    assert ann.gone
    assert bob.gone
    assert name_of_next(world) == "ROUND"


def test_playing_at_a_table_keeps_two_names_apart_in_the_lobby(world: World) -> None:
    world.arena("ann", TABLE)
    at_table = world.arena("bob", TABLE)
    ann, bob = world.arena("ann"), world.arena("bob")
    assert not ann.plays
    at_table.leave()
    assert ann.plays
    assert bob.plays

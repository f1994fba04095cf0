"""Seats at tables: who keeps its own, and for how long."""

import pytest
from worlds.hub import FIRST_WINS, HANGING_UP, LOBBY, STANDING_BY, STEPPING_OUT, TABLE, Client, World

from gateway.game.commands import AtTable, Place
from gateway.game.events import Dismissed, Entered, Objection, Refused, Started, Why

FULL = Refused(Objection.TABLE_FULL, 0)


@pytest.fixture
def world() -> World:
    return World()


def play_out(world: World, *players: Client) -> None:
    world.play(FIRST_WINS, players)


def test_two_at_a_table_of_a_name_in_any_case_play_whatever_their_names(world: World) -> None:
    ann, other = world.arena("ann", AtTable("Club")), world.arena("bob", AtTable("other"))
    cid = world.arena("cid", LOBBY)
    assert not any(client.plays for client in (ann, other, cid))
    world.droidcon("ann", AtTable("cLUB"))
    assert ann.last(Started).names == ("ann", "ann")
    assert ann.moves_first


def test_full_table_refuses_a_third(world: World) -> None:
    world.pair(STEPPING_OUT, STEPPING_OUT)
    third, strict = world.arena("cid", TABLE), world.nac4("dan", TABLE)
    assert third.last(Refused) == FULL
    assert third.enter(AtTable("other"), "cid") == [Entered("cid", table="other")]
    assert strict.last(Dismissed) == Dismissed(Why.REFUSED, Objection.TABLE_FULL)
    assert not world.nac4("dan").gone  # its name is free


def test_who_wants_a_table_where_somebody_is_sits_down_nowhere_else(world: World) -> None:
    taken = AtTable("rOUND", must_be_taken=True)
    ann = world.arena("ann", taken)
    assert ann.last(Refused) == Refused(Objection.TABLE_EMPTY, 0)
    bob = world.arena("bob", TABLE)
    assert not bob.plays
    ann.enter(taken, "ann")
    assert (bob.moves_first, ann.last(Started).names) == (True, ("bob", "ann"))
    assert world.arena("cid", taken).last(Refused) == FULL


def test_who_sits_down_again_for_the_next_round_finds_itself_at_a_table_that_is_taken(world: World) -> None:
    ann, bob = world.pair(STEPPING_OUT, STEPPING_OUT)
    play_out(world, ann, bob)
    for client, name in ((ann, "ann"), (bob, "bob")):
        client.enter(AtTable(TABLE.name, must_be_taken=True), name)
    assert (ann.games, bob.games) == (2, 2)


@pytest.mark.parametrize(("place", "table"), [(AtTable("Club"), "Club"), (LOBBY, None)])
def test_player_is_told_where_it_sits(world: World, place: Place, table: str | None) -> None:
    ann = world.arena("ann", place)
    assert ann.last(Entered).table == table


@pytest.mark.parametrize(("cap", "games"), [(3, 6), (0, 30)])
def test_two_who_stand_by_play_on_so_often_and_swap_the_first_move(cap: int, games: int) -> None:
    world = World(games_per_pair=cap)
    players = world.pair(STANDING_BY, STANDING_BY)
    for _ in range(games):
        play_out(world, *players)
    assert players[0].games == games + (not cap)
    assert [started.you for started in players[0].all(Started)][:6] == [0, 1] * 3
    assert not any(client.gone for client in players)


def test_two_who_step_out_play_again_once_both_have_asked(world: World) -> None:
    ann, bob = world.pair(STEPPING_OUT, STEPPING_OUT)
    play_out(world, ann, bob)
    bob.enter(TABLE, "bob")
    assert bob.games == 1
    ann.enter(TABLE, "ann")
    assert (bob.games, bob.moves_first) == (2, True)


@pytest.mark.parametrize("in_time", [True, False])
def test_seat_is_kept_for_a_while_for_one_who_steps_out(world: World, in_time: bool) -> None:
    ann, bob = world.pair(STEPPING_OUT, STEPPING_OUT)
    play_out(world, ann, bob)
    world.wait(9)
    bob.enter(TABLE, "bob")
    world.wait(0.9 if in_time else 1.1)
    cid = world.arena("cid", TABLE)
    if in_time:
        assert cid.last(Refused) == FULL
        ann.enter(TABLE, "ann")
        assert bob.opponent == "ann"
    else:
        assert (bob.opponent, cid.moves_first) == ("cid", True)
        assert ann.enter(TABLE, "ann") == [FULL]


def test_who_asks_under_another_name_sits_down_again(world: World) -> None:
    ann, bob = world.pair(STEPPING_OUT, STEPPING_OUT)
    play_out(world, ann, bob)
    bob.enter(TABLE, "bob")
    ann.enter(TABLE, "eve")
    assert bob.last(Started).names == ("eve", "bob")


def test_who_asks_for_the_lobby_gives_up_its_seat(world: World) -> None:
    ann, bob = world.pair(STEPPING_OUT, STEPPING_OUT)
    play_out(world, ann, bob)
    ann.enter(LOBBY, "ann")
    bob.enter(TABLE, "bob")
    world.arena("cid", TABLE)
    assert (bob.opponent, ann.games) == ("cid", 1)


@pytest.mark.parametrize("manners", [STEPPING_OUT, HANGING_UP])
def test_table_that_all_have_left_is_forgotten(world: World, manners: object) -> None:
    """As its name shows, which is that of the next one who writes it otherwise."""
    world.arena("eve", TABLE).leave()
    if manners is HANGING_UP:
        ann, bob = world.pair(HANGING_UP, HANGING_UP)
        for _ in range(4):
            play_out(world, ann, bob)
    else:
        ann, bob = world.pair(STEPPING_OUT, STANDING_BY)
        play_out(world, ann, bob)
        bob.leave()
        world.wait(10.1)
        assert not ann.gone
    play_out(world, *(world.droidcon(name, AtTable("ROUND")) for name in ("yan", "zoe")))
    assert world.results[-1].table == "ROUND"


def test_playing_at_a_table_keeps_two_names_apart_in_the_lobby(world: World) -> None:
    _, at_table = world.pair(STEPPING_OUT, STEPPING_OUT)
    ann, bob = world.pair(STEPPING_OUT, STEPPING_OUT, LOBBY)
    assert not ann.plays
    at_table.leave()
    assert (ann.opponent, bob.plays) == ("bob", True)

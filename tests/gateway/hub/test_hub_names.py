"""Players with a name of their own, who are there without waiting, and choose how to come back to a game."""

from dataclasses import replace

import pytest
from worlds.hub import HANGING_UP, LOBBY, NAMED, STANDING_BY, STEPPING_OUT, TABLE, Client, World, wishing
from worlds.nodes import Nodes

from gateway.game.commands import Enter, Introduce, Place
from gateway.game.events import (
    Ended,
    Entered,
    Introduced,
    Objection,
    Reason,
    Refused,
    Resumed,
    Started,
    ToMove,
)
from gateway.game.facts import Came, Left, Waits
from gateway.game.manners import Illegal, Manners

ADDRESS = "192.0.2.7"
TAKEN = Objection.NAME_TAKEN


@pytest.fixture
def world() -> World:
    return World(grace=10.0)


def named(world: World, name: str, place: Place = TABLE) -> Client:
    """Return a player that has taken its name and does not wait."""
    client = world.client(NAMED, ADDRESS)
    assert client.say(Enter(place, name, waits=False)) == [Introduced(name, resumes=True)]
    return client


def come_back(world: World, name: str, *, resumes: bool) -> Client:
    client = world.client(NAMED, ADDRESS)
    client.say(Enter(TABLE, name, waits=False, resumes=resumes))
    return client


def test_player_takes_its_name_and_waits_when_it_says_so(world: World) -> None:
    ann, bob = named(world, "ann", LOBBY), world.arena("bob")
    world.wait(1.0)
    assert not bob.plays
    assert ann.enter(LOBBY)[0] == Entered("ann")
    assert ann.plays
    assert bob.opponent == "ann"


def test_name_of_a_player_that_does_not_wait_is_taken(world: World) -> None:
    named(world, "ann")
    other = world.client(NAMED, "192.0.2.8")
    assert other.say(Enter(LOBBY, "ann", waits=False)) == [Refused(TAKEN)]


def test_table_is_asked_for_when_the_player_waits(world: World) -> None:
    for name in ("bob", "cid"):
        world.arena(name, TABLE)
    ann = named(world, "ann")
    assert ann.enter(TABLE) == [Refused(Objection.TABLE_FULL)]


@pytest.mark.parametrize("place", [LOBBY, TABLE, wishing("bob")])
def test_name_is_kept_between_games_and_the_place_is_not(world: World, place: Place) -> None:
    ann, bob = named(world, "ann", place), world.arena("bob", TABLE if place is TABLE else LOBBY)
    ann.enter(place)
    world.play("0101010", (ann, bob))
    world.wait(60.0)
    other = world.client(NAMED, "192.0.2.8")
    assert other.enter(LOBBY, "ann") == [Refused(TAKEN)]
    if place is TABLE:  # both seats are free again
        assert [type(each) for each in world.arena("cid", TABLE).enter(TABLE, "cid")] == [Refused]
        assert world.arena("dan", TABLE).plays
    bob.enter(LOBBY, "bob")
    ann.enter(LOBBY)
    assert ann.plays


def test_player_that_takes_a_name_without_waiting_gives_up_its_seat_at_the_table(world: World) -> None:
    ann, bob = named(world, "ann"), world.arena("bob", TABLE)
    ann.enter(TABLE)
    world.play("0101010", (ann, bob))
    assert ann.say(Enter(TABLE, "ann", waits=False)) == [Introduced("ann", resumes=True)]
    bob.enter(TABLE)
    assert world.arena("cid", TABLE).opponent == "bob"


@pytest.mark.parametrize("waits", [False, True])
def test_player_gives_up_its_name_and_stays(world: World, waits: bool) -> None:
    facts = world.hub.feed.subscribe(lambda: None, [Came, Waits, Left])
    ann = named(world, "ann")
    if waits:
        ann.enter(TABLE)
    assert ann.say(Introduce(None)) == [Introduced(None)]
    assert [type(each) for each in facts.take()] == [Came, *([Waits] if waits else []), Left]
    assert ann.say(Introduce(None)) == [Refused(Objection.NOT_ENTERED | Objection.NO_NAME)]
    assert ann.enter(TABLE) == [Refused(Objection.NO_NAME)]
    named(world, "ann")
    assert ann.say(Enter(TABLE, "bob", waits=False)) == [Introduced("bob", resumes=True)]


def test_player_that_gives_up_its_name_loses_its_game(world: World) -> None:
    ann, bob = named(world, "ann"), world.arena("bob", TABLE)
    ann.enter(TABLE)
    world.play("01", (ann, bob))
    assert [type(each) for each in ann.say(Introduce(None))] == [Ended, Introduced]
    assert (bob.last(Ended).reason, bob.last(Ended).winner) == (Reason.LEFT, bob.last(Started).you)
    ann.leave()
    bob.leave()
    assert world.is_empty()


def test_player_that_gave_up_its_name_may_come_back_to_a_game_and_play_at_once(world: World) -> None:
    ann, eve = named(world, "ann"), world.client(NAMED, ADDRESS)
    eve.say(Enter(TABLE, "eve", waits=False))
    eve.say(Introduce(None))
    ann.enter(TABLE)
    bob = world.nac4("bob", TABLE)
    world.play("3", (ann,))
    ann.break_off()
    assert [type(each) for each in eve.say(Enter(TABLE, "ann", waits=False))] == [Entered, Resumed]
    eve.leave()
    bob.say(Introduce(None))  # while the server awaits the move of its game
    bob.enter(TABLE, "bob")
    assert world.arena("cid", TABLE).opponent == "bob"


def test_name_without_waiting_is_no_request_for_the_next_round(world: World) -> None:
    ann = named(world, "ann")
    ann.enter(TABLE)
    bob = world.droidcon("bob", TABLE)
    world.play("0101010", (ann, bob))
    assert ann.say(Enter(TABLE, "ann", waits=False)) == [Introduced("ann", resumes=True)]
    world.wait(1.0)
    assert (ann.games, bob.games) == (1, 1)
    assert world.arena("cid", TABLE).opponent == "bob"


@pytest.mark.parametrize("opponent", [STANDING_BY, STEPPING_OUT, HANGING_UP, NAMED])
@pytest.mark.parametrize("resumes", [True, False])
def test_player_comes_back_as_it_says(world: World, opponent: Manners, resumes: bool) -> None:
    ann = named(world, "ann")
    ann.enter(TABLE)
    bob = world.player(opponent, "bob", TABLE)
    world.play("33", (ann, bob))
    ann.break_off()
    again = come_back(world, "ann", resumes=resumes)
    assert again.heard[0] == Entered("ann", resumes=resumes, table=TABLE.name)
    if resumes:
        assert [type(each) for each in again.heard[1:]] == [Resumed, ToMove]
        assert not bob.all(Ended)
        return
    assert bob.last(Ended).reason is Reason.REPLAYED
    if opponent in (STEPPING_OUT, NAMED):
        bob.enter(TABLE)
    world.wait(1.0)
    assert again.moves_first
    world.play("44", (again, bob))
    again.break_off()
    third = come_back(world, "ann", resumes=False)  # a second time it is not played again
    assert third.heard[0] == Entered("ann", resumes=True, table=TABLE.name)


@pytest.mark.parametrize("resumes", [True, False])
@pytest.mark.parametrize("back", "abc")
@pytest.mark.parametrize("first", "ab")
@pytest.mark.parametrize("hosts", [True, False])
def test_player_comes_back_as_it_says_at_any_node(hosts: bool, first: str, back: str, resumes: bool) -> None:
    net = Nodes("a", "b", "c", grace=10.0)
    ann, bob = net[first].client(NAMED, ADDRESS), net["b"].client(STANDING_BY)
    ann.say(Enter(TABLE, "ann", waits=False))
    net.carry()
    for client, name in ((ann, None), (bob, "bob")) if hosts else ((bob, "bob"), (ann, None)):
        client.enter(TABLE, name)  # the game is on the node of the one who sat down first
        net.carry()
    moves = (3, 3) if hosts else (3,)
    for column in moves:
        next(each for each in (ann, bob) if each.request is not None).play(column)
        net.carry()
    ann.break_off()
    net.carry()
    again = net[back].client(NAMED, ADDRESS)
    again.say(Enter(TABLE, "ann", waits=False, resumes=resumes))
    net.carry()
    net.wait(1.0)
    assert Entered("ann", resumes=resumes, table=TABLE.name) in again.heard
    mover = again if hosts or resumes else bob
    assert mover.request is not None
    assert mover.request.board.moves == (moves if resumes else ())
    assert [type(each) for each in again.heard].count(Resumed) == resumes
    assert [each.reason for each in bob.all(Ended)] == ([] if resumes else [Reason.REPLAYED])


def test_player_that_came_back_to_another_node_gives_up_its_name() -> None:
    net = Nodes("a", "b", grace=10.0)
    ann, bob = net["a"].client(NAMED, ADDRESS), net["a"].player(STEPPING_OUT, "bob", TABLE)
    for waits in (False, True):
        ann.say(Enter(TABLE, "ann", waits=waits))
        net.carry()
    ann.break_off()
    net.carry()
    again = net["b"].client(NAMED, ADDRESS)
    for command in (Enter(TABLE, "ann", waits=False), Introduce(None)):
        again.say(command)
        net.carry()
    assert again.heard[-1] == Introduced(None)
    assert again.seat.name is None
    assert bob.last(Ended).leaver is not None
    again.say(Enter(TABLE, "eve", waits=False))
    net.carry()
    assert (again.heard[-1], again.seat.name) == (Introduced("eve", resumes=True), "eve")


@pytest.mark.parametrize("node", "ab")
def test_name_is_kept_in_a_cluster_whoever_pairs(node: str) -> None:
    net = Nodes("a", "b")
    ann, bob = net[node].client(NAMED, ADDRESS), net["b"].player(STEPPING_OUT, "bob", LOBBY)
    for waits in (False, True):
        ann.say(Enter(LOBBY, "ann", waits=waits))
        net.carry()
    for column in "0101010":
        next(each for each in (ann, bob) if each.request is not None).play(int(column))
        net.carry()
    net.wait(1.0)
    for each in net.nodes.values():
        each.matchmaker.attach("b", 2, each.now, "ab")
    net.carry()
    net.wait(2.0)
    other = net["a"].client(NAMED, "192.0.2.8")
    other.say(Enter(LOBBY, "ann", waits=False))
    net.carry()
    assert other.heard == [Refused(TAKEN)]
    bob.enter(LOBBY, "bob")
    net.carry()
    net.wait(2.0)
    assert not bob.plays  # ann does not wait
    ann.enter(LOBBY)
    net.carry()
    assert bob.plays


@pytest.mark.parametrize("column", [None, -1, 7])
def test_illegal_move_costs_the_game_and_not_the_connection(world: World, column: int | None) -> None:
    ann = named(world, "ann")
    ann.enter(TABLE)
    bob = world.droidcon("bob", TABLE)
    assert [type(each) for each in ann.play(column)] == [Refused, Ended]
    assert (bob.last(Ended).reason, bob.last(Ended).winner) == (Reason.ILLEGAL, 1)
    ann.enter(TABLE)  # the series goes on
    world.wait(1.0)
    assert bob.moves_first
    assert [type(each) for each in ann.play(0)] == [Refused, Ended]  # out of turn
    assert [each.reason for each in world.results] == [Reason.ILLEGAL] * 2


def test_player_whose_illegal_move_cost_the_game_may_play_the_next_at_once(world: World) -> None:
    ann = world.player(replace(STANDING_BY, illegal=Illegal.GAME), "ann", TABLE)
    bob = world.arena("bob", TABLE)
    ann.play(9)
    bob.enter(TABLE)
    assert (bob.games, bob.plays) == (2, True)


def test_move_without_a_game_costs_nothing_where_each_game_is_asked_for(world: World) -> None:
    forfeiting = Manners(NAMED.illegal.FORFEIT, NAMED.afterwards)
    ann = world.player(forfeiting, "ann", TABLE)
    assert ann.play(3) == [Refused(Objection.WAITING)]
    bob = world.arena("bob", TABLE)
    ann.play(9)
    assert ann.gone
    assert bob.last(Ended).winner == bob.last(Started).you

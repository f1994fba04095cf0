"""A player that opens one game, at once, and is then hung up on; it may say nothing that is refused."""

import random

import pytest
from worlds.hub import (
    FIRST_WINS,
    HANGING_UP,
    LOBBY,
    MANNERS,
    ONE_GAME,
    SECOND_WINS,
    STANDING_BY,
    STEPPING_OUT,
    TABLE,
    Client,
    House,
    World,
)

from gateway.game.commands import AtTable, Command, Denied, Enter, Introduce, Nothing, Unfit, Unreadable
from gateway.game.events import (
    Dismissed,
    Ended,
    Moved,
    Objection,
    Reason,
    Refused,
    Why,
)
from gateway.game.manners import Manners
from gateway.matchmaking.matchmaker import Entry, Turn
from gateway.matchmaking.standard import LobbyAndTables

SERIES_OVER = Dismissed(Why.SERIES_OVER)
manners = pytest.mark.parametrize("manners", MANNERS.values(), ids=MANNERS)


@pytest.fixture
def world() -> World:
    return World(idle=60.0, clock=10.0)


def pair(world: World, manners: Manners = STEPPING_OUT) -> tuple[Client, Client]:
    """Return bob, who waited in the lobby, and ann, who plays one game."""
    bob = world.player(manners, "bob")
    ann = world.player(ONE_GAME, "ann")
    for client in (ann, bob):
        client.news()
    return ann, bob


# One game.


@manners
@pytest.mark.parametrize("columns", [FIRST_WINS, SECOND_WINS])
def test_player_is_hung_up_on_after_its_game_and_the_other_keeps_its_place(
    world: World, manners: Manners, columns: str
) -> None:
    ann, bob = pair(world, manners)
    world.play(columns, (ann, bob))
    assert [type(event) for event in ann.news()[-2:]] == [Ended, Dismissed]
    assert ann.last(Dismissed) == SERIES_OVER
    assert isinstance(bob.news()[-1], Ended)
    if manners is STEPPING_OUT:
        bob.enter(LOBBY, "bob")
    assert world.arena("cid").opponent == "bob"
    assert [result.round for result in world.results] == [1]


def test_opponent_with_more_rounds_hears_nothing_until_its_next_series_of_which_it_plays_all(
    world: World,
) -> None:
    ann, bob = pair(world, HANGING_UP)
    world.play(FIRST_WINS, (ann, bob))
    bob.news()
    world.wait(5.0)
    assert bob.news() == []
    cid = world.droidcon("cid")
    for _ in range(4):
        world.play(FIRST_WINS, (bob, cid))
    assert (bob.games, bob.last(Dismissed)) == (5, SERIES_OVER)


@manners
def test_opponent_that_leaves_or_runs_out_of_time_ends_it(world: World, manners: Manners) -> None:
    for reason, winner in ((Reason.LEFT, 0), (Reason.TIME, 0), (Reason.ABORTED, None)):
        ann, bob = pair(world, manners)
        world.play("" if reason is Reason.ABORTED else "343", (ann, bob))
        if reason is Reason.TIME:
            bob.hand()
            world.wait(60.5)
        bob.leave()
        ended, farewell = ann.news()[-2:]
        assert isinstance(ended, Ended)
        assert (ended.reason, ended.winner, farewell) == (reason, winner, SERIES_OVER)


@manners
def test_player_that_runs_out_of_time_loses_and_is_gone(world: World, manners: Manners) -> None:
    ann, bob = pair(world, manners)
    world.play("34", (ann, bob))
    ann.hand()
    world.wait(60.5)
    ended, farewell = ann.news()[-2:]
    assert isinstance(ended, Ended)
    assert (ended.reason, ended.winner, farewell) == (Reason.TIME, 1, SERIES_OVER)
    assert not bob.gone


def test_illegal_move_of_the_opponent_ends_it_and_only_the_opponent_is_at_fault(world: World) -> None:
    ann, bob = pair(world, HANGING_UP)
    world.play("3", (ann, bob))
    bob.play(9)
    assert (ann.last(Dismissed), bob.last(Dismissed)) == (SERIES_OVER, Dismissed(Why.FORFEIT))


@pytest.mark.parametrize("breaker", ["ann", "bob"])
def test_game_is_never_played_again_for_a_broken_connection(breaker: str) -> None:
    world = World(grace=10.0)
    players = dict(zip(("ann", "bob"), pair(world, HANGING_UP), strict=True))
    world.play("34", players.values())
    players[breaker].break_off()
    other = players["bob" if breaker == "ann" else "ann"]
    assert other.last(Ended).reason is Reason.LEFT
    assert other.gone == (breaker == "bob")


def test_opponent_that_can_go_on_may_come_back(world: World) -> None:
    world = World(grace=10.0)
    bob = world.player(STANDING_BY, "bob", LOBBY, "192.0.2.7")
    ann = world.player(ONE_GAME, "ann")
    world.play("34", (ann, bob))
    bob.break_off()
    assert ann.plays
    assert world.player(STANDING_BY, "bob", LOBBY, "192.0.2.7").plays


# The first move.


@manners
@pytest.mark.parametrize("comes_first", [True, False])
def test_player_opens_at_a_table_whoever_sat_there_first(
    world: World, manners: Manners, comes_first: bool
) -> None:
    order = (ONE_GAME, manners) if comes_first else (manners, ONE_GAME)
    for number in range(3):
        table = AtTable(f"table {number}")
        players = [world.player(each, f"p{number}{at}", table) for at, each in enumerate(order)]
        assert players[order.index(ONE_GAME)].moves_first


def test_second_of_two_that_open_is_refused_at_a_table(world: World) -> None:
    ann, bob = world.player(ONE_GAME, "ann", TABLE), world.client(ONE_GAME)
    assert bob.enter(TABLE, "bob") == [
        Refused(Objection.TABLE_FULL, 0),
        Dismissed(Why.REFUSED, Objection.TABLE_FULL),
    ]
    assert world.arena("cid", TABLE).opponent == "ann"
    assert ann.moves_first


def test_two_that_open_and_sit_at_what_was_one_table_each_on_two_nodes_do_not_play() -> None:
    heir = LobbyAndTables(random.Random(0))
    for seat, name in enumerate(("ann", "bob")):
        heir.readmit(Entry(seat, name, TABLE, True, ONE_GAME, "", Objection(0)), (seat, 0))
        heir.wait(Turn(seat, 1), 0.0)
    assert [*heir.answers(0.0)] == []


# An opponent at once.


def test_house_player_comes_at_once_if_nobody_waits_who_fits(world: World) -> None:
    house = House(world, lobby="aima")
    world.arena("ann")  # of its own name
    ann = world.player(ONE_GAME, "ann")
    assert (ann.opponent, ann.moves_first) == ("aima", True)
    bob = world.player(ONE_GAME, "bob")
    assert (bob.opponent, len(house.players)) == ("ann", 1)


def test_player_waits_when_no_house_player_has_time_and_tries_again(world: World) -> None:
    house = House(world, lobby="aima")
    house.is_busy = True
    ann, bob = world.player(ONE_GAME, "ann"), world.player(ONE_GAME, "bob")
    assert (ann.plays, bob.plays) == (False, False)
    assert world.arena("cid").opponent == "ann"
    house.is_busy = False
    world.wait(5.1)
    assert bob.opponent == "aima"


def test_player_waits_where_there_are_no_house_players(world: World) -> None:
    House(world)
    ann = world.player(ONE_GAME, "ann")
    world.wait(20.0)
    assert not ann.plays
    assert world.arena("bob").opponent == "ann"


def test_player_whose_match_came_to_nothing_does_not_wait_either(world: World) -> None:
    bob = world.arena("bob")
    House(world, lobby="aima")
    bob.is_reachable = False
    assert world.player(ONE_GAME, "ann").opponent == "aima"


# What it may not say.

MESSAGES = {
    "another name": Introduce("eve"),
    "no message": Unreadable(),
    "what does not exist": Unfit(),
    "another place": Enter(LOBBY, "ann"),
}
messages = pytest.mark.parametrize("message", MESSAGES.values(), ids=MESSAGES)


@messages
def test_refusal_hangs_up_while_it_waits(world: World, message: Command) -> None:
    ann = world.player(ONE_GAME, "ann")
    refused, farewell = ann.say(message)
    assert isinstance(refused, Refused)
    assert isinstance(farewell, Dismissed)
    assert farewell.why is Why.REFUSED


@messages
def test_refusal_hangs_up_in_a_game_which_it_has_lost(world: World, message: Command) -> None:
    ann, bob = pair(world)
    world.play("34", (ann, bob))
    heard = ann.say(message)
    assert [type(event) for event in heard] == [Refused, Ended, Dismissed]
    assert (bob.last(Ended).reason, bob.last(Ended).winner) == (Reason.LEFT, 1)


@pytest.mark.parametrize("column", [0, 7, None])
def test_move_out_of_turn_loses_and_hangs_up(world: World, column: int | None) -> None:
    ann, bob = pair(world)
    ann.play(3)
    refused, ended, farewell = ann.play(column)
    assert isinstance(refused, Refused)
    assert isinstance(ended, Ended)
    assert (ended.reason, ended.winner, farewell) == (Reason.ILLEGAL, 1, Dismissed(Why.FORFEIT))
    assert not bob.gone


@pytest.mark.parametrize("entered", [True, False])
def test_move_without_a_game_hangs_up(world: World, entered: bool) -> None:
    ann = world.player(ONE_GAME, "ann") if entered else world.client(ONE_GAME)
    refused, farewell = ann.play(3)
    assert isinstance(refused, Refused)
    assert farewell == Dismissed(Why.REFUSED, refused.objections)


def test_illegal_column_on_its_turn_costs_nothing(world: World) -> None:
    ann, bob = pair(world)
    for column in (7, -1, None):
        assert [type(event) for event in ann.play(column)] == [Refused]
    world.play("0", (ann, bob))
    assert [type(event) for event in ann.news()[-1:]] == [Moved]


def test_first_name_is_taken_and_a_second_is_not(world: World) -> None:
    ann = world.client(ONE_GAME)
    ann.say(Introduce("ann"))
    refused, farewell = ann.say(Introduce("ann"))
    assert refused == Refused(Objection.NOT_ENTERED | Objection.UNFIT, 0)
    assert isinstance(farewell, Dismissed)


def test_denied_name_hangs_up_before_it_has_entered(world: World) -> None:
    ann = world.client(ONE_GAME)
    ann.say(Denied(Objection.TOKEN_WRONG, 0.25))
    world.wait(0.3)
    assert ann.last(Dismissed) == Dismissed(Why.REFUSED, Objection.TOKEN_WRONG)


def test_nothing_is_refused_to_nobody_who_asks_for_it(world: World) -> None:
    ann = world.player(ONE_GAME, "ann")
    assert ann.say(Nothing()) == []
    bob = world.arena("bob")
    assert ann.say(Nothing()) == []
    assert (ann.gone, ann.plays, bob.plays) == (False, True, True)

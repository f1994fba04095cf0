"""A connection breaks during a game: the seat is kept for the grace time, and the player gets it back."""

import random
from collections.abc import Iterator

import pytest
from worlds.hub import HANGING_UP, LOBBY, STANDING_BY, STEPPING_OUT, TABLE, Client, World

from gateway.game.board import Board
from gateway.game.commands import AtTable, Enter, Introduce, Leave, Place, Play
from gateway.game.events import (
    Dismissed,
    Ended,
    Entered,
    Moved,
    Objection,
    Reason,
    Refused,
    Resumed,
    Started,
    ToMove,
    Why,
)
from gateway.game.facts import Away, AwayFor, Back
from gateway.game.manners import Manners
from gateway.matchmaking.matchmaker import Answer, Decision
from gateway.matchmaking.standard import LobbyAndTables

GRACE = 10.0
ADDRESS = "192.0.2.7"
OTHER_ADDRESS = "192.0.2.8"
RESUMING = [STANDING_BY, STEPPING_OUT]


@pytest.fixture
def world() -> World:
    return World(grace=GRACE, clock=60.0)


def pair(world: World, one: Manners, two: Manners) -> tuple[Client, Client]:
    """Return ann, who moves first, and bob, who play at a table."""
    return world.player(one, "ann", TABLE, ADDRESS), world.player(two, "bob", TABLE, OTHER_ADDRESS)


class Late(LobbyAndTables):
    """Decides nothing while a test says so."""

    is_late = False

    def answers(self, now: float) -> Iterator[Answer]:
        yield from (
            each for each in super().answers(now) if not (self.is_late and isinstance(each, Decision))
        )


def returning(
    world: World,
    manners: Manners,
    name: str = "ann",
    place: Place = TABLE,
    origin: str = ADDRESS,
    *,
    proven: bool = False,
) -> Client:
    """Return a client that has just connected and entered."""
    client = world.client(manners, origin)
    if manners is HANGING_UP:
        client.say(Introduce(name))
    client.say(Enter(place, None if manners is HANGING_UP else name, proven=proven))
    return client


@pytest.mark.parametrize("manners", RESUMING)
def test_player_goes_on_with_its_game(world: World, manners: Manners) -> None:
    ann, bob = pair(world, manners, STANDING_BY)
    world.play("334", (ann, bob))
    game = ann.last(Started).game
    bob.news()
    ann.break_off()
    world.wait(2.0)
    bob.play(5)
    again = returning(world, manners)
    board = Board().drop(3).drop(3).drop(4).drop(5)
    assert again.heard[:2] == [
        Entered("ann", resumes=True, table=TABLE.name),
        Resumed(game, 0, ("ann", "bob"), board, 2.0),
    ]
    assert again.last(ToMove).board == board
    assert [type(event) for event in bob.news()] == [Moved]
    again.play(4)
    assert bob.request is not None
    world.play("6", (bob,))
    assert world.results == []


def test_clock_runs_on_while_the_player_is_away(world: World) -> None:
    ann, bob = pair(world, STANDING_BY, STANDING_BY)
    ann.hand()
    world.wait(3.0)
    ann.break_off()
    world.wait(4.0)
    again = returning(world, STANDING_BY)
    assert again.last(ToMove).rest == pytest.approx(53.0)
    again.hand()
    world.wait(1.0)
    again.play(3)
    bob.play(3)
    assert again.last(ToMove).rest == pytest.approx(52.0)


def test_clock_starts_when_a_move_is_made_while_the_player_is_away(world: World) -> None:
    ann, bob = pair(world, STANDING_BY, STANDING_BY)
    bob.break_off()
    world.wait(1.0)
    ann.play(3)
    world.wait(2.0)
    assert returning(world, STANDING_BY, "bob", origin=OTHER_ADDRESS).last(ToMove).rest == pytest.approx(58.0)


def test_time_of_a_player_that_is_away_runs_out(world: World) -> None:
    world = World(grace=GRACE, clock=5.0)
    ann, bob = pair(world, STANDING_BY, STANDING_BY)
    world.play("33", (ann, bob))
    ann.break_off()
    world.wait(6.0)
    [result] = world.results
    assert (result.reason, result.winner) == (Reason.TIME, 1)
    assert bob.last(Ended).reason is Reason.TIME
    assert ann.seat.is_gone
    assert len(world.hub) == 1


@pytest.mark.parametrize(("moves", "reason"), [("33", Reason.LEFT), ("3", Reason.ABORTED)])
def test_player_that_does_not_come_back_in_time_has_left(world: World, moves: str, reason: Reason) -> None:
    ann, bob = pair(world, STANDING_BY, STEPPING_OUT)
    world.play(moves, (ann, bob))
    ann.break_off()
    world.wait(GRACE - 0.1)
    assert world.results == []
    world.wait(0.1)
    [result] = world.results
    assert (result.reason, result.leaver) == (reason, 0)
    late = returning(world, STANDING_BY)
    assert late.all(Resumed) == []
    assert late.seat.place == TABLE


def test_without_grace_the_player_has_left_at_once() -> None:
    world = World()
    ann, bob = pair(world, STANDING_BY, STEPPING_OUT)
    world.play("33", (ann, bob))
    ann.break_off()
    assert world.results[0].reason is Reason.LEFT


def test_player_that_says_goodbye_has_left_at_once(world: World) -> None:
    ann, bob = pair(world, STANDING_BY, STEPPING_OUT)
    world.play("33", (ann, bob))
    ann.leave()
    assert world.results[0].reason is Reason.LEFT


def test_player_that_waits_keeps_nothing(world: World) -> None:
    ann = world.nac4("ann")
    ann.break_off()
    assert len(world.hub) == 0


# Who gets the seat.


@pytest.mark.parametrize(
    ("manners", "name", "place", "origin"),
    [
        (STEPPING_OUT, "ann", TABLE, OTHER_ADDRESS),
        (STEPPING_OUT, "ann", TABLE, ""),
        (STEPPING_OUT, "Ann", TABLE, ADDRESS),
        (STEPPING_OUT, "ann", LOBBY, ADDRESS),
        (STEPPING_OUT, "ann", AtTable("other"), ADDRESS),
        (HANGING_UP, "ann", TABLE, ADDRESS),
    ],
)
def test_stranger_does_not_get_the_seat(
    world: World, manners: Manners, name: str, place: Place, origin: str
) -> None:
    ann, bob = pair(world, STEPPING_OUT, STEPPING_OUT)
    world.play("33", (ann, bob))
    ann.break_off()
    stranger = returning(world, manners, name, place, origin)
    world.wait(1.0)
    assert not stranger.plays
    assert world.results == []
    assert returning(world, STEPPING_OUT).plays


def test_name_that_only_one_may_have_stays_taken(world: World) -> None:
    ann, bob = pair(world, STANDING_BY, STANDING_BY)
    world.play("33", (ann, bob))
    ann.break_off()
    for place, origin in ((TABLE, OTHER_ADDRESS), (LOBBY, ADDRESS)):
        assert returning(world, STANDING_BY, place=place, origin=origin).last(Dismissed).why is Why.REFUSED
    assert returning(world, STANDING_BY).plays


@pytest.mark.parametrize("was_proven", [False, True])
def test_token_gives_the_seat_back_at_another_address(world: World, was_proven: bool) -> None:
    ann = world.client(STANDING_BY, ADDRESS)
    ann.say(Enter(TABLE, "ann", proven=was_proven))
    world.player(STANDING_BY, "bob", TABLE)
    ann.break_off()
    if was_proven:
        assert returning(world, STANDING_BY).last(Dismissed).objections & Objection.NAME_TAKEN
    again = returning(world, STANDING_BY, origin=OTHER_ADDRESS, proven=True)
    assert again.plays
    assert again.seat.origin == OTHER_ADDRESS


def test_live_connection_keeps_its_seat(world: World) -> None:
    ann, _ = pair(world, STANDING_BY, STANDING_BY)
    second = returning(world, STANDING_BY)
    assert second.held
    assert ann.probes == 1
    world.hub.alive(ann.seat, world.now)
    assert second.last(Dismissed).objections & Objection.NAME_TAKEN
    assert ann.plays


def test_dead_connection_gives_its_seat_away(world: World) -> None:
    ann, bob = pair(world, STEPPING_OUT, STEPPING_OUT)
    second = returning(world, STEPPING_OUT)
    assert second.held
    ann.break_off()
    assert not second.held
    assert second.plays
    bob.leave()
    assert second.last(Ended).reason is Reason.ABORTED


def test_client_that_entered_before_does_not_come_back(world: World) -> None:
    """It is another client of this name, which asks for its next game."""
    ann, _ = pair(world, STEPPING_OUT, STEPPING_OUT)
    other = world.player(STEPPING_OUT, "ann", LOBBY, ADDRESS)
    ann.break_off()
    other.enter(TABLE, "ann")
    assert not other.plays


def test_one_of_two_that_come_back_gets_the_seat(world: World) -> None:
    ann, _ = pair(world, STEPPING_OUT, STEPPING_OUT)
    clients = [world.client(STEPPING_OUT, ADDRESS) for _ in range(2)]
    for client in clients:
        client.enter(TABLE, "ann")
    ann.break_off()
    first = next(client for client in clients if client.plays)
    [second] = [client for client in clients if client is not first]
    assert isinstance(second.heard[-1], Refused)
    assert first.plays


def test_client_that_left_before_the_answer_does_not_take_the_seat(world: World) -> None:
    ann, _ = pair(world, STEPPING_OUT, STEPPING_OUT)
    second = returning(world, STEPPING_OUT)
    second.leave()
    ann.break_off()
    assert returning(world, STEPPING_OUT).plays


def test_many_of_one_name_are_not_all_probed(world: World) -> None:
    playing = [world.player(STEPPING_OUT, "ann", AtTable(str(n // 2)), ADDRESS) for n in range(2)]
    crowd = [
        world.player(STEPPING_OUT, name, LOBBY, ADDRESS)
        for number in range(20)
        for name in ("ann", f"bob{number}")
    ]
    before = sum(client.probes for client in crowd)
    returning(world, STEPPING_OUT, place=LOBBY)
    assert sum(client.probes for client in crowd) - before <= 8
    assert all(client.plays for client in playing)


# Games that are played again.


def test_game_of_a_client_that_cannot_be_told_a_board_is_played_again(world: World) -> None:
    ann, bob = pair(world, HANGING_UP, STANDING_BY)
    world.play("33", (ann, bob))
    first = bob.last(Started)
    ann.break_off()
    world.wait(2.0)
    bob.news()
    again = returning(world, HANGING_UP)
    [result] = world.results
    assert (result.reason, result.winner, result.leaver, result.round) == (Reason.REPLAYED, None, 0, 1)
    assert not result.counted
    assert [type(event) for event in again.heard[1:]] == [Entered, Started, ToMove]
    assert bob.last(Started).you == first.you
    assert bob.last(Started).game != first.game
    assert [type(event) for event in bob.news()] == [Ended, Started]
    world.play("0101010", (again, bob))
    assert world.results[-1].round == 1
    assert world.results[-1].winner == 0
    assert bob.moves_first  # as usual after one round


def test_player_that_breaks_off_again_before_the_repetition_has_left(world: World) -> None:
    """Otherwise its opponent could be held for ever."""
    ann, bob = pair(world, HANGING_UP, STEPPING_OUT)
    world.play("33", (ann, bob))
    ann.break_off()
    ann = returning(world, HANGING_UP)
    ann.break_off()
    assert ann.seat.is_gone
    bob.enter(TABLE, "bob")
    assert not bob.plays


def test_player_that_breaks_off_again_has_lost_also_before_both_have_moved(world: World) -> None:
    ann, bob = pair(world, HANGING_UP, STANDING_BY)
    world.play("33", (ann, bob))
    ann.break_off()
    returning(world, HANGING_UP).break_off()
    assert [(result.reason, result.winner) for result in world.results] == [
        (Reason.REPLAYED, None),
        (Reason.LEFT, 1),
    ]


def test_right_to_a_repetition_is_that_of_the_round(world: World) -> None:
    """Who has used it in a round still has it in the next one, also before that begins again."""
    ann, bob = pair(world, HANGING_UP, HANGING_UP)
    ann.break_off()
    ann = returning(world, HANGING_UP)
    world.play("0101010", (ann, bob))
    bob.break_off()
    returning(world, HANGING_UP, "bob", origin=OTHER_ADDRESS)
    ann.break_off()
    assert not ann.seat.is_gone
    assert returning(world, HANGING_UP).seat is ann.seat


def test_opponent_that_is_away_may_come_back_until_the_end_of_the_grace(world: World) -> None:
    """It need not ask for the game that is played again within `rejoin` seconds."""
    world = World(grace=30.0, rejoin=2.0)
    ann, bob = pair(world, HANGING_UP, STEPPING_OUT)
    bob.break_off()
    ann.break_off()
    ann = returning(world, HANGING_UP)
    world.wait(10.0)
    bob = returning(world, STEPPING_OUT, "bob", origin=OTHER_ADDRESS)
    assert ann.plays
    assert bob.plays


def test_who_has_asked_for_another_place_gives_up_the_repetition() -> None:
    matchmaker = Late(random.Random(0), grace=GRACE)
    world = World(matchmaker, grace=GRACE)
    ann, bob = pair(world, HANGING_UP, STEPPING_OUT)
    ann.break_off()
    ann = returning(world, HANGING_UP)
    matchmaker.is_late = True
    bob.enter(LOBBY, "bob")
    bob.break_off()
    assert bob.seat.is_gone


def test_game_that_is_played_again_counts_once_as_a_meeting(world: World) -> None:
    """At a table the first move swaps after each game that counts."""
    ann, bob = pair(world, HANGING_UP, STEPPING_OUT)
    ann.break_off()
    ann = returning(world, HANGING_UP)
    bob.enter(TABLE, "bob")
    ann.leave()
    carl = world.player(STEPPING_OUT, "carl", TABLE)
    bob.enter(TABLE, "bob")
    assert carl.plays
    assert carl.moves_first  # as the player had whose seat it took
    for game in range(2):
        assert isinstance(world.hub.matchmaker, LobbyAndTables)
        world.play("0101010", (carl, bob) if carl.request else (bob, carl))
        carl.enter(TABLE, "carl")
        bob.enter(TABLE, "bob")
        assert carl.moves_first is bool(game)


def test_game_is_played_again_once_for_each_player(world: World) -> None:
    ann, bob = pair(world, HANGING_UP, HANGING_UP)
    ann.break_off()
    ann = returning(world, HANGING_UP)
    bob.break_off()
    bob = returning(world, HANGING_UP, "bob", origin=OTHER_ADDRESS)
    world.wait(1.0)  # ann may have sent a move of the game before
    world.play("33", (ann, bob))
    ann.break_off()
    assert [result.reason for result in world.results] == [Reason.REPLAYED, Reason.REPLAYED, Reason.LEFT]


def test_next_round_may_be_played_again_too(world: World) -> None:
    ann, bob = pair(world, HANGING_UP, HANGING_UP)
    ann.break_off()
    ann = returning(world, HANGING_UP)
    world.play("0101010", (ann, bob))
    ann.break_off()
    ann = returning(world, HANGING_UP)
    world.wait(1.0)  # bob may have sent a move of the game before
    assert [result.reason for result in world.results] == [Reason.REPLAYED, Reason.FOUR, Reason.REPLAYED]
    assert [result.round for result in world.results] == [1, 1, 2]
    assert not ann.moves_first


def test_move_that_cannot_arrive_any_more_does_not_become_late(world: World) -> None:
    ann, bob = pair(world, HANGING_UP, HANGING_UP)
    bob.break_off()
    returning(world, HANGING_UP, "bob", origin=OTHER_ADDRESS)  # ann may have sent a move of the game before
    ann.break_off()
    ann = returning(world, HANGING_UP)
    world.wait(1.0)
    assert [type(event) for event in ann.play(3)] == [Moved]


def test_opponent_that_has_to_ask_is_waited_for(world: World) -> None:
    ann, bob = pair(world, HANGING_UP, STEPPING_OUT)
    world.play("33", (ann, bob))
    ann.break_off()
    again = returning(world, HANGING_UP)
    assert not again.plays
    bob.enter(TABLE, "bob")
    assert again.plays
    assert again.moves_first


# Both, and the end.


def test_both_players_come_back(world: World) -> None:
    ann, bob = pair(world, STANDING_BY, STEPPING_OUT)
    world.play("33", (ann, bob))
    ann.break_off()
    bob.break_off()
    bob = returning(world, STEPPING_OUT, "bob", origin=OTHER_ADDRESS)
    ann = returning(world, STANDING_BY)
    world.play("4", (ann, bob))
    assert bob.plays


def test_first_of_two_that_stay_away_loses(world: World) -> None:
    ann, bob = pair(world, STANDING_BY, STEPPING_OUT)
    world.play("33", (ann, bob))
    bob.break_off()
    world.wait(1.0)
    ann.break_off()
    world.wait(GRACE)
    [result] = world.results
    assert (result.reason, result.leaver) == (Reason.LEFT, 1)
    assert world.is_empty()


def test_game_that_ends_while_a_player_is_away_lets_the_seat_go(world: World) -> None:
    ann, bob = pair(world, HANGING_UP, HANGING_UP)
    world.play("33", (ann, bob))
    ann.break_off()
    bob.leave()
    [result] = world.results
    assert (result.reason, result.leaver) == (Reason.LEFT, 1)
    assert world.is_empty()


def test_player_away_may_find_the_game_of_the_other_played_again(world: World) -> None:
    ann, bob = pair(world, HANGING_UP, STEPPING_OUT)
    world.play("33", (ann, bob))
    bob.break_off()
    ann.break_off()
    ann = returning(world, HANGING_UP)
    assert not ann.plays
    bob = returning(world, STEPPING_OUT, "bob", origin=OTHER_ADDRESS)
    assert ann.plays
    assert bob.plays


def test_draining_server_keeps_no_seat(world: World) -> None:
    ann, bob = pair(world, STANDING_BY, STANDING_BY)
    world.play("33", (ann, bob))
    world.hub.drain()
    ann.break_off()
    assert world.results[0].reason is Reason.LEFT


def test_kicked_player_has_left(world: World) -> None:
    ann, bob = pair(world, STANDING_BY, STANDING_BY)
    world.play("33", (ann, bob))
    ann.break_off()
    world.hub.submit(ann.seat, Leave(), world.now)
    assert world.results[0].reason is Reason.LEFT


def test_move_of_the_old_connection_does_not_count(world: World) -> None:
    """A connection submits nothing after it broke; the seat belongs to another one then."""
    ann, _ = pair(world, STANDING_BY, STANDING_BY)
    ann.break_off()
    again = returning(world, STANDING_BY)
    assert again.seat is ann.seat
    again.say(Play(3))
    assert again.request is None


def test_spectators_are_told(world: World) -> None:
    facts = world.hub.feed.subscribe(lambda: None, (Away, Back))
    ann, _ = pair(world, STANDING_BY, STANDING_BY)
    game = ann.last(Started).game
    ann.break_off()
    world.wait(3.0)
    [(_, standing)] = world.hub.snapshot(world.now).games
    assert standing.away == (AwayFor(pytest.approx(3.0), GRACE), None)
    returning(world, STANDING_BY)
    assert facts.take() == [Away(game, 0, "ann", GRACE), Back(game, 0, "ann", pytest.approx(3.0))]
    [(_, standing)] = world.hub.snapshot(world.now).games
    assert standing.away == (None, None)


def test_spectators_are_told_since_when_a_player_is_away_when_a_game_begins_without_it(world: World) -> None:
    ann, bob = pair(world, HANGING_UP, STANDING_BY)
    bob.break_off()
    world.wait(3.0)
    ann.break_off()
    facts = world.hub.feed.subscribe(lambda: None, (Away, Back))
    ann = returning(world, HANGING_UP)
    game = ann.last(Started).game
    assert facts.take()[-1] == Away(game, 1, "bob", GRACE, pytest.approx(3.0))


def test_second_return_is_judged_by_the_new_connection(world: World) -> None:
    ann = world.client(STANDING_BY, ADDRESS)
    ann.say(Enter(TABLE, "ann"))
    world.player(STANDING_BY, "bob", TABLE)
    ann.break_off()
    again = returning(world, STANDING_BY, origin=OTHER_ADDRESS, proven=True)
    again.break_off()
    assert not returning(world, STANDING_BY).plays
    assert returning(world, STANDING_BY, origin="192.0.2.9", proven=True).plays

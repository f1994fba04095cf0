"""Players of two nodes: they hear what two players of one node hear."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st
from two_nodes import TwoNodes, turn_of
from worlds.hub import (
    DRAWN,
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
    World,
)

from gateway.game.commands import Ask, AtTable, Enter, Place, Unfit, Unreadable
from gateway.game.events import (
    Dismissed,
    Ended,
    Entered,
    Event,
    Overlooked,
    Reason,
    Started,
    ToMove,
    Why,
)
from gateway.game.facts import Came, Waits
from gateway.game.manners import Manners
from gateway.hub.seats import Hosted, PlayingElsewhere, Seated, Waiting

ONCE = replace(ONE_GAME, opens=False)
"""As `ONE_GAME`, for a player that moves second on another node."""
HOSTS = MANNERS | {"plays one game": ONE_GAME}
REMOTES = MANNERS | {"plays one game": ONCE}
hosts = pytest.mark.parametrize("host", HOSTS.values(), ids=HOSTS)
remotes = pytest.mark.parametrize("remote", REMOTES.values(), ids=REMOTES)


class Story:
    """Two players, on one node or on two, and what they do; the host moves first."""

    def __init__(
        self,
        host: Manners = STANDING_BY,
        remote: Manners = STANDING_BY,
        *,
        nodes: int = 2,
        place: Place = LOBBY,
        columns: str = "",
    ) -> None:
        self.way, self.world = TwoNodes(), World()
        if nodes == 2:
            self.host = self.way.host.player(host, "ann", place)
            self.remote = self.way.remote.player(remote, "bob", place)
            self.match = self.way.meet(
                self.host, self.remote, place.name if isinstance(place, AtTable) else None
            )
        else:
            for seed in count():
                self.world = World(seed=seed)
                self.host, self.remote = self.world.pair(host, remote, LOBBY)
                if self.host.moves_first:
                    break
        self.players = [self.host, self.remote]
        self.play(columns)

    def play(self, columns: Iterable[str]) -> None:
        for column in columns:
            mover = next(player for player in self.players if player.request is not None)
            mover.hand()
            mover.play(int(column))
            self.way.carry()

    def wait(self, seconds: float) -> None:
        self.world.wait(seconds)
        self.way.wait(seconds)


def heard(client: Client, rounds: int) -> list[Event]:
    """Return what a player heard from its game on until a series of so many rounds was over."""
    begun = next(index for index, event in enumerate(client.heard) if isinstance(event, Started))
    ends = [index for index, event in enumerate(client.heard) if isinstance(event, Ended)]
    return client.heard[begun : ends[rounds - 1] + 1 if len(ends) >= rounds else None]


def same(act: Callable[[Story], object], host: Manners, remote: Manners) -> Story:
    """Act on one node and on two, which has to make no difference; return the story of two."""
    stories = [Story(host, remote, nodes=nodes) for nodes in (1, 2)]
    for story in stories:
        act(story)
    rounds = max(host.rounds, remote.rounds)
    one, two = ([heard(player, rounds) for player in story.players] for story in stories)
    assert one == two
    return stories[1]


@hosts
@remotes
@pytest.mark.parametrize("columns", [FIRST_WINS, SECOND_WINS, DRAWN])
def test_events_of_a_game_are_those_of_one_node(host: Manners, remote: Manners, columns: str) -> None:
    story = same(lambda story: story.play(columns), host, remote)
    assert [len(player.all(Ended)) for player in story.players] == [1, 1]


@hosts
@remotes
@pytest.mark.parametrize("number", [0, 1])
@pytest.mark.parametrize("columns", ["", "33"])
def test_decision_of_the_director_ends_the_game_as_on_one_node(
    host: Manners, remote: Manners, number: int, columns: str
) -> None:
    def act(story: Story) -> None:
        story.play(columns)
        situation = story.host.seat.situation
        assert isinstance(situation, Seated)
        hub = story.world.hub if story.host.seat in story.world.hub.seats() else story.way.host.hub
        hub.adjudicate(situation.series.seats[number], story.world.now)
        story.way.carry()

    story = same(act, host, remote)
    for player, is_lost in zip(story.players, (number == 0, number == 1), strict=True):
        [ended] = player.all(Ended)
        assert (ended.winner == player.last(Started).you) is not is_lost


OTHERS = {
    "ask": Ask(),
    "unfit": Unfit(),
    "unreadable": Unreadable(),
    "enter": Enter(LOBBY),
    "again": Enter(LOBBY, "carl"),
}
ACTIONS = st.one_of(
    st.tuples(st.just("play"), st.integers(-1, 7)),
    st.tuples(st.sampled_from(["hand", *OTHERS, "wait"]), st.just(0)),
)


@given(
    host=st.sampled_from([*HOSTS.values()]),
    remote=st.sampled_from([*REMOTES.values()]),
    actions=st.lists(st.tuples(st.integers(0, 1), ACTIONS), max_size=30),
)
def test_events_are_those_of_one_node_whatever_the_two_do(
    host: Manners, remote: Manners, actions: list[tuple[int, tuple[str, int]]]
) -> None:
    def act(story: Story) -> None:
        for number, (action, column) in actions:
            player = story.players[number]
            if any(each.gone or isinstance(each.seat.situation, Waiting) for each in story.players):
                return  # what comes after their series is for those who pair
            if action == "play":
                if player.request is not None:
                    player.hand()
                player.play(column)
            elif action == "hand" and player.request is not None:
                player.hand()
            elif action == "wait":
                story.wait(7.0)
            elif action in OTHERS:
                player.say(OTHERS[action])
            story.way.carry()

    same(act, host, remote)


# Time.


def test_way_between_the_nodes_costs_no_time() -> None:
    story = Story(columns="3")
    story.wait(5.0)  # the request has not left for the client yet
    story.remote.hand()
    story.wait(2.0)
    story.remote.play(3)
    story.wait(9.0)
    story.way.carry()
    story.play("3")
    assert story.remote.last(ToMove).rest == pytest.approx(40.0)
    story.remote.play(4)  # before its request has left
    story.way.carry()
    story.play("3")
    assert story.remote.last(ToMove).rest == pytest.approx(40.0)


@pytest.mark.parametrize("manners", [STANDING_BY, HANGING_UP])
def test_remote_player_s_flag_falls_by_the_time_of_its_own_node(manners: Manners) -> None:
    story = Story(STANDING_BY, manners, columns="3")
    story.wait(60.0)
    story.remote.hand()
    story.wait(41.9)
    assert story.remote.plays
    story.wait(0.2)
    assert [(each.last(Ended).reason, each.last(Ended).winner) for each in story.players] == [
        (Reason.TIME, 0)
    ] * 2


# Games that are cut in two.


@hosts
@remotes
def test_game_that_is_cut_in_two_has_no_result_and_both_hear_that_the_other_left(
    host: Manners, remote: Manners
) -> None:
    story = Story(host, remote, place=AtTable("round"), columns="34")
    story.way.cut()
    for number, player in enumerate(story.players):
        ended = player.last(Ended)
        assert (ended.reason, ended.winner, ended.has_result) == (Reason.STOPPED, None, False)
        assert (ended.leaver, ended.board.moves) == (1 - number, (3, 4))
    assert story.remote.seat.waits == (remote not in (STEPPING_OUT, ONCE))
    assert [player.gone for player in story.players] == [host is ONE_GAME, remote is ONCE]
    kept = [result for node in (story.way.host, story.way.remote) for result in node.results]
    assert [(each.game, each.counted, each.table, each.round) for each in kept] == [
        (kept[0].game, False, "round", 1)
    ] * 2


def test_player_of_one_game_that_had_none_yet_goes_on_waiting_when_its_node_is_cut_off() -> None:
    way = TwoNodes()
    remote = way.remote.player(ONCE, "bob")
    host = way.host.player(STANDING_BY, "ann")
    player = host.seat.player()
    way.remote.hub.meet(Hosted(turn_of(remote), "other", player), way.remote.now)
    way.cut()
    assert (remote.gone, remote.seat.waits) == (False, True)


def test_player_hears_its_table_in_each_round_on_another_node() -> None:
    story = Story(HANGING_UP, STEPPING_OUT, place=TABLE, columns=FIRST_WINS)
    story.remote.enter(TABLE, "bob")
    story.way.carry()
    assert [each.table for each in story.remote.all(Entered)] == [TABLE.name] * 2


@pytest.mark.parametrize(
    ("before", "column", "moves"),
    [
        ("3", 4, (3, 4)),
        ("3", 7, (3,)),
        ("3", None, (3,)),
        ("3434342", 4, (3, 4, 3, 4, 3, 4, 2)),  # it wins, if the node of the game says so
    ],
)
def test_move_that_may_not_have_arrived_when_a_game_is_cut_in_two_counts(
    before: str, column: int | None, moves: tuple[int, ...]
) -> None:
    story = Story(columns=before)
    story.remote.play(column)
    story.way.cut()
    assert story.remote.last(Ended).board.moves == moves


def test_remote_player_whose_move_was_under_way_when_its_game_was_cut_waits_once_that_has_come() -> None:
    story = Story(columns="343")
    story.way.cut()
    assert not story.remote.seat.waits
    assert story.remote.play(4) == [Overlooked(story.remote.last(Ended).game)]
    assert story.remote.seat.waits


# How a series ends.


def test_player_that_has_left_its_game_on_another_node_hears_nothing_more() -> None:
    story = Story(columns="34")
    story.remote.leave()
    story.way.carry()
    assert story.host.last(Ended).reason is Reason.LEFT
    assert story.remote.last(Dismissed).why is Why.LEFT
    assert not story.remote.all(Ended)


@pytest.mark.parametrize("is_over", [True, False])
def test_series_whose_remote_player_is_not_there_ends_without_a_result(is_over: bool) -> None:
    story = Story(columns="3")
    node = story.way.host
    if is_over:
        story.host.leave()
    node.hub.desert(story.match)
    node.hub.settle(node.now)
    assert [(each.reason, each.winner) for each in node.results] == [
        (Reason.ABORTED if is_over else Reason.STOPPED, None)
    ]
    assert is_over or isinstance(story.host.seat.situation, Waiting)


@pytest.mark.parametrize("drains", [True, False])
def test_player_whose_match_came_to_nothing_waits_in_another_turn_while_games_begin(drains: bool) -> None:
    node = TwoNodes().host
    player = node.nac4("ann")
    turn, since = turn_of(player), player.seat.situation.since
    if drains:
        node.hub.drain()
    node.hub.wait_anew(turn, node.now)
    assert (turn_of(player) == turn, player.seat.situation.since) == (drains, since)


@pytest.mark.parametrize("between_rounds", [True, False])
def test_remote_player_of_a_node_that_stops_keeps_its_seat(between_rounds: bool) -> None:
    story = Story(HANGING_UP, STEPPING_OUT if between_rounds else STANDING_BY)
    story.play("3434343" if between_rounds else "34")
    story.way.host.hub.close(story.way.host.now)
    story.way.carry()
    assert story.remote.last(Ended).reason is (Reason.FOUR if between_rounds else Reason.STOPPED)
    assert not story.remote.all(Dismissed)
    assert not isinstance(story.remote.seat.situation, PlayingElsewhere)


def test_remote_player_of_a_node_that_drains_finishes_its_game_and_keeps_its_seat() -> None:
    story = Story(columns="34")
    host = story.way.host
    host.hub.drain()
    story.play("34343")
    for seat in host.hub.seats():
        host.hub.let_go(seat, host.now)
    story.way.carry()
    assert story.remote.last(Ended).reason is Reason.FOUR
    assert isinstance(story.remote.seat.situation, Waiting)


def test_remote_player_hears_of_an_end_once_it_is_stored() -> None:
    story = Story()
    kept = story.way.host.kept
    kept.is_slow = True
    story.play(FIRST_WINS)
    assert story.remote.plays
    kept.store(story.way.host.results[0].game)
    story.way.carry()
    assert story.remote.last(Ended).reason is Reason.FOUR
    assert isinstance(story.remote.seat.situation, Waiting)


@pytest.mark.parametrize("place", ["green", "red"])
def test_remote_player_asks_for_the_next_round_or_for_another_place_as_at_home(place: str) -> None:
    story = Story(HANGING_UP, STEPPING_OUT, place=AtTable("green"), columns=FIRST_WINS)
    story.remote.enter(AtTable(place))
    story.way.carry()
    goes_on = place == "green"
    assert story.remote.games == (2 if goes_on else 1)
    assert story.way.host.silent.over == ([] if goes_on else [story.match])
    assert isinstance(story.remote.seat.situation, PlayingElsewhere if goes_on else Waiting)


def test_those_who_pair_and_those_who_follow_the_node_hear_that_a_player_is_back() -> None:
    story = Story()
    away, facts = story.remote.seat.situation, story.way.remote.hub.feed.subscribe(lambda: None)
    assert isinstance(away, PlayingElsewhere)
    story.play(FIRST_WINS)
    story.wait(0.6)
    assert story.way.remote.silent.over == [away.match]
    assert story.way.host.silent.over == [story.match]
    assert [type(fact) for fact in facts.take()] == [Came, Waits]

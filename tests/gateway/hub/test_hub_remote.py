"""Players of two nodes: what they are told is what two players of one node are told."""

from collections.abc import Callable, Iterable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from two_nodes import TwoNodes, turn_of
from worlds.hub import (
    DRAWN,
    FIRST_WINS,
    HANGING_UP,
    SECOND_WINS,
    STANDING_BY,
    STEPPING_OUT,
    Client,
    World,
)

from gateway.game.commands import LOBBY, Ask, AtTable, Enter, InLobby, Place, Unfit, Unreadable
from gateway.game.events import (
    NOTHING,
    Dismissed,
    Ended,
    Event,
    Moved,
    Objection,
    Overlooked,
    Reason,
    Started,
    ToMove,
    Why,
)
from gateway.game.facts import Came, Waits
from gateway.game.manners import Manners
from gateway.hub.seats import PlayingElsewhere, Waiting
from gateway.matchmaking.matchmaker import Decision

MANNERS = {"stands by": STANDING_BY, "steps out": STEPPING_OUT, "hangs up": HANGING_UP}
ALL = pytest.mark.parametrize("remote", MANNERS.values(), ids=MANNERS)


def entered(world: World, manners: Manners, name: str, place: Place = LOBBY) -> Client:
    client = world.client(manners)
    client.enter(place, name)
    return client


class Story:
    """Two players, on one node or on two, and what they do."""

    def __init__(self, host: Manners, remote: Manners, *, nodes: int, place: Place = LOBBY) -> None:
        self.way = TwoNodes()
        self.world = World()
        if nodes == 2:
            self.host = entered(self.way.host, host, "ann", place)
            self.remote = entered(self.way.remote, remote, "bob", place)
            table = place.name if isinstance(place, AtTable) else None
            self.match = self.way.meet(self.host, self.remote, table)
        else:
            while True:  # until the lot lets the right one open
                self.world = World(seed=self.seed)
                self.host = entered(self.world, host, "ann")
                self.remote = entered(self.world, remote, "bob")
                if self.host.last(Started).names == ("ann", "bob"):
                    break
                self.seed += 1
        self.players = [self.host, self.remote]

    seed = 0

    def carry(self) -> None:
        self.way.carry()

    def play(self, columns: Iterable[int]) -> None:
        for column in columns:
            mover = next(player for player in self.players if player.request is not None)
            mover.hand()
            mover.play(int(column))
            self.carry()

    def wait(self, seconds: float) -> None:
        self.world.wait(seconds)
        self.way.wait(seconds)


def heard(client: Client, rounds: int) -> list[Event]:
    """Return what a player heard until a series of so many rounds was over."""
    ends = [index for index, event in enumerate(client.heard) if isinstance(event, Ended)]
    return client.heard[: ends[rounds - 1] + 1] if len(ends) >= rounds else client.heard


def same(told: Callable[[Story], object], host: Manners, remote: Manners) -> Story:
    """Tell the story on one node and on two, which has to make no difference; return that of two."""
    stories = [Story(host, remote, nodes=nodes) for nodes in (1, 2)]
    for story in stories:
        told(story)
    rounds = max(host.rounds, remote.rounds)
    one, two = ([heard(player, rounds) for player in story.players] for story in stories)
    assert one == two
    return stories[1]


@ALL
@pytest.mark.parametrize("host", MANNERS.values(), ids=MANNERS)
@pytest.mark.parametrize("columns", [FIRST_WINS, SECOND_WINS, DRAWN])
def test_game_is_told_as_on_one_node(host: Manners, remote: Manners, columns: str) -> None:
    story = same(lambda story: story.play(map(int, columns)), host, remote)
    assert [len(player.all(Ended)) for player in story.players] == [1, 1]


OTHERS = {
    "ask": Ask(),
    "unfit": Unfit(),
    "unreadable": Unreadable(),
    "enter": Enter(InLobby()),
    "again": Enter(InLobby(), "carl"),
}

ACTIONS = st.one_of(
    st.tuples(st.just("play"), st.integers(-1, 7)),
    st.tuples(
        st.sampled_from(["hand", "ask", "unfit", "unreadable", "enter", "again", "leave", "wait"]), st.just(0)
    ),
)


@given(
    host=st.sampled_from([*MANNERS.values()]),
    remote=st.sampled_from([*MANNERS.values()]),
    actions=st.lists(st.tuples(st.integers(0, 1), ACTIONS), max_size=30),
)
def test_whatever_the_two_do_they_are_told_as_on_one_node(
    host: Manners, remote: Manners, actions: list[tuple[int, tuple[str, int]]]
) -> None:
    def told(story: Story) -> None:
        for number, (action, column) in actions:
            player = story.players[number]
            if any(each.gone or not each.games for each in story.players) or not in_series(story):
                return
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
            story.carry()

    same(told, host, remote)


def in_series(story: Story) -> bool:
    """Whether the two are in their series: what comes after is for those who pair."""
    return not any(isinstance(player.seat.situation, Waiting) for player in story.players)


def test_way_between_the_nodes_costs_no_time() -> None:
    story = Story(STANDING_BY, STANDING_BY, nodes=2)
    story.play([3])
    story.wait(5.0)  # the request has not left for the client yet
    story.remote.hand()
    story.wait(2.0)
    story.remote.play(3)
    story.wait(9.0)
    story.carry()
    story.host.hand()
    story.host.play(3)
    story.carry()
    assert story.remote.last(ToMove).rest == pytest.approx(40.0)


def test_move_whose_request_has_not_left_for_the_client_costs_the_remote_player_no_time() -> None:
    story = Story(STANDING_BY, STANDING_BY, nodes=2)
    story.play([3])
    story.wait(5.0)
    story.remote.play(3)
    story.carry()
    story.play([3])
    assert story.remote.last(ToMove).rest == pytest.approx(42.0)


@pytest.mark.parametrize("manners", [STANDING_BY, HANGING_UP])
def test_remote_player_s_flag_falls_by_the_time_of_its_own_node(manners: Manners) -> None:
    story = Story(STANDING_BY, manners, nodes=2)
    story.play([3])
    story.wait(60.0)
    assert story.remote.plays
    story.remote.hand()
    story.wait(41.9)
    assert story.remote.plays
    story.wait(0.2)
    assert [player.last(Ended).reason for player in story.players] == [Reason.TIME, Reason.TIME]
    assert story.host.last(Ended).winner == 0


def test_move_that_is_late_at_the_host_alone_is_in_time() -> None:
    story = Story(STANDING_BY, STANDING_BY, nodes=2)
    story.play([3])
    story.remote.hand()
    story.way.remote.wait(41.0)
    story.remote.play(3)
    story.way.host.wait(50.0)
    story.carry()
    assert story.host.last(Moved).column == 3


def lost(host: Manners = STANDING_BY, remote: Manners = STANDING_BY, columns: str = "34") -> Story:
    story = Story(host, remote, nodes=2)
    story.play(map(int, columns))
    story.way.cut()
    return story


@ALL
@pytest.mark.parametrize("host", MANNERS.values(), ids=MANNERS)
def test_game_that_is_cut_in_two_has_no_result_and_both_hear_that_the_other_left(
    host: Manners, remote: Manners
) -> None:
    story = lost(host, remote)
    for number, player in enumerate(story.players):
        ended = player.last(Ended)
        assert (ended.reason, ended.winner) == (Reason.STOPPED, None)
        assert (ended.has_result, ended.leaver) == (False, 1 - number)
        assert ended.board.moves == (3, 4)
    kept = [node.results for node in (story.way.host, story.way.remote)]
    assert [len(results) for results in kept] == [1, 1]
    assert kept[0][0].game == kept[1][0].game
    assert not kept[0][0].counted
    assert not kept[1][0].counted


def test_game_that_is_cut_in_two_keeps_its_table_and_round_on_both_nodes() -> None:
    story = Story(STANDING_BY, STANDING_BY, nodes=2, place=AtTable("round"))
    story.way.cut()
    for node in (story.way.host, story.way.remote):
        assert [(each.table, each.round) for each in node.results] == [("round", 1)]


@pytest.mark.parametrize(
    ("column", "moves"),
    [(4, (3, 4)), (7, (3,)), (None, (3,))],
)
def test_move_that_may_not_have_arrived_when_a_game_is_cut_in_two_counts(
    column: int | None, moves: tuple[int, ...]
) -> None:
    story = Story(STANDING_BY, STANDING_BY, nodes=2)
    story.play([3])
    story.remote.play(column)
    story.way.cut()
    assert story.remote.last(Ended).board.moves == moves


def test_move_that_wins_counts_only_if_the_node_of_the_game_says_so() -> None:
    story = Story(STANDING_BY, STANDING_BY, nodes=2)
    story.play([3, 4, 3, 4, 3, 4, 2])
    story.remote.play(4)
    story.way.cut()
    assert story.remote.last(Ended).board.moves == (3, 4, 3, 4, 3, 4, 2)


def test_who_stands_by_waits_again_when_the_game_was_cut_in_two() -> None:
    story = lost()
    assert [type(player.seat.situation) for player in story.players] == [Waiting, Waiting]


def test_what_the_matchmakers_answer_when_a_game_was_cut_in_two_is_carried_out_at_once() -> None:
    story = Story(STANDING_BY, STANDING_BY, nodes=2)
    nodes = story.way.host, story.way.remote
    for node in nodes:
        node.silent.late.append(Decision(7, NOTHING))  # nobody is there: it has to leave
    story.way.cut()
    assert all(7 in node.silent.left for node in nodes)


def test_remote_player_whose_move_was_under_way_when_its_game_was_cut_waits_once_that_has_come() -> None:
    remote = lost(columns="343").remote
    assert not remote.seat.waits
    assert remote.play(4) == [Overlooked(remote.last(Ended).game)]
    assert remote.seat.waits


def test_remote_player_that_was_asked_for_no_move_when_its_game_was_cut_in_two_waits_at_once() -> None:
    assert lost().remote.seat.waits


def test_player_that_has_left_its_game_on_another_node_is_told_nothing_more() -> None:
    story = Story(STANDING_BY, STANDING_BY, nodes=2)
    story.play([3, 4])
    story.remote.leave()
    story.carry()
    assert story.host.last(Ended).reason is Reason.LEFT
    assert story.remote.last(Dismissed).why is Why.LEFT
    assert not story.remote.all(Ended)


def desert(story: Story) -> None:
    """Let the host hear that its remote player is not there."""
    node = story.way.host
    node.hub.desert(story.match)
    node.hub.settle(node.now)


def test_series_whose_remote_player_is_not_there_ends_without_a_result() -> None:
    story = Story(STANDING_BY, STANDING_BY, nodes=2)
    story.play([3])
    desert(story)
    assert (story.host.last(Ended).reason, story.host.last(Ended).winner) == (Reason.STOPPED, None)
    assert isinstance(story.host.seat.situation, Waiting)


def test_deserted_series_that_is_over_already_changes_nothing() -> None:
    story = Story(STANDING_BY, STANDING_BY, nodes=2)
    story.host.leave()
    desert(story)
    assert len(story.way.host.results) == 1


def test_player_whose_match_came_to_nothing_waits_in_another_turn() -> None:
    node = TwoNodes().host
    player = entered(node, STANDING_BY, "ann")
    turn, since = turn_of(player), player.seat.situation.since
    node.hub.wait_anew(turn, node.now)
    assert turn_of(player) != turn
    assert player.seat.situation.since == since


def test_where_no_game_begins_any_more_nobody_waits_again() -> None:
    node = TwoNodes().host
    player = entered(node, STANDING_BY, "ann")
    turn = turn_of(player)
    node.hub.drain()
    node.hub.wait_anew(turn, node.now)
    assert turn_of(player) == turn


def test_remote_player_of_a_node_that_stops_hears_of_no_result_and_keeps_its_seat() -> None:
    story = Story(STANDING_BY, STANDING_BY, nodes=2)
    story.play([3, 4])
    story.way.host.hub.close(story.way.host.now)
    story.carry()
    assert (story.remote.last(Ended).reason, story.remote.last(Ended).winner) == (Reason.STOPPED, None)
    assert not story.remote.all(Dismissed)
    assert isinstance(story.remote.seat.situation, Waiting)


def test_remote_player_of_a_node_that_drains_finishes_its_game_and_keeps_its_seat() -> None:
    story = Story(STANDING_BY, STANDING_BY, nodes=2)
    story.play([3, 4])
    host = story.way.host
    host.hub.drain()
    story.play([3, 4, 3, 4, 3])
    for seat in host.hub.seats():
        host.hub.let_go(seat, host.now)
    story.carry()
    assert story.remote.last(Ended).reason is Reason.FOUR
    assert isinstance(story.remote.seat.situation, Waiting)


def test_remote_player_hears_of_an_end_once_it_is_stored() -> None:
    story = Story(STANDING_BY, STANDING_BY, nodes=2)
    unstored = Unstored(story.way.host)
    story.play([3, 4, 3, 4, 3, 4, 3])
    assert not story.remote.all(Ended)
    assert story.remote.plays
    unstored.store()
    story.carry()
    assert story.remote.last(Ended).reason is Reason.FOUR
    assert isinstance(story.remote.seat.situation, Waiting)


class Posting(Client):
    """Passes on what it was told when the hub is done."""

    def __init__(self, world: World) -> None:
        self.posts: list[list[type[Event]]] = []
        self._held: list[type[Event]] = []
        super().__init__(world, STANDING_BY)

    def deliver(self, event: Event) -> None:
        super().deliver(event)
        if not self._held:
            self._world.hub.expect(self)
        self._held.append(type(event))

    def flush(self) -> None:
        self.posts.append(self._held)
        self._held = []


def test_what_arrives_together_leaves_for_the_remote_player_together() -> None:
    way = TwoNodes()
    host, remote = entered(way.host, STANDING_BY, "ann"), Posting(way.remote)
    remote.enter(InLobby(), "bob")
    way.meet(host, remote)
    remote.posts.clear()
    host.play(3)
    way.carry()
    assert remote.posts == [[Moved, ToMove]]


class Unstored:
    """Results of a node that take a while to be stored."""

    def __init__(self, node: World) -> None:
        self._told: list[Callable[[], object]] = []
        self._is_open = True
        results: Any = node.hub.results
        results.is_open = lambda game: self._is_open
        results.when_stored = lambda game, then: self._told.append(then)

    def store(self) -> None:
        self._is_open = False
        for then in self._told:
            then()


def between_rounds(remote: Manners, place: Place = LOBBY) -> Story:
    """Return two players who have played the first of four rounds."""
    story = Story(HANGING_UP, remote, nodes=2, place=place)
    story.play([3, 4, 3, 4, 3, 4, 3])
    assert [len(player.all(Ended)) for player in story.players] == [1, 1]
    return story


def test_remote_player_of_a_node_that_stops_between_two_rounds_keeps_its_seat() -> None:
    story = between_rounds(STEPPING_OUT)
    story.way.host.hub.close(story.way.host.now)
    story.carry()
    assert not story.remote.all(Dismissed)
    assert not isinstance(story.remote.seat.situation, PlayingElsewhere)


def test_remote_player_at_a_table_asks_for_the_next_round_as_at_home() -> None:
    story = between_rounds(STEPPING_OUT, AtTable("green"))
    story.remote.enter(AtTable("green"))
    story.carry()
    assert len(story.remote.all(Started)) == 2


def test_remote_player_that_asks_for_another_place_between_two_rounds_leaves_its_series() -> None:
    story = between_rounds(STEPPING_OUT, AtTable("green"))
    story.remote.enter(AtTable("red"))
    story.carry()
    assert story.way.host.silent.over == [story.match]
    assert isinstance(story.remote.seat.situation, Waiting)


def test_matchmakers_of_both_nodes_hear_that_a_series_is_over() -> None:
    story = Story(STANDING_BY, STANDING_BY, nodes=2)
    away = story.remote.seat.situation
    assert isinstance(away, PlayingElsewhere)
    story.play([3, 4, 3, 4, 3, 4, 3])
    assert story.way.remote.silent.over == [away.match]
    assert story.way.host.silent.over == [story.match]


def test_who_follows_a_node_hears_that_a_player_has_gone_to_another_and_has_come_back() -> None:
    story = Story(STANDING_BY, STANDING_BY, nodes=2)
    facts = story.way.remote.hub.feed.subscribe(lambda: None)
    story.play([3, 4, 3, 4, 3, 4, 3])
    story.wait(0.6)
    assert [type(fact) for fact in facts.take()] == [Came, Waits]


def test_matchmaker_that_lets_in_who_has_gone_hears_that_it_has_left() -> None:
    node = TwoNodes().host
    node.silent.late += Decision(7, NOTHING), Decision(8, Objection.NAME_TAKEN)
    node.hub.tick(node.now)
    assert node.silent.left == [7]

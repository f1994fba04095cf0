"""Whoever follows all nodes knows what is on on each of them, and costs them nothing while nobody does."""

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule
from worlds.cluster import LIMIT, WatchedCluster, WatchedNode, everything
from worlds.hub import FIRST_WINS, Client, wishing

from gateway.game.commands import LOBBY, AtTable, Leave
from gateway.game.facts import Cause, Obstacle

NODES = ("b", "c")
PLACES = st.sampled_from([LOBBY, AtTable("x"), AtTable("y")])
ANY = st.integers(0, 999)


class AnythingHappens(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.cluster = WatchedCluster(*NODES, followers=2)
        self.names = 0

    def clients(self) -> list[tuple[WatchedNode, Client]]:
        nodes = self.cluster.nodes.values()
        return [(node, each) for node in nodes for each in node.clients if not each.gone]

    @rule(name=st.sampled_from(NODES), kind=st.sampled_from(["nac4", "arena", "droidcon"]), place=PLACES)
    def someone_comes(self, name: str, kind: str, place: AtTable) -> None:
        node = self.cluster.nodes[name]
        self.names += 1
        node.clients.append(getattr(node, kind)(f"p{self.names}", place))

    @rule(which=ANY, columns=st.lists(st.integers(0, 6), max_size=10))
    def moves_are_made(self, which: int, columns: list[int]) -> None:
        for column in columns:
            asked = [client for _, client in self.clients() if client.request is not None]
            if asked:
                asked[which % len(asked)].play(column)

    @precondition(lambda self: self.clients())
    @rule(which=ANY)
    def someone_leaves(self, which: int) -> None:
        clients = self.clients()
        clients[which % len(clients)][1].say(Leave())

    @rule(name=st.sampled_from(NODES))
    def time_passes(self, name: str) -> None:
        self.cluster.nodes[name].wait(1.0)

    @rule(name=st.sampled_from(NODES))
    def link_goes_or_comes(self, name: str) -> None:
        if self.cluster.nodes[name].is_linked:
            self.cluster.cut(name)
        else:
            self.cluster.link(name)

    @rule(which=st.integers(0, 1))
    def someone_watches(self, which: int) -> None:
        self.cluster.followers[which].watch()

    @rule()
    def nobody_watches(self) -> None:
        for each in self.cluster.followers:
            each.stop()
        self.cluster.settle()
        assert not any(node.hub.feed.moves for node in self.cluster.nodes.values())

    @rule(name=st.sampled_from(NODES), most=st.integers(1, 20))
    def some_of_it_arrives(self, name: str, most: int) -> None:
        self.cluster.nodes[name].publish()
        self.cluster.carry(name, most)

    @rule(which=st.integers(0, 1))
    def some_of_it_is_taken(self, which: int) -> None:
        self.cluster.followers[which].take()

    @rule()
    def all_of_it_arrives(self) -> None:
        self.cluster.settle()
        for each in self.cluster.followers:
            if each.facts is not None:
                assert each.facts.is_whole
                assert everything(each.shown) == self.cluster.true()
        assert not self.cluster.refused

    def teardown(self) -> None:
        self.cluster.watch()
        self.all_of_it_arrives()


TestAnythingHappens = AnythingHappens.TestCase
TestAnythingHappens.settings = settings(stateful_step_count=40)


def test_subscriber_that_falls_behind_asks_anew_and_another_misses_nothing() -> None:
    cluster = WatchedCluster(*NODES, followers=2)
    node = cluster.nodes["b"]
    one, other = cluster.followers
    for each in cluster.followers:
        each.watch()
    cluster.settle()
    for number in range(2 * LIMIT):
        node.arena(f"p{number}", AtTable(str(number)))
        cluster.settle(one)
    assert (other.missed, everything(other.shown)) == (0, cluster.true())
    cluster.settle()
    assert (one.missed, other.missed) == (1, 0)
    assert everything(one.shown) == everything(other.shown) == cluster.true()


def test_node_that_opens_too_many_streams_is_not_understood() -> None:
    node = WatchedNode(0)
    for number in range(1, 33):
        node.publisher.receive("a", number, b"w")
    with pytest.raises(ValueError, match="too many"):
        node.publisher.receive("a", 33, b"w")


def test_why_a_player_waits_is_told_by_its_node() -> None:
    cluster = WatchedCluster(*NODES)
    before, after = cluster.nodes.values()
    before.arena("ann", wishing("Ada"))
    before.wait(5.1)
    cluster.watch()
    cluster.settle()
    after.arena("bob", wishing("Ada"))
    after.wait(5.1)
    cluster.settle()
    assert [*cluster.shown.why.values()] == [Obstacle(Cause.ABSENT, "Ada")] * 2
    assert everything(cluster.shown) == cluster.true()


def test_lost_node_vanishes_at_once_and_the_others_stay() -> None:
    cluster = WatchedCluster(*NODES)
    for name, node in cluster.nodes.items():
        node.play("01", (node.arena(f"ann of {name}"), node.arena(f"bob of {name}")))
    cluster.watch()
    cluster.settle()
    assert len(cluster.shown.games) == 2
    cluster.cut("b")
    cluster.followers[0].take()
    assert [{*started.names} for started in cluster.shown.games.values()] == [{"ann of c", "bob of c"}]
    assert everything(cluster.shown) == cluster.true()


def test_watcher_that_takes_nothing_gets_one_batch_and_then_all_anew() -> None:
    cluster = WatchedCluster("b")
    node = cluster.nodes["b"]
    cluster.watch()
    cluster.settle()
    for table in map(AtTable, "abc"):
        players = node.droidcon("ann", table), node.droidcon("bob", table)
        for column in FIRST_WINS:
            node.publish()
            node.play(column, players)
    assert node.down.count(b"1 e") == 1
    node.arena("late")
    cluster.settle()
    assert cluster.followers[0].missed == 1
    assert everything(cluster.shown) == cluster.true()


@pytest.mark.parametrize("flood", [[b"s"] * 11, [b"e"] * 11, [b"v" * 600] * 2, [b"s" * 1001]])
def test_node_that_sends_more_than_was_asked_for_costs_its_watcher_alone(flood: list[bytes]) -> None:
    cluster = WatchedCluster(*NODES, most=10, most_bytes=1000)
    for node in cluster.nodes.values():
        node.arena("ann")
    cluster.watch()
    cluster.settle()
    for frame in flood:
        cluster.feed.receive("b", 1, frame)
    cluster.settle()
    assert cluster.refused == [("b", "more facts than were asked for")]
    assert len(cluster.shown.players) == 1
    assert not cluster.nodes["b"].hub.feed.moves


@pytest.mark.parametrize(
    "frame",
    [
        b"",
        b"z",
        b"m",
        b"m 00000-000000 0 7 0.1 -",
        b"m 00000-000000 2 0 0.1 -",
        b"m 00000-000000 0 0 nan -",
        b"m 00000-000000 0 0 -1.0 -",
        b"m 00000-000000 0 0 1e99 -",
        b"m 00000-00000i 0 0 0.1 -",
        b"m \xff 0 0 0.1 -",
        b'v {"version": 1, "class": "Left", "player": 0}',
        b'v {"version": 1, "class": "Left", "player": 68719476736}',
        b'v {"version": 1, "class": "MoveMade"}',
        b'v {"version": 1, "class": "Waits", "player": 1, "table": null, "waited": 1e99}',
    ],
)
def test_facts_that_cannot_be_read_cost_their_node_its_watcher_alone(frame: bytes) -> None:
    cluster = WatchedCluster(*NODES)
    for node in cluster.nodes.values():
        node.arena("ann")
    cluster.watch()
    cluster.settle()
    cluster.feed.receive("b", 1, frame)
    cluster.feed.receive("b", 1, b"e")
    cluster.settle()
    assert [node for node, _ in cluster.refused] == ["b"]
    assert len(cluster.shown.players) == 1
    assert not cluster.nodes["b"].hub.feed.moves
    assert cluster.nodes["c"].hub.feed.moves

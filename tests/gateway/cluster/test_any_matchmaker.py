"""Any matchmaker pairs the players of several nodes: this one has 40 lines, and knows of none."""

import pytest
from worlds.cluster import ASKING, Net
from worlds.hub import ByName

from gateway.game.events import NOTHING, Objection


@pytest.fixture
def net() -> Net:
    net = Net("a", "b", "c", matchmaker=ByName)
    net.pair_at("a")
    return net


@pytest.mark.parametrize("nodes", ["bc", "ab", "ca", "bb", "aa"])
def test_players_of_two_nodes_are_paired_by_its_rule(net: Net, nodes: str) -> None:
    one, two = (net[node].come(name) for node, name in zip(nodes, ("bob", "ann"), strict=True))
    net.run()
    assert (one.opponent, two.opponent) == ("ann", "bob")
    assert [*one.games, *two.games][0] == ("ann", "bob")


def test_name_that_is_taken_on_another_node_is_refused(net: Net) -> None:
    net["b"].come("ann")
    net.run()
    other = net["c"].come("ann")
    net.run()
    assert other.against == Objection.NAME_TAKEN
    [one] = net["b"].clients.values()
    assert one.against == NOTHING


def test_player_waits_anew_when_the_other_left_before_their_series_began(net: Net) -> None:
    one, two = net["b"].come("ann"), net["c"].come("bob")
    while one.turn is None or two.turn is None:
        net.pass_on(*next(link for link, messages in net.links.items() if messages))
    two.leave()
    net.run()
    third = net["c"].come("cid")
    net.run()
    assert (one.opponent, third.opponent) == ("cid", "ann")


def test_players_who_wait_are_paired_by_the_next_one(net: Net) -> None:
    one = net["b"].come("ann", manners=ASKING)
    net.run()
    for node in "bc":
        net.cut("a", node)
    del net.nodes["a"]
    net.pair_at("c", 2)
    two = net["c"].come("bob", manners=ASKING)
    net.run()
    assert (one.opponent, two.opponent) == ("bob", "ann")


def test_node_that_is_lost_takes_its_players_along(net: Net) -> None:
    net["b"].come("ann")
    net.run()
    net.cut("a", "b")
    one, two = net["c"].come("ann"), net["c"].come("bob")
    net.run()
    assert (one.opponent, two.opponent) == ("bob", "ann")

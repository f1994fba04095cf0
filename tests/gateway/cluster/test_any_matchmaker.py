"""Any matchmaker pairs the players of several nodes: this one has 40 lines, and knows of none."""

from collections.abc import Iterator

import pytest
from worlds.cluster import ASKING, Net
from worlds.hub import ByName

from gateway.cluster.messages import Asked, Instruction, Joined, Left, Unmatched, Waits
from gateway.cluster.server import PairingServer
from gateway.game.commands import LOBBY
from gateway.game.events import NOTHING
from gateway.matchmaking.matchmaker import (
    Answer,
    Decision,
    Entry,
    Hindered,
    HousePair,
    Match,
    Matchmaker,
    Pair,
    Probe,
    Turn,
)


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


def test_player_waits_anew_when_the_other_left_before_their_series_began(net: Net) -> None:
    one, two = net["b"].come("ann"), net["c"].come("bob")
    while one.turn is None or two.turn is None:
        net.pass_on(*next(link for link, messages in net.links.items() if messages))
    two.leave()
    net.run()
    third = net["c"].come("cid")
    net.run()
    assert (one.opponent, third.opponent) == ("cid", "ann")


class Stale(Matchmaker):
    """Lets everybody in, and answers besides what a test says."""

    def __init__(self) -> None:
        self.next: list[Answer] = []
        self.over: list[Match] = []

    def enter(self, entry: Entry) -> None:
        self.next.append(Decision(entry.seat, entry.against))

    def wait(self, turn: Turn, since: float) -> None:
        """Wait for the test."""

    def leave(self, seat: int) -> None:
        """Forget nothing."""

    def finished(self, match: Match) -> None:
        self.over.append(match)

    def answers(self, now: float) -> Iterator[Answer]:
        while self.next:
            yield self.next.pop(0)


def answered(*answers: Answer) -> tuple[Stale, list[tuple[str, Instruction]]]:
    """Return what a node hears, of which two players wait and a third has left, and the matchmaker."""
    matchmaker = Stale()
    server = PairingServer(matchmaker, (), 0.0)
    server.receive("b", Joined(7), 0.0)
    for seat in (1, 2, 3):
        server.receive("b", Asked(Entry(seat, f"n{seat}", LOBBY, True, ASKING, "", NOTHING)), 0.0)
        list(server.answers(0.0))
        server.receive("b", Waits(seat, seat, True), 0.0)
    list(server.answers(0.0))
    server.receive("b", Left(3), 0.0)
    matchmaker.next += answers
    return matchmaker, list(server.answers(0.0))


def test_pair_with_one_who_left_is_over_and_the_other_waits_anew() -> None:
    stale = Pair(Turn(1, 1), Turn(3, 3))
    matchmaker, orders = answered(stale)
    assert (matchmaker.over, orders) == ([stale], [("b", Unmatched("b", Turn(1, 1)))])


def test_turn_is_in_one_open_proposal_at_most() -> None:
    stale = HousePair(Turn(2, 2), "random", opens=True)
    matchmaker, orders = answered(Pair(Turn(1, 1), Turn(2, 2)), stale)
    assert matchmaker.over == [stale]
    assert [type(order) for _, order in orders] == [Pair]


@pytest.mark.parametrize(
    "answer", [Decision(3, NOTHING), Probe(3), Hindered(Turn(3, 3), None), Decision(1, NOTHING)]
)
def test_answer_about_one_who_left_or_asks_for_nothing_is_dropped(answer: Answer) -> None:
    _, orders = answered(answer)
    assert orders == []

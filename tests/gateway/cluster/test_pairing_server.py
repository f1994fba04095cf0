"""The one that pairs, and its faults, without a network."""

import random

import pytest
from worlds.cluster import ASKING, STANDING_BY, Net, Recording

from gateway.cluster.messages import (
    Announced,
    Asked,
    Instruction,
    Joined,
    Met,
    Over,
    Playing,
    Present,
    Sits,
    Waits,
)
from gateway.cluster.server import PairingServer
from gateway.game.commands import LOBBY, AtTable, InLobby, Place, Wish
from gateway.game.events import NOTHING
from gateway.matchmaking.matchmaker import Decision, Entry, Pair, Turn
from gateway.matchmaking.standard import LobbyAndTables


@pytest.fixture
def matchmaker() -> Recording:
    return Recording()


@pytest.fixture
def server(matchmaker: Recording) -> PairingServer:
    server = PairingServer(matchmaker, (), 0.0)
    server.receive("a", Joined(7), 0.0)
    return server


def let_in(
    server: PairingServer, seat: int, name: str = "ann", node: str = "a", place: Place = LOBBY
) -> list[tuple[str, Instruction]]:
    entry = Entry(seat, name, place, True, ASKING, "", NOTHING)
    server.receive(node, Asked(entry), 0.0)
    return list(server.answers(0.0))


def test_report_of_a_node_that_has_not_joined_is_void(matchmaker: Recording) -> None:
    server = PairingServer(matchmaker, (), 0.0)
    assert let_in(server, 1) == []


def test_how_players_sit_is_told_when_it_has_changed(server: PairingServer) -> None:
    table = AtTable("round")
    decided = ("a", Decision(1, NOTHING)), ("a", Decision(2, NOTHING))
    assert let_in(server, 1, place=table) == [decided[0], ("a", Sits(1, 0, 0))]
    assert let_in(server, 2, "bob", place=table) == [decided[1], ("a", Sits(2, 1, 0))]
    assert let_in(server, 1, place=table) == [decided[0]]
    server.receive("a", Playing(1, Turn(1, 1), ("ann", "bob"), True, 1, True), 0.0)
    assert list(server.answers(0.0)) == [("a", Sits(1, 0, 1)), ("a", Sits(2, 1, 1))]


def test_who_waited_longer_before_this_one_paired_is_paired_first(server: PairingServer) -> None:
    for seat, waited in ((1, 2.0), (2, 9.0), (3, 5.0)):
        entry = Entry(seat, f"bot{seat}", LOBBY, True, ASKING, "", NOTHING)
        server.receive("a", Present(entry, seat, waited, 0, 0), 10.0)
    pairs = [each for _, each in server.answers(10.0) if isinstance(each, Pair)]
    assert [{turn.seat for turn in pair.turns} for pair in pairs] == [{2, 3}]


def test_games_that_a_node_tells_of_twice_count_once(server: PairingServer, matchmaker: Recording) -> None:
    let_in(server, 1)
    for told in (Met("ann", "bob", 3), Met("ann", "bob", 3), Met("ann", "bob", 4), Met("ann", "bob", 2)):
        server.receive("a", told, 0.0)
    assert matchmaker.games["ann", "bob"] == 4
    server.receive("a", Playing(1, Turn(1, 1), ("ann", "bob"), False, 1, True), 0.0)
    assert matchmaker.games["ann", "bob"] == 5
    server.receive("a", Joined(7), 0.0)
    server.receive("a", Met("ann", "bob", 5), 0.0)
    assert matchmaker.games["ann", "bob"] == 5
    server.receive("b", Joined(8), 0.0)
    server.receive("b", Met("ann", "bob", 1), 0.0)
    assert matchmaker.games["ann", "bob"] == 6


def test_meetings_of_names_that_are_too_long_are_not_kept(
    server: PairingServer, matchmaker: Recording
) -> None:
    server.receive("a", Met("n" * 200, "bob", 3), 0.0)
    assert not matchmaker.games


def test_series_of_a_seat_that_is_not_known_is_ignored(server: PairingServer, matchmaker: Recording) -> None:
    server.receive("a", Playing(1, Turn(5, 1), ("ann", "bob"), False, 1, True), 0.0)
    server.receive("a", Over(1), 0.0)
    server.receive("a", Waits(5, 1, True), 0.0)
    assert list(server.answers(0.0)) == []
    assert not matchmaker.games


def test_it_answers_when_all_have_announced_or_its_patience_is_over(matchmaker: Recording) -> None:
    server = PairingServer(matchmaker, {"a", "b"}, 5.0)
    for node in "ab":
        server.receive(node, Joined(7), 5.0)
    let_in(server, 1)
    assert server.next_due() == 6.0
    server.receive("a", Announced(), 5.5)
    assert list(server.answers(5.5)) == []
    server.receive("b", Announced(), 5.5)
    assert len(list(server.answers(5.5))) == 1


def test_players_of_a_lost_node_are_forgotten_in_pieces_and_nobody_is_paired_meanwhile(
    server: PairingServer, matchmaker: Recording
) -> None:
    many = 81
    for seat in range(1, many + 1):
        let_in(server, seat, f"n{seat}")
    server.receive("b", Joined(8), 0.0)
    server.lost("a")
    server.receive("b", Asked(Entry(1, "bob", LOBBY, True, ASKING, "", NOTHING)), 0.0)
    left = []
    while not list(server.answers(0.0)):
        assert server.next_due() == 0.0
        left.append(len({*matchmaker.left[many:]}))
    assert left == [40, 80]


def test_node_that_joins_again_begins_anew(server: PairingServer, matchmaker: Recording) -> None:
    let_in(server, 1)
    server.receive("a", Joined(7), 0.0)
    assert let_in(server, 1) == [("a", Decision(1, NOTHING))]
    assert matchmaker.left[-2:] == [1, 2]


# What the hub of a node sees of it.


def test_mistake_about_a_player_of_this_node_is_told_as_its_own_and_of_another_as_nobody_s() -> None:
    failing = list[str]()

    def looks(name: str) -> set[str]:
        if name in failing:
            failing.remove(name)
            raise ZeroDivisionError
        return {name}

    net = Net("a", "b", matchmaker=lambda: LobbyAndTables(random.Random(0), looks=looks))
    net.pair_at("a")
    net["b"].come("b1", InLobby(Wish("x")))
    net["a"].come("a1", InLobby(Wish("y")))
    net.run()
    matchmaker, found = net["a"].matchmaker, list[int | None]()
    for name in "xy":
        failing.append(name)
        with pytest.raises(ZeroDivisionError):
            net.wait(5)
        found.append(matchmaker.suspect())
    assert found == [None, 1]
    assert matchmaker.suspect() is None
    assert net["b"].matchmaker.suspect() is None


def test_new_name_holds_for_the_series_to_come_on_every_node() -> None:
    net = Net("a", "b", "c")
    net.pair_at("a")
    one = net["b"].come("b1")
    net.run()
    net["b"].matchmaker.rename(one.seat, "bob", counted=False)
    one.name = "bob"
    net["b"].settle()
    two = net["c"].come("c1")
    net.run()
    assert two.opponent == "bob"


def test_answer_is_due_at_once_when_a_message_has_come() -> None:
    net = Net("a", "b")
    net.pair_at("a")
    assert net["b"].matchmaker.next_due() is None
    net["b"].come("b1", InLobby(Wish("nobody")), STANDING_BY)
    (link,) = [link for link, messages in net.links.items() if messages]
    net.pass_on(*link)
    back = net.links["a", "b"].popleft()
    net["b"].matchmaker.receive("a", back, 7.0)  # type: ignore[arg-type]
    assert net["b"].matchmaker.next_due() == 7.0

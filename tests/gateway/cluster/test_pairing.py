"""Players of several nodes are paired as those of one, whoever pairs."""

import pytest
from worlds.cluster import ASKING, STANDING_BY, Client, House, Net, Recording

from gateway.cluster.matchmaker import ClusterMatchmaker
from gateway.cluster.messages import Asked, Joined, Order, Report, Unmatched
from gateway.game.commands import LOBBY, LONGEST_NAME, AtTable, InLobby, Wish
from gateway.game.events import NOTHING, Objection
from gateway.game.facts import Cause, Obstacle
from gateway.game.manners import Afterwards, Illegal, Manners
from gateway.game.results import Player
from gateway.hub.seats import Hosted, Hosting
from gateway.matchmaking.matchmaker import Decision, Entry, HousePair, Turn

TABLE = AtTable("round")
LATER = 6.0
"""Seconds after which it is known what keeps a player waiting."""
HOLD = 2.0
"""Seconds for which a seat is reserved at most."""
APART = 5.0
"""Seconds for which the players of nodes that do not reach each other meet others."""
PATIENCE = 1.0
"""Seconds for which a new one that pairs waits for what the nodes announce."""


@pytest.fixture
def net() -> Net:
    net = Net("a", "b", "c")
    net.pair_at("a")
    return net


def come(net: Net, *named: str, **about: object) -> list[Client]:
    """Return clients, each named after its node with a number, who come one after the other."""
    clients = []
    for name in named:
        clients.append(net[name[0]].come(name, **about))  # type: ignore[arg-type]
        net.run()
    return clients


def game(first: Client, second: Client) -> tuple[str, str]:
    """Return who opens the latest game of two."""
    [*_, latest] = first.games or second.games
    return latest


# Who meets.


@pytest.mark.parametrize("one", "abc")
@pytest.mark.parametrize("two", "abc")
def test_players_of_any_two_nodes_meet(net: Net, one: str, two: str) -> None:
    ann, bob = net[one].come("ann"), net[two].come("bob")
    net.run()
    assert (ann.opponent, bob.opponent) == ("bob", "ann")


def test_wish_is_granted_by_a_player_of_another_node(net: Net) -> None:
    [one] = come(net, "b1", place=InLobby(Wish("C2", any_case=True)))
    come(net, "c1", place=InLobby(Wish("nobody")))
    assert one.opponent is None
    come(net, "c2")
    assert one.opponent == "c2"


def test_node_of_a_player_hears_who_is_missing_on_all_of_them(net: Net) -> None:
    [one, other] = come(net, "b1", "b2", place=InLobby(Wish("c9")))
    net.wait(LATER)
    why = Obstacle(Cause.ABSENT, "c9")
    assert one.obstacles == other.obstacles == [why]
    alike = net["c"].come("C9", TABLE)
    net.run()
    net.wait(LATER)
    assert one.obstacles[1:] == [Obstacle(Cause.ABSENT, "c9", "C9")]
    alike.leave()
    come(net, "c9", place=InLobby(Wish("b2")))
    net.wait(LATER)
    assert (one.obstacles[2:], other.opponent) == ([None], "c9")


def test_cap_holds_over_all_nodes() -> None:
    net = Net("a", "b", "c", cap=1)
    net.pair_at("a")
    one, two = come(net, "b1", "c1")
    for _ in range(2):
        host = one if isinstance(one.plays, Hosting) else two
        host.finish()
        net.wait(2)
    assert [one.opponent, two.opponent] == [None, None]
    assert {*one.games, *two.games} == {("b1", "c1"), ("c1", "b1")}


# Who may enter.


@pytest.mark.parametrize("home", "abc")
@pytest.mark.parametrize("other", "abc")
def test_name_of_a_client_that_has_vanished_is_given_over_on_every_node(
    net: Net, home: str, other: str
) -> None:
    ann = net[home].come("ann")
    bob = net["b"].come("bob")
    net.run()
    again = net[other].come("ann")
    net.run()
    assert (again.against, ann.gone) == (Objection.NAME_TAKEN, False)
    ann.is_absent = True
    again.enter()
    net.run()
    assert (again.against, ann.gone, again.opponent) == (NOTHING, True, "bob")
    assert bob.opponent == "ann"


def test_name_is_free_when_the_node_of_its_bearer_is_lost(net: Net) -> None:
    ann = net["b"].come("ann")
    net.run()
    ann.is_mute = True
    again = net["c"].come("ann")
    net.run()
    net.cut("a", "b")
    net.cut("b", "c")
    net.run()
    assert again.turn is not None


def test_name_that_is_too_long_for_other_nodes_is_refused_by_its_own(net: Net) -> None:
    client = net["b"].come("n" * (LONGEST_NAME + 1))
    assert (client.asks, client.against) == (False, Objection.TOO_LONG)
    assert not any(net.links.values())


# Tables.


def test_table_has_two_seats_on_whatever_nodes(net: Net) -> None:
    one, two, three = come(net, "c1", "b1", "a1", place=TABLE)
    assert (one.opponent, two.opponent) == ("b1", "c1")
    assert [each.plays.table for each in (one, two) if isinstance(each.plays, Hosting | Hosted)] == [
        "round"
    ] * 2
    assert three.against == Objection.TABLE_FULL


def test_table_is_joined_only_where_somebody_sits_on_whatever_node(net: Net) -> None:
    taken = AtTable(TABLE.name, must_be_taken=True)
    (early,) = come(net, "a1", place=taken)
    one, late = come(net, "c1", place=TABLE)[0], come(net, "b1", place=taken)[0]
    assert early.against == Objection.TABLE_EMPTY
    assert (one.opponent, late.opponent) == ("b1", "c1")


# House players.


def test_house_player_comes_to_who_wishes_for_it_or_is_alone_for_long_and_can_be_reached() -> None:
    net = Net("a", "b", house=House("random"))
    net.pair_at("a")
    [wishes] = come(net, "b1", place=InLobby(Wish("Random", any_case=True)))
    [refused] = come(net, "b2", place=InLobby(Wish("perfect")))
    lonely, absent = net["b"].come("b3"), net["b"].come("b4", InLobby(Wish("random")))
    absent.is_absent = True
    net.wait(4)
    assert (wishes.opponent, refused.against) == ("random", Objection.NOT_AVAILABLE)
    assert (lonely.opponent, absent.opponent) == (None, None)
    absent.is_absent = False
    net.wait(2)
    assert (lonely.opponent, absent.opponent) == ("random", "random")


OPENING = Manners(Illegal.RETRY, Afterwards.ONE_GAME, opens=True, house_at_once=True)


@pytest.mark.parametrize("nodes", ["ab", "ba", "bc", "bb"])
def test_who_always_opens_does_so_against_a_player_of_any_node(nodes: str) -> None:
    net = Net("a", "b", "c", house=House())
    net.pair_at("a")
    host, other = nodes
    ann = net[host].come("ann", LOBBY, OPENING)
    net[host].come("bob", LOBBY, OPENING)
    net.run()
    assert ann.opponent is None
    cid = net[other].come("cid")
    net.run()
    assert game(ann, cid) == ("ann", "cid")


def test_who_does_not_want_to_wait_gets_a_player_of_any_node_or_a_house_player() -> None:
    net = Net("a", "b", "c", house=House("random"))
    net.pair_at("a")
    [waiting] = come(net, "c1")
    ann = net["b"].come("ann", LOBBY, OPENING)
    net.run()
    assert (waiting.opponent, ann.opponent) == ("ann", "c1")
    bob = net["b"].come("bob", LOBBY, OPENING)
    net.run()
    assert bob.opponent == "random"
    assert isinstance(bob.plays, HousePair)
    assert bob.plays.opens


# Where not all goes well.


@pytest.mark.parametrize("absent", [{0}, {1}, {0, 1}])
def test_nobody_plays_one_who_cannot_be_reached(net: Net, absent: set[int]) -> None:
    clients = net["b"].come("b1"), net["c"].come("c1")
    for each in absent:
        clients[each].is_absent = True
    net.wait(3)
    assert [(each.plays, each.games) for each in clients] == [(None, [])] * 2
    for each in absent:
        clients[each].is_absent = False
    net.wait(2)
    assert [each.opponent for each in clients] == ["c1", "b1"]


def until(net: Net, kind: str) -> tuple[str, str]:
    """Let messages arrive until the next one of a link is of a kind, and return the link."""
    for _ in range(100):
        for link, messages in net.links.items():
            if messages and kind in (type(messages[0]).__name__, type(instruction_of(messages[0])).__name__):
                return link
        net.pass_on(*next(link for link, messages in net.links.items() if messages))
    raise AssertionError(f"no {kind}")


def instruction_of(message: object) -> object:
    return message.instruction if isinstance(message, Order) else None


def test_reservation_runs_out_when_the_host_says_nothing(net: Net) -> None:
    one, two = net["b"].come("b1"), net["c"].come("c1")
    link = until(net, "Hosting")
    net.links[link].clear()
    net.wait(HOLD - 0.5)
    assert (one.plays, two.plays) == (None, None)
    net.wait(1 + APART)
    assert (one.opponent, two.opponent) == ("c1", "b1")


def test_players_whose_nodes_do_not_reach_each_other_meet_others(net: Net) -> None:
    net.cut("b", "c")
    one, two = come(net, "b1", "c1")
    net.wait(HOLD)
    third, fourth = come(net, "b2", "c2")
    assert [each.opponent for each in (one, two, third, fourth)] == ["b2", "c2", "b1", "c1"]


def test_series_that_begins_when_the_remote_player_is_reserved_no_more_ends(net: Net) -> None:
    clients = net["b"].come("b1"), net["c"].come("c1")
    host, remote = until(net, "Hosted")
    late = net.links[host, remote].popleft()
    net.now += HOLD
    net[remote].tick()
    net.links[host, remote].appendleft(late)
    net.run()
    net.wait(1)
    assert {each.opponent for each in clients} == {"b1", "c1"}
    assert sum(len(each.games) for each in clients) == 2
    assert sum(len(node.series) for node in net.nodes.values()) == 1


@pytest.mark.parametrize("moment", ["Hosting", "Hosted"])
@pytest.mark.parametrize("leaver", [0, 1], ids=["sender", "receiver"])
def test_who_leaves_before_a_series_begins_keeps_the_other_from_nothing(
    net: Net, moment: str, leaver: int
) -> None:
    net["b"].come("b1"), net["c"].come("c1")
    node = until(net, moment)[leaver]
    [client] = net[node].clients.values()
    client.leave()
    net.run()
    [three] = come(net, "a1")
    assert three.opponent == {"b": "c1", "c": "b1"}[node]


# Who pairs.


def test_where_nobody_pairs_players_wait_to_be_let_in() -> None:
    net = Net("a", "b")
    one, two = come(net, "a1", "b1")
    assert one.asks
    assert two.asks
    net.pair_at("b")
    assert one.opponent == "b1"


def test_another_takes_over_when_the_one_that_pairs_dies(net: Net) -> None:
    one, two, three = come(net, "b1", "c1", "c2")
    for node in "bc":
        net.cut("a", node)
    del net.nodes["a"]
    net.pair_at("c", 2)
    assert (one.opponent, two.opponent) == ("c1", "b1")
    [four] = come(net, "b2")
    assert three.opponent == "b2"
    assert four.opponent == "c2"


def test_order_of_another_epoch_or_node_is_void() -> None:
    node = Net("a")["a"]
    node.matchmaker.attach("b", 2, node.now)
    client = node.come("ann")
    for sender, epoch in (("b", 1), ("c", 2), ("b", 3)):
        node.hear(sender, Order(epoch, Decision(client.seat, NOTHING)))
        assert client.asks
    node.hear("b", Order(2, Decision(client.seat, NOTHING)))
    assert client.turn is not None
    turn = client.turn
    node.hear("b", Order(1, Unmatched("a", turn)))
    assert client.turn == turn
    node.hear("b", Order(2, Unmatched("a", turn)))
    assert client.turn != turn


def test_report_of_another_epoch_is_void() -> None:
    net = Net("a", "b")
    net["a"].matchmaker.attach("a", 2, net["a"].now)
    net.run()
    entry = Entry(1, "bob", LOBBY, True, ASKING, "", NOTHING)
    for epoch, answers in ((1, 0), (3, 0), (2, 1)):
        for fact in (Joined(9), Asked(entry)):
            net["a"].hear("b", Report(epoch, fact))
        assert len(net.links["a", "b"]) == answers


def test_old_one_that_still_believes_that_it_pairs_keeps_nobody_from_playing(net: Net) -> None:
    """It keeps its own players to itself, until it hears that another pairs."""
    [one] = come(net, "a1")
    for name in "bc":
        net[name].matchmaker.attach("b", 2, net[name].now, ["a", "c"])
        net[name].settle()
    net.run()
    net.wait(PATIENCE)
    two, three, four = come(net, "b1", "c1", "c2")
    assert (two.opponent, three.opponent) == ("c1", "b1")
    net.pair_at("b", 2)
    assert (one.opponent, four.opponent) == ("c2", "a1")


def test_node_that_reports_to_another_is_no_more_counted_on(net: Net) -> None:
    come(net, "b1")
    net["b"].matchmaker.attach("b", 2, net["b"].now)
    net["b"].settle()
    net.run()
    one, two = come(net, "a1", "a2")
    assert (one.opponent, two.opponent) == ("a2", "a1")


def test_bearers_of_one_name_who_came_while_nodes_were_apart_both_stay() -> None:
    net = Net("a", "b")
    for node in net.nodes.values():
        node.matchmaker.attach(None, 0, node.now)
    one, two = net["a"].come("ann"), net["b"].come("ann")
    net.wait(1)
    net.pair_at("a")
    third = net["b"].come("ann")
    net.run()
    assert one.turn is not None
    assert two.turn is not None
    assert third.against == Objection.NAME_TAKEN
    one.leave()
    net.run()
    third.enter()
    net.run()
    assert third.against == Objection.NAME_TAKEN


def test_players_of_one_table_who_came_while_nodes_were_apart_all_find_an_opponent() -> None:
    net = Net("a", "b")
    for node in net.nodes.values():
        node.matchmaker.attach(None, 0, node.now)
    one, two, three = come(net, "a1", "a2", "b1", place=TABLE)
    net.wait(1)
    net.pair_at("b")
    assert (one.opponent, three.opponent) == ("a2", None)
    two.leave()
    net.run()
    assert (one.opponent, three.opponent) == ("b1", "a1")


# What outlives the one that pairs.


def change(net: Net) -> None:
    """Let another node pair, and the one that did be dead."""
    for node in "bc":
        net.cut("a", node)
    del net.nodes["a"]
    net.pair_at("b", 2)


def finish(one: Client, two: Client) -> None:
    (two if isinstance(one.plays, Hosted) else one).finish()


@pytest.mark.parametrize("games", [1, 2, 3])
def test_order_of_opening_at_a_table_outlives_it(net: Net, games: int) -> None:
    one, two = come(net, "c1", "b1", place=TABLE)
    for _ in range(games):
        finish(one, two)
        net.run()
    before = game(*(two, one) if isinstance(one.plays, Hosted) else (one, two))
    change(net)
    finish(one, two)
    net.run()
    after = game(*(two, one) if isinstance(one.plays, Hosted) else (one, two))
    assert after == before[::-1]


def test_met_least_outlives_it() -> None:
    made = list[Recording]()

    def make() -> Recording:
        made.append(Recording())
        return made[-1]

    net = Net("a", "b", "c", matchmaker=make)
    net.pair_at("a")
    one, two = come(net, "b1", "c1")
    for _ in range(3):
        finish(one, two)
        net.wait(1)
    change(net)
    games = made[-1].games
    assert games.total() == 4
    assert abs(games["b1", "c1"] - games["c1", "b1"]) <= 1
    net.cut("b", "c")
    net.join("b", "c")
    net.pair_at("b", 2)
    net.wait(2)
    assert games.total() == 5


def test_names_that_play_each_other_do_so_for_the_next_one_too(net: Net) -> None:
    come(net, "b1", "c1", manners=ASKING)
    change(net)
    again = [net["b"].come("b1", manners=ASKING), net["c"].come("c1", manners=ASKING)]
    net.run()
    assert [each.opponent for each in again] == [None, None]


def test_new_one_waits_for_what_is_announced_but_not_for_long(net: Net) -> None:
    [one] = come(net, "b1")
    net["a"].matchmaker.attach("a", 2, net["a"].now, ["b", "c"])
    [two] = come(net, "a1")
    assert two.asks
    net.wait(PATIENCE)
    assert not two.asks
    assert two.turn is not None
    net["b"].matchmaker.attach("a", 2, net["b"].now)
    net["b"].settle()
    net.run()
    assert (one.opponent, two.opponent) == ("a1", "b1")


def pairing_all(net: Net) -> list[str]:
    return [name for name, node in net.nodes.items() if node.matchmaker.pairs_all]


def test_one_node_pairs_all_players_once_the_nodes_have_announced_themselves() -> None:
    net = Net("a", "b", "c")
    assert pairing_all(net) == []
    net["a"].matchmaker.attach("a", 1, net["a"].now, ["b", "c"])
    net["a"].settle()
    assert pairing_all(net) == []
    net.pair_at("a", 2)
    assert pairing_all(net) == ["a"]
    net.pair_at("b", 3)
    assert pairing_all(net) == ["b"]


def test_node_that_pairs_only_its_own_players_does_not_pair_all(net: Net) -> None:
    net["a"].matchmaker.attach(None, 0, net["a"].now)
    net["a"].settle()
    assert pairing_all(net) == []
    one, two = come(net, "a1", "a2")
    assert (one.opponent, two.opponent) == ("a2", "a1")
    net["a"].matchmaker.attach("a", 2, net["a"].now, ["b", "c"])
    net.wait(PATIENCE - 0.25)
    assert pairing_all(net) == []
    net.wait(0.25)
    assert pairing_all(net) == ["a"]  # the others do not announce themselves


def test_what_is_announced_goes_out_in_pieces(net: Net) -> None:
    for number in range(200):
        net["b"].come(f"b{number}", InLobby(Wish("nobody")), STANDING_BY)
    net.run()
    told = net.links["b", "c"]
    net["b"].matchmaker.attach("c", 2, net["b"].now)
    sizes = [0]
    for _ in range(6):
        list(net["b"].matchmaker.answers(net["b"].now))
        sizes.append(len(told) - sum(sizes))
    assert max(sizes) < 60
    assert sum(sizes) == 202


class Deserted:
    """A hub that notes which series have ended since their other players never came."""

    def __init__(self) -> None:
        self.matches: list[Hosting] = []

    def desert(self, match: Hosting) -> None:
        self.matches.append(match)


def test_series_with_another_run_of_a_lost_node_outlives_one_with_the_run_before() -> None:
    """The games with a lost node end one after the other, and seats have the same numbers in each run."""
    hub, matchmaker = Deserted(), ClusterMatchmaker("a", 1, Recording)
    matchmaker.connect(hub, lambda *_: None, hub)  # type: ignore[arg-type]
    matchmaker.attach(None, 0, 0.0)
    for seat in (1, 2):
        matchmaker.enter(Entry(seat, f"n{seat}", LOBBY, True, ASKING, "", NOTHING))
    assert len(list(matchmaker.answers(0.0))) == 2
    bob = Player("bob", STANDING_BY)
    before, after = (Hosting(Turn(seat, 1), "b", Turn(1, 1), bob, "") for seat in (1, 2))
    for match in (before, after):
        matchmaker.began(match, 1)
    for over in (before, after):
        matchmaker.finished(over)
        matchmaker.receive("b", Unmatched("b", Turn(1, 1)), 0.0)
        list(matchmaker.answers(0.0))
    assert hub.matches == [after]

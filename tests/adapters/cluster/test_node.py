"""A node among others: who pairs, and that what arrives together is carried out in its order."""

import random
from collections.abc import Mapping

import pytest
import trio
import trio.testing
from trio.testing import MockClock
from worlds.hub import FIRST_WINS, HANGING_UP, STANDING_BY, STEPPING_OUT, TABLE, Client, World

from adapters.cluster.node import ALONE, ClusterNode
from adapters.cluster.registry import LEASE, Holder, View
from gateway.cluster.matchmaker import ClusterMatchmaker
from gateway.game.commands import LOBBY, Place
from gateway.game.events import Ended, Reason, Started
from gateway.game.facts import Came
from gateway.game.manners import Manners
from gateway.matchmaking.standard import LobbyAndTables


class FakeLinks:
    """The links of one node: what is sent arrives at once with all that was sent in one turn."""

    def __init__(self) -> None:
        self.sent: list[tuple[str, bytes]] = []
        self.nodes: list[str] = []

    def send(self, node: str, frame: bytes) -> None:
        if node in self.nodes:
            self.sent.append((node, frame))

    def meet(self, places: Mapping[str, tuple[str, int]]) -> None:
        pass


class Server(World):
    """A hub that is a node's."""

    now = property(lambda _: trio.current_time(), lambda _, now: None)  # type: ignore[assignment]

    def __init__(self, name: str, run: int) -> None:
        super().__init__(ClusterMatchmaker(name, run, lambda: LobbyAndTables(random.Random(0))))
        self.links = FakeLinks()
        self.node = ClusterNode(self.hub, name)
        self.node.links = self.links  # type: ignore[assignment]

    def come(self, name: str, manners: Manners = STANDING_BY, place: Place = LOBBY) -> Client:
        client = self.client(manners)
        client.enter(place, name)
        return client


class Net:
    """Nodes that reach each other."""

    def __init__(self, *names: str) -> None:
        self.servers = {name: Server(name, run) for run, name in enumerate(names, 1)}
        for name, server in self.servers.items():
            server.links.nodes = [each for each in names if each != name]

    def __getitem__(self, name: str) -> Server:
        return self.servers[name]

    def hold(self, name: str | None, epoch: int) -> None:
        """Let the registry say who has the lease, to all."""
        places = dict.fromkeys(self.servers, ("h", 1))
        for server in self.servers.values():
            server.node.seen(View(None if name is None else Holder(name, epoch), places), trio.current_time())
        self.carry()

    def carry(self, most: int = 10_000) -> None:
        """Do what is due, and let all that is on its way arrive: what goes from one to another together.

        With `most`, let no more than so many frames arrive.
        """
        for server in self.servers.values():
            server.hub.tick(trio.current_time())
        while any(server.links.sent for server in self.servers.values()) and most > 0:
            for name, server in self.servers.items():
                sent, server.links.sent = server.links.sent[:most], server.links.sent[most:]
                most -= len(sent)
                for to in dict.fromkeys(to for to, _ in sent):
                    there, now = self[to].node, trio.current_time()
                    for frame in [frame for node, frame in sent if node == to]:
                        there.receive(name, frame, now)
                    there.settle(now)

    def pairs(self) -> list[tuple[str | None, int] | None]:
        return [server.node.pairs for server in self.servers.values()]


@pytest.fixture
async def net(autojump_clock: MockClock) -> Net:
    return Net("a", "b")


async def test_node_with_the_lease_pairs_and_the_others_follow_it(net: Net) -> None:
    net.hold("b", 1)
    assert net.pairs() == [("b", 1), ("b", 1)]


async def test_node_that_is_linked_later_hears_who_pairs(net: Net) -> None:
    net["b"].links.nodes = []
    net.hold("b", 1)
    assert net["a"].node.pairs is None
    net["b"].links.nodes = ["a"]
    net["b"].node.joined("a", trio.current_time())
    net.carry()
    assert net["a"].node.pairs == ("b", 1)


async def test_node_ceases_before_its_lease_runs_out_and_never_pairs_in_that_epoch_again(
    net: Net, autojump_clock: MockClock
) -> None:
    net.hold("a", 1)
    await trio.sleep(LEASE)
    net["a"].node.follow(trio.current_time())
    net.carry()
    assert net["a"].node.pairs is None
    net.hold("a", 1)
    assert net["a"].node.pairs is None
    assert not net["a"].node.may_pair
    net.hold(None, 1)
    assert net["a"].node.may_pair
    net.hold("a", 2)
    assert net.pairs() == [("a", 2), ("a", 2)]


async def test_where_nobody_pairs_each_node_pairs_its_own_until_one_pairs_again(
    net: Net, autojump_clock: MockClock
) -> None:
    net.hold("a", 1)
    ann, bob = net["a"].come("ann"), net["b"].come("bob")
    net.carry()
    await trio.sleep(LEASE)
    for wait in (0.0, ALONE + 0.1):
        await trio.sleep(wait)
        for server in net.servers.values():
            server.node.follow(trio.current_time())
        net.carry()
    assert net.pairs() == [(None, 0), (None, 0)]
    assert ann.plays
    assert bob.plays
    cid, dan = net["b"].come("cid"), net["b"].come("dan")
    net.carry()
    assert cid.last(Started).names == dan.last(Started).names
    net.hold("b", 2)
    assert net.pairs() == [("b", 2), ("b", 2)]


async def test_node_follows_the_highest_epoch_that_it_has_heard_of(net: Net) -> None:
    net.hold("b", 3)
    net["a"].node.receive("b", b"h2", trio.current_time())
    assert net["a"].node.pairs == ("b", 3)


async def test_node_that_stops_gives_up_its_lease(net: Net) -> None:
    net.hold("a", 1)
    net["a"].hub.drain()
    assert not net["a"].node.may_pair
    net["a"].node.follow(trio.current_time())
    assert net["a"].node.pairs is None


async def test_node_that_stops_does_not_say_that_it_pairs_its_own(
    net: Net, autojump_clock: MockClock, caplog: pytest.LogCaptureFixture
) -> None:
    net.hold("a", 1)
    net["a"].hub.drain()
    for _ in range(2):
        net["a"].node.follow(trio.current_time())
        await trio.sleep(ALONE + 0.1)
    net["a"].node.follow(trio.current_time())
    assert net["a"].node.pairs == (None, 0)
    assert caplog.records == []


def finish(net: Net, *players: Client) -> None:
    """Let the players finish the games that they are in, and all that follows."""
    for column in FIRST_WINS * 4:
        mover = next((player for player in players if player.request is not None), None)
        if mover is not None:
            mover.play(int(column))
            net.carry()


@pytest.mark.parametrize(
    ("manners", "place"), [(STANDING_BY, LOBBY), (STEPPING_OUT, TABLE), (HANGING_UP, LOBBY)]
)
@pytest.mark.parametrize("pairing", "abc")
@pytest.mark.parametrize("draining", "ab")
async def test_drain_cuts_no_game_off_whatever_is_under_way(
    draining: str, pairing: str, manners: Manners, place: Place, autojump_clock: MockClock
) -> None:
    """It may begin before or after each message between the nodes."""
    for frames in range(0, 16, 3):
        net = Net("a", "b", "c")
        net.hold(pairing, 1)
        ann, bob = (net[name[0]].come(name[1:], manners, place) for name in ("aann", "bbob"))
        net.carry(frames)
        hub = net[draining].hub
        hub.drain()
        for _ in range(40):
            for seat in hub.seats():
                hub.let_go(seat, trio.current_time())
            net.carry()
            finish(net, ann, bob)
            await trio.sleep(0.1)
        assert len(hub) == 0
        assert {result.reason for server in net.servers.values() for result in server.results} <= {
            Reason.FOUR
        }
        assert ann.games == bob.games <= 1
        gone, other = (ann, bob) if draining == "a" else (bob, ann)
        assert (gone.gone, other.gone) == (True, False)


@pytest.mark.parametrize("pairing", "ab")
@pytest.mark.parametrize("place", [LOBBY, TABLE])
async def test_nobody_is_paired_with_players_of_a_node_that_drains(
    pairing: str, place: Place, autojump_clock: MockClock
) -> None:
    net = Net("a", "b", "c")
    net.hold(pairing, 1)
    ann = net["a"].come("ann", place=place)
    net.carry()
    net["a"].hub.drain()
    net.hold("b", 2)
    bob, cid = net["b"].come("bob", place=place), net["c"].come("cid", place=place)
    net.carry()
    assert ann.games == 0
    assert bob.last(Started).names == cid.last(Started).names == ("bob", "cid")
    assert not net["a"].results


async def test_next_node_that_pairs_waits_for_none_that_drains(net: Net) -> None:
    net.hold("a", 1)
    net["a"].hub.drain()
    net.carry()
    net.hold("b", 2)
    bob, eve = net["b"].come("bob"), net["b"].come("eve")
    net.carry()
    assert bob.plays
    assert eve.plays


async def test_when_a_node_is_lost_its_games_end_and_its_players_opponents_wait(
    net: Net, autojump_clock: MockClock
) -> None:
    net.hold("a", 1)
    ann, bob = net["a"].come("ann"), net["b"].come("bob")
    net.carry()
    for name, other in (("a", "b"), ("b", "a")):
        net[name].links.nodes = []
        net[name].node.lost(other, trio.current_time())
    assert [player.last(Ended).winner for player in (ann, bob)] == [None, None]
    assert net["b"].node.pairs is None
    eve = net["a"].come("eve")
    await trio.sleep(0.5)
    net.carry()
    assert eve.opponent == "ann"


async def test_others_have_their_turns_while_the_games_with_a_lost_node_end(net: Net) -> None:
    net.hold("a", 1)
    ours = net["a"]
    for number in range(32):
        for name in net.servers:
            net[name].come(f"{name}{number}")
            net.carry()
    turns = 0
    async with trio.open_nursery() as nursery:
        nursery.start_soon(ours.node.run)
        await trio.testing.wait_all_tasks_blocked()
        ours.links.nodes = []
        ours.node.lost("b", trio.current_time())
        while not ours.node.games.is_empty:
            turns += 1
            await trio.lowlevel.checkpoint()
        nursery.cancel_scope.cancel()
    assert len(ours.results) == 32
    assert turns >= 3


@pytest.mark.parametrize(
    "frame", [b"", b"x", b"h", b"hx", b"h-1", b"h9007199254740993", b"p", b"p{}", b"g", b"gm 1.1"]
)
async def test_what_no_node_says_is_a_value_error(net: Net, frame: bytes) -> None:
    with pytest.raises(ValueError):
        net["a"].node.receive("b", frame, 0.0)


async def test_node_says_how_it_is_connected(net: Net, autojump_clock: MockClock) -> None:
    net.hold("b", 1)
    ours = net["a"].hub.cluster
    assert ours is not None
    well = {"node": "a", "linked": ["b"], "pairs": "b", "alone": False, "registry": True}
    assert ours.condition() == well
    net["a"].links.nodes = []
    net["a"].node.lost("b", trio.current_time())
    await trio.sleep(ALONE + 0.1)
    net["a"].node.follow(trio.current_time())
    assert ours.condition() == well | {"linked": [], "pairs": None, "alone": True}


async def test_what_is_on_passes_between_nodes_while_somebody_watches(net: Net) -> None:
    net.hold("a", 1)
    net["b"].come("ann")
    net.carry()
    ours = net["a"].hub.cluster
    assert ours is not None
    async with trio.open_nursery() as nursery:
        nursery.start_soon(net["b"].node.run)
        facts = ours.feed.subscribe(lambda: None)
        net.carry()
        await trio.testing.wait_all_tasks_blocked()
        net.carry()
        names = [fact.name for fact in facts.take(9) if isinstance(fact, Came)]
        assert names == ["ann"]
        net["b"].node.lost("a", trio.current_time())
        assert not net["b"].hub.feed.moves
        nursery.cancel_scope.cancel()


async def test_time_in_which_a_node_stood_still_is_none_in_which_nobody_paired(
    net: Net, autojump_clock: MockClock
) -> None:
    net.hold("b", 1)
    one = net["a"].node
    one.receive("b", b"h0", trio.current_time())
    await trio.sleep(2 * ALONE)
    one.follow(trio.current_time(), late=2 * ALONE)
    assert one.pairs == ("b", 1)
    await trio.sleep(ALONE + 0.1)
    one.follow(trio.current_time())
    assert one.pairs == (None, 0)

"""Whatever happens to nodes, links and leases: nobody plays two games, and nobody waits for ever."""

from collections import Counter

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from worlds.cluster import ASKING, STANDING_BY, Client, Ended, Net, Node

from gateway.cluster.messages import Unmatched
from gateway.game.commands import LOBBY, AtTable, InLobby, Wish
from gateway.game.manners import Manners
from gateway.hub.seats import Hosted, Hosting
from gateway.matchmaking.matchmaker import Pair, Turn

NODES = ("a", "b", "c")
SILENCE = 2.5
"""Seconds after which a node is taken for lost."""
ANY = st.integers(0, 99)
NAMES = st.sampled_from(NODES)
MANNERS = st.sampled_from([STANDING_BY, ASKING])
PLACES = st.sampled_from([LOBBY, LOBBY, AtTable("t"), AtTable("T2"), InLobby(Wish("n1"))])


class AnythingHappens(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.net = Net(*NODES)
        self.stopped: dict[str, float] = {}
        """Nodes that stand still, and since when."""
        self.deaf: set[tuple[str, str]] = set()
        """Which node has not heard of the end of its session with which."""
        self.lease = "a", 0
        self.pairs: dict[str, tuple[str, int] | None] = {}
        """Who pairs, as each node has heard."""
        self.reserved: dict[tuple[int, int, Turn | None], float] = {}
        """Since when a seat is reserved in a turn, by the run of its node."""
        self.names = 0

    # Who is there.

    def running(self, name: str) -> bool:
        return name not in self.stopped

    def node(self, name: str) -> Node:
        return self.net[name]

    @property
    def clients(self) -> list[Client]:
        return [client for node in self.net.nodes.values() for client in node.clients.values()]

    @property
    def movable(self) -> list[Client]:
        return [client for client in self.clients if self.running(client.node.name)]

    def hosting(self) -> list[Client]:
        return [each for each in self.movable if isinstance(each.plays, Pair | Hosting)]

    @property
    def ready(self) -> list[tuple[str, str]]:
        """The links on which a message can arrive."""
        return [link for link, waiting in self.net.links.items() if waiting and self.running(link[1])]

    # What players do.

    @precondition(lambda self: len(self.clients) < 9)
    @rule(some=st.lists(st.tuples(NAMES, PLACES, MANNERS), min_size=1, max_size=4))
    def come(self, some: list[tuple[str, InLobby | AtTable, Manners]]) -> None:
        for name, place, manners in some:
            if self.running(name):
                self.names += 1
                self.node(name).come(f"n{self.names}", place, manners)

    @precondition(lambda self: self.movable)
    @rule(number=ANY)
    def leave(self, number: int) -> None:
        self.movable[number % len(self.movable)].leave()

    @precondition(lambda self: self.hosting())
    @rule(number=ANY, ends=st.booleans())
    def play(self, number: int, ends: bool) -> None:
        found = self.hosting()
        client = found[number % len(found)]
        if ends:
            client.finish()
        elif isinstance(client.plays, Pair | Hosting):
            client.node.play_on(client.plays)

    @precondition(lambda self: self.movable)
    @rule(number=ANY)
    def ask_again(self, number: int) -> None:
        client = self.movable[number % len(self.movable)]
        if client.plays is None and client.turn is None and not client.asks:
            client.enter()

    @precondition(lambda self: self.movable)
    @rule(number=ANY)
    def vanish_or_come_back(self, number: int) -> None:
        client = self.movable[number % len(self.movable)]
        client.is_absent = not client.is_absent

    # What the network does.

    @precondition(lambda self: self.ready)
    @rule(numbers=st.lists(ANY, min_size=1, max_size=30))
    def pass_on(self, numbers: list[int]) -> None:
        for number in numbers:
            if self.ready:
                link = self.ready[number % len(self.ready)]
                message = self.net.links[link][0]
                self.net.pass_on(*link, twice=number > 90 and not isinstance(message, Ended))

    @precondition(lambda self: self.ready)
    @rule()
    def pass_on_all(self) -> None:
        while self.ready:
            self.net.pass_on(*self.ready[0])

    def cut(self, one: str, two: str) -> None:
        """End a session. One of the two hears of it at once, the other later."""
        if one != two and (one, two) in self.net.links and self.running(one):
            self.part(one, two)
            self.deaf.add((two, one))

    def part(self, one: str, two: str) -> None:
        for link in ((one, two), (two, one)):
            self.net.links.pop(link, None)
        self.lose(one, two)

    def lose(self, one: str, two: str) -> None:
        self.node(one).lost(two)
        pairs = self.pairs[one]
        if pairs is not None and pairs[0] == two:
            self.pairs[one] = None

    def hear_of_the_end(self, one: str, two: str) -> None:
        if self.running(one) and (one, two) in self.deaf:
            self.deaf.discard((one, two))
            self.lose(one, two)

    def join(self, one: str, two: str) -> None:
        if one == two or (one, two) in self.net.links or {(one, two), (two, one)} & self.deaf:
            return
        if self.running(one) and self.running(two):
            self.net.join(one, two)

    # What becomes of nodes.

    def kill(self, name: str) -> None:
        """Let a node die, and one of its name start."""
        self.stopped.pop(name, None)
        self.deaf = {(one, two) for one, two in self.deaf if one != name}
        for link in [link for link in self.net.links if name in link]:
            self.net.links.pop(link)
            if link[1] == name:
                self.deaf.add((link[0], name))
        self.net.nodes[name] = Node(self.net, name)
        self.pairs[name] = None

    def stop(self, name: str) -> None:
        self.stopped.setdefault(name, self.net.now)

    def go_on(self, name: str) -> None:
        """Let a node go on. If it stood still for long it knows, and takes all its links for lost first."""
        since = self.stopped.pop(name, None)
        if since is not None and self.net.now - since >= SILENCE:
            self.part_from_all(name)

    def part_from_all(self, name: str) -> None:
        for other in NODES:
            if (other, name) in self.net.links:
                self.deaf.add((other, name))
            if (name, other) in self.net.links or (name, other) in self.deaf:
                self.deaf.discard((name, other))
                self.part(name, other)

    @rule(quarters=st.integers(1, 12))
    def wait(self, quarters: int) -> None:
        for _ in range(quarters):
            self.net.now += 0.25
            for name in NODES:
                if self.running(name):
                    self.node(name).tick()
                    self.reservations_run_out(self.node(name))
                elif self.net.now - self.stopped[name] >= SILENCE:
                    for other in [other for other in NODES if (other, name) in self.net.links]:
                        if self.running(other):
                            self.part(other, name)
                            self.deaf.add((name, other))

    def reservations_run_out(self, node: Node) -> None:
        for client in node.clients.values():
            if node.matchmaker.is_reserved(client.seat):
                since = self.reserved.setdefault((node.run, client.seat, client.turn), node.now)
                assert node.now - since < 2.0

    # Who pairs.

    @initialize(name=NAMES, many=st.integers(2, 7), places=st.lists(PLACES, min_size=7, max_size=7))
    def begin(self, name: str, many: int, places: list[InLobby | AtTable]) -> None:
        self.lease = name, 1
        self.net.pair_at(name, 1)
        self.pairs = dict.fromkeys(NODES, self.lease)
        self.come([(NODES[number % 3], places[number], STANDING_BY) for number in range(many)])

    def pass_the_lease(self, name: str) -> None:
        """Let a node have the lease. One that had it before believes that it has it still."""
        if self.running(name):
            self.lease = name, self.lease[1] + 1
            self.learn(name)

    def learn(self, name: str) -> None:
        """Let a node hear who has the lease. A node that gave it up has it again in another epoch only."""
        if not self.running(name):
            return
        if name == self.lease[0] and self.pairs[name] != self.lease:
            self.lease = name, self.lease[1] + 1
        holder, epoch = self.lease
        node = self.node(name)
        if name == holder or (name, holder) in self.net.links:
            others = [other for other in NODES if (name, other) in self.net.links]
            node.matchmaker.attach(holder, epoch, node.now, others if name == holder else ())
            self.pairs[name] = holder, epoch
            node.settle()

    def know_of_nobody(self, name: str) -> None:
        """Let a node hear that nobody has the lease."""
        if self.running(name):
            self.node(name).matchmaker.attach(None, 0, self.node(name).now)
            self.pairs[name] = None
            self.node(name).settle()

    # All that, in turn.

    @rule(one=NAMES, two=NAMES, what=st.integers(0, 5))
    def something_fails(self, one: str, two: str, what: int) -> None:
        match what:
            case 0 | 1:
                self.cut(one, two)
            case 2:
                self.kill(one)
            case 3:
                self.stop(one)
            case 4:
                self.pass_the_lease(one)
            case 5:
                self.know_of_nobody(one)

    @rule(one=NAMES, two=NAMES, three=NAMES)
    def something_is_mended(self, one: str, two: str, three: str) -> None:
        self.go_on(one)
        self.hear_of_the_end(one, two)
        self.hear_of_the_end(two, one)
        self.join(one, two)
        self.learn(three)
        self.learn(one)

    # What always holds.

    @invariant()
    def nobody_is_in_two_games(self) -> None:
        for client in self.clients:
            assert client.plays is None or client.turn is None
        for node in self.net.nodes.values():
            for match in node.series:
                here = [client.plays for client in node.clients.values()].count(match)
                assert here == (1 if isinstance(match, Hosting) else 2)
        remotes = [
            (match.node, match.other)
            for name, node in self.net.nodes.items()
            for match in node.series
            if isinstance(match, Hosting) and (name, match.node) in self.net.links
        ]
        assert len({*remotes}) == len(remotes)

    @invariant()
    def two_nodes_agree_on_who_plays(self) -> None:
        for remote in self.clients:
            if not isinstance(remote.plays, Hosted):
                continue
            name, host = remote.node.name, remote.plays.node
            link = self.net.links.get((host, name))
            if link is None:
                continue  # and so the session is over, which ends the series on either side
            ends = Ended(remote.plays.turn) in link
            matches = [
                match
                for match in self.node(host).series
                if isinstance(match, Hosting) and (match.node, match.other) == (name, remote.plays.turn)
            ]
            assert len(matches) + ends == 1
            assert ends or matches[0].player.name == remote.name

    @invariant()
    def remote_player_of_a_host_plays_or_is_about_to(self) -> None:
        for host in self.clients:
            if not isinstance(host.plays, Hosting) or (host.node.name, host.plays.node) not in self.net.links:
                continue
            match, here, there = host.plays, host.node.name, host.plays.node
            to_remote, to_host = self.net.links[here, there], self.net.links[there, here]
            remotes = [each for each in self.node(there).clients.values() if each.seat == match.other.seat]
            hosted = [
                each for each in (*to_remote, *(each.plays for each in remotes)) if isinstance(each, Hosted)
            ]
            assert (
                (match.other, here) in [(each.turn, each.node) for each in hosted]
                or Unmatched(there, match.other) in to_host
                or not remotes
            )

    def teardown(self) -> None:
        """Let all faults be over. Then everybody plays who could, with the same one that pairs if it can."""
        for name in [*self.stopped]:
            self.go_on(name)
        for one, two in sorted(self.deaf):
            self.lose(one, two)
        self.deaf.clear()
        for client in self.clients:
            client.is_absent = False
        for one in NODES:
            for two in NODES:
                if one < two and (one, two) not in self.net.links:
                    self.net.join(one, two)
        if self.pairs[self.lease[0]] != self.lease:
            self.pass_the_lease("b")
        for name in NODES:
            self.learn(name)
        self.net.wait(6)
        for client in self.hosting():  # who sat at one table in two parts of the cluster plays on there first
            if isinstance(client.place, AtTable) and isinstance(client.plays, Pair | Hosting):
                client.finish()
        self.net.wait(3)
        for client in self.clients:
            if client.plays is None and client.turn is None:
                client.enter()
        self.net.wait(3)
        self.everybody_plays_who_could()

    def everybody_plays_who_could(self) -> None:
        for node in self.net.nodes.values():
            assert not any(node.matchmaker.is_reserved(seat) for seat in node.clients)
        self.two_nodes_agree_on_who_plays()
        self.remote_player_of_a_host_plays_or_is_about_to()
        assert not [client for client in self.clients if client.asks]
        waiting = [client for client in self.clients if client.turn is not None]
        anyone = [client.name for client in waiting if client.place == LOBBY]
        assert len(anyone) <= 1, anyone
        tables = Counter(client.place.key for client in waiting if isinstance(client.place, AtTable))
        assert not tables or max(tables.values()) <= 1, tables
        wished = [client for client in waiting if isinstance(client.place, InLobby) and client.place.wish]
        assert not wished or "n1" not in anyone


TestAnythingHappens = AnythingHappens.TestCase
TestAnythingHappens.settings = settings(stateful_step_count=50)

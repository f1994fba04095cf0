"""A cluster in memory.

`Net` has nodes whose hubs do what the pairing asks of a hub and no more, and a network between them. The
links are as those between real nodes: reliable and in order as long as a session lasts. When it ends, what is
under way is lost, and each side hears of it once, in its own time.

`WatchedCluster` has real hubs, and a node that follows what happens on all of them.
"""

import random
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from typing import TypeAlias

from gateway.cluster.matchmaker import ClusterMatchmaker
from gateway.cluster.messages import Message, decode, encode
from gateway.cluster.remote_feed import FeedPublisher, RemoteFeed
from gateway.game.commands import LOBBY, LONGEST_NAME, Place
from gateway.game.events import NOTHING, Objection
from gateway.game.fact_encoding import SEATS, decode_remote_fact, encode_fact
from gateway.game.facts import Missed, Obstacle
from gateway.game.manners import Afterwards, Illegal, Manners
from gateway.hub.feed import RemoteSubscription
from gateway.hub.seats import Hosted, Hosting
from gateway.matchmaking.matchmaker import (
    Decision,
    Entry,
    Hindered,
    HousePair,
    Matchmaker,
    Opponent,
    Pair,
    Probe,
    Turn,
)
from gateway.matchmaking.standard import LobbyAndTables
from worlds.hub import Client as HubClient
from worlds.hub import Mirror, World, facts_of

STANDING_BY = Manners(Illegal.PENALTY, Afterwards.STAND_BY, unique_name=True)
ASKING = Manners(Illegal.RETRY, Afterwards.STEP_OUT)

Match: TypeAlias = Pair | HousePair | Hosting


@dataclass(frozen=True)
class Ended:
    """A message of a hub: the series of a turn is over."""

    turn: Turn


@dataclass(frozen=True)
class Quit:
    """A message of a hub: the player of a turn has left."""

    turn: Turn


@dataclass(eq=False)
class Client:
    """A player as its hub knows it."""

    node: "Node"
    seat: int
    name: str
    manners: Manners
    place: Place
    asks: bool = True
    against: Objection = NOTHING
    turn: Turn | None = None
    """While it waits."""
    obstacles: list[Obstacle | None] = field(default_factory=list)
    """Why it waits: each answer that differs from the one before."""
    since: float = 0.0
    is_absent: bool = False
    is_mute: bool = False
    """Whether it has not answered its probe yet."""
    plays: Match | Hosted | None = None
    games: list[tuple[str, str]] = field(default_factory=list)
    """The first mover and the second of each of its games that was held on its own node."""
    gone: bool = False

    def enter(self) -> None:
        """Ask to be let in."""
        self.asks = True
        against = Objection.TOO_LONG if len(self.name) > LONGEST_NAME else NOTHING
        entry = Entry(self.seat, self.name, self.place, True, self.manners, "here", against)
        self.node.matchmaker.enter(entry)
        self.node.settle()

    def leave(self) -> None:
        """Go away, whatever it does."""
        self.node.quit(self)

    def finish(self) -> None:
        """End its series, which its own node holds, and wait again."""
        assert isinstance(self.plays, Pair | HousePair | Hosting)
        self.node.end(self.plays)
        self.node.settle()

    @property
    def opponent(self) -> str | None:
        """The name of the one that it plays, where its node knows that."""
        match self.plays:
            case Pair(first, second):
                other = first if second.seat == self.seat else second
                return self.node.clients[other.seat].name
            case Hosting():
                return self.plays.player.name
            case HousePair():
                return self.plays.house
            case Hosted(turn, node, _):
                return self.node.net.host_of(self.node, turn, node)
            case None:
                return None


class Node:
    """A hub without games: its series begin, last as long as a test says, and end."""

    def __init__(self, net: "Net", name: str, house: "House | None" = None) -> None:
        self.net = net
        self.name = name
        self.run = next(net.runs)
        self.clients: dict[int, Client] = {}
        self.series: dict[Match, int] = {}
        """The series that are held here, and how many games of each have begun."""
        self.absent: dict[int, float] = {}
        self._seats = count(1)
        self._turns = count(1)
        self._decisions: deque[Decision] = deque()
        self._probes: deque[Probe] = deque()
        self.matchmaker = ClusterMatchmaker(name, self.run, net.matchmaker)
        self.matchmaker.connect(self, lambda to, message: net.send(name, to, message), self)
        if house is not None:
            self.matchmaker.engage(house)

    @property
    def now(self) -> float:
        """The time by the node's own clock."""
        return self.net.now + 1000.0 * self.run

    def come(self, name: str, place: Place = LOBBY, manners: Manners = STANDING_BY) -> Client:
        """Return a client that has asked to enter."""
        client = Client(self, next(self._seats), name, manners, place)
        self.clients[client.seat] = client
        client.enter()
        return client

    def quit(self, client: Client) -> None:
        """Let a client go."""
        self.clients.pop(client.seat)
        client.gone, client.turn = True, None
        match client.plays:
            case Hosted(turn, node, _):
                self.net.send(self.name, node, Quit(turn))
            case Pair() | HousePair() | Hosting():
                self.end(client.plays)
        client.plays = None
        self.matchmaker.leave(client.seat)
        self.settle()

    def end(self, match: Match) -> None:
        """End a series that is held here. Those who stand by wait again."""
        del self.series[match]
        self.matchmaker.finished(match)
        if isinstance(match, Hosting):
            self.net.send(self.name, match.node, Ended(match.other))
        self.part(match)

    def part(self, match: Match | Hosted) -> None:
        """Let the seats of this node out of a series."""
        for client in [client for client in self.clients.values() if client.plays == match]:
            client.plays = None
            if client.manners.afterwards is Afterwards.STAND_BY:
                self.wait(client, self.now)
            elif client.place is LOBBY:
                self.matchmaker.leave(client.seat)

    def play_on(self, match: Match) -> None:
        """Begin the next game of a series."""
        self.series[match] += 1
        self.matchmaker.began(match, self.series[match])
        first, second = self.names(match)
        order = (first, second) if self.series[match] % 2 else (second, first)
        for client in self.clients.values():
            if client.plays == match:
                client.games.append(order)
        self.settle()

    def names(self, match: Match) -> tuple[str, str]:
        """Return who plays, the first mover of the first game first."""
        match match:
            case Pair(first, second):
                return self.clients[first.seat].name, self.clients[second.seat].name
            case Hosting(turn):
                return self.clients[turn.seat].name, match.player.name
            case HousePair(turn, house, opens):
                names = self.clients[turn.seat].name, house
                return names if opens else names[::-1]

    def wait(self, client: Client, since: float) -> None:
        """Let a client wait in a new turn."""
        client.turn, client.since = Turn(client.seat, next(self._turns)), since
        self.matchmaker.wait(client.turn, since)

    def wait_on(self, client: Client) -> None:
        """Let a client wait on in a new turn, once it can be reached."""
        if client.is_absent:
            self.absent[client.seat] = self.now + 1.0
        else:
            self.wait(client, client.since)

    def settle(self) -> None:
        """Carry out what the matchmaker answers, and send what it has to say."""
        for answer in self.matchmaker.answers(self.now):
            match answer:
                case Decision():
                    self._decisions.append(answer)
                case Probe():
                    self._probes.append(answer)
                case Pair() | HousePair():
                    self.meet(answer, self.now)
                case Hindered(turn, obstacle):
                    for client in self._waiting(turn):
                        if obstacle != (client.obstacles or [None])[-1]:
                            client.obstacles.append(obstacle)
        while self._decisions:
            self._decide(self._decisions.popleft())
        while self._probes:
            self._probe(self._probes.popleft().seat)

    def _probe(self, seat: int) -> None:
        client = self.clients.get(seat)
        if client is not None and client.is_absent:
            client.leave()
        elif client is not None and not client.is_mute:
            self.matchmaker.alive(seat)
            self.settle()

    def _decide(self, decision: Decision) -> None:
        client = self.clients.get(decision.seat)
        if client is None or not client.asks:
            if not decision.against:
                self.matchmaker.leave(decision.seat)
            return
        client.asks, client.against = False, decision.against
        if not decision.against:
            self.wait(client, self.now)
            self.settle()

    def _waiting(self, *turns: Turn) -> list[Client]:
        return [client for client in self.clients.values() if client.turn in turns]

    # What the pairing asks.

    def can_reach(self, seat: int) -> bool:
        """Whether nothing says that a client has vanished."""
        return not self.clients[seat].is_absent

    def wait_anew(self, turn: Turn, now: float) -> None:
        """Let a client wait in a new turn."""
        for client in self._waiting(turn):
            self.wait_on(client)

    def desert(self, match: Hosting) -> None:
        """End a series whose other player never came."""
        self.end(match)

    def meet(self, match: Match | Hosted, now: float) -> None:
        """Start a series, if its players can play."""
        waiting = self._waiting(*match.turns)
        present = [client for client in waiting if not client.is_absent]
        if len(present) < len(match.turns):
            for client in waiting:
                self.wait_on(client)
            return
        for client in present:
            assert client.plays is None
            client.turn, client.plays = None, match
        if isinstance(match, Hosted):
            self.matchmaker.began(match, 1)
        else:
            self._begin(match)

    def _begin(self, match: Match) -> None:
        self.series[match] = 1
        self.matchmaker.began(match, 1)
        for client in self.clients.values():
            if client.plays == match:
                client.games.append(self.names(match))

    def tick(self) -> None:
        """Do what is due."""
        for seat in [seat for seat, when in self.absent.items() if when <= self.now]:
            del self.absent[seat]
            client = self.clients.get(seat)
            if client is not None and client.turn is not None:
                self.wait_on(client)
        self.settle()

    def hear(self, node: str, message: "Message | Ended | Quit") -> None:
        """Take in a message of another node."""
        match message:
            case Ended(turn):
                for match in {each.plays for each in self.clients.values() if isinstance(each.plays, Hosted)}:
                    if (match.turn, match.node) == (turn, node):
                        self.matchmaker.finished(match)
                        self.part(match)
            case Quit(turn):
                for match in [each for each in self.series if isinstance(each, Hosting)]:
                    if (match.node, match.other) == (node, turn):
                        self.end(match)
            case _:
                self.matchmaker.receive(node, decode(encode(message)), self.now)
        self.settle()

    def lost(self, node: str) -> None:
        """Give up whatever is going on with another node."""
        self.matchmaker.lost(node, self.now)
        for match in [each for each in self.series if isinstance(each, Hosting) and each.node == node]:
            self.end(match)
        for client in [*self.clients.values()]:
            if isinstance(client.plays, Hosted) and client.plays.node == node:
                self.matchmaker.finished(client.plays)
                self.part(client.plays)
        self.settle()


class Recording(LobbyAndTables):
    """A matchmaker that writes down who has left, and the games that it knows of, by first movers."""

    def __init__(self) -> None:
        super().__init__(random.Random(0))
        self.left: list[int] = []
        self.games: Counter[tuple[str, str]] = Counter()
        self._names: dict[object, tuple[str, str]] = {}

    def leave(self, seat: int) -> None:
        self.left.append(seat)
        super().leave(seat)

    def learn(self, first: str, second: str, games: int) -> None:
        self.games[first, second] += games
        super().learn(first, second, games)

    def resume(self, match: object, names: tuple[str, str], seat: int | None) -> None:
        self._names[match] = names
        super().resume(match, names, seat)  # type: ignore[arg-type]

    def began(self, match: object, game: int, **_: object) -> None:
        first, second = self._names[match]
        self.games[(first, second) if game % 2 else (second, first)] += 1
        super().began(match, game)  # type: ignore[arg-type]


class House:
    """House players: of one name, and one that comes to whoever is alone."""

    def __init__(self, *names: str) -> None:
        self.names = names

    def has(self, name: str, opponent: Opponent) -> bool:
        """Whether there is such a player."""
        return name in self.names

    def lobby_player(self, opponent: Opponent) -> str | None:
        """Return the first."""
        return self.names[0] if self.names else None


class Net:
    """All nodes, and the links between each two."""

    def __init__(
        self,
        *names: str,
        cap: int = 0,
        house: House | None = None,
        matchmaker: Callable[[], Matchmaker] | None = None,
    ) -> None:
        self.now = 100.0
        self.runs = count(1)
        self.matchmaker = matchmaker or (lambda: LobbyAndTables(random.Random(0), cap))
        self.nodes = {name: Node(self, name, house) for name in names}
        self.links: dict[tuple[str, str], deque[object]] = {
            (one, two): deque() for one in names for two in names if one != two
        }
        """What is under way. A link that is down is not here."""

    def __getitem__(self, name: str) -> Node:
        return self.nodes[name]

    def send(self, sender: str, to: str, message: object) -> None:
        """Put a message on its way."""
        if (sender, to) in self.links and (to, sender) in self.links:
            self.links[sender, to].append(message)

    def pass_on(self, sender: str, to: str, *, twice: bool = False) -> None:
        """Let the next message of a link arrive."""
        message = self.links[sender, to].popleft()
        for _ in range(1 + twice):
            self.nodes[to].hear(sender, message)  # type: ignore[arg-type]

    def run(self) -> None:
        """Let all messages arrive, and do what is due, until nothing is under way."""
        for _ in range(2_000):
            busy = [link for link, messages in self.links.items() if messages]
            for link in busy:
                if self.links[link]:
                    self.pass_on(*link)
            idle = True
            for node in self.nodes.values():
                due = node.matchmaker.next_due()
                if due is not None and due <= node.now:
                    node.tick()
                    idle = False
            if idle and not any(self.links.values()):
                return
        raise AssertionError("the nodes do not come to rest")

    def wait(self, seconds: float) -> None:
        """Let time pass, and do all that is due."""
        for _ in range(round(seconds * 4)):
            self.now += 0.25
            for node in self.nodes.values():
                node.tick()
            self.run()

    def cut(self, one: str, two: str) -> None:
        """End the session of two nodes. Both hear of it at once."""
        for link in ((one, two), (two, one)):
            self.links.pop(link, None)
        self.nodes[one].lost(two)
        self.nodes[two].lost(one)

    def join(self, one: str, two: str) -> None:
        """Let a new session of two nodes begin."""
        for link in ((one, two), (two, one)):
            self.links[link] = deque()

    def pair_at(self, name: str, epoch: int = 1) -> None:
        """Let a node pair for all."""
        others = [node for node in self.nodes if node != name]
        self.nodes[name].matchmaker.attach(name, epoch, self.nodes[name].now, others)
        for node in others:
            self.nodes[node].matchmaker.attach(name, epoch, self.nodes[node].now)
        for each in self.nodes.values():
            each.settle()
        self.run()

    def host_of(self, other: Node, turn: Turn, host: str) -> str | None:
        """Return the name of the player that a series elsewhere is against, if its node knows of that."""
        node = self.nodes.get(host)
        for match in node.series if node is not None else ():
            if isinstance(match, Hosting) and (match.node, match.other) == (other.name, turn):
                return self.nodes[host].clients[match.turn.seat].name
        return None


# Nodes that are watched, with real hubs. A test carries the frames between them and the one that watches.


LIMIT = 12
"""Facts that may wait for a subscriber."""


def everything(mirror: Mirror) -> object:
    """Return what a mirror knows without the numbers, which differ from node to node."""
    named = {number: (fact.name, fact.kind) for number, fact in mirror.players.items()}
    return (
        Counter(named.values()),
        Counter((named[each], fact.table, mirror.why.get(each)) for each, fact in mirror.waiting.items()),
        {
            game: (started.names, [named.get(each) for each in started.players], mirror.moves[game])
            for game, started in mirror.games.items()
        },
    )


class WatchedNode(World):
    """A node whose facts others follow, and both ways to it."""

    def __init__(self, number: int) -> None:
        super().__init__(run=number)
        self.up, self.down = deque[bytes](), deque[bytes]()
        self.is_linked = self.is_woken = False
        self.publisher = FeedPublisher(
            self.hub, lambda _, frame: self.down.append(frame), self.wake, limit=LIMIT, part=2, piece=3
        )
        self.clients: list[HubClient] = []

    def wake(self) -> None:
        self.is_woken = True

    def publish(self) -> bool:
        """Do what its task does once it is woken."""
        is_woken, self.is_woken = self.is_woken, False
        while is_woken and self.publisher.publish(self.now):
            pass
        return is_woken


class Follower:
    """A subscriber to the facts of all other nodes."""

    def __init__(self, feed: RemoteFeed) -> None:
        self._feed = feed
        self._is_woken = False
        self.shown = Mirror()
        self.missed = 0
        self.facts: RemoteSubscription | None = None

    def _wake(self) -> None:
        self._is_woken = True

    def watch(self) -> None:
        """Subscribe, anew if it has a subscription already."""
        self.stop()
        self.shown = Mirror()
        self.facts = self._feed.subscribe(self._wake)

    def stop(self) -> None:
        if self.facts is not None:
            self.facts.close()
            self.facts = None

    def take(self) -> bool:
        """Do what a subscriber does once it is woken."""
        is_woken, self._is_woken = self._is_woken, False
        while is_woken and self.facts is not None and (taken := self.facts.take(3)):
            for fact in taken:
                if isinstance(fact, Missed):
                    self.missed += 1
                    self.watch()
                    return True
                self.shown.hear(fact)
        return is_woken


def stream_of(frame: bytes) -> tuple[int, bytes]:
    """Return the number of the stream that a frame belongs to, and the rest."""
    number, _, rest = frame.partition(b" ")
    return int(number), rest


class WatchedCluster:
    """Nodes, and one on which there are subscribers to the facts of all of them."""

    def __init__(
        self, *names: str, followers: int = 1, most: int = 4 * LIMIT, most_bytes: int = 10_000
    ) -> None:
        self.nodes = {name: WatchedNode(number) for number, name in enumerate(names)}
        self.refused: list[tuple[str, str]] = []
        self.feed = RemoteFeed(
            self._send,
            lambda: [name for name, node in self.nodes.items() if node.is_linked],
            lambda node, why: self.refused.append((node, why)),
            most=most,
            most_bytes=most_bytes,
        )
        self.followers = [Follower(self.feed) for _ in range(followers)]
        for name in names:
            self.link(name)

    def _send(self, node: str, frame: bytes) -> None:
        if self.nodes[node].is_linked:
            self.nodes[node].up.append(frame)

    @property
    def shown(self) -> Mirror:
        """What the first subscriber knows."""
        return self.followers[0].shown

    def watch(self) -> None:
        """Let the first subscriber subscribe."""
        self.followers[0].watch()

    def link(self, name: str) -> None:
        self.nodes[name].is_linked = True
        self.feed.joined(name)

    def cut(self, name: str) -> None:
        node = self.nodes[name]
        node.is_linked = False
        node.up.clear()
        node.down.clear()
        node.publisher.lost("a")
        self.feed.lost(name)

    def carry(self, name: str, most: int) -> bool:
        """Let so many frames arrive in each direction."""
        node = self.nodes[name]
        up, down = min(most, len(node.up)), min(most, len(node.down))
        for _ in range(up):
            node.publisher.receive("a", *stream_of(node.up.popleft()))
        for _ in range(down):
            self.feed.receive(name, *stream_of(node.down.popleft()))
        return bool(up or down)

    def settle(self, *asleep: Follower) -> None:
        """Let all that is to happen happen, but for subscribers who are asleep."""
        happens = True
        while happens:
            happens = False
            for each in self.followers:
                happens |= each not in asleep and each.take()
            for name, node in self.nodes.items():
                happens |= node.publish()
                happens |= self.carry(name, 1000)

    def true(self) -> object:
        """Return what there is to know."""
        mirror = Mirror()
        for number, node in enumerate(node for node in self.nodes.values() if node.is_linked):
            for fact in facts_of(node.hub.snapshot(node.now)):
                mirror.hear(decode_remote_fact(encode_fact(fact), number * SEATS))
        return everything(mirror)

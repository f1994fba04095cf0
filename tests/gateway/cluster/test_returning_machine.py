"""Connections break and players come back, on one node or three, whatever meets whatever in whatever order.

A game ends once, and all that are told are told the same. A player that is back in time does not lose its
game by leaving it, and no other connection ever has its seat.
"""

from dataclasses import dataclass, field
from itertools import count

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from worlds.hub import HANGING_UP, STANDING_BY, STEPPING_OUT, Client
from worlds.nodes import Node, Nodes

from gateway.game.board import Side
from gateway.game.commands import LOBBY, AtTable, Enter, Introduce, Leave, Place, Play
from gateway.game.events import Dismissed, Ended, Event, Reason, Resumed, Started
from gateway.game.ids import GameId
from gateway.game.manners import Manners
from gateway.game.results import Finished

GRACE = 5.0
LONGEST = 62.0
"""Seconds after which a game is over in which nobody moves, whatever breaks: each has 30."""
ANY = st.integers(0, 99)
COLUMNS = st.integers(0, 6)
MANNERS = st.sampled_from([STANDING_BY, STEPPING_OUT, HANGING_UP])
PLACES = st.sampled_from([LOBBY, AtTable("t"), AtTable("u")])
LEFT = (Reason.LEFT, Reason.ABORTED)


class Connected(Client):
    """A client on a node."""

    def __init__(self, person: "Person", node: Node, origin: str) -> None:
        super().__init__(node, person.manners, origin)
        self.node, self.person = node, person
        self.is_silent = False
        """Whether its connection is dead, and the server has not noticed."""

    def deliver(self, event: Event) -> None:
        if isinstance(event, Dismissed) and self.plays:  # the node of its seat is lost to its own
            self.person.is_away(self.last(Started | Resumed), self.node.now)
        super().deliver(event)
        if isinstance(event, Started | Resumed):
            self.person.hear(event, self.node.now)
            if self.is_silent:
                self.person.is_away(event, self.node.now)


@dataclass(eq=False)
class Person:
    """A player, with its connections one after the other."""

    name: str
    manners: Manners
    place: Place
    origin: str
    clients: list[Connected] = field(default_factory=list)
    told: list[Started | Resumed] = field(default_factory=list)
    """What it was told of its games."""
    excuses: set[tuple[GameId, Side]] = field(default_factory=set)
    """Seats that it may lose by leaving: it was too late, said goodbye, or broke off once more."""
    began: dict[GameId, float] = field(default_factory=dict)
    """When it was first told of each game."""
    broke: dict[tuple[GameId, Side], float] = field(default_factory=dict)
    """Since when it is away from each seat."""

    def hear(self, event: Started | Resumed, now: float) -> None:
        """Hear that a connection is in a game."""
        self.told.append(event)
        self.began.setdefault(event.game, now)
        self.broke.pop((event.game, event.you), None)

    def is_away(self, event: Started | Resumed, now: float) -> None:
        """Be away from the game of an event."""
        self.broke[event.game, event.you] = now
        if self.manners is HANGING_UP and len(self.told) > 1:
            self.excuses.add((event.game, event.you))  # it may be the second time in this round


class PlayersComeBack(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.net = Nodes("a", grace=GRACE)
        self.people: list[Person] = []
        self.numbers = count(1)
        self.lost = False
        """Whether two nodes have lost each other."""

    @initialize(nodes=st.sampled_from(["a", "ab", "abc"]))
    def begin(self, nodes: str) -> None:
        self.net = Nodes(*nodes, grace=GRACE, clock=30.0, idle=30.0, games_per_pair=2)

    def node(self, number: int) -> Node:
        return [*self.net.nodes.values()][number % len(self.net.nodes)]

    @property
    def here(self) -> list[Connected]:
        return [client for person in self.people for client in person.clients if not client.gone]

    @property
    def talking(self) -> list[Connected]:
        return [client for client in self.here if not client.is_silent]

    def connect(self, person: Person, node: Node, origin: str) -> Connected:
        client = Connected(person, node, origin)
        person.clients.append(client)
        if person.manners is HANGING_UP:
            client.say(Introduce(person.name))
        client.say(Enter(person.place, None if person.manners is HANGING_UP else person.name))
        return client

    # What players do.

    @precondition(lambda self: len(self.here) < 8)
    @rule(manners=MANNERS, place=PLACES, number=ANY)
    def come(self, manners: Manners, place: Place, number: int) -> None:
        name = f"player{next(self.numbers)}"
        person = Person(name, manners, place, f"192.0.2.{len(self.people)}")
        self.people.append(person)
        self.connect(person, self.node(number), person.origin)

    @precondition(lambda self: any(client.request for client in self.talking))
    @rule(number=ANY, columns=st.lists(COLUMNS, min_size=1, max_size=8))
    def play(self, number: int, columns: list[int]) -> None:
        for column in columns:
            asked = [client for client in self.talking if client.request is not None]
            if asked:
                client = asked[number % len(asked)]
                client.hand()
                client.say(Play(column))

    @precondition(lambda self: self.talking)
    @rule(number=ANY)
    def ask_again(self, number: int) -> None:
        client = self.talking[number % len(self.talking)]
        if client.person.manners is STEPPING_OUT and not client.plays and not client.held:
            client.say(Enter(client.person.place, client.person.name))

    @precondition(lambda self: self.talking)
    @rule(number=ANY, is_noticed=st.booleans())
    def break_off(self, number: int, is_noticed: bool) -> None:
        client = self.talking[number % len(self.talking)]
        person = client.person
        if client.plays:
            person.is_away(client.last(Started | Resumed), client.node.now)
        if is_noticed:
            client.break_off()
        else:
            client.is_silent, client.request = True, None

    @precondition(lambda self: any(client.is_silent for client in self.here))
    @rule(number=ANY)
    def notice(self, number: int) -> None:
        """The server finds out that a connection is dead."""
        silent = [client for client in self.here if client.is_silent]
        silent[number % len(silent)].break_off()

    @precondition(lambda self: self.talking)
    @rule(number=ANY)
    def say_goodbye(self, number: int) -> None:
        client = self.talking[number % len(self.talking)]
        client.person.excuses |= {(event.game, event.you) for event in client.person.told}
        client.say(Leave())
        client.gone = True

    @property
    def away(self) -> list[Person]:
        return [person for person in self.people if not any(each in self.talking for each in person.clients)]

    @precondition(lambda self: self.away and len(self.here) < 10)
    @rule(number=ANY, at=ANY, times=st.sampled_from([1, 1, 2]))
    def come_back(self, number: int, at: int, times: int) -> None:
        person = self.away[number % len(self.away)]
        for each in range(times):
            self.connect(person, self.node(at + each), person.origin)

    @precondition(lambda self: self.people and len(self.here) < 10)
    @rule(number=ANY, at=ANY)
    def stranger_comes(self, number: int, at: int) -> None:
        """One of the same name from another address."""
        known = self.people[number % len(self.people)]
        person = Person(known.name, known.manners, known.place, f"198.51.100.{len(self.people)}")
        self.people.append(person)
        self.connect(person, self.node(at), person.origin)

    # What time and the network do.

    @rule(number=ANY, times=st.integers(1, 20))
    def carry_some(self, number: int, times: int) -> None:
        for each in range(times):
            ways = [way for way, frames in self.net.ways.items() if frames]
            if ways:
                self.net.carry_one(*ways[(number + each) % len(ways)])

    @precondition(lambda self: len(self.net.nodes) > 2)
    @rule()
    def lose(self) -> None:
        """The two nodes that do not pair lose each other for a moment. Their common games have no result."""
        self.settle()
        self.lost = True
        self.net.cut("b", "c")
        self.settle()

    @rule(seconds=st.sampled_from([0.25, 1.0, 3.0]))
    def wait(self, seconds: float) -> None:
        self.settle()
        self.net.wait(seconds)
        self.settle()
        for person in self.people:
            for seat, since in person.broke.items():
                if self.net["a"].now >= since + GRACE - 0.3:  # it may be late by a step
                    person.excuses.add(seat)

    def settle(self) -> None:
        """Let everything arrive, and all probes be answered or not."""
        self.net.carry()
        while probed := [client for client in self.here if client.probes]:
            for client in probed:
                client.probes = 0
                if client.is_silent:
                    client.break_off()
                else:
                    client.node.hub.alive(client.seat, client.node.now)
            self.net.carry()

    # What is always so.

    @property
    def results(self) -> list[Finished]:
        return [result for node in self.net.nodes.values() for result in node.results]

    @invariant()
    def game_ends_once(self) -> None:
        games = [result.game for result in self.results]
        assert len(games) == len(set(games)) or self.lost  # then both nodes store it

    @invariant()
    def seat_has_one_connection(self) -> None:
        playing = [(each.last(Started | Resumed), each) for each in self.talking if each.plays]
        seats = [(event.game, event.you) for event, _ in playing]
        assert len(seats) == len(set(seats))

    @invariant()
    def only_the_player_has_its_seat(self) -> None:
        told = [(event.game, event.you, each) for each in self.people for event in each.told]
        for game, side, person in told:
            assert all(other is person for each, you, other in told if (each, you) == (game, side))

    @invariant()
    def nobody_back_in_time_loses_by_leaving(self) -> None:
        for result in self.results:
            if result.reason in LEFT and result.leaver is not None:
                seat = result.game, result.leaver
                owners = [
                    each for each in self.people for event in each.told if (event.game, event.you) == seat
                ]
                assert not owners or any(seat in each.excuses for each in owners)

    @invariant()
    def all_are_told_what_is_stored(self) -> None:
        stored = {result.game: result for result in self.results}
        for person in self.people:
            for client in person.clients:
                for ended in client.all(Ended):
                    result = stored[ended.game]
                    assert (ended.winner, ended.reason) == (result.winner, result.reason)
                    assert ended.board.moves == result.board.moves

    def teardown(self) -> None:
        self.settle()
        for client in self.here:
            if client.is_silent:
                client.break_off()
        for person in self.people:  # nobody comes back any more
            person.excuses |= person.broke.keys()
        self.settle()
        for _ in range(round(LONGEST) + 5):  # clocks, idle times and graces run out
            for client in self.here:
                if client.request is not None and client.plays:
                    client.hand()
            self.net.wait(1.0)
            self.settle()
        self.nobody_back_in_time_loses_by_leaving()
        self.all_are_told_what_is_stored()
        started = {event.game for person in self.people for event in person.told}
        ended = {result.game for result in self.results}
        still = {client.last(Started | Resumed).game for client in self.here if client.plays}
        assert started - ended <= still
        now = self.net["a"].now
        began = {game: at for person in self.people for game, at in person.began.items()}
        assert all(now - began[game] < LONGEST for game in still), "a game does not end"
        for client in self.here:
            client.say(Leave())
            client.gone = True
        self.net.wait(GRACE + 1.0)
        assert {result.game for result in self.results} >= started
        assert all(len(node.hub) == 0 for node in self.net.nodes.values())
        assert all(node.games.is_empty for node in self.net.nodes.values())


PlayersComeBack.TestCase.settings = settings(stateful_step_count=60)
test_players_come_back = PlayersComeBack.TestCase

"""Pairs the players of several nodes: receives the reports of the nodes, and returns orders to them.

Wraps any matchmaker, which does not know nodes. Reports may be out of date, so the nodes of the two seats can
refuse a proposal. Pure: the time comes in as `now`, in seconds of this node's clock. Long work is done in
pieces, one with each call of `answers`.
"""

from collections import OrderedDict, deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import chain, count, islice
from typing import TypeAlias, assert_never

from gateway.cluster.messages import (
    Alive,
    Announced,
    Asked,
    Away,
    Fact,
    Instruction,
    Joined,
    KeptBy,
    Left,
    Met,
    Over,
    Playing,
    Present,
    Proposed,
    Renamed,
    Returned,
    Sits,
    StoodAside,
    Unmatched,
    Waits,
)
from gateway.matchmaking.lobby import LONGEST_KEY, MEETINGS_LIMIT, key
from gateway.matchmaking.matchmaker import (
    Answer,
    Decision,
    Entry,
    Hindered,
    HousePair,
    HousePlayers,
    Match,
    Matchmaker,
    Opponent,
    Pair,
    Probe,
    Returning,
    Turn,
)
from gateway.matchmaking.tables import Position

PATIENCE = 1.0
"""Seconds that a new server waits for the announcements of the nodes."""
PIECE = 40
"""The number of seats and series of a lost node that one call forgets."""
AT_ONCE = 4
"""The most players that are passed to the matchmaker at once. The matchmaker compares them all with each
other."""
ROUNDS = 3
"""The most rounds of pairing in one call."""
SILENT = 1.9
"""If a proposal is refused after more than this many seconds, its two nodes are treated as unable to reach
each other."""
APART = 5.0
"""Seconds for which the lobby does not pair players of two nodes that cannot reach each other."""

_At: TypeAlias = tuple[str, Turn]
"""A node, and a turn of one of its seats, with the node's own numbers."""


@dataclass(eq=False, slots=True)
class _Seat:
    """A seat of a node."""

    node: str
    local: int
    """The seat's number on its own node."""
    number: int
    """The seat's number for the matchmaker."""
    is_undecided: bool = False
    """Whether the player has asked to enter, and the matchmaker has not decided yet."""
    is_in: bool = False
    """Whether the player has entered."""
    since: float | None = None
    """When the player's latest wait began."""
    sits: tuple[Position, int] | None = None
    """The player's position at its table, and the number of games there, as last sent to the player's
    node."""


@dataclass(slots=True)
class _Node:
    run: int
    seats: dict[int, _Seat] = field(default_factory=dict)
    series: dict[int, Match] = field(default_factory=dict)
    """The series on the node. The keys of `seats` and `series` are the numbers that the node uses."""


@dataclass(frozen=True, slots=True)
class _Proposal:
    """An open match: its series has not begun, no node has refused it, and none of its nodes is lost."""

    match: Match
    turns: tuple[_At, ...]
    since: float


class PairingServer:
    """Pairs the players of all nodes that report to it."""

    def __init__(self, matchmaker: Matchmaker, awaited: Iterable[str], now: float) -> None:
        """Begin to pair when the nodes `awaited` have announced their players, or after `PATIENCE` seconds.

        So the first pairs take into account the players and series that the previous server knew.
        """
        self._matchmaker = matchmaker
        self._awaited = set(awaited)
        self._until = now + PATIENCE
        self._now = now
        self._nodes: dict[str, _Node] = {}
        self._seats: dict[int, _Seat] = {}
        """The seats, by their numbers for the matchmaker."""
        self._asking: dict[_Seat, Entry] = {}
        """Entries that are not passed to the matchmaker yet."""
        self._waiting: dict[_Seat, Turn] = {}
        """Turns that are not passed to the matchmaker yet."""
        self._proposals: dict[_At, _Proposal] = {}
        """The open proposals, by each of their turns. A turn is in at most one proposal."""
        self._counted: OrderedDict[tuple[int, str, str], int] = OrderedDict()
        """The number of games reported by a node's run, by (run, first mover, second mover)."""
        self._apart: set[tuple[str, str]] = set()
        """Pairs of nodes that may be unable to reach each other, the names in alphabetical order."""
        self._orders: deque[tuple[str, Instruction]] = deque()
        self._clearing: Iterator[object] = iter(())
        """An iterator: each step forgets one seat or series of a lost node."""
        self._is_clearing = False
        self._numbers = count(1)
        self._unknown = count(-1, -1)
        """Turn numbers for series that began under another server."""

    def engage(self, house: HousePlayers) -> None:
        """Use house players, for the players of every node."""
        self._matchmaker.engage(_Everywhere(house))

    # Reports.

    def receive(self, node: str, fact: Fact, now: float) -> None:
        """Process a report of a node. A report that does not fit the state is ignored."""
        self._now = now
        if isinstance(fact, Joined):
            self._forget(node)
            self._nodes[node] = _Node(fact.run)
        elif node in self._nodes:
            self._note(node, self._nodes[node], fact)

    def lost(self, node: str) -> None:
        """Forget a lost node, with all its players and series."""
        self._awaited.discard(node)
        self._forget(node)

    def _note(self, name: str, node: _Node, fact: Fact) -> None:
        match fact:
            case Asked(entry):
                seat = self._opened(name, node, entry.seat)
                self._asking[seat] = replace(entry, seat=seat.number, home=name)
            case Present(entry, turn, waited):
                seat = self._opened(name, node, entry.seat)
                seat.is_in = True
                sat = fact.position, fact.games
                self._matchmaker.readmit(replace(entry, seat=seat.number, home=name), sat)
                if waited is not None:
                    seat.since = self._now - waited
                    if turn is not None:
                        self._waiting[seat] = Turn(seat.number, turn)
            case Waits() | Left() | StoodAside() | Alive() | Away() | Returned() | Renamed():
                if fact.seat in node.seats:
                    self._change(node.seats[fact.seat], fact)
            case Playing():
                self._play(name, node, fact)
            case Over(series):
                if series in node.series:
                    self._matchmaker.finished(node.series.pop(series))
            case Unmatched(_, turn):
                self._refuse((name, turn))
            case Met():
                self._learn(node.run, fact)
            case Announced():
                self._awaited.discard(name)
            case Joined():
                pass  # processed in `receive`
            case _:
                assert_never(fact)

    def _change(
        self, seat: _Seat, fact: Waits | Left | StoodAside | Alive | Away | Returned | Renamed
    ) -> None:
        match fact:
            case Waits(_, turn, anew):
                seat.since = self._now if anew or seat.since is None else seat.since
                self._waiting[seat] = Turn(seat.number, turn)
            case Left():
                self._drop(seat)
            case StoodAside():
                self._waiting.pop(seat, None)
                self._matchmaker.stand_aside(seat.number)
            case Alive():
                self._matchmaker.alive(seat.number)
            case Away():
                self._matchmaker.away(seat.number)
            case Returned(_, origin, proven):
                self._matchmaker.returned(seat.number, origin, proven=proven)
            case Renamed(_, name, counted):
                if seat.is_in:
                    self._matchmaker.rename(seat.number, name, counted=counted)

    def _opened(self, name: str, node: _Node, local: int) -> _Seat:
        """Return a seat of a node; add it if it is new."""
        if local not in node.seats:
            seat = node.seats[local] = _Seat(name, local, next(self._numbers))
            self._seats[seat.number] = seat
        return node.seats[local]

    def _play(self, name: str, node: _Node, fact: Playing) -> None:
        seat, match = node.seats.get(fact.turn.seat), node.series.get(fact.series)
        if seat is None:
            return
        if match is None:
            proposal = self._closed((name, fact.turn))
            turn = Turn(seat.number, next(self._unknown))
            unknown = Pair(turn, turn, scheduled=fact.scheduled)
            match = node.series[fact.series] = unknown if proposal is None else proposal.match
            self._waiting.pop(seat, None)
            self._matchmaker.resume(match, fact.names, seat.number if fact.at_table else None)
        if fact.fresh:
            self._matchmaker.began(match, fact.round, is_again=fact.again)
            if fact.at_table:
                self._say_who_sits(seat.number)
            elif not fact.again:
                first, second = fact.names if fact.round % 2 else fact.names[::-1]
                self._count((node.run, key(first), key(second)), 1)

    def _say_who_sits(self, number: int) -> None:
        """Send the positions of the players at a seat's table to their nodes, if a position has changed."""
        for each, position, games in self._matchmaker.seated(number):
            seat = self._seats[each]
            if seat.sits != (position, games):
                seat.sits = position, games
                self._orders.append((seat.node, Sits(seat.local, position, games)))

    def _learn(self, run: int, met: Met) -> None:
        counted = run, met.first, met.second
        more = met.times - self._counted.get(counted, 0)
        if more > 0 and max(len(met.first), len(met.second)) <= LONGEST_KEY + 1:
            self._count(counted, more)
            self._matchmaker.learn(met.first, met.second, more)

    def _count(self, counted: tuple[int, str, str], more: int) -> None:
        self._counted[counted] = self._counted.pop(counted, 0) + more
        if len(self._counted) > MEETINGS_LIMIT:
            self._counted.popitem(last=False)

    # Proposals.

    def _propose(self, match: Match) -> bool:
        """Open a proposal. If the match is out of date, return False; its waiting seats get new turns."""
        here = [self._at(turn) for turn in match.turns if turn.seat in self._seats]
        free = [at for at in here if at not in self._proposals]
        if len(free) < len(match.turns):
            self._matchmaker.finished(match)
            self._orders.extend((node, Unmatched(node, turn)) for node, turn in free)
            return False
        self._proposals.update(dict.fromkeys(free, _Proposal(match, tuple(free), self._now)))
        return True

    def _at(self, turn: Turn) -> _At:
        seat = self._seats[turn.seat]
        return seat.node, Turn(seat.local, turn.number)

    def _closed(self, at: _At) -> _Proposal | None:
        proposal = self._proposals.get(at)
        if proposal is not None:
            for each in proposal.turns:
                self._proposals.pop(each, None)
        return proposal

    def _refuse(self, at: _At) -> None:
        """Close a refused proposal. If the refusal is late, keep players of its nodes apart for a while."""
        proposal = self._proposals.get(at)
        if proposal is not None and self._now - proposal.since > SILENT:
            one, *others = sorted({node for node, _ in proposal.turns})
            for other in others:
                self._apart.add((one, other))
                self._matchmaker.keep_apart(one, other, self._now + APART)
        self._free(at)

    def _free(self, at: _At) -> None:
        """Close a proposal, and send `Unmatched` to its nodes except that of `at`."""
        proposal = self._closed(at)
        if proposal is not None:
            self._matchmaker.finished(proposal.match)
            others = [each for each in proposal.turns if each[0] != at[0]]
            self._orders.extend((node, Unmatched(node, turn)) for node, turn in others)

    # Forgetting.

    def _drop(self, seat: _Seat) -> None:
        del self._seats[seat.number]
        node = self._nodes.get(seat.node)
        if node is not None and node.seats.get(seat.local) is seat:  # the node may have joined again
            del node.seats[seat.local]
        self._asking.pop(seat, None)
        self._waiting.pop(seat, None)
        self._matchmaker.leave(seat.number)

    def _forget(self, name: str) -> None:
        node = self._nodes.pop(name, None)
        if node is None:
            return
        for at in [at for at in self._proposals if at[0] == name]:
            self._free(at)
        for nodes in [nodes for nodes in self._apart if name in nodes]:
            self._apart.discard(nodes)
            self._matchmaker.keep_apart(*nodes, None)
        self._orders = deque(order for order in self._orders if order[0] != name)
        seats, series = (
            map(self._drop, node.seats.values()),
            map(self._matchmaker.finished, node.series.values()),
        )
        self._clearing = chain(self._clearing, seats, series)
        self._is_clearing = True

    # Answers.

    def answers(self, now: float) -> Iterator[tuple[str, Instruction]]:
        """Yield the orders, each with its node."""
        self._now = now
        if self._is_clearing:
            self._is_clearing = len([*islice(self._clearing, PIECE)]) == PIECE
        while self._orders:
            yield self._orders.popleft()
        if self._is_clearing or not self.is_open:
            return
        for _ in range(ROUNDS):
            self._pass_on_more()
            for answer in self._matchmaker.answers(now):
                self._order(answer)
                while self._orders:
                    yield self._orders.popleft()
            if not self._has_more:
                break

    def suspect(self) -> tuple[str, int] | None:
        """Return the node and the seat that the matchmaker was pairing when `answers` raised."""
        number = self._matchmaker.suspect()
        seat = None if number is None else self._seats.get(number)
        return None if seat is None else (seat.node, seat.local)

    def next_due(self) -> float | None:
        """Return the time of the next answers, unless a report comes before; None if there will be none."""
        if self._orders or self._is_clearing:
            return self._now
        if not self.is_open:
            return self._until
        return self._now if self._has_more else self._matchmaker.next_due()

    @property
    def is_open(self) -> bool:
        """Whether all nodes have announced their players, or the time for that is over."""
        return not self._awaited or self._now >= self._until

    @property
    def _has_more(self) -> bool:
        return bool(self._asking or self._waiting)

    def _pass_on_more(self) -> None:
        """Pass the next few entries and turns to the matchmaker."""
        for seat in [*islice(self._asking, AT_ONCE)]:
            seat.is_undecided = True
            self._matchmaker.enter(self._asking.pop(seat))
        for seat in [*islice(self._waiting, AT_ONCE)]:
            turn = self._waiting.pop(seat)
            if seat.is_in:
                assert seat.since is not None
                self._matchmaker.wait(turn, seat.since)

    def _order(self, answer: Answer) -> None:
        """Turn an answer of the matchmaker into orders. Drop it if it is about a seat that has left."""
        match answer:
            case Decision(number, against):
                seat = self._seats.get(number)
                if seat is None or not seat.is_undecided:  # left, or was readmitted since
                    return
                seat.is_undecided = False
                if not against:
                    seat.is_in = True
                elif not seat.is_in:
                    self._drop(seat)
                self._orders.append((seat.node, Decision(seat.local, against)))
                self._say_who_sits(number)
            case Returning(number, kept):
                self._give_back(self._seats.get(number), self._seats.get(kept))
            case Probe(number):
                if number in self._seats:
                    seat = self._seats[number]
                    self._orders.append((seat.node, Probe(seat.local)))
            case Hindered(turn, obstacle):
                if turn.seat in self._seats:
                    node, at = self._at(turn)
                    self._orders.append((node, Hindered(at, obstacle)))
            case Pair(first, second, rounds, table, scheduled):
                if self._propose(answer):
                    (host, one), (node, two) = self._at(first), self._at(second)
                    if node == host:
                        self._orders.append((node, Pair(one, two, rounds, table, scheduled)))
                    else:
                        self._orders.append((node, Proposed(two, host, one, rounds, table, scheduled)))
            case HousePair(turn):
                if self._propose(answer):
                    node, at = self._at(turn)
                    self._orders.append((node, replace(answer, turn=at)))
            case _:
                assert_never(answer)

    def _give_back(self, seat: _Seat | None, kept: _Seat | None) -> None:
        """Order a player's new node to ask for the player's kept seat.

        The new connection is no player of its own. If it does not get the seat, it asks to enter again.
        """
        if seat is None or not seat.is_undecided:
            return
        if kept is None:  # its node is lost
            self._orders.append((seat.node, KeptBy(seat.local, "", 0)))
        else:
            self._orders.append((seat.node, KeptBy(seat.local, kept.node, kept.local)))
        self._drop(seat)


class _Everywhere:
    """The house players, for the matchmaker of all nodes. Here every house player is always available.

    A house player plays on the node of its opponent. Before the opponent enters, that node checks whether the
    house player is available.
    """

    def __init__(self, house: HousePlayers) -> None:
        self.lobby_player = house.lobby_player

    def has(self, name: str, opponent: Opponent) -> bool:
        """Return True."""
        return True

"""Pairs the players of several nodes: takes in their reports, and gives them orders.

Wraps any matchmaker, which knows no nodes. What the nodes report may be late, so the nodes of the two seats
carry out or refuse what it proposes. Pure: the time comes in as `now`, in seconds of the clock of its own
node. Long work is done in pieces, one with each call of `answers`.
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
    Fact,
    Instruction,
    Joined,
    Left,
    Met,
    Over,
    Playing,
    Present,
    Proposed,
    Renamed,
    Sits,
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
    Turn,
)
from gateway.matchmaking.tables import Position

PATIENCE = 1.0
"""Seconds for which a new server waits for what the nodes announce."""
PIECE = 40
"""Seats and series of a lost node that are forgotten with one call."""
AT_ONCE = 4
"""Players that ask to enter or begin to wait, who are passed on together, as the matchmaker compares them."""
ROUNDS = 3
"""Rounds of pairing in one call, while many have begun to wait."""
SILENT = 1.9
"""Seconds after which a proposal is refused only if one of its nodes has heard nothing of the other."""
APART = 5.0
"""Seconds for which the players of two such nodes do not meet in the lobby, so that they meet others."""

_At: TypeAlias = tuple[str, Turn]
"""A turn of a seat of a node, as that node names it."""


@dataclass(eq=False, slots=True)
class _Seat:
    """A seat of a node."""

    node: str
    local: int
    """Its number there."""
    number: int
    """What the matchmaker knows it by."""
    is_undecided: bool = False
    """Whether the matchmaker is to decide whether it may enter."""
    is_in: bool = False
    """Whether it has its place."""
    since: float | None = None
    """When it began to wait last."""
    sits: tuple[Position, int] | None = None
    """How it sits at its table, as its node has heard last."""


@dataclass(slots=True)
class _Node:
    run: int
    seats: dict[int, _Seat] = field(default_factory=dict)
    series: dict[int, Match] = field(default_factory=dict)
    """The series that the node holds. Both by the numbers that it gave them."""


@dataclass(frozen=True, slots=True)
class _Proposal:
    """A match that is open until its series is on, a node refuses it, or one of its nodes is lost."""

    match: Match
    turns: tuple[_At, ...]
    since: float


class PairingServer:
    """Pairs the players of all nodes that report to it."""

    def __init__(self, matchmaker: Matchmaker, awaited: Iterable[str], now: float) -> None:
        """Begin to answer once the nodes `awaited` have announced their players, or `PATIENCE` is over.

        So what an earlier server knew counts from the first pair on.
        """
        self._matchmaker = matchmaker
        self._awaited = set(awaited)
        self._until = now + PATIENCE
        self._now = now
        self._nodes: dict[str, _Node] = {}
        self._seats: dict[int, _Seat] = {}
        """By the numbers that the matchmaker knows them by."""
        self._asking: dict[_Seat, Entry] = {}
        self._waiting: dict[_Seat, Turn] = {}
        """Both until they are passed on to the matchmaker."""
        self._proposals: dict[_At, _Proposal] = {}
        """Those that are open, by the turns in them: each is in one at most."""
        self._counted: OrderedDict[tuple[int, str, str], int] = OrderedDict()
        """The games of two names that a run of a node has reported."""
        self._apart: set[tuple[str, str]] = set()
        """Nodes that may not reach each other, in order."""
        self._orders: deque[tuple[str, Instruction]] = deque()
        self._clearing: Iterator[object] = iter(())
        """What is left to forget of lost nodes."""
        self._is_clearing = False
        self._numbers = count(1)
        self._unknown = count(-1, -1)
        """Numbers for the turns of series that began without this server."""

    def engage(self, house: HousePlayers) -> None:
        """Use house players, for the players of every node."""
        self._matchmaker.engage(_Everywhere(house))

    # What nodes report.

    def receive(self, node: str, fact: Fact, now: float) -> None:
        """Take in what happened at a node. What makes no sense is ignored."""
        self._now = now
        if isinstance(fact, Joined):
            self._forget(node)
            self._nodes[node] = _Node(fact.run)
        elif node in self._nodes:
            self._note(node, self._nodes[node], fact)

    def lost(self, node: str) -> None:
        """Forget a node that reports no more, with all its players."""
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
            case Waits() | Left() | Alive() | Renamed():
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
                pass  # was dealt with
            case _:
                assert_never(fact)

    def _change(self, seat: _Seat, fact: Waits | Left | Alive | Renamed) -> None:
        match fact:
            case Waits(_, turn, anew):
                seat.since = self._now if anew or seat.since is None else seat.since
                self._waiting[seat] = Turn(seat.number, turn)
            case Left():
                self._drop(seat)
            case Alive():
                self._matchmaker.alive(seat.number)
            case Renamed(_, name, counted):
                if seat.is_in:
                    self._matchmaker.rename(seat.number, name, counted=counted)

    def _opened(self, name: str, node: _Node, local: int) -> _Seat:
        """Return a seat of a node, which may be new."""
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
            match = node.series[fact.series] = Pair(turn, turn) if proposal is None else proposal.match
            self._waiting.pop(seat, None)
            self._matchmaker.resume(match, fact.names, seat.number if fact.at_table else None)
        if fact.fresh:
            self._matchmaker.began(match, fact.round)
            if fact.at_table:
                self._say_who_sits(seat.number)
            else:
                first, second = fact.names if fact.round % 2 else fact.names[::-1]
                self._count((node.run, key(first), key(second)), 1)

    def _say_who_sits(self, number: int) -> None:
        """Order how those sit who are at the table of a seat, where that has changed."""
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
        """Open a proposal; return False if the match is out of date. Then those who wait get new turns."""
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
        """Let nothing come of a proposal; where that took long, its nodes do not reach each other."""
        proposal = self._proposals.get(at)
        if proposal is not None and self._now - proposal.since > SILENT:
            one, *others = sorted({node for node, _ in proposal.turns})
            for other in others:
                self._apart.add((one, other))
                self._matchmaker.keep_apart(one, other, self._now + APART)
        self._free(at)

    def _free(self, at: _At) -> None:
        """Let nothing come of a proposal. The node of `at` knows that; the other gets an order."""
        proposal = self._closed(at)
        if proposal is not None:
            self._matchmaker.finished(proposal.match)
            others = [each for each in proposal.turns if each[0] != at[0]]
            self._orders.extend((node, Unmatched(node, turn)) for node, turn in others)

    # What is forgotten.

    def _drop(self, seat: _Seat) -> None:
        del self._seats[seat.number]
        node = self._nodes.get(seat.node)
        if node is not None and node.seats.get(seat.local) is seat:  # not if the node has joined again
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

    # What it answers.

    def answers(self, now: float) -> Iterator[tuple[str, Instruction]]:
        """Yield the orders that there are now, each with the node that it is for."""
        self._now = now
        if self._is_clearing:
            self._is_clearing = len([*islice(self._clearing, PIECE)]) == PIECE
        while self._orders:
            yield self._orders.popleft()
        if self._is_clearing or not self._is_open(now):
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
        """Return the seat, and its node, that an opponent was looked for when `answers` failed."""
        number = self._matchmaker.suspect()
        seat = None if number is None else self._seats.get(number)
        return None if seat is None else (seat.node, seat.local)

    def next_due(self) -> float | None:
        """Return when there may be answers though nothing is reported before; None if there will be none."""
        if self._orders or self._is_clearing:
            return self._now
        if not self._is_open(self._now):
            return self._until
        return self._now if self._has_more else self._matchmaker.next_due()

    def _is_open(self, now: float) -> bool:
        return not self._awaited or now >= self._until

    @property
    def _has_more(self) -> bool:
        return bool(self._asking or self._waiting)

    def _pass_on_more(self) -> None:
        """Pass on to the matchmaker the next few who ask to enter or wait."""
        for seat in [*islice(self._asking, AT_ONCE)]:
            seat.is_undecided = True
            self._matchmaker.enter(self._asking.pop(seat))
        for seat in [*islice(self._waiting, AT_ONCE)]:
            turn = self._waiting.pop(seat)
            if seat.is_in:
                assert seat.since is not None
                self._matchmaker.wait(turn, seat.since)

    def _order(self, answer: Answer) -> None:
        """Turn an answer of the matchmaker into orders. One about a seat that is gone is dropped."""
        match answer:
            case Decision(number, against):
                seat = self._seats.get(number)
                if seat is None or not seat.is_undecided:  # one that was readmitted does not ask
                    return
                seat.is_undecided = False
                if not against:
                    seat.is_in = True
                elif not seat.is_in:
                    self._drop(seat)
                self._orders.append((seat.node, Decision(seat.local, against)))
                self._say_who_sits(number)
            case Probe(number):
                if number in self._seats:
                    seat = self._seats[number]
                    self._orders.append((seat.node, Probe(seat.local)))
            case Hindered(turn, obstacle):
                if turn.seat in self._seats:
                    node, at = self._at(turn)
                    self._orders.append((node, Hindered(at, obstacle)))
            case Pair(first, second, rounds, table):
                if self._propose(answer):
                    (host, one), (node, two) = self._at(first), self._at(second)
                    if node == host:
                        self._orders.append((node, Pair(one, two, rounds, table)))
                    else:
                        self._orders.append((node, Proposed(two, host, one, rounds, table)))
            case HousePair(turn):
                if self._propose(answer):
                    node, at = self._at(turn)
                    self._orders.append((node, replace(answer, turn=at)))
            case _:
                assert_never(answer)


class _Everywhere:
    """The house players of the node that pairs, for players of all nodes.

    A player's own node knows whether one that the player wishes for is there, where it would think.
    """

    def __init__(self, house: HousePlayers) -> None:
        self.lobby_player = house.lobby_player

    def has(self, name: str, opponent: Opponent) -> bool:
        """Return True."""
        return True

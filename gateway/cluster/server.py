"""Pairs the players of several nodes: takes in their reports, and gives them orders.

Wraps any matchmaker, which knows no nodes. It knows only what the nodes report, which may be late, so the
nodes of the two seats carry out or refuse what it proposes. A turn is in one open
proposal at most, and a proposal is open until its series is on, a node refuses it, or one of its nodes is
lost.

A new server waits for a moment for all that the nodes announce, so that what an earlier one knew counts
from the first pair on. Long work is done in pieces, one with each call of `answers`. Pure: the time comes
in as `now`, in seconds of the clock of its own node.
"""

from collections import OrderedDict, deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain, count, islice
from typing import assert_never

from gateway.cluster.messages import (
    Alive,
    Announced,
    Asked,
    At,
    Decided,
    Fact,
    Freed,
    HouseProposed,
    Impeded,
    Instruction,
    Joined,
    Left,
    Met,
    Over,
    Parted,
    Playing,
    Present,
    Probed,
    Proposed,
    Renamed,
    Unmatched,
    Waits,
)
from gateway.cluster.seats import Seats
from gateway.matchmaking.lobby import LONGEST_KEY, MEETINGS_LIMIT, key
from gateway.matchmaking.matchmaker import (
    Answer,
    Decision,
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

PATIENCE = 1.0
"""Seconds for which a new server waits for what the nodes announce."""
PIECE = 40
"""Seats and series of a lost node that are forgotten with one call."""
SILENT = 1.9
"""Seconds after which a proposal is refused only if one of its nodes has heard nothing of the other."""
APART = 5.0
"""Seconds for which the players of two such nodes do not meet in the lobby, so that they meet others."""
ROUNDS = 3
"""Rounds of pairing in one call, while many have begun to wait."""


@dataclass(frozen=True, slots=True)
class _Proposal:
    match: Match
    parties: tuple[At, ...]
    since: float


@dataclass(slots=True)
class _Node:
    run: int
    series: dict[int, Match] = field(default_factory=dict)
    """The series that the node holds, by the numbers that it gave them."""


class PairingServer:
    """Pairs the players of all nodes that report to it."""

    def __init__(self, matchmaker: Matchmaker, awaited: Iterable[str], now: float) -> None:
        """Begin to answer once the nodes `awaited` have announced their players, or `PATIENCE` is over."""
        self._matchmaker = matchmaker
        self._seats = Seats(matchmaker)
        self._awaited = set(awaited)
        self._until = now + PATIENCE
        self._nodes: dict[str, _Node] = {}
        self._proposals: dict[At, _Proposal] = {}
        """Those that are open, by the turns in them."""
        self._counted: OrderedDict[tuple[int, str, str], int] = OrderedDict()
        """The games of two names that a run of a node has reported."""
        self._unknown = count(-1, -1)
        """Numbers for the turns of series that began without this server."""
        self._orders: deque[tuple[str, Instruction]] = deque()
        self._apart: set[tuple[str, str]] = set()
        """Nodes that may not reach each other, in order."""
        self._clearing: Iterator[None] = iter(())
        self._is_clearing = False
        self._now = now

    def engage(self, house: HousePlayers) -> None:
        """Use house players, for the players of every node."""
        self._matchmaker.engage(_Everywhere(house))

    # What nodes report.

    def receive(self, node: str, fact: Fact, now: float) -> None:
        """Take in what happened at a node. What makes no sense is ignored."""
        self._now = now
        reporting = self._nodes.get(node)
        if isinstance(fact, Joined):
            self._forget(node)
            self._nodes[node] = _Node(fact.run)
        elif isinstance(fact, Parted):
            self.lost(node)
        elif reporting is not None:
            self._note(node, reporting, fact)

    def lost(self, node: str) -> None:
        """Forget a node that reports no more, with all its players."""
        self._awaited.discard(node)
        self._forget(node)

    def _note(self, name: str, node: _Node, fact: Fact) -> None:
        match fact:
            case Waits() | Asked() | Left() | Renamed() | Present() | Alive():
                self._seats.note(name, fact, self._now)
            case Playing():
                self._play(name, node, fact)
            case Over(series):
                if series in node.series:
                    self._matchmaker.finished(node.series.pop(series))
            case Unmatched(seat, turn):
                self._refuse(At(name, seat, turn))
            case Met():
                self._learn(node.run, fact)
            case Announced():
                self._awaited.discard(name)
            case Joined() | Parted():
                pass  # was dealt with
            case _:
                assert_never(fact)

    def _play(self, name: str, node: _Node, fact: Playing) -> None:
        match = node.series.get(fact.series)
        number = self._seats.number(name, fact.seat)
        if number is None:
            return
        if match is None:
            proposal = self._closed(At(name, fact.seat, fact.turn))
            turn = Turn(number, next(self._unknown))
            match = node.series[fact.series] = Pair(turn, turn) if proposal is None else proposal.match
            self._seats.playing(number)
            self._matchmaker.resume(match, fact.names, number if fact.at_table else None)
        if fact.fresh:
            self._matchmaker.began(match, fact.round)
            if fact.at_table:
                self._orders.extend(self._seats.at_table_of(number))
            else:
                first, second = fact.names if fact.round % 2 else fact.names[::-1]
                self._count((node.run, key(first), key(second)), 1)

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

    def _closed(self, at: At) -> _Proposal | None:
        proposal = self._proposals.get(at)
        if proposal is not None:
            for each in proposal.parties:
                self._proposals.pop(each, None)
        return proposal

    def _refuse(self, at: At) -> None:
        """Let nothing come of a proposal; where that took long, its nodes do not reach each other."""
        proposal = self._proposals.get(at)
        if proposal is not None and self._now - proposal.since > SILENT:
            one, *others = sorted({each.node for each in proposal.parties})
            for other in others:
                self._apart.add((one, other))
                self._matchmaker.keep_apart(one, other, self._now + APART)
        self._free(at)

    def _free(self, at: At) -> None:
        """Let nothing come of a proposal. The node of `at` knows that; the other gets an order."""
        proposal = self._closed(at)
        if proposal is not None:
            self._matchmaker.finished(proposal.match)
            others = [each for each in proposal.parties if each.node != at.node]
            self._orders.extend((each.node, Freed(each.seat, each.turn)) for each in others)

    def _forget(self, name: str) -> None:
        node = self._nodes.pop(name, None)
        if node is None:
            return
        for at in [at for at in self._proposals if at.node == name]:
            self._free(at)
        for nodes in [nodes for nodes in self._apart if name in nodes]:
            self._apart.discard(nodes)
            self._matchmaker.keep_apart(*nodes, None)
        self._orders = deque(order for order in self._orders if order[0] != name)
        series = map(self._matchmaker.finished, node.series.values())
        self._clearing = chain(self._clearing, self._seats.forget(name), series)
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
            if self._seats.has_more:
                self._seats.pass_on_more()
            for answer in self._matchmaker.answers(now):
                self._order(answer)
                while self._orders:
                    yield self._orders.popleft()
            if not self._seats.has_more:
                break

    def suspect(self) -> tuple[str, int] | None:
        """Return the seat, and its node, that an opponent was looked for when `answers` failed."""
        number = self._matchmaker.suspect()
        return None if number is None else self._seats.owner(number)

    def next_due(self) -> float | None:
        """Return when there may be answers though nothing is reported before; None if there will be none."""
        if self._orders or self._is_clearing:
            return self._now
        if not self._is_open(self._now):
            return self._until
        return self._now if self._seats.has_more else self._matchmaker.next_due()

    def _is_open(self, now: float) -> bool:
        return not self._awaited or now >= self._until

    def _order(self, answer: Answer) -> None:
        match answer:
            case Decision(number, against):
                owner = self._seats.owner(number)
                if owner is not None and self._seats.decide(number, is_in=not against):
                    self._orders.append((owner[0], Decided(owner[1], against)))
                    self._orders.extend(self._seats.at_table_of(number))
            case Probe(number):
                owner = self._seats.owner(number)
                if owner is not None:
                    self._orders.append((owner[0], Probed(owner[1])))
            case Pair(first, second, rounds, table):
                if self._propose(answer):
                    host, other = self._seats.at(first), self._seats.at(second)
                    self._orders.append((other.node, Proposed(host, other, rounds, table)))
            case HousePair(turn, house, opens, rounds):
                if self._propose(answer):
                    at = self._seats.at(turn)
                    self._orders.append((at.node, HouseProposed(at.seat, at.turn, house, opens, rounds)))
            case Hindered(turn, obstacle):
                if self._seats.owner(turn.seat) is not None:
                    at = self._seats.at(turn)
                    self._orders.append((at.node, Impeded(at.seat, at.turn, obstacle)))
            case _:
                assert_never(answer)

    def _propose(self, match: Match) -> bool:
        """Open a proposal; return False if the match is out of date. Then those who wait get new turns."""
        here = [self._seats.at(turn) for turn in match.turns if self._seats.owner(turn.seat) is not None]
        free = [at for at in here if at not in self._proposals]
        if len(free) < len(match.turns):
            self._matchmaker.finished(match)
            self._orders.extend((at.node, Freed(at.seat, at.turn)) for at in free)
            return False
        self._proposals.update(dict.fromkeys(free, _Proposal(match, tuple(free), self._now)))
        return True


class _Everywhere:
    """The house players of the node that pairs, for players of all nodes.

    A player's own node knows whether one that the player wishes for is there, where it would think.
    """

    def __init__(self, house: HousePlayers) -> None:
        self.lobby_player = house.lobby_player

    def has(self, name: str, opponent: Opponent) -> bool:
        """Return True."""
        return True

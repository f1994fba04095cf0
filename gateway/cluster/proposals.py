"""How a node carries out what the one that pairs wants of it, and agrees with the other node of a pair.

*A seat's own node decides.* A proposal takes the turn of a seat only if the seat waits in it still, and a
turn that was taken is never used again. For a pair of two nodes the node that is not the host reserves its
seat first, and invites; the host begins or declines at once. So a seat is reserved for `HOLD` at most. If
the series has begun nevertheless, the host hears that the player is gone. A seat for which nothing came of a
match waits anew, and whoever has proposed it hears of that, so that the other seat does so too.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TypeAlias, assert_never

from gateway.cluster.local_state import Held, LocalState
from gateway.cluster.messages import (
    At,
    Begun,
    Decided,
    Freed,
    Gone,
    HouseProposed,
    Impeded,
    Instruction,
    Invited,
    Left,
    Probed,
    Proposed,
    Sits,
    Void,
)
from gateway.cluster.reporting import Pairs, Reporting
from gateway.hub.hub import Hub
from gateway.hub.seats import Hosted, Hosting
from gateway.matchmaking.matchmaker import Answer, Decision, Hindered, HousePair, Pair, Probe, Turn

HOLD = 2.0
"""Seconds for which a seat is reserved, at most."""

BetweenTwo: TypeAlias = Invited | Begun | Void | Gone


@dataclass(frozen=True, slots=True)
class _Reservation:
    turn: Turn
    host: str
    pairs: Pairs
    """Who proposed it."""
    until: float
    table: str | None
    """As in `Pair`."""


class Proposals:
    """The matches that are proposed to a node for its players, until their series begin."""

    def __init__(self, own: LocalState, to: Reporting) -> None:
        self.hub: Hub
        self._own = own
        self._to = to
        self._hosting: dict[At, Hosting] = {}
        """The series that are held here with players of other nodes, by the turns of these."""
        self._reserved: dict[int, _Reservation] = {}
        """By seat. They run out in this order."""
        self._hosted: dict[int, Hosted] = {}
        """The series of other nodes that seats of this one are in."""
        self._begun: Held | Hosted | None = None
        """The match whose series began last."""

    # What happens in the hub.

    def began(self, match: Held | Hosted) -> None:
        """Note that a series has begun, and tell the node of the other player."""
        self._begun = match
        if isinstance(match, Hosted):
            self._own.players[match.turn.seat].since = None
            self._hosted[match.turn.seat] = match
        elif isinstance(match, Hosting):
            self._hosting[At(match.node, *match.other)] = match
            host = self._own.players[match.turn.seat].player()
            self._to.post(match.node, Begun(*match.other, host))

    def finished(self, match: Held | Hosted) -> None:
        """Note that a series is over."""
        if isinstance(match, Hosted):
            self._hosted.pop(match.turn.seat, None)
        elif isinstance(match, Hosting):
            at = At(match.node, *match.other)
            if self._hosting.get(at) == match:  # the node may have been lost, and another run of it be there
                del self._hosting[at]

    def drop(self, seat: int) -> None:
        """Keep a seat for no series any more."""
        self._hosted.pop(seat, None)
        reservation = self._reserved.pop(seat, None)
        if reservation is not None:
            self._to.report_unmatched(reservation.turn, reservation.pairs)

    def is_reserved(self, seat: int) -> bool:
        """Whether a seat is kept for a series that another node is to hold."""
        return seat in self._reserved

    # What becomes of it.

    def expire(self, now: float) -> None:
        """Let seats wait anew whose reservations have run out."""
        for seat in [seat for seat, each in self._reserved.items() if each.until <= now]:
            self._release(seat)

    def next_due(self) -> float | None:
        """Return when the next reservation runs out."""
        return next((each.until for each in self._reserved.values()), None)

    def obey(self, instruction: Instruction) -> Iterator[Answer]:
        """Carry out what the one that pairs wants, as far as it is not out of date."""
        match instruction:
            case Decided():
                yield from self._decide(instruction)
            case Probed(seat):
                yield Probe(seat)
            case Proposed(host, other):
                turn = self._taken(other)
                if host.node == self._to.node:
                    yield from self._pair(self._taken(host), turn, instruction)
                elif turn is not None:
                    self._reserve(turn, instruction)
                else:
                    self._to.report_unmatched(_turn(other), self._to.pairs)
            case HouseProposed():
                yield from self._pair_with_house(instruction)
            case Freed(seat, number):
                turn = self._taken(At(self._to.node, seat, number))
                if turn is not None:
                    self.hub.wait_anew(turn, self._to.now)
            case Impeded(seat, number, obstacle):
                yield Hindered(Turn(seat, number), obstacle)
            case Sits(seat, position, games):
                if seat in self._own.players:
                    player = self._own.players[seat]
                    player.position, player.games = position, games
            case _:
                assert_never(instruction)

    def follow(self, node: str, message: BetweenTwo) -> None:
        """Carry out what the other node of a pair says."""
        turn = Turn(message.seat, message.turn)
        match message:
            case Invited():
                self._host(node, turn, message)
            case Begun(player=player):
                match = Hosted(turn, node, player)
                if self._is_reserved_for(turn, node):
                    match = replace(match, table=self._reserved.pop(turn.seat).table)
                    self.hub.meet(match, self._to.now)
                if self._hosted.get(turn.seat) != match:
                    self._to.post(node, Gone(*turn))
            case Void():
                if self._is_reserved_for(turn, node):
                    self._release(turn.seat)
            case Gone():
                hosting = self._hosting.get(At(node, *turn))
                if hosting is not None:
                    self.hub.desert(hosting)
            case _:
                assert_never(message)

    def _taken(self, at: At) -> Turn | None:
        """Return the turn of a seat here if the seat waits in it, which it does no more."""
        player = self._own.players.get(at.seat)
        if at.node != self._to.node or player is None or player.turn != at.turn:
            return None
        player.turn = None
        return _turn(at)

    def _decide(self, decided: Decided) -> Iterator[Answer]:
        player = self._own.players.get(decided.seat)
        if player is None or player.asks is None:
            return
        if not decided.against:
            player.let_in()
        player.asks = None
        if not player.is_in:
            del self._own.players[decided.seat]
            self._to.report(Left(decided.seat))
        yield Decision(decided.seat, decided.against)

    def _pair_with_house(self, proposed: HouseProposed) -> Iterator[Answer]:
        at = At(self._to.node, proposed.seat, proposed.turn)
        turn = self._taken(at)
        if turn is not None:
            match = HousePair(turn, proposed.house, proposed.opens, proposed.rounds)
            yield match
            if self._begun is match:
                return
        self._to.report_unmatched(_turn(at), self._to.pairs)

    def _pair(self, host: Turn | None, other: Turn | None, proposed: Proposed) -> Iterator[Answer]:
        """Let two of this node play."""
        if host is not None and other is not None:
            match = Pair(host, other, proposed.rounds, proposed.table)
            yield match
            if self._begun is match:
                return
        else:
            for turn in (host, other):
                if turn is not None:
                    self.hub.wait_anew(turn, self._to.now)
        self._to.report_unmatched(_turn(proposed.second), self._to.pairs)

    def _reserve(self, turn: Turn, proposed: Proposed) -> None:
        """Keep a seat for a series that the other node is to hold, and send the player there."""
        if not self.hub.can_reach(turn.seat):
            self._to.report_unmatched(turn, self._to.pairs)
            self.hub.wait_anew(turn, self._to.now)
            return
        host, player = proposed.first, self._own.players[turn.seat]
        until = self._to.now + HOLD
        self._reserved[turn.seat] = _Reservation(turn, host.node, self._to.pairs, until, proposed.table)
        who, origin = player.player(), player.entry.origin
        invited = Invited(*turn, who, origin, host.seat, host.turn, proposed.rounds, proposed.table)
        self._to.post(host.node, invited)

    def _is_reserved_for(self, turn: Turn, host: str) -> bool:
        reservation = self._reserved.get(turn.seat)
        return reservation is not None and (reservation.turn, reservation.host) == (turn, host)

    def _release(self, seat: int) -> None:
        turn = self._reserved[seat].turn
        self.drop(seat)
        self.hub.wait_anew(turn, self._to.now)

    def _host(self, node: str, other: Turn, message: Invited) -> None:
        """Let a seat of this node play one of another, if it waits as the one that pairs said."""
        turn = self._taken(At(self._to.node, message.to_seat, message.to_turn))
        if turn is not None:
            who, origin = message.player, message.origin
            match = Hosting(turn, node, other, who, origin, message.rounds, message.table)
            self.hub.meet(match, self._to.now)
            if self._begun is match:
                return
        self._to.post(node, Void(*other))


def _turn(at: At) -> Turn:
    return Turn(at.seat, at.turn)

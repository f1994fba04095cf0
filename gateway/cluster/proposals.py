"""How a node carries out what the one that pairs wants of it, and agrees with the other node of a pair.

The rule it keeps: *a seat's own node decides*. A proposal takes the turn of a seat only if the seat waits
in it still, and a turn that was taken is never used again. For a pair of two nodes the guest's node
reserves first, and invites; the host's node begins or declines at once. So only a guest is ever reserved,
for `HOLD` at most. If the series has begun nevertheless, the host hears that its guest is gone. A seat for
which nothing came of a match waits anew, and whoever has proposed it is told, so that the other seat does
so too.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TypeAlias, assert_never

from gateway.cluster.local_state import Held, LocalState
from gateway.cluster.messages import (
    At,
    Begun,
    Decided,
    Deed,
    Freed,
    Gone,
    Impeded,
    Invited,
    Left,
    Probed,
    Proposed,
    Sits,
    Visited,
    Void,
)
from gateway.cluster.reporting import Pairs, Reporting
from gateway.game.results import Player
from gateway.matchmaking.matchmaker import (
    Again,
    Answer,
    Decision,
    Deserted,
    Elsewhere,
    Hindered,
    Hosted,
    Hosting,
    Pair,
    Probe,
    Turn,
    Visit,
)

HOLD = 2.0
"""Seconds for which a guest is reserved, at most."""

ClusterAnswer: TypeAlias = Answer | Elsewhere
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
        self.is_reachable: Callable[[int], bool] = lambda seat: True
        """Whether the player on a seat can be reached, as far as the hub knows."""
        self._own = own
        self._to = to
        self._guests: dict[At, Hosting] = {}
        """The series that are held here with seats of other nodes, by the turns of these."""
        self._reserved: dict[int, _Reservation] = {}
        """By seat. They run out in this order."""
        self._away: dict[int, Hosted] = {}
        """The series of other nodes that seats of this one are in."""
        self._begun: Held | Hosted | None = None
        """The match whose series began last."""

    # What the hub tells.

    def began(self, match: Held | Hosted) -> None:
        """Note that a series has begun, and tell the node of its guest."""
        self._begun = match
        if isinstance(match, Hosted):
            self._own.players[match.turn.seat].since = None
            self._away[match.turn.seat] = match
        elif isinstance(match, Hosting):
            self._guests[At(match.node, *match.guest)] = match
            host = self._own.players[match.turn.seat].player()
            self._to.post(match.node, Begun(*match.guest, host))

    def finished(self, match: Held | Hosted) -> None:
        """Note that a series is over."""
        if isinstance(match, Hosted):
            self._away.pop(match.turn.seat, None)
        elif isinstance(match, Hosting):
            at = At(match.node, *match.guest)
            if self._guests.get(at) == match:  # the node may have been lost, and another run of it be there
                del self._guests[at]

    def drop(self, seat: int) -> None:
        """Keep a seat for no series any more."""
        self._away.pop(seat, None)
        reservation = self._reserved.pop(seat, None)
        if reservation is not None:
            self._to.report_unmatched(reservation.turn, reservation.pairs)

    def is_reserved(self, seat: int) -> bool:
        """Whether a seat is kept for a series that another node is to hold."""
        return seat in self._reserved

    # What becomes of it.

    def expired(self, now: float) -> Iterator[ClusterAnswer]:
        """Let seats wait anew whose reservations have run out."""
        for seat in [seat for seat, each in self._reserved.items() if each.until <= now]:
            yield from self._release(seat)

    def next_due(self) -> float | None:
        """Return when the next reservation runs out."""
        return next((each.until for each in self._reserved.values()), None)

    def obey(self, deed: Deed) -> Iterator[ClusterAnswer]:
        """Carry out what the one that pairs wants, as far as it is not out of date."""
        match deed:
            case Decided(seat):
                yield from self._decide(seat, deed)
            case Probed(seat):
                yield Probe(seat)
            case Proposed(host):
                guest = self._taken(deed.second)
                if host.node == self._to.node:
                    yield from self._pair(self._taken(host), guest, deed)
                elif guest is not None:
                    yield from self._reserve(guest, deed)
                else:
                    self._to.report_unmatched(_turn(deed.second), self._to.pairs)
            case Visited():
                yield from self._entertain(deed)
            case Freed(seat, turn):
                if self._taken(At(self._to.node, seat, turn)):
                    yield Again(Turn(seat, turn))
            case Impeded(seat, turn, obstacle):
                yield Hindered(Turn(seat, turn), obstacle)
            case Sits(seat, position, games):
                if seat in self._own.players:
                    player = self._own.players[seat]
                    player.position, player.games = position, games
            case _:
                assert_never(deed)

    def follow(self, node: str, message: BetweenTwo) -> Iterator[ClusterAnswer]:
        """Carry out what the other node of a pair says."""
        turn = Turn(message.seat, message.turn)
        match message:
            case Invited():
                yield from self._host(node, turn, message)
            case Begun():
                yield from self._go(node, turn, message.player)
            case Void():
                if self._is_reserved_for(turn, node):
                    yield from self._release(turn.seat)
            case Gone():
                match = self._guests.get(At(node, *turn))
                if match is not None:
                    yield Deserted(match)
            case _:
                assert_never(message)

    def _decide(self, seat: int, decided: Decided) -> Iterator[Decision]:
        player = self._own.players.get(seat)
        if player is None or player.asks is None:
            return
        if not decided.against:
            player.let_in()
        player.asks = None
        if not player.is_in:
            del self._own.players[seat]
            self._to.report(Left(seat))
        yield Decision(seat, decided.against)

    def _taken(self, at: At) -> Turn | None:
        """Return the turn of a seat here if the seat waits in it, which it does no more."""
        player = self._own.players.get(at.seat)
        if at.node != self._to.node or player is None or player.turn != at.turn:
            return None
        player.turn = None
        return _turn(at)

    def _pair(self, host: Turn | None, guest: Turn | None, deed: Proposed) -> Iterator[ClusterAnswer]:
        """Let two of this node play."""
        if host is not None and guest is not None:
            match = Pair(host, guest, deed.rounds, deed.table)
            yield match
            if self._begun is match:
                return
        else:
            yield from (Again(turn) for turn in (host, guest) if turn is not None)
        self._to.report_unmatched(_turn(deed.second), self._to.pairs)

    def _entertain(self, deed: Visited) -> Iterator[ClusterAnswer]:
        """Let a house player come."""
        at = At(self._to.node, deed.seat, deed.turn)
        turn = self._taken(at)
        if turn is not None:
            match = Visit(turn, deed.visitor, deed.opens, deed.rounds)
            yield match
            if self._begun is match:
                return
        self._to.report_unmatched(_turn(at), self._to.pairs)

    def _reserve(self, guest: Turn, deed: Proposed) -> Iterator[ClusterAnswer]:
        """Keep a seat for a series that the other node is to hold, and invite it to."""
        if not self.is_reachable(guest.seat):
            self._to.report_unmatched(guest, self._to.pairs)
            yield Again(guest)
            return
        host, player = deed.first, self._own.players[guest.seat]
        until = self._to.now + HOLD
        self._reserved[guest.seat] = _Reservation(guest, host.node, self._to.pairs, until, deed.table)
        who, origin = player.player(), player.entry.origin
        told = Invited(*guest, who, origin, host.seat, host.turn, deed.rounds, deed.table)
        self._to.post(host.node, told)

    def _is_reserved_for(self, turn: Turn, host: str) -> bool:
        reservation = self._reserved.get(turn.seat)
        return reservation is not None and (reservation.turn, reservation.host) == (turn, host)

    def _release(self, seat: int) -> Iterator[ClusterAnswer]:
        turn = self._reserved[seat].turn
        self.drop(seat)
        yield Again(turn)

    def _host(self, node: str, guest: Turn, message: Invited) -> Iterator[ClusterAnswer]:
        """Let a seat of this node play a guest, if it waits as the one that pairs said."""
        turn = self._taken(At(self._to.node, message.to_seat, message.to_turn))
        if turn is not None:
            who, origin = message.player, message.origin
            match = Hosting(turn, node, guest, who, origin, message.rounds, message.table)
            yield match
            if self._begun is match:
                return
        self._to.post(node, Void(*guest))

    def _go(self, node: str, turn: Turn, player: Player) -> Iterator[ClusterAnswer]:
        """Let a seat of this node play as a guest of another."""
        match = Hosted(turn, node, player)
        if self._is_reserved_for(turn, node):
            match = replace(match, table=self._reserved.pop(turn.seat).table)
            yield match
        if self._away.get(turn.seat) != match:
            self._to.post(node, Gone(*turn))


def _turn(at: At) -> Turn:
    return Turn(at.seat, at.turn)

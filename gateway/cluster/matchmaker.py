"""The matchmaker of one node of a cluster, as its hub knows it.

Reports the node's players to whoever pairs, and carries out what comes of that. The caller carries the
messages: what is given to `post` to other nodes, and theirs to `receive`, after which the hub is to
`settle`.

*A seat's own node decides.* A proposal takes the turn of a seat only if the seat waits in it still, and a
turn that was taken is never used again. For a pair of two nodes the node that is not to hold the series
reserves its seat first, and asks by `Hosting`; the other begins the series and says so by `Hosted`, or
declines, at once. So a seat is reserved for `HOLD` at most. If the series has begun nevertheless, its node
hears that the player is gone. A seat for which nothing came of a match waits anew, and whoever has proposed
it hears of that, so that the other seat does so too.
"""

from collections import deque
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace
from typing import assert_never

from gateway.cluster.messages import (
    Alive,
    Asked,
    Instruction,
    Left,
    Message,
    Order,
    Proposed,
    Renamed,
    Report,
    Sits,
    Unmatched,
    Waits,
)
from gateway.cluster.reporter import Held, LocalPlayer, Pairs, Reporter
from gateway.game.events import Objection
from gateway.hub.hub import Hub
from gateway.hub.seats import Hosted, Hosting
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
from gateway.matchmaking.members import house_wish

HOLD = 2.0
"""Seconds for which a seat is reserved, at most."""


@dataclass(frozen=True, slots=True)
class _Reservation:
    """A seat that is kept for a series which another node is to hold."""

    turn: Turn
    node: str
    pairs: Pairs
    """Who proposed it."""
    until: float


class ClusterMatchmaker(Matchmaker):
    """Decides who plays whom, together with those of other nodes."""

    def __init__(self, node: str, run: int, matchmaker: Callable[[], Matchmaker]) -> None:
        """`run` is a number that no other run of a node has; `matchmaker` makes one to pair with."""
        self._hub: Hub
        self._node = node
        self._own = Reporter(node, run, matchmaker)
        self._inbox: deque[tuple[str, Message]] = deque()
        self._refused: deque[Decision] = deque()
        self._reserved: dict[int, _Reservation] = {}
        """By seat. They run out in this order."""
        self._hosted: dict[int, Hosted] = {}
        """The series of other nodes that seats of this one are in."""
        self._hosting: dict[tuple[str, Turn], Hosting] = {}
        """The series that are held here with players of other nodes, by the turns of these."""
        self._begun: Held | Hosted | None = None
        """The match whose series began last."""

    # Other nodes.

    def connect(self, hub: Hub, post: Callable[[str, Message], None]) -> None:
        """Send messages to other nodes by `post` from now on. Those of one node MUST keep their order."""
        self._hub, self._own.post = hub, post

    def attach(self, node: str | None, epoch: int, now: float, others: Collection[str] = ()) -> None:
        """Let a node pair from now on, in an epoch; None: let this one pair its own players alone.

        Call it on the node that is to pair before any other: what is reported to it earlier is lost. It waits
        for what `others` announce. A node that has ceased to pair in an epoch MUST NOT do so in it again.
        """
        pairs = (self._node, 0) if node is None else (node, epoch)
        self._own.now = now
        if pairs != self._own.pairs:
            self._own.attach(pairs, others)

    def drain(self) -> None:
        """Let no player of this node be paired any more, by any node.

        A seat that `is_reserved` may be in a series nevertheless: its node began before it could know.
        """
        self._own.drain()

    def is_reserved(self, seat: int) -> bool:
        """Whether another node may have begun a series with a seat, which this one has not heard yet."""
        return seat in self._reserved

    def lost(self, node: str, now: float) -> None:
        """Forget all that passed between this node and another, as their session is over.

        If that one paired, nobody is paired before the next `attach`. The hub ends series held with the node.
        """
        self._own.now = now
        self._inbox = deque(each for each in self._inbox if each[0] != node)
        self._own.lost(node)

    def receive(self, node: str, message: Message, now: float) -> None:
        """Take in a message of another node. What makes no sense is ignored."""
        self._own.now = now
        if not isinstance(message, Report):
            self._inbox.append((node, message))
        elif message.epoch and self._own.pairs == (self._node, message.epoch):
            assert self._own.server is not None
            self._own.server.receive(node, message.fact, now)

    # What happens in the hub: as `Matchmaker` and `RemotePairing` say.

    def engage(self, house: HousePlayers) -> None:
        """Use house players from now on. Until then there are none."""
        self._own.engage(house)

    def enter(self, entry: Entry) -> None:
        """Ask whoever pairs. If a player is let in that is gone by then, the hub MUST let it `leave`."""
        if Objection.TOO_LONG in entry.against:  # what is too long cannot be sent to another node
            self._refused.append(Decision(entry.seat, entry.against))
            return
        wish, house = house_wish(entry), self._own.house
        if wish is not None and house is not None:  # a house player would have to come to this node
            opponent = Opponent(entry.origin, entry.name, entry.manners.clocked)
            if not house.has(wish.name.casefold(), opponent):
                entry = replace(entry, against=entry.against | Objection.NOT_AVAILABLE)
        self._own.announce_first(entry.seat)
        self._own.players.setdefault(entry.seat, LocalPlayer(entry)).asks = entry
        self._own.report(Asked(entry))

    def rename(self, seat: int, name: str, *, counted: bool) -> None:
        """Note the name of a seat that has entered."""
        self._own.announce_first(seat)
        player = self._own.players[seat]
        player.entry = replace(player.entry, name=name, counted=counted)
        self._own.report(Renamed(seat, name, counted))

    def wait(self, turn: Turn, since: float) -> None:
        """Let whoever pairs find an opponent."""
        self._own.now = max(self._own.now, since)
        self._own.announce_first(turn.seat)
        player = self._own.players[turn.seat]
        is_new = player.since != since
        player.turn, player.since = turn.number, since
        self._own.report(Waits(*turn, is_new))

    def leave(self, seat: int) -> None:
        """Forget a seat. What it has asked remains open: it may have lost no more than its place."""
        player = self._own.players.get(seat)
        if player is None:
            return
        self._own.announce_first(seat)
        self._hosted.pop(seat, None)
        self._unreserve(seat)
        player.turn, player.is_in = None, False
        if player.asks is None:
            del self._own.players[seat]
            self._own.report(Left(seat))

    def alive(self, seat: int) -> None:
        """Report that the client of a seat is there."""
        if seat in self._own.players:
            self._own.announce_first(seat)
            self._own.report(Alive(seat))

    def began(self, match: Held | Hosted, game: int) -> None:
        """Report a game, if its series is held here; and to the node of the other player that it is on."""
        if game == 1:
            self._begun = match
        if isinstance(match, Hosted):
            self._own.players[match.turn.seat].since = None
            self._hosted[match.turn.seat] = match
            return
        if isinstance(match, Hosting) and game == 1:
            self._hosting[match.node, match.other] = match
            player = self._own.players[match.turn.seat].player()
            self._own.post(match.node, Hosted(match.other, self._node, player, match.table))
        self._own.began(match, game)

    def finished(self, match: Held | Hosted) -> None:
        """Report the end of a series, if it was held here."""
        if isinstance(match, Hosted):
            self._hosted.pop(match.turn.seat, None)
            return
        if isinstance(match, Hosting):
            at = match.node, match.other
            if self._hosting.get(at) == match:  # the node may have been lost, and another run of it be there
                del self._hosting[at]
        self._own.finished(match)

    # What it answers.

    def answers(self, now: float) -> Iterator[Answer]:
        """Yield what the one that pairs wants of the hub, as far as this node agrees.

        What other nodes want is asked of the hub in between, so that all of it is carried out in its order.
        """
        self._own.now = now
        self._own.announce()
        while self._refused:
            yield self._refused.popleft()
        for seat in [seat for seat, each in self._reserved.items() if each.until <= now]:
            self._release(seat)
        while self._inbox:
            yield from self._follow(*self._inbox.popleft())
        server, pairs = self._own.server, self._own.pairs
        if server is not None and pairs is not None:
            for node, instruction in server.answers(now):
                if node == self._node:
                    yield from self._obey(instruction)
                else:
                    self._own.post(node, Order(pairs[1], instruction))

    def suspect(self) -> int | None:
        """Return, once, the seat that `answers` was about when it raised an exception, if it is one here."""
        suspect = None if self._own.server is None else self._own.server.suspect()
        return suspect[1] if suspect is not None and suspect[0] == self._node else None

    def next_due(self) -> float | None:
        """Return when there may be answers though nothing happens before; None if there will be none."""
        if self._inbox or self._refused:
            return self._own.now
        runs_out = next((each.until for each in self._reserved.values()), None)
        times = runs_out, self._own.next_due()
        return min((when for when in times if when is not None), default=None)

    def _follow(self, node: str, message: Message) -> Iterator[Answer]:
        """Carry out what another node says."""
        match message:
            case Order(epoch, instruction):
                if (node, epoch) == self._own.pairs:
                    yield from self._obey(instruction)
            case Hosting(turn):
                if message.node == node and self._takes(turn):
                    self._hub.meet(message, self._own.now)
                    if self._begun is message:
                        return
                self._own.post(node, Unmatched(node, message.other))
            case Hosted(turn):
                if message.node == node and self._is_reserved_for(node, turn):
                    del self._reserved[turn.seat]
                    self._hub.meet(message, self._own.now)
                if self._hosted.get(turn.seat) != message:
                    self._own.post(node, Unmatched(self._node, turn))
            case Unmatched(owner, turn):
                if owner == self._node and self._is_reserved_for(node, turn):
                    self._release(turn.seat)
                elif owner == node and (node, turn) in self._hosting:
                    self._hub.desert(self._hosting[node, turn])
            case Report():
                pass  # was dealt with
            case _:
                assert_never(message)

    def _obey(self, instruction: Instruction) -> Iterator[Answer]:
        """Carry out what the one that pairs wants, as far as it is not out of date."""
        match instruction:
            case Decision():
                yield from self._decide(instruction)
            case Probe() | Hindered():
                yield instruction
            case Pair() | HousePair():
                yield from self._match(instruction)
            case Proposed():
                self._reserve(instruction)
            case Unmatched(_, turn):
                if self._takes(turn):
                    self._hub.wait_anew(turn, self._own.now)
            case Sits(seat, position, games):
                if seat in self._own.players:
                    player = self._own.players[seat]
                    player.position, player.games = position, games
            case _:
                assert_never(instruction)

    def _decide(self, decision: Decision) -> Iterator[Answer]:
        player = self._own.players.get(decision.seat)
        if player is None or player.asks is None:
            return
        if not decision.against:
            player.entry, player.is_in = player.asks, True
            player.turn = player.since = None
        player.asks = None
        if not player.is_in:
            del self._own.players[decision.seat]
            self._own.report(Left(decision.seat))
        yield decision

    def _match(self, match: Match) -> Iterator[Answer]:
        """Let two of this node play, or one with a house player, if all wait as the one that pairs said."""
        taken = [turn for turn in match.turns if self._takes(turn)]
        if len(taken) == len(match.turns):
            yield match
            if self._begun is match:
                return
        else:
            for turn in taken:
                self._hub.wait_anew(turn, self._own.now)
        self._own.report(Unmatched(self._node, match.turns[-1]))

    def _reserve(self, proposed: Proposed) -> None:
        """Keep a seat for a series that the other node is to hold, and send the player there."""
        turn, player = proposed.turn, self._own.players.get(proposed.turn.seat)
        if player is None or not self._takes(turn):
            self._own.report(Unmatched(self._node, turn))
        elif not self._hub.can_reach(turn.seat):
            self._own.report(Unmatched(self._node, turn))
            self._hub.wait_anew(turn, self._own.now)
        else:
            until = self._own.now + HOLD
            self._reserved[turn.seat] = _Reservation(turn, proposed.node, self._own.pairs, until)
            hosting = Hosting(
                turn=proposed.other,
                node=self._node,
                other=turn,
                player=player.player(),
                origin=player.entry.origin,
                rounds=proposed.rounds,
                table=proposed.table,
            )
            self._own.post(proposed.node, hosting)

    def _takes(self, turn: Turn) -> bool:
        """Return whether a seat of this node waits in a turn, which it does no more."""
        player = self._own.players.get(turn.seat)
        if player is None or player.turn != turn.number:
            return False
        player.turn = None
        return True

    def _is_reserved_for(self, node: str, turn: Turn) -> bool:
        reservation = self._reserved.get(turn.seat)
        return reservation is not None and (reservation.node, reservation.turn) == (node, turn)

    def _unreserve(self, seat: int) -> None:
        """Keep a seat for no series any more."""
        reservation = self._reserved.pop(seat, None)
        if reservation is not None and reservation.pairs == self._own.pairs:
            self._own.report(Unmatched(self._node, reservation.turn))

    def _release(self, seat: int) -> None:
        """Let a reserved seat wait anew."""
        turn = self._reserved[seat].turn
        self._unreserve(seat)
        self._hub.wait_anew(turn, self._own.now)

"""The matchmaker for the hub of a node in a cluster.

It reports the node's players to the node that pairs, and carries out the orders of that node. The caller
gives it a function `post`, which sends messages to other nodes. The caller passes each message of another
node to `receive`, then calls the hub's `settle`.
"""

# The node of a seat decides about the seat. A match takes the turn of a seat only if the seat still waits in
# that turn. A turn that was taken is never used again. For a pair of two nodes, the node that will not hold
# the series reserves its seat first, for `HOLD` seconds at most, and sends `Hosting`. The other node begins
# the series and answers `Hosted`. If it cannot, it answers `Unmatched`. If the reservation has run out when
# `Hosted` arrives, the reply is `Unmatched`. When a match fails, each seat waits in a new turn, which is
# reported to the node that pairs.
#
# A seat that is kept for a player whose connection broke stays on its node. If the player comes back to
# another node, that node sends `Claim` to the node of the seat, which answers `Claimed`, and then sends all
# events for the player to the new node. There the client's own seat is `Relayed`.

from collections import deque
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace
from typing import assert_never

from gateway.cluster.games import Games
from gateway.cluster.messages import (
    Alive,
    Asked,
    Away,
    Claim,
    Claimed,
    Instruction,
    KeptBy,
    Left,
    Message,
    Order,
    Proposed,
    Renamed,
    Report,
    Returned,
    Sits,
    StoodAside,
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
    Returning,
    Turn,
)
from gateway.matchmaking.members import house_wish

HOLD = 2.0
"""The longest reservation of a seat, in seconds."""


@dataclass(frozen=True, slots=True)
class _OpenClaim:
    """A claim for a kept seat of another node that has no answer yet."""

    node: str
    until: float


@dataclass(frozen=True, slots=True)
class _Reservation:
    """The reservation of a seat for a series on another node."""

    turn: Turn
    node: str
    pairs: Pairs
    """The node that proposed the series, with its epoch."""
    until: float


class ClusterMatchmaker(Matchmaker):
    """The matchmaker of one node in a cluster."""

    def __init__(self, node: str, run: int, matchmaker: Callable[[], Matchmaker]) -> None:
        """Create a matchmaker. `run` is the unique number of this run of the node.

        `matchmaker` is called if this node has to pair; it returns the matchmaker for all nodes.
        """
        self._hub: Hub
        self._games: Games
        self._node = node
        self._own = Reporter(node, run, matchmaker)
        self._inbox: deque[tuple[str, Message]] = deque()
        self._refused: deque[Decision] = deque()
        self._reserved: dict[int, _Reservation] = {}
        """The reserved seats, in the order in which the reservations run out."""
        self._claims: dict[int, _OpenClaim] = {}
        """The open claims, by the seats of the new connections, in the order in which they run out."""
        self._hosted: dict[int, Hosted] = {}
        """The series on other nodes, by the seat of this node's player."""
        self._hosting: dict[tuple[str, Turn], Hosting] = {}
        """The series on this node with players of other nodes, by the nodes and turns of these players."""
        self._begun: Held | Hosted | None = None
        """The match whose series began last."""

    # Other nodes.

    def connect(self, hub: Hub, post: Callable[[str, Message], None], games: Games) -> None:
        """Use `post` from now on to send messages. It must keep the order of the messages to each node."""
        self._hub, self._own.post, self._games = hub, post, games

    def attach(self, node: str | None, epoch: int, now: float, others: Collection[str] = ()) -> None:
        """Use `node` as the node that pairs in `epoch`. With None this node pairs only its own players.

        Call this first on the node that pairs, since reports that arrive before that are lost. That node
        waits for the announcements of `others`. If another node has paired since, a node must pair in a new
        epoch.
        """
        pairs = (self._node, 0) if node is None else (node, epoch)
        self._own.now = now
        if pairs != self._own.pairs:
            self._own.attach(pairs, others)

    def drain(self) -> None:
        """Stop the pairing of this node's players, by any node.

        A seat that `is_reserved` may still get into a series that another node has begun already.
        """
        self._own.drain()

    def is_reserved(self, seat: int) -> bool:
        """Whether this node waits for another node's answer about a series with this seat."""
        return seat in self._reserved

    def lost(self, node: str, now: float) -> None:
        """Forget the unprocessed messages of a node that is lost.

        If that node paired, there are no pairs before the next `attach`. The hub ends the series with the
        lost node.
        """
        self._own.now = now
        self._inbox = deque(each for each in self._inbox if each[0] != node)
        for seat in [seat for seat, claim in self._claims.items() if claim.node == node]:
            self._ask_again(seat)
        self._own.lost(node)

    def receive(self, node: str, message: Message, now: float) -> None:
        """Queue or carry out a message of another node. A message that does not fit the state is ignored."""
        self._own.now = now
        if not isinstance(message, Report):
            self._inbox.append((node, message))
        elif message.epoch and self._own.pairs == (self._node, message.epoch):
            assert self._own.server is not None
            self._own.server.receive(node, message.fact, now)

    # Calls of the hub, as documented in `Matchmaker` and `RemotePairing`.

    def engage(self, house: HousePlayers) -> None:
        """Use house players from now on."""
        self._own.engage(house)

    def enter(self, entry: Entry) -> None:
        """Ask the node that pairs whether a player may enter.

        If the player has left when the decision comes, the hub must call `leave`.
        """
        if Objection.TOO_LONG in entry.against:  # too long for a message to another node
            self._refused.append(Decision(entry.seat, entry.against))
            return
        wish, house = house_wish(entry), self._own.house
        if wish is not None and house is not None:  # a house player plays on the player's own node
            opponent = Opponent(entry.origin, entry.name, entry.manners.clocked)
            if not house.has(wish.name.casefold(), opponent):
                entry = replace(entry, against=entry.against | Objection.NOT_AVAILABLE)
        self._own.announce_first(entry.seat)
        self._own.players.setdefault(entry.seat, LocalPlayer(entry)).asks = entry
        self._own.report(Asked(entry))

    def rename(self, seat: int, name: str, *, counted: bool) -> None:
        """Report the new name of a seat that has entered."""
        self._own.announce_first(seat)
        player = self._own.players[seat]
        player.entry = replace(player.entry, name=name, counted=counted)
        self._own.report(Renamed(seat, name, counted))

    def wait(self, turn: Turn, since: float) -> None:
        """Report that a seat waits for an opponent."""
        self._own.now = max(self._own.now, since)
        self._own.announce_first(turn.seat)
        player = self._own.players[turn.seat]
        is_new = player.since != since
        player.turn, player.since = turn.number, since
        self._own.report(Waits(*turn, is_new))

    def leave(self, seat: int) -> None:
        """Report that a seat has lost its place.

        If the seat has asked to enter again, that request stays open.
        """
        player = self._own.players.get(seat)
        if player is None:
            return
        self._own.announce_first(seat)
        self._hosted.pop(seat, None)
        self._unreserve(seat)
        player.turn, player.is_in = None, False
        if self._claims.pop(seat, None) is not None:
            player.asks = None  # the node that pairs has decided already
        if player.asks is None:
            del self._own.players[seat]
            self._own.report(Left(seat))

    def stand_aside(self, seat: int) -> None:
        """Report that a seat has lost its place, and keeps its name."""
        player = self._own.players.get(seat)
        if player is None:
            return
        self._own.announce_first(seat)
        self._hosted.pop(seat, None)
        self._unreserve(seat)
        player.turn, player.entry = None, replace(player.entry, waits=False)
        self._own.report(StoodAside(seat))

    def alive(self, seat: int) -> None:
        """Report that the client of a seat has answered a probe."""
        if seat in self._own.players:
            self._own.announce_first(seat)
            self._own.report(Alive(seat))

    def away(self, seat: int) -> None:
        """Report that a seat is kept for a player whose connection broke."""
        if seat in self._own.players:
            self._own.announce_first(seat)
            self._own.report(Away(seat))

    def returned(self, seat: int, origin: str, *, proven: bool) -> None:
        """Report that the player of a kept seat has come back."""
        if seat in self._own.players:
            self._own.announce_first(seat)
            player = self._own.players[seat]
            player.entry = replace(player.entry, origin=origin, proven=proven)
            self._own.report(Returned(seat, origin, proven))

    def began(self, match: Held | Hosted, game: int, *, is_again: bool = False, grace: float = 0.0) -> None:
        """Report that a game began. The first game is also reported to the node of a remote opponent."""
        if game == 1:
            self._begun = match
        if isinstance(match, Hosted):
            self._own.players[match.turn.seat].since = None
            self._hosted[match.turn.seat] = match
            return
        if isinstance(match, Hosting) and game == 1:
            self._hosting[match.node, match.other] = match
            player = self._own.players[match.turn.seat].player()
            self._own.post(match.node, Hosted(match.other, self._node, player, match.table, grace))
        self._own.began(match, game, is_again=is_again)

    def finished(self, match: Held | Hosted) -> None:
        """Report the end of a series on this node."""
        if isinstance(match, Hosted):
            self._hosted.pop(match.turn.seat, None)
            return
        if isinstance(match, Hosting):
            at = match.node, match.other
            if self._hosting.get(at) == match:  # not if another run of that node has the same turn
                del self._hosting[at]
        self._own.finished(match)

    @property
    def pairs_all(self) -> bool:
        """Whether this node pairs the players of all nodes."""
        server = self._own.server
        return server is not None and server.is_open and self._own.pairs != (self._node, 0)

    # Answers.

    def answers(self, now: float) -> Iterator[Answer]:
        """Yield the orders of the node that pairs, except those that are out of date.

        Messages of other nodes are carried out in the order in which they arrived, together with the orders.
        """
        self._own.now = now
        self._own.announce()
        while self._refused:
            yield self._refused.popleft()
        for seat in [seat for seat, each in self._reserved.items() if each.until <= now]:
            self._release(seat)
        for seat in [seat for seat, claim in self._claims.items() if claim.until <= now]:
            self._ask_again(seat)
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
        """Return the seat that `answers` was working on when it raised an error, and forget that seat.

        Returns None if no seat is known, or if the seat is on another node.
        """
        suspect = None if self._own.server is None else self._own.server.suspect()
        return suspect[1] if suspect is not None and suspect[0] == self._node else None

    def next_due(self) -> float | None:
        """Return the time of the next answers if nothing else happens; None if there will be none."""
        if self._inbox or self._refused:
            return self._own.now
        runs_out = next((each.until for each in self._reserved.values()), None)
        unanswered = next((each.until for each in self._claims.values()), None)
        times = runs_out, unanswered, self._own.next_due()
        return min((when for when in times if when is not None), default=None)

    def _follow(self, node: str, message: Message) -> Iterator[Answer]:
        """Carry out a message of another node."""
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
            case Claim(returning):
                is_granted = self._hub.is_kept(returning.kept)
                self._own.post(node, Claimed(returning.seat, is_granted))
                if is_granted:
                    self._games.send_to(node, returning, self._own.now)
            case Claimed(seat, is_granted):
                self._claimed(node, seat, is_granted=is_granted)
            case Report():
                pass  # carried out in `receive`
            case _:
                assert_never(message)

    def _obey(self, instruction: Instruction) -> Iterator[Answer]:
        """Carry out an order of the node that pairs, unless it is out of date."""
        match instruction:
            case Decision():
                yield from self._decide(instruction)
            case KeptBy():
                yield from self._claim(instruction)
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

    def _claim(self, kept_by: KeptBy) -> Iterator[Answer]:
        """Give a kept seat of this node back to its player, or ask the seat's node for it."""
        seat, player = kept_by.seat, self._own.players.get(kept_by.seat)
        if player is None or player.asks is None:
            return
        entry = player.asks
        returning = Returning(seat, kept_by.kept, entry.origin, entry.proven, entry.resumes)
        if kept_by.node == self._node:
            player.asks = None
            yield returning
        elif kept_by.node:
            self._claims[seat] = _OpenClaim(kept_by.node, self._own.now + HOLD)
            self._own.post(kept_by.node, Claim(returning))
        else:
            self._ask_again(seat)

    def _claimed(self, node: str, seat: int, *, is_granted: bool) -> None:
        """Follow the answer to a claim. If the seat was granted, its node sends all further events."""
        claim, asking = self._claims.get(seat), self._hub.asking(seat)
        is_open = claim is not None and claim.node == node
        if is_open and not is_granted:
            self._ask_again(seat)
        elif is_open and asking is not None:
            del self._claims[seat]
            self._own.announce_first(seat)
            del self._own.players[seat]
            self._own.report(Left(seat))  # it may have been announced to another node since
            self._games.receive_from(node, asking, self._own.now)
        elif is_granted:
            self._games.decline(node, seat)

    def _ask_again(self, seat: int) -> None:
        """Ask again to enter, since the player did not get its kept seat."""
        self._claims.pop(seat, None)
        player = self._own.players.get(seat)
        if player is not None and player.asks is not None:
            self._own.announce_first(seat)
            self._own.report(Asked(player.asks))

    def _match(self, match: Match) -> Iterator[Answer]:
        """Begin a series of two local seats, or of one with a house player, if the seats still wait."""
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
        """Reserve a seat for a series on another node, and ask that node to begin it."""
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
                scheduled=proposed.scheduled,
            )
            self._own.post(proposed.node, hosting)

    def _takes(self, turn: Turn) -> bool:
        """End a turn of a seat of this node, so that no match can take it again.

        Return False if the seat does not wait in that turn.
        """
        player = self._own.players.get(turn.seat)
        if player is None or player.turn != turn.number:
            return False
        player.turn = None
        return True

    def _is_reserved_for(self, node: str, turn: Turn) -> bool:
        reservation = self._reserved.get(turn.seat)
        return reservation is not None and (reservation.node, reservation.turn) == (node, turn)

    def _unreserve(self, seat: int) -> None:
        """Drop the reservation of a seat, if it has one, and report that."""
        reservation = self._reserved.pop(seat, None)
        if reservation is not None and reservation.pairs == self._own.pairs:
            self._own.report(Unmatched(self._node, reservation.turn))

    def _release(self, seat: int) -> None:
        """Drop the reservation of a seat, which then waits in a new turn."""
        turn = self._reserved[seat].turn
        self._unreserve(seat)
        self._hub.wait_anew(turn, self._own.now)

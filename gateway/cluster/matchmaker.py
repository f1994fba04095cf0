"""The matchmaker of one node of a cluster, as its hub knows it.

Keeps the truth about the node's own players, reports it to whoever pairs, and answers what comes of that.
The caller carries the messages: what is given to `post` to other nodes, and theirs to `receive`, after which
the hub is to `settle`. It says who pairs (`attach`), and when the session with a node is over (`lost`).
"""

from collections import deque
from collections.abc import Callable, Collection, Iterator
from dataclasses import replace

from gateway.cluster.local_state import Held, LocalPlayer, LocalState
from gateway.cluster.messages import Alive, Asked, Left, Message, Order, Over, Renamed, Report, Waits
from gateway.cluster.proposals import Proposals
from gateway.cluster.reporting import Reporting
from gateway.game.events import Objection
from gateway.hub.hub import Hub
from gateway.hub.seats import Hosted
from gateway.matchmaking.matchmaker import (
    Answer,
    Decision,
    Entry,
    HousePlayers,
    Matchmaker,
    Opponent,
    Turn,
)
from gateway.matchmaking.members import house_wish


class ClusterMatchmaker(Matchmaker):
    """Decides who plays whom, together with those of other nodes."""

    def __init__(self, node: str, run: int, matchmaker: Callable[[], Matchmaker]) -> None:
        """`run` is a number that no other run of a node has; `matchmaker` makes one to pair with."""
        self._node = node
        self._own = LocalState()
        self._to = Reporting(node, run, self._own, matchmaker)
        self._proposals = Proposals(self._own, self._to)
        self._inbox: deque[tuple[str, Message]] = deque()
        self._refused: deque[Decision] = deque()

    # Other nodes.

    def attach(self, node: str | None, epoch: int, now: float, others: Collection[str] = ()) -> None:
        """Let a node pair from now on, in an epoch; None: let this one pair its own players alone.

        Call it on the node that is to pair before any other: what is reported to it earlier is lost. It waits
        for what `others` announce. A node that has ceased to pair in an epoch MUST NOT do so in it again.
        """
        pairs = (self._node, None) if node is None else (node, epoch)
        self._to.now = now
        if pairs != self._to.pairs:
            self._to.attach(pairs, others)

    def drain(self) -> None:
        """Let no player of this node be paired any more, by any node.

        A seat that `is_reserved` may be in a series nevertheless: its host began before it could know.
        """
        self._to.drain()

    def is_reserved(self, seat: int) -> bool:
        """Whether another node may have begun a series with a seat, which this one has not heard yet."""
        return self._proposals.is_reserved(seat)

    def lost(self, node: str, now: float) -> None:
        """Forget all that passed between this node and another, as their session is over.

        If that one paired, nobody is paired before the next `attach`. The hub ends series held with the node.
        """
        self._to.now = now
        self._inbox = deque(each for each in self._inbox if each[0] != node)
        self._to.lost(node)

    def receive(self, node: str, message: Message, now: float) -> None:
        """Take in a message of another node. What makes no sense is ignored."""
        self._to.now = now
        if not isinstance(message, Report):
            self._inbox.append((node, message))
        elif self._to.server is not None and self._to.pairs == (self._node, message.epoch):
            self._to.server.receive(node, message.fact, now)

    def connect(self, hub: Hub, post: Callable[[str, Message], None]) -> None:
        """Send messages to other nodes by `post` from now on. Those of one node MUST keep their order."""
        self._proposals.hub = hub
        self._to.post = post

    # What happens in the hub: as `Matchmaker` and `RemotePairing` say.

    def engage(self, house: HousePlayers) -> None:
        """Use house players from now on. Until then there are none."""
        self._to.engage(house)

    def enter(self, entry: Entry) -> None:
        """Ask whoever pairs. If a player is let in that is gone by then, the hub MUST let it `leave`."""
        if Objection.TOO_LONG in entry.against:  # what is too long cannot be sent to another node
            self._refused.append(Decision(entry.seat, entry.against))
            return
        if self._is_missing(entry):
            entry = replace(entry, against=entry.against | Objection.NOT_AVAILABLE)
        self._to.announce_first(entry.seat)
        player = self._own.players.setdefault(entry.seat, LocalPlayer(entry))
        player.asks = entry
        self._to.report(Asked(entry))

    def rename(self, seat: int, name: str, *, counted: bool) -> None:
        """Note the name of a seat that has entered."""
        self._to.announce_first(seat)
        self._own.players[seat].rename(name, counted=counted)
        self._to.report(Renamed(seat, name, counted))

    def wait(self, turn: Turn, since: float) -> None:
        """Let whoever pairs find an opponent."""
        self._to.now = max(self._to.now, since)
        self._to.announce_first(turn.seat)
        player = self._own.players[turn.seat]
        is_new = player.since != since
        player.turn, player.since = turn.number, since
        self._to.report(Waits(*turn, is_new))

    def leave(self, seat: int) -> None:
        """Forget a seat. What it has asked remains open: it may have lost no more than its place."""
        player = self._own.players.get(seat)
        if player is None:
            return
        self._to.announce_first(seat)
        self._proposals.drop(seat)
        player.turn, player.is_in = None, False
        if player.asks is None:
            del self._own.players[seat]
            self._to.report(Left(seat))

    def alive(self, seat: int) -> None:
        """Report that the client of a seat is there."""
        if seat in self._own.players:
            self._to.announce_first(seat)
            self._to.report(Alive(seat))

    def began(self, match: Held | Hosted, game: int) -> None:
        """Report a game, if its series is held here; and to the node of the other player that it is on."""
        if game == 1:
            self._proposals.began(match)
        if isinstance(match, Hosted):
            return
        self._to.announce_first(match)
        series = self._own.began(match, game)
        for turn in series.turns:
            self._to.announce_first(turn.seat)
        self._to.report(series.playing(fresh=True))

    def finished(self, match: Held | Hosted) -> None:
        """Report the end of a series, if it was held here."""
        self._proposals.finished(match)
        if not isinstance(match, Hosted) and match in self._own.series:
            self._to.announce_first(match)
            self._to.report(Over(self._own.series.pop(match).number))

    # What it answers.

    def answers(self, now: float) -> Iterator[Answer]:
        """Yield what the one that pairs wants of the hub, as far as this node agrees.

        What other nodes want is asked of the hub in between, so that all of it is carried out in its order.
        """
        self._to.now = now
        self._to.announce()
        while self._refused:
            yield self._refused.popleft()
        self._proposals.expire(now)
        while self._inbox:
            yield from self._follow(*self._inbox.popleft())
        server, pairs = self._to.server, self._to.pairs
        if server is not None and pairs is not None:
            for node, instruction in server.answers(now):
                if node == self._node:
                    yield from self._proposals.obey(instruction)
                elif pairs[1] is not None:
                    self._to.post(node, Order(pairs[1], instruction))

    def suspect(self) -> int | None:
        """Return, once, the seat that `answers` was about when it raised an exception, if it is one here."""
        found = None if self._to.server is None else self._to.server.suspect()
        return found[1] if found is not None and found[0] == self._node else None

    def next_due(self) -> float | None:
        """Return when there may be answers though nothing happens before; None if there will be none."""
        if self._inbox or self._refused:
            return self._to.now
        times = self._proposals.next_due(), self._to.next_due()
        return min((when for when in times if when is not None), default=None)

    def _follow(self, node: str, message: Message) -> Iterator[Answer]:
        if isinstance(message, Order):
            if (node, message.epoch) == self._to.pairs:
                yield from self._proposals.obey(message.instruction)
        elif not isinstance(message, Report):
            self._proposals.follow(node, message)

    def _is_missing(self, entry: Entry) -> bool:
        """Whether a player wishes for a house player that cannot come to this node."""
        wish, house = house_wish(entry), self._to.house
        if wish is None or house is None:
            return False
        opponent = Opponent(entry.origin, entry.name, entry.manners.clocked)
        return not house.has(wish.name.casefold(), opponent)

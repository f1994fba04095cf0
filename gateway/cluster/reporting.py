"""Reports the players of a node to the one that pairs, which may be another one later.

Reports to one `PairingServer` at a time: to that of another node, by messages, or to one in this process,
where this node pairs for all, or for its own players alone. Whenever that changes, everything is announced
anew, in pieces. What changes before it was announced is reported as it was, and then the change: so a report
is never about something unknown. Where nobody pairs, reports are dropped.
"""

from collections.abc import Callable, Collection
from typing import TypeAlias

from gateway.cluster.local_state import LocalState, Part
from gateway.cluster.messages import Announced, Fact, Joined, Message, Parted, Report, Unmatched
from gateway.cluster.server import PairingServer
from gateway.matchmaking.matchmaker import HousePlayers, Matchmaker, Turn

PIECE = 40
"""Players, series and meetings that are announced with one call."""

Pairs: TypeAlias = tuple[str, int | None] | None
"""Who pairs: a node, and the epoch in which it does. There is no epoch where a node is alone."""


class Reporting:
    """Keeps the one that pairs up to date about a node's own players."""

    def __init__(self, node: str, run: int, own: LocalState, matchmaker: Callable[[], Matchmaker]) -> None:
        self.node = node
        self.pairs: Pairs = None
        self.server: PairingServer | None = None
        """The one that pairs, where that is in this process."""
        self.post: Callable[[str, Message], None] = lambda node, message: None
        """Puts a message on its way to another node."""
        self.house: HousePlayers | None = None
        self.now = 0.0
        """The latest time that is known."""
        self._run = run
        self._own = own
        self._matchmaker = matchmaker
        self._unannounced: dict[Part, None] = {}
        self._is_announcing = False
        self._is_draining = False

    def drain(self) -> None:
        """Report no player of this node to anybody, now or later."""
        self.attach(None, ())
        self._is_draining = True

    def attach(self, pairs: Pairs, others: Collection[str]) -> None:
        """Report to another one from now on."""
        if self.server is None:
            self.report(Parted())
        self.pairs, self.server = pairs, None
        if self._is_draining:
            if pairs is not None and pairs[0] != self.node:
                self.report(Parted())  # it would wait for what this node announces
            self.pairs = None
            return
        if pairs is not None and pairs[0] == self.node:
            self.server = PairingServer(self._matchmaker(), {self.node, *others}, self.now)
            self.engage(self.house)
        self._unannounced = {} if pairs is None else self._own.parts()
        self._is_announcing = pairs is not None
        self.report(Joined(self._run))

    def engage(self, house: HousePlayers | None) -> None:
        """Let the one that pairs use house players, if it is in this process."""
        self.house = house
        if self.server is not None and house is not None:
            self.server.engage(house)

    def lost(self, node: str) -> None:
        """Let nothing more pass between this node and another, until it comes back as a new one."""
        if self.server is not None:
            self.server.lost(node)
        elif self.pairs is not None and self.pairs[0] == node:
            self.pairs = None
            self._unannounced, self._is_announcing = {}, False

    def report(self, fact: Fact) -> None:
        """Report what happened to the one that pairs."""
        if self.server is not None:
            self.server.receive(self.node, fact, self.now)
        elif self.pairs is not None:
            node, epoch = self.pairs
            assert epoch is not None
            self.post(node, Report(epoch, fact))

    def report_unmatched(self, turn: Turn, pairs: Pairs) -> None:
        """Report that nothing comes of the match that took a turn, if who proposed it pairs still."""
        if pairs == self.pairs:
            self.report(Unmatched(*turn))

    def announce_first(self, part: Part) -> None:
        """Report how something stands that is going to change, unless it was announced before."""
        if part in self._unannounced:
            del self._unannounced[part]
            for fact in self._own.facts(part, self.now):
                self.report(fact)

    def announce(self) -> None:
        """Report some more of what was not announced before."""
        for _ in range(min(PIECE, len(self._unannounced))):
            self.announce_first(next(iter(self._unannounced)))
        if self._is_announcing and not self._unannounced:
            self._is_announcing = False
            self.report(Announced())

    def next_due(self) -> float | None:
        """Return when there is something to announce, or the one that pairs has something to do."""
        if self._is_announcing:
            return self.now
        return None if self.server is None else self.server.next_due()

"""A node's own players and series, and what it reports of them to the one that pairs.

Reports go to one `PairingServer` at a time: to that of another node, by messages, or to one in this
process, where this node pairs for all, or for its own players alone. Whenever that changes, everything is
announced anew, in pieces. What changes before it was announced is reported as it was, and then the change:
so a report is never about something unknown. Where nobody pairs, reports are dropped.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from itertools import chain, count
from typing import TypeAlias

from gateway.cluster.messages import (
    Announced,
    Asked,
    Fact,
    Joined,
    Message,
    Met,
    Over,
    Playing,
    Present,
    Report,
)
from gateway.cluster.server import PairingServer
from gateway.game.commands import AtTable
from gateway.game.results import Player
from gateway.hub.seats import Hosting
from gateway.matchmaking.lobby import Key, Meetings
from gateway.matchmaking.matchmaker import Entry, HousePair, HousePlayers, Match, Matchmaker, Pair
from gateway.matchmaking.tables import Position

PIECE = 40
"""Players, series and meetings that are announced with one call."""

Held: TypeAlias = Match | Hosting
"""A match whose series this node holds."""
Part: TypeAlias = int | Held | tuple[Key, Key]
"""What is announced in one go: a player, a series, or how often a name had the first move against another."""
Pairs: TypeAlias = tuple[str, int] | None
"""Who pairs: a node, and the epoch in which it does, 0 for a node that pairs its own players alone."""


@dataclass(eq=False, slots=True)
class LocalPlayer:
    """A player of this node, by its latest entry."""

    entry: Entry
    is_in: bool = False
    """Whether it has been let in by this entry. One that has not been only asks."""
    asks: Entry | None = None
    """What it is to be let in by, while that is not decided."""
    turn: int | None = None
    """The turn in which it waits, if no match has been found for it."""
    since: float | None = None
    """When its latest wait began, if no series has begun since."""
    position: Position = 0
    games: int = 0
    """How it sits at its table."""

    def player(self) -> Player:
        """Return the player as its opponent's node needs it."""
        return Player(self.entry.name, self.entry.manners, self.entry.counted)


class Reporter:
    """Knows this node's players and series, and keeps the one that pairs up to date about them."""

    def __init__(self, node: str, run: int, matchmaker: Callable[[], Matchmaker]) -> None:
        self.node = node
        self.players: dict[int, LocalPlayer] = {}
        """Those whom it has let in or who ask to enter."""
        self.pairs: Pairs = None
        self.server: PairingServer | None = None
        """The one that pairs, where that is in this process."""
        self.post: Callable[[str, Message], None] = lambda node, message: None
        """Puts a message on its way to another node."""
        self.house: HousePlayers | None = None
        self.now = 0.0
        """The latest time that is known."""
        self._run = run
        self._matchmaker = matchmaker
        self._series: dict[Held, Playing] = {}
        """The series that it holds, as they are announced."""
        self._numbers = count(1)
        self._meetings = Meetings()
        """Those of the games that it has held so far."""
        self._unannounced: dict[Part, None] = {}
        self._is_announcing = False
        self._is_draining = False

    # Who pairs.

    def attach(self, pairs: Pairs, others: Collection[str]) -> None:
        """Report to another one from now on. One in this process waits for what `others` announce."""
        if self.server is None:
            self._sign_off()
        self.pairs, self.server = pairs, None
        if self._is_draining:
            if pairs is not None and pairs[0] != self.node:
                self._sign_off()  # it would wait for what this node announces
            self.pairs = None
            return
        if pairs is not None and pairs[0] == self.node:
            self.server = PairingServer(self._matchmaker(), {self.node, *others}, self.now)
            self.engage(self.house)
        parts = chain[Part](self.players, self._series, self._meetings.latest())
        self._unannounced = {} if pairs is None else dict.fromkeys(parts)
        self._is_announcing = pairs is not None
        self.report(Joined(self._run))

    def _sign_off(self) -> None:
        """Let the one that pairs know that there are no players of this node for it any more."""
        self.report(Joined(self._run))
        self.report(Announced())

    def drain(self) -> None:
        """Report no player of this node to anybody, now or later."""
        self.attach(None, ())
        self._is_draining = True

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

    # Reports.

    def report(self, fact: Fact) -> None:
        """Report what happened to the one that pairs."""
        if self.server is not None:
            self.server.receive(self.node, fact, self.now)
        elif self.pairs is not None:
            node, epoch = self.pairs
            self.post(node, Report(epoch, fact))

    def began(self, match: Held, game: int) -> None:
        """Report a game of a series that this node holds."""
        self.announce_first(match)
        playing = self._series.get(match) or self._first(match)
        playing = self._series[match] = replace(playing, round=game)
        if not playing.at_table:
            self._meetings.add(*(playing.names if game % 2 else playing.names[::-1]))
        for turn in match.turns:
            player = self.players.get(turn.seat)
            if player is not None:
                player.since = None
                player.games += playing.at_table
            self.announce_first(turn.seat)
        self.report(replace(playing, fresh=True))

    def _first(self, match: Held) -> Playing:
        """Return a series that begins."""
        one, *others = [self.players[turn.seat].entry for turn in match.turns]
        match match:
            case Pair():
                names = one.name, others[0].name
            case HousePair():
                names = (one.name, match.house) if match.opens else (match.house, one.name)
            case Hosting():
                names = one.name, match.player.name
        is_at_table = isinstance(one.place, AtTable)
        return Playing(next(self._numbers), match.turns[0], names, is_at_table, round=0, fresh=False)

    def finished(self, match: Held) -> None:
        """Report the end of a series, if it was held here."""
        self.announce_first(match)
        if match in self._series:
            self.report(Over(self._series.pop(match).series))

    # Announcements.

    def announce_first(self, part: Part) -> None:
        """Report how something stands that is going to change, unless it was announced before."""
        if part not in self._unannounced:
            return
        del self._unannounced[part]
        if isinstance(part, int):
            player = self.players[part]
            if player.is_in:
                waited = None if player.since is None else max(0.0, self.now - player.since)
                self.report(Present(player.entry, player.turn, waited, player.position, player.games))
            if player.asks is not None:
                self.report(Asked(player.asks))
        elif isinstance(part, tuple):
            self.report(Met(*part, self._meetings.known(*part)))
        else:
            self.report(self._series[part])

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

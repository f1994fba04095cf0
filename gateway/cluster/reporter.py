"""A node's own players and series, and the reports about them to the node that pairs.

Reports go to one `PairingServer`: in this process if this node pairs, otherwise by messages. When another
node begins to pair, everything is announced again, in pieces. A player or series that changes before its
announcement is announced at once. While no node pairs, reports are dropped.
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
"""The number of players, series and meetings that one call announces."""

Held: TypeAlias = Match | Hosting
"""A match whose series is played on this node."""
Part: TypeAlias = int | Held | tuple[Key, Key]
"""The subject of an announcement: a player (its seat), a series, or two names whose games are counted."""
Pairs: TypeAlias = tuple[str, int] | None
"""The node that pairs, and its epoch; None if no node pairs. In epoch 0 a node pairs only its own players."""


@dataclass(eq=False, slots=True)
class LocalPlayer:
    """A player of this node."""

    entry: Entry
    is_in: bool = False
    """Whether the player has entered. If so, `entry` is the request that was granted."""
    asks: Entry | None = None
    """The player's request to enter, until it is decided."""
    turn: int | None = None
    """The turn in which the player waits; None if it does not wait, or is matched."""
    since: float | None = None
    """When the player's latest wait began; None if a series has begun since."""
    position: Position = 0
    """The player's position at its table."""
    games: int = 0
    """The number of games begun at the player's table."""

    def player(self) -> Player:
        """Return the data of the player for its opponent's node."""
        return Player(self.entry.name, self.entry.manners, self.entry.counted)


class Reporter:
    """Keeps this node's players and series, and reports them to the node that pairs."""

    def __init__(self, node: str, run: int, matchmaker: Callable[[], Matchmaker]) -> None:
        self.node = node
        self.players: dict[int, LocalPlayer] = {}
        """The players that have entered or ask to enter, by seat."""
        self.pairs: Pairs = None
        self.server: PairingServer | None = None
        """The pairing server, if it is in this process."""
        self.post: Callable[[str, Message], None] = lambda node, message: None
        """Sends a message to another node."""
        self.house: HousePlayers | None = None
        self.now = 0.0
        """The latest time passed in by the hub."""
        self._run = run
        self._matchmaker = matchmaker
        self._series: dict[Held, Playing] = {}
        """The series on this node, with the reports that announce them."""
        self._numbers = count(1)
        self._meetings = Meetings()
        """The meetings in all games on this node so far."""
        self._unannounced: dict[Part, None] = {}
        self._is_announcing = False
        self._is_draining = False

    # The node that pairs.

    def attach(self, pairs: Pairs, others: Collection[str]) -> None:
        """Report to the node of `pairs` from now on. If this node pairs, it awaits what `others` announce."""
        if self.server is None:
            self._sign_off()
        self.pairs, self.server = pairs, None
        if self._is_draining:
            if pairs is not None and pairs[0] != self.node:
                self._sign_off()  # otherwise that node would wait for announcements
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
        """Report that this node has no players."""
        self.report(Joined(self._run))
        self.report(Announced())

    def drain(self) -> None:
        """Stop reporting players, to any node."""
        self.attach(None, ())
        self._is_draining = True

    def engage(self, house: HousePlayers | None) -> None:
        """Pass house players to the pairing server, now or when this node begins to pair."""
        self.house = house
        if self.server is not None and house is not None:
            self.server.engage(house)

    def lost(self, node: str) -> None:
        """Forget a lost node. If that node paired, reports are dropped until the next `attach`."""
        if self.server is not None:
            self.server.lost(node)
        elif self.pairs is not None and self.pairs[0] == node:
            self.pairs = None
            self._unannounced, self._is_announcing = {}, False

    # Reports.

    def report(self, fact: Fact) -> None:
        """Report a fact to the node that pairs."""
        if self.server is not None:
            self.server.receive(self.node, fact, self.now)
        elif self.pairs is not None:
            node, epoch = self.pairs
            self.post(node, Report(epoch, fact))

    def began(self, match: Held, game: int, *, is_again: bool) -> None:
        """Report that a game of a series on this node began."""
        self.announce_first(match)
        playing = self._series.get(match) or self._first(match)
        playing = self._series[match] = replace(playing, round=game)
        if not playing.at_table and not is_again:
            self._meetings.add(*(playing.names if game % 2 else playing.names[::-1]))
        for turn in match.turns:
            player = self.players.get(turn.seat)
            if player is not None:
                player.since = None
                player.games += playing.at_table and not is_again
            self.announce_first(turn.seat)
        self.report(replace(playing, fresh=True, again=is_again))

    def _first(self, match: Held) -> Playing:
        """Return the report about a new series, before its first game."""
        one, *others = [self.players[turn.seat].entry for turn in match.turns]
        match match:
            case Pair():
                names = one.name, others[0].name
            case HousePair():
                names = (one.name, match.house) if match.opens else (match.house, one.name)
            case Hosting():
                names = one.name, match.player.name
        is_at_table = isinstance(one.place, AtTable)
        scheduled = None if isinstance(match, HousePair) else match.scheduled
        return Playing(
            next(self._numbers), match.turns[0], names, is_at_table, round=0, fresh=False, scheduled=scheduled
        )

    def finished(self, match: Held) -> None:
        """Report the end of a series on this node."""
        self.announce_first(match)
        if match in self._series:
            self.report(Over(self._series.pop(match).series))

    # Announcements.

    def announce_first(self, part: Part) -> None:
        """Announce a player, series or count that is about to change, unless it was announced before."""
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
        """Announce the next `PIECE` players, series and counts that were not announced before."""
        for _ in range(min(PIECE, len(self._unannounced))):
            self.announce_first(next(iter(self._unannounced)))
        if self._is_announcing and not self._unannounced:
            self._is_announcing = False
            self.report(Announced())

    def next_due(self) -> float | None:
        """Return when the next announcement or the next work of the pairing server in this process is due."""
        if self._is_announcing:
            return self.now
        return None if self.server is None else self.server.next_due()

"""The lobby, the tables and the house players: how this server pairs by itself.

Knows who has been let in where, and who waits. Does not know games, or whether a player can be reached: the
hub starts a pair or lets its seats wait on. Its answers come at once, when it is asked for them.
"""

import random
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import assert_never

from gateway.game.commands import AtTable, InLobby, Place, Wish
from gateway.game.deadlines import Deadlines
from gateway.game.events import Objection
from gateway.game.manners import Afterwards
from gateway.matchmaking.lobby import Lobby
from gateway.matchmaking.matchmaker import (
    Answer,
    Decision,
    Entry,
    Match,
    Opponent,
    Pair,
    Reception,
    Turn,
    Visit,
    Visitors,
)
from gateway.matchmaking.pool import Guest
from gateway.matchmaking.tables import Table


@dataclass(eq=False, slots=True)
class _Player:
    """A player who was let in: into the lobby, or to a table."""

    entry: Entry
    name: str
    counted: bool
    guest: Guest | None = None
    table: Table[int] | None = None
    turn: Turn | None = None
    """The wait that no match has been found for."""
    since: float | None = None
    """When the latest wait began."""

    @property
    def stands_by(self) -> bool:
        """Whether the player takes any opponent that the server finds, for as long as it stays."""
        return self.entry.manners.afterwards is Afterwards.STAND_BY

    def as_opponent(self) -> Opponent:
        return Opponent(self.entry.origin, self.name, self.entry.manners.clocked)

    def is_at(self, place: Place) -> bool:
        """Whether the player has its place there."""
        if isinstance(place, AtTable):
            return self.table is not None and self.table.key == place.key
        return self.guest is not None


class LobbyAndTables:
    """The matchmaker of a server that has no other."""

    def __init__(self, lot: random.Random, games_per_pair: int = 10, house_after: float = 5.0) -> None:
        """`games_per_pair`: how often each of two who both stand by opens a game; 0 for no limit.

        `house_after`: seconds that a player waits in the lobby before a house player comes.
        """
        self._games_per_pair = games_per_pair
        self._house_after = house_after
        self._visitors: Visitors | None = None
        self._lobby = Lobby(lot, games_per_pair)
        self._tables: dict[str, Table[int]] = {}
        self._players: dict[int, _Player] = {}
        self._unique: set[str] = set()
        self._series: dict[Match, tuple[tuple[str, str], Table[int] | None]] = {}
        """The names and the table of each series that is on."""
        self._decisions: deque[Decision] = deque()
        self._calling: deque[_Player] = deque()
        """Players who wish for a house player."""
        self._lonely: Deadlines[_Player] = Deadlines()
        self._stirred: dict[Table[int], None] = {}
        """Tables where somebody has begun to wait."""
        self._visited: _Player | None = None
        """The player that a house player is looked for."""

    # What the hub tells.

    def engage(self, visitors: Visitors) -> None:
        """Use house players from now on; without, a wish for one of them is not granted."""
        self._visitors = visitors

    def enter(self, entry: Entry) -> None:
        """Decide at once whether a player may enter, and give it a place then."""
        against = entry.against
        if entry.manners.unique_name and entry.name in self._unique:
            against |= Objection.NAME_TAKEN
        player = self._players.get(entry.seat)
        is_there = player is not None and player.is_at(entry.place)
        if self._is_full(entry.place) and (against or not is_there):
            against |= Objection.TABLE_FULL
        if self._is_missing(entry):
            against |= Objection.NOT_AVAILABLE
        if not against:
            self._let_in(entry)
        self._decisions.append(Decision(entry.seat, against))

    def rename(self, seat: int, name: str, *, counted: bool) -> None:
        """Note the name of a player; where it waits in the lobby the name holds at once."""
        player = self._players[seat]
        player.name, player.counted = name, counted
        if player.guest is not None and player.guest.waiting and player.guest.name != name:
            self._lobby.rename(player.guest, name, counted=counted)

    def wait(self, turn: Turn, since: float) -> None:
        """Let a player wait, or wait on where the series that was found for it was not started."""
        player = self._players[turn.seat]
        waits_on, player.turn, player.since = player.since == since, turn, since
        if player.guest is not None:
            self._wait_in_lobby(player, player.guest, since, waits_on=waits_on)
        elif player.table is not None:
            self._stirred[player.table] = None

    def leave(self, seat: int) -> None:
        """Let a player go from wherever it is."""
        player = self._players.pop(seat, None)
        if player is None:
            return
        player.turn = None
        if player.entry.manners.unique_name:
            self._unique.discard(player.entry.name)
        self._lonely.cancel(player)
        if player.guest is not None:
            self._lobby.remove(player.guest)
        if player.table is not None:
            player.table.rise(seat)
            if player.table.is_empty:
                del self._tables[player.table.key]

    def began(self, match: Match, game: int) -> None:
        """Count a game, and as long as its series is on let the two names not meet elsewhere."""
        if game == 1:
            self._start(match)
        (first, second), table = self._series[match]
        if table is not None:
            table.played()
        else:
            self._lobby.meetings.add(*((first, second) if game % 2 else (second, first)))

    def finished(self, match: Match) -> None:
        """Let two names meet again."""
        if match in self._series:
            names, _ = self._series.pop(match)
            self._lobby.played(*names)

    # What it answers.

    def answers(self, now: float) -> Iterator[Answer]:
        """Yield decisions, then house players for those who want one, then pairs."""
        while self._decisions:
            yield self._decisions.popleft()
        yield from self._visits(now)
        for first, second in self._lobby.pair(now):
            yield Pair(self._taken(first.seat), self._taken(second.seat))
        while self._stirred:
            table, _ = self._stirred.popitem()
            seats = table.pair()
            if seats is not None and self._may_play(table, seats):
                yield Pair(self._taken(seats[0]), self._taken(seats[1]), table=table.name)

    def suspect(self) -> int | None:
        """Return the seat that an opponent was looked for when `answers` failed."""
        guest, self._lobby.considered = self._lobby.considered, None
        player, self._visited = self._visited, None
        found = player.entry.seat if player is not None else guest.seat if guest is not None else None
        return found if found in self._players else None

    def next_due(self) -> float | None:
        """Return when two who have just met may meet again, or a house player comes."""
        times = self._lobby.next_retry(), self._lonely.next_due()
        return min((when for when in times if when is not None), default=None)

    # Entering.

    def _is_full(self, place: Place) -> bool:
        table = self._tables.get(place.key) if isinstance(place, AtTable) else None
        return table is not None and table.is_full

    def _is_missing(self, entry: Entry) -> bool:
        wish = _house_wish(entry)
        if wish is None or self._visitors is None:
            return False
        opponent = Opponent(entry.origin, entry.name, entry.manners.clocked)
        return not self._visitors.has(wish.name.casefold(), opponent)

    def _let_in(self, entry: Entry) -> None:
        """Give a player its place. A seat at a table is kept for a player with the same name."""
        before = self._players.get(entry.seat)
        if before is not None and before.table and before.is_at(entry.place) and before.name == entry.name:
            before.entry = entry
            return
        self.leave(entry.seat)
        player = self._players[entry.seat] = _Player(entry, entry.name, entry.counted)
        if entry.manners.unique_name:
            self._unique.add(entry.name)
        match entry.place:
            case AtTable(name):
                key = entry.place.key
                player.table = self._tables.setdefault(key, Table(key, name))
                player.table.sit(entry.seat)
            case InLobby(wish):
                asked = wish is not None or not player.stands_by
                player.guest = Guest(entry.name, wish, asked, entry.counted, seat=entry.seat)
            case _:
                assert_never(entry.place)

    # Waiting.

    def _wait_in_lobby(self, player: _Player, guest: Guest, since: float, *, waits_on: bool) -> None:
        if guest.name != player.name:
            self._lobby.rename(guest, player.name, counted=player.counted)
        if waits_on:
            self._lobby.take_back(guest)
        else:
            self._lobby.admit(guest, since)
        if self._visitors is None:
            return
        if _house_wish(player.entry) is not None:
            self._calling.append(player)
        elif guest.wish is None and not waits_on:
            self._lonely.set(player, since + self._house_after)

    def _visits(self, now: float) -> Iterator[Visit]:
        """Yield who comes to those who wish for a house player, or have been without an opponent for long."""
        while self._calling:
            player = self._visited = self._calling.popleft()
            wish = _house_wish(player.entry)
            if wish is not None:
                yield from self._visit(player, wish.name.casefold())
        for player in self._lonely.due(now):
            assert self._visitors is not None
            self._visited = player
            self._lonely.set(player, now + self._house_after)
            name = self._visitors.lobby_player(player.as_opponent())
            if name is not None:
                yield from self._visit(player, name)
        self._visited = None

    def _visit(self, player: _Player, name: str) -> Iterator[Visit]:
        """Let a house player come, unless the player has gone or the two have had their games."""
        if player.guest is None or player.turn is None:
            return
        opens = self._lobby.entertained(player.guest, name)
        if opens is not None:
            yield Visit(self._taken(player.entry.seat), name, opens)

    def _may_play(self, table: Table[int], seats: tuple[int, int]) -> bool:
        players = [self._players[seat] for seat in seats]
        limit = self._games_per_pair
        if limit and all(player.stands_by for player in players) and table.has_opened(limit):
            return False
        return all(player.turn is not None for player in players)

    def _taken(self, seat: int) -> Turn:
        """Return the turn of a player, which is over."""
        player = self._players[seat]
        turn, player.turn = player.turn, None
        assert turn is not None
        return turn

    def _start(self, match: Match) -> None:
        """Note who plays whom, by name: a series keeps the names that it began with."""
        assert not isinstance(match, Reception)  # it knows no other nodes
        turns = (match.host,) if isinstance(match, Visit) else (match.first, match.second)
        players = [self._players[turn.seat] for turn in turns]
        for player in players:
            player.since = None
            self._lonely.cancel(player)
        first = players[0].name
        second = match.visitor if isinstance(match, Visit) else players[1].name
        opens = not isinstance(match, Visit) or match.opens
        self._series[match] = (first, second) if opens else (second, first), players[0].table
        self._lobby.playing(first, second)


def _house_wish(entry: Entry) -> Wish | None:
    """Return the wish of a player for a house player, if it is one."""
    wish = entry.place.wish if isinstance(entry.place, InLobby) else None
    return wish if wish is not None and wish.is_for_house else None

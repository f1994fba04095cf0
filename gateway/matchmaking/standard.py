"""The lobby, the tables and the house players: how this server pairs by itself.

Knows who has been let in where, and who waits. Does not know games, or whether a player can be reached: the
hub starts a pair or lets its seats wait on. Its answers come at once, when it is asked for them.
"""

import random
from collections import deque
from collections.abc import Iterator
from typing import assert_never

from gateway.game.commands import AtTable, InLobby, Place
from gateway.game.deadlines import Deadlines
from gateway.game.events import Objection
from gateway.matchmaking.lobby import Lobby
from gateway.matchmaking.matchmaker import (
    Answer,
    AnyMatch,
    Decision,
    Entry,
    Hindered,
    Opponent,
    Pair,
    Probe,
    Turn,
    Visit,
    Visitors,
)
from gateway.matchmaking.members import Member, house_wish
from gateway.matchmaking.obstacles import Looks, Obstacles, folded_only
from gateway.matchmaking.pool import Guest
from gateway.matchmaking.tables import Position, Table, Tables


class LobbyAndTables:
    """The matchmaker of a server that has no other."""

    def __init__(
        self,
        lot: random.Random,
        games_per_pair: int = 10,
        house_after: float = 5.0,
        looks: Looks = folded_only,
    ) -> None:
        """`games_per_pair`: how often each of two who both stand by opens a game; 0 for no limit.

        `house_after`: seconds that a player waits in the lobby before a house player comes.
        `looks`: by what a name is found that looks like another.
        """
        self._games_per_pair = games_per_pair
        self._house_after = house_after
        self._visitors: Visitors | None = None
        self._lobby = Lobby(lot, games_per_pair)
        self.meetings, self.apart = self._lobby.meetings, self._lobby.apart
        self._obstacles = Obstacles(self._lobby, looks)
        self._tables: Tables[int] = Tables()
        self._players: dict[int, Member] = {}
        self._unique: dict[str, set[int]] = {}
        """The seats that keep a name from others; several only where this is the heir of several servers."""
        self._claims: dict[int, tuple[Entry, set[int]]] = {}
        """Who asks to enter where others may only seem to be, and the seats of these, by its own seat."""
        self._freed: deque[int] = deque()
        """Those of them to decide about again, as one of the others has left."""
        self._series: dict[AnyMatch, tuple[tuple[str, str], Table[int] | None]] = {}
        """The names and the table of each series that is on."""
        self._decisions: deque[Decision | Probe] = deque()
        self._calling: deque[Member] = deque()
        """Players who wish for a house player."""
        self._lonely: Deadlines[Member] = Deadlines()
        self._stirred: dict[Table[int], None] = {}
        """Tables where somebody has begun to wait."""
        self._visited: Member | None = None
        """The player that a house player is looked for, or what keeps it waiting."""

    # What the hub tells.

    def engage(self, visitors: Visitors) -> None:
        """Use house players from now on; without, a wish for one of them is not granted."""
        self._visitors = visitors

    def enter(self, entry: Entry) -> None:
        """Decide whether a player may enter, and give it a place then.

        That is at once, unless those who stand in its way may be its own earlier connections. Then these are
        probed first.
        """
        against = self._objections(entry)
        holders = self._replaceable(entry, against)
        if holders:
            self._claims[entry.seat] = entry, holders
            self._decisions.extend(map(Probe, sorted(holders)))
        else:
            self._decide(entry, against)

    def alive(self, seat: int) -> None:
        """Decide about those who would take the place of a seat, whose client is there."""
        for claimant in self._claimants(seat):
            entry, _ = self._claims.pop(claimant)
            self._decide(entry, self._objections(entry))

    def rename(self, seat: int, name: str, *, counted: bool) -> None:
        """Note the name of a player; where it waits in the lobby the name holds at once."""
        player = self._players[seat]
        self._obstacles.names.add(name)
        self._obstacles.names.discard(player.name)
        player.name, player.counted = name, counted
        if player.guest is not None and player.guest.waiting and player.guest.name != name:
            self._lobby.rename(player.guest, name, counted=counted)

    def wait(self, turn: Turn, since: float) -> None:
        """Let a player wait, or wait on where the series that was found for it was not started."""
        player = self._players[turn.seat]
        waits_on, player.turn, player.since = player.since == since, turn, since
        if not waits_on:
            self._obstacles.watch(player, since)
        if player.guest is not None:
            self._wait_in_lobby(player, player.guest, since, waits_on=waits_on)
        elif player.table is not None:
            self._stirred[player.table] = None

    def leave(self, seat: int) -> None:
        """Let a player go from wherever it is."""
        self._claims.pop(seat, None)
        player = self._players.pop(seat, None)
        if player is None:
            return
        player.turn = None
        if player.entry.manners.unique_name:
            self._free_name(player.entry)
        self._freed.extend(self._claimants(seat))
        self._obstacles.names.discard(player.name)
        self._obstacles.forget(player)
        self._lonely.cancel(player)
        if player.guest is not None:
            self._lobby.remove(player.guest)
        if player.table is not None:
            self._rise(seat, player.table)

    def began(self, match: AnyMatch, game: int) -> None:
        """Count a game, and as long as its series is on let the two names not meet elsewhere."""
        if game == 1:
            self.found(match)
            for player in filter(None, (self._players.get(turn.seat) for turn in _turns(match))):
                player.since = None
                self._obstacles.forget(player)
                self._lonely.cancel(player)
        (first, second), table = self._series[match]
        if table is not None:
            table.played()
        else:
            self._lobby.meetings.add(*((first, second) if game % 2 else (second, first)))

    def finished(self, match: AnyMatch) -> None:
        """Let two names meet again."""
        if match in self._series:
            names, _ = self._series.pop(match)
            self._lobby.played(*names)

    # What others than the hub tell, where this matchmaker is that of a cluster.

    def __contains__(self, seat: int) -> bool:
        """Whether a seat was let in."""
        return seat in self._players

    def readmit(self, entry: Entry, sat: tuple[Position, int]) -> None:
        """Let in a player whom another matchmaker has let in before, whatever is against it here.

        `sat`: its position at its table, and after how many games.
        """
        self._let_in(entry, sat)

    def found(self, match: AnyMatch) -> None:
        """Let two names not meet elsewhere, though their series begins later, or only ends (`finished`)."""
        if match in self._series:
            return
        first, *others = (self._players[turn.seat] for turn in _turns(match))
        if isinstance(match, Visit):
            names = (first.name, match.visitor) if match.opens else (match.visitor, first.name)
        else:
            names = first.name, others[0].name
        self._note(match, names, first.table)

    def resumed(self, match: AnyMatch, names: tuple[str, str], seat: int | None) -> None:
        """Note a series that began without this matchmaker: at the table of `seat`, or in the lobby."""
        player = None if seat is None else self._players.get(seat)
        table = None if player is None else player.table
        if self._series.get(match) != (names, table):
            self.finished(match)
            self._note(match, names, table)

    def seated(self, seat: int) -> list[tuple[int, Position, int]]:
        """Return who sits at the table of a seat, at which position and after how many games."""
        player = self._players.get(seat)
        return player.table.seated() if player is not None and player.table is not None else []

    # What it answers.

    def answers(self, now: float) -> Iterator[Answer]:
        """Yield decisions and probes, house players, pairs, and then why others still wait."""
        while self._freed:
            claim = self._claims.pop(self._freed.popleft(), None)
            if claim is not None:
                self.enter(claim[0])
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
        for player in self._obstacles.due(now):
            self._visited = player
            if self._obstacles.look(player) and player.turn is not None:
                yield Hindered(player.turn, player.obstacle)
        self._visited = None

    def suspect(self) -> int | None:
        """Return the seat that an opponent was looked for when `answers` failed."""
        guest, self._lobby.considered = self._lobby.considered, None
        player, self._visited = self._visited, None
        found = player.entry.seat if player is not None else guest.seat if guest is not None else None
        return found if found in self._players else None

    def next_due(self) -> float | None:
        """Return when somebody is held back no more, a house player comes, or a player is looked at again."""
        times = self._lobby.next_retry(), self._lonely.next_due(), self._obstacles.next_due()
        return min((when for when in times if when is not None), default=None)

    # Entering.

    def _objections(self, entry: Entry) -> Objection:
        against = entry.against
        if entry.manners.unique_name and entry.name in self._unique:
            against |= Objection.NAME_TAKEN
        player = self._players.get(entry.seat)
        is_there = player is not None and player.is_at(entry.place)
        if self._is_full(entry.place) and (against or not is_there):
            against |= Objection.TABLE_FULL
        if self._is_missing(entry):
            against |= Objection.NOT_AVAILABLE
        return against

    def _replaceable(self, entry: Entry, against: Objection) -> set[int]:
        """Return who keeps a player out, if these may all be its own earlier connections."""
        holders = set[int]()
        if against & ~(Objection.NAME_TAKEN | Objection.TABLE_FULL):
            return holders
        if Objection.NAME_TAKEN in against:
            holders |= self._unique[entry.name]
            if not all(entry.may_replace(self._players[seat].entry) for seat in holders):
                return set()
        if Objection.TABLE_FULL in against and isinstance(entry.place, AtTable):
            seats = [(seat, self._players[seat]) for seat in self._tables.seated(entry.place.key)]
            own = {seat for seat, each in seats if each.name == entry.name and entry.may_replace(each.entry)}
            return holders | own if own else set()
        return holders

    def _claimants(self, seat: int) -> list[int]:
        return [claimant for claimant, (_, holders) in self._claims.items() if seat in holders]

    def _decide(self, entry: Entry, against: Objection) -> None:
        if not against:
            self._let_in(entry)
        self._decisions.append(Decision(entry.seat, against))

    def _is_full(self, place: Place) -> bool:
        return isinstance(place, AtTable) and self._tables.are_full(place.key)

    def _is_missing(self, entry: Entry) -> bool:
        wish = house_wish(entry)
        if wish is None or self._visitors is None:
            return False
        opponent = Opponent(entry.origin, entry.name, entry.manners.clocked)
        return not self._visitors.has(wish.name.casefold(), opponent)

    def _let_in(self, entry: Entry, sat: tuple[Position, int] | None = None) -> None:
        """Give a player its place. A seat at a table is kept for a player with the same name."""
        before = self._players.get(entry.seat)
        if before is not None and before.table and before.is_at(entry.place) and before.name == entry.name:
            before.entry = entry
            return
        self.leave(entry.seat)
        player = self._players[entry.seat] = Member(entry, entry.name, entry.counted)
        self._obstacles.names.add(entry.name)
        if entry.manners.unique_name:
            self._unique.setdefault(entry.name, set()).add(entry.seat)
        match entry.place:
            case AtTable(name):
                player.table = self._tables.free(entry.place.key, name)
                if sat is None:
                    player.table.sit(entry.seat)
                else:
                    player.table.resume(entry.seat, *sat)
            case InLobby(wish):
                asked = wish is not None or not player.stands_by
                player.guest = Guest(entry.name, wish, asked, entry.counted, seat=entry.seat, home=entry.home)
            case _:
                assert_never(entry.place)

    def _free_name(self, entry: Entry) -> None:
        self._unique[entry.name].discard(entry.seat)
        if not self._unique[entry.name]:
            del self._unique[entry.name]

    def _rise(self, seat: int, table: Table[int]) -> None:
        table.rise(seat)
        moved = self._tables.clear(table.key)
        if moved is not None:
            other, its_table = moved
            self._players[other].table = its_table
            self._stirred[its_table] = None

    # Waiting.

    def _wait_in_lobby(self, player: Member, guest: Guest, since: float, *, waits_on: bool) -> None:
        if guest.name != player.name:
            self._lobby.rename(guest, player.name, counted=player.counted)
        if waits_on:
            self._lobby.take_back(guest)
        else:
            self._lobby.admit(guest, since)
        if self._visitors is None:
            return
        if house_wish(player.entry) is not None:
            self._calling.append(player)
        elif guest.wish is None and not waits_on:
            self._lonely.set(player, since + self._house_after)

    def _visits(self, now: float) -> Iterator[Visit]:
        """Yield who comes to those who wish for a house player, or have been without an opponent for long."""
        while self._calling:
            player = self._visited = self._calling.popleft()
            wish = house_wish(player.entry)
            if wish is not None:
                yield from self._visit(player, wish.name.casefold(), now)
        for player in self._lonely.due(now):
            assert self._visitors is not None
            self._visited = player
            self._lonely.set(player, now + self._house_after)
            name = self._visitors.lobby_player(player.as_opponent())
            if name is not None:
                yield from self._visit(player, name, now)
        self._visited = None

    def _visit(self, player: Member, name: str, now: float) -> Iterator[Visit]:
        """Let a house player come, unless the player has gone or the two have had their games."""
        if player.guest is None or player.turn is None:
            return
        opens = self._lobby.entertained(player.guest, name, now)
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
        player.forget_obstacle()  # should it wait on
        return turn

    def _note(self, match: AnyMatch, names: tuple[str, str], table: Table[int] | None) -> None:
        self._series[match] = names, table
        self._lobby.playing(*names)


def _turns(match: AnyMatch) -> tuple[Turn, ...]:
    assert isinstance(match, Pair | Visit)  # it knows no other nodes
    return (match.host,) if isinstance(match, Visit) else (match.first, match.second)

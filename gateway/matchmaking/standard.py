"""The standard matchmaker: the lobby, tables and house players.

Knows who has entered where, and who waits. Does not know games, nor whether a player can be reached. If the
hub does not start a pair, its seats continue to wait.
"""

import random
from collections import deque
from collections.abc import Iterator, Mapping, Set
from dataclasses import replace
from itertools import islice
from typing import assert_never

from gateway.game.commands import AtTable, InLobby
from gateway.game.deadlines import Deadlines
from gateway.game.events import Objection
from gateway.game.results import Scheduled
from gateway.matchmaking.lobby import Lobby
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
from gateway.matchmaking.members import Member, house_wish
from gateway.matchmaking.obstacles import Looks, Obstacles, folded_only
from gateway.matchmaking.pool import Seeker
from gateway.matchmaking.tables import LargeTable, Position, Table, Tables

MOST_PROBED = 8
"""The most seats that one request to enter probes because the player may be coming back."""


class LobbyAndTables(Matchmaker):
    """The standard matchmaker."""

    def __init__(
        self,
        lot: random.Random,
        games_per_pair: int = 10,
        house_after: float = 5.0,
        looks: Looks = folded_only,
        large_tables: Mapping[str, LargeTable] | None = None,
        grace: float = 0.0,
    ) -> None:
        """`lot` draws first movers. After `house_after` seconds in the lobby a player gets a house player.

        `games_per_pair` limits the games of two players that both stand by: each has the first move up to
        this many times. 0 is no limit. `looks` finds names that look alike. `large_tables` are the tables of
        tournaments, by their keys; tables may be added to the mapping at any time. `grace` is `Terms.grace`.
        """
        self._grace = grace
        self._games_per_pair = games_per_pair
        self._house_after = house_after
        self._house: HousePlayers | None = None
        self._lobby = Lobby(lot, games_per_pair)
        self._obstacles = Obstacles(self._lobby, looks)
        self._tables: Tables[int] = Tables()
        self._large_tables = {} if large_tables is None else large_tables
        self._opened: dict[str, LargeTable] = {}
        """The large tables that took over the waiting players of ordinary tables."""
        self._players: dict[int, Member] = {}
        self._named: dict[tuple[str, bool], dict[int, None]] = {}
        """The seats by name and the manner `unique_name`, the first to get the name first."""
        self._away: set[int] = set()
        """Seats that are kept for players whose connections broke, as far as is known."""
        self._claims: dict[int, tuple[Entry, set[int]]] = {}
        """Requests to enter that wait for probes, each with the seats that are probed. The key is the asking
        seat."""
        self._claimants: dict[int, dict[int, None]] = {}
        """The asking seats that wait for the probe of each seat, the first to ask first."""
        self._freed: deque[int] = deque()
        """The asking seats whose requests have to be decided again, since a probed seat has left."""
        self._series: dict[Match, tuple[tuple[str, str], Table[int] | LargeTable | None]] = {}
        """The names and the table of each current series."""
        self._decisions: deque[Decision | Returning | Probe] = deque()
        self._calling: deque[Member] = deque()
        """Players that wish for a house player."""
        self._lonely: Deadlines[Member] = Deadlines()
        """When players of the lobby get a house player."""
        self._stirred: dict[Table[int], None] = {}
        """Tables at which a player has begun to wait."""
        self._considered: Member | None = None
        """The player that `answers` works on. An exception is attributed to this player."""

    # Calls of the hub.

    def engage(self, house: HousePlayers) -> None:
        """Use house players from now on. Until then, players that wish for a house player wait."""
        self._house = house

    def enter(self, entry: Entry) -> None:
        """Decide about a request to enter, and give the player a place, or its earlier seat.

        Earlier connections of the same player may be in a game, or hold the name or the seat at the table. If
        so, these are probed before the decision.
        """
        if self._gave_back(entry):
            return
        against = self._objections(entry)
        playing = (seat for seat in self._namesakes(entry) if self._players[seat].turn is None)
        earlier = (seat for seat in playing if self._is_earlier(seat, entry))
        holders = self._replaceable(entry, against) | {*islice(earlier, MOST_PROBED)}
        if holders:
            self._claims[entry.seat] = entry, holders
            for holder in sorted(holders):
                self._claimants.setdefault(holder, {})[entry.seat] = None
                self._decisions.append(Probe(holder))
        else:
            self._decide(entry, against)

    def alive(self, seat: int) -> None:
        """Decide about the requests that waited only for the probe of this seat."""
        self._keeps_place(seat)

    def away(self, seat: int) -> None:
        """Give a kept seat back to the first player that asked for it, or wait for such a player."""
        self._away.add(seat)
        for claimant in self._claimants.get(seat, ()):
            entry, _ = self._claims[claimant]
            if self._is_earlier(seat, entry):
                self._drop_claim(claimant)
                self._give_back(seat, entry)
                break
        self._keeps_place(seat)

    def returned(self, seat: int, origin: str, *, proven: bool) -> None:
        """Record that the player of a kept seat has come back."""
        self._away.discard(seat)
        player = self._players.get(seat)
        if player is not None:
            player.entry = replace(player.entry, origin=origin, proven=proven)

    def rename(self, seat: int, name: str, *, counted: bool) -> None:
        """Set the name of a player. If it waits in the lobby, the new name counts for its pairing at once.

        At the table of a tournament it stays the player that it was when it sat down.
        """
        player = self._players[seat]
        self._obstacles.names.add(name)
        self._obstacles.names.discard(player.name)
        self._free_name(player)
        player.name, player.counted = name, counted
        self._note_name(player)
        if player.seeker is not None and player.seeker.waiting and player.seeker.name != name:
            self._lobby.rename(player.seeker, name, counted=counted)

    def wait(self, turn: Turn, since: float) -> None:
        """Queue a player. If its match was not started, it is queued before other players of its kind."""
        player = self._players[turn.seat]
        waits_on, player.turn, player.since = player.since == since, turn, since
        if not waits_on:
            self._obstacles.watch(player, since)
        if player.seeker is not None:
            self._wait_in_lobby(player, player.seeker, since, waits_on=waits_on)
        elif player.table is not None and not self._moved_to_large(player, player.table):
            self._stirred[player.table] = None
        if player.large is not None:
            player.large.wait(turn.seat)

    def leave(self, seat: int) -> None:
        """Remove a player from the lobby or from its table."""
        self._drop_claim(seat)
        player = self._players.pop(seat, None)
        if player is None:
            return
        self._away.discard(seat)
        self._free_name(player)
        self._freed.extend(self._claimants.pop(seat, ()))
        self._obstacles.names.discard(player.name)
        self._free_place(player)

    def stand_aside(self, seat: int) -> None:
        """Remove a player from the lobby or from its table. It keeps its name."""
        player = self._players.get(seat)
        if player is not None:
            self._free_place(player)

    def began(self, match: Match, game: int, *, is_again: bool = False) -> None:
        """Count a game, unless it is played again."""
        if game == 1:
            for player in filter(None, (self._players.get(turn.seat) for turn in match.turns)):
                player.since = None
                self._obstacles.forget(player)
                self._lonely.cancel(player)
        (first, second), table = self._series[match]
        if isinstance(table, Table):
            if not is_again:
                table.played()
        elif table is not None:
            if (scheduled := _scheduled(match)) is not None:
                table.began(scheduled)
        elif not is_again:
            self._lobby.meetings.add(*((first, second) if game % 2 else (second, first)))

    def finished(self, match: Match) -> None:
        """Record that a series is over, so that its two names may meet again."""
        if match in self._series:
            names, table = self._series.pop(match)
            self._lobby.played(*names)
            if (
                isinstance(match, Pair)
                and match.scheduled is not None
                and not isinstance(table, Table | None)
            ):
                table.finished(match.scheduled)

    # Taking over from another matchmaker.

    def readmit(self, entry: Entry, sat: tuple[Position, int]) -> None:
        """Admit a player that another matchmaker has admitted, without regard to objections."""
        self._let_in(entry, sat)

    def resume(self, match: Match, names: tuple[str, str], seat: int | None) -> None:
        """Record a current series: at the table of `seat`, or in the lobby if `seat` is None."""
        player = None if seat is None else self._players.get(seat)
        table = None if player is None else player.table or player.large
        if self._series.get(match) != (names, table):
            self.finished(match)
            self._note(match, names, table)
            if (
                isinstance(match, Pair)
                and match.scheduled is not None
                and not isinstance(table, Table | None)
            ):
                table.resume(match.scheduled)

    def learn(self, first: str, second: str, games: int) -> None:
        """Add earlier games, with `first` as first mover."""
        self._lobby.meetings.learn(first, second, games)

    def seated(self, seat: int) -> list[tuple[int, Position, int]]:
        """Return the seats at the table of a seat, with their positions and the number of games there."""
        player = self._players.get(seat)
        return player.table.seated() if player is not None and player.table is not None else []

    def keep_apart(self, one: str, other: str, until: float | None) -> None:
        """Make no pairs between two nodes in the lobby until the time `until`; None allows them again."""
        homes = (one, other) if one < other else (other, one)
        if until is None:
            self._lobby.apart.pop(homes, None)
        else:
            self._lobby.apart[homes] = until

    # Answers.

    def answers(self, now: float) -> Iterator[Answer]:
        """Yield decisions and probes, wished house players, other pairs, and then obstacles.

        The two names of a match are not paired again before the match is `finished`.
        """
        while self._freed or self._decisions:
            while self._freed:
                claim = self._drop_claim(self._freed.popleft())
                if claim is not None:
                    self.enter(claim)
            if self._decisions:
                yield self._decisions.popleft()
        yield from self._called_house(now)
        for first, second in self._lobby.pair(now):
            yield self._paired(first.seat, second.seat)
        yield from self._house_of_lobby(now)  # for those who were not paired just now
        if self._opened != self._large_tables:
            self._open_large_tables()
        while self._stirred:
            table, _ = self._stirred.popitem()
            seats = table.pair()
            if seats is not None and self._may_play(table, seats):
                one, other = seats[::-1] if self._players[seats[1]].entry.manners.opens else seats
                yield self._paired(one, other, table)
        for large in [each for each in self._large_tables.values() if each.is_stirred]:
            for one, other, games, scheduled in large.pairs():
                yield self._paired(one, other, large, games, scheduled)
        for player in self._obstacles.due(now):
            self._considered = player
            if self._obstacles.look(player) and player.turn is not None:
                yield Hindered(player.turn, player.obstacle)
        self._considered = None

    def suspect(self) -> int | None:
        """Return the seat that `answers` was working on when it raised an error, and forget that seat."""
        seeker, self._lobby.considered = self._lobby.considered, None
        player, self._considered = self._considered, None
        found = player.entry.seat if player is not None else seeker.seat if seeker is not None else None
        return found if found in self._players else None

    def next_due(self) -> float | None:
        """Return when the next hold ends, or the next house player or check is due, whichever is first."""
        times = self._lobby.next_retry(), self._lonely.next_due(), self._obstacles.next_due()
        return min((when for when in times if when is not None), default=None)

    # Entering.

    def _objections(self, entry: Entry) -> Objection:
        against = entry.against
        if entry.manners.unique_name and self._named.get((entry.name, True), {}).keys() - {entry.seat}:
            against |= Objection.NAME_TAKEN
        if not entry.waits:
            return against
        player = self._players.get(entry.seat)
        is_there = player is not None and self._has_seat(player, entry)
        if (self._is_full(entry) or self._cannot_open(entry)) and (against or not is_there):
            against |= Objection.TABLE_FULL
        if self._is_empty(entry):
            against |= Objection.TABLE_EMPTY
        if self._is_missing(entry):
            against |= Objection.NOT_AVAILABLE
        return against

    def _replaceable(self, entry: Entry, against: Objection) -> set[int]:
        """Return the seats to probe: possible earlier connections of the player that block its entry."""
        holders = set[int]()
        if against & ~(Objection.NAME_TAKEN | Objection.TABLE_FULL):
            return holders
        if Objection.NAME_TAKEN in against:
            # There are several only if the players of several nodes were taken over.
            holders |= self._named[entry.name, True].keys() - {entry.seat}
            if not all(entry.may_replace(self._players[seat].entry) for seat in holders):
                return set()
        if Objection.TABLE_FULL in against and isinstance(entry.place, AtTable):
            large = self._large_tables.get(entry.place.key)
            there = self._tables.seated(entry.place.key) if large is None else large.seated()
            seats = [(seat, self._players[seat]) for seat in there]
            own = {seat for seat, each in seats if each.name == entry.name and entry.may_replace(each.entry)}
            return holders | own if own else set()
        return holders

    def _may_return(self, entry: Entry) -> bool:
        """Whether the player of an entry may be coming back to a seat, if there is one for it."""
        has_grace = self._grace > 0 or bool(self._large_tables)
        return has_grace and entry.is_first and not entry.against

    def _namesakes(self, entry: Entry) -> Set[int]:
        """Return the seats with the name of an entry whose player may be coming back; otherwise none."""
        if not self._may_return(entry):
            return frozenset()
        return self._named.get((entry.name, entry.manners.unique_name), {}).keys()

    def _is_earlier(self, seat: int, entry: Entry) -> bool:
        """Whether the player of an entry may be coming back to a seat in a game.

        The seat has the same name, and was entered in the same dialect and at the same place, from the same
        address or with the same token.
        """
        player = self._players.get(seat)
        return (
            self._may_return(entry)
            and player is not None
            and player.turn is None
            and player.name == entry.name
            and (self._grace if player.large is None else player.large.grace) > 0
            and player.is_at(entry.place)
            and player.entry.manners == entry.manners
            and entry.may_replace(player.entry)
        )

    def _gave_back(self, entry: Entry) -> bool:
        """Give the player of an entry its kept seat, if there is one; return whether there was one."""
        away = (seat for seat in self._namesakes(entry) if seat in self._away)
        kept = next((seat for seat in away if self._is_earlier(seat, entry)), None)
        if kept is not None:
            self._give_back(kept, entry)
        return kept is not None

    def _give_back(self, seat: int, entry: Entry) -> None:
        self._away.discard(seat)
        self._decisions.append(Returning(entry.seat, seat, entry.origin, entry.proven, entry.resumes))

    def _keeps_place(self, seat: int) -> None:
        """Decide about the requests that waited only for the probe of a seat, which keeps its place."""
        for claimant in self._claimants.pop(seat, ()):
            entry, holders = self._claims[claimant]
            holders.discard(seat)
            if not holders:
                del self._claims[claimant]
                if not self._gave_back(entry):  # another seat of the player may be kept since
                    self._decide(entry, self._objections(entry))

    def _drop_claim(self, claimant: int) -> Entry | None:
        """Remove a request to enter that waits for probes; return its entry, or None if there is none."""
        entry, holders = self._claims.pop(claimant, (None, ()))
        for holder in holders:
            waiting = self._claimants.get(holder, {})
            waiting.pop(claimant, None)
            if not waiting:
                self._claimants.pop(holder, None)
        return entry

    def _decide(self, entry: Entry, against: Objection) -> None:
        if not against:
            self._let_in(entry)
        self._decisions.append(Decision(entry.seat, against))

    def _is_full(self, entry: Entry) -> bool:
        if not isinstance(entry.place, AtTable):
            return False
        large = self._large_tables.get(entry.place.key)
        return self._tables.are_full(entry.place.key) if large is None else not large.admits(entry.name)

    def _is_empty(self, entry: Entry) -> bool:
        """Whether nobody has a seat at the table that a player asks for only if somebody has one."""
        place = entry.place
        if not isinstance(place, AtTable) or not place.must_be_taken:
            return False
        return place.key not in self._large_tables and not self._tables.seated(place.key)

    def _cannot_open(self, entry: Entry) -> bool:
        """Whether a player that always has the first move cannot have it at the table that it asks for.

        At most one such player can sit at a table, and none where a tournament decides who moves first.
        """
        if not entry.manners.opens or not isinstance(entry.place, AtTable):
            return False
        if entry.place.key in self._large_tables:
            return True
        there = self._tables.seated(entry.place.key)
        return any(self._players[seat].entry.manners.opens for seat in there)

    def _has_seat(self, player: Member, entry: Entry) -> bool:
        """Whether a player sits at the table that it asks for."""
        if not isinstance(entry.place, AtTable) or not player.is_at(entry.place):
            return False
        large = self._large_tables.get(entry.place.key)
        if large is not player.large:
            return False  # a tournament of this name was created, or deleted, meanwhile
        # Another name is another player, which the tournament may not admit.
        return large is None or (player.name == entry.name and entry.seat in large.seated())

    def _is_missing(self, entry: Entry) -> bool:
        wish = house_wish(entry)
        if wish is None or self._house is None:
            return False
        opponent = Opponent(entry.origin, entry.name, entry.manners.clocked)
        return not self._house.has(wish.name.casefold(), opponent)

    def _let_in(self, entry: Entry, sat: tuple[Position, int] | None = None) -> None:
        """Admit a player. If it asks for its table again, with the same name, it keeps its seat."""
        before = self._players.get(entry.seat)
        is_there = before is not None and self._has_seat(before, entry) and before.name == entry.name
        if before is not None and is_there and entry.waits:
            before.entry = entry
            return
        self.leave(entry.seat)
        player = self._players[entry.seat] = Member(entry, entry.name, entry.counted)
        self._obstacles.names.add(entry.name)
        self._note_name(player)
        match entry.place:
            case _ if not entry.waits:
                pass
            case AtTable() if (large := self._large_tables.get(entry.place.key)) is not None:
                player.large = large
                large.sit(entry.seat, entry.name)
            case AtTable(name):
                player.table = self._tables.free(entry.place.key, name)
                if sat is None:
                    player.table.sit(entry.seat)
                else:
                    player.table.resume(entry.seat, *sat)
            case InLobby(wish):
                asked = wish is not None or not player.stands_by
                player.seeker = Seeker(
                    entry.name,
                    wish,
                    asked,
                    entry.counted,
                    seat=entry.seat,
                    home=entry.home,
                    opens=entry.manners.opens,
                )
            case _:
                assert_never(entry.place)

    def _open_large_tables(self) -> None:
        """Move players to the tables that their tables' names mean now.

        A tournament of such a name was added, removed, or replaced by another one. Players at ordinary tables
        that play a series follow when they wait.
        """
        for seat, player in self._players.items():
            stale = player.large
            if stale is not None and stale is not self._large_tables.get(stale.key):
                player.large, player.table = None, self._tables.free(stale.key, stale.name)
                player.table.sit(seat)
                if player.turn is not None:
                    self._stirred[player.table] = None
            if player.turn is not None or stale is not None:
                self._moved_to_large(player, player.table)
            if player.turn is not None and player.large is not None:
                player.large.wait(seat)
        self._opened = {**self._large_tables}

    def _moved_to_large(self, player: Member, table: Table[int] | None) -> bool:
        """Move a player from its table to the large table of this name, if there is one that admits it."""
        large = None if table is None else self._large_tables.get(table.key)
        if table is None or large is None or player.entry.manners.opens or not large.admits(player.name):
            return False
        player.table, player.large = None, large
        self._rise(player.entry.seat, table)
        large.sit(player.entry.seat, player.name)
        return True

    def _free_place(self, player: Member) -> None:
        seat, player.turn = player.entry.seat, None
        self._obstacles.forget(player)
        self._lonely.cancel(player)
        if player.seeker is not None:
            self._lobby.remove(player.seeker)
        if player.table is not None:
            self._rise(seat, player.table)
        if player.large is not None:
            player.large.rise(seat)
        player.seeker = player.table = player.large = None

    def _note_name(self, player: Member) -> None:
        seats = self._named.setdefault((player.name, player.entry.manners.unique_name), {})
        seats[player.entry.seat] = None

    def _free_name(self, player: Member) -> None:
        key = player.name, player.entry.manners.unique_name
        del self._named[key][player.entry.seat]
        if not self._named[key]:
            del self._named[key]

    def _rise(self, seat: int, table: Table[int]) -> None:
        table.rise(seat)
        moved = self._tables.clear(table.key)
        if moved is not None:
            other, its_table = moved
            self._players[other].table = its_table
            self._stirred[its_table] = None

    # Waiting.

    def _wait_in_lobby(self, player: Member, seeker: Seeker, since: float, *, waits_on: bool) -> None:
        if seeker.name != player.name:
            self._lobby.rename(seeker, player.name, counted=player.counted)
        if waits_on:
            self._lobby.take_back(seeker)
        else:
            self._lobby.admit(seeker, since)
        if self._house is None:
            return
        if house_wish(player.entry) is not None:
            self._calling.append(player)
        elif seeker.wish is None and player.entry.manners.house_at_once:
            self._lonely.set(player, since)
        elif seeker.wish is None and not waits_on:
            self._lonely.set(player, since + self._house_after)

    def _called_house(self, now: float) -> Iterator[HousePair]:
        """Yield pairs for players that wish for a house player."""
        while self._calling:
            player = self._considered = self._calling.popleft()
            wish = house_wish(player.entry)
            if wish is not None:
                yield from self._house_pair(player, wish.name.casefold(), now)
        self._considered = None

    def _house_of_lobby(self, now: float) -> Iterator[HousePair]:
        """Yield pairs for players that nobody has met in the lobby for as long as they want to wait."""
        for player in self._lonely.due(now):
            assert self._house is not None
            self._considered = player
            self._lonely.set(player, now + self._house_after)
            name = self._house.lobby_player(player.as_opponent())
            if name is not None:
                yield from self._house_pair(player, name, now)
        self._considered = None

    def _house_pair(self, player: Member, name: str, now: float) -> Iterator[HousePair]:
        """Yield the pair with a house player, if the player still waits and the two have games left."""
        if player.seeker is None or player.turn is None:
            return
        opens = self._lobby.pair_with_house(player.seeker, name, now)
        if opens is not None:
            match = HousePair(self._taken(player.entry.seat), name, opens)
            self._note(match, (player.name, name) if opens else (name, player.name), None)
            yield match

    def _paired(
        self,
        first: int,
        second: int,
        table: Table[int] | LargeTable | None = None,
        rounds: int | None = None,
        scheduled: Scheduled | None = None,
    ) -> Pair:
        one, other = self._taken(first), self._taken(second)
        match = Pair(one, other, rounds, None if table is None else table.name, scheduled)
        self._note(match, (self._players[first].name, self._players[second].name), table)
        return match

    def _may_play(self, table: Table[int], seats: tuple[int, int]) -> bool:
        players = [self._players[seat] for seat in seats]
        if all(player.entry.manners.opens for player in players):
            return False  # two tables of several nodes have become one
        limit = self._games_per_pair
        if limit and all(player.stands_by for player in players) and table.has_opened(limit):
            return False
        return all(player.turn is not None for player in players)

    def _taken(self, seat: int) -> Turn:
        """Return the turn of a player, and mark it as used."""
        player = self._players[seat]
        turn, player.turn = player.turn, None
        assert turn is not None
        player.forget_obstacle()  # in case the match fails and the player waits again
        return turn

    def _note(self, match: Match, names: tuple[str, str], table: Table[int] | LargeTable | None) -> None:
        self._series[match] = names, table
        self._lobby.playing(*names)


def _scheduled(match: Match) -> Scheduled | None:
    return match.scheduled if isinstance(match, Pair) else None

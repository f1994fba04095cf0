"""Where players wait: the lobby and the tables.

Knows which seat waits where, and which two are to play next. Does not know games: the hub says who is
ready and who has gone, and starts the pairs. Nobody is paired whose player cannot be reached: it is
set aside, which the hub is told of, and keeps its place.
"""

import random
from collections.abc import Iterator, Sequence
from typing import assert_never

from gateway.game.commands import AtTable, InLobby, Place
from gateway.hub.seat import Seat
from gateway.matchmaking.lobby import Lobby
from gateway.matchmaking.pool import Guest
from gateway.matchmaking.tables import Table


class WaitingRoom:
    """The lobby and all tables."""

    def __init__(self, lot: random.Random, games_per_pair: int) -> None:
        self._games_per_pair = games_per_pair
        self._lobby = Lobby(lot, games_per_pair)
        self._guests: dict[Guest, Seat] = {}
        self._tables: dict[str, Table[Seat]] = {}
        self._stirred: dict[Table[Seat], None] = {}
        self._absent: list[Seat] = []

    def is_full(self, place: Place) -> bool:
        """Whether `place` is a table whose two seats are taken."""
        table = self._tables.get(place.key) if isinstance(place, AtTable) else None
        return table is not None and table.is_full

    def is_at(self, seat: Seat, place: Place) -> bool:
        """Whether the seat is kept at `place`: at that table, or in the lobby."""
        match place:
            case AtTable():
                return seat.table is not None and seat.table.key == place.key
            case InLobby():
                return seat.guest is not None
            case _:
                assert_never(place)

    def enter(self, seat: Seat, place: Place) -> None:
        """Let a seat in that is nowhere else. Raises ValueError where the table is full."""
        match place:
            case AtTable():
                seat.table = self._tables.setdefault(place.key, Table(place.key, place.name))
                seat.table.sit(seat)
            case InLobby(wish):
                assert seat.name is not None
                asked = wish is not None or not seat.stands_by
                seat.guest = Guest(seat.name, wish, asked, seat.counted)
                self._guests[seat.guest] = seat
            case _:
                assert_never(place)

    def wait(self, seat: Seat, now: float) -> None:
        """Let a seat wait for an opponent from `now` on, where it has entered."""
        if seat.guest is not None:
            self.rename(seat)
            self._lobby.admit(seat.guest, now)
        elif seat.table is not None:
            self._stirred[seat.table] = None

    def rename(self, seat: Seat) -> None:
        """Take note of the seat's name as it is now."""
        guest = seat.guest
        if guest is not None and seat.name is not None and guest.name != seat.name:
            self._lobby.rename(guest, seat.name, counted=seat.counted)

    def leave(self, seat: Seat) -> None:
        """Let a seat go from wherever it is."""
        if seat.guest is not None:
            self._lobby.remove(seat.guest)
            del self._guests[seat.guest]
            seat.guest = None
        if seat.table is not None:
            seat.table.rise(seat)
            if seat.table.is_empty:
                del self._tables[seat.table.key]
            seat.table = None

    def opened(self, seat: Seat, first: str, second: str) -> None:
        """Count a game that has begun where the seat is, by the names of its players."""
        if seat.table is not None:
            seat.table.played()
        else:
            self._lobby.meetings.add(first, second)

    def playing(self, one: str, two: str) -> None:
        """Note that a series of two players, by name, has begun."""
        self._lobby.playing(one, two)

    def played(self, one: str, two: str) -> None:
        """Note that a series of two players, by name, is over."""
        self._lobby.played(one, two)

    def pairs(self, now: float) -> Iterator[tuple[Seat, Seat]]:
        """Yield the pairs that are to play now, the first mover first. They wait no longer."""
        for first, second in self._lobby.pair(now, self._is_here):
            yield self._guests[first], self._guests[second]
        while self._stirred:
            table, _ = self._stirred.popitem()
            pair = table.pair()
            if pair is not None and self._may_play(table, pair):
                yield pair

    def suspects(self) -> Sequence[Seat]:
        """Return the seat that `pairs` was looking for a partner for when it failed, if there is one."""
        guest, self._lobby.considered = self._lobby.considered, None
        return () if guest is None or guest not in self._guests else (self._guests[guest],)

    def absent(self) -> list[Seat]:
        """Return who was set aside since the last call, because its player could not be reached."""
        absent, self._absent = self._absent, []
        return absent

    def take_back(self, seat: Seat) -> None:
        """Let a seat that was set aside wait where it has waited before."""
        if seat.guest is not None:
            self._lobby.take_back(seat.guest)
        elif seat.table is not None:
            self._stirred[seat.table] = None

    def entertained(self, seat: Seat, visitor: Seat) -> tuple[Seat, Seat] | None:
        """Let a seat that waits in the lobby play a visitor; return them, the first mover first.

        None where the two may not play: they have had their games.
        """
        assert seat.guest is not None
        assert visitor.name is not None
        opens = self._lobby.entertained(seat.guest, visitor.name)
        if opens is None:
            return None
        return (seat, visitor) if opens else (visitor, seat)

    def next_due(self) -> float | None:
        """Return when `pairs` may have more to say, though nothing happens before."""
        return self._lobby.next_retry()

    def _may_play(self, table: Table[Seat], pair: tuple[Seat, Seat]) -> bool:
        limit = self._games_per_pair
        if limit and all(seat.stands_by for seat in pair) and table.has_opened(limit):
            return False
        return all(seat.waits for seat in pair) and all(self._is_reachable(seat) for seat in pair)

    def _is_here(self, guest: Guest) -> bool:
        return self._is_reachable(self._guests[guest])

    def _is_reachable(self, seat: Seat) -> bool:
        if seat.mailbox.is_reachable:
            return True
        self._absent.append(seat)
        return False

"""Tables: each has a name and two seats, for players that agreed on the name; or any number of seats.

Knows the positions of players and who has the next first move. Does not know whether players are ready or
connected. The player at position 0 has the first move in the first game of two players, and the first move
swaps with every game.
"""

from collections.abc import Iterator
from typing import Generic, Literal, Protocol, TypeAlias, TypeVar

from gateway.game.results import Scheduled

Position: TypeAlias = Literal[0, 1]
POSITIONS: tuple[Position, Position] = (0, 1)
S = TypeVar("S")


class Table(Generic[S]):
    """Two seats and the players on them."""

    def __init__(self, key: str, name: str | None = None) -> None:
        self.key = key
        self.name = key if name is None else name
        """The table's name, as spelled by the first player there."""
        self._seats: list[S | None] = [None, None]
        self._games = 0

    @property
    def is_full(self) -> bool:
        """Whether both seats are taken."""
        return None not in self._seats

    @property
    def is_empty(self) -> bool:
        """Whether both seats are free."""
        return self._seats == [None, None]

    def sit(self, player: S) -> None:
        """Seat a player on the free seat. Raises ValueError if there is none.

        Position 0 goes to the player that moved first in the last game. If that player has left, it goes to
        the newcomer. The number of games is reset to 0.
        """
        self._seats[self._seats.index(None)] = player
        if self._games and self._games % 2 == 0:
            self._seats.reverse()
        self._games = 0

    def resume(self, player: S, position: Position, games: int) -> None:
        """Seat `player` at `position`, or on the other seat if that is taken, after `games` games.

        The numbers of games of the two players may differ by one, since one node may not know the last game.
        If they differ by more, the number is reset to 0.
        """
        is_same = self.is_empty or abs(games - self._games) <= 1
        self._seats[position if self._seats[position] is None else 1 - position] = player
        self._games = max(games, self._games) if is_same else 0

    def rise(self, player: S) -> None:
        """Free the seat of `player`."""
        self._seats[self._seats.index(player)] = None

    def seated(self) -> list[tuple[S, Position, int]]:
        """Return the players at the table, with their positions and the number of games."""
        both = zip(self._seats, POSITIONS, strict=True)
        return [(player, position, self._games) for player, position in both if player is not None]

    def pair(self) -> tuple[S, S] | None:
        """Return the two players, the first mover of the next game first; None while a seat is free."""
        one, two = self._seats
        if one is None or two is None:
            return None
        return (two, one) if self._games & 1 else (one, two)

    def played(self) -> None:
        """Count a game that the two have begun."""
        self._games += 1

    def has_opened(self, times: int) -> bool:
        """Whether each of the two has had the first move at least `times` times."""
        return self._games >= 2 * times


class Tables(Generic[S]):
    """All tables. Several can have the same name only if the players of several nodes were taken over."""

    def __init__(self) -> None:
        self._named: dict[str, list[Table[S]]] = {}

    def values(self) -> list[Table[S]]:
        """Return all tables."""
        return [table for tables in self._named.values() for table in tables]

    def are_full(self, key: str) -> bool:
        """Whether there are tables with this name, and all are full."""
        return key in self._named and all(table.is_full for table in self._named[key])

    def seated(self, key: str) -> list[S]:
        """Return the players at the tables with this name."""
        return [player for table in self._named.get(key, ()) for player, _, _ in table.seated()]

    def free(self, key: str, name: str) -> Table[S]:
        """Return a table with this name and a free seat. Create one if there is none."""
        tables = self._named.setdefault(key, [])
        table = next((table for table in tables if not table.is_full), None)
        if table is None:
            table = Table(key, name)
            tables.append(table)
        return table

    def clear(self, key: str) -> tuple[S, Table[S]] | None:
        """Remove empty tables with this name. If two players sit alone, move one to the other's table.

        Return the player that was moved, and its new table; None if no player was moved.
        """
        tables = [table for table in self._named.pop(key) if not table.is_empty]
        moved = None
        alone = [table for table in tables if not table.is_full]
        if len(alone) > 1:
            one, other = alone
            [(player, _, _)] = other.seated()
            one.sit(player)
            moved = player, one
            tables.remove(other)
        if tables:
            self._named[key] = tables
        return moved


class LargeTable(Protocol):
    """A table of a tournament, which has any number of seats and decides who plays whom."""

    is_stirred: bool
    """Whether a pair may have become possible since the latest call of `pairs`."""

    @property
    def key(self) -> str:
        """The casefolded name."""

    @property
    def name(self) -> str:
        """The name, for results."""

    @property
    def grace(self) -> float:
        """Seconds for which a seat is kept during a game for a player whose connection broke."""

    def admits(self, name: str) -> bool:
        """Whether a player of this name may sit down now."""

    def seated(self) -> list[int]:
        """Return the seats at the table."""

    def sit(self, seat: int, name: str) -> None:
        """Seat a player."""

    def rise(self, seat: int) -> None:
        """Free a seat."""

    def wait(self, seat: int) -> None:
        """Record that the player on a seat waits for an opponent."""

    def pairs(self) -> Iterator[tuple[int, int, int, Scheduled]]:
        """Yield the series that can begin.

        Each has the seats of the first and of the second mover, the number of games, and which games they
        are. The players of a series no longer wait.
        """

    def began(self, scheduled: Scheduled) -> None:
        """Count a game of a series that has begun."""

    def finished(self, scheduled: Scheduled) -> None:
        """Record that a series is over, or was not started."""

    def resume(self, scheduled: Scheduled) -> None:
        """Record a series that is on. Its games that had begun before are not told again by `began`."""

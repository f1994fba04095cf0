"""Tables: two seats under a name, for players who agreed on it.

Knows who sits where and who opens the next game. Does not know when a player is ready, or whether it is
still there.

The player at position 0 opens the first game of two players, and the opening swaps with every game
that they play on. A newcomer takes the position that the one who left had in their last game, and the two
count from the start. Whoever keeps a player's position and the number of games can seat it as it sat.
"""

from typing import Generic, Literal, TypeAlias, TypeVar

Position: TypeAlias = Literal[0, 1]
POSITIONS: tuple[Position, Position] = (0, 1)
S = TypeVar("S")


class Table(Generic[S]):
    """Two seats and the players on them."""

    def __init__(self, key: str, name: str | None = None) -> None:
        self.key = key
        self.name = key if name is None else name
        """The table's name as the first to sit down wrote it."""
        self._seats: list[S | None] = [None, None]
        self._games = 0

    @property
    def is_full(self) -> bool:
        """Whether both seats are taken."""
        return None not in self._seats

    @property
    def is_empty(self) -> bool:
        """Whether the table is empty."""
        return self._seats == [None, None]

    def sit(self, player: S) -> None:
        """Seat a newcomer on the free seat; ValueError where there is none.

        The position of the player that opened the last game is 0 afterwards.
        """
        self._seats[self._seats.index(None)] = player
        if self._games and self._games % 2 == 0:
            self._seats.reverse()
        self._games = 0

    def resume(self, player: S, position: Position, games: int) -> None:
        """Seat `player` where it sat after `games` games; on the other seat if that one is taken.

        The two need not have heard of the same number of games: one may not know the last one yet.
        """
        is_same = self.is_empty or abs(games - self._games) <= 1
        self._seats[position if self._seats[position] is None else 1 - position] = player
        self._games = max(games, self._games) if is_same else 0

    def rise(self, player: S) -> None:
        """Free the seat of `player`."""
        self._seats[self._seats.index(player)] = None

    def seated(self) -> list[tuple[S, Position, int]]:
        """Return the players who sit here, with their positions and the number of their games."""
        both = zip(self._seats, POSITIONS, strict=True)
        return [(player, position, self._games) for player, position in both if player is not None]

    def pair(self) -> tuple[S, S] | None:
        """Return the two players, who opens the next game first; None while a seat is free."""
        one, two = self._seats
        if one is None or two is None:
            return None
        return (two, one) if self._games & 1 else (one, two)

    def played(self) -> None:
        """Count a game that the two have begun."""
        self._games += 1

    def has_opened(self, times: int) -> bool:
        """Whether each of the two has opened a game `times` times since they sat down."""
        return self._games >= 2 * times


class Tables(Generic[S]):
    """All tables. There are several of one name only where this took over from several servers."""

    def __init__(self) -> None:
        self._named: dict[str, list[Table[S]]] = {}

    def values(self) -> list[Table[S]]:
        """Return all tables."""
        return [table for tables in self._named.values() for table in tables]

    def are_full(self, key: str) -> bool:
        """Whether there is a table of the name, and no seat free."""
        return key in self._named and all(table.is_full for table in self._named[key])

    def seated(self, key: str) -> list[S]:
        """Return who sits at the tables of the name."""
        return [player for table in self._named.get(key, ()) for player, _, _ in table.seated()]

    def free(self, key: str, name: str) -> Table[S]:
        """Return a table with a free seat."""
        tables = self._named.setdefault(key, [])
        table = next((table for table in tables if not table.is_full), None)
        if table is None:
            table = Table(key, name)
            tables.append(table)
        return table

    def clear(self, key: str) -> tuple[S, Table[S]] | None:
        """Remove a table that a player's leaving made empty. Two who sit alone are seated together.

        Return the one of these that has moved, and the table where it sits now.
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

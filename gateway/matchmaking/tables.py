"""Tables: two seats under a name, for players who agreed on it.

Knows who sits where and who opens the next game. Does not know when a player is ready, or whether it is
still there.

The player at position 0 opens the first game of two players, and the opening swaps with every game
that they play on. A newcomer takes the position that the one who left had in their last game, and the two
count from the start.
"""

from typing import Generic, TypeVar

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
        """Whether nobody sits here."""
        return self._seats == [None, None]

    def sit(self, player: S) -> None:
        """Seat `player` on the free seat; ValueError where there is none."""
        self._seats[self._seats.index(None)] = player
        self._games = 0

    def rise(self, player: S) -> None:
        """Free the seat of `player`. The player that opened the last game is at position 0 afterwards."""
        if self._games and self._games % 2 == 0:
            self._seats.reverse()
        self._seats[self._seats.index(player)] = None
        self._games = 0

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

"""The server's own players: whom they come to, and when.

Knows who wishes for one of them, and who in the lobby has been without an opponent for long enough. Does
not know who plays whom: the hub lets a player who comes meet the one it comes to.
"""

from gateway.game.commands import Wish
from gateway.hub.seat import House, Opponent, Seat
from gateway.hub.timers import Timers


class HouseMatching:
    """For those who would play nobody, or who wish for one of the server's own."""

    def __init__(self, after: float, timers: Timers) -> None:
        """`after` is how many seconds somebody waits in the lobby before one of them comes uncalled."""
        self.house: House | None = None
        """Where they come from; without it nobody comes, and a wish for one waits for ever."""
        self._after = after
        self._timers = timers

    def is_missing(self, wish: Wish | None, seat: Seat, name: str) -> bool:
        """Whether a player of the server's own is wished for that cannot come to `seat`, called `name`."""
        if wish is None or not wish.is_for_house or self.house is None:
            return False
        return not self.house.has(wish.name.casefold(), Opponent(seat.origin, name, seat.manners.clocked))

    def called_by(self, seat: Seat, now: float) -> str | None:
        """Return whom a seat that begins to wait wishes for; one without a wish gets an alarm instead."""
        guest = seat.guest
        if guest is None or self.house is None:
            return None
        if guest.wish is None:
            self._timers.lonely.set(seat, now + self._after)
            return None
        return self.wished_by(seat)

    def wished_by(self, seat: Seat) -> str | None:
        """Return which player of the server's own a seat in the lobby wishes for, if it does."""
        wish = None if seat.guest is None or self.house is None else seat.guest.wish
        return wish.name.casefold() if wish is not None and wish.is_for_house else None

    def uncalled(self, seat: Seat, now: float) -> str | None:
        """Return who comes to a seat that was alone until now, or nobody; later it is another's turn."""
        if self.house is None:
            return None
        self._timers.lonely.set(seat, now + self._after)
        return self.house.lobby_player(_opponent(seat))

    def summon(self, name: str, guest: Seat, now: float) -> Seat:
        """Return the seat of the player called `name`, who has just come to `guest`."""
        assert self.house is not None
        seat = self.house.summon(name, _opponent(guest), now)
        seat.name = name
        return seat


def _opponent(seat: Seat) -> Opponent:
    assert seat.name is not None
    return Opponent(seat.origin, seat.name, seat.manners.clocked)

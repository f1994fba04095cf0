"""Who is let in, and what stands against it.

Knows names, wishes and what a seat's situation allows. Does not know series or time: the hub lets those
who were let in wait, and says when somebody goes.
"""

from typing import assert_never

from gateway.game.commands import LOBBY, Enter, InLobby, Place, Wish, is_house_name, is_too_long
from gateway.game.events import NOTHING, Objection
from gateway.game.session import opposite
from gateway.hub.house import HouseMatching
from gateway.hub.seat import Gone, Out, Seat, Seated, Waiting
from gateway.hub.waiting import WaitingRoom


class Admission:
    """Decides who may enter."""

    def __init__(self, waiting_room: WaitingRoom, house_matching: HouseMatching) -> None:
        self._waiting_room = waiting_room
        self._house_matching = house_matching
        self._unique: set[str] = set()

    def objections(self, seat: Seat, command: Enter) -> Objection:
        """Return what stands against the seat's entering."""
        objections = standing(seat) & ~Objection.NOT_ENTERED
        if command.name is None and seat.name is None:
            objections |= Objection.NO_NAME
        if seat.manners.unique_name and command.name in self._unique:
            objections |= Objection.NAME_TAKEN
        objections |= unfitness(command.name, command.place)
        if self._waiting_room.is_full(command.place) and (
            objections or not self._waiting_room.is_at(seat, command.place)
        ):
            objections |= Objection.TABLE_FULL
        if self._house_matching.is_missing(_wish(command.place), seat, command.name or seat.name or ""):
            objections |= Objection.NOT_AVAILABLE
        return objections

    def goes_on(self, seat: Seat, seated: Seated, name: str, place: Place) -> bool:
        """Whether a player who enters as `name` wants the next round of the series that its seat is in."""
        players = seated.series.session.players
        if name != players[seated.number].name or not self._waiting_room.is_at(seat, place):
            return False
        wish = _wish(place)
        return wish is None or wish.grants(players[opposite(seated.number)].name)

    def let_in(self, seat: Seat, name: str, place: Place) -> None:
        """Let a seat into the waiting room, under a name; from another place or name there it goes."""
        if name != seat.name or not self._waiting_room.is_at(seat, place):
            self._waiting_room.leave(seat)
        seat.name, seat.place = name, place
        if seat.manners.unique_name:
            self._unique.add(name)
        if not self._waiting_room.is_at(seat, place):
            self._waiting_room.enter(seat, place)

    def let_out(self, seat: Seat) -> None:
        """Let a seat go for good, and its name be another's."""
        self._waiting_room.leave(seat)
        if seat.manners.unique_name and seat.place is not None and seat.name is not None:
            self._unique.discard(seat.name)


def unfitness(name: str | None, place: Place = LOBBY) -> Objection:
    """Return what stands against a name, if one is given, and the name of a place, whoever gives them."""
    if is_too_long(name, place):
        return Objection.TOO_LONG
    return Objection.NAME_RESERVED if name is not None and is_house_name(name) else NOTHING


def standing(seat: Seat) -> Objection:
    """Return what the seat's own situation says against anything but a move."""
    match seat.situation:
        case Seated(series, _, ready):
            if series.is_playing:
                return Objection.PLAYING
            return Objection.WAITING if ready else Objection.NOT_ENTERED
        case Waiting():
            return Objection.WAITING
        case Out() | Gone():
            return Objection.NOT_ENTERED
        case _:
            assert_never(seat.situation)


def _wish(place: Place) -> Wish | None:
    return place.wish if isinstance(place, InLobby) else None

"""The one place where players and their series come together.

Takes commands and tells players what came of them, through their seats. Synchronous: a command has had
all its effects when `submit` returns, so under one event loop nothing ever happens in between. Knows
no dialect and no network, and reads no clock: the time comes in as `now`.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import assert_never

from gateway.alarms import Alarms
from gateway.commands import (
    Ask,
    Command,
    Enter,
    InLobby,
    Introduce,
    Leave,
    Play,
    Unfit,
    Unreadable,
    Wish,
)
from gateway.events import NOTHING, Dismissed, Entered, Introduced, Objection, Reason, Refused, ToMove, Why
from gateway.hall import Hall
from gateway.manners import Afterwards, Illegal, Manners
from gateway.seat import House, Mailbox, Seat, Stance
from gateway.session import Finished, Note, Phase, Session, Terms, opposite

CROSSING = 0.5
"""Seconds that a player who owed a move gets no new game, so that the move finds none to hit."""


@dataclass(frozen=True, slots=True)
class Rules:
    """How a server pairs and times its players."""

    terms: Terms = field(default_factory=Terms)
    games_per_pair: int = 10
    """How often each of two who both stand by opens a game against the other; 0 for no limit."""
    rejoin: float = 10.0
    """Seconds that a seat is kept for a player who has to ask again for the next game."""
    house_after: float = 5.0
    """Seconds that a player waits in the lobby before it meets one of the server's own."""


class Hub:
    """All players, and the series that are on."""

    def __init__(
        self, rules: Rules, lot: random.Random, report: Callable[[Finished], None] = lambda _: None
    ) -> None:
        self._rules = rules
        self._report = report
        self._hall = Hall(lot, rules.games_per_pair)
        self._seats: dict[Seat, None] = {}
        self._series: dict[Session, tuple[Seat, Seat]] = {}
        self._unique: set[str] = set()
        self._flags: Alarms[Seat] = Alarms()
        self._rests: Alarms[Seat] = Alarms()
        self._rejoins: Alarms[Seat] = Alarms()
        self._entries: Alarms[Seat] = Alarms()
        self._lonely: Alarms[Seat] = Alarms()
        self._house: House | None = None
        self._closed = False

    def __len__(self) -> int:
        """Return how many players are here, whatever they do."""
        return len(self._seats)

    def engage(self, house: House) -> None:
        """Let the players of `house` be asked for. Without, a wish for one of them waits for ever."""
        self._house = house

    def open(self, mailbox: Mailbox, manners: Manners, now: float) -> Seat:
        """Return a seat for a player who has just come and has not entered yet."""
        seat = Seat(mailbox, manners)
        if self._closed:
            seat.stance = Stance.GONE
            seat.deliver(Dismissed(Why.STOPPED))
            return seat
        self._seats[seat] = None
        if manners.entry_limit is not None:
            self._entries.set(seat, now + manners.entry_limit)
        return seat

    def submit(self, seat: Seat, command: Command, now: float) -> None:
        """Carry out or refuse a command; `now` is when it was read. Of a seat that is gone it is void."""
        if seat.stance is Stance.GONE:
            return
        match command:
            case Play():
                self._play(seat, command, now)
            case Ask():
                self._ask(seat, command, now)
            case Enter():
                self._enter(seat, command, now)
            case Introduce():
                self._introduce(seat, command, now)
            case Unfit():
                self._refuse(seat, Refused(_standing(seat) | Objection.UNFIT, command.to), now)
            case Unreadable():
                self._refuse(seat, Refused(_standing(seat) | Objection.UNREADABLE, command.to), now)
            case Leave():
                self._leave(seat, Dismissed(Why.LEFT), now)
            case _:
                assert_never(command)

    def handed(self, seat: Seat, request: ToMove, now: float) -> None:
        """Note that a request to move left for the seat's client at `now`, and so its time runs."""
        if seat.session is not None:
            deadline = seat.session.handed(request, now)
            if deadline is not None:
                self._flags.set(seat, deadline)

    def tick(self, now: float) -> list[Seat]:
        """Do what is due, and return the seats whose time is up. These lose nothing before `flag`."""
        for seat in self._rests.due(now):
            self._rested(seat, now)
        for seat in self._rejoins.due(now):
            self._missed(seat, now)
        for seat in self._entries.due(now):
            if seat.place is None:
                self._leave(seat, Dismissed(Why.SILENT), now)
        for seat in self._lonely.due(now):
            self._entertain(seat, now)
        self._settle(now)
        return list(self._flags.due(now))

    def flag(self, seat: Seat, now: float) -> None:
        """Let the seat lose on time, unless its move has been read meanwhile."""
        if seat.session is not None:
            self._tell(seat.session, seat.session.flag(seat.number, now), now)

    def next_alarm(self) -> float | None:
        """Return a time before which `tick` has nothing to do; None where nothing is due at all."""
        alarms = (self._flags, self._rests, self._rejoins, self._entries, self._lonely, self._hall)
        times = [alarm.next_due() for alarm in alarms]
        return min((when for when in times if when is not None), default=None)

    def close(self, now: float) -> None:
        """Say good-bye to everybody, those who come later too. A game that is on ends without a winner."""
        self._closed = True
        for session, seats in self._series.items():
            session.stop(now)
            self._keep_result(session)
            for seat in seats:
                seat.session = None
        self._series.clear()
        for seat in tuple(self._seats):
            self._dismiss(seat, Dismissed(Why.STOPPED))

    # Commands.

    def _play(self, seat: Seat, command: Play, now: float) -> None:
        session = seat.session
        if seat.crossing:
            seat.crossing = False
            if seat.resting:
                self._rested(seat, now)
        elif session is not None and session.phase is Phase.PLAYING:
            notes = session.play(seat.number, command, now)
            if session.deadline is None:
                self._flags.cancel(seat)
            self._tell(session, notes, now)
        else:
            objections = _standing(seat)
            if command.column is None:
                objections |= Objection.NOT_A_COLUMN
            self._refuse(seat, Refused(objections, command.to), now)
            if seat.manners.illegal is Illegal.FORFEIT and Objection.WAITING in objections:
                self._leave(seat, Dismissed(Why.FORFEIT), now)

    def _ask(self, seat: Seat, command: Ask, now: float) -> None:
        if seat.session is not None and seat.session.phase is Phase.PLAYING:
            seat.deliver(seat.session.show())
        else:
            self._refuse(seat, Refused(_standing(seat), command.to), now)

    def _introduce(self, seat: Seat, command: Introduce, now: float) -> None:
        seat.name, seat.counted = command.name, command.counted
        seat.deliver(Introduced(command.name))
        if seat.stance is Stance.WAITING:
            self._hall.rename(seat)
            self._settle(now)

    def _enter(self, seat: Seat, command: Enter, now: float) -> None:
        objections = self._against_entering(seat, command)
        name = command.name if command.name is not None else seat.name
        if objections or name is None:
            self._refuse(seat, Refused(objections | _unnamed(name), command.to), now)
        elif seat.session is not None and self._goes_on(seat, seat.session, name, command):
            seat.ready = True
            self._rejoins.cancel(seat)
            seat.deliver(Entered(name))
            self._begin_if_ready(seat.session, now)
        else:
            self._admit(seat, name, command, now)

    def _leave(self, seat: Seat, farewell: Dismissed, now: float) -> None:
        if seat.session is not None:
            self._tell(seat.session, seat.session.leave(seat.number, now), now)
        self._dismiss(seat, farewell)
        self._settle(now)

    def _refuse(self, seat: Seat, refused: Refused, now: float) -> None:
        seat.deliver(refused)
        if seat.manners.strict_entry and seat.place is None:
            self._leave(seat, Dismissed(Why.REFUSED, refused.objections), now)

    # Coming in.

    def _against_entering(self, seat: Seat, command: Enter) -> Objection:
        objections = _standing(seat) & ~Objection.NOT_ENTERED
        if seat.manners.unique_name and command.name in self._unique:
            objections |= Objection.NAME_TAKEN
        if self._hall.is_full(command.place) and (objections or not self._hall.is_at(seat, command.place)):
            objections |= Objection.TABLE_FULL
        if self._is_absent(_wish(command)):
            objections |= Objection.NOT_AVAILABLE
        return objections

    def _is_absent(self, wish: Wish | None) -> bool:
        """Whether a player of the server's own is wished for that cannot come."""
        if wish is None or not wish.is_for_house or self._house is None:
            return False
        return not self._house.has(wish.name.casefold())

    def _goes_on(self, seat: Seat, session: Session, name: str, command: Enter) -> bool:
        """Whether the command asks for the next round of the series that the seat is in."""
        if name != session.players[seat.number].name or not self._hall.is_at(seat, command.place):
            return False
        wish = _wish(command)
        if wish is None:
            return True
        return wish.grants(session.players[opposite(seat.number)].name) and not wish.is_for_house

    def _admit(self, seat: Seat, name: str, command: Enter, now: float) -> None:
        if seat.session is not None:
            self._tell(seat.session, seat.session.leave(seat.number, now), now)
        self._rejoins.cancel(seat)
        if name != seat.name or not self._hall.is_at(seat, command.place):
            self._hall.leave(seat)
        seat.name, seat.place = name, command.place
        if seat.manners.unique_name:
            self._unique.add(name)
        if not self._hall.is_at(seat, command.place):
            self._hall.enter(seat, command.place)
        seat.deliver(Entered(name))
        self._wait(seat, now)
        self._settle(now)

    # Series.

    def _start(self, one: Seat, two: Seat, now: float) -> None:
        session = Session((one.player(), two.player()), self._rules.terms)
        self._series[session] = (one, two)
        one.number, two.number = 0, 1
        for seat in (one, two):
            seat.session, seat.ready, seat.stance = session, True, Stance.SEATED
            self._lonely.cancel(seat)
        self._hall.playing(session.players[0].name, session.players[1].name)
        self._begin_if_ready(session, now)

    def _begin_if_ready(self, session: Session, now: float) -> None:
        seats = self._series[session]
        if all(seat.ready and not seat.resting for seat in seats):
            notes = session.begin()
            self._hall.opened(seats[0], *session.names)
            self._tell(session, notes, now)

    def _tell(self, session: Session, notes: list[Note], now: float) -> None:
        """Deliver what happened in a session, then do what follows from it."""
        seats = self._series[session]
        for number, event in notes:
            if isinstance(event, ToMove):
                seats[number].crossing = False
            seats[number].deliver(event)
        if session.finished is not None:
            self._game_over(session, seats, now)
        if session.phase is Phase.OVER:
            self._series_over(session, now)
        elif session.phase is Phase.BETWEEN:
            self._begin_if_ready(session, now)

    def _game_over(self, session: Session, seats: tuple[Seat, Seat], now: float) -> None:
        self._keep_result(session)
        for seat in seats:
            self._flags.cancel(seat)
            if seat.steps_out:
                seat.ready = False
                self._rejoins.set(seat, now + self._rules.rejoin)
            elif session.owed == seat.number:
                seat.resting = seat.crossing = True
                self._rests.set(seat, now + CROSSING)

    def _keep_result(self, session: Session) -> None:
        if session.finished is not None:
            self._report(session.finished)
            session.finished = None

    def _series_over(self, session: Session, now: float) -> None:
        seats = self._series.pop(session)
        self._hall.played(session.players[0].name, session.players[1].name)
        for seat in seats:
            seat.session = None
        for seat in seats:
            farewell = _farewell(seat, session)
            if farewell is not None:
                self._dismiss(seat, farewell)
            elif not seat.ready or session.broken == (seat.number, Reason.LEFT):
                seat.stance = Stance.OUT
                if seat.table is None:
                    self._hall.leave(seat)
            else:
                self._wait(seat, now)
        self._settle(now)

    # Waiting, and going.

    def _wait(self, seat: Seat, now: float) -> None:
        seat.stance, seat.ready = Stance.WAITING, True
        if seat.resting:
            return
        self._hall.wait(seat, now)
        if seat.guest is None or self._house is None or seat.manners.house:
            return
        if seat.guest.wish is None:
            self._lonely.set(seat, now + self._rules.house_after)
        elif seat.guest.wish.is_for_house:
            self._summon(seat.guest.wish.name.casefold(), seat, now)

    def _settle(self, now: float) -> None:
        for one, two in self._hall.pairs(now):
            self._start(one, two, now)

    def _rested(self, seat: Seat, now: float) -> None:
        """Let a seat have its next game."""
        self._rests.cancel(seat)
        seat.resting = False
        if seat.session is not None:
            self._begin_if_ready(seat.session, now)
        else:
            self._wait(seat, now)
            self._settle(now)

    def _entertain(self, seat: Seat, now: float) -> None:
        """Let a player of the server's own come to a seat for which the lobby has nobody."""
        if seat.stance is not Stance.WAITING or seat.guest is None or self._house is None:
            return
        name = self._house.lobby_player()
        if name is not None:
            self._summon(name, seat, now)
            self._lonely.set(seat, now + self._rules.house_after)

    def _summon(self, name: str, guest: Seat, now: float) -> None:
        assert self._house is not None
        assert guest.name is not None
        seat = self._house.summon(name, now)
        seat.name, seat.place = name, InLobby(Wish(guest.name))
        self._hall.enter(seat, seat.place)
        self._wait(seat, now)
        self._settle(now)
        if seat.stance is Stance.WAITING:  # the two may not meet: they have had their games
            self._dismiss(seat, Dismissed(Why.SERIES_OVER))

    def _missed(self, seat: Seat, now: float) -> None:
        """Keep no seat any longer for a player who has not asked again."""
        if seat.session is not None:
            self._tell(seat.session, seat.session.leave(seat.number, now), now)
        self._hall.leave(seat)

    def _dismiss(self, seat: Seat, farewell: Dismissed) -> None:
        self._hall.leave(seat)
        for alarms in (self._flags, self._rests, self._rejoins, self._entries, self._lonely):
            alarms.cancel(seat)
        if seat.manners.unique_name and seat.place is not None and seat.name is not None:
            self._unique.discard(seat.name)
        self._seats.pop(seat, None)
        seat.stance = Stance.GONE
        seat.deliver(farewell)


def _wish(command: Enter) -> Wish | None:
    return command.place.wish if isinstance(command.place, InLobby) else None


def _unnamed(name: str | None) -> Objection:
    return Objection.NO_NAME if name is None else NOTHING


def _standing(seat: Seat) -> Objection:
    """Return what the seat's own situation says against anything but a move."""
    session = seat.session
    if session is not None and session.phase is Phase.PLAYING:
        return Objection.PLAYING
    if seat.stance is Stance.OUT or not seat.ready:
        return Objection.NOT_ENTERED
    return Objection.WAITING


def _farewell(seat: Seat, session: Session) -> Dismissed | None:
    """Return how the seat is hung up on with the end of its series; None where it is not."""
    if seat.manners.house:
        return Dismissed(Why.SERIES_OVER)
    if session.broken is None:
        return Dismissed(Why.SERIES_OVER) if seat.manners.afterwards is Afterwards.HANG_UP else None
    number, reason = session.broken
    if reason is Reason.LEFT:
        return None
    if number == seat.number:
        return Dismissed(Why.TIME if reason is Reason.TIME else Why.FORFEIT)
    both = (player.manners.afterwards is Afterwards.HANG_UP for player in session.players)
    return Dismissed(Why.SERIES_OVER) if all(both) else None

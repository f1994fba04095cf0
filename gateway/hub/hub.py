"""The one place where players and their series come together.

Takes commands and tells players what came of them, through their seats. Synchronous: a command has had
all its effects when `submit` returns, so under one event loop nothing ever happens in between. Knows
no dialect and no network, and reads no clock: the time comes in as `now`.

`Admission` lets players in, `WaitingRoom` pairs them, `HouseMatching` finds house players for those who wait,
`SeriesRunner` plays their series, and `Timers` say what is due. The hub owns them all and passes seats from
one to the next.
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import assert_never

from gateway.game.commands import Ask, Command, Enter, Introduce, Leave, Play, Unfit, Unreadable
from gateway.game.events import Dismissed, Entered, Introduced, Objection, Overlooked, Refused, Why
from gateway.game.ids import GameId, game_ids
from gateway.game.manners import Illegal, Manners
from gateway.game.results import NoResults, Results
from gateway.game.session import Terms
from gateway.hub.admission import Admission, standing, unfitness
from gateway.hub.boundary import Boundary, OnFault, reraise
from gateway.hub.house import HouseMatching
from gateway.hub.seat import Gone, House, Mailbox, Owed, Seat, Seated, Waiting
from gateway.hub.series import Parting, SeriesRunner
from gateway.hub.timers import Timers
from gateway.hub.waiting import WaitingRoom

ABSENCE = 1.0
"""Seconds until a player is asked for again that could not be reached when its game was to begin."""


@dataclass(frozen=True, slots=True)
class Rules:
    """How a server pairs and times its players."""

    terms: Terms = field(default_factory=Terms)
    games_per_pair: int = 10
    """How often each of two who both stand by opens a game against the other; 0 for no limit."""
    house_after: float = 5.0
    """Seconds that a player waits in the lobby before it meets one of the server's own."""


class Hub:
    """All players, and the series that are on."""

    def __init__(
        self,
        rules: Rules,
        lot: random.Random,
        results: Results | None = None,
        on_fault: OnFault = reraise,
        games: Iterator[GameId] | None = None,
    ) -> None:
        """`results` is given each game that is over before its players hear of that. By default none is kept.

        Games get the ids `games`, those of run 0 unless given.
        `on_fault` hears of our own mistakes, each of which has cost no more than one game by then.
        """
        self.results = results or NoResults()
        self._timers = Timers()
        self._waiting_room = WaitingRoom(lot, rules.games_per_pair)
        self._house_matching = HouseMatching(rules.house_after, self._timers)
        self._admission = Admission(self._waiting_room, self._house_matching)
        self._runner = SeriesRunner(
            rules.terms,
            self._waiting_room,
            self._timers,
            self.results,
            games or game_ids(0),
        )
        self._seats: dict[Seat, None] = {}
        self._boundary = Boundary(self._seats, self._admission, self._runner, self._timers, on_fault)
        self._closed = False

    def __len__(self) -> int:
        """Return how many players are here, whatever they do."""
        return len(self._seats)

    def engage(self, house: House) -> None:
        """Let the players of `house` be asked for. Without, a wish for one of them waits for ever."""
        self._house_matching.house = house

    def open(self, mailbox: Mailbox, manners: Manners, now: float, origin: str = "") -> Seat:
        """Return a seat for a player who has just come, from `origin`, and has not entered yet."""
        seat = Seat(mailbox, manners, origin=origin)
        if self._closed:
            seat.dismiss(Dismissed(Why.STOPPED))
            return seat
        self._seats[seat] = None
        if manners.entry_limit is not None:
            self._timers.entries.set(seat, now + manners.entry_limit)
        return seat

    def submit(self, seat: Seat, command: Command, now: float) -> None:
        """Carry out or refuse a command; `now` is when it arrived. Of a seat that is gone it is void."""
        match command:
            case Play():  # nearly all commands are
                self._play(seat, command, now)
            case _ if isinstance(seat.situation, Gone):
                pass
            case Ask():
                self._ask(seat, command, now)
            case Enter():
                self._enter(seat, command, now)
            case Introduce():
                self._introduce(seat, command, now)
            case Unfit():
                self._refuse(seat, Refused(standing(seat) | Objection.UNFIT, command.to), now)
            case Unreadable():
                self._refuse(seat, Refused(standing(seat) | Objection.UNREADABLE, command.to), now)
            case Leave():
                self._leave(seat, Dismissed(Why.LEFT), now)
            case _:
                assert_never(command)

    def handed(self, seat: Seat, game: GameId, number: int, now: float) -> None:
        """Note that the request to move of that number left for the seat's client at `now`: its time runs."""
        try:
            self._runner.handed(seat, game, number, now)
        except Exception:
            self._boundary.cut_off((seat,), now)

    def tick(self, now: float) -> list[Seat]:
        """Do what is due, and return the seats whose time is up. These lose nothing before `flag`."""
        timers, around = self._timers, self._boundary.around
        for seat in timers.rests.due(now):
            with around(now, seat):
                if not self._runner.rests_on(seat, now):
                    self._rested(seat, Owed.LATE, now)
        for seat in timers.rejoins.due(now):
            with around(now, seat):
                self._missed(seat, now)
        for seat in timers.entries.due(now):
            with around(now, seat):
                if seat.place is None:
                    self._leave(seat, Dismissed(Why.SILENT), now)
        for seat in timers.lonely.due(now):
            with around(now, seat):
                self._summon(self._house_matching.uncalled(seat, now), seat, now)
        for seat in timers.absences.due(now):
            with around(now, seat):
                self._look_for(seat, now)
        self._settle(now)
        late: list[Seat] = []
        for series in timers.flags.due(now):
            with around(now, *series.seats):
                late += timers.flags.late(series)
        return late

    def flag(self, seat: Seat, now: float) -> None:
        """Let the seat lose on time, unless its move has been read meanwhile."""
        self._part(self._runner.flag(seat, now), now)

    def next_alarm(self) -> float | None:
        """Return a time before which `tick` has nothing to do; None where nothing is due at all."""
        times = self._timers.next_due(), self._waiting_room.next_due()
        return min((when for when in times if when is not None), default=None)

    def close(self, now: float) -> None:
        """Say good-bye to everybody, those who come later too. A game that is on ends without a winner."""
        self._closed = True
        situations = [seat.situation for seat in self._seats]
        for series in dict.fromkeys(each.series for each in situations if isinstance(each, Seated)):
            with self._boundary.around(now, *series.seats):
                self._runner.stop(series, now)
        for seat in tuple(self._seats):
            with self._boundary.around(now, seat):
                self._dismiss(seat, Dismissed(Why.STOPPED))

    # Commands.

    def _play(self, seat: Seat, command: Play, now: float) -> None:
        situation = seat.situation
        if seat.owed is not None:
            seat.deliver(Overlooked(seat.owed_game))
            self._rested(seat, None, now)
        elif isinstance(situation, Seated) and situation.series.is_playing:
            partings = self._runner.play(situation, command, now)
            if partings:
                self._part(partings, now)
        elif not isinstance(situation, Gone):
            objections = standing(seat)
            if command.column is None:
                objections |= Objection.NOT_A_COLUMN
            self._refuse(seat, Refused(objections, command.to), now)
            if seat.manners.illegal is Illegal.FORFEIT and Objection.WAITING in objections:
                self._leave(seat, Dismissed(Why.FORFEIT), now)

    def _ask(self, seat: Seat, command: Ask, now: float) -> None:
        situation = seat.situation
        if isinstance(situation, Seated) and situation.series.is_playing:
            seat.deliver(situation.series.session.show())
        else:
            self._refuse(seat, Refused(standing(seat), command.to), now)

    def _introduce(self, seat: Seat, command: Introduce, now: float) -> None:
        objections = unfitness(command.name)
        if objections:
            self._refuse(seat, Refused(objections, command.to), now)
            return
        seat.name, seat.counted = command.name, command.counted
        seat.deliver(Introduced(command.name))
        if isinstance(seat.situation, Waiting):
            self._waiting_room.rename(seat)
            self._settle(now)

    def _enter(self, seat: Seat, command: Enter, now: float) -> None:
        objections = self._admission.objections(seat, command)
        name = command.name if command.name is not None else seat.name
        situation = seat.situation
        if objections or name is None:
            self._refuse(seat, Refused(objections, command.to), now)
        elif isinstance(situation, Seated) and self._admission.goes_on(seat, situation, name, command.place):
            seat.situation = Seated(situation.series, situation.number)
            self._timers.rejoins.cancel(seat)
            seat.deliver(Entered(name))
            self._runner.go_on(situation.series, now)
        else:
            self._admit(seat, name, command, now)

    def _admit(self, seat: Seat, name: str, command: Enter, now: float) -> None:
        self._part(self._runner.leave(seat, now), now)
        if isinstance(seat.situation, Gone):
            return  # hit by a fault
        self._timers.rejoins.cancel(seat)
        self._admission.let_in(seat, name, command.place)
        seat.deliver(Entered(name))
        self._wait(seat, now)
        self._settle(now)

    def _leave(self, seat: Seat, farewell: Dismissed, now: float) -> None:
        self._part(self._runner.leave(seat, now), now)
        self._dismiss(seat, farewell)
        self._settle(now)

    def _refuse(self, seat: Seat, refused: Refused, now: float) -> None:
        seat.deliver(refused)
        if seat.manners.strict_entry and seat.place is None:
            self._leave(seat, Dismissed(Why.REFUSED, refused.objections), now)

    # Waiting.

    def _wait(self, seat: Seat, now: float) -> None:
        seat.situation = Waiting()
        if seat.owed is not Owed.SOON:
            self._waiting_room.wait(seat, now)
            self._summon(self._house_matching.called_by(seat, now), seat, now)

    def _settle(self, now: float) -> None:
        while not self._all_paired(now):
            pass
        for seat in self._waiting_room.absent():
            self._timers.absences.set(seat, now + ABSENCE)

    def _all_paired(self, now: float) -> bool:
        """Start what is to be played; return whether that was all. Whom pairing fails for is hung up on."""
        try:
            for one, two in self._waiting_room.pairs(now):
                with self._boundary.around(now, one, two):
                    self._runner.start(one, two, now)
        except Exception:
            suspects = [
                seat for seat in self._waiting_room.suspects() if not isinstance(seat.situation, Gone)
            ]
            self._boundary.cut_off(suspects, now)
            return not suspects
        return True

    def _look_for(self, seat: Seat, now: float) -> None:
        """Let a seat wait again that was set aside, if its player can be reached now."""
        if not seat.waits:
            return
        if seat.mailbox.is_reachable:
            self._waiting_room.take_back(seat)
            self._summon(self._house_matching.wished_by(seat), seat, now)
        else:
            self._timers.absences.set(seat, now + ABSENCE)

    def _rested(self, seat: Seat, owed: Owed | None, now: float) -> None:
        """Let a seat have its next game, if a move that it owed has kept it from one."""
        rests, seat.owed = seat.owed is Owed.SOON, owed
        if not rests:
            return
        self._timers.rests.cancel(seat)
        match seat.situation:
            case Seated(series):
                self._runner.go_on(series, now)
            case Waiting():
                self._wait(seat, now)
                self._settle(now)

    def _summon(self, name: str | None, guest: Seat, now: float) -> None:
        """Let a player of the server's own come to a seat that waits in the lobby, or nobody."""
        if name is None:
            return
        if not guest.mailbox.is_reachable:
            self._timers.absences.set(guest, now + ABSENCE)
            return
        visitor = self._house_matching.summon(name, guest, now)
        with self._boundary.around(now, guest, visitor):
            pair = self._waiting_room.entertained(guest, visitor)
            if pair is None:
                self._dismiss(visitor, Dismissed(Why.SERIES_OVER))
            else:
                self._runner.start(*pair, now)

    # Going.

    def _part(self, partings: Sequence[Parting], now: float) -> None:
        """Let the seats of a series that is over go, step out or wait."""
        for parting in partings:
            with self._boundary.around(now, parting.seat):
                if parting.farewell is not None:
                    self._dismiss(parting.seat, parting.farewell)
                elif parting.waits:
                    self._wait(parting.seat, now)
                elif parting.seat.table is None:
                    self._waiting_room.leave(parting.seat)
        if partings:
            self._settle(now)

    def _missed(self, seat: Seat, now: float) -> None:
        """Keep no seat any longer for a player who has not asked again."""
        self._part(self._runner.leave(seat, now), now)
        self._waiting_room.leave(seat)

    def _dismiss(self, seat: Seat, farewell: Dismissed) -> None:
        self._boundary.let_go(seat, farewell)

"""What the hub does with its seats: carries out a command, lets a seat in, and lets it go.

Knows what each situation allows. Does not know when something is due. What a seat asks for is carried out at
once, except that the matchmaker decides who enters, sooner or later.
"""

from collections.abc import Mapping, Sequence
from typing import assert_never

from gateway.game.commands import (
    LOBBY,
    Ask,
    AtTable,
    Command,
    Denied,
    Enter,
    Introduce,
    Leave,
    Play,
    Unfit,
    Unreadable,
    is_house_name,
    is_too_long,
)
from gateway.game.events import NOTHING, Dismissed, Entered, Introduced, Objection, Overlooked, Refused, Why
from gateway.game.manners import Illegal
from gateway.hub.away import AwayPlayers
from gateway.hub.boundary import Boundary
from gateway.hub.feed import came
from gateway.hub.pairing import Pairing
from gateway.hub.remote import Away
from gateway.hub.seat import Gone, Mailbox, Owed, Question, Seat, Seated, Waiting
from gateway.hub.series import Parting, SeriesRunner
from gateway.hub.timers import Timers
from gateway.matchmaking.matchmaker import Entry, Hosting, Matchmaker


class Actions:
    """All that is done at the wish of a player, or follows from it."""

    def __init__(
        self,
        matchmaker: Matchmaker,
        seats: Mapping[int, Seat],
        timers: Timers,
        runner: SeriesRunner,
        boundary: Boundary,
    ) -> None:
        """`seats` are those of the hub."""
        self.boundary = boundary
        self.pairing = Pairing(matchmaker, seats, timers, runner, boundary)
        self.away = AwayPlayers(self, matchmaker, timers, runner.feed, runner.idle)
        self.answered: list[Mailbox] = []
        """The mailboxes that are to resume."""
        self._matchmaker = matchmaker
        self._seats = seats
        self._timers = timers
        self._runner = runner
        self._feed = runner.feed
        self._is_deciding = False

    def carry_out(self, seat: Seat, command: Command, now: float) -> None:
        """Carry out or refuse a command that arrived at `now`."""
        situation = seat.situation
        if isinstance(command, Play):  # nearly all commands are
            if (
                seat.owed is None
                and isinstance(situation, Seated)
                and situation.series.session.to_move is not None
            ):
                partings = self._runner.play(seat, situation, command, now)
                if partings:
                    self.part(partings, now)
            elif isinstance(situation, Away):
                self.away.play(seat, situation, command, now)
            else:
                self._play_without_game(seat, command, now)
        elif not isinstance(situation, Gone):
            self._carry_out_other(seat, command, now)

    def _carry_out_other(
        self, seat: Seat, command: Introduce | Enter | Ask | Unfit | Unreadable | Denied | Leave, now: float
    ) -> None:
        match command:
            case Ask():
                self._ask(seat, command, now)
            case Enter() | Introduce() | Denied() if seat.question is not None:
                self._refuse(seat, Refused(Objection.WAITING, command.to), now)
            case Enter():
                self.enter(seat, command, now)
            case Introduce():
                self._introduce(seat, command, now)
            case Unfit():
                self._refuse(seat, Refused(seat.standing() | Objection.UNFIT, command.to), now)
            case Unreadable():
                self._refuse(seat, Refused(seat.standing() | Objection.UNREADABLE, command.to), now)
            case Denied():
                seat.ask(command)
                self._timers.denials.set(seat, now + command.pause)
            case Leave():
                self.leave(seat, Dismissed(Why.LEFT), now)
            case _:
                assert_never(command)

    def _play_without_game(self, seat: Seat, command: Play, now: float) -> None:
        """Drop a move that is owed, and refuse any other."""
        if seat.owed is not None:
            seat.deliver(Overlooked(seat.owed_game))
            self.rested(seat, None, now)
        elif not isinstance(seat.situation, Gone):
            objections = seat.standing()
            if command.column is None:
                objections |= Objection.NOT_A_COLUMN
            self._refuse(seat, Refused(objections, command.to), now)
            if seat.manners.illegal is Illegal.FORFEIT and Objection.WAITING in objections:
                self.leave(seat, Dismissed(Why.FORFEIT), now)

    def _ask(self, seat: Seat, command: Ask, now: float) -> None:
        situation = seat.situation
        if isinstance(situation, Away) and situation.begun is not None:
            self.away.ask(situation, command)
        elif isinstance(situation, Seated) and situation.series.is_playing:
            seat.deliver(situation.series.session.show())
        else:
            self._refuse(seat, Refused(seat.standing(), command.to), now)

    def _introduce(self, seat: Seat, command: Introduce, now: float) -> None:
        objections = _unfitness(command)
        if objections:
            self._refuse(seat, Refused(objections, command.to), now)
            return
        if seat.introduce(command.name, counted=command.counted):
            self._feed.publish(came(seat))
        seat.deliver(Introduced(command.name))
        if seat.is_kept:
            self._matchmaker.rename(seat.number, command.name, counted=command.counted)
            self.settle(now)

    def leave(self, seat: Seat, farewell: Dismissed, now: float) -> None:
        """Hang up on a seat, which ends its series."""
        self._leave_series(seat, now)
        self.boundary.let_go(seat, farewell)
        self.settle(now)

    def _refuse(self, seat: Seat, refused: Refused, now: float) -> None:
        seat.deliver(refused)
        if seat.manners.strict_entry and seat.place is None:
            self.leave(seat, Dismissed(Why.REFUSED, refused.objections), now)

    def enter(self, seat: Seat, command: Enter, now: float) -> None:
        """Let a seat go on in its series, or ask the matchmaker to let it in."""
        name = command.name if command.name is not None else seat.name
        objections = seat.standing() & ~Objection.NOT_ENTERED | _unfitness(command)
        if name is None:
            objections |= Objection.NO_NAME
        elif not objections and seat.wants_next_round(name, command.place):
            self._next_round(seat, name, command, now)
            return
        entry = Entry(
            seat=seat.number,
            name=name or "",
            place=command.place,
            counted=seat.counted,
            manners=seat.manners,
            origin=seat.origin,
            against=objections,
            proven=command.proven,
        )
        seat.ask(Question(command, entry))
        self._matchmaker.enter(entry)
        self.settle(now)

    def _next_round(self, seat: Seat, name: str, command: Enter, now: float) -> None:
        if isinstance(seat.situation, Away):
            self.away.go_on(seat.situation, command)
            return
        assert isinstance(seat.situation, Seated)
        series = seat.situation.series
        seat.join(series, seat.situation.number)
        self._timers.rejoins.cancel(seat)
        seat.deliver(Entered(name))
        self._runner.go_on(series, now)

    def settle(self, now: float) -> None:
        """Carry out what the matchmaker answers."""
        pairing = self.pairing
        pairing.settle(now)
        if self._is_deciding:
            return  # whoever has led here goes on with them: there may be hundreds
        self._is_deciding = True
        while pairing.decisions or pairing.deserted:
            with self.boundary.contain(self._matchmaker, now):
                self._follow(now)
        self._is_deciding = False

    def _follow(self, now: float) -> None:
        """Carry out one of the answers that may lead to other questions."""
        pairing = self.pairing
        if not pairing.decisions:
            self._desert(pairing.deserted.popleft(), now)
            return
        decision = pairing.decisions.popleft()
        seat = self._seats.get(decision.seat)
        if seat is not None and seat.question is not None:
            with self.boundary.contain(seat, now):
                self._decide(seat, decision.against, now)
        elif not decision.against:  # it has gone meanwhile
            self._matchmaker.leave(decision.seat)

    def deny(self, seat: Seat, now: float) -> None:
        """Refuse the name that a seat may not bear, now that the answer has waited long enough."""
        denied = self._answered(seat)
        assert isinstance(denied, Denied)
        objections = seat.standing() & ~Objection.NOT_ENTERED | denied.objections
        self._refuse(seat, Refused(objections, denied.to), now)

    def _desert(self, match: Hosting, now: float) -> None:
        """End a series to which its guest never came."""
        for seat in [*self._seats.values()]:
            if isinstance(seat.situation, Seated) and seat.situation.series.match == match:
                visitor = next(each for each in seat.situation.series.seats if each.is_visiting)
                self.part(self._runner.leave(visitor, now, is_lost=True), now)
                return

    def _answered(self, seat: Seat) -> Question | Denied | None:
        """Return what a seat has asked for, and let its mailbox resume."""
        if seat.is_held:
            self.answered.append(seat.mailbox)
        return seat.answered()

    def _decide(self, seat: Seat, against: Objection, now: float) -> None:
        """Answer a seat that has asked to enter, as the matchmaker has decided."""
        question = self._answered(seat)
        assert isinstance(question, Question)
        against |= question.entry.against
        if against:
            self._refuse(seat, Refused(against, question.command.to), now)
        else:
            self._admit(seat, question.entry, now)

    def _admit(self, seat: Seat, entry: Entry, now: float) -> None:
        self._leave_series(seat, now)
        if isinstance(seat.situation, Gone):
            return  # hit by a mistake
        self._timers.rejoins.cancel(seat)
        if seat.enter(entry.name, entry.place):
            self._feed.publish(came(seat))
        seat.deliver(Entered(entry.name))
        self.pairing.wait(seat, now)
        self.settle(now)

    def _leave_series(self, seat: Seat, now: float) -> None:
        if isinstance(seat.situation, Away):
            self.away.leave(seat, seat.situation)
        left = self._runner.leave(seat, now)
        self.part([parting for parting in left if parting.seat is not seat], now)

    def rested(self, seat: Seat, owed: Owed | None, now: float) -> None:
        """Let a seat have its next game, if a move that it owed has kept it from one."""
        if not seat.rest(owed):
            return
        self._timers.rests.cancel(seat)
        match seat.situation:
            case Seated(series):
                self._runner.go_on(series, now)
            case Waiting():
                self.pairing.wait(seat, now)
                self.settle(now)

    def part(self, partings: Sequence[Parting], now: float) -> None:
        """Let the seats of a series that is over go, step out or wait."""
        for parting in partings:
            with self.boundary.contain(parting.seat, now):
                self._depart(parting, now)
        if partings:
            self.settle(now)

    def _depart(self, parting: Parting, now: float) -> None:
        if parting.farewell is not None:
            self.boundary.let_go(parting.seat, parting.farewell)
        elif parting.seat.is_visiting:
            self.boundary.let_go(parting.seat, Dismissed(Why.RETURNED))
        else:
            self.settle_in(parting.seat, now, waits=parting.waits)

    def settle_in(self, seat: Seat, now: float, *, waits: bool) -> None:
        """Let a seat that is in no series any more wait, or have no place, unless that is at a table."""
        if waits:
            self.pairing.wait(seat, now)
        elif not isinstance(seat.place, AtTable):
            self.pairing.give_up_place(seat)


def _unfitness(command: Enter | Introduce) -> Objection:
    """Return what stands against the name that a command gives, and against the name of a place."""
    if is_too_long(command.name, command.place if isinstance(command, Enter) else LOBBY):
        return Objection.TOO_LONG
    return Objection.NAME_RESERVED if command.name is not None and is_house_name(command.name) else NOTHING

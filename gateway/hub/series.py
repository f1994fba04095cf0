"""Series: their start, their games, their end, and their deadlines.

Starts the series of a match, begins its games, and delivers the events. A step that ends a series returns a
`Parting` for each seat, which the hub carries out. A result is stored before the players get the end.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from itertools import count
from math import inf
from typing import Protocol, assert_never

from gateway.game.clock import Terms
from gateway.game.commands import Enter, Play
from gateway.game.deadlines import Deadlines
from gateway.game.events import Dismissed, Reason, ToMove, Why
from gateway.game.facts import Away, Back, Left
from gateway.game.ids import GameId
from gateway.game.manners import Afterwards
from gateway.game.results import Broken, Finished, Note, Outcome
from gateway.game.session import Phase, Session
from gateway.hub.feed import Feed, came, hindered, started, waits
from gateway.hub.seats import (
    Hosted,
    Hosting,
    RemoteGames,
    RemotePairing,
    Seat,
    Seated,
    Series,
    Waiting,
)
from gateway.matchmaking.matchmaker import (
    HousePair,
    HousePlayers,
    Match,
    Matchmaker,
    Opponent,
    Pair,
    Turn,
)

ABSENCE = 1.0
"""Seconds before an unreachable player is queued again."""
SPREAD = 1000
"""While pairing is paused, players of failed matches are queued again at this many different moments within a
second."""
CROSSING = 0.5
"""Seconds to wait for a pending move before its player gets a new game."""


@dataclass(frozen=True, slots=True)
class Parting:
    """The hub's next steps for a seat that has left its series."""

    seat: Seat
    dismissed: Dismissed | None
    """The last event, if the seat is disconnected; otherwise None."""
    waits: bool
    """Whether the seat waits for the next opponent without asking."""
    asked: Enter | None = None
    """The seat's open request to enter, if there is one."""


class House(HousePlayers, Protocol):
    """Opens seats for house players."""

    def open_seat(self, name: str, opponent: Opponent, now: float) -> Seat:
        """Open a seat in the hub for the house player `name` against `opponent`, and return it."""


class SeriesRunner:
    """Runs all series of this hub, and queues the seats that wait for one."""

    def __init__(
        self,
        terms: Terms,
        matchmaker: Matchmaker,
        feed: Feed,
        games: Iterator[GameId],
        seats: Mapping[int, Seat],
        contain: Callable[[Seat, float], AbstractContextManager[None]],
    ) -> None:
        """`games` yields the ids of games, `seats` are the hub's seats, `contain` is `Hub._contain`."""
        self.feed = feed
        self.is_closed = False
        """Whether no further game begins."""
        self.is_paused = False
        """Whether pairing is paused. A series that another node has begun still starts."""
        self.house: House
        self.games: RemoteGames
        self.pairing: RemotePairing
        """`house`, `games` and `pairing` are set by `Hub.engage` and `Hub.connect` before they are used."""
        self.pending: Deadlines[Seat] = Deadlines()
        """When each pending move is late."""
        self.rejoins: Deadlines[Seat] = Deadlines()
        """The times until which seats are kept for players that have to ask for the next game."""
        self.absences: Deadlines[Seat] = Deadlines()
        """When seats whose match was not started are queued again."""
        self._flags: Deadlines[Series] = Deadlines()
        self._terms = terms
        self._matchmaker = matchmaker
        self._ids = games
        self._seats = seats
        self._contain = contain
        self._turns = count(1)
        self._numbers = count(1)

    # Waiting, and series that begin.

    def wait(self, seat: Seat, now: float) -> None:
        """Queue a seat at the matchmaker, unless a pending move of the seat is still awaited."""
        turn = seat.wait(next(self._turns), now)
        self.absences.cancel(seat)
        if seat.waits:
            self.feed.publish(waits(seat, now))
            self._matchmaker.wait(turn, now)

    def wait_on(self, seat: Seat, now: float) -> None:
        """Queue a seat again after a failed match; with a delay if it is unreachable or pairing is paused."""
        situation = seat.situation
        if not isinstance(situation, Waiting):
            return
        with self._contain(seat, now):
            if self.is_paused:
                self.absences.set(seat, now + ABSENCE + seat.number % SPREAD / SPREAD)
            elif seat.mailbox.is_reachable:
                self._matchmaker.wait(seat.wait(next(self._turns), situation.since), situation.since)
            else:
                self.absences.set(seat, now + ABSENCE)

    def give_up_place(self, seat: Seat) -> None:
        """Release the place of a seat. A player with a unique name keeps its name."""
        if seat.manners.unique_name:
            self._matchmaker.stand_aside(seat.number)
        else:
            self._matchmaker.leave(seat.number)
        seat.give_up_place()

    def meet(self, match: Match | Hosting | Hosted, now: float) -> None:
        """Start the series of a match, if its players can play."""
        seats = self._ready(match, now)
        if seats is not None:
            with self._contain(seats[0], now):
                self._start(match, seats, now)
                return
        if not isinstance(match, Hosted | Hosting):
            self._matchmaker.finished(match)

    def _ready(self, match: Match | Hosting | Hosted, now: float) -> list[Seat] | None:
        """Return the seats of a match. If it cannot be played, queue its waiting seats and return None."""
        has_begun = isinstance(match, Hosted)  # on another node
        if self.is_closed and not has_begun:
            return None
        seats = [seat for turn in match.turns if (seat := self.waiting(turn)) is not None]
        present = list[Seat]()
        if self.is_paused and not has_begun:
            for seat in seats:
                if seat.hinder(None):  # the pause is the only obstacle
                    self.feed.publish(hindered(seat))
        else:
            for seat in seats:
                with self._contain(seat, now):
                    if seat.mailbox.is_reachable:
                        present.append(seat)
            if len(present) == len(match.turns):
                return present
        for seat in seats:
            self.wait_on(seat, now)
        return None

    def waiting(self, turn: Turn) -> Seat | None:
        """Return the seat that waits in a turn; None if no seat waits in it any more."""
        seat = self._seats.get(turn.seat)
        if seat is None or not isinstance(seat.situation, Waiting) or seat.situation.turn != turn:
            return None
        return seat

    def _start(self, match: Match | Hosting | Hosted, ready: Sequence[Seat], now: float) -> None:
        """Start the series of a match: two seats, or a seat and a house player or another node's player."""
        one = ready[0]
        match match:
            case Pair():
                seats = one, ready[1]
            case HousePair():
                two = self.house.open_seat(match.house, one.opponent(), now)
                if two.introduce(match.house, counted=True):
                    self.feed.publish(came(two))
                seats = (one, two) if match.opens else (two, one)
            case Hosting():
                two = self.games.open_seat(match, now)
                two.enter_remote(match.player)
                self.feed.publish(came(two))
                seats = one, two
            case Hosted():
                one.play_elsewhere(self.games.play_elsewhere(one, match), match)
                self.pairing.began(match, 1)
                self.feed.publish(Left(one.number))  # from now on the other node publishes facts about it
                return
            case _:
                assert_never(match)
        table, scheduled = (None, None) if isinstance(match, HousePair) else (match.table, match.scheduled)
        series = Series(match, seats, self._terms.grace if scheduled is None else scheduled.grace)
        for number, seat in series.numbered:
            seat.join(series, number)  # from here on a bug disconnects both
        players = seats[0].player(), seats[1].player()
        series.session = Session(
            players, self._terms, next(self._numbers), table, rounds=match.rounds, scheduled=scheduled
        )
        self.go_on(series, now)

    def _began(self, series: Series, *, is_again: bool) -> None:
        match, game = series.match, series.session.round
        if isinstance(match, Hosting):
            self.pairing.began(match, game, is_again=is_again, grace=series.grace)
        else:
            self._matchmaker.began(match, game, is_again=is_again)

    def finished(self, match: Match | Hosting) -> None:
        """Report that a series is over."""
        if isinstance(match, Hosting):
            self.pairing.finished(match)
        else:
            self._matchmaker.finished(match)

    # Current series.

    def go_on(self, series: Series, now: float) -> None:
        """Begin the next round if both players are ready and the server does not drain."""
        one, two = series.seats
        if one.is_ready and two.is_ready and not self.is_closed:
            is_again = series.session.repeats
            notes = series.session.begin(next(self._ids), now)
            self._began(series, is_again=is_again)
            self.feed.publish(started(series))
            for seat in series.seats:
                if seat.absence is not None:
                    self.away(seat, now)
            _deliver(series, notes)
            first, second = (series.seats[number] for number in series.session.order)
            second.refuse_early(series.session.game)
            early, seated = first.take_early(), first.situation
            if early is not None and isinstance(seated, Seated):
                self.play(first, seated, early, now)  # no game ends with its first move

    def play(self, mover: Seat, seated: Seated, command: Play, now: float) -> Sequence[Parting]:
        """Carry out a seat's move, or refuse it, while a game is on."""
        series, number = seated.series, seated.number
        outcome = series.session.play(number, command, now)
        if isinstance(outcome, Outcome):
            return self._follow(series, outcome, now)
        moved, request = outcome
        asked = series.seats[1 - number]
        if asked.pending is not None:
            asked.stop_awaiting(None)
        if mover.manners.hears_itself:
            mover.mailbox.deliver(moved)
        mailbox = asked.mailbox
        mailbox.deliver(moved)
        mailbox.deliver(request)
        if self.feed.moves:
            self.feed.move(series.session.latest_move())
        return ()

    def leave(self, seat: Seat, now: float, *, is_lost: bool = False) -> Sequence[Parting]:
        """Remove a seat from its series, if it is in one.

        `is_lost` means that a node, or the connection between two nodes, is lost. Then the game has no
        result.
        """
        if not isinstance(seat.situation, Seated):
            return ()
        series = seat.situation.series
        outcome = series.session.leave(seat.situation.number, now, is_lost=is_lost)
        return self._follow(series, outcome, now)

    def end_series(self, seat: Seat, now: float) -> Sequence[Parting]:
        """Remove a seat from its series, after the current game if there is one."""
        if isinstance(seat.situation, Seated) and seat.situation.series.is_playing:
            seat.situation.series.leaves_next = seat
            return ()
        return self.leave(seat, now)

    def away(self, seat: Seat, now: float) -> None:
        """Publish that a seat is kept for its player, which is away."""
        situation = seat.situation
        assert seat.absence is not None
        if isinstance(situation, Seated) and situation.series.is_playing:
            session = situation.series.session
            side, name = session.side(situation.number), situation.names[0]
            away = max(0.0, now - seat.absence.since)
            self.feed.publish(Away(session.game, side, name, seat.absence.grace, away))

    def back(self, seat: Seat, away: float) -> None:
        """Publish that a seat's player has come back to a game after `away` seconds."""
        situation = seat.situation
        if isinstance(situation, Seated) and situation.series.is_playing:
            session = situation.series.session
            self.feed.publish(Back(session.game, session.side(situation.number), situation.names[0], away))

    def play_again(self, seat: Seat, now: float, *, is_told: bool) -> None:
        """End the current game of a seat, whose player has come back, without a result. `go_on` repeats it.

        The player is not sent the end, since its new connection does not know the game. If the player is on
        another node, that node does not send it. `is_told` is as in `Session.play_again`.
        """
        assert isinstance(seat.situation, Seated)
        series, number = seat.situation.series, seat.situation.number
        ending = series.session.play_again(number, now, is_told=is_told)
        assert ending.finished is not None
        self._game_over(
            series, ending.finished, ending.asked, now, returning=None if seat.is_remote else seat
        )

    def stop(self, series: Series, now: float) -> None:
        """Cut off a series without delivering events. The caller handles its seats."""
        finished = series.session.stop(now)
        self.forget_flag(series)
        if finished is not None:
            self.feed.end(finished)

    # Time.

    def watch(self, series: Series, deadline: float) -> None:
        """Check the clock of a series at `deadline`.

        Every move changes the deadline, but flags hardly ever fall. So a series stays queued at an earlier
        deadline, and its current deadline is looked up at that time. A move then needs only a comparison with
        `Series.watched`.
        """
        series.watched = deadline
        self._flags.set(series, deadline)

    def due_flags(self, now: float) -> Iterator[Series]:
        """Yield the series whose clocks `late` has to check now, the earliest first."""
        return self._flags.due(now)

    def late(self, series: Series) -> Sequence[Seat]:
        """Return the seat whose time is up in a due series. If no time is up, watch the series again."""
        looked_for, series.watched = series.watched, inf
        deadline, number = series.session.deadline, series.session.to_move
        if deadline is None or number is None:
            return ()
        if deadline > looked_for:
            self.watch(series, deadline)
            return ()
        return (series.seats[number],)

    def flag(self, seat: Seat, now: float) -> Sequence[Parting]:
        """End the game if the seat's time is up."""
        if not isinstance(seat.situation, Seated):
            return ()
        series = seat.situation.series
        return self._follow(series, series.session.flag(seat.situation.number, now), now)

    def adjudicate(self, seat: Seat, now: float) -> Sequence[Parting]:
        """End the current game of a seat as lost, by a decision of a tournament's director."""
        if not isinstance(seat.situation, Seated):
            return ()
        series = seat.situation.series
        return self._follow(series, series.session.adjudicate(seat.situation.number, now), now)

    def forget_flag(self, series: Series) -> None:
        """Stop watching the clock of a series."""
        series.watched = inf
        self._flags.cancel(series)

    def next_flag(self) -> float | None:
        """Return a time before which no flag falls; None if no clock runs."""
        return self._flags.next_due()

    def await_move(self, seat: Seat, game: GameId, now: float) -> None:
        """Wait up to `CROSSING` seconds for a seat's pending move, before the seat gets another game."""
        seat.await_move(game)
        self.pending.set(seat, now + CROSSING)

    def still_awaits(self, seat: Seat, now: float) -> bool:
        """Whether to wait longer for a pending move, since the client has not got the end of its game yet."""
        if not self.feed.results.is_open(seat.pending_game):
            return False
        self.pending.set(seat, now + CROSSING)
        return True

    # Outcomes.

    def _follow(self, series: Series, outcome: Outcome, now: float) -> Sequence[Parting]:
        """Deliver the events of an outcome; if a game ended, begin the next one or end the series."""
        _deliver(series, outcome.notes)
        ending = outcome.ending
        if ending is None:
            return ()
        if ending.finished is not None:
            self._game_over(series, ending.finished, ending.asked, now)
        if series.session.phase is Phase.OVER:
            return self._part(series, ending.broken)
        if (leaver := series.leaver) is not None:
            return self.leave(leaver, now)
        self.go_on(series, now)
        return ()

    def _game_over(
        self,
        series: Series,
        finished: Finished,
        asked: int | None,
        now: float,
        returning: Seat | None = None,
    ) -> None:
        """End a game. Do not send the end to `returning`."""
        by_move = finished.reason in (Reason.FOUR, Reason.FULL)
        self.feed.end(finished, series.session.latest_move() if by_move else None)
        ended = finished.as_event()
        for number in series.session.order:
            seat = series.seats[number]
            if seat is returning:
                seat.end_earlier(ended)
            else:
                seat.deliver(ended)
        self.forget_flag(series)
        for index, seat in series.numbered:
            if seat.steps_out:
                seat.join(series, index, ready=False)
                if seat.absence is None:  # else its player may come back until the end of the grace time
                    self.rejoins.set(seat, now + self._terms.rejoin)
            elif asked == index:
                self.await_move(seat, finished.game, now)

    def _part(self, series: Series, broken: Broken | None) -> Sequence[Parting]:
        """Remove both seats from their series, which is over."""
        partings = []
        for number, seat in series.numbered:
            assert isinstance(seat.situation, Seated)
            waits = seat.situation.ready and broken != (number, Reason.LEFT)
            partings.append(Parting(seat, _dismissal(series, number, broken), waits))
        self.finished(series.match)
        for seat in series.seats:
            seat.part()
        return partings


def _deliver(series: Series, notes: Sequence[Note]) -> None:
    for number, event in notes:
        seat = series.seats[number]
        if isinstance(event, ToMove):
            seat.stop_awaiting(None)
        seat.deliver(event)


def _dismissal(series: Series, number: int, broken: Broken | None) -> Dismissed | None:
    """Return the last event for a seat whose series is over; None if the seat stays connected."""
    manners = series.seats[number].manners
    if manners.house and not manners.stays:
        return Dismissed(Why.SERIES_OVER)
    is_last = manners.afterwards is Afterwards.ONE_GAME
    if broken is None:
        return Dismissed(Why.SERIES_OVER) if is_last or manners.afterwards is Afterwards.HANG_UP else None
    breaker, reason = broken
    if reason is Reason.LEFT or (is_last and breaker != number):
        return Dismissed(Why.SERIES_OVER) if is_last else None
    if breaker == number:
        return Dismissed(Why.TIME if reason is Reason.TIME else Why.FORFEIT)
    both = (seat.manners.afterwards is Afterwards.HANG_UP for seat in series.seats)
    return Dismissed(Why.SERIES_OVER) if all(both) else None

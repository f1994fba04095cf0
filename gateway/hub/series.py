"""Plays series: begins their games, passes on what happens in them, ends them, and keeps their deadlines.

Knows seats and their sessions. Does not know who waits for whom. A step that ends a series returns what
becomes of its two seats, for the hub to carry out. A result is kept before anybody hears of it.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count

from gateway.game.clock import Terms
from gateway.game.commands import Enter, Play
from gateway.game.deadlines import Deadlines
from gateway.game.events import Dismissed, Reason, ToMove, Why
from gateway.game.ids import GameId
from gateway.game.manners import Afterwards
from gateway.game.results import Broken, Finished, Note, Outcome
from gateway.game.session import Phase, Session
from gateway.hub.feed import Feed, started
from gateway.hub.seats import NEVER, Hosting, Seat, Seated, Series
from gateway.matchmaking.matchmaker import HousePair, Match

CROSSING = 0.5
"""Seconds that a player with a pending move gets no new game, so that the move finds none to hit."""


@dataclass(frozen=True, slots=True)
class Parting:
    """What becomes of a seat after its series. It is out of it already."""

    seat: Seat
    dismissed: Dismissed | None
    """How it is hung up on; None where it is not."""
    waits: bool
    """Whether it waits for the next opponent by itself."""
    asked: Enter | None = None
    """What it has asked for meanwhile."""


class SeriesRunner:
    """All series that this hub holds."""

    def __init__(
        self,
        terms: Terms,
        feed: Feed,
        games: Iterator[GameId],
        began: Callable[[Match | Hosting, int], None],
        finished: Callable[[Match | Hosting], None],
    ) -> None:
        """Give each game the next id of `games`.

        `began` is called when a game of a match begins, with its number in the series; `finished` when the
        series is over.
        """
        self.feed = feed
        self.is_closed = False
        """Whether no further game begins."""
        self.pending: Deadlines[Seat] = Deadlines()
        """When a pending move has not come, and is waited for no longer."""
        self.rejoins: Deadlines[Seat] = Deadlines()
        """When a seat is kept no longer for a player who has not asked again."""
        self._flags: Deadlines[Series] = Deadlines()
        self._terms = terms
        self._games = games
        self._began = began
        self._finished = finished
        self._numbers = count(1)

    def start(self, series: Series, now: float) -> None:
        """Start a series that both its seats have joined."""
        one, two = series.seats
        match = series.match
        table = None if isinstance(match, HousePair) else match.table
        players = one.player(), two.player()
        series.session = Session(players, self._terms, next(self._numbers), table, rounds=match.rounds)
        self.go_on(series, now)

    def go_on(self, series: Series, now: float) -> None:
        """Begin the next round, if both are ready for it and rounds still begin."""
        one, two = series.seats
        if one.is_ready and two.is_ready and not self.is_closed:
            notes = series.session.begin(next(self._games), now)
            self._began(series.match, series.session.round)
            self.feed.publish(started(series))
            _deliver(series, notes)

    def play(self, mover: Seat, seated: Seated, command: Play, now: float) -> Sequence[Parting]:
        """Carry out a seat's move, or refuse it, while a game is on."""
        series, number = seated.series, seated.number
        outcome = series.session.play(number, command, now)
        if isinstance(outcome, Outcome):
            return self._follow(series, outcome, now)
        moved, request = outcome
        asked = series.seats[1 - number]
        if asked.pending is not None:
            asked.expect_move(None)
        if mover.manners.hears_itself:
            mover.mailbox.deliver(moved)
        mailbox = asked.mailbox
        mailbox.deliver(moved)
        mailbox.deliver(request)
        if self.feed.moves:
            self.feed.move(series.session.latest_move())
        return ()

    def leave(self, seat: Seat, now: float, *, is_lost: bool = False) -> Sequence[Parting]:
        """Take a seat out of its series, if it is in one.

        `is_lost` says that this is no fault of the player's: the game has no result.
        """
        if not isinstance(seat.situation, Seated):
            return ()
        series = seat.situation.series
        outcome = series.session.leave(seat.situation.number, now, is_lost=is_lost)
        return self._follow(series, outcome, now)

    def end_series(self, seat: Seat, now: float) -> Sequence[Parting]:
        """Take a seat out of its series once no game is on."""
        if isinstance(seat.situation, Seated) and seat.situation.series.is_playing:
            seat.situation.series.leaves_next = seat
            return ()
        return self.leave(seat, now)

    def stop(self, series: Series, now: float) -> None:
        """Cut off a series, and deliver nothing. What becomes of its seats is left to the caller."""
        finished = series.session.stop(now)
        self.forget_flag(series)
        if finished is not None:
            self.feed.end(finished)

    # Time.

    def handed(self, series: Series, request: ToMove, now: float) -> None:
        """Start the clock: a request to move has left for its client.

        Every move brings another deadline, and hardly a flag ever falls. So a series stands in the queue
        with the earliest deadline that it had, and is asked for its present one when that has come. A move
        costs no more than a comparison.
        """
        deadline = series.session.handed(request.game, request.number, now)
        if deadline is not None and deadline < series.watched:
            series.watched = deadline
            self._flags.set(series, deadline)

    def due_flags(self, now: float) -> Iterator[Series]:
        """Yield the series in which the time of a seat may be up, for `late`; the earliest first."""
        return self._flags.due(now)

    def late(self, series: Series) -> Sequence[Seat]:
        """Return the seat whose time is up in a series that was due; where none is, look again in time."""
        looked_for, series.watched = series.watched, NEVER
        deadline, number = series.session.deadline, series.session.to_move
        if deadline is None or number is None:
            return ()
        if deadline > looked_for:
            series.watched = deadline
            self._flags.set(series, deadline)
            return ()
        return (series.seats[number],)

    def flag(self, seat: Seat, now: float) -> Sequence[Parting]:
        """End the game on time, if the seat's time is up."""
        if not isinstance(seat.situation, Seated):
            return ()
        series = seat.situation.series
        return self._follow(series, series.session.flag(seat.situation.number, now), now)

    def forget_flag(self, series: Series) -> None:
        """Watch the clock of a series no more."""
        series.watched = NEVER
        self._flags.cancel(series)

    def next_flag(self) -> float | None:
        """Return a time before which no flag falls; None where no clock runs."""
        return self._flags.next_due()

    def await_move(self, seat: Seat, game: GameId, now: float) -> None:
        """Give a seat no game for a moment: its move for a game that is over may be under way."""
        seat.await_move(game)
        self.pending.set(seat, now + CROSSING)

    def still_awaits(self, seat: Seat, now: float) -> bool:
        """Whether to wait on for a pending move, since the seat's client has not heard of the end yet."""
        if not self.feed.results.is_open(seat.pending_game):
            return False
        self.pending.set(seat, now + CROSSING)
        return True

    # What follows.

    def _follow(self, series: Series, outcome: Outcome, now: float) -> Sequence[Parting]:
        """Deliver what happened in a session, and do what follows from it."""
        _deliver(series, outcome.notes)
        ending = outcome.ending
        if ending is None:
            return ()
        if ending.finished is not None:
            self._game_over(series, ending.finished, ending.owed, now)
        if series.session.phase is Phase.OVER:
            return self._part(series, ending.broken)
        if series.leaves_next is not None:
            return self.leave(series.leaves_next, now)
        self.go_on(series, now)
        return ()

    def _game_over(self, series: Series, finished: Finished, asked: int | None, now: float) -> None:
        by_move = finished.reason in (Reason.FOUR, Reason.FULL)
        self.feed.end(finished, series.session.latest_move() if by_move else None)
        ended = finished.told()
        for number in series.session.order:
            series.seats[number].deliver(ended)
        self.forget_flag(series)
        for index, seat in series.numbered:
            if seat.steps_out:
                seat.join(series, index, ready=False)
                self.rejoins.set(seat, now + self._terms.rejoin)
            elif asked == index:
                self.await_move(seat, finished.game, now)

    def _part(self, series: Series, broken: Broken | None) -> Sequence[Parting]:
        """Take the two seats out of their series, which is over."""
        partings = []
        for number, seat in series.numbered:
            assert isinstance(seat.situation, Seated)
            waits = seat.situation.ready and broken != (number, Reason.LEFT)
            partings.append(Parting(seat, _dismissal(series, number, broken), waits))
        self._finished(series.match)
        for seat in series.seats:
            seat.part()
        return partings


def _deliver(series: Series, notes: Sequence[Note]) -> None:
    for number, event in notes:
        seat = series.seats[number]
        if isinstance(event, ToMove):
            seat.expect_move(None)
        seat.deliver(event)


def _dismissal(series: Series, number: int, broken: Broken | None) -> Dismissed | None:
    """Return how a seat is hung up on with the end of its series; None where it is not."""
    manners = series.seats[number].manners
    if manners.house:
        return Dismissed(Why.SERIES_OVER)
    if broken is None:
        return Dismissed(Why.SERIES_OVER) if manners.afterwards is Afterwards.HANG_UP else None
    breaker, reason = broken
    if reason is Reason.LEFT:
        return None
    if breaker == number:
        return Dismissed(Why.TIME if reason is Reason.TIME else Why.FORFEIT)
    both = (seat.manners.afterwards is Afterwards.HANG_UP for seat in series.seats)
    return Dismissed(Why.SERIES_OVER) if all(both) else None

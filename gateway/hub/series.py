"""Plays series: how they start, what is told of them, how they end.

Knows seats, their sessions and who is ready. Does not know who waits for whom: the matchmaker pairs, and
hears of each game that begins and each series that ends. Every step returns what becomes of the two seats of
a series that is over, for the hub to carry out. A result is given to those who keep results before anybody
hears of it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count

from gateway.game.clock import Terms
from gateway.game.commands import Play
from gateway.game.events import Dismissed, Reason, ToMove, Why
from gateway.game.ids import GameId
from gateway.game.manners import Afterwards
from gateway.game.results import Broken, Finished, Note, Outcome
from gateway.game.session import Phase, Session
from gateway.hub.feed import Feed, started
from gateway.hub.seat import Owed, Seat, Seated, Series
from gateway.hub.timers import Timers
from gateway.matchmaking.matchmaker import Matchmaker, Visit

CROSSING = 0.5
"""Seconds that a player who owed a move gets no new game, so that the move finds none to hit."""


@dataclass(frozen=True, slots=True)
class Parting:
    """What becomes of a seat after its series. It is out of it already."""

    seat: Seat
    farewell: Dismissed | None
    """How it is hung up on; None where it is not."""
    waits: bool
    """Whether it waits for the next opponent by itself."""


class SeriesRunner:
    """All series that are on."""

    def __init__(
        self,
        terms: Terms,
        matchmaker: Matchmaker,
        timers: Timers,
        feed: Feed,
        games: Iterator[GameId],
    ) -> None:
        """Give each game the next id of `games`, and tell the feed what happens in it."""
        self._terms = terms
        self.idle = terms.idle
        self._matchmaker = matchmaker
        self._timers = timers
        self._games = games
        self.feed = feed
        self.is_closed = False
        """Whether no further game begins."""
        self._numbers = count(1)

    def start(self, series: Series, now: float) -> None:
        """Start a series that both its seats have joined."""
        one, two = series.seats
        match = series.match
        table = None if isinstance(match, Visit) else match.table
        players = one.player(), two.player()
        series.session = Session(players, self._terms, next(self._numbers), table, rounds=match.rounds)
        self.go_on(series, now)

    def go_on(self, series: Series, now: float) -> None:
        """Begin the next round, if both are ready for it and rounds still begin."""
        one, two = series.seats
        if _is_ready(one) and _is_ready(two) and not self.is_closed:
            notes = series.session.begin(next(self._games), now)
            self._matchmaker.began(series.match, series.session.round)
            self.feed.publish(started(series))
            _tell(series, notes)

    def play(self, mover: Seat, seated: Seated, command: Play, now: float) -> Sequence[Parting]:
        """Let a seat move, or be refused, while a game is on."""
        series, number = seated.series, seated.number
        outcome = series.session.play(number, command, now)
        if isinstance(outcome, Outcome):
            return self._follow(series, outcome, now)
        moved, request = outcome
        asked = series.seats[1 - number]
        if asked.owed is not None:
            asked.rest(None)
        if mover.manners.hears_itself:
            mover.mailbox.deliver(moved)
        mailbox = asked.mailbox
        mailbox.deliver(moved)
        mailbox.deliver(request)
        if self.feed.moves:
            self.feed.move(series.session.latest_move())
        return ()

    def rests_on(self, seat: Seat, now: float) -> bool:
        """Let a seat that owed a move rest longer, if its client has not heard of the end yet."""
        if not self.feed.results.is_open(seat.owed_game):
            return False
        self._timers.rests.set(seat, now + CROSSING)
        return True

    def leave(self, seat: Seat, now: float, *, is_lost: bool = False) -> Sequence[Parting]:
        """Let a seat leave its series, if it is in one.

        `is_lost` says that this is no fault of the player's: the game has no result.
        """
        if not isinstance(seat.situation, Seated):
            return ()
        series = seat.situation.series
        outcome = series.session.leave(seat.situation.number, now, is_lost=is_lost)
        return self._follow(series, outcome, now)

    def end_series(self, seat: Seat, now: float) -> Sequence[Parting]:
        """Let a seat leave its series once no game is on."""
        if isinstance(seat.situation, Seated) and seat.situation.series.is_playing:
            seat.situation.series.leaves_next = seat
            return ()
        return self.leave(seat, now)

    def flag(self, seat: Seat, now: float) -> Sequence[Parting]:
        """Let a seat's time be over, if it is."""
        if not isinstance(seat.situation, Seated):
            return ()
        series = seat.situation.series
        return self._follow(series, series.session.flag(seat.situation.number, now), now)

    def stop(self, series: Series, now: float) -> None:
        """Cut off a series, telling nobody. What becomes of its seats is left to the caller."""
        finished = series.session.stop(now)
        self._timers.flags.forget(series)
        if finished is not None:
            self.feed.end(finished)

    def _follow(self, series: Series, outcome: Outcome, now: float) -> Sequence[Parting]:
        """Tell what happened in a session, and do what follows from it."""
        _tell(series, outcome.notes)
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

    def _game_over(self, series: Series, finished: Finished, owed: int | None, now: float) -> None:
        by_move = finished.reason in (Reason.FOUR, Reason.FULL)
        self.feed.end(finished, series.session.latest_move() if by_move else None)
        ended = finished.told()
        for number in series.session.order:
            series.seats[number].deliver(ended)
        self._timers.flags.forget(series)
        for index, seat in series.numbered:
            if seat.steps_out:
                seat.step_out(series, index)
                self._timers.rejoins.set(seat, now + self._terms.rejoin)
            elif owed == index:
                seat.owe(finished.game)
                self._timers.rests.set(seat, now + CROSSING)

    def _part(self, series: Series, broken: Broken | None) -> Sequence[Parting]:
        """Let the two seats out of their series, which is over."""
        partings = []
        for number, seat in series.numbered:
            assert isinstance(seat.situation, Seated)
            waits = seat.situation.ready and broken != (number, Reason.LEFT)
            partings.append(Parting(seat, _farewell(series, number, broken), waits))
        self._matchmaker.finished(series.match)
        for seat in series.seats:
            seat.part()
        return partings


def _is_ready(seat: Seat) -> bool:
    return isinstance(seat.situation, Seated) and seat.situation.ready and seat.owed is not Owed.SOON


def _tell(series: Series, notes: Sequence[Note]) -> None:
    for number, event in notes:
        seat = series.seats[number]
        if isinstance(event, ToMove):
            seat.rest(None)
        seat.deliver(event)


def _farewell(series: Series, number: int, broken: Broken | None) -> Dismissed | None:
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

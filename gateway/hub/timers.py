"""When something is due for which seat.

Each kind of alarm is named after what the seat waits for. The hub knows what to do when it is due.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from gateway.game.deadlines import Deadlines
from gateway.hub.seat import NEVER, Seat, Series


class Flags:
    """The time of those who are to move.

    Every move brings another deadline, and hardly a flag ever falls. So a series stands in the queue with
    the earliest deadline that it had, and is asked for its present one when that has come. A move costs
    no more than a comparison.
    """

    def __init__(self) -> None:
        self._deadlines: Deadlines[Series] = Deadlines()

    def watch(self, series: Series, deadline: float) -> None:
        """Look at a series when its flag falls, or before that."""
        series.watched = deadline
        self._deadlines.set(series, deadline)

    def forget(self, series: Series) -> None:
        """Let no flag of a series be due."""
        series.watched = NEVER
        self._deadlines.cancel(series)

    def next_due(self) -> float | None:
        """Return a time before which no flag is due; None where no time runs."""
        return self._deadlines.next_due()

    def due(self, now: float) -> Iterator[Series]:
        """Yield the series that are to be looked at, by `late`, the earliest first."""
        return self._deadlines.due(now)

    def late(self, series: Series) -> Sequence[Seat]:
        """Return the seat whose time is up in a series that was due; where none is, look again in time."""
        looked_for, series.watched = series.watched, NEVER
        deadline, number = series.session.deadline, series.session.to_move
        if deadline is None or number is None:
            return ()
        if deadline > looked_for:
            self.watch(series, deadline)
            return ()
        return (series.seats[number],)


@dataclass(frozen=True, slots=True)
class Timers:
    """All deadlines of a hub."""

    flags: Flags = field(default_factory=Flags)
    """The time of the seat to move is up."""
    rests: Deadlines[Seat] = field(default_factory=Deadlines)
    """A move that was owed has not come, and is waited for no longer."""
    rejoins: Deadlines[Seat] = field(default_factory=Deadlines)
    """The seat is kept no longer for a player who has not asked again."""
    entries: Deadlines[Seat] = field(default_factory=Deadlines)
    """A player should have entered by now."""
    absences: Deadlines[Seat] = field(default_factory=Deadlines)
    """A player who could not be reached when its game was to begin may be there again."""

    flags_away: Deadlines[Seat] = field(default_factory=Deadlines)
    """The time of a player is up whose game is on another node."""
    denials: Deadlines[Seat] = field(default_factory=Deadlines)
    """The answer to a name that the player may not bear has waited long enough."""

    def forget(self, seat: Seat) -> None:
        """Let nothing be due for a seat any more that is in no series."""
        for deadlines in self._all():
            deadlines.cancel(seat)

    def next_due(self) -> float | None:
        """Return a time before which nothing is due; None if nothing is set."""
        times = [self.flags.next_due(), *(deadlines.next_due() for deadlines in self._all())]
        return min((when for when in times if when is not None), default=None)

    def _all(self) -> tuple[Deadlines[Seat], ...]:
        return self.rests, self.rejoins, self.entries, self.absences, self.flags_away, self.denials

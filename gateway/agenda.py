"""What is to be done about which seat, and when.

Each kind of alarm is named for what the seat waits for, and the hub knows what to do when it is due.
"""

from dataclasses import dataclass, field

from gateway.alarms import Alarms
from gateway.seat import Seat


@dataclass(frozen=True, slots=True)
class Agenda:
    """All alarms of a hub."""

    flags: Alarms[Seat] = field(default_factory=Alarms)
    """The time of the seat to move is up."""
    rests: Alarms[Seat] = field(default_factory=Alarms)
    """A move that was owed has not come, and is waited for no longer."""
    rejoins: Alarms[Seat] = field(default_factory=Alarms)
    """The seat is kept no longer for a player who has not asked again."""
    entries: Alarms[Seat] = field(default_factory=Alarms)
    """A player should have entered by now."""
    lonely: Alarms[Seat] = field(default_factory=Alarms)
    """Nobody in the lobby plays the one who waits there."""

    def forget(self, seat: Seat) -> None:
        """Let nothing be due for a seat any more."""
        for alarms in self._all():
            alarms.cancel(seat)

    def next_due(self) -> float | None:
        """Return a time before which nothing is due; None where nothing is set."""
        times = [alarms.next_due() for alarms in self._all()]
        return min((when for when in times if when is not None), default=None)

    def _all(self) -> tuple[Alarms[Seat], ...]:
        return self.flags, self.rests, self.rejoins, self.entries, self.lonely

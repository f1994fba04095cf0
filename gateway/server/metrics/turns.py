"""How long the event loop kept clients waiting, turn by turn.

Knows the turns that `arrivals` tells apart. It takes that module's place only in a server that is asked for
metrics.
"""

from gateway.runtime.arrivals import SLACK, ArrivalTimes
from gateway.runtime.histogram import Histogram


class TimedTurns(ArrivalTimes):
    """The turns of the loop, and how long they took. The first turns may count as shorter than they were."""

    def __init__(self) -> None:
        super().__init__()
        self.delays = Histogram()
        """For how long the server did not listen: from the end of a poll of the sockets to the next one, and
        how late that one ended."""
        self.answers = Histogram()
        """From when the bytes that a poll found can have arrived until all of them were dealt with."""

    def before_io_wait(self, timeout: float) -> None:
        """Note the end of the work."""
        super().before_io_wait(timeout)
        if self._arrived is not None:
            self.answers.add(self._asleep - self._arrived)

    def _note(self, now: float, delay: float) -> None:
        self.delays.add(delay)
        if delay > SLACK:
            super()._note(now, delay)

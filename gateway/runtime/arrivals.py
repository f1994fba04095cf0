"""When bytes arrived, as precisely as can be known, and how long the server kept clients waiting.

Knows trio's loop: it runs the ready tasks, polls all sockets, and runs tasks again. Bytes that a poll finds
were not there at the poll before, so the client is not charged for the work in between. Does not know games
(how clocks use these times: "Time" in each dialect's PROTOCOL.md).
"""

from collections import deque

import trio

from gateway.runtime.histogram import Histogram

SLACK = 0.001
"""Seconds. A poll that takes longer than this, and than the work before it, waited for what it found."""
OVERDUE = 0.01
"""Seconds. A poll that ends this much later than its timeout was delayed by the machine."""

_KEPT = 1000


class ArrivalTimes(trio.abc.Instrument):
    """The turns of the loop. All times are trio's, in seconds.

    A turn is some work, then a poll of the sockets. Until this is installed as a trio instrument, bytes count
    as having arrived when they were read.
    """

    def __init__(self) -> None:
        self._arrived: float | None = None
        self._seen: float | None = None
        """All bytes that arrived before this time have been found by a poll."""
        self._asleep = 0.0
        self._awake: float | None = None
        self._delays: deque[tuple[float, float]] = deque(maxlen=_KEPT)
        """When a delay ended, and how long it was: each shorter than those before it."""

    def arrived(self) -> float:
        """Return the earliest time at which bytes that were read just now can have arrived."""
        return trio.current_time() if self._arrived is None else self._arrived

    def delay_since(self, then: float) -> float:
        """Return the longest time without a poll, in seconds, of those that ended since `then`."""
        return next((delay for over, delay in self._delays if over >= then), 0.0)

    def before_io_wait(self, timeout: float) -> None:
        """Note the end of the work."""
        self._asleep = trio.current_time()

    def after_io_wait(self, timeout: float) -> None:
        """Note the end of a poll with this `timeout`."""
        now = trio.current_time()
        awake = self._asleep if self._awake is None else self._awake
        seen = self._asleep if self._seen is None else self._seen
        work, looked = self._asleep - awake, now - self._asleep
        overdue = max(0.0, looked - timeout)
        if timeout > 0 and overdue > OVERDUE:
            # A process that was stopped and continued may have missed what was there (EINTR).
            self._arrived = self._seen = seen
        elif timeout > 0 and looked > max(SLACK, work):
            self._arrived = self._seen = now
        else:
            # A poll that finds much, as after a long turn, takes long without waiting.
            self._arrived, self._seen = seen, self._asleep
        self._note(now, work + overdue)
        self._awake = now

    def _note(self, now: float, delay: float) -> None:
        if delay > SLACK:
            while self._delays and self._delays[-1][1] <= delay:
                self._delays.pop()
            self._delays.append((now, delay))


# How long the event loop kept clients waiting, turn by turn.
#
# It takes the place of `ArrivalTimes` only in a server that is asked for metrics.


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

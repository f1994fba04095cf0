"""When bytes arrived, as far as one can know, and how long the server kept others waiting.

Knows trio's loop: it works through what is ready, looks at all sockets, and works again. Bytes that a look
finds were not there at the look before, so whatever the server did in between is no fault of the client's.
Does not know games: what the times are good for, the clocks decide (PROTOCOL.md of the dialects, "Time").
"""

from collections import deque

import trio

SLACK = 0.001
"""Seconds: a look that takes longer, and longer than the work before it, has waited for what it found."""
OVERDUE = 0.01
"""Seconds: a look that ends so much later than it was to has been held up by the machine."""

_KEPT = 1000


class ArrivalTimes(trio.abc.Instrument):
    """The turns of the loop. All times are trio's, in seconds.

    A turn is some work and then a look at the sockets. Until this is one of trio's instruments, bytes count
    as having arrived when they were read.
    """

    def __init__(self) -> None:
        self._arrived: float | None = None
        self._seen: float | None = None
        """What had come by then has been found, by the latest look or one before it."""
        self._asleep = 0.0
        self._awake: float | None = None
        self._delays: deque[tuple[float, float]] = deque(maxlen=_KEPT)
        """When a delay was over, and how long it was: each shorter than those before it."""

    def arrived(self) -> float:
        """Return when bytes that were read just now came, or the earliest that they can have come."""
        return trio.current_time() if self._arrived is None else self._arrived

    def delay_since(self, then: float) -> float:
        """Return the longest time, over since `then`, in which the server did not look at its sockets."""
        return next((delay for over, delay in self._delays if over >= then), 0.0)

    def before_io_wait(self, timeout: float) -> None:
        """Note the end of some work."""
        self._asleep = trio.current_time()

    def after_io_wait(self, timeout: float) -> None:
        """Note the end of a look, of which `timeout` is the longest that it was to wait."""
        now = trio.current_time()
        awake = self._asleep if self._awake is None else self._awake
        seen = self._asleep if self._seen is None else self._seen
        work, looked = self._asleep - awake, now - self._asleep
        overdue = max(0.0, looked - timeout)
        if timeout > 0 and overdue > OVERDUE:
            # Stopped and continued, the process may have found nothing of what was there (EINTR).
            self._arrived = self._seen = seen
        elif timeout > 0 and looked > max(SLACK, work):
            self._arrived = self._seen = now
        else:
            # To find much, as there is after a long turn, takes long too, without any waiting.
            self._arrived, self._seen = seen, self._asleep
        self._note(now, work + overdue)
        self._awake = now

    def _note(self, now: float, delay: float) -> None:
        if delay > SLACK:
            while self._delays and self._delays[-1][1] <= delay:
                self._delays.pop()
            self._delays.append((now, delay))

"""Measurements of the turns of trio's event loop, and time budgets for work in a turn.

A turn runs the tasks that are ready, and then polls all sockets. The bytes that a poll finds may have arrived
at any time since the previous poll, so the time between the two polls is not charged to the client. The
section "Time" of each dialect's PROTOCOL.md says how clocks use these times. This module does not know games.
"""

from collections import deque
from math import inf

import trio

from gateway.runtime.histogram import Histogram

SLACK = 0.001
"""A poll that took more than this many seconds, and longer than the work before it, waited for bytes."""
OVERDUE = 0.01
"""If a poll ends more than this many seconds after its timeout, the machine delayed it."""

_KEPT = 1000


class Budget:
    """A limit on the time that one kind of deferrable work may take in each turn of the event loop.

    The limit is a share of the duration of the previous turn. Under load a turn takes 100 ms, and a fixed
    limit would allow too little work. The shares of all budgets must add up to less than 1; otherwise each
    turn could be longer than the previous one.
    """

    __slots__ = ("_least", "_most", "_rest", "_share")

    def __init__(self, least: float, share: float, most: float) -> None:
        """Set the limit to `share` of the previous turn, but at least `least` and at most `most` seconds."""
        self._least = least
        self._share = share
        self._most = most
        self._rest = inf  # unlimited until an instrument calls `renew`

    def take(self, seconds: float) -> bool:
        """Reserve the estimated time of a piece of work; return False if no time is left in this turn.

        In each turn, a caller should do its first piece of work before it calls this, so that the work always
        makes progress.
        """
        if self._rest <= 0:
            return False
        self._rest -= seconds
        return True

    def renew(self, turn: float) -> None:
        """Begin a new turn. The previous turn took `turn` seconds."""
        self._rest = min(max(self._least, self._share * turn), self._most)


class Turns(trio.abc.Instrument):
    """A trio instrument that measures the turns of the event loop. All times are in seconds of trio's clock.

    Before the instrument is installed, `arrived` returns the current time, and the budgets are unlimited.
    """

    def __init__(self) -> None:
        self.accepting = Budget(0.001, 0.25, 0.03)
        """The budget for accepting connections, so that connected clients cannot keep new clients out."""
        self.results = Budget(0.0005, 0.125, 0.015)
        """The budget for sending delayed results to players, so that floods of messages do not delay them."""
        self.deferred = Budget(0.0004, 0.35, 0.03)
        """The budget for other work that can wait.

        This work is for clients that send several messages at once, for clients that have disconnected, and
        for relayed browsers.
        """
        self._waiting = trio.lowlevel.ParkingLot()
        self._going_on = 0
        """The number of tasks in `wait` that were woken in this turn and have not run yet."""
        self._arrived: float | None = None
        self._seen: float | None = None
        """The polls have found all bytes that arrived before this time."""
        self._asleep = 0.0
        self._awake: float | None = None
        self._delays: deque[tuple[float, float]] = deque(maxlen=_KEPT)
        """The delays between polls, as pairs of end and length. Each is shorter than those before it."""

    def arrived(self) -> float:
        """Return the earliest time at which bytes read in this turn can have arrived."""
        return trio.current_time() if self._arrived is None else self._arrived

    def delay_since(self, then: float) -> float:
        """Return the longest of the delays between two polls that ended since `then`, in seconds."""
        return next((delay for over, delay in self._delays if over >= then), 0.0)

    async def wait(self, seconds: float) -> None:
        """Wait for a turn with time for `seconds` of work. The task that waits longest is woken first.

        At least one waiting task is woken in each turn.
        """
        await trio.lowlevel.checkpoint_if_cancelled()
        if self._going_on:
            await self._waiting.park()
        else:
            self._going_on = 1
            await trio.lowlevel.cancel_shielded_checkpoint()
        self._going_on -= 1
        if self._waiting and not self._going_on:  # the last task of this turn wakes those of the next turn
            count = 1
            while count < len(self._waiting) and self.deferred.take(seconds):
                count += 1
            self._going_on = len(self._waiting.unpark(count=count))

    def before_io_wait(self, timeout: float) -> None:
        """Store the time at which the work of the turn ends."""
        self._asleep = trio.current_time()

    def after_io_wait(self, timeout: float) -> None:
        """Compute the times after a poll that had this `timeout`, and renew the budgets."""
        now = trio.current_time()
        awake = self._asleep if self._awake is None else self._awake
        seen = self._asleep if self._seen is None else self._seen
        work, looked = self._asleep - awake, now - self._asleep
        overdue = max(0.0, looked - timeout)
        if timeout > 0 and overdue > OVERDUE:
            # After SIGSTOP and SIGCONT, a poll can find nothing although bytes have arrived (EINTR).
            self._arrived = self._seen = seen
        elif timeout > 0 and looked > max(SLACK, work):
            self._arrived = self._seen = now
        else:
            # The poll may have taken time without waiting, since after a long turn it finds many sockets.
            self._arrived, self._seen = seen, self._asleep
        self.accepting.renew(work)
        self.results.renew(work)
        self.deferred.renew(work)
        self._note(now, work + overdue)
        self._awake = now

    def _note(self, now: float, delay: float) -> None:
        if delay > SLACK:
            while self._delays and self._delays[-1][1] <= delay:
                self._delays.pop()
            self._delays.append((now, delay))


class TimedTurns(Turns):
    """`Turns` with histograms for the metrics. The measured time of the first turn may be too short."""

    def __init__(self) -> None:
        super().__init__()
        self.delays = Histogram()
        """The delays between polls.

        A delay is the time from the end of a poll to the start of the next one, plus the time by which the
        next poll ended after its timeout.
        """
        self.answers = Histogram()
        """The times from the earliest possible arrival of a poll's bytes until all of them were processed."""

    def before_io_wait(self, timeout: float) -> None:
        """Store the time at which the work of the turn ends, and add a time to `answers`."""
        super().before_io_wait(timeout)
        if self._arrived is not None:
            self.answers.add(self._asleep - self._arrived)

    def _note(self, now: float, delay: float) -> None:
        self.delays.add(delay)
        if delay > SLACK:
            super()._note(now, delay)

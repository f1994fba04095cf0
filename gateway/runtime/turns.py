"""The turns of trio's event loop: when bytes arrived, how long polls were delayed, time budgets of a turn.

A turn runs the tasks that are ready, and then polls all sockets. The bytes found by a poll may have arrived
at any time since the previous poll, so the time between the two polls is not charged to the client. Does not
know games. The section "Time" of each dialect's PROTOCOL.md says how clocks use these times.
"""

from collections import deque
from math import inf

import trio

from gateway.runtime.histogram import Histogram

SLACK = 0.001
"""Seconds. A poll that took longer than this, and longer than the work before it, waited for bytes."""
OVERDUE = 0.01
"""Seconds. If a poll ends more than this after its timeout, the machine delayed it."""

_KEPT = 1000


class Budget:
    """Limits the time in each turn of the loop for one kind of work that can wait for the next turn.

    The limit is a share of the duration of the previous turn. Under load a turn takes 100 ms, and a fixed
    limit would allow too little work. The shares of all budgets must add up to less than 1; otherwise each
    turn could be longer than the one before.
    """

    __slots__ = ("_least", "_most", "_rest", "_share")

    def __init__(self, least: float, share: float, most: float) -> None:
        """The budget is `share` of the previous turn, but at least `least` and at most `most` seconds."""
        self._least = least
        self._share = share
        self._most = most
        self._rest = inf  # unlimited until an instrument calls `renew`

    def take(self, seconds: float) -> bool:
        """Reserve the estimated time of a piece of work; return False if no time is left in this turn.

        A caller does its first piece of work in a turn before it calls this, so that each turn makes
        progress.
        """
        if self._rest <= 0:
            return False
        self._rest -= seconds
        return True

    def renew(self, turn: float) -> None:
        """Set the budget for a new turn; the previous turn took `turn` seconds."""
        self._rest = min(max(self._least, self._share * turn), self._most)


class Turns(trio.abc.Instrument):
    """A trio instrument that measures the turns of the loop. All times are trio's, in seconds.

    Until the instrument is installed, the arrival time of bytes is the time when they are read, and budgets
    have no limit.
    """

    def __init__(self) -> None:
        self.accepting = Budget(0.001, 0.25, 0.03)
        """For accepting connections. Separate, so that connected clients cannot keep new ones out."""
        self.results = Budget(0.0005, 0.125, 0.015)
        """For sending delayed results to players. Separate, so that floods of messages do not delay them."""
        self.deferred = Budget(0.0004, 0.35, 0.03)
        """For all other work that can wait: clients that send several messages at once, clients that have
        disconnected, relayed browsers."""
        self._waiting = trio.lowlevel.ParkingLot()
        self._going_on = 0
        """The number of tasks that `wait` has woken in this turn and that have not run yet."""
        self._arrived: float | None = None
        self._seen: float | None = None
        """All bytes that arrived before this time have been found by a poll."""
        self._asleep = 0.0
        self._awake: float | None = None
        self._delays: deque[tuple[float, float]] = deque(maxlen=_KEPT)
        """Pairs of the end and the length of a delay. Each delay is shorter than those before it."""

    def arrived(self) -> float:
        """Return the earliest time at which bytes read in this turn can have arrived."""
        return trio.current_time() if self._arrived is None else self._arrived

    def delay_since(self, then: float) -> float:
        """Return the longest delay between two polls, in seconds, of all delays that ended since `then`."""
        return next((delay for over, delay in self._delays if over >= then), 0.0)

    async def wait(self, seconds: float) -> None:
        """Wait for a turn with time for `seconds` of work, first come, first served.

        In each turn at least one of the waiting tasks is woken.
        """
        await trio.lowlevel.checkpoint_if_cancelled()
        if self._going_on:
            await self._waiting.park()
        else:
            self._going_on = 1
            await trio.lowlevel.cancel_shielded_checkpoint()
        self._going_on -= 1
        if self._waiting and not self._going_on:  # the last task of this turn wakes those of the next
            count = 1
            while count < len(self._waiting) and self.deferred.take(seconds):
                count += 1
            self._going_on = len(self._waiting.unpark(count=count))

    def before_io_wait(self, timeout: float) -> None:
        """Store the time when the work of the turn ended."""
        self._asleep = trio.current_time()

    def after_io_wait(self, timeout: float) -> None:
        """Compute the times of a turn after its poll, and renew the budgets. The poll had this `timeout`."""
        now = trio.current_time()
        awake = self._asleep if self._awake is None else self._awake
        seen = self._asleep if self._seen is None else self._seen
        work, looked = self._asleep - awake, now - self._asleep
        overdue = max(0.0, looked - timeout)
        if timeout > 0 and overdue > OVERDUE:
            # After SIGSTOP and SIGCONT the poll may have found nothing though bytes were there (EINTR).
            self._arrived = self._seen = seen
        elif timeout > 0 and looked > max(SLACK, work):
            self._arrived = self._seen = now
        else:
            # A poll that finds many sockets, as after a long turn, takes time without waiting.
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
    """Turns with histograms for the metrics. The measured time of the first turn may be too short."""

    def __init__(self) -> None:
        super().__init__()
        self.delays = Histogram()
        """The times without a poll: from the end of a poll to the start of the next poll, plus the delay of
        the end of the next poll."""
        self.answers = Histogram()
        """The time from the earliest possible arrival of a poll's bytes until all of them were processed."""

    def before_io_wait(self, timeout: float) -> None:
        """Store the time when the work of the turn ended, and count the time of the answers."""
        super().before_io_wait(timeout)
        if self._arrived is not None:
            self.answers.add(self._asleep - self._arrived)

    def _note(self, now: float, delay: float) -> None:
        self.delays.add(delay)
        if delay > SLACK:
            super()._note(now, delay)

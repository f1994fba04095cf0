"""The turns of trio's event loop: when bytes arrived, how long clients waited, what else fits into a turn.

A turn runs the tasks that are ready, and then polls all sockets. Bytes that a poll finds were not there at
the poll before, so the client is not charged for the work in between. Does not know games (how clocks use
these times: "Time" in each dialect's PROTOCOL.md).
"""

from collections import deque
from math import inf

import trio

from gateway.runtime.histogram import Histogram

SLACK = 0.001
"""Seconds. A poll that takes longer than this, and than the work before it, waited for what it found."""
OVERDUE = 0.01
"""Seconds. A poll that ends this much later than its timeout was delayed by the machine."""

_KEPT = 1000


class Budget:
    """The time in each turn of the loop for one kind of work that can wait for the next turn.

    The time is a share of the turn before: where thousands play as fast as they can a turn takes 100 ms, and
    a few pieces of work in each would be too few. The shares of all budgets together are less than 1, or long
    turns would make the next ones longer.
    """

    __slots__ = ("_least", "_most", "_rest", "_share")

    def __init__(self, least: float, share: float, most: float) -> None:
        """At least `least` seconds, at most `most`, and in between that share of the turn before."""
        self._least = least
        self._share = share
        self._most = most
        self._rest = inf  # without an instrument that sees the turns, nothing has to wait

    def take(self, seconds: float) -> bool:
        """Take the time for a piece of work, by estimate; return False if none is left in this turn.

        Each kind of work does its first piece in a turn without asking, so that it always goes on.
        """
        if self._rest <= 0:
            return False
        self._rest -= seconds
        return True

    def renew(self, turn: float) -> None:
        """Begin a turn; the one before took `turn` seconds."""
        self._rest = min(max(self._least, self._share * turn), self._most)


class Turns(trio.abc.Instrument):
    """The turns of the loop. All times are trio's, in seconds.

    Until this is installed as a trio instrument, bytes count as having arrived when they were read, and there
    is time for everything.
    """

    def __init__(self) -> None:
        self.accepting = Budget(0.001, 0.25, 0.03)
        """For connections that wait to be accepted: separate, so clients who are here keep no others out."""
        self.results = Budget(0.0005, 0.125, 0.015)
        """For players that are told a result which was waited for: whoever floods the server delays none."""
        self.deferred = Budget(0.0004, 0.35, 0.03)
        """For all other work that can wait: of clients that send several messages at once, of those that have
        hung up, and of relayed browsers."""
        self._waiting = trio.lowlevel.ParkingLot()
        self._going_on = 0
        """Tasks whose turn it is, and that have not gone on yet."""
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

    async def wait(self, seconds: float) -> None:
        """Return in a turn with time for work of so many seconds, first come, first served.

        At least one of those who wait goes on in each turn.
        """
        await trio.lowlevel.checkpoint_if_cancelled()
        if self._going_on:
            await self._waiting.park()
        else:
            self._going_on = 1
            await trio.lowlevel.cancel_shielded_checkpoint()
        self._going_on -= 1
        if self._waiting and not self._going_on:  # the last one of this turn wakes those of the next
            count = 1
            while count < len(self._waiting) and self.deferred.take(seconds):
                count += 1
            self._going_on = len(self._waiting.unpark(count=count))

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
    """The turns, and how long they took, for metrics. The first one may count as shorter than it was."""

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

"""Calls a function a while after facts were published, in the task of a client that is told of them.

Nothing may be sent to clients while facts are published, and a front end has no task of its own. So each
client that is told runs `Delayed.follow`, and one of these tasks tells all. Does not know what they are told.
"""

from collections.abc import Callable

import trio


class Delayed:
    """Calls a function some seconds after `wake`, once for all that wake it in that time."""

    def __init__(self, publish: Callable[[], None], period: float) -> None:
        """`publish` is called `period` seconds after a `wake`, or earlier if the task that waits ends."""
        self._publish = publish
        self._period = period
        self._has_news = False
        self._idle = trio.lowlevel.ParkingLot()
        """The tasks that wait for something to happen."""

    def wake(self) -> None:
        """Have the function called. This may be called while facts are published."""
        self._has_news = True
        self._idle.unpark()

    async def follow(self) -> None:
        """Call the function whenever it is due, in turns with the tasks of other clients. Never returns."""
        while True:
            if not self._has_news:  # else no task may have been there to be woken
                await self._idle.park()
            try:
                await trio.sleep(self._period)
            finally:
                self._has_news = False
                self._publish()

"""What a bot is expected to do next, and whether it does in time.

Knows time. Does not know what anything means. A bot that may only be slow is given more time, so that what it
needs can be told.
"""

import math
from typing import Protocol

import trio

from adapters.check.wire import CheckedSocket
from adapters.client.rules import Topic

_TIMES = 4
"""How many times its patience a bot is given that may only be slow."""
_MOST = 30.0
"""Seconds that it is given at most, unless its patience is longer."""
_DOUBT = 3
"""How many times as much is proposed where even that was not enough."""


class Judge(Protocol):
    """What decides about a bot that is late."""

    @property
    def may_be_slow(self) -> bool:
        """Whether the bot is given more time than its patience."""

    def came_late(self, seconds: float) -> None:
        """Take note that the bot did what was expected, but only after so many seconds."""

    async def failed_to(self, topic: Topic | None, words: str) -> None:
        """Take note of what the bot did not do."""


class Expected:
    """One thing at a time."""

    def __init__(self, nursery: trio.Nursery, wire: CheckedSocket, patience: float, judge: Judge) -> None:
        self._nursery, self._wire, self._patience, self._judge = nursery, wire, patience, judge
        self._number = 0
        """Counts what was expected, or done: what was expected at another number is over."""
        self._overdue: float | None = None
        """Since when something is expected, if that is longer ago than the patience."""

    def came(self) -> None:
        """Note that the bot did what was expected."""
        since = self._overdue
        self.done()
        if since is not None:
            self._judge.came_late(trio.current_time() - since)

    def done(self) -> None:
        """Expect nothing any more."""
        self._number, self._overdue = self._number + 1, None

    def next(self, topic: Topic | None, words: str) -> None:
        """Expect something, from when the bot can know; `words` say that it did not come."""
        self.done()
        self._nursery.start_soon(self._wait, self._number, topic, words)

    async def _wait(self, number: int, topic: Topic | None, words: str) -> None:
        await self._wire.flush()
        since, waited = trio.current_time(), self._patience
        await trio.sleep(waited)
        if self._number != number:
            return
        hint = ""
        if topic is not Topic.REFUSED and self._judge.may_be_slow:
            self._overdue, waited = since, longest(self._patience)
            hint = f"; if it takes longer than that, try --patience {math.ceil(_DOUBT * waited)}"
            await trio.sleep_until(since + waited)
        if self._number == number:
            await self._judge.failed_to(topic, f"{words} within {waited:g} s{hint}")


def longest(patience: float) -> float:
    """Return how many seconds a bot is given that may only be slow."""
    return max(patience, min(_TIMES * patience, _MOST))

"""What a bot is expected to do next, and whether it does in time.

Knows time. Does not know what anything means.
"""

from collections.abc import Awaitable, Callable
from typing import TypeAlias

import trio

from adapters.check.rules import Topic
from adapters.check.wire import CheckedWire

Missed: TypeAlias = Callable[[Topic | None, str], Awaitable[None]]


class Expected:
    """One thing at a time."""

    def __init__(self, nursery: trio.Nursery, wire: CheckedWire, patience: float, missed: Missed) -> None:
        """`missed` is called with what the bot did not do in `patience` seconds."""
        self._nursery, self._wire, self._patience, self._missed = nursery, wire, patience, missed
        self._number = 0
        """Counts what was expected, or done: what was expected at another number is over."""

    def done(self) -> None:
        """Note that the bot did something: nothing is expected any more."""
        self._number += 1

    def next(self, topic: Topic | None, words: str) -> None:
        """Expect something, from when the bot can know; `words` say that it did not come."""
        self._number += 1
        self._nursery.start_soon(self._wait, self._number, topic, words)

    async def _wait(self, number: int, topic: Topic | None, words: str) -> None:
        await self._wire.flush()
        await trio.sleep(self._patience)
        if self._number == number:
            await self._missed(topic, f"{words} within {self._patience:g} s")

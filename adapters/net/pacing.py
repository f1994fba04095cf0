"""What is held against one client: how fast it is read, and that it may not be let in.

Knows numbers of messages and times. Does not know what a message is, nor how it is not read. A client that is
too fast is made to wait: what it sends stays in the system, until TCP holds it back. It is not hung up on.

The rule it keeps: a message within the limit costs one comparison, of its number with `upto`. The clock is
looked at only when as many have come as were allowed then; so after a pause there may be up to two bursts.
"""

import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from math import inf
from typing import TypeAlias

import trio

from gateway.runtime.throttle import Portions

LEAST = 0.02
"""Seconds that a client waits longer than for one message, so that it does not wait for each of many."""

SHARED = 4
"""Messages beyond the first of each client that are handled at once in each `PERIOD`, of all clients."""
PERIOD = 0.005
"""Seconds from the first of these."""

CountAt: TypeAlias = Callable[[str | None], Awaitable[None]]
"""Counts a client at its origin, at once or after a while; at None no more. Raises `NotLetIn`."""


class NotLetIn(Exception):
    """A limit refuses a client. The text is a sentence that says so."""


async def count_nowhere(_origin: str | None) -> None:
    """Count nothing."""


def _ignore(_option: str, _origin: str) -> None:
    pass


@dataclass(frozen=True, slots=True)
class ClientLimits:
    """What is held against each client of a front end, and whom to tell when that comes about."""

    rate: float = inf
    """Messages a second."""
    burst: int = sys.maxsize
    """Messages at once, 1 or more."""
    request: float = 60.0
    """Seconds for the head of an HTTP request."""
    reached: Callable[[str, str], None] = _ignore
    """Is called with the option whose limit a client reached, and with where that is."""


UNLIMITED = ClientLimits()


class Pace:
    """How many messages of one client may be carried out so far."""

    __slots__ = ("_limits", "_since", "upto")

    def __init__(self, limits: ClientLimits, now: float) -> None:
        self.upto = limits.burst
        """The number of the last message that is allowed; see `allows` for those after it."""
        self._limits = limits
        self._since = now
        """The time up to which messages were allowed."""

    def allows(self, number: int, now: float) -> bool:
        """Whether a further message may follow the one with that number, now that `upto` is reached."""
        limits = self._limits
        earned = int(min((now - self._since) * limits.rate, limits.burst))
        if earned > 0:
            self.upto += earned
            self._since = now if earned == limits.burst else self._since + earned / limits.rate
        return number < self.upto

    async def ready(self, number: int, origin: str) -> None:
        """Return when a further message may follow the one with that number of the client there."""
        if number < self.upto or self.allows(number, trio.current_time()):
            return
        self._limits.reached("messages-per-second", origin)
        await trio.sleep_until(self._since + 1 / self._limits.rate + LEAST)
        self.allows(number, trio.current_time())


class Turns:
    """What clients share that send several messages at once.

    The first of them is handled at once, and so are further ones as long as all clients together have no more
    than `SHARED` of these in a `PERIOD`. Whatever else was sent is handled in turns of the event loop, one
    client a turn, and more if turns are long.
    """

    def __init__(self) -> None:
        self._waiting = trio.lowlevel.ParkingLot()
        self._going_on = 0
        """Tasks whose turn it is, and that have not gone on yet."""
        self._portions = Portions(1)
        self._left = SHARED
        self._since = -inf

    def granted(self, messages: int, now: float) -> int:
        """Return how many of a client's messages are handled at once, at least one."""
        if now - self._since >= PERIOD:
            self._left, self._since = SHARED, now
        further = min(messages - 1, self._left)
        self._left -= further
        return 1 + further

    async def take(self) -> None:
        """Return in a turn that few other clients take, first come, first served."""
        await trio.lowlevel.checkpoint_if_cancelled()
        if self._going_on:
            await self._waiting.park()
        else:
            self._going_on = 1
            self._portions.begin(trio.current_time())
            await trio.lowlevel.cancel_shielded_checkpoint()
        self._going_on -= 1
        if self._waiting and not self._going_on:
            self._going_on = len(self._waiting.unpark(count=self._portions.next(trio.current_time())))

"""Limits on one client: messages a second, and the time for a request.

Knows the numbers and the times of messages. Does not know what a message is. A client that is too fast stays
connected, but has to wait: its bytes stay in the system's buffer until TCP stops the client from sending.
"""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from math import inf

import trio

LEAST = 0.02
"""Seconds by which each wait is longer than needed, so that several messages are read after it."""


def _ignore(_option: str, _origin: str) -> None:
    pass


@dataclass(frozen=True, slots=True)
class ClientLimits:
    """The limits on each client of a front end."""

    rate: float = inf
    """Messages a second."""
    burst: int = sys.maxsize
    """Messages that may come at once, 1 or more."""
    request: float = 60.0
    """Seconds for the head of an HTTP request."""
    reached: Callable[[str, str], None] = _ignore
    """Called with the option and the client's origin when a client reaches a limit."""


UNLIMITED = ClientLimits()


class RateLimit:
    """The limit on the number of one client's messages.

    A message within the limit costs only one comparison of its number with `upto`. The clock is read only
    when all allowed messages have come. So after a pause, a client may send up to two bursts at once.
    """

    __slots__ = ("_limits", "_since", "upto")

    def __init__(self, limits: ClientLimits, now: float) -> None:
        self.upto = limits.burst
        """The number of the last message that is allowed; `allows` raises it."""
        self._limits = limits
        self._since = now
        """The time up to which messages are counted in `upto`."""

    def allows(self, number: int, now: float) -> bool:
        """Return whether a message may follow message `number`. Call it only when `upto` is reached.

        First raise `upto` by the messages allowed since the last call.
        """
        limits = self._limits
        earned = int(min((now - self._since) * limits.rate, limits.burst))
        if earned > 0:
            self.upto += earned
            self._since = now if earned == limits.burst else self._since + earned / limits.rate
        return number < self.upto

    async def wait(self, number: int, origin: str) -> None:
        """Wait until a message may follow message `number` of the client at `origin`."""
        if number < self.upto or self.allows(number, trio.current_time()):
            return
        self._limits.reached("messages-per-second", origin)
        await trio.sleep_until(self._since + 1 / self._limits.rate + LEAST)
        self.allows(number, trio.current_time())

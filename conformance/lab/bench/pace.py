"""When a move is sent: at once, or in its turn so that all bots together make so many moves a second.

Knows bots' due times; is told the time.
"""

from __future__ import annotations

from heapq import heappop, heappush
from itertools import count
from typing import Protocol


class Sender(Protocol):
    """A bot, as far as its pace goes."""

    due: float
    """When it last was to send a move."""
    sent_at: float
    """When it last sent one."""
    sent_before: float
    """When it sent the one before."""

    @property
    def peer(self) -> Sender:
        """Its opponent."""

    def say(self, data: bytes) -> None:
        """Send something."""


class Pace:
    """What waits to be sent."""

    def __init__(self) -> None:
        self.interval: float | None = None
        """Seconds between two moves of one pair; None: moves are sent at once, past this queue."""
        self._queue: list[tuple[float, int, Sender, bytes]] = []
        self._numbers = count()

    def add(self, bot: Sender, data: bytes, now: float) -> None:
        """Send a move when the pair's interval has passed since its latest was due."""
        interval = self.interval or 0.0
        bot.due = max(bot.due, bot.peer.due) + interval  # who made a game's last move opens the next one
        if interval and (late := now - bot.due) > interval:
            # A whole turn was missed. Pairs keep to their own beat all the same, or they would fall into one.
            bot.due += late // interval * interval
        self.delay(bot, data, bot.due)

    def delay(self, bot: Sender, data: bytes, due: float) -> None:
        """Send something at a time of its own."""
        heappush(self._queue, (due, next(self._numbers), bot, data))

    def until_due(self, now: float) -> float:
        """Return the seconds until something is due; at least 0, infinite where nothing waits."""
        return max(0.0, self._queue[0][0] - now) if self._queue else float("inf")

    def send_due(self, now: float) -> None:
        """Send what is due."""
        while self._queue and self._queue[0][0] <= now:
            self._send_first(now)

    def send_all(self, now: float) -> None:
        """Send what waits, due or not."""
        while self._queue:
            self._send_first(now)

    def _send_first(self, now: float) -> None:
        _, _, bot, data = heappop(self._queue)
        bot.sent_before, bot.sent_at = bot.sent_at, now
        bot.say(data)

"""Letting the games that are on be finished before the server stops.

Knows the hub's seats, the time, and that a second request ends it. Does not know signals or connections. The
rule it keeps: from the first moment on no further game begins, and a player without a game is told good-bye
as at a stop, one in a turn of the loop, so that no game has to wait for thousands of good-byes.
"""

import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from logging import INFO, WARNING

import trio

from gateway.hub.interfaces import HubForTime

PERIOD = 0.1
"""Seconds until those are looked for again whose game is over."""
LOOKED_AT = 100
"""Players that are looked at in one turn of the loop, if all of them play."""

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class Patience:
    """How long games may go on at the first SIGTERM."""

    seconds: float = 0.0
    by_operator: bool = False
    """Whether the operator has asked for the stop by a command, which then sends the signal."""


async def drain(hub: HubForTime, seconds: float, again: Callable[[], Awaitable[object]]) -> None:
    """Return when nobody plays any more, after `seconds`, or when `again` returns."""
    hub.drain()
    with trio.move_on_after(seconds):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(_cut_short, again, nursery.cancel_scope)
            await _until_nobody_is_here(hub)
            nursery.cancel_scope.cancel()
    left = len(hub.seats())
    words = f"{left} players are cut off" if left else "all games are over"
    logger.log(WARNING if left else INFO, "drained: %s", words, extra={"event": "drained", "players": left})


async def _cut_short(again: Callable[[], Awaitable[object]], scope: trio.CancelScope) -> None:
    await again()
    scope.cancel()


async def _until_nobody_is_here(hub: HubForTime) -> None:
    while seats := hub.seats():
        for number, seat in enumerate(seats, 1):
            if hub.let_go(seat, trio.current_time()) or number % LOOKED_AT == 0:
                await trio.lowlevel.checkpoint()
        await trio.sleep(PERIOD)

"""The server's end of the live pages: tells the web's process what happens, while somebody there watches.

Subscribes to the hub's feed when it is wanted, and only then; otherwise it costs players nothing. Knows trio
and the hub's feed; does not know viewers. The rules it keeps:

- Players never wait for it. It tells what waits, rests, and looks again. If the web's process does not take
  that, the feed drops what comes meanwhile, and all that is on is told anew.
- A step is short, however many play. What is on is told in parts, each with what happened until then.
"""

from collections.abc import Awaitable, Callable, Sequence
from itertools import islice
from typing import Any

import trio

from adapters.web.live.rows import COMPLETE, begun, written
from gateway.game.facts import Missed
from gateway.hub.feed import ALL, Subscription
from gateway.hub.interfaces import HubForSubscribers
from gateway.hub.seat import Seat

PAUSE = 0.05
"""Seconds from what was told to what is told next."""
PART = 50
"""Players who are told of in one step."""
LIMIT = 5_000
"""Facts that may wait while the web's process takes none."""
MOST = 100
"""Rows in a message. With the longest names it is still no longer than a message may be."""


class Telling:
    """Tells one web process."""

    def __init__(self, hub: HubForSubscribers, send: Callable[[Sequence[str]], Awaitable[None]]) -> None:
        """`send` sends rows, as `Link.tell` does."""
        self._hub = hub
        self._send = send
        self._wanted = 0
        self._woken = trio.Event()

    def want(self, number: int) -> None:
        """Begin to tell all that is on, for the request `number`; 0 to tell nothing any more."""
        self._wanted = number
        self._wake()

    async def run(self) -> None:
        """Tell what is wanted, until cancelled. Raises what `send` raises."""
        while True:
            if self._wanted:
                facts = self._hub.feed.subscribe(self._wake, ALL, LIMIT)
                try:
                    await self._tell(facts, self._wanted)
                finally:
                    facts.close()
            else:
                await self._sleep()

    async def _tell(self, facts: Subscription, number: int) -> None:
        """Tell all that is on, then what happens, until facts were missed or others are wanted."""
        await self._send([begun(number)])
        seats = iter(self._hub.seats())
        while part := tuple(islice(seats, PART)):
            if not await self._pass_on(facts, part):
                return
        await self._send([COMPLETE])
        while self._wanted == number and await self._pass_on(facts):
            await trio.sleep(PAUSE)
            await self._sleep()

    async def _pass_on(self, facts: Subscription, seats: Sequence[Seat] = ()) -> bool:
        """Tell what happened, and then what is on at `seats`; return False where facts were missed."""
        taken = facts.take()
        happened = [fact for fact in taken if not isinstance(fact, Missed)]
        if len(happened) < len(taken):
            return False
        told = iter((*happened, *self._what_is_on_at(seats)))
        while rows := [*map(written, islice(told, MOST))]:
            await self._send(rows)
        return True

    def _what_is_on_at(self, seats: Sequence[Seat]) -> Sequence[Any]:
        if not seats:
            return ()
        on = self._hub.snapshot(trio.current_time(), seats)
        return (*on.players, *on.waiting, *on.games)

    def _wake(self) -> None:
        self._woken.set()

    async def _sleep(self) -> None:
        if not self._woken.is_set():
            await self._woken.wait()
        self._woken = trio.Event()

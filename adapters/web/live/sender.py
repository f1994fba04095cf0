"""The server's end of the live stream: it sends facts to the web's process while somebody watches.

It subscribes to the hub's feed only then, and asks the other nodes of a cluster only then; otherwise it costs
players nothing. Knows trio, the hub's feed and what other nodes tell; does not know viewers. The rules it
keeps:

- Players never wait for it. It sends what waits, pauses, and looks again. If the web's process is too slow,
  the feed drops facts, and the complete state is sent again.
- A step is short, however many play: the state is sent in parts, each after the facts before it.
- The state is complete when all nodes have told theirs, or after `GRACE`. What a node tells later than that,
  or when it joins, is followed by one more end of the state.
"""

from collections.abc import Sequence
from itertools import islice
from math import inf

import trio

from adapters.web.link import Begun, Complete, Messages
from gateway.game.fact_encoding import encode_fact
from gateway.game.facts import Missed, Shown
from gateway.hub.feed import ALL, RemoteFact, RemoteSubscription, Subscription
from gateway.hub.hub import Hub
from gateway.hub.seats import Seat

PAUSE = 0.05
"""Seconds between two messages."""
SHORT_PAUSE = 0.005
"""Seconds while another node still tells its state."""
PART = 15
"""Players in one part of the state: what is sent without a pause takes a millisecond."""
LIMIT = 5_000
"""Facts that may wait for the web's process."""
MOST = 20
"""Facts in a message, for the same reason."""
GRACE = 1.0
"""Seconds that the state waits for other nodes."""


class FactSender:
    """Sends facts to one web process."""

    def __init__(self, hub: Hub, messages: Messages) -> None:
        self._hub = hub
        self._messages = messages
        self._wanted = 0
        self._woken = trio.Event()

    def want(self, number: int) -> None:
        """Send the state and then facts, for the request `number`; with 0 stop sending."""
        self._wanted = number
        self._wake()

    async def run(self) -> None:
        """Send what is wanted, until cancelled. Raises LinkError."""
        while True:
            if self._wanted:
                facts = self._hub.feed.subscribe(self._wake, ALL, LIMIT)
                cluster = self._hub.cluster
                others = _NoNodes() if cluster is None else cluster.feed.subscribe(self._wake)
                try:
                    await self._tell(facts, others, self._wanted)
                finally:
                    facts.close()
                    others.close()
            else:
                await self._sleep()

    async def _tell(self, facts: Subscription, others: RemoteSubscription, number: int) -> None:
        """Send the state, then facts, until facts were missed or another request came."""
        await self._messages.send(Begun(number))
        seats = iter(self._hub.seats())
        while part := tuple(islice(seats, PART)):
            if not await self._pass_on(facts, part):
                return
        patience = trio.current_time() + GRACE
        is_complete = was_whole = False
        while self._wanted == number and await self._pass_on(facts) and await self._pass_on_others(others):
            is_whole = others.is_whole
            if is_whole > was_whole or (not is_complete and trio.current_time() >= patience):
                is_complete = True
                await self._messages.send(Complete())
            was_whole = is_whole
            await trio.sleep(PAUSE if is_whole else SHORT_PAUSE)
            with trio.move_on_at(inf if is_complete else patience):
                await self._sleep()

    async def _pass_on(self, facts: Subscription, seats: Sequence[Seat] = ()) -> bool:
        """Send the facts that wait, and then the state of `seats`; return False if facts were missed."""
        taken = facts.take()
        happened = [fact for fact in taken if not isinstance(fact, Missed)]
        if len(happened) < len(taken):
            return False
        told = iter((*happened, *self._what_is_on_at(seats)))
        while found := [*map(encode_fact, islice(told, MOST))]:
            await self._messages.send_facts(found)
        return True

    async def _pass_on_others(self, others: RemoteSubscription) -> bool:
        """Send what other nodes have told; return False if facts were missed."""
        while taken := others.take(MOST):
            told = [each for each in taken if not isinstance(each, Missed)]
            if len(told) < len(taken):
                return False
            await self._messages.send_facts([*map(encode_fact, told)])
        return True

    def _what_is_on_at(self, seats: Sequence[Seat]) -> Sequence[Shown]:
        if not seats:
            return ()
        on = self._hub.snapshot(trio.current_time(), seats)
        return (*on.players, *on.waiting, *on.hindered, *on.games)

    def _wake(self) -> None:
        self._woken.set()

    async def _sleep(self) -> None:
        if not self._woken.is_set():
            await self._woken.wait()
        self._woken = trio.Event()


class _NoNodes:
    """The other nodes of a server that is alone."""

    is_whole = True

    def close(self) -> None:
        """Do nothing."""

    def take(self, most: int) -> Sequence[RemoteFact]:
        """Return that there is nothing."""
        return ()

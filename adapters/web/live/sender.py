"""Sends facts from the server to the web process while there are viewers.

Only while there are viewers, it subscribes to the hub's feed, and asks the other nodes of a cluster for
their facts. At other times it costs players nothing. Knows trio, the hub's feed and the facts of other nodes;
does not know viewers. Players never wait for it: if the web process is too slow, the feed drops facts, and
the whole state is sent again.
"""

from collections.abc import Sequence
from itertools import islice
from math import inf

import trio

from adapters.web.link import Begun, Complete, Facts, Messages
from gateway.game.fact_encoding import encode_fact
from gateway.game.facts import Missed, Shown
from gateway.hub.feed import ALL, RemoteSubscription, Subscription
from gateway.hub.hub import Hub

PAUSE = 0.05
"""Seconds between two messages."""
SHORT_PAUSE = 0.005
"""Seconds between two messages while another node still sends its state."""
PART = 15
"""Players in one part of the state. The event loop is busy with one part for about a millisecond."""
LIMIT = 5_000
"""The most facts that may wait for the web process."""
MOST = 20
"""The most facts in a message, for the same reason as `PART`."""
GRACE = 1.0
"""Seconds to wait for the state of other nodes."""


class FactSender:
    """Sends facts to one web process."""

    def __init__(self, hub: Hub, messages: Messages) -> None:
        self._hub = hub
        self._messages = messages
        self._wanted = 0
        self._woken = trio.Event()

    def want(self, number: int) -> None:
        """Send the state and then facts, for the request `number`. The number 0 stops the sending."""
        self._wanted = number
        self._woken.set()

    async def run(self) -> None:
        """Send the state and facts while they are wanted, until cancelled. Raises LinkError."""
        while True:
            if not self._wanted:
                await self._sleep()
                continue
            facts = self._hub.feed.subscribe(self._wake, ALL, LIMIT)
            cluster = self._hub.cluster
            others = None if cluster is None else cluster.feed.subscribe(self._wake)
            try:
                await self._send_from(facts, others, self._wanted)
            finally:
                facts.close()
                if others is not None:
                    others.close()

    async def _send_from(self, facts: Subscription, others: RemoteSubscription | None, number: int) -> None:
        """Send the state, then facts, until facts were missed or another request came.

        `Complete` follows when all nodes have sent their state, or after `GRACE` seconds. It is sent again
        when a late node has sent its state.
        """
        await self._messages.send(Begun(number))
        seats = iter(self._hub.seats())
        while part := tuple(islice(seats, PART)):
            taken = facts.take()
            on = self._hub.snapshot(trio.current_time(), part)
            if not await self._send((*taken, *on.players, *on.waiting, *on.hindered, *on.games)):
                return
        patience = trio.current_time() + GRACE
        is_complete = was_whole = False
        while self._wanted == number and await self._send(facts.take()):
            while others is not None and (remote := others.take(MOST)):
                if not await self._send(remote):
                    return
            is_whole = others is None or others.is_whole
            if is_whole > was_whole or (not is_complete and trio.current_time() >= patience):
                is_complete = True
                await self._messages.send(Complete())
            was_whole = is_whole
            await trio.sleep(PAUSE if is_whole else SHORT_PAUSE)
            with trio.move_on_at(inf if is_complete else patience):
                await self._sleep()

    async def _send(self, taken: Sequence[Shown | Missed]) -> bool:
        """Send facts, a few at a time; return False, and send nothing, if some were missed."""
        facts = [each for each in taken if not isinstance(each, Missed)]
        if len(facts) < len(taken):
            return False
        rest = iter(facts)
        while some := [*map(encode_fact, islice(rest, MOST))]:
            await self._messages.send(Facts(some))
        return True

    def _wake(self) -> None:
        self._woken.set()

    async def _sleep(self) -> None:
        await self._woken.wait()
        self._woken = trio.Event()

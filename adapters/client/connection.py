"""One client's connection: what reads it, beside the outbox that tells it what happens.

The transport calls it with what arrives. From there to the sockets of other players everything is
synchronous, in the task that found the bytes. Knows how much of one client is carried out in one turn. Knows
no dialect, and not how what is told leaves.

The connection numbers the client's messages. What happens to one connection stays its own: an error of its
outbox ends it here, in the client's task.
"""

from collections.abc import Sequence
from itertools import accumulate
from typing import Generic

import trio

from adapters.client.contract import (
    STOPPED_READING,
    C,
    Codec,
    Flooded,
    HangUp,
    S,
    Translator,
    Transport,
    WireError,
)
from adapters.client.outbox import Outbox
from adapters.client.transports import never
from adapters.client.wire_log import Hide
from adapters.net.pacing import Pace
from gateway.game.commands import Command, Leave, Unreadable
from gateway.hub.hub import HubForPlayers

AT_FIRST = 4
"""Texts of one client that are carried out as soon as they arrive, while few clients send several at once."""
AT_ONCE = 8
"""Texts of one client that are carried out in its turn of the loop, when not all could be at once."""
AT_LENGTH = 256
"""Characters of one client's that are carried out in one turn, unless a single text has more."""


class Connection(Generic[C, S]):
    """A client on a wire, and the tasks that move its messages."""

    __slots__ = (
        "_codec",
        "_hub",
        "_kind",
        "_outbox",
        "_pace",
        "_seat",
        "_translator",
        "_transport",
        "_unheard",
    )

    def __init__(
        self,
        hub: HubForPlayers,
        transport: Transport,
        codec: Codec[C, S],
        translator: Translator[C, S],
        *,
        hide: Hide | None = None,
    ) -> None:
        """`hide` takes a text of the client's, and returns it as it may be recorded."""
        self._hub = hub
        self._transport = transport
        self._codec = codec
        self._translator = translator
        self._outbox = Outbox(hub, transport, codec, translator, hide)
        self._seat = self._outbox.seat
        self._unheard: list[str] = []
        """Texts of the client that are to be carried out later."""
        self._kind = translator.manners.kind
        self._pace = Pace(transport.limits, trio.current_time())
        hub.feed.counts["connections", self._kind] += 1

    async def run(self) -> None:
        """Serve the client until it leaves or is dismissed. Raises PeerGone where it vanished."""
        outbox = self._outbox
        self._transport.thinks = self._thinks
        try:
            with outbox.scope:
                async with trio.open_nursery() as nursery:
                    outbox.open(nursery)
                    try:
                        await self._read()
                        await outbox.released()  # one that sends no more may still want to hear
                    finally:
                        outbox.end()  # the nursery may be closed a turn before the hub hears of the end
        finally:
            now = trio.current_time()
            self._hub.submit(self._seat, Leave(), now)
            self._tell_operator(now)
            outbox.close(now)
            self._unheard = []  # which would wait for the garbage collector
            self._transport.thinks = never
            await self._transport.close(outbox.farewell)
        if outbox.failure is not None:
            try:
                raise outbox.failure
            finally:
                outbox.failure = None  # whose traceback knows the connection

    async def _read(self) -> None:
        words = "the connection ended"
        refused = False
        try:
            more = True
            while more:
                more = await self._transport.listen(self._heard)
                while self._unheard or self._seat.is_held:
                    await self._outbox.room()
                    await self._pace.ready(self._outbox.latest_number, self._transport.origin)
                    await self._transport.turn()
                    texts, self._unheard = self._unheard, []
                    self._heard(texts, is_turn=True)
            words = self._transport.ended
        except Flooded:
            words, refused = "sent too much without an end of the message", True
        except HangUp as error:
            words, refused = str(error), True
        finally:
            self._outbox.note(words)
        if refused:
            self._outbox.latest, self._outbox.latest_number = "", self._outbox.latest_number + 1
            self._hub.submit(self._seat, Unreadable(self._outbox.latest_number), self._transport.read_at)
        self._hub.submit(self._seat, Leave(), self._transport.read_at)

    def _heard(self, texts: list[str], *, is_turn: bool = False) -> bool:
        """Carry out some texts of the client, more in a turn of its own; return whether these were all."""
        now, outbox, pace = self._transport.read_at, self._outbox, self._pace
        limit = 1
        if len(texts) > 1:
            limit = _few(texts, AT_ONCE) if is_turn else self._transport.granted(_few(texts, AT_FIRST))
        for index, text in enumerate(texts):
            if (
                index == limit
                or ((outbox.drains or outbox.holds) and outbox.is_full)
                or (outbox.latest_number >= pace.upto and not pace.allows(outbox.latest_number, now))
            ):
                self._unheard = texts[index:]
                return False
            if outbox.wire_log is not None:
                outbox.wire_log.heard(now, text)
            number = outbox.latest_number = outbox.latest_number + 1
            command: Command
            try:
                message = outbox.latest = self._codec.decode(text)
            except HangUp:
                raise
            except WireError:
                outbox.latest, command = text, Unreadable(number)
            else:
                command = self._translator.receive(message, number)
            waits = self._hub.submit(self._seat, command, now)
            if outbox.holds:
                outbox.remember(text)
            if waits:
                self._unheard = texts[index + 1 :]
                return False
        return True

    def _tell_operator(self, now: float) -> None:
        """Count the connection as over, and log it."""
        counts = self._hub.feed.counts
        counts["connections_over", self._kind] += 1
        stay = self._outbox.stay
        if stay.cause == STOPPED_READING:
            counts["dropped", self._kind] += 1
        stay.log(self._kind, self._seat.name, self._transport.origin, now)

    def _thinks(self) -> bool:
        """Return whether the client may think about a move: it is to move, or may not know that it is not."""
        return self._outbox.holds or self._seat.is_asked


def _few(texts: Sequence[str], limit: int) -> int:
    """Return how many texts may be carried out in one turn, `limit` at most."""
    lengths = accumulate(map(len, texts[:limit]))
    return max(1, sum(length <= AT_LENGTH for length in lengths))

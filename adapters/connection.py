"""One client's connection: a reader and a writer around codec and translator.

The two tasks meet only in the hub and in the outbox. The reader awaits the transport, the writer awaits
outbox and transport, and everything between is synchronous. Knows no dialect.

Whatever happens to one connection stays its own: it is the mailbox of its seat, which never blocks and
never calls the hub, and the one boundary behind which our own mistakes end is here.
"""

import logging
from collections import deque
from collections.abc import Awaitable, Callable
from functools import partial
from itertools import count
from typing import Generic

import trio

from adapters.contract import C, Codec, Farewell, Flooded, PeerGone, S, Translator, Transport, WireError
from gateway.commands import Command, Leave, Unreadable
from gateway.events import Dismissed, Event, ToMove
from gateway.hub import Hub

OUTBOX_LIMIT = 256
"""Events that may wait for a client; one more, and it counts as a client that has stopped reading."""

logger = logging.getLogger(__name__)
_ids = count(1)


class Outbox:
    """The events that wait to be told to one client, in order."""

    def __init__(self) -> None:
        self._events: deque[Event] = deque()
        self._filled = trio.lowlevel.ParkingLot()
        self._emptied = trio.lowlevel.ParkingLot()

    @property
    def is_crowded(self) -> bool:
        """Whether the outbox is half full."""
        return len(self._events) > OUTBOX_LIMIT // 2

    def put(self, event: Event) -> bool:
        """Queue an event; return whether there was room for it."""
        if len(self._events) >= OUTBOX_LIMIT:
            return False
        self._events.append(event)
        self._filled.unpark()
        return True

    async def take(self) -> list[Event]:
        """Return all events that wait; wait for one where there is none."""
        if not self._events:
            await self._filled.park()
        events = list(self._events)
        self._events.clear()
        self._emptied.unpark_all()
        return events

    async def room(self) -> None:
        """Wait until the outbox is less than half full."""
        while self.is_crowded:
            await self._emptied.park()


class Connection(Generic[C, S]):
    """The mailbox of a client on a wire, and the two tasks that move its messages."""

    def __init__(
        self, hub: Hub, transport: Transport, codec: Codec[C, S], translator: Translator[C, S]
    ) -> None:
        self._hub = hub
        self._transport = transport
        self._codec = codec
        self._translator = translator
        self._outbox = Outbox()
        self._scope = trio.CancelScope()
        self._farewell = Farewell(1011, "internal error")
        self._seat = hub.open(self, translator.manners, trio.current_time())

    def deliver(self, event: Event) -> None:
        """Queue an event for the client. A client too slow to keep up is hung up on."""
        if not self._outbox.put(event):
            self._farewell = Farewell(1008, "stopped reading")
            self._scope.cancel()

    async def settle(self) -> None:
        """Return when everything the client had sent before the call has been carried out."""
        await self._transport.settle()

    async def run(self) -> None:
        """Serve the client until it leaves or is dismissed. Raises PeerGone where it just vanished."""
        try:
            with self._scope:
                async with trio.open_nursery() as nursery:
                    nursery.start_soon(self._read)
                    self._farewell = await self._write()
                    self._scope.cancel()
        finally:
            self._hub.submit(self._seat, Leave(), trio.current_time())
            await self._transport.close(self._farewell)

    async def _read(self) -> None:
        try:
            while texts := await self._transport.receive():
                for text in texts:
                    if self._outbox.is_crowded:
                        await self._outbox.room()
                    self._submit(self._command(text))
        except Flooded:
            self._submit(Unreadable(""))
        self._submit(Leave())

    async def _write(self) -> Farewell:
        while True:
            events = await self._outbox.take()
            messages = [message for event in events for message in self._translator.observe(event)]
            if messages:
                await self._transport.send([self._codec.encode(message) for message in messages])
            for event in events:
                if isinstance(event, ToMove):
                    self._hub.handed(self._seat, event, trio.current_time())
                elif isinstance(event, Dismissed):
                    return self._translator.farewell(event)

    def _submit(self, command: Command) -> None:
        self._hub.submit(self._seat, command, self._transport.read_at)

    def _command(self, text: str) -> Command:
        try:
            return self._translator.receive(self._codec.decode(text))
        except WireError:
            return Unreadable(text)


async def contained(
    name: str, serve: Callable[[trio.abc.Stream], Awaitable[None]], stream: trio.abc.Stream
) -> None:
    """Serve a client's stream until it is closed, and let nothing that goes wrong reach anyone else."""
    try:
        await guarded(name, partial(serve, stream))
    finally:
        await trio.aclose_forcefully(stream)


async def guarded(name: str, work: Callable[[], Awaitable[None]]) -> None:
    """Do what one player needs, and let nothing that goes wrong there reach anyone else."""
    number = next(_ids)
    logger.debug("%s connection %d opened", name, number)
    try:
        await work()
    except* PeerGone:
        logger.debug("%s connection %d lost", name, number)
    except* Exception:
        logger.exception("%s connection %d closed after an internal error", name, number)
    finally:
        logger.debug("%s connection %d closed", name, number)

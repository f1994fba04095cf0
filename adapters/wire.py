"""One client's bytes, in and out.

Knows a trio stream, what waits to leave it, and when what was read last arrived. Does not know what the
bytes mean. What is written leaves at once where the stream can do that, and what does not leave waits here,
whole and in order, until somebody drains it: so nothing is ever torn, whoever is cancelled.
"""

import trio

from adapters.lookout import Lookout, Ready
from adapters.sockets import duplex, origin_of
from gateway.pulse import Pulse

GOODBYE_LIMIT = 1.0
"""Seconds that a client has for noticing that it is hung up on."""

_CHUNK = 4096
"""Bytes read at once: what floods in waits in the system, not here."""
_BUSY_PERIOD = 0.01


class Wire(trio.abc.Stream):
    """A byte stream that can be written to without waiting, and knows when what was read last arrived."""

    __slots__ = (
        "_backlog",
        "_drained",
        "_drains",
        "_lingers",
        "_listeners",
        "_pulse",
        "_pushed",
        "_stream",
        "origin",
        "read_at",
    )

    def __init__(
        self, stream: trio.abc.Stream, pulse: Pulse | None = None, lookout: Lookout | None = None
    ) -> None:
        self.origin = origin_of(stream)
        """Where the peer is; see `origin_of`."""
        self._stream = duplex(stream, lookout)
        self._pulse = pulse or Pulse()
        self.read_at = trio.current_time()
        self._pushed = b""
        self._backlog = bytearray()
        self._drains = False
        self._drained = trio.lowlevel.ParkingLot()
        self._listeners = 0
        """Two for a moment, when a websocket's reader changes."""
        self._lingers = False

    @property
    def is_quiet(self) -> bool:
        """Whether all that has arrived was read, and somebody waits for more."""
        return self._listeners > 0 and not self._stream.is_readable

    def push_back(self, data: bytes) -> None:
        """Let the next read begin with `data`."""
        self._pushed = data

    async def listen(self, ready: Ready) -> None:
        """Call `ready`, which reads, each time there is something to `read`, until it returns False.

        Raises what `ready` raises, as it does from `read`.
        """
        if self._pushed and not ready():
            return
        if self._lingers:
            raise trio.ClosedResourceError
        self._listeners += 1
        try:
            await self._stream.listen(ready)
        finally:
            self._listeners -= 1

    def read(self) -> bytes | None:
        """Return what has arrived, no bytes at the end of the stream; None where there is nothing after all.

        Raises trio.BrokenResourceError where the client has gone, trio.ClosedResourceError where we have.
        """
        if self._pushed:
            data, self._pushed = self._pushed, b""
            return data
        if self._lingers:
            raise trio.ClosedResourceError
        self.read_at = self._pulse.arrived()
        return self._stream.read(_CHUNK)

    async def receive_some(self, max_bytes: int | None = None) -> bytes:
        """Return what has arrived, whatever `max_bytes` is; no bytes at the end of the stream."""
        data: bytes | None = None

        def ready() -> bool:
            nonlocal data
            data = self.read()
            return data is None

        await self.listen(ready)
        assert data is not None
        return data

    def write(self, data: bytes) -> bool:
        """Send `data` behind what waits; return whether all has left, or some waits for `drain`.

        Raises trio.BrokenResourceError where the client has gone, trio.ClosedResourceError where we have.
        """
        sent = 0 if self._backlog else self._stream.send_some(data)
        if sent == len(data):
            return True
        self._backlog += data[sent:]
        return False

    async def drain(self) -> None:
        """Return when all that was written has left. Raises as `write` does."""
        while self._backlog:
            if self._drains:
                await self._drained.park()
                continue
            self._drains = True
            try:
                del self._backlog[: await self._stream.send_more(self._backlog)]
            finally:
                self._drains = False
                self._drained.unpark_all()

    async def send_all(self, data: bytes | bytearray | memoryview) -> None:
        """Send all of `data`."""
        if not self.write(bytes(data)):
            await self.drain()

    async def wait_send_all_might_not_block(self) -> None:
        """Wait until there is room for more."""
        await self.drain()

    async def aclose(self) -> None:
        """Close the stream."""
        await self._stream.aclose()

    async def linger(self) -> None:
        """Close the stream so that what was written still arrives: a reset would overtake it."""
        self._lingers = True
        try:
            with trio.move_on_after(GOODBYE_LIMIT):
                await self.drain()
                await self._stream.send_eof()
                await self._drop()
        except (trio.BrokenResourceError, trio.ClosedResourceError, trio.BusyResourceError):
            pass
        finally:
            await trio.aclose_forcefully(self)

    async def _drop(self) -> None:
        """Drop what arrives, until no more comes."""
        while True:
            try:
                await self._stream.listen(lambda: self._stream.read(_CHUNK) != b"")
            except trio.BusyResourceError:  # whoever still reads drops it, and is soon done
                await trio.sleep(_BUSY_PERIOD)
            else:
                return

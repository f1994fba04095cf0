"""One client's bytes, in and out.

Knows a trio stream, what waits to leave it, and when what was read last arrived. Does not know what the
bytes mean. What is written leaves at once where the stream can do that, and what does not leave waits here,
whole and in order, until somebody drains it: so nothing is ever torn, whoever is cancelled.

The rule it keeps: what waits for all clients of a server together is bounded. Beyond that the client for whom
most waits is given up. Whoever writes bounds what waits for one client.
"""

import trio

from adapters.epoll import EpollReader, Ready
from adapters.sockets import duplex, origin_of
from gateway.server.arrivals import ArrivalTimes

GOODBYE_LIMIT = 1.0
"""Seconds that a client has for noticing that it is hung up on."""

BACKLOG_LIMIT = 64 * 1024 * 1024
"""Bytes that may wait for all clients of a server together."""

_CHUNK = 4096
"""Bytes read at once: what floods in waits in the system, not here."""
_BUSY_PERIOD = 0.01


class Backlogs:
    """How much waits for the clients of a server, and for whom most."""

    def __init__(self, limit: int = BACKLOG_LIMIT) -> None:
        self._limit = limit
        self._sizes: dict[Wire, int] = {}
        self._total = 0

    @property
    def total(self) -> int:
        """Bytes that wait at most: what has left since a wire was noted last counts still."""
        return self._total

    def note(self, wire: "Wire", size: int) -> None:
        """Note that `size` bytes wait to leave `wire`; give up wires while all together exceed the limit."""
        self._total += size - self._sizes.pop(wire, 0)
        if size:
            self._sizes[wire] = size
        while self._total > self._limit:
            heaviest = max(self._sizes, key=lambda each: self._sizes[each])
            self._total -= self._sizes.pop(heaviest)
            heaviest.give_up()


class Turns:
    """Turns of the loop, each for one of the clients that have sent more than is done at once."""

    def __init__(self) -> None:
        self._lock = trio.Lock()  # which goes to who waits for it in order, to each in a turn of its own

    async def take(self) -> None:
        """Return in a turn of the loop that nobody else takes, who came first first."""
        async with self._lock:
            pass


class Wire(trio.abc.Stream):
    """A byte stream that can be written to without waiting, and knows when what was read last arrived."""

    __slots__ = (
        "_arrivals",
        "_backlog",
        "_backlogs",
        "_drained",
        "_drains",
        "_given_up",
        "_lingers",
        "_listeners",
        "_pushed",
        "_sending",
        "_stream",
        "_turns",
        "heard",
        "origin",
        "read_at",
    )

    def __init__(
        self,
        stream: trio.abc.Stream,
        arrivals: ArrivalTimes | None = None,
        epoll: EpollReader | None = None,
        backlogs: Backlogs | None = None,
        turns: Turns | None = None,
    ) -> None:
        self.origin = origin_of(stream)
        """Where the peer is; see `origin_of`."""
        self._stream = duplex(stream, epoll)
        self._arrivals = arrivals or ArrivalTimes()
        self._backlogs = backlogs or Backlogs()
        self._turns = turns or Turns()
        self.read_at = trio.current_time()
        self.heard = True
        """Set by every read. Whoever wants to know whether anything comes unsets it."""
        self._pushed = b""
        self._backlog = bytearray()
        self._drains = False
        self._drained = trio.lowlevel.ParkingLot()
        self._listeners = 0
        """Two for a moment, when a websocket's reader changes."""
        self._lingers = False
        self._sending = trio.CancelScope()
        self._given_up = False

    @property
    def waiting(self) -> int:
        """Bytes that were written and have not left."""
        return len(self._backlog)

    @property
    def is_reachable(self) -> bool:
        """Whether nothing says that the client has vanished."""
        return self._stream.is_reachable

    @property
    def is_quiet(self) -> bool:
        """Whether all that has arrived was read, and somebody waits for more."""
        return self.is_read and not self._stream.is_readable

    @property
    def is_read(self) -> bool:
        """Whether somebody waits for what arrives."""
        return self._listeners > 0

    async def turn(self) -> None:
        """Return when it is the turn of this client, of those that have sent more than is done at once."""
        await self._turns.take()

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
        self.read_at = self._arrivals.arrived()
        self.heard = True
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
        if self._given_up:
            raise trio.BrokenResourceError
        sent = 0 if self._backlog else self._stream.send_some(data)
        if sent == len(data):
            return True
        self._backlog += data[sent:]
        self._backlogs.note(self, len(self._backlog))
        return False

    def give_up(self) -> None:
        """Drop what waits, and let the client count as gone."""
        self._given_up = True
        self._backlog.clear()
        self._sending.cancel()

    async def drain(self) -> None:
        """Return when all that was written has left. Raises as `write` does."""
        while self._backlog:
            if self._drains:
                await self._drained.park()
                continue
            self._drains = True
            try:
                await self._send_some()
            finally:
                self._drains = False
                self._drained.unpark_all()
                if not self._backlog:
                    self._backlogs.note(self, 0)
        if self._given_up:
            raise trio.BrokenResourceError

    async def _send_some(self) -> None:
        with trio.CancelScope() as self._sending:
            sent = await self._stream.send_more(self._backlog)
            del self._backlog[:sent]

    async def send_all(self, data: bytes | bytearray | memoryview) -> None:
        """Send all of `data`."""
        if not self.write(bytes(data)):
            await self.drain()

    async def wait_send_all_might_not_block(self) -> None:
        """Wait until there is room for more."""
        await self.drain()

    async def aclose(self) -> None:
        """Close the stream, and drop what waits to leave it."""
        self._backlog.clear()
        self._backlogs.note(self, 0)
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

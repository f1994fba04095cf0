"""One client's bytes, in and out.

Knows a socket, the bytes that wait to leave it, and when the last read bytes arrived. Does not know what
the bytes mean. Written bytes leave at once if the socket takes them. The rest waits here, whole and in order,
until a task drains it, so a cancelled task never tears a message.

The rule it keeps: the bytes that wait for all clients of a server together are bounded. Beyond the bound, the
client with the largest backlog is given up. The writer bounds what waits for one client.
"""

from math import inf

import trio

from adapters.net.epoll import Ready
from adapters.net.pacing import PERIOD, UNLIMITED, CountAt, Turns, count_nowhere
from adapters.net.sockets import DirectSocket, origin_at
from adapters.net.tls import Session, TlsSocket
from gateway.runtime.arrivals import ArrivalTimes

GOODBYE_LIMIT = 1.0
"""Seconds that a client has to notice that the server hung up."""
BACKLOG_LIMIT = 64 * 1024 * 1024
"""Bytes that may wait for all clients of a server together."""

_CHUNK = 4096
"""Bytes read at once. The rest of a flood waits in the system, not here."""
_BUSY_PERIOD = 0.01


class Backlogs:
    """How many bytes wait for each client of a server."""

    def __init__(self, limit: int = BACKLOG_LIMIT) -> None:
        self._limit = limit
        self._sizes: dict[Wire, int] = {}
        self._total = 0

    @property
    def total(self) -> int:
        """The bytes that wait, at most: those that left since a wire was last noted still count."""
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


class Wire(trio.abc.Stream):
    """A byte stream that can be written to without waiting, and knows when what was read last arrived."""

    __slots__ = (
        "_arrivals",
        "_backlog",
        "_backlogs",
        "_drained",
        "_drains",
        "_ended",
        "_given_up",
        "_granted_at",
        "_lingers",
        "_listeners",
        "_pushed",
        "_sending",
        "_socket",
        "_turns",
        "address",
        "count_at",
        "limits",
        "only_tls",
        "read_at",
        "reads",
    )

    def __init__(
        self,
        socket: DirectSocket,
        arrivals: ArrivalTimes | None = None,
        backlogs: Backlogs | None = None,
        turns: Turns | None = None,
    ) -> None:
        self.address = socket.address
        """The client's host, an IP address. Empty where nobody knows."""
        self.limits = UNLIMITED
        """What is held against the client."""
        self.only_tls = False
        """Whether this client came by TLS to a server that takes no other (``--tls-only``)."""
        self.count_at: CountAt = count_nowhere
        """Is called with the client's origin once that is known; see `adapters.entrance.admission`."""
        self._socket: DirectSocket | TlsSocket = socket
        self._arrivals = arrivals or ArrivalTimes()
        self._backlogs = backlogs or Backlogs()
        self._turns = turns or Turns()
        self._granted_at = -inf
        """When several texts were last granted."""
        self.read_at = trio.current_time()
        self.reads = 0
        """How often something was read: one who looks again later knows whether anything has arrived."""
        self._pushed = b""
        self._backlog = bytearray()
        self._drains = False
        self._drained = trio.lowlevel.ParkingLot()
        self._listeners = 0
        """How many tasks listen: two for a moment, when a websocket's reader changes."""
        self._lingers = False
        self._ended = False
        """Whether the end of the stream was read."""
        self._sending = trio.CancelScope()
        self._given_up = False

    @property
    def origin(self) -> str:
        """Where the client is, as far as that is held against it: see `origin_at`."""
        return origin_at(self.address)

    @property
    def is_secure(self) -> bool:
        """Whether the bytes are encrypted on their way."""
        return isinstance(self._socket, TlsSocket)

    @property
    def waiting(self) -> int:
        """Bytes that were written and have not left."""
        return len(self._backlog)

    @property
    def host(self) -> str:
        """The address at which the client reached this server, as in a URL."""
        return self._socket.host

    @property
    def is_reachable(self) -> bool:
        """Whether there is no sign that the client has vanished."""
        return self._socket.is_reachable

    @property
    def silence(self) -> float:
        """Seconds since the client's system acknowledged anything; 0 where this system does not say."""
        return self._socket.silence

    @property
    def is_readable(self) -> bool:
        """Whether something has arrived that was not read."""
        return self._socket.is_readable

    def probe_after(self, seconds: int) -> None:
        """Let the system ask for an acknowledgement after so much silence. The client does not notice."""
        self._socket.probe_after(seconds)

    @property
    def is_given_up(self) -> bool:
        """Whether too much waited for all clients together, and most for this one."""
        return self._given_up

    @property
    def is_quiet(self) -> bool:
        """Whether all bytes that arrived were read, and a task listens for more."""
        return self.is_read and not self._socket.is_readable

    @property
    def is_read(self) -> bool:
        """Whether a task listens."""
        return self._listeners > 0 and self._socket.is_listened_to

    def granted(self, texts: int) -> int:
        """Return how many texts of this client may be carried out now, several once in a `PERIOD`."""
        if self.read_at - self._granted_at < PERIOD:
            return 1
        self._granted_at = self.read_at
        return self._turns.granted(texts, self.read_at)

    async def turn(self) -> None:
        """Wait for this client's turn; see `Turns`."""
        await self._turns.take()

    def push_back(self, data: bytes) -> None:
        """Let the next read begin with `data`."""
        self._pushed = data

    def secure(self, session: Session) -> None:
        """Go on with TLS, after a handshake. What has arrived since is read next."""
        assert isinstance(self._socket, DirectSocket)
        tls = TlsSocket(self._socket, session)
        self._socket, self._pushed = tls, tls.arrived()

    def fileno(self) -> int:
        """Return the number of a socket without TLS, for another process. Raises trio.ClosedResourceError."""
        assert isinstance(self._socket, DirectSocket)
        return self._socket.fileno()

    async def listen(self, ready: Ready) -> None:
        """Call `ready`, which reads, each time there is something to `read`, until it returns False.

        Raises what `ready` raises, which includes what `read` raises.
        """
        if self._pushed and not ready():
            return
        if self._lingers:
            raise trio.ClosedResourceError
        self._listeners += 1
        try:
            await self._socket.listen(ready)
        finally:
            self._listeners -= 1

    def read(self) -> bytes | None:
        """Return the bytes that arrived: none at the end of the stream; None if there is nothing to read.

        Raises trio.BrokenResourceError if the client is gone, trio.ClosedResourceError if this end is closed.
        """
        if self._pushed:
            data, self._pushed = self._pushed, b""
            return data
        if self._lingers:
            raise trio.ClosedResourceError
        self.read_at = self._arrivals.arrived()
        self.reads += 1
        read = self._socket.read(_CHUNK)
        self._ended = read == b""
        return read

    async def receive_some(self, max_bytes: int | None = None) -> bytes:
        """Return the bytes that arrived, whatever `max_bytes` is; no bytes at the end of the stream."""
        data: bytes | None = None

        def ready() -> bool:
            nonlocal data
            data = self.read()
            return data is None

        await self.listen(ready)
        assert data is not None
        return data

    def write(self, data: bytes) -> bool:
        """Send `data` behind the bytes that wait. Return True if all of it left, False if some waits for
        `drain`.

        Raises trio.BrokenResourceError if the client is gone, trio.ClosedResourceError if this end is closed.
        """
        if self._given_up:
            raise trio.BrokenResourceError
        sent = 0 if self._backlog else self._socket.send_some(data)
        if sent == len(data):
            return True
        self._backlog += data[sent:]
        self._backlogs.note(self, len(self._backlog))
        return False

    def give_up(self) -> None:
        """Drop the backlog and treat the client as gone."""
        self._given_up = True
        self._backlog.clear()
        self._sending.cancel()

    async def drain(self) -> None:
        """Return when all written bytes have left. Raises as `write` does."""
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
            sent = await self._socket.send_more(self._backlog)
            del self._backlog[:sent]

    async def send_all(self, data: bytes | bytearray | memoryview) -> None:
        """Send all of `data`."""
        if not self.write(bytes(data)):
            await self.drain()

    async def wait_send_all_might_not_block(self) -> None:
        """Wait until there is room for more."""
        await self.drain()

    async def aclose(self) -> None:
        """Do as `close`, and let others go on."""
        self.close()
        await trio.lowlevel.checkpoint()

    def close(self) -> None:
        """Close the stream and drop the backlog."""
        self._backlog.clear()
        self._backlogs.note(self, 0)
        self._socket.close()

    async def linger(self) -> None:
        """Close the stream so that the written bytes still arrive: a reset would overtake them."""
        self._lingers = True
        try:
            with trio.move_on_after(GOODBYE_LIMIT):
                await self.drain()
                await self._socket.send_eof()
                if not self._ended:
                    await self._drop()
        except (trio.BrokenResourceError, trio.ClosedResourceError, trio.BusyResourceError):
            pass
        finally:
            self.close()

    async def _drop(self) -> None:
        """Drop incoming bytes until the stream ends."""
        while True:
            try:
                await self._socket.listen(self._drop_some)
            except trio.BusyResourceError:  # another task still reads, drops the bytes, and ends soon
                await trio.sleep(_BUSY_PERIOD)
            else:
                return

    def _drop_some(self) -> bool:
        """Drop what has arrived; return whether more may."""
        return self._socket.read(_CHUNK) != b""

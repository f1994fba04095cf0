"""Texts over a websocket, each in a frame of its own.

Knows trio-websocket, which implements the handshake, pings, fragments, long messages and closing. Does not
know dialects. The short text frames of games are read and written here, beside the library
(`framing.py` says why). The first frame of any other kind, except pings, makes the library the reader for
good, so that the order of messages is never in doubt. More pings than the library can answer do the same.

Any data that arrives is a sign of life, a pong or not. Many clients answer pings only while they read, and do
not read while they think. Then only the system can tell whether they are still there.
"""

from collections.abc import Callable, Iterable
from math import inf

import trio
import trio_websocket

from adapters.client.contract import Farewell, Heard, PeerGone
from adapters.client.framing import text_frame, usual_frames
from adapters.client.transports import HUNG_UP, WireTransport, settled
from adapters.net.wire import GOODBYE_LIMIT, Wire

PING_PERIOD = 20.0
"""Seconds between two pings. A client that sends nothing at all between them is gone."""
PONG_LIMIT = 5.0
"""Seconds after a ping until a silent client is no longer paired."""

_PING = b"\x89\x00"
_PIECE = 512
"""Bytes that trio-websocket reads at once. It handles all frames of a read without a pause."""
_FEW = 256
"""Bytes that it reads without waiting for a turn. A handshake has fewer."""
_GIFT_LIMIT = 16_384
"""Bytes that trio-websocket may have unread before it counts as behind."""
_CLOSE_FRAME = 0x88
_VANISHED = 1006
_TOO_LONG = 1009


class LibraryStream(trio.abc.Stream):
    """The stream that trio-websocket sees: at first only the bytes that it is given, later the whole wire.

    It never closes the wire. The wire's owner does, by `linger`.
    """

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self._given = bytearray()
        self._gifts = trio.lowlevel.ParkingLot()
        self._is_reader = False
        self.said_goodbye = False
        """Whether a close frame was sent."""

    @property
    def is_behind(self) -> bool:
        """Whether the library has much of its input still unread."""
        return len(self._given) > _GIFT_LIMIT

    @property
    def has_much(self) -> bool:
        """Whether the library has more of its input still unread than it reads without waiting for a turn."""
        return len(self._given) > _FEW

    def give(self, data: bytes) -> None:
        """Let the library read `data`."""
        self._given += data
        self._gifts.unpark_all()

    def take_over(self, data: bytes = b"") -> None:
        """Let the library read `data`, and then everything that arrives."""
        self._is_reader = True
        self.give(data)

    async def receive_some(self, max_bytes: int | None = None) -> bytes:
        """Return the library's next input; no bytes at the end of the stream."""
        while not self._given:
            if self._is_reader:
                data = await self._wire.receive_some(max_bytes)
                if len(data) <= _FEW:
                    return data
                self._given += data
                break
            await self._gifts.park()
        if self.has_much:
            await self._wire.turn()
        else:
            await trio.lowlevel.checkpoint()
        data = bytes(self._given[:_PIECE])
        del self._given[:_PIECE]
        return data

    async def send_all(self, data: bytes | bytearray | memoryview) -> None:
        """Send all of `data`: whole frames, or an answer to a handshake."""
        self.said_goodbye = self.said_goodbye or data[0] == _CLOSE_FRAME
        await self._wire.send_all(data)

    async def wait_send_all_might_not_block(self) -> None:
        """Wait until there may be room for more."""
        await self._wire.wait_send_all_might_not_block()

    async def aclose(self) -> None:
        """Do nothing: the wire has an owner."""


class WebSocketTransport(WireTransport):
    """The server's end of a websocket."""

    __slots__ = (
        "_excused",
        "_library",
        "_pinged",
        "_pushed",
        "_read",
        "_reads",
        "_waits",
        "_websocket",
        "token",
    )

    def __init__(
        self, websocket: trio_websocket.WebSocketConnection, wire: Wire, stream: LibraryStream
    ) -> None:
        super().__init__(wire)
        self._websocket = websocket
        self._library = stream
        self._pinged = -inf
        """When the latest ping was sent."""
        self._read = -1
        """What had been read of the wire by then."""
        self._excused = False
        """Whether the client was thinking then, so that it may not have read the ping yet."""
        self._pushed: list[str] = []
        self._reads = True
        self.token: str | None = None
        """What the handshake had in ``Authorization: Bearer``."""
        self._waits = False
        """Whether this waits for a message from the library."""

    @property
    def is_reachable(self) -> bool:
        """Whether nothing says that the client has vanished."""
        is_late = self._is_silent and trio.current_time() > self._pinged + PONG_LIMIT
        return not is_late and self._wire.is_reachable

    @property
    def ended(self) -> str:
        """How the connection ended, in words."""
        reason, violation = self._websocket.closed, self._violation
        if reason is not None and reason.code == _TOO_LONG:
            return f"sent a message that is too long ({_TOO_LONG})"
        return HUNG_UP if violation is None else f"broke the websocket protocol ({violation})"

    def push_back(self, texts: list[str]) -> None:
        """Let the next `listen` begin with `texts`."""
        self._pushed = texts

    async def listen(self, heard: Heard) -> bool:
        """Call `heard` with the messages that arrive, binary ones as text.

        Return True if `heard` stopped it.
        """
        goes_on = True
        if self._pushed:
            texts, self._pushed = self._pushed, []
            if not heard(texts):
                return True

        def ready() -> bool:
            nonlocal goes_on
            data = self._wire.read()
            texts = [] if data is None else self._usual(data)
            goes_on = not texts or heard(texts)
            return goes_on and self._reads

        if self._reads:
            try:
                await self._wire.listen(ready)
            except (trio.BrokenResourceError, trio.ClosedResourceError):
                self._leave_reading()
        while goes_on and not self._reads:
            self._waits = True
            texts = await next_message(self._websocket)
            self._waits = False
            if not texts:
                return False
            if self._library.has_much:
                await self._wire.turn()
            goes_on = heard(texts)
        return True

    def _usual(self, data: bytes) -> list[str]:
        """Return the texts of usual frames; leave everything else to the library."""
        texts, controls, rest = usual_frames(data)
        if controls:
            self._library.give(controls)
        if rest or not data or self._library.is_behind:
            self._leave_reading(rest)
        return texts

    def write(self, texts: Iterable[str]) -> bool:
        """Send each text as a frame."""
        if self._library.said_goodbye:
            raise PeerGone
        try:
            return self._wire.write(b"".join([text_frame(text) for text in texts]))
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            raise PeerGone from None

    async def settle(self) -> None:
        """Return when everything that had arrived has been handed out."""
        await settled(lambda: (self._reads or self._waits) and self._wire.is_quiet)

    async def close(self, farewell: Farewell) -> None:
        """Hang up with a close frame; the wire's owner closes the wire."""
        self._leave_reading()
        await close(self._websocket, farewell)
        violation = self._violation
        if violation is not None:
            await self._complain(violation)

    async def keep_pinging(self) -> None:
        """Send a ping every `PING_PERIOD` seconds.

        Raises PeerGone if a client that was not thinking sent nothing since the latest ping.
        """
        while not self._library.said_goodbye:
            await trio.sleep(PING_PERIOD)
            await self.settle()
            if self._is_silent and not self._excused:
                raise PeerGone
            if not self._library.said_goodbye:
                await self._ping()

    async def _ping(self) -> None:
        self._pinged, self._excused, self._read = trio.current_time(), self.thinks(), self._wire.reads
        await self._send_ping()

    async def _send_ping(self) -> None:
        try:
            has_left = self._wire.write(_PING)
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            raise PeerGone from None
        if not has_left:
            await self.drain()

    async def answers(self, may_think: Callable[[], bool]) -> bool:
        """Send a ping; return whether anything comes within `PROBE_LIMIT` seconds."""
        async with trio.open_nursery() as nursery:
            if not self._library.said_goodbye:
                nursery.start_soon(self._send_ping)
            is_there = await super().answers(may_think)
            nursery.cancel_scope.cancel()
        return is_there

    @property
    def _is_silent(self) -> bool:
        """Whether a client that should have answered the latest ping has sent nothing since."""
        return self._wire.reads == self._read and self._wire.is_read and not self.thinks()

    def _leave_reading(self, rest: bytes = b"") -> None:
        self._reads = False
        self._library.take_over(rest)

    @property
    def _violation(self) -> int | None:
        """The close code for a violation by the client that trio-websocket noticed but did not answer."""
        reason = self._websocket.closed
        if reason is None or reason.code == _VANISHED or self._library.said_goodbye:
            return None
        return int(reason.code)

    async def _complain(self, code: int) -> None:
        """Send the close frame that trio-websocket omits when a client breaks the protocol."""
        try:
            with trio.move_on_after(GOODBYE_LIMIT):
                await self._library.send_all(bytes((_CLOSE_FRAME, 2)) + code.to_bytes(2, "big"))
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            pass


async def next_message(websocket: trio_websocket.WebSocketConnection) -> list[str]:
    """Return the next message, a binary one as text; nothing after the websocket was closed."""
    try:
        message = await websocket.get_message()
    except trio_websocket.ConnectionClosed:
        return []
    return [message if isinstance(message, str) else message.decode("utf-8", "surrogateescape")]


async def close(websocket: trio_websocket.WebSocketConnection, farewell: Farewell) -> None:
    """Close the websocket, in whatever state it is, within `GOODBYE_LIMIT` seconds."""
    try:
        with trio.move_on_after(GOODBYE_LIMIT):
            await websocket.aclose(farewell.code, farewell.reason)
    except (trio.BrokenResourceError, trio.ClosedResourceError):
        pass

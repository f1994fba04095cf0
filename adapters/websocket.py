"""Texts over a websocket, each in a frame of its own.

Knows trio-websocket, which does the handshake, pings, fragments, long messages and the closing. Does not
know dialects. Short text frames, which is all that a game consists of, are read and written here, beside
the library (`frames.py` says why). The first frame of any other kind, but for pings, makes the library the
reader for good, so that the order of messages is never in doubt; and so do more pings than it can answer.

Anything that arrives is a sign of life, a pong or not. Many clients answer pings only when they read, and do
not read while they think: then the system alone finds out whether they are there.
"""

from collections.abc import Iterable
from math import inf

import trio
import trio_websocket

from adapters.contract import Farewell, Heard, PeerGone
from adapters.frames import text_frame, usual_frames
from adapters.transports import HUNG_UP, drained, never, settled
from adapters.wire import GOODBYE_LIMIT, Wire

PING_PERIOD = 20.0
"""Seconds between two pings. Where nothing at all comes between them the client is gone."""
PONG_LIMIT = 5.0
"""Seconds after a ping when a client from whom nothing came is not to be paired any more."""

_PING = b"\x89\x00"
_PIECE = 512
"""Bytes that trio-websocket reads at once: most frames take it 40 us, and in a read it does not pause."""
_FEW = 256
"""Bytes that it reads when they come; it has to wait for a turn to read more. A handshake has fewer."""
_GIFT_LIMIT = 16_384
"""Bytes that may lie with trio-websocket: it is behind where the pongs to as many do not leave."""
_CLOSE_FRAME = 0x88
_VANISHED = 1006
_TOO_LONG = 1009


class Feed(trio.abc.Stream):
    """The part of a wire that trio-websocket gets to see: at first only what it is given.

    It never closes the wire, which is for the wire's owner to do, by `linger`.
    """

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self._given = bytearray()
        self._gifts = trio.lowlevel.ParkingLot()
        self._is_reader = False
        self.said_goodbye = False
        """Whether a close frame went out."""

    @property
    def is_behind(self) -> bool:
        """Whether the library has not got on with much of what it was given."""
        return len(self._given) > _GIFT_LIMIT

    def give(self, data: bytes) -> None:
        """Let the library read `data`."""
        self._given += data
        self._gifts.unpark_all()

    def take_over(self, data: bytes = b"") -> None:
        """Let the library read `data`, and then all that comes over the wire."""
        self._is_reader = True
        self.give(data)

    async def receive_some(self, max_bytes: int | None = None) -> bytes:
        """Return what is for the library; no bytes at the end of the stream."""
        while not self._given:
            if self._is_reader:
                data = await self._wire.receive_some(max_bytes)
                if len(data) <= _FEW:
                    return data
                self._given += data
                break
            await self._gifts.park()
        if len(self._given) > _FEW:
            await self._wire.turn()
        else:
            await trio.lowlevel.checkpoint()
        data = bytes(self._given[:_PIECE])
        del self._given[:_PIECE]
        return data

    async def send_all(self, data: bytes | bytearray | memoryview) -> None:
        """Send all of `data`, which is whole frames, or an answer to a handshake."""
        self.said_goodbye = self.said_goodbye or data[0] == _CLOSE_FRAME
        await self._wire.send_all(data)

    async def wait_send_all_might_not_block(self) -> None:
        """Wait until there may be room for more."""
        await self._wire.wait_send_all_might_not_block()

    async def aclose(self) -> None:
        """Do nothing: the wire is not ours."""


class WebSocketTransport:
    """The server's end of a websocket."""

    __slots__ = ("_excused", "_feed", "_pinged", "_reads", "_waits", "_websocket", "_wire", "thinks")

    def __init__(self, websocket: trio_websocket.WebSocketConnection, wire: Wire, feed: Feed) -> None:
        self._websocket = websocket
        self._wire = wire
        self._feed = feed
        self.thinks = never
        self._pinged = -inf
        """When."""
        self._excused = False
        """Whether the client thought then, and so need not have read the ping until now."""
        self._reads = True
        self._waits = False
        """Whether the next message is waited for, where it is the library's to read."""

    @property
    def origin(self) -> str:
        """Where the client comes from."""
        return self._wire.origin

    @property
    def is_reachable(self) -> bool:
        """Whether nothing says that the client has vanished."""
        is_late = self._is_silent and trio.current_time() > self._pinged + PONG_LIMIT
        return not is_late and self._wire.is_reachable

    @property
    def waiting(self) -> int:
        """Bytes that were written and have not left."""
        return self._wire.waiting

    @property
    def read_at(self) -> float:
        """When the latest message arrived."""
        return self._wire.read_at

    @property
    def ended(self) -> str:
        """How the client ended it, which is not always of its own free will."""
        reason, violation = self._websocket.closed, self._violation
        if reason is not None and reason.code == _TOO_LONG:
            return f"sent a message that is too long ({_TOO_LONG})"
        return HUNG_UP if violation is None else f"broke the websocket protocol ({violation})"

    async def listen(self, heard: Heard) -> bool:
        """Call `heard` with the messages that arrive, a binary one like a text; return whether it stopped."""
        goes_on = True

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
            goes_on = heard(texts)
        return True

    def _usual(self, data: bytes) -> list[str]:
        """Return the texts that arrived in usual frames; leave everything else to the library."""
        texts, controls, rest = usual_frames(data)
        if controls:
            self._feed.give(controls)
        if rest or not data or self._feed.is_behind:
            self._leave_reading(rest)
        return texts

    def write(self, texts: Iterable[str]) -> bool:
        """Send each text as a frame."""
        if self._feed.said_goodbye:
            raise PeerGone
        try:
            return self._wire.write(b"".join([text_frame(text) for text in texts]))
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            raise PeerGone from None

    async def turn(self) -> None:
        """Return when it is the turn of this client, of those that have sent more than is done at once."""
        await self._wire.turn()

    async def drain(self) -> None:
        """Return when all that was written has left."""
        await drained(self._wire)

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
        """Ping now and then.

        Raises PeerGone where a client says nothing to that which thought neither then nor since.
        """
        while not self._feed.said_goodbye:
            await trio.sleep(PING_PERIOD)
            await self.settle()
            if self._is_silent and not self._excused:
                raise PeerGone
            if not self._feed.said_goodbye:
                await self._ping()

    async def _ping(self) -> None:
        self._pinged, self._excused, self._wire.heard = trio.current_time(), self.thinks(), False
        try:
            has_left = self._wire.write(_PING)
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            raise PeerGone from None
        if not has_left:
            await self.drain()

    @property
    def _is_silent(self) -> bool:
        """Whether nothing came since the latest ping from a client that is read and should answer it."""
        return not self._wire.heard and self._wire.is_read and not self.thinks()

    def _leave_reading(self, rest: bytes = b"") -> None:
        self._reads = False
        self._feed.take_over(rest)

    @property
    def _violation(self) -> int | None:
        """The close code for what the client did, where trio-websocket knows one but did not send it."""
        reason = self._websocket.closed
        if reason is None or reason.code == _VANISHED or self._feed.said_goodbye:
            return None
        return int(reason.code)

    async def _complain(self, code: int) -> None:
        """Send the close frame that trio-websocket leaves out where a client breaks the protocol."""
        try:
            with trio.move_on_after(GOODBYE_LIMIT):
                await self._feed.send_all(bytes((_CLOSE_FRAME, 2)) + code.to_bytes(2, "big"))
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            pass


async def next_message(websocket: trio_websocket.WebSocketConnection) -> list[str]:
    """Return the next message, a binary one like a text; nothing once the websocket is closed."""
    try:
        message = await websocket.get_message()
    except trio_websocket.ConnectionClosed:
        return []
    return [message if isinstance(message, str) else message.decode("utf-8", "surrogateescape")]


async def close(websocket: trio_websocket.WebSocketConnection, farewell: Farewell) -> None:
    """Say good-bye, for `GOODBYE_LIMIT` seconds at most, whatever state the websocket is in."""
    try:
        with trio.move_on_after(GOODBYE_LIMIT):
            await websocket.aclose(farewell.code, farewell.reason)
    except (trio.BrokenResourceError, trio.ClosedResourceError):
        pass

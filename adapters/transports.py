"""A line stream and a websocket behind one face.

Knows trio's streams and trio-websocket's connections. Does not know dialects: a transport
moves texts. Whatever goes wrong with a peer is `PeerGone`; every send and every good-bye has a limit.
"""

import select
import socket
from collections.abc import Callable, Iterable
from itertools import count

import trio
import trio_websocket
from wsproto.utilities import LocalProtocolError

from adapters.contract import SEND_LIMIT, Farewell, PeerGone
from adapters.framing import Lines

GOODBYE_LIMIT = 1.0
"""Seconds that a client has for noticing that it is hung up on."""
PING_PERIOD = 30.0

_CHUNK = 4096
_CLOSE_FRAME = b"\x88"
_VANISHED = 1006
_SETTLE_LIMIT = 1.0
_BUSY_PERIOD = 0.01


class Wire(trio.abc.Stream):
    """A byte stream that knows when it was read last, and whether there is more to read."""

    def __init__(self, stream: trio.abc.Stream) -> None:
        self.read_at = trio.current_time()
        self._stream = stream
        self._pushed: list[bytes] = []
        self._answered = trio.Event()
        self.lent = False
        """Whether it is for its owner alone to close it, by `linger`, whoever else calls `aclose`."""
        self.last_sent = b""
        """The first byte of what was sent last."""
        self.is_torn = False
        """Whether something was sent in part, so that nothing can follow it."""
        self._idle = False
        self._lingers = False
        self._poll: select.poll | None = None
        if isinstance(stream, trio.SocketStream):
            stream.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
            self._poll = select.poll()
            self._poll.register(stream.socket.fileno(), select.POLLIN)

    @property
    def is_quiet(self) -> bool:
        """Whether all that has arrived was read, and somebody waits for more."""
        return self._idle and not (self._poll is not None and self._poll.poll(0))

    def push_back(self, head: bytes, rest: bytes) -> None:
        """Let the next read return `head`, and later ones begin with `rest`, once `head` was answered.

        What follows a handshake too early would be lost otherwise.
        """
        self._pushed = [head, rest]

    async def receive_some(self, max_bytes: int | None = None) -> bytes:
        """Return what has arrived; no bytes at the end of the stream."""
        while self._pushed:
            if len(self._pushed) == 1:
                await self._answered.wait()
            if data := self._pushed.pop(0):
                return data
        if self._lingers:
            raise trio.ClosedResourceError
        self._idle = True
        try:
            data = bytes(await self._stream.receive_some(max_bytes))
        finally:
            self._idle = False
        self.read_at = trio.current_time()
        return data

    async def send_all(self, data: bytes | bytearray | memoryview) -> None:
        """Send all of `data`."""
        self.last_sent = bytes(data[:1])
        try:
            await self._stream.send_all(data)
        except BaseException:
            self.is_torn = True
            raise
        self._answered.set()

    async def wait_send_all_might_not_block(self) -> None:
        """Wait until there may be room for more."""
        await self._stream.wait_send_all_might_not_block()

    async def aclose(self) -> None:
        """Close the stream, unless it is lent."""
        if not self.lent:
            await self._stream.aclose()

    async def linger(self) -> None:
        """Close the stream so that what was sent still arrives: a reset would overtake it."""
        self._lingers = True
        try:
            with trio.move_on_after(GOODBYE_LIMIT):
                if isinstance(self._stream, trio.abc.HalfCloseableStream):
                    await self._stream.send_eof()
                while await self._dropped():
                    pass
        except (trio.BrokenResourceError, trio.ClosedResourceError, trio.BusyResourceError):
            pass
        finally:
            await trio.aclose_forcefully(self._stream)

    async def _dropped(self) -> bool:
        """Drop what arrives; return whether more may come."""
        try:
            return bool(await self._stream.receive_some(_CHUNK))
        except trio.BusyResourceError:  # whoever still reads drops it, and is soon done
            await trio.sleep(_BUSY_PERIOD)
            return True


class LineTransport:
    """Lines over a byte stream."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self._lines = Lines()
        self._waiting = False
        self._ended = False

    @property
    def read_at(self) -> float:
        """When the latest lines were read."""
        return self._wire.read_at

    async def receive(self) -> list[str]:
        """Return the lines that have arrived; none at the end of the stream."""
        self._waiting = True
        try:
            while not self._ended:
                data = await self._wire.receive_some(_CHUNK)
                self._ended = not data
                lines = self._lines.feed(data) if data else self._lines.end()
                if lines:
                    return lines
            return []
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            raise PeerGone from None
        finally:
            self._waiting = False

    async def send(self, texts: Iterable[str]) -> None:
        """Send all texts, each as a line, in as few packets as possible."""
        data = "".join(f"{text}\n" for text in texts).encode()
        try:
            with trio.fail_after(SEND_LIMIT):
                await self._wire.send_all(data)
        except (trio.BrokenResourceError, trio.ClosedResourceError, trio.TooSlowError):
            raise PeerGone from None

    async def settle(self) -> None:
        """Return when everything that had arrived has been handed out."""
        await _settled(lambda: self._waiting and self._wire.is_quiet)

    async def close(self, farewell: Farewell) -> None:
        """Hang up; a stream has no word for good-bye."""
        await self._wire.linger()


class WebSocketTransport:
    """Texts over a websocket, each in a frame of its own."""

    def __init__(self, websocket: trio_websocket.WebSocketConnection, wire: Wire) -> None:
        self._websocket = websocket
        self._wire = wire
        self._waiting = False

    @property
    def read_at(self) -> float:
        """When the latest message was read."""
        return self._wire.read_at

    async def receive(self) -> list[str]:
        """Return the next message, a binary one like a text; nothing once the websocket is closed."""
        self._waiting = True
        try:
            message = await self._websocket.get_message()
        except trio_websocket.ConnectionClosed:
            return []
        finally:
            self._waiting = False
        return [message if isinstance(message, str) else message.decode("utf-8", "surrogateescape")]

    async def send(self, texts: Iterable[str]) -> None:
        """Send each text as a frame."""
        try:
            with trio.fail_after(SEND_LIMIT):
                for text in texts:
                    await self._websocket.send_message(text)
        except (trio_websocket.ConnectionClosed, trio.TooSlowError):
            raise PeerGone from None

    async def settle(self) -> None:
        """Return when everything that had arrived has been handed out."""
        await _settled(lambda: self._waiting and self._wire.is_quiet)

    async def close(self, farewell: Farewell) -> None:
        """Hang up with a close frame; who lent the wire closes it."""
        if self._wire.is_torn:
            return
        try:
            with trio.move_on_after(GOODBYE_LIMIT):
                await self._websocket.aclose(farewell.code, farewell.reason)
                await self._complain()
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            pass

    async def _complain(self) -> None:
        """Send the close frame that trio-websocket leaves out where a client breaks the protocol."""
        reason = self._websocket.closed
        if not self._websocket.is_server or reason is None or reason.code == _VANISHED:
            return
        if self._wire.last_sent != _CLOSE_FRAME:
            await self._wire.send_all(_CLOSE_FRAME + b"\x02" + reason.code.to_bytes(2, "big"))

    async def keep_pinging(self) -> None:
        """Ping now and then; a client that does not answer is not punished."""
        for number in count(1):
            await trio.sleep(PING_PERIOD)
            payload = str(number).encode()
            try:
                with trio.move_on_after(SEND_LIMIT):
                    await self._websocket.ping(payload)
            except (trio_websocket.ConnectionClosed, LocalProtocolError):
                return
            self._websocket._pings.pop(payload, None)  # or unanswered ones pile up there


async def _settled(is_quiet: Callable[[], bool]) -> None:
    """Return once `is_quiet` has held for a few turns of the loop, in which a text gets handed on."""
    turns = 0
    with trio.move_on_after(_SETTLE_LIMIT):
        while turns < 3:
            await trio.lowlevel.checkpoint()
            turns = turns + 1 if is_quiet() else 0
            if not turns:
                await trio.sleep(0.001)

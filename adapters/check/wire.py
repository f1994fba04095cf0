"""The socket of a checked bot. Divides the server's messages into packets as a scenario requires.

Knows bytes, and where a line or a frame ends. Does not know what messages mean.
"""

import socket
import struct
from collections.abc import Iterator
from contextlib import suppress
from itertools import pairwise

import trio

from adapters.check.scenarios import Pace
from adapters.client.contract import SEND_LIMIT
from adapters.client.framing import usual_frames
from adapters.net.socket import BROKEN, Socket

_GAP = 0.01
"""Seconds between two packets, so that the bot can read each packet separately."""
_LINE_GAP = 0.03
"""Seconds between two packets of lines. It is longer, because bots have to split lines themselves."""
_BYTE_GAP = 0.0005
_LONGEST = SEND_LIMIT / 2
"""Seconds after which the rest is sent without pauses. Otherwise sending could exceed `SEND_LIMIT` on a slow
machine, and the server would blame the bot."""
_HEAD, _TAIL = 8, 2
"""With `Pace.BYTES`, the first 8 and the last 2 bytes of a message are sent one by one."""
_STRIDE = 13
"""Bytes in each piece of the middle. Single bytes would take seconds if many bots get a long message."""
_FIRST = 1024
"""The number of the bot's first bytes that are kept."""
_PING = b"\x89\x04c4gw"
_CLOSE, _PONG = b"\x88", b"\x8a"
"""The first bytes of a close frame, and of a pong."""
_AT_ONCE = struct.pack("ii", 1, 0)
"""The value of SO_LINGER with which `close` resets the connection."""
_EXTENDED = {126: 2, 127: 8}
"""The number of additional length bytes in a frame, by its first length byte."""


class CheckedSocket(Socket):
    """The socket of a bot that is checked."""

    def prepare(self, *, frames: bool, patience: float) -> None:
        """Set whether messages are websocket frames or lines. MUST be called first."""
        self._end, self._gap = (frame_end, _GAP) if frames else (line_end, _LINE_GAP)
        self.frames = frames
        self.patience = patience
        """Seconds that the bot has to hang up after the server has hung up."""
        self.lasted = 0.0
        """Seconds that the bot took to hang up after the server had hung up."""
        self.first = b""
        """The first bytes from the bot."""
        self.pings = 0
        self.pace = self._next_pace = Pace.MESSAGES
        self.unfinished = b""
        """The bytes after the end of the bot's latest line."""
        self.has_ponged = False
        """Whether the bot has answered a ping."""
        self.has_hung_up = False
        """Whether the bot has ended its stream or sent a close frame, before or after the server."""
        self.is_cut_off = False
        """Whether the server has hung up first."""
        self._has_begun = False
        """Whether the bytes that arrive are the bot's messages, and not a TLS handshake."""
        self._plain = bytearray()
        """The bytes to send, not yet encrypted."""
        self._sends = trio.Lock()
        self._next = 0.0

    def begin(self) -> None:
        """Treat the bytes that arrive from now on as the bot's messages."""
        self._has_begun, self.first = True, b""

    def read(self) -> bytes:
        """Return the bytes that have arrived, and record pongs and the end of the connection."""
        data = super().read()
        if data:
            self.first = self.first or data[:_FIRST]
            if self._has_begun:
                self._look_at(data)
        if self.ended:
            self.has_hung_up = True
        return data

    @property
    def waiting(self) -> int:
        """The number of bytes that were written and are not sent yet."""
        return len(self._plain) + super().waiting

    def write(self, data: bytes) -> bool:
        """Queue `data` for `drain`, which sends it in pieces."""
        if self.is_given_up:
            raise trio.BrokenResourceError
        self._plain += data
        return not data

    def ping(self) -> None:
        """Queue a ping after the bytes that wait to be sent."""
        self.pings += 1
        self._plain += _PING

    def change_pace(self, pace: Pace) -> None:
        """Change how later writes are divided into packets.

        If the current pace is `Pace.TOGETHER`, the change takes effect when all written bytes have been sent.
        """
        self._next_pace = pace
        if self.pace is not Pace.TOGETHER:
            self.pace = pace

    def cut(self) -> None:
        """Break the connection, so that the bot gets a reset. Written bytes may be lost."""
        self._plain.clear()
        with suppress(*BROKEN):
            self._open_socket().setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _AT_ONCE)
        self.close()

    async def flush(self) -> None:
        """Send all written bytes. Raises nothing, even if the bot is gone."""
        with suppress(*BROKEN):
            await self.drain()

    async def drain(self) -> None:
        """Send all written bytes, piece by piece."""
        async with self._sends:
            until = trio.current_time() + _LONGEST
            while self._plain:
                size = len(self._plain) if self.pace is Pace.TOGETHER else self._end(bytes(self._plain))
                for piece in pieces(bytes(self._plain[:size]), self.pace):
                    if trio.current_time() < until:
                        await trio.sleep_until(self._next)
                    del self._plain[: len(piece)]
                    if not super().write(piece):
                        await super().drain()
                    self._next = trio.current_time() + _BYTE_GAP
                self._next = trio.current_time() + self._gap
                if not self._plain:
                    self.pace = self._next_pace

    async def linger(self) -> None:
        """Hang up, and record whether the bot also hangs up."""
        if self.has_hung_up or self._lingers:
            await super().linger()
            return
        self._lingers = True
        try:
            with trio.move_on_after(self.patience):
                await self._send_end()
                self.is_cut_off, since = True, trio.current_time()
                if not self.ended:
                    await self._poller.listen(self._open_socket(), self._drop_some)
                self.has_hung_up, self.lasted = True, trio.current_time() - since
        except BROKEN:
            self.has_hung_up = True
        finally:
            self.close()

    async def _send_end(self) -> None:
        """Send all written bytes, and then the end of the stream."""
        await self.drain()
        await super()._send_end()

    def _drop_some(self) -> bool:
        """Drop what has arrived; return whether to wait for more."""
        data = self._received()
        if data and self.frames:
            self._look_at(data)
        return not (self.ended or self.has_hung_up)

    def _look_at(self, data: bytes) -> None:
        if self.frames:
            _, controls, rest = usual_frames(data)
            self.has_ponged = self.has_ponged or controls.startswith(_PONG)
            # A client that has sent a close frame may wait until the server closes TCP (RFC 6455, 7.1.1)
            self.has_hung_up = self.has_hung_up or rest.startswith(_CLOSE)
        else:
            rest = self.unfinished + data
            self.unfinished = rest[max(rest.rfind(b"\n"), rest.rfind(b"\r")) + 1 :]


def pieces(message: bytes, pace: Pace) -> Iterator[bytes]:
    """Yield the pieces in which a message is sent."""
    if pace is not Pace.BYTES:
        yield message
        return
    middle = range(_HEAD, len(message) - _TAIL, _STRIDE)
    starts = [
        *range(min(_HEAD, len(message))),
        *middle,
        *range(max(_HEAD, len(message) - _TAIL), len(message)),
    ]
    for start, end in pairwise([*starts, len(message)]):
        yield message[start:end]


def line_end(data: bytes) -> int:
    """Return the length of the first line in `data`."""
    return data.find(b"\n") + 1 or len(data)


def frame_end(data: bytes) -> int:
    """Return the length of the first frame in `data`, or of all `data` if it is not a server's frame."""
    if not data[0] & 0x80 or len(data) < 2:
        return len(data)
    more = _EXTENDED.get(data[1], 0)
    size = int.from_bytes(data[2 : 2 + more], "big") if more else data[1]
    return min(len(data), 2 + more + size)

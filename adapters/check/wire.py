"""A bot's wire that divides what it is told into packets as a scenario asks for.

Knows bytes, and where messages end among them: behind LF, or with a frame. Does not know what they mean.
"""

from collections.abc import Callable

import trio

from adapters.check.scenarios import Pace
from adapters.wire import Wire

_GAP = 0.01
"""Seconds between two packets, so that the bot can read each by itself."""
_BYTE_GAP = 0.0005
_PING = b"\x89\x04c4gw"
_PONG = 0x8A
_EXTENDED = {126: 2, 127: 8}
"""Bytes that a frame's length has beyond its first."""


class CheckedWire(Wire):
    """The wire of a bot that is checked."""

    def prepare(self, *, frames: bool, patience: float) -> None:
        """Say whether it carries websocket frames, and how long the bot has to hang up; call it first."""
        self._end = frame_end if frames else line_end
        self.frames, self._patience = frames, patience
        self.pings = 0
        self.pace = Pace.MESSAGES
        self._next = 0.0
        self.unfinished = b""
        """What the bot has said without an end."""
        self.has_ponged = False
        """Whether the bot answered a ping."""
        self.has_hung_up = False
        """Whether the bot has hung up, first or in answer."""

    _end: Callable[[bytes], int]

    def read(self) -> bytes | None:
        """Return the bytes that arrived, as the wire does."""
        data = super().read()
        if data:
            self._look_at(data)
        elif data == b"":
            self.has_hung_up = True
        return data

    def write(self, data: bytes) -> bool:
        """Let `data` wait for `drain`, which sends it in pieces."""
        if self._given_up:
            raise trio.BrokenResourceError
        self._backlog += data
        self._backlogs.note(self, len(self._backlog))
        return not data

    def ping(self) -> None:
        """Send a ping behind what waits."""
        self.pings += 1
        self._backlog += _PING

    async def _send_some(self) -> None:
        size = len(self._backlog)
        if self.pace is Pace.BYTES:
            size = 1
        elif self.pace is Pace.MESSAGES:
            size = self._end(bytes(self._backlog))
        with trio.CancelScope() as self._sending:
            await trio.sleep_until(self._next)
            sent = await self._socket.send_more(self._backlog[:size])
            del self._backlog[:sent]
        self._next = trio.current_time() + (_BYTE_GAP if size == 1 else _GAP)

    async def linger(self) -> None:
        """Hang up, and note whether the bot does, too."""
        if self.has_hung_up or self._lingers:
            await super().linger()
            return
        self._lingers = True
        try:
            with trio.move_on_after(self._patience):
                await self.drain()
                await self._socket.send_eof()
                await self._drop()
                self.has_hung_up = True
        except (trio.BrokenResourceError, trio.ClosedResourceError, trio.BusyResourceError):
            self.has_hung_up = True
        finally:
            self.close()

    def _look_at(self, data: bytes) -> None:
        if self.frames:
            self.has_ponged = self.has_ponged or data[0] == _PONG
        else:
            rest = self.unfinished + data
            self.unfinished = rest[max(rest.rfind(b"\n"), rest.rfind(b"\r")) + 1 :]


def line_end(data: bytes) -> int:
    """Return how many bytes of `data` are its first line."""
    return data.find(b"\n") + 1 or len(data)


def frame_end(data: bytes) -> int:
    """Return how many bytes of `data` are the first frame of a server's; all, if that is none."""
    if not data[0] & 0x80 or len(data) < 2:
        return len(data)
    more = _EXTENDED.get(data[1], 0)
    size = int.from_bytes(data[2 : 2 + more], "big") if more else data[1]
    return min(len(data), 2 + more + size)

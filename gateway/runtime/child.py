"""Child processes that run a program of ours, as the event loop sees them: started, linked, ended.

Each has a socket to its parent, which carries frames: a length in four bytes, and as many bytes of whatever
the two have agreed on. Does not know what a program does. A program that loads no trio has its end of the
socket in `processes`.
"""

import subprocess
from collections.abc import Sequence

import trio

from gateway.runtime.processes import LENGTH, StartedProcess, ended, frame, start

FIRST_PAUSE = 0.5
"""Seconds before the second restart in a row; before each further one twice as many."""
LONGEST_PAUSE = 10.0
LASTING = 10.0
"""Seconds after which a program has lasted: its next restart is a first one."""
LONGEST_FRAME = 1 << 30
"""Bytes, where nothing else is said."""


class LinkError(Exception):
    """The other end is gone in the middle of a frame, or sent what is none."""


class Link:
    """Sends and receives frames on a stream. Any task may send; one receives."""

    def __init__(self, stream: trio.abc.Stream, longest: int = LONGEST_FRAME) -> None:
        """A frame of more than `longest` bytes is a LinkError."""
        self._stream = stream
        self._longest = longest
        self._sending = trio.Lock()
        self._heard = bytearray()

    async def send(self, data: bytes) -> None:
        """Send a frame. Raises LinkError if the other end is gone."""
        async with self._sending:
            try:
                await self._stream.send_all(frame(data))
            except trio.BrokenResourceError as error:
                raise LinkError("the other end is gone") from error

    async def receive(self) -> bytes | None:
        """Return the next frame; None if the other end has ended. Raises LinkError."""
        head = await self._take(LENGTH)
        if head is None:
            return None
        length = int.from_bytes(head)
        body = await self._take(length) if length <= self._longest else None
        if body is None:
            raise LinkError("a frame ends too early, or has no end")
        return body

    @property
    def has_more(self) -> bool:
        """Whether more has been read than the frames that were returned."""
        return bool(self._heard)

    async def aclose(self) -> None:
        """Hang up."""
        await trio.aclose_forcefully(self._stream)

    async def _take(self, count: int) -> bytes | None:
        while len(self._heard) < count:
            try:
                data = await self._stream.receive_some(1 << 16)
            except trio.BrokenResourceError:
                data = b""
            if not data:
                return None
            self._heard += data
        taken = bytes(self._heard[:count])
        del self._heard[:count]
        return taken


class Child:
    """A process that runs a module of ours, and its successors."""

    def __init__(self, module: str, longest: int = LONGEST_FRAME) -> None:
        """A frame of more than `longest` bytes is a LinkError."""
        self._module = module
        self._longest = longest
        self._process: subprocess.Popen[bytes] | None = None
        self.link: Link | None = None
        """The link to the process that runs now, if one does."""

    @property
    def pid(self) -> int | None:
        """The process, if there is one."""
        return None if self._process is None else self._process.pid

    async def start(self, started: StartedProcess | None = None, sockets: Sequence[int] = ()) -> Link:
        """Start a process, which inherits `sockets`; return the link to it. Raises OSError.

        `started` is the process, where it has been started already.
        """
        if started is None:
            started = await trio.to_thread.run_sync(start, self._module, sockets)
        self._process = started.process
        self.link = Link(trio.SocketStream(trio.socket.from_stdlib_socket(started.socket)), self._longest)
        return self.link

    async def end(self, limit: float) -> int | None:
        """Hang up on the process, and kill it if it has not ended within `limit` seconds.

        Return its status; None where there is no process.
        """
        link, process = self.link, self._process
        self.link = self._process = None
        status = None
        with trio.CancelScope(shield=True):
            if link is not None:
                await link.aclose()
            if process is not None:
                status = await trio.to_thread.run_sync(ended, process, limit)
        return status


class Backoff:
    """Computes the pauses before restarts in a row: none, `FIRST_PAUSE`, then doubling to `LONGEST_PAUSE`."""

    def __init__(self) -> None:
        self._next = 0.0

    def after(self, lasted: float) -> float:
        """Return for how many seconds to wait after a run that lasted so many seconds."""
        pause = 0.0 if lasted > LASTING else self._next
        self._next = min(2 * pause or FIRST_PAUSE, LONGEST_PAUSE)
        return pause

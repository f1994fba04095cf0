"""Child processes that run the server's own modules, and messages between them and their parent.

Runs in the event loop; does not know what a child does. Each child has a socket to its parent. The socket
carries frames: a length in four bytes, then that number of bytes. A child that does not load trio reads and
writes frames with the functions of `processes`.
"""

import subprocess
from collections.abc import Sequence

import trio

from gateway.runtime.processes import LENGTH, StartedProcess, ended, frame, start

FIRST_PAUSE = 0.5
"""The pause before the second restart in a row, in seconds. The pause doubles with each further restart."""
LONGEST_PAUSE = 10.0
"""The maximum pause, in seconds."""
LASTING = 10.0
"""After a run that lasted longer than this many seconds, the next restart counts as the first in a row."""
LONGEST_FRAME = 1 << 30
"""The default limit of a received frame, in bytes."""


class LinkError(Exception):
    """A frame could not be sent, was too long, or was incomplete because the other end closed the socket."""


class Link:
    """Sends and receives frames on a stream. Several tasks may send; only one task may receive."""

    def __init__(self, stream: trio.abc.Stream, longest: int = LONGEST_FRAME) -> None:
        """Set the stream, and the limit of a received frame in bytes."""
        self._stream = stream
        self._longest = longest
        self._sending = trio.Lock()
        self._buffer = bytearray()

    async def send(self, data: bytes) -> None:
        """Send a frame. Raises LinkError if the other end is closed."""
        async with self._sending:
            try:
                await self._stream.send_all(frame(data))
            except trio.BrokenResourceError as error:
                raise LinkError("the other end is gone") from error

    async def receive(self) -> bytes | None:
        """Return the data of the next frame; None if the other end is closed. Raises LinkError."""
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
        """Whether bytes after the last returned frame have been read already."""
        return bool(self._buffer)

    async def aclose(self) -> None:
        """Close the stream."""
        await trio.aclose_forcefully(self._stream)

    async def _take(self, count: int) -> bytes | None:
        while len(self._buffer) < count:
            try:
                data = await self._stream.receive_some(1 << 16)
            except trio.BrokenResourceError:
                data = b""
            if not data:
                return None
            self._buffer += data
        taken = bytes(self._buffer[:count])
        del self._buffer[:count]
        return taken


class Child:
    """A process that runs one of the server's modules. It can be started again after it has ended."""

    def __init__(self, module: str, longest: int = LONGEST_FRAME) -> None:
        """Set the module to run, and the limit of a received frame in bytes."""
        self._module = module
        self._longest = longest
        self._process: subprocess.Popen[bytes] | None = None
        self.link: Link | None = None
        """The link to the running process; None if no process runs."""

    @property
    def pid(self) -> int | None:
        """The process id; None if no process runs."""
        return None if self._process is None else self._process.pid

    async def start(self, started: StartedProcess | None = None, sockets: Sequence[int] = ()) -> Link:
        """Start a process that inherits `sockets`; return the link to it. Raises OSError.

        If the process `started` is given, it is used, and none is started.
        """
        if started is None:
            started = await trio.to_thread.run_sync(start, self._module, sockets)
        self._process = started.process
        self.link = Link(trio.SocketStream(trio.socket.from_stdlib_socket(started.socket)), self._longest)
        return self.link

    async def end(self, limit: float) -> int | None:
        """Close the link; return the exit status of the process, or None if there is no process.

        Kills the process if it has not ended within `limit` seconds.
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
    """Computes the pauses before restarts: 0, then `FIRST_PAUSE`, then doubled up to `LONGEST_PAUSE`."""

    def __init__(self) -> None:
        self._next = 0.0

    def after(self, lasted: float) -> float:
        """Return the pause, in seconds, after a run of `lasted` seconds."""
        pause = 0.0 if lasted > LASTING else self._next
        self._next = min(2 * pause or FIRST_PAUSE, LONGEST_PAUSE)
        return pause

"""A stream of any kind as a socket of the server's: between its two ends there is no system."""

import trio

from adapters.net.epoll import Ready

CHUNK = 4096


class MemorySocket:
    """A stream with the face of a `DirectSocket`: what it sends always waits."""

    host = "192.0.2.7"
    address = ""
    is_readable = False
    is_reachable = True
    silence = 0.0
    is_listened_to = True

    def __init__(self, stream: trio.abc.Stream) -> None:
        self._stream = stream
        self._arrived: bytes | None = None
        self._torn = False

    async def listen(self, ready: Ready) -> None:
        """Fetch what there is to read and call `ready`, again and again until it returns False.

        Raises what `ready` raises.
        """
        goes_on = True
        while goes_on:
            if self._arrived is None:
                self._arrived = bytes(await self._stream.receive_some(CHUNK))
            goes_on = ready()

    def read(self, max_bytes: int) -> bytes | None:
        """Return what has arrived, no bytes at the end of the stream.

        None where there is nothing after all.
        """
        data, self._arrived = self._arrived, None
        return data

    def send_some(self, data: bytes | bytearray) -> int:
        """Send nothing."""
        if self._torn:
            raise trio.BrokenResourceError
        return 0

    async def send_more(self, data: bytes | bytearray) -> int:
        """Send all of `data`; return how many bytes that were."""
        if self._torn:
            raise trio.BrokenResourceError
        whole = bytes(data)  # more may be written to `data` meanwhile
        self._torn = True  # until all of it has left: a part may have
        await self._stream.send_all(whole)
        self._torn = False
        return len(whole)

    def probe_after(self, seconds: int) -> None:
        """Do nothing: no system is between the two ends."""

    async def send_eof(self) -> None:
        """Let the peer know that no more comes, where the stream has a way to say so."""
        if isinstance(self._stream, trio.abc.HalfCloseableStream):
            await self._stream.send_eof()

    def close(self) -> None:
        """Close both directions, in the next turn."""
        trio.lowlevel.spawn_system_task(trio.aclose_forcefully, self._stream)

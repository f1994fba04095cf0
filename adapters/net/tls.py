"""TLS on a connection that can be written to without waiting.

Knows Python's `ssl` and the socket below. Does not know what is sent. trio's own stream waits inside its
methods. Here, as in `sockets`, bytes are read and written in the caller's task, so that a move needs no task
and no wait with TLS either. The rules it keeps:

- What was read from the socket is decrypted at once, all of it. Otherwise it would wait until the client
  sends more.
- A text counts as sent when all of its encrypted bytes have left. Until then its writer keeps it.
"""

import ssl
from contextlib import suppress
from dataclasses import dataclass, field

import trio

from adapters.net.epoll import Ready
from adapters.net.sockets import DirectSocket

_RECORD = 16_384
"""Bytes that are encrypted at once: a record of TLS has no more (RFC 8446, 5.1)."""


_HEADER = 5
"""Bytes of a record before what is encrypted, the last two of which have its length."""
_LONGEST_RECORD = _RECORD + 2048
"""As long may a record be that is encrypted (RFC 5246, 6.2.3)."""


@dataclass(slots=True)
class Session:
    """One connection's end of TLS, and the bytes that go in and out of it."""

    context: ssl.SSLContext
    server: str | None = None
    """Whom the client's end wants to find at the other; None at the server's end."""
    incoming: ssl.MemoryBIO = field(default_factory=ssl.MemoryBIO)
    outgoing: ssl.MemoryBIO = field(default_factory=ssl.MemoryBIO)
    tls: ssl.SSLObject = field(init=False)

    def __post_init__(self) -> None:
        self.tls = self.context.wrap_bio(self.incoming, self.outgoing, self.server is None, self.server)

    def shake_hands(self) -> bool:
        """Go on with the handshake; return whether it is done. Takes milliseconds. Raises ssl.SSLError."""
        try:
            self.tls.do_handshake()
        except ssl.SSLWantReadError:
            return False
        return True


def whole_records(data: bytes) -> int:
    """Return with how many bytes the last whole record of TLS in `data` ends, which begins with a record.

    What can be no record counts as one: the library says what is wrong with it.
    """
    end = 0
    while (start := end + _HEADER) <= len(data):
        size = int.from_bytes(data[start - 2 : start])
        if size > _LONGEST_RECORD:
            return len(data)
        if start + size > len(data):
            break
        end = start + size
    return end


class TlsSocket:
    """A TCP connection with TLS, with the face of a `DirectSocket`, whose errors it has."""

    __slots__ = ("_direct", "_ended", "_session", "_taken", "_unsent", "address")

    def __init__(self, direct: DirectSocket, session: Session) -> None:
        """`session` has done its handshake."""
        self.address = direct.address
        self._direct = direct
        self._session = session
        self._ended = False
        """Whether the client has said that it sends no more."""
        self._taken = 0
        """Bytes that were encrypted, and are not reported as sent yet."""
        self._unsent = b""
        """Encrypted bytes that have not left."""

    @property
    def host(self) -> str:
        """The address at which the peer reached this server, as in a URL."""
        return self._direct.host

    @property
    def is_readable(self) -> bool:
        """Whether there is something to read, the end of the stream included."""
        return self._direct.is_readable

    @property
    def is_reachable(self) -> bool:
        """Whether the peer answers."""
        return self._direct.is_reachable

    @property
    def silence(self) -> float:
        """Seconds since the system of the peer acknowledged anything; 0 where this system does not say."""
        return self._direct.silence

    def probe_after(self, seconds: int) -> None:
        """Let the system ask for an acknowledgement after so much silence."""
        self._direct.probe_after(seconds)

    @property
    def is_listened_to(self) -> bool:
        """Whether what arrives is read at once, where a task listens."""
        return self._direct.is_listened_to

    async def listen(self, ready: Ready) -> None:
        """Call `ready`, which reads, each time there is something to read, until it returns False.

        Raises what `ready` raises.
        """

        def ready_or_ended() -> bool:
            goes_on = ready()
            while goes_on and self._ended:  # which the system cannot tell
                goes_on = ready()
            return goes_on

        if not self._ended or ready_or_ended():
            await self._direct.listen(ready_or_ended)

    def read(self, max_bytes: int) -> bytes | None:
        """Return what has arrived, no bytes at the end of the stream; a record more than `max_bytes` at most.

        None where there is nothing after all.
        """
        if self._ended:
            return b""
        data = self._direct.read(max_bytes)
        if data is None:
            return None
        if data:
            self._session.incoming.write(data)
        else:
            self._ended = True
        arrived = self.arrived()
        return arrived if arrived or self._ended else None

    def arrived(self) -> bytes:
        """Return the decrypted bytes of what was read. Raises trio.BrokenResourceError."""
        pieces: list[bytes] = []
        try:
            while piece := self._session.tls.read(_RECORD):
                pieces.append(piece)
            self._ended = True
        except ssl.SSLWantReadError:
            pass
        except ssl.SSLError as error:
            raise trio.BrokenResourceError from error
        if self._session.outgoing.pending:  # an answer of the library's own
            self._flush()
        return b"".join(pieces)

    def send_some(self, data: bytes | bytearray) -> int:
        """Send as much of `data` as leaves at once; return how many bytes that were.

        After 0 the next call has to begin with the same bytes: some of them may be on their way.
        """
        try:
            if not self._taken:
                self._taken = self._session.tls.write(bytes(data[:_RECORD]))
        except ssl.SSLError as error:
            raise trio.BrokenResourceError from error
        self._flush()
        if self._unsent:
            return 0
        taken, self._taken = self._taken, 0
        return taken

    async def send_more(self, data: bytes | bytearray) -> int:
        """Send some of `data`, when it can leave; return how many bytes that were."""
        await self._direct.send_more(b"")
        return self.send_some(data)

    async def send_eof(self) -> None:
        """Let the peer know that no more comes."""
        with suppress(ssl.SSLError):  # it wants to read the other end's good-bye
            self._session.tls.unwrap()
        self._flush()
        while self._unsent:
            await self._direct.send_more(b"")
            self._flush()
        await self._direct.send_eof()

    def close(self) -> None:
        """Close both directions."""
        self._direct.close()

    def _flush(self) -> None:
        self._unsent += self._session.outgoing.read()
        if self._unsent:
            self._unsent = self._unsent[self._direct.send_some(self._unsent) :]

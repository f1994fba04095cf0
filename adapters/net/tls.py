"""TLS without I/O: bytes of the socket in, bytes of the client out, and the other way round.

Knows Python's `ssl` and the records of TLS. Does not know the socket.
"""

import ssl
from contextlib import suppress

TLS = b"\x16"
"""The first byte of every handshake (RFC 8446, 5.1)."""

_RECORD = 16_384
"""Bytes that are encrypted at once: a record of TLS has no more (RFC 8446, 5.1)."""
_HEADER = 5
"""Bytes of a record before what is encrypted, the last two of which have its length."""
_LONGEST_RECORD = _RECORD + 2048
"""The largest length of an encrypted record (RFC 5246, 6.2.3)."""


class Session:
    """One connection's end of TLS. All methods raise ssl.SSLError where the other end breaks the protocol."""

    __slots__ = ("_incoming", "_outgoing", "_tls", "has_ended")

    def __init__(self, context: ssl.SSLContext, server: str | None = None) -> None:
        """`server` is whom the client's end wants to find at the other; None at the server's end."""
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = context.wrap_bio(self._incoming, self._outgoing, server is None, server)
        self.has_ended = False
        """Whether the other end has said that it sends no more."""

    def shake_hands(self, data: bytes) -> bool:
        """Go on with the handshake, with what has arrived; return whether it is done. Takes milliseconds.

        What is `outgoing` is to be sent then, also after an error.
        """
        self._incoming.write(data)
        try:
            self._tls.do_handshake()
        except ssl.SSLWantReadError:
            return False
        return True

    def outgoing(self) -> bytes:
        """Return what is to be sent to the other end."""
        return self._outgoing.read()

    def decrypt(self, data: bytes) -> bytes:
        """Return all that can be decrypted now, with `data`. There may be something `outgoing` then."""
        self._incoming.write(data)
        pieces: list[bytes] = []
        try:
            while piece := self._tls.read(_RECORD):
                pieces.append(piece)
            self.has_ended = True
        except ssl.SSLZeroReturnError:  # the same, once this end has said so, too
            self.has_ended = True
        except ssl.SSLWantReadError:
            pass
        return b"".join(pieces)

    def encrypt(self, data: bytes) -> bytes:
        """Return `data` encrypted."""
        start = 0
        while start < len(data):
            start += self._tls.write(data[start : start + _RECORD])
        return self._outgoing.read()

    def end(self) -> bytes:
        """Return what says that no more comes."""
        with suppress(ssl.SSLError):  # it wants to read the other end's good-bye
            self._tls.unwrap()
        return self._outgoing.read()


def whole_records(data: bytes) -> int:
    """Return the length of the whole TLS records at the beginning of `data`.

    An impossible record counts as whole, so that the library says what is wrong with it.
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

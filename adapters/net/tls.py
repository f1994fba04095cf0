"""TLS without I/O: encrypts and decrypts bytes.

Knows Python's `ssl` and the records of TLS. Does not know the socket.
"""

import ssl
from contextlib import suppress

TLS = b"\x16"
"""The first byte of every handshake (RFC 8446, 5.1)."""

_RECORD = 16_384
"""The most bytes encrypted at once, which is the most that a TLS record can carry (RFC 8446, 5.1)."""
_HEADER = 5
"""The size of a record's header, in bytes. The last two bytes are the length of what follows."""
_LONGEST_RECORD = _RECORD + 2048
"""The largest length of an encrypted record (RFC 5246, 6.2.3)."""


class Session:
    """This end of one TLS connection. All methods raise ssl.SSLError if the other end breaks the protocol."""

    __slots__ = ("_incoming", "_outgoing", "_tls", "has_ended")

    def __init__(self, context: ssl.SSLContext, server: str | None = None) -> None:
        """Begin a session; `server` is None at the server's end.

        At the client's end, `server` is the name that the other end's certificate must have.
        """
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = context.wrap_bio(self._incoming, self._outgoing, server is None, server)
        self.has_ended = False
        """Whether the other end has announced that it sends no more."""

    def shake_hands(self, data: bytes) -> bool:
        """Continue the handshake with the bytes that have arrived; return whether it is done.

        A call may compute for milliseconds. After each call, even after an error, send the bytes that
        `outgoing` returns.
        """
        self._incoming.write(data)
        try:
            self._tls.do_handshake()
        except ssl.SSLWantReadError:
            return False
        return True

    def outgoing(self) -> bytes:
        """Return the bytes to send to the other end."""
        return self._outgoing.read()

    def decrypt(self, data: bytes) -> bytes:
        """Add received `data`, and return all bytes that can be decrypted now.

        Afterwards `outgoing` may return an answer to send.
        """
        self._incoming.write(data)
        pieces: list[bytes] = []
        try:
            while piece := self._tls.read(_RECORD):
                pieces.append(piece)
            self.has_ended = True
        except ssl.SSLZeroReturnError:  # raised if this end has already announced its own end
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
        """Return the bytes that announce that this end sends no more."""
        with suppress(ssl.SSLError):  # the other end has not announced its end yet
            self._tls.unwrap()
        return self._outgoing.read()


def whole_records(data: bytes) -> int:
    """Return the length of the whole TLS records at the beginning of `data`.

    If a record is invalid, all of `data` counts as whole, so that the library reports the error.
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

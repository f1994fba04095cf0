"""Websocket frames of RFC 6455, the client's side: bytes in, frames out. Pure.

Shares no code with a server's websocket library, so it can check what a server sends. Covers the opening
handshake and frames. Must not know sockets or dialects, and does not decide what to do about a close.
Anything that a server must not send raises FrameError with a description; nothing is silently repaired.
"""

import base64
import hashlib
import os
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum

_GUID = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"


class Opcode(IntEnum):
    CONTINUATION = 0
    TEXT = 1
    BINARY = 2
    CLOSE = 8
    PING = 9
    PONG = 10


class FrameError(Exception):
    """The server sent something that RFC 6455 forbids. The message says what."""


@dataclass(frozen=True, slots=True)
class Frame:
    """One complete message, its fragments joined, or one control frame."""

    opcode: Opcode
    payload: bytes


def encode(opcode: Opcode, payload: bytes) -> bytes:
    """Return one masked, final frame."""
    length = len(payload)
    if length < 126:
        head = struct.pack("!BB", 0x80 | opcode, 0x80 | length)
    elif length < 1 << 16:
        head = struct.pack("!BBH", 0x80 | opcode, 0x80 | 126, length)
    else:
        head = struct.pack("!BBQ", 0x80 | opcode, 0x80 | 127, length)
    mask = os.urandom(4)
    return head + mask + _masked(payload, mask)


def close_frame(code: int) -> bytes:
    return encode(Opcode.CLOSE, struct.pack("!H", code))


def close_reason(payload: bytes) -> tuple[int, str]:
    """Return the code and reason of a received close frame; code 1005 for none (RFC 6455 7.4.1)."""
    if not payload:
        return 1005, ""
    if len(payload) == 1:
        raise FrameError("a close frame with half a code")
    try:
        return int.from_bytes(payload[:2], "big"), payload[2:].decode()
    except UnicodeDecodeError:
        raise FrameError("a close frame whose reason is no UTF-8") from None


class Handshake:
    """The opening handshake: send `request`, and check the answer with `accept`."""

    def __init__(self, host: str, resource: str) -> None:
        self._key = base64.b64encode(os.urandom(16))
        lines = (
            f"GET {resource} HTTP/1.1",
            f"Host: {host}",
            "Upgrade: websocket",
            "Connection: Upgrade",
            f"Sec-WebSocket-Key: {self._key.decode()}",
            "Sec-WebSocket-Version: 13",
        )
        self.request = "\r\n".join((*lines, "", "")).encode()

    def accept(self, head: bytes) -> None:
        """Check that the answer `head`, up to the blank line, opens the websocket. Raises FrameError."""
        status, *lines = head.decode("latin-1").split("\r\n")
        if status.split(" ")[1:2] != ["101"]:
            raise FrameError(f"the handshake was answered {status!r}")
        fields = (line.partition(":") for line in lines)
        headers = {name.strip().lower(): value.strip() for name, _, value in fields}
        wanted = base64.b64encode(hashlib.sha1(self._key + _GUID).digest()).decode()
        if headers.get("sec-websocket-accept") != wanted:
            raise FrameError("the handshake was answered with a wrong Sec-WebSocket-Accept")


class FrameReader:
    """Turns bytes from a server, in pieces of any size, into complete messages and control frames."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._parts = bytearray()
        self._opcode: Opcode | None = None

    def feed(self, data: bytes) -> Iterator[Frame]:
        """Yield the frames that `data` completes. Raises FrameError at the first violation."""
        self._buffer += data
        while (cut := self._cut()) is not None:
            final, opcode, payload = cut
            frame = self._joined(opcode, payload, final=final)
            if frame is not None:
                yield frame

    def _cut(self) -> tuple[bool, Opcode, bytes] | None:
        """Cut the next frame off the buffer, as (final, opcode, payload); None if it is incomplete."""
        if len(self._buffer) < 2:
            return None
        first, second = self._buffer[:2]
        opcode = _checked_opcode(first)
        if second & 0x80:
            raise FrameError("a masked frame")
        size, start = second & 0x7F, 2
        if opcode >= Opcode.CLOSE and (size > 125 or not first & 0x80):
            raise FrameError("a control frame in fragments or over 125 bytes")
        if size >= 126:
            start += 2 if size == 126 else 8
            size = int.from_bytes(self._buffer[2:start], "big")
        if len(self._buffer) < start + size:
            return None
        payload = bytes(self._buffer[start : start + size])
        del self._buffer[: start + size]
        return bool(first & 0x80), opcode, payload

    def _joined(self, opcode: Opcode, payload: bytes, *, final: bool) -> Frame | None:
        if opcode >= Opcode.CLOSE:
            return Frame(opcode, payload)
        if (opcode is Opcode.CONTINUATION) != (self._opcode is not None):
            raise FrameError("a fragment out of order")
        self._opcode = self._opcode or opcode
        self._parts += payload
        if not final:
            return None
        whole = Frame(self._opcode, bytes(self._parts))
        self._opcode = None
        self._parts.clear()
        return whole


def _checked_opcode(first: int) -> Opcode:
    if first & 0x70:
        raise FrameError("a frame with reserved bits set")
    try:
        return Opcode(first & 0x0F)
    except ValueError:
        raise FrameError(f"a frame with the unknown opcode {first & 0x0F}") from None


def _masked(payload: bytes, mask: bytes) -> bytes:
    repeated = mask * (len(payload) // 4) + mask[: len(payload) % 4]
    return (int.from_bytes(payload, "big") ^ int.from_bytes(repeated, "big")).to_bytes(len(payload), "big")

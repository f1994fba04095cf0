"""Converts bytes to texts and back, for lines over TCP and for websockets after their handshake.

Does no I/O. Knows where a text ends, how long it may be, and how a connection ends in each framing. Does not
know dialects.
"""

import re
from collections.abc import Iterable
from typing import NamedTuple, Protocol

from wsproto.frame_protocol import CloseReason, FrameDecoder, MessageDecoder, Opcode, ParseFailed

from adapters.client.contract import Farewell, Flooded, PeerGone

HUNG_UP = "hung up"
"""The logged cause if a client ended its connection without breaking the protocol."""


class Framing(Protocol):
    """Converts between the bytes and the texts of one connection, both ways."""

    ended: str
    """Why no more texts come, in words; empty while more may come."""
    is_final: bool
    """Whether the connection ended on purpose or by a breach of the protocol, so that it did not break."""
    has_more: bool
    """Whether some bytes are not decoded yet; if so, call `feed` again."""
    replies: bytes
    """Bytes to send to the client, such as pongs; the caller sends and clears them."""

    def feed(self, data: bytes = b"") -> list[str]:
        """Add `data`, and return the texts that are complete. Raises Flooded if one is too long."""

    def end(self) -> list[str]:
        """Return the remaining texts of a stream that has ended. MUST NOT be called while `has_more`."""

    def frame(self, texts: Iterable[str]) -> bytes:
        """Return one or more texts as bytes for the wire. Raises PeerGone after `close`."""

    def ping(self) -> bytes:
        """Return a ping, which clients answer automatically; no bytes if the framing has no pings."""

    def close(self, farewell: Farewell) -> bytes:
        """Return the bytes that announce the end; no bytes if the framing has none, or on a second call."""


LINE_LIMIT = 4096
"""The most bytes of a line, without its end."""

_CR = 0x0D  # an integer, because it is found faster than bytes
_RETURN = b"\r"
_IAC = 0xFF
_TELNET = re.compile(
    rb"\xff(?:\xff|[\xfb-\xfe].?|\xfa(?:[^\xff]|\xff[^\xf0])*(?:\xff\xf0)?|[\xec-\xf9])?", re.DOTALL
)


class Lines:
    """Lines over TCP, which people also type into telnet.

    A line ends with LF, CR LF, a lone CR, or CR NUL, which is telnet's form of a lone CR. A CR ends its line
    at once. An LF or a NUL that follows it belongs to the same line end, even in a later packet. Telnet's own
    commands are removed (RFC 854).
    """

    __slots__ = ("_flooded", "_limit", "_rest", "ended", "has_more", "is_final", "replies")

    def __init__(self, limit: int = LINE_LIMIT) -> None:
        self.ended = ""
        self.is_final = False  # lines cannot tell the end from a break
        self.has_more = False
        self.replies = b""
        self._limit = limit
        self._rest = b""  # an unfinished line; or CR, if a CR ended the last line and its LF may follow
        self._flooded = False

    def feed(self, data: bytes = b"") -> list[str]:
        """Add `data`, and return the lines that are complete.

        Raises Flooded if a line is longer than the limit. If there are lines before that line, this call
        returns them, and the next call raises.
        """
        if self._flooded:
            raise Flooded
        whole = self._rest + data
        if _CR in whole:
            unified = whole.replace(b"\r\n", b"\n")
            if _CR in unified or self._rest == _RETURN:
                return self._returned(whole)
            whole = unified  # the usual case: each CR precedes an LF
        if len(whole) <= self._limit and whole.isascii():  # the usual case, and faster
            texts = whole.decode().split("\n")
            self._rest = texts.pop().encode()
            return texts
        return self._split(whole)

    def _returned(self, whole: bytes) -> list[str]:
        """Split bytes that contain a CR into lines."""
        ends = whole[-1] == _CR
        if self._rest == _RETURN:
            whole = whole[2:] if whole[1:2] in (b"\n", b"\0") else whole[1:]
        whole = whole.replace(b"\r\n", b"\n")
        if _CR in whole:
            whole = whole.replace(b"\r\0", b"\n").replace(b"\r", b"\n")
        lines = self._split(whole)
        if ends:
            self._rest = _RETURN
        return lines

    def _split(self, whole: bytes) -> list[str]:
        lines = whole.split(b"\n")
        self._rest = lines.pop()
        if len(whole) > self._limit:  # otherwise no line can be too long
            self._cut(lines)
        if self._flooded:
            if not lines:
                raise Flooded
            self.has_more = True  # the next call raises
        return [to_text(line) for line in lines]

    def _cut(self, lines: list[bytes]) -> None:
        for index, line in enumerate((*lines, self._rest)):
            if len(line) > self._limit:
                self._flooded = True
                del lines[index:]
                break

    def end(self) -> list[str]:
        """Return the last line if the stream ended without a line end; otherwise return no lines."""
        self.ended = HUNG_UP
        rest, self._rest = self._rest, b""
        return [to_text(rest)] if rest not in (b"", _RETURN) and not self._flooded else []

    def frame(self, texts: Iterable[str]) -> bytes:
        """Return each text as a line."""
        return ("\n".join(texts) + "\n").encode()

    def ping(self) -> bytes:
        """Return no bytes: clients that send lines answer no message automatically."""
        return b""

    def close(self, farewell: Farewell) -> bytes:
        """Return no bytes: this framing has no farewell."""
        return b""


def to_text(line: bytes) -> str:
    """Return a line as text, without telnet's commands; bytes that are not UTF-8 become surrogates."""
    if _IAC in line:
        line = _TELNET.sub(b"", line)
    return line.decode("utf-8", "surrogateescape")


MESSAGE_LIMIT = 65_536
"""The most characters of a text message, and the most bytes of a binary message. A longer message ends the
connection with close code 1009."""
FRAME_LIMIT = 1024
"""The most fragments of a websocket message, not counting pings between them. A message with more fragments
ends the connection with close code 1009."""

_AT_ONCE = 32
"""The most frames that the library decodes before other clients have their turn. This takes about 150 us."""
_CONTINUATION = bytes(range(0x80, 0xC0))
"""The bytes of UTF-8 that continue a character."""
_PARTS = 64
"""The most separate pieces of an unfinished message. If there are more, they are joined into one."""
_TEXT = 0x81
"""The first byte of a frame with a whole text: FIN and the opcode."""
_PING = 0x89
_PONG = 0x8A
_CLOSE = 0x88
_MASKED = 0x80
_SHORT = 126
"""The smallest payload size, in bytes, for which the length needs a field of its own."""
_HEAD = 6
"""The number of bytes before the payload of a short masked frame."""
_SHORT_HEADS = tuple(bytes((_TEXT, size)) for size in range(_SHORT))
_NORMAL = (1000).to_bytes(2, "big")
"""The close code of a client that has done what it came for."""
_CLOSE_CODES = frozenset((*range(1000, 1004), *range(1007, 1014)))
"""The codes below 3000 that a close frame may have (RFC 6455, 7.4.1)."""


class WebSocket:
    """The server's end of a websocket after its handshake (RFC 6455).

    Nearly all texts from clients are short and unfragmented, and arrive in one read. This class decodes them
    itself. At the first frame of another kind, `wsproto` takes over until the end of the message that begins
    there.
    """

    __slots__ = (
        "_answer_to_close",
        "_decoder",
        "_has_said_close",
        "ended",
        "has_more",
        "is_final",
        "replies",
    )

    def __init__(self) -> None:
        self.ended = ""
        self.is_final = False
        self.has_more = False
        self.replies = b""
        self._decoder: _Decoder | None = None
        """The decoder of an unfinished frame or message, if there is one."""
        self._answer_to_close: bytes | None = None
        """The payload of the close frame that answers a client's close frame, or a breach of the protocol."""
        self._has_said_close = False

    def feed(self, data: bytes = b"") -> list[str]:
        """Add `data`, and return the messages that are complete; binary ones are decoded.

        After the server has sent a close frame, no messages are returned: only the client's close frame is
        expected.
        """
        texts: list[str] = []
        if self.ended:
            return texts
        is_over = self._has_said_close
        if self._decoder is None and data:
            texts, controls, data = usual_frames(data)
            if controls:
                self._answer(controls)
            if data:
                self._decoder = _Decoder()
        if self._decoder is not None:
            self._decoder.frames.receive_bytes(data)
            texts += self._decoded(self._decoder)
        return [] if is_over else texts

    def end(self) -> list[str]:
        """Return no texts: an incomplete message does not count."""
        self.ended = self.ended or HUNG_UP
        return []

    def frame(self, texts: Iterable[str]) -> bytes:
        """Return each text as a frame."""
        if self._has_said_close:  # nothing may follow a close frame (RFC 6455, 5.5.1)
            raise PeerGone
        return b"".join([text_frame(text) for text in texts])

    def ping(self) -> bytes:
        """Return a ping."""
        return b"" if self._has_said_close else bytes((_PING, 0))

    def close(self, farewell: Farewell) -> bytes:
        """Return a close frame with the farewell.

        If the client has sent a close frame or broken the protocol, return the close frame that answers that.
        """
        payload = self._answer_to_close
        if self._has_said_close or (self.ended and payload is None):
            return b""
        self._has_said_close = True
        if payload is None:
            payload = farewell.code.to_bytes(2, "big") + farewell.reason.encode()
        return _control_frame(_CLOSE, payload)

    def _decoded(self, decoder: "_Decoder") -> list[str]:
        """Decode at most `_AT_ONCE` frames, and return their texts."""
        texts: list[str] = []
        try:
            for _ in range(_AT_ONCE):
                frame = decoder.next()
                if frame is None:
                    self.has_more = False
                    if decoder.is_between_messages:
                        self._decoder = None
                    return texts
                if frame.opcode is Opcode.PING:
                    self._pong(frame.payload)
                elif frame.opcode is Opcode.CLOSE:
                    check_close(frame.payload)
                    self.ended, self.has_more = HUNG_UP, False
                    # Another code than 1000 is that of a process that ends or failed (RFC 6455, 7.4.1).
                    self.is_final = frame.payload[:2] in (b"", _NORMAL)
                    self._answer_to_close = frame.payload  # the answer has the same payload (RFC 6455, 5.5.1)
                    return texts
                elif frame.message_finished and not frame.opcode.iscontrol():
                    texts.append(frame.payload.decode("utf-8", "surrogateescape"))
            self.has_more = True
        except ParseFailed as error:
            is_long = error.code is CloseReason.MESSAGE_TOO_BIG
            words = "sent a message that is too long" if is_long else "broke the websocket protocol"
            self.ended, self.has_more = f"{words} ({error.code.value})", False
            self.is_final = True
            self._answer_to_close = error.code.value.to_bytes(2, "big")
        return texts

    def _answer(self, frames: bytes) -> None:
        """Answer the pings among short control frames."""
        while frames:
            end = _HEAD + frames[1] - _MASKED
            if frames[0] == _PING:
                self._pong(_unmasked(frames[_HEAD - 4 : _HEAD], frames[_HEAD:end]))
            frames = frames[end:]

    def _pong(self, payload: bytes) -> None:
        if not self._has_said_close:
            self.replies += _control_frame(_PONG, payload)


class _Decoder:
    """Decodes a websocket's frames and messages with wsproto, from the beginning of a message.

    The limits also hold for an unfinished message, however it is divided. Only public names of the library
    are used. Some of them are not documented, so tests/adapters/client/test_wsproto.py checks each.
    """

    __slots__ = ("_count", "_messages", "_parts", "_size", "frames")

    def __init__(self) -> None:
        self.frames = FrameDecoder(client=False)
        self._messages = MessageDecoder()
        self._parts: list[bytes] = []
        """The pieces of the unfinished message."""
        self._size = self._count = 0
        """The size of the unfinished message, in the unit of `MESSAGE_LIMIT`, and the number of its
        frames."""

    @property
    def is_between_messages(self) -> bool:
        """Whether no frame and no message is unfinished."""
        frames = self.frames
        return frames.header is None and not len(frames.buffer) and self._messages.opcode is None

    def next(self) -> "_Decoded | None":
        """Return the next frame, or a part of one; None if more bytes are needed. Raises ParseFailed.

        The last part of a message has the whole message as its payload; the other parts have no payload.
        """
        frame = self.frames.process_buffer()
        if frame is None:
            return None
        assert isinstance(frame.payload, bytes)
        if frame.opcode.iscontrol():
            return _Decoded(frame.opcode, frame.payload, message_finished=True)
        is_text = (self._messages.opcode or frame.opcode) is Opcode.TEXT
        self._size += len(frame.payload.translate(None, _CONTINUATION) if is_text else frame.payload)
        self._count += frame.frame_finished
        if self._size > MESSAGE_LIMIT or self._count > FRAME_LIMIT:
            raise ParseFailed("message too big", CloseReason.MESSAGE_TOO_BIG)
        part = self._messages.process_frame(frame)  # this also checks that a text is UTF-8
        self._parts.append(frame.payload)
        if part.message_finished:
            message, self._parts = b"".join(self._parts), []
            self._size = self._count = 0
            return _Decoded(part.opcode, message, message_finished=True)
        if len(self._parts) > _PARTS:  # each byte may come as a separate piece
            self._parts = [b"".join(self._parts)]
        return _Decoded(part.opcode, b"", message_finished=False)


class _Decoded(NamedTuple):
    opcode: Opcode
    payload: bytes
    message_finished: bool


def _control_frame(kind: int, payload: bytes) -> bytes:
    return bytes((kind, len(payload))) + payload


def check_close(payload: bytes) -> None:
    """Raise ParseFailed if `payload` is not valid in a close frame (RFC 6455, 7.4)."""
    if not payload:
        return
    code = int.from_bytes(payload[:2], "big")
    if len(payload) == 1 or not (code in _CLOSE_CODES or 3000 <= code < 5000):
        raise ParseFailed("close frame with an invalid code")
    try:
        payload[2:].decode()
    except UnicodeDecodeError:
        raise ParseFailed("reason is no UTF-8", CloseReason.INVALID_FRAME_PAYLOAD_DATA) from None


def usual_frames(data: bytes) -> tuple[list[str], bytes, bytes]:
    """Parse the short, unfragmented, masked text, ping and pong frames at the beginning of `data`.

    Return the payloads of the text frames, the ping and pong frames unchanged, and the rest of `data`. The
    rest begins at the first frame that is of another kind or incomplete, or at the first ping or pong after
    `_AT_ONCE` of them.
    """
    texts: list[str] = []
    controls = b""
    at, size, left = 0, len(data), _AT_ONCE
    while size - at >= _HEAD:
        kind = data[at]
        payload = at + _HEAD
        end = payload + data[at + 1] - _MASKED
        if not payload <= end < payload + _SHORT or end > size:
            break
        if kind == _TEXT:
            try:
                texts.append(_unmasked(data[payload - 4 : payload], data[payload:end]).decode())
            except UnicodeDecodeError:
                break
        elif kind in (_PING, _PONG) and left:  # `left` limits how many are answered at once
            controls += data[at:end]
            left -= 1
        else:
            break
        at = end
    return texts, controls, data[at:]


def text_frame(text: str) -> bytes:
    """Return the frame in which the server sends a text of any length."""
    payload = text.encode()
    size = len(payload)
    if size < _SHORT:
        return _SHORT_HEADS[size] + payload
    if size < 1 << 16:
        return b"\x81\x7e" + size.to_bytes(2, "big") + payload
    return b"\x81\x7f" + size.to_bytes(8, "big") + payload


def _unmasked(mask: bytes, payload: bytes) -> bytes:
    """Return the payload without its mask (RFC 6455, 5.3).

    This takes 0.4 us; a loop over the bytes takes 3 us.
    """
    size = len(payload)
    key = int.from_bytes((mask * (size // 4 + 1))[:size], "big")
    return (int.from_bytes(payload, "big") ^ key).to_bytes(size, "big")

"""Bytes to lines, and the usual websocket frames to texts.

A line ends with LF, CR LF, a lone CR, or CR NUL, which is how telnet writes a lone CR. A CR ends its line at
once, so an LF or a NUL that comes next, in whatever packet, belongs to it. Knows nothing of what lines say,
only how long one may be, and that people type them into telnet, which mixes its own commands into the stream
(RFC 854).
"""

import re

from adapters.client.contract import Flooded

LINE_LIMIT = 4096
"""Bytes that a line may have, its end left out."""

_CR = 0x0D  # looked for as an integer, which is faster than as bytes
_RETURN = b"\r"
_IAC = 0xFF
_TELNET = re.compile(
    rb"\xff(?:\xff|[\xfb-\xfe].?|\xfa(?:[^\xff]|\xff[^\xf0])*(?:\xff\xf0)?|[\xec-\xf9])?", re.DOTALL
)


class Lines:
    """The lines of one byte stream."""

    __slots__ = ("_flooded", "_limit", "_rest")

    def __init__(self, limit: int = LINE_LIMIT) -> None:
        self._limit = limit
        self._rest = b""  # a begun line; or CR, where one ended a line and its LF may still come
        self._flooded = False

    def feed(self, data: bytes) -> list[str]:
        """Return the lines that `data` completes.

        Raises Flooded at a line longer than the limit; lines before that one are returned first, and
        the next call raises.
        """
        if self._flooded:
            raise Flooded
        whole = self._rest + data
        if _CR in whole:
            unified = whole.replace(b"\r\n", b"\n")
            if _CR in unified or self._rest == _RETURN:
                return self._returned(whole)
            whole = unified  # every CR stood before an LF, the usual case
        if len(whole) <= self._limit and whole.isascii():  # the usual case, and faster
            texts = whole.decode().split("\n")
            self._rest = texts.pop().encode()
            return texts
        return self._split(whole)

    def _returned(self, whole: bytes) -> list[str]:
        """Return the lines of bytes with a CR among them."""
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
        if self._flooded and not lines:
            raise Flooded
        return [to_text(line) for line in lines]

    def _cut(self, lines: list[bytes]) -> None:
        for index, line in enumerate((*lines, self._rest)):
            if len(line) > self._limit:
                self._flooded = True
                del lines[index:]
                break

    def end(self) -> list[str]:
        """Return what a stream that has ended leaves: a last line without its end, or nothing."""
        rest, self._rest = self._rest, b""
        return [to_text(rest)] if rest not in (b"", _RETURN) and not self._flooded else []


def to_text(line: bytes) -> str:
    """Return a line as text, without telnet's commands; bytes that are not UTF-8 become surrogates."""
    if _IAC in line:
        line = _TELNET.sub(b"", line)
    return line.decode("utf-8", "surrogateescape")


# Websocket frames of the usual kind (RFC 6455, 5.2), without a library's help.
#
# Knows the two shapes that nearly all traffic has: a client's short text or control frame, whole in one read,
# and a server's text frame. Knows no connection and reports no errors: `usual_frames` stops at the first byte
# that is anything else and leaves the rest to trio-websocket, which implements the whole protocol. It exists
# for speed alone (docs/performance.md).

_TEXT = 0x81
"""FIN and the opcode of a text."""
_PING = 0x89
_PONG = 0x8A
_MASKED = 0x80
_SHORT = 126
"""The payload size, in bytes, from which the length needs a field of its own."""
_HEAD = 6
"""Bytes before the payload of a short masked frame."""
_SHORT_HEADS = tuple(bytes((_TEXT, size)) for size in range(_SHORT))


def usual_frames(data: bytes) -> tuple[list[str], bytes, bytes]:
    """Take the short, whole, masked text, ping and pong frames that `data` begins with.

    Return the payloads of the text frames, the ping and pong frames unchanged, and the rest of `data`: from
    the first frame that is of another kind or not whole.
    """
    texts: list[str] = []
    controls = b""
    at, size = 0, len(data)
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
        elif kind in (_PING, _PONG):
            controls += data[at:end]
        else:
            break
        at = end
    return texts, controls, data[at:]


def text_frame(text: str) -> bytes:
    """Return a server's frame for a text, which may have any length."""
    payload = text.encode()
    size = len(payload)
    if size < _SHORT:
        return _SHORT_HEADS[size] + payload
    if size < 1 << 16:
        return b"\x81\x7e" + size.to_bytes(2, "big") + payload
    return b"\x81\x7f" + size.to_bytes(8, "big") + payload


def _unmasked(mask: bytes, payload: bytes) -> bytes:
    """Return the payload without its mask (RFC 6455, 5.3): 0.4 us, where a loop over the bytes takes 3."""
    size = len(payload)
    key = int.from_bytes((mask * (size // 4 + 1))[:size], "big")
    return (int.from_bytes(payload, "big") ^ key).to_bytes(size, "big")

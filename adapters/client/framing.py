"""Bytes to lines.

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

"""The items that one client has received and that no step has taken yet.

Turns bytes into lines (TCP) or messages (websocket). Must not know sockets, time, or what was expected. Items
are kept in order until they are taken; the end of the stream comes last. Each item is also passed to `hear`
as soon as it arrives, so that a failure can show the exchange in its real order.
"""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from conformance.frames import Frame, FrameError, FrameReader, Opcode, close_frame, close_reason, encode
from conformance.placeholders import escaped


@dataclass(frozen=True, slots=True)
class Text:
    """A text frame, or a line of a TCP stream with its line ending. Bytes that are not UTF-8 are escaped."""

    text: str
    framed: bool


@dataclass(frozen=True, slots=True)
class Data:
    """A binary frame, or a piece of a TCP stream that is not a complete line."""

    data: bytes
    framed: bool


@dataclass(frozen=True, slots=True)
class End:
    """The server hung up. `code` is the close frame's code; `how` is empty for an end in good order."""

    code: int | None = None
    how: str = ""


Received = Text | Data | End

_MOST_SHOWN = 400


def notation(received: Received, ending: str) -> str:
    """Return a received item in the notation of a transcript, without the client's name."""
    match received:
        case Text(text, framed) if text.endswith(ending):
            body = text.removesuffix(ending)
            if body.isprintable() and body == body.rstrip():
                return short(f"< {body}".rstrip())
            return short(f"<{'text' if framed else 'bytes'} {escaped(text, quote=True)}")
        case Text(text, framed):
            return short(f"<{'text' if framed else 'bytes'} {escaped(text, quote=True)}")
        case Data(data, framed):
            return short(f"<{'binary' if framed else 'bytes'} {escaped(data.decode('latin-1'), quote=True)}")
        case End(code, how):
            return "closed" + ("" if code is None else f" {code}") + (f" ({how})" if how else "")


def short(text: str) -> str:
    """Shorten a text of more than 400 characters, so that a line of a report fits a screen or two."""
    if len(text) <= _MOST_SHOWN:
        return text
    return f"{text[:_MOST_SHOWN]}... ({len(text)} characters)"


class Inbox(Protocol):
    """The interface of both kinds of inbox."""

    def feed(self, data: bytes) -> bytes:
        """Add received bytes; return the bytes to answer at once (pongs, a close frame)."""

    def end(self, end: End) -> None:
        """Record that the stream has ended. Only the first end counts."""

    def first(self) -> Received | None:
        """Return the oldest complete item without removing it; None if there is none yet."""

    def take(self) -> None:
        """Remove the item that `first` returns."""

    def rest(self) -> list[Received]:
        """Return all remaining items, in order, without removing them."""


class LineInbox:
    """A TCP stream, read line by line or in pieces of a given length."""

    def __init__(self, hear: Callable[[Received], None]) -> None:
        self._hear = hear
        self._buffer = bytearray()
        self._reported = 0
        self._end: End | None = None
        self._end_taken = False

    def feed(self, data: bytes) -> bytes:
        self._buffer += data
        while (cut := self._buffer.find(b"\n", self._reported) + 1) > 0:
            self._hear(_line(self._buffer[self._reported : cut]))
            self._reported = cut
        return b""

    def end(self, end: End) -> None:
        if self._end is None:
            if self._reported < len(self._buffer):
                self._hear(Data(bytes(self._buffer[self._reported :]), framed=False))
                self._reported = len(self._buffer)
            self._end = end
            self._hear(end)

    def first(self) -> Received | None:
        if b"\n" in self._buffer:
            return _line(self._buffer[: self._buffer.index(b"\n") + 1])
        if self._end is None or self._end_taken:
            return None
        return Data(bytes(self._buffer), framed=False) if self._buffer else self._end

    def take(self) -> None:
        match self.first():
            case Text():
                self._drop(self._buffer.index(b"\n") + 1)
            case Data(data):
                self._drop(len(data))
            case End():
                self._end_taken = True
            case None:
                pass

    def piece(self, size: int) -> Received | None:
        """Return the next `size` bytes without removing them; fewer if the stream has ended."""
        if len(self._buffer) >= size:
            return Data(bytes(self._buffer[:size]), framed=False)
        if self._end is None or self._end_taken:
            return None
        return Data(bytes(self._buffer), framed=False) if self._buffer else self._end

    def take_piece(self, size: int) -> None:
        self._drop(size)

    def rest(self) -> list[Received]:
        *lines, tail = self._buffer.split(b"\n")
        left: list[Received] = [_line(line + b"\n") for line in lines]
        if tail:
            left.append(Data(bytes(tail), framed=False))
        if self._end is not None and not self._end_taken:
            left.append(self._end)
        return left

    def _drop(self, size: int) -> None:
        del self._buffer[:size]
        self._reported = max(0, self._reported - size)


class FrameInbox:
    """A websocket: text and binary messages, and how it ended. Answers pings and close frames."""

    def __init__(self, hear: Callable[[Received], None]) -> None:
        self._hear = hear
        self._reader = FrameReader()
        self._items: deque[Received] = deque()
        self._ended = False
        self._left = False
        self._close_answered = False

    def feed(self, data: bytes) -> bytes:
        if self._ended:
            return b""
        answers = b""
        try:
            for frame in self._reader.feed(data):
                answers += self._take_in(frame)
                if self._ended:
                    break
        except FrameError as error:
            self.end(End(how=f"the server broke the websocket: {error}"))
        return answers

    def farewell(self) -> bytes:
        """Return the close frame to leave with; empty if the server's close frame has been answered."""
        self._left = True
        return b"" if self._close_answered else close_frame(1000)

    def end(self, end: End) -> None:
        if not self._ended:
            self._ended = True
            self._add(end)

    def first(self) -> Received | None:
        return self._items[0] if self._items else None

    def take(self) -> None:
        self._items.popleft()

    def rest(self) -> list[Received]:
        return list(self._items)

    def _add(self, item: Received) -> None:
        self._items.append(item)
        self._hear(item)

    def _take_in(self, frame: Frame) -> bytes:
        """Add one frame to the inbox; return the bytes to answer it with."""
        match frame.opcode:
            case Opcode.TEXT:
                self._add(Text(_utf8(frame.payload), framed=True))
            case Opcode.BINARY:
                self._add(Data(frame.payload, framed=True))
            case Opcode.PING:
                return b"" if self._left else encode(Opcode.PONG, frame.payload)
            case Opcode.CLOSE:
                code, reason = close_reason(frame.payload)
                self.end(End(code, reason))
                self._close_answered = True
                return b"" if self._left else encode(Opcode.CLOSE, frame.payload)
            case Opcode.PONG | Opcode.CONTINUATION:
                pass
        return b""


def _utf8(payload: bytes) -> str:
    try:
        return payload.decode()
    except UnicodeDecodeError:
        raise FrameError("a text frame that is no UTF-8") from None


def _line(data: bytes | bytearray) -> Text:
    return Text(data.decode("utf-8", "backslashreplace"), framed=False)

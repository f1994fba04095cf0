"""What a payload line means: the bytes to send, or the item that a client must receive.

Covers how each manner writes (line endings, frames, values), and explains why a received item does not match
a line. Must not know connections or time. Everything here is pure, so that a transcript can be checked with
placeholder names when it is read, before it is played.
"""

from dataclasses import dataclass

from conformance.frames import Opcode, encode
from conformance.inbox import Data, Received, Text
from conformance.placeholders import Names, PlaceholderError, TextPattern, expand, parts, unescape
from conformance.steps import Form, Manner
from conformance.values import (
    Encoding,
    Plain,
    ValueSyntaxError,
    difference,
    expected_value,
    read,
)

_ENCODINGS: dict[Manner | Form, Encoding] = {
    Manner.JSON: Encoding.JSON,
    Manner.EDN: Encoding.EDN,
    Form.JSON: Encoding.JSON,
    Form.EDN: Encoding.EDN,
}


@dataclass(frozen=True, slots=True)
class ExpectedText:
    pattern: TextPattern


@dataclass(frozen=True, slots=True)
class ExpectedValue:
    encoding: Encoding
    value: Plain


@dataclass(frozen=True, slots=True)
class ExpectedBytes:
    data: bytes


Expected = ExpectedText | ExpectedValue | ExpectedBytes


def outgoing(manner: Manner, form: Form, payload: str, names: Names) -> bytes:
    """Return the bytes to send for a `>` line. Raises PlaceholderError."""
    text = expand(payload if form is Form.PLAIN else _unquoted(payload), names)
    match form:
        case Form.BYTES:
            return _bytes(text)
        case Form.TEXT:
            return encode(Opcode.TEXT, _utf8(unescape(text)))
        case Form.BINARY:
            return encode(Opcode.BINARY, _bytes(text))
    line = (text + manner.ending).encode()
    return encode(Opcode.TEXT, line) if manner.websocket else line


def expectation(manner: Manner, form: Form, payload: str, names: Names) -> Expected:
    """Return the expected item of a `<` line. Raises PlaceholderError or ValueSyntaxError."""
    if form is Form.BYTES:
        return ExpectedBytes(_bytes(expand(_unquoted(payload), names)))
    if form is Form.TEXT:
        pieces = parts(_unquoted(payload), names)
        return ExpectedText(TextPattern(tuple(unescape(p) if isinstance(p, str) else p for p in pieces)))
    encoding = _ENCODINGS.get(manner if form is Form.PLAIN else form)
    if encoding is not None:
        return ExpectedValue(encoding, expected_value(encoding, payload, names))
    return ExpectedText(TextPattern(parts(payload, names), manner.ending))


def complaint(expected: Expected, received: Received) -> str | None:
    """Return why `received` does not match; "" if it needs no explanation; None if it matches."""
    match expected, received:
        case ExpectedText(pattern), Text(text):
            return pattern.complaint(text)
        case ExpectedValue(encoding, value), Text(text):
            return _value_complaint(encoding, value, text)
        case ExpectedBytes(wanted), Data(data):
            return None if data == wanted else _bytes_differ(wanted, data)
        case _, Data(framed=framed):
            return (
                "a text frame was expected, not a binary one" if framed else "the stream ended within a line"
            )
    return ""


def _value_complaint(encoding: Encoding, value: Plain, text: str) -> str | None:
    try:
        return difference(value, read(encoding, text))
    except ValueSyntaxError as error:
        return f"it is {error}"


def _bytes_differ(wanted: bytes, data: bytes) -> str:
    if wanted.startswith(data):
        return f"only {len(data)} of {len(wanted)} bytes came"
    at = next(i for i, (one, other) in enumerate(zip(wanted, data, strict=False)) if one != other)
    return f"they differ from byte {at + 1} on"


def _unquoted(payload: str) -> str:
    if len(payload) >= 2 and payload[0] == payload[-1] == '"':
        return payload[1:-1]
    return payload


def _bytes(text: str) -> bytes:
    try:
        return unescape(text).encode("latin-1")
    except UnicodeEncodeError as error:
        letter = error.object[error.start : error.end]
        raise PlaceholderError(f"{letter!r} is no byte; write its bytes as \\x..") from None


def _utf8(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise PlaceholderError("a lone surrogate fits in no text frame") from None

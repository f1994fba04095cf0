"""Websocket frames for bots, at the lowest cost. Pure.

conformance/frames.py checks a server's frames; this module does not. Every mask is four zeros (RFC 6455 5.3
allows any mask), so a frame is built once and sent many times. A message must be a single frame, which is how
servers of these dialects write it. Anything else raises OutOfStep.
"""

import struct

from conformance.dialects.script import Closed, Cut, OutOfStep
from conformance.frames import Opcode

_MASK = b"\0\0\0\0"
_SHORT = 126


def frame(payload: bytes, opcode: Opcode = Opcode.TEXT) -> bytes:
    """Return one masked, final frame. The payload must be shorter than 65,536 bytes."""
    length = len(payload)
    if length < _SHORT:
        return struct.pack("!BB", 0x80 | opcode, 0x80 | length) + _MASK + payload
    return struct.pack("!BBH", 0x80 | opcode, 0x80 | _SHORT, length) + _MASK + payload


def cut_frames(data: bytes) -> Cut:
    """Cut received bytes into payloads. Raises OutOfStep for a close frame, a fragment or a masked frame."""
    messages: list[bytes] = []
    answer, at = b"", 0
    while (end := _end(data, at)) is not None:
        payload = data[end[0] : end[1]]
        match data[at]:
            case 0x81 | 0x82:
                messages.append(payload)
            case 0x89:
                answer += frame(payload, Opcode.PONG)
            case 0x8A:
                pass
            case 0x88:
                if messages:
                    break  # return the messages first; the next call handles the close frame
                raise Closed(f"closed the websocket: {_reason(payload)}")
            case first:
                raise OutOfStep(f"sent a frame that begins with the byte {first:#04x}")
        at = end[1]
    return Cut(messages, data[at:], answer)


def _end(data: bytes, at: int) -> tuple[int, int] | None:
    """Return where the payload of the frame at `at` begins and ends; None if the frame is incomplete."""
    if len(data) < at + 2:
        return None
    size, begin = data[at + 1], at + 2
    if size >= _SHORT:
        if size > _SHORT:
            raise OutOfStep("sent a frame that is masked or has more than 65,535 bytes")
        size, begin = int.from_bytes(data[begin : begin + 2], "big"), begin + 2
    return (begin, begin + size) if len(data) >= begin + size else None


def _reason(payload: bytes) -> str:
    code, words = payload[:2], payload[2:].decode(errors="replace")
    return f"{int.from_bytes(code, 'big')} {words}".strip() if code else "no reason given"

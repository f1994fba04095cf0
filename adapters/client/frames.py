"""Websocket frames of the usual kind (RFC 6455, 5.2), without a library's help.

Knows the two shapes that nearly all traffic has: a client's short text or control frame, whole in one read,
and a server's text frame. Knows no connection and reports no errors: `usual_frames` stops at the first byte
that is anything else and leaves the rest to trio-websocket, which implements the whole protocol. It exists
for speed alone (docs/performance.md).
"""

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

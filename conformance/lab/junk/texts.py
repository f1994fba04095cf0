"""What to send: what no client should, made from what clients do send.

Pure, and the same again for the same `Random`. Knows how each port's messages look, and nothing of a server.
A *talk* is what one connection sends, piece by piece: `talk_for` returns one for a port.
"""

from collections.abc import Callable, Sequence
from random import Random
from typing import TypeAlias

Talk: TypeAlias = list[bytes]
"""What one connection sends, one piece after the other."""

PORTS = ("nac4", "arena", "droidcon", "web")
PIECES = 12
"""Pieces of a talk at most."""

_NAC4 = (b"connect ann\r\n", b"playmove 3\r\n", b"playmove -1\r\n", b"connect \r\n", b"connected x\r\n")
_ARENA = (
    b'{"type": "start", "id": "ann", "against": null}',
    b'{:type "start", :id "ann", :table "x"}',
    b'{"type": "move", "move": 3}',
    b"{:type :move, :move 3}",
    b'{"type": "state_request"}',
    b'{"type":"move","move":[[{"a":1e400}]]}',
    b'#{1 #_ x "\\u00e9"} \\newline',
)
_DROIDCON = (
    b"NAME ann\n",
    b"JOIN lobby\n",
    b"JOIN @aima\n",
    b"PUT 3\n",
    b"PUT -9\r\n",
    b"NAME \xff\xfd\x18x\n",
    b"\n",
)
_PATHS = (
    b"/",
    b"/api/games",
    b"/api/games?limit=5",
    b"/api/standings",
    b"/healthz",
    b"/api/clear",
    b"/?table=x",
    b"*",
)
_ODD = (
    b"\0",
    b"\r\n",
    b"\n",
    b"\xff",
    b"\xc3",
    b"\xf0\x9f\x98\x80",
    b"%00",
    b"9" * 400,
    b"A" * 5000,
    b"=",
    b"\x7f" * 9,
)
_UPGRADE = (
    b"GET %s HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
)
_H2C = (
    b"GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n"
    b"HTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\n"
)
_PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"


def talk_for(port: str, lot: Random) -> Talk:
    """Return what one connection sends to a port, which is one of `PORTS`."""
    if lot.random() < 0.1:
        return [noise(lot) for _ in range(lot.randint(1, 3))]
    match port:
        case "droidcon":
            return [_line(lot) for _ in range(lot.randint(1, PIECES))]
        case "web":
            return _web(lot)
        case _:
            return _websocket(lot, _NAC4 if port == "nac4" else _ARENA)


def noise(lot: Random) -> bytes:
    """Return some random bytes."""
    return lot.randbytes(lot.choice((1, 2, 5, 20, 200, 3000)))


def mutated(data: bytes, lot: Random) -> bytes:
    """Return `data` with a few random changes, or, now and then, as it is."""
    for _ in range(lot.choice((0, 1, 1, 2, 3, 8))):
        data = lot.choice(_CHANGES)(data, lot)
    return data


def _flipped(data: bytes, lot: Random) -> bytes:
    at = lot.randrange(len(data) + 1)
    return data[:at] + lot.randbytes(1) + data[at + 1 :]


def _without(data: bytes, lot: Random) -> bytes:
    at = lot.randrange(len(data) + 1)
    return data[:at] + data[at + lot.randint(1, 8) :]


def _doubled(data: bytes, lot: Random) -> bytes:
    at = lot.randrange(len(data) + 1)
    return data[:at] + data[at : at + 20] * lot.choice((2, 3, 50))


def _with_odd(data: bytes, lot: Random) -> bytes:
    at = lot.randrange(len(data) + 1)
    return data[:at] + lot.choice(_ODD) + data[at:]


def _cut(data: bytes, lot: Random) -> bytes:
    return data[: lot.randrange(len(data) + 1)]


_Change: TypeAlias = Callable[[bytes, Random], bytes]
_CHANGES: tuple[_Change, ...] = (_flipped, _without, _doubled, _with_odd, _with_odd, _cut)


def _line(lot: Random) -> bytes:
    line = mutated(lot.choice(_DROIDCON), lot)
    return line if lot.random() < 0.2 else line.rstrip(b"\n") + b"\n"


def frame(payload: bytes, lot: Random) -> bytes:
    """Return a websocket frame, mostly a client's text; anything about it may be wrong."""
    first = lot.choice((0x81, 0x81, 0x81, 0x82, 0x01, 0x00, 0x80, 0x89, 0x8A, 0x88, lot.randrange(256)))
    if first == 0x88 and lot.random() < 0.7:
        payload = lot.randbytes(2) + payload[:20]
    size = (
        len(payload) if lot.random() < 0.9 else lot.choice((0, 1, 125, 126, 65_535, 1 << 20, (1 << 64) - 1))
    )
    mask = 0x80 if lot.random() < 0.95 else 0
    if size < 126:
        head = bytes((first, mask | size))
    elif size < 1 << 16:
        head = bytes((first, mask | 126)) + size.to_bytes(2, "big")
    else:
        head = bytes((first, mask | 127)) + size.to_bytes(8, "big")
    return head + (bytes(4) if mask else b"") + payload


def _frames(lot: Random, messages: Sequence[bytes]) -> Talk:
    pieces = [frame(mutated(lot.choice(messages), lot), lot) for _ in range(lot.randint(1, PIECES))]
    return [mutated(piece, lot) if lot.random() < 0.1 else piece for piece in pieces]


def _websocket(lot: Random, messages: Sequence[bytes]) -> Talk:
    path = mutated(lot.choice(_PATHS), lot) if lot.random() < 0.2 else b"/"
    request = _UPGRADE % path
    if lot.random() < 0.3:
        request = mutated(request, lot)
    frames = _frames(lot, messages)
    if lot.random() < 0.3:  # too early
        return [request + frames[0], *frames[1:]]
    return [request, *frames]


def _web(lot: Random) -> Talk:
    match lot.randrange(6):
        case 0:
            return [_PREFACE, *(_http2_frame(lot) for _ in range(lot.randint(0, PIECES)))]
        case 1:
            return [mutated(_H2C, lot), noise(lot)]
        case 2:
            return _websocket(lot, _NAC4)
        case 3:
            return [mutated(_UPGRADE % b"/", lot), noise(lot), noise(lot)]
        case _:
            return [mutated(_request(lot), lot) for _ in range(lot.randint(1, 4))]


def _http2_frame(lot: Random) -> bytes:
    payload = lot.randbytes(lot.choice((0, 4, 5, 8, 40)))
    head = len(payload).to_bytes(3, "big") + bytes((lot.randrange(11), lot.randrange(256)))
    return head + lot.choice((0, 1, 3, 1 << 31)).to_bytes(4, "big") + payload


def _request(lot: Random) -> bytes:
    method = lot.choice((b"GET", b"GET", b"HEAD", b"POST", b"OPTIONS", b"TRACE", b"\xff"))
    body = lot.choice((b"", b"", b"Content-Length: 5\r\n", b"Transfer-Encoding: chunked\r\n"))
    end = lot.choice((b"", b"hello", b"5\r\nhello\r\n0\r\n\r\n"))
    return b"%s %s HTTP/1.%d\r\nHost: x\r\n%s\r\n%s" % (
        method,
        lot.choice(_PATHS),
        lot.randrange(3),
        body,
        end,
    )

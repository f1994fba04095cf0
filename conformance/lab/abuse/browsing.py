"""Attacks on the web port: HTTP/2 that nobody offered, upgrades, and readers who ask for much."""

import struct

import trio

from conformance.lab.abuse.ground import Attack, Ground, drained
from conformance.lab.client import Client

_PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
_SETTINGS = b"\0\0\0\x04\0\0\0\0\0"
_GET = b"\x82\x86\x84\x41\x01x"
"""A header block (RFC 7541): GET, http, `/`, and the authority `x`."""
_HEADERS, _RST_STREAM = 1, 3
_END = 0x05
"""END_STREAM and END_HEADERS."""
_UPGRADE = (
    b"GET /api/games HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\n%s\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
)
_PATHS = (
    "/api/games?limit=1000",
    "/api/games?limit=1000&player=nobody",
    "/api/players?limit=1000",
    "/api/standings",
    "/api/games-vg",
)
EVERY = (
    *_PATHS,
    "/",
    "/board",
    "/standings",
    "/standings/plots",
    "/board/standings",
    "/play",
    "/search?name=a",
    "/player/nobody",
    "/api/players/nobody",
    "/game/1",
    "/game/1.pgn",
    "/api/games/1",
    "/api/games/1/perfect",
    "/api/export.jsonl",
    "/api/openapi.json",
    "/api/live",
    "/api/live/events",
    "/healthz",
)
_BODY = b"POST /api/clear HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n"


class RapidResets(Attack):
    """Streams that are opened and reset at once, as HTTP/2 by prior knowledge."""

    name = "http2"
    what = "HTTP/2 by prior knowledge: streams that are opened and reset at once"
    clients = 4

    async def live(self, ground: Ground, number: int) -> None:
        async with ground.connected("web") as client, drained(client):
            await client.say(_PREFACE + _SETTINGS)
            for first in range(1, 2**20, 200):
                await client.say(b"".join(map(_opened_and_reset, range(first, first + 200, 2))))
                await trio.sleep(0.02)


class Upgrades(Attack):
    """Requests for another protocol, with junk behind them, and requests that are none."""

    name = "upgrades"
    what = "upgrades to websocket and h2c with junk behind them, bad requests"
    clients = 10

    async def live(self, ground: Ground, number: int) -> None:
        heads = (
            _UPGRADE % b"Upgrade: websocket",
            _UPGRADE % b"Upgrade: h2c\r\nHTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA",
            b"POST /api/clear HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
            b"GET /api/games?limit=1000 HTTP/1.1\r\nHost: x\r\n\r\n" * 20,
            b"GET /api/players/" + b"%F0%9F%98%80" * 5_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n",
            b"GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999\r\n\r\n",
        )
        async with ground.connected("web") as client, drained(client):
            await client.say(ground.lot.choice(heads) + ground.lot.randbytes(500))
            await trio.sleep(0.1)


class Readers(Attack):
    """Clients that ask for the longest pages, one after the other."""

    name = "readers"
    what = "20 web clients that ask for pages of 1,000 games, one after the other"
    clients = 20
    pause = 0.0
    reads = True

    async def live(self, ground: Ground, number: int) -> None:
        async with ground.connected("web") as client:
            await client.say(_request(_PATHS[number % 5 if number % 2 else 0]))
            await client.drain()


class Exports(Attack):
    """Clients that ask for all there is; some of them do not read it."""

    name = "exports"
    what = "50 web clients that ask for the whole export; ten of them do not read it"
    clients = 50
    reads = True

    async def live(self, ground: Ground, number: int) -> None:
        async with ground.connected("web") as client:
            await client.say(_request("/api/export.jsonl"))
            if number % 5 == 0:
                await _read_a_little(client)
            await client.drain()


class Pages(Attack):
    """Clients that ask for every page there is, of which some read all, some a little, and some nothing."""

    name = "pages"
    what = "60 web clients at every page and export: greedy, slow, deaf, or slow to say what they want"
    clients = 60
    reads = True

    async def live(self, ground: Ground, number: int) -> None:
        path = EVERY[(number // 4 + ground.counts["connections"]) % len(EVERY)]
        async with ground.connected("web") as client:
            match number % 4:
                case 0:
                    await client.say(_request(path))
                    await client.drain()
                case 1:
                    await client.say(_request(path))
                    await _read_a_little(client)
                case 2:
                    await client.say(_request(path) * 50)
                    await trio.sleep(2)
                case _:
                    await client.say(_BODY)
                    for byte in b"token=" * 20:
                        await client.say(bytes([byte]))
                        await trio.sleep(1)


async def _read_a_little(client: Client) -> None:
    """Stop reading, as a sleeping client does. Raises HungUp."""
    while True:
        await client.heard(100)
        await trio.sleep(2)


def _request(path: str) -> bytes:
    return f"GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode()


def _opened_and_reset(stream: int) -> bytes:
    return _frame(_HEADERS, _END, stream, _GET) + _frame(_RST_STREAM, 0, stream, struct.pack("!I", 8))


def _frame(kind: int, flags: int, stream: int, payload: bytes) -> bytes:
    """Return one frame (RFC 9113 4.1)."""
    return struct.pack("!I", len(payload))[1:] + struct.pack("!BBI", kind, flags, stream) + payload

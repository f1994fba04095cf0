"""Attacks by what is broken: frames that no client should send, connections that end where none should."""

import socket
import ssl
import struct
from collections.abc import Sequence
from contextlib import suppress

import trio

from conformance.dialects.frames import frame
from conformance.lab.abuse.ground import Attack, Attacker, Ground, drained

_KINDS = ("droidcon", "nac4", "arena")
_WEBSOCKETS = ("arena", "nac4")
_MASK = b"\0\0\0\0"
_RESET = struct.pack("ii", 1, 0)
_STEP = 0.05
"""Seconds between two steps of a game."""
_HEARD = 0.2
"""Seconds for which the answer is heard."""

FRAMES: Sequence[bytes] = (
    b"\x81\xff" + b"\x7f" + b"\xff" * 7 + _MASK + b"x" * 60_000,  # a text of 2**63 - 1 bytes
    b"\x81\xff" + b"\xff" * 8 + _MASK,  # of more than there may be
    b"\x81\xff" + (1 << 20).to_bytes(8) + _MASK + b"x" * 100_000,
    b"\x81\xff" + (70_000).to_bytes(8) + _MASK + b"x" * 70_000,
    b"\xc1\x85" + _MASK + b"\xf2\x48\xcd\xc9\xc9",  # compressed, which nobody offered
    b"\xc1\xff" + (65_000).to_bytes(8) + _MASK + b"\0" * 65_000,
    b"\xf1\x85" + _MASK + b"hello",  # all reserved bits
    b"\x81\x05hello",  # without a mask
    b"\x81\x7e\x10\x00" + b"x" * 4_096,
    b"\x81\x84" + _MASK + b"\xc3\x28\xa0\xff",  # no UTF-8
    b"\x01\x81" + _MASK + b"\xf0" + b"\x80\x81" + _MASK + b"\x28",  # none across two fragments
    b"\x81\x83" + _MASK + b"\xed\xa0\x80",  # half of a surrogate pair
    b"\x80\x85" + _MASK + b"hello",  # continues nothing
    b"\x01\x81" + _MASK + b"a" + b"\x81\x81" + _MASK + b"b",  # begins within a message
    b"\x83\x80" + _MASK,  # of no kind there is
    b"\x8b\x80" + _MASK,
    b"\x09\x81" + _MASK + b"p",  # a ping in fragments
    b"\x89\xfe\x00\xff" + _MASK + b"p" * 255,  # one that is too long
    b"\x88\x81" + _MASK + b"\x03",  # a close frame with half a code
    b"\x88\x82" + _MASK + b"\xff\xff",
    b"\x88\x84" + _MASK + b"\x03\xe8\xc3\x28",
    b"\x88\x80" + _MASK + frame(b"playmove 3"),  # more behind the close frame
    b"\x81\xfe\x00\x05" + _MASK + b"hello",  # a length that could be shorter
)
"""Giant, compressed, unmasked, misplaced, no text. A torn one is the beginning of any."""


class Frames(Attack):
    """Frames that are giant, compressed, torn, unmasked or no text, each on a connection of its own."""

    name = "frames"
    what = "frames that are giant, compressed, torn, unmasked, misplaced or no UTF-8: 150 a second"
    clients = 30

    async def live(self, ground: Ground, number: int) -> None:
        data, lot = ground.lot.choice(FRAMES), ground.lot
        if lot.random() < 0.3:
            data = data[: lot.randrange(len(data))]
        before = frame(b"playmove 3") * lot.randint(0, 3)
        async with ground.websocket(_WEBSOCKETS[number % 2]) as client:
            await client.say(before + data)
            if lot.random() < 0.3:
                _tear(client)
                return
            with trio.move_on_after(_HEARD):
                await client.drain()


class Halves(Attack):
    """Clients that close their side in the middle of something, and go on to listen."""

    name = "halves"
    what = "half-closed connections: clients that say no more after half of something, and listen"
    clients = 40

    async def live(self, ground: Ground, number: int) -> None:
        kind = (*_KINDS, "web")[number % 4]
        async with ground.connected(kind) as client:
            data = b"NAME half\nJOIN " if kind == "droidcon" else b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
            if kind in _WEBSOCKETS and number % 8 < 4:
                await client.shake("x", "/")
                data = frame(b"connect half\r\n") + frame(b"x" * 100)
            await client.say(data[: ground.lot.randrange(len(data)) + 1])
            await client.leave()
            await client.drain()


class Hellos(Attack):
    """Clients that begin a handshake of TLS, and have the server compute its part of it for nothing."""

    name = "hellos"
    what = "handshakes of TLS that are begun, whole, torn or with junk behind them: 200 a second"
    clients = 40

    def prepare(self) -> None:
        hello = ssl.MemoryBIO()
        with suppress(ssl.SSLWantReadError):
            ssl.create_default_context().wrap_bio(ssl.MemoryBIO(), hello, server_hostname="x").do_handshake()
        self._hello = hello.read()

    async def live(self, ground: Ground, number: int) -> None:
        lot, junk = ground.lot, (b"", b"\x16\x03\x03\xff\xff", b"\x15\x03\x03\0\x02\x02\x28", bytes(600))
        async with ground.connected((*_KINDS, "web")[number % 4]) as client:
            whole = lot.random() < 0.8
            await client.say(self._hello[: len(self._hello) if whole else lot.randrange(1, len(self._hello))])
            with trio.move_on_after(_HEARD):
                await client.heard()
            await client.say(lot.choice(junk))
            if lot.random() < 0.3:
                _tear(client)


class Resets(Attack):
    """Pairs that play, of whom one is cut off at another point of the game each time."""

    name = "resets"
    what = "games cut off by a reset, at every point from the first byte to the last move"
    clients = 36
    pause = 0.05

    async def live(self, ground: Ground, number: int) -> None:
        pair, kind = number // 2, _KINDS[number % 3]
        ground.counts["lives"] += 1
        table = f"{ground.token}r{pair}"
        steps = _game(kind, f"{table}p{number % 2}", table)
        last = (ground.counts["lives"] + pair) % (len(steps) + 1)
        async with ground.connected(kind) as client, drained(client):
            for step in steps[:last]:
                await client.say(step)
                await trio.sleep(_STEP)
            _tear(client)


def _game(kind: str, name: str, table: str) -> list[bytes]:
    """Return what a client says from its first byte to its fourth move, each piece of it torn in two."""
    if kind == "droidcon":
        whole = [f"NAME {name}\n".encode(), f"JOIN {table}\n".encode(), *[b"PUT 3\n", b"PUT 4\n"] * 2]
    else:
        start, move = _WORDS[kind]
        shake = _SHAKE % table.encode()
        whole = [shake, frame(start % name.encode()), *[frame(move % 3), frame(move % 4)] * 2]
    return [half for piece in whole for half in (piece[: len(piece) // 2], piece[len(piece) // 2 :])]


_WORDS = {
    "nac4": (b"connect %b\r\n", b"playmove %d\r\n"),
    "arena": (b'{"type":"start","id":"%b"}', b'{"type":"move","move":%d}'),
}
_SHAKE = (
    b"GET /?table=%b HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
)


def _tear(client: Attacker) -> None:
    """Let the connection end with a reset."""
    client.stream.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)

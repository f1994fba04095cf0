"""Attacks that hold on to something: answers that nobody reads, and connections on which nothing comes."""

import trio

from conformance.dialects.frames import frame
from conformance.frames import Handshake, Opcode
from conformance.lab.abuse.ground import Attack, Ground
from conformance.lab.abuse.texts import JSON, LONG
from conformance.lab.client import Client

_PORTS = ("arena", "nac4", "droidcon", "web")
_ANSWERERS = ("arena", "arena", "arena", "nac4", "arena", "arena", "arena", "droidcon")
_HALF = b"GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\n"
_LONG_FRAME = b"\x81\xfe\xff\xff\0\0\0\0"
"""The beginning of a text of 65,535 bytes."""


class Unread(Attack):
    """Clients that are answered and never read."""

    name = "unread"
    what = "40 clients that are answered at length and never read"
    clients = 40
    pause = 1.0

    async def live(self, ground: Ground, number: int) -> None:
        kind = _ANSWERERS[number % len(_ANSWERERS)]
        text = JSON["padded" if number % 2 else "lists in a map"](LONG).encode()
        if kind == "droidcon":
            async with ground.connected(kind) as client:
                await _pour(client, b"\n" * 4_000)
        async with ground.websocket(kind) as client:
            await _pour(client, frame(text) if kind == "arena" else frame(b"p" * 125, Opcode.PING) * 100)


class Sips(Attack):
    """Clients that read so slowly that no deadline for a single byte meets them."""

    name = "sips"
    what = "clients that are answered at length and read 1 KB a second"
    clients = 20
    pause = 1.0

    async def live(self, ground: Ground, number: int) -> None:
        text = JSON["padded"](LONG).encode()
        async with ground.websocket("arena") as client, trio.open_nursery() as nursery:
            nursery.start_soon(_sip, client)
            while True:
                await client.say(frame(text))
                await trio.sleep(0.5)


class Slow(Attack):
    """Clients that say nothing, half of something, or a byte a second."""

    name = "slow"
    what = "160 clients, on all ports: silent, half a handshake, a byte a second"
    clients = 160

    async def live(self, ground: Ground, number: int) -> None:
        kind = _PORTS[number % 4]
        words = Handshake("x", "/").request if kind != "droidcon" else b"NAME slow"
        async with ground.connected(kind) as client:
            match number // 4 % 4:
                case 0:
                    pass
                case 1:
                    await client.say(_HALF if kind != "droidcon" else words)
                case 2:
                    await _dribble(client, words)
                case _ if kind in ("arena", "nac4"):
                    await client.shake("x", "/")
                    await client.say(_LONG_FRAME)
                    await _dribble(client, b"x" * 60_000)
            await client.drain()


class Files(Attack):
    """As many connections as the server may have files open, and some more."""

    name = "files"
    what = "1,200 silent clients, where the server may have 1,024 files open"
    clients = 1_200
    coming = 3.0
    pause = 1.0
    may_log = True
    is_alone = True

    async def live(self, ground: Ground, number: int) -> None:
        async with ground.connected(_PORTS[number % 3]) as client:
            await client.say(b"G")
            await client.drain()


async def _pour(client: Client, data: bytes) -> None:
    while True:
        await client.say(data)


async def _sip(client: Client) -> None:
    while True:
        await client.heard(1_024)
        await trio.sleep(1)


async def _dribble(client: Client, data: bytes) -> None:
    for value in data:
        await client.say(bytes([value]))
        await trio.sleep(1)

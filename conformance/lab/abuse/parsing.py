"""Attacks on those who read: texts, frames and bytes that are hard to take apart."""

from functools import cache
from itertools import cycle, islice

import trio

from conformance.dialects.frames import frame
from conformance.frames import Opcode
from conformance.lab.abuse.ground import Attack, Attacker, Ground, drained
from conformance.lab.abuse.texts import EDN, JSON, LONG, SHORT, Family

_WEBSOCKETS = ("arena", "nac4")
_PORTS = ("arena", "nac4", "droidcon", "web")
_MASK = b"\0\0\0\0"
_FIRST = b"\x01\x80" + _MASK
"""The first fragment of a text, without payload."""
_EMPTY = b"\x00\x80" + _MASK
"""One that continues it, without payload."""
_LETTER = b"\x00\x81" + _MASK + b"a"
"""One that continues it by a letter."""


class Texts(Attack):
    """Long numbers, deep brackets and their like, one after the other."""

    name = "texts"
    what = "4 KB of the worst EDN, 100 texts a second"
    clients = 20
    length = SHORT
    families = tuple(EDN.values())
    every = 0.2

    def prepare(self) -> None:
        _texts(self.families, self.length)

    async def live(self, ground: Ground, number: int) -> None:
        texts = _texts(self.families, self.length)
        async with ground.websocket("arena") as client, drained(client):
            for data in islice(cycle(texts), number, None):
                await client.say(data)
                await trio.sleep(self.every)


@cache
def _texts(families: tuple[Family, ...], length: int) -> list[bytes]:
    return [frame(family(length).encode()) for family in families]


class LongTexts(Texts):
    """The same in JSON, as long as a frame may be."""

    name = "long-texts"
    what = "64 KB of the worst JSON, 10 texts a second"
    clients = 5
    length = LONG
    families = tuple(JSON.values())
    every = 0.5


class Fragments(Attack):
    """A message in fragments of nothing, or of a letter each, that never ends."""

    name = "fragments"
    what = "messages in fragments that never end, without payload or of a byte"
    clients = 20

    async def live(self, ground: Ground, number: int) -> None:
        kind = _WEBSOCKETS[number % 2]
        some = (_EMPTY if number % 4 < 2 else _LETTER) * 50
        async with ground.websocket(kind) as client, drained(client):
            await client.say(_FIRST)
            await _say_without_end(client, some)


class Pings(Attack):
    """Control frames by the hundred, and their answers read."""

    name = "pings"
    what = "floods of pings, pongs and pings between fragments"
    clients = 20

    async def live(self, ground: Ground, number: int) -> None:
        kind = _WEBSOCKETS[number % 2]
        opcode = Opcode.PONG if number % 4 == 3 else Opcode.PING
        some = frame(b"p" * 125, opcode) * 20
        async with ground.websocket(kind) as client, drained(client):
            if number % 4 == 2:
                await client.say(_FIRST)
            await _say_without_end(client, some)


class Junk(Attack):
    """Random bytes, as they are or behind something that belongs there."""

    name = "junk"
    what = "random bytes on all ports, before, within and behind a handshake"
    clients = 20

    async def live(self, ground: Ground, number: int) -> None:
        kind, lot = _PORTS[number % 4], ground.lot
        data = lot.randbytes(lot.randint(1, 4_096))
        if number % 8 < 4:
            opened = ground.connected(kind)
            data = lot.choice((b"", b"GET / HTTP/1.1\r\n", b"NAME x\nJOIN ", b"POST /")) + data
        elif kind in _WEBSOCKETS:
            opened, data = ground.websocket(kind), b"\x81" * lot.randint(0, 3) + data
        else:
            opened, data = ground.connected(kind), data.replace(b"\n", b"")
        async with opened as client:
            await client.say(data)
            with trio.move_on_after(0.2):
                await client.drain()


async def _say_without_end(client: Attacker, data: bytes) -> None:
    while True:
        await client.say(data)
        await trio.sleep(0.05)

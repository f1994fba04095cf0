"""Attacks by number: lines without end, connections that come and go, names that are taken and left."""

import json
from urllib.parse import quote

import trio

from conformance.dialects.frames import frame
from conformance.frames import Opcode, encode
from conformance.lab.abuse.ground import Attack, Ground, drained
from conformance.lab.abuse.texts import NAMES
from conformance.lab.client import Client

_PORTS = ("droidcon", "nac4", "arena", "web")
_MOVES = b"PUT 0\nPUT 1\n"
_STAY = 0.3
"""Seconds for which a client with a strange name is there."""


class Flood(Attack):
    """Lines of nothing, as fast as the server takes them; the answers are read."""

    name = "flood"
    what = "64 clients that send line ends as fast as the server takes them"
    clients = 64

    async def live(self, ground: Ground, number: int) -> None:
        async with ground.connected("droidcon") as client, drained(client):
            while True:
                await client.say(b"\n" * 4_096)


class Storm(Attack):
    """Clients that connect and go at once, some in the middle of a handshake."""

    name = "storm"
    what = "clients that connect and go, on all ports, some 2,000 a second"
    clients = 40
    pause = 0.02

    async def live(self, ground: Ground, number: int) -> None:
        kind = _PORTS[number % 4]
        async with ground.connected(kind) as client:
            if number % 8 < 4:
                await client.say(b"NAME gone\nJOIN gone\n" if kind == "droidcon" else b"GET / HTTP/1.1\r\n")
        await trio.lowlevel.checkpoint()


class Names(Attack):
    """Names that are taken, given up, taken twice, and changed."""

    name = "names"
    what = "names taken, changed and left, the same ones by many, wishes for nobody"
    clients = 30
    pause = 0.05

    async def live(self, ground: Ground, number: int) -> None:
        name = f"{ground.token}{ground.lot.randint(0, 9)}"
        match number % 3:
            case 0:
                async with ground.connected("droidcon") as client, drained(client):
                    await client.say(f"NAME {name}\nJOIN @nobody{number}\n".encode())
                    for letter in "abcdefgh" * 20:
                        await client.say(f"NAME {name}{letter}\n".encode())
                        await trio.sleep(0.001)
            case 1:
                async with ground.websocket("nac4", "/?against=nobody") as client, drained(client):
                    await client.say(frame(f"connect {name}\r\n".encode()))
                    await trio.sleep(0.05)
            case _:
                async with ground.websocket("arena", f"/?table={name}{number}") as client, drained(client):
                    for life in range(20):
                        words = {"type": "start", "id": f"{name}{life}", "against": f"nobody{life}"}
                        await client.say(frame(json.dumps(words).encode()))
                        await trio.sleep(0.005)


class LongNames(Attack):
    """Names and tables that are long, or mean something to a log, a page, a terminal or a spreadsheet.

    Clients come in twos, and play where they are let in, so that the names are stored.
    """

    name = "long-names"
    what = "names and tables of up to 64 KB, and ones that look like something else, wherever names go"
    clients = 24

    async def live(self, ground: Ground, number: int) -> None:
        lives = (self._droidcon, self._nac4, self._arena)
        ground.counts["lives"] += 1
        name = NAMES[(ground.counts["lives"] // 2 + number // 6) % len(NAMES)]
        await lives[number // 2 % 3](ground, name, number // 2)

    async def _droidcon(self, ground: Ground, name: str, pair: int) -> None:
        async with ground.connected("droidcon") as client, drained(client):
            await client.say(f"NAME {name}\nJOIN {name}{pair}\n".encode())
            await client.say(f"NAME x\nNAME {name}\nJOIN {ground.token}{pair}\n".encode())
            await trio.sleep(_STAY / 2)
            await client.say(_MOVES)
            await trio.sleep(_STAY / 2)

    async def _nac4(self, ground: Ground, name: str, pair: int) -> None:
        resource = f"/?table={quote(name[:5_000])}{pair}&against={quote(name[:1_000])}"
        async with ground.websocket("nac4", resource) as client, drained(client):
            await client.say(_text(f"connect {name}\r\n"))
            await trio.sleep(_STAY / 2)
            await _say_all(client, "playmove 0\r\n", "playmove 99999999999999999999\r\n")
            await trio.sleep(_STAY / 2)

    async def _arena(self, ground: Ground, name: str, pair: int) -> None:
        async with ground.websocket("arena", f"/?table={quote(name[:5_000])}") as client, drained(client):
            tables = (None, f"{name}{pair}"[:60_000], f"{ground.token}a{pair}")
            for table in tables:
                words = {"type": "start", "id": name[:30_000], "table": table and table[:30_000]}
                await client.say(_text(json.dumps(words)))
            start = {"type": "start", "id": f"x{pair}", "against": name[:30_000], "table": name[:30_000]}
            await client.say(_text(json.dumps(start)))
            await trio.sleep(_STAY / 2)
            await _say_all(client, '{"type":"move","move":0}', '{"type":"state_request"}')
            await trio.sleep(_STAY / 2)


def _text(text: str) -> bytes:
    return encode(Opcode.TEXT, text.encode())


async def _say_all(client: Client, *texts: str) -> None:
    for text in texts:
        await client.say(_text(text))

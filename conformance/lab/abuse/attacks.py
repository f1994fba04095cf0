"""All attacks: what the clients of each attack send, and how many clients it has.

To add an attack, write a function and add a line to the table at the end.
"""

import json
import ssl
import struct
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, suppress
from itertools import count, cycle, islice
from urllib.parse import quote

import trio

from conformance.dialects.frames import frame
from conformance.dialects.script import Wish
from conformance.frames import Handshake, Opcode, encode
from conformance.lab.abuse.attackers import Attack, Attacked, Attacker
from conformance.lab.bots import PLAIN, script_of
from conformance.lab.client import Client, HouseGames, HungUp, Refusal
from conformance.lab.texts import FRAMES as TEXT_FRAMES
from conformance.lab.texts import NAMES, PIECES, repeated, talk_for

DIALECTS = ("droidcon", "nac4", "arena")
WEBSOCKETS = ("arena", "nac4")
PORTS = ("arena", "nac4", "droidcon", "web")
SHORT, LONG = 4_096, 65_000
"""Lengths of texts: the longest EDN that the server reads, and almost the longest frame."""
_HEARD = 0.2
"""Seconds for which a client reads answers."""
_STEP = 0.05
"""Seconds between two steps of a client."""
_MASK = b"\0\0\0\0"

# Messages that are hard to parse.


async def texts(attacked: Attacked, number: int) -> None:
    """Send texts of 4 KB that are hard to parse. One client in five sends texts of 64 KB."""
    is_long = number % 5 == 0
    length, pause = (LONG, 0.5) if is_long else (SHORT, 0.2)
    async with attacked.connected("arena", "/", drains=True) as client:
        framed = zip(cycle(PIECES["arena"]), cycle(TEXT_FRAMES["arena"]), strict=False)
        for piece, (before, behind) in islice(framed, 7 * number, None):
            text = before + repeated(piece, length - len(before + behind)) + behind
            await client.say(frame(text.encode("utf-8", "surrogateescape")[: LONG + 500]))
            await trio.sleep(pause)


FRAMES: Sequence[bytes] = (
    b"\x81\xff" + b"\x7f" + b"\xff" * 7 + _MASK + b"x" * 60_000,  # a text of 2**63 - 1 bytes
    b"\x81\xff" + b"\xff" * 8 + _MASK,  # longer than RFC 6455 allows
    b"\x81\xff" + (1 << 20).to_bytes(8) + _MASK + b"x" * 100_000,
    b"\x81\xff" + (70_000).to_bytes(8) + _MASK + b"x" * 70_000,
    b"\xc1\x85" + _MASK + b"\xf2\x48\xcd\xc9\xc9",  # compressed, without negotiation
    b"\xc1\xff" + (65_000).to_bytes(8) + _MASK + b"\0" * 65_000,
    b"\xf1\x85" + _MASK + b"hello",  # all reserved bits
    b"\x81\x05hello",  # without a mask
    b"\x81\x7e\x10\x00" + b"x" * 4_096,
    b"\x81\x84" + _MASK + b"\xc3\x28\xa0\xff",  # not UTF-8
    b"\x01\x81" + _MASK + b"\xf0" + b"\x80\x81" + _MASK + b"\x28",  # not UTF-8, in two fragments
    b"\x81\x83" + _MASK + b"\xed\xa0\x80",  # half of a surrogate pair
    b"\x80\x85" + _MASK + b"hello",  # a continuation without a beginning
    b"\x01\x81" + _MASK + b"a" + b"\x81\x81" + _MASK + b"b",  # a new message within a message
    b"\x83\x80" + _MASK,  # an undefined opcode
    b"\x8b\x80" + _MASK,
    b"\x09\x81" + _MASK + b"p",  # a fragmented ping
    b"\x89\xfe\x00\xff" + _MASK + b"p" * 255,  # a ping that is too long
    b"\x88\x81" + _MASK + b"\x03",  # a close frame with half a code
    b"\x88\x82" + _MASK + b"\xff\xff",
    b"\x88\x84" + _MASK + b"\x03\xe8\xc3\x28",
    b"\x88\x80" + _MASK + frame(b"playmove 3"),  # a frame after the close frame
    b"\x81\xfe\x00\x05" + _MASK + b"hello",  # a length not in its shortest form
)
"""Frames that are giant, compressed, unmasked, misplaced or not UTF-8. An attack may send only a part of a
frame."""


async def frames(attacked: Attacked, number: int) -> None:
    """Send 150 frames a second that are giant, compressed, cut off, unmasked, misplaced or not UTF-8."""
    data, lot = attacked.lot.choice(FRAMES), attacked.lot
    if lot.random() < 0.3:
        data = data[: lot.randrange(len(data))]
    before = frame(b"playmove 3") * lot.randint(0, 3)
    async with attacked.connected(WEBSOCKETS[number % 2], "/") as client:
        await client.say(before + data)
        if lot.random() < 0.3:
            client.tear()
            return
        with trio.move_on_after(_HEARD):
            await client.drain()


async def fragments(attacked: Attacked, number: int) -> None:
    """Send empty fragments, fragments of one byte, pings between fragments, or pongs, endlessly."""
    first, empty, letter = b"\x01\x80" + _MASK, b"\x00\x80" + _MASK, b"\x00\x81" + _MASK + b"a"
    ping, pong = (frame(b"p" * 125, opcode) * 20 for opcode in (Opcode.PING, Opcode.PONG))
    some = (empty * 50, letter * 50, ping, pong)[number // 2 % 4]
    async with attacked.connected(WEBSOCKETS[number % 2], "/", drains=True) as client:
        if some is not pong:
            await client.say(first)
        while True:
            await client.say(some)
            await trio.sleep(_STEP)


async def junk(attacked: Attacked, number: int) -> None:
    """Send random bytes and randomly changed messages, handshakes and requests; end in different ways."""
    lot = attacked.lot
    port = PORTS[number % 4]
    async with attacked.connected(port) as client:
        talk, manner = talk_for(port, lot), lot.random()
        for piece in talk:
            await client.say(piece)
            if manner < 0.5:
                await trio.lowlevel.checkpoint()  # so that pieces arrive separately
        if manner < 0.3:
            await client.leave()
            with trio.move_on_after(2.0):
                await client.drain()
        elif manner < 0.6:
            with trio.move_on_after(0.02):
                await client.drain()
        elif manner < 0.8:
            client.tear()


# Connections that are held open.


async def unread(attacked: Attacked, number: int) -> None:
    """Ask for long answers, and read nothing. One client in three reads 1 KB a second."""
    text = frame(b'{"type":"x","pad":"' + b"x" * (LONG - 21) + b'"}')
    lists = frame(b'{"type":"x","pad":[' + b"[]," * (LONG // 3 - 8) + b"[]]}")
    port = ("arena", "arena", "arena", "nac4", "arena", "droidcon")[number // 3 % 6]
    if number % 3 == 0:
        async with attacked.connected("arena", "/") as client, trio.open_nursery() as nursery:
            nursery.start_soon(_read_slowly, client, 1_024, 1.0)
            while True:
                await client.say(text)
                await trio.sleep(0.5)
    if port == "droidcon":
        async with attacked.connected(port) as client:
            while True:
                await client.say(b"\n" * 4_000)
    async with attacked.connected(port, "/") as client:
        while True:
            data = frame(b"p" * 125, Opcode.PING) * 100 if port == "nac4" else (text, lists)[number % 2]
            await client.say(data)


async def slow(attacked: Attacked, number: int) -> None:
    """Connect to a port, and send nothing, half of a handshake, or a byte a second."""
    port = PORTS[number % 4]
    words = Handshake("x", "/").request if port != "droidcon" else b"NAME slow"
    async with attacked.connected(port) as client:
        match number // 4 % 4:
            case 0:
                pass
            case 1:
                await client.say(words[: len(words) // 2])
            case 2:
                await _dribble(client, words)
            case _ if port in WEBSOCKETS:
                await client.shake("x", "/")
                await client.say(b"\x81\xfe\xff\xff" + _MASK)  # the beginning of a text of 65,535 bytes
                await _dribble(client, b"x" * 60_000)
        await client.drain()


async def files(attacked: Attacked, number: int) -> None:
    """Hold a connection open. There are more clients than the server's limit of open files allows."""
    async with attacked.connected(PORTS[number % 3]) as client:
        await client.say(b"G")
        await client.drain()


async def _read_slowly(client: Client, size: int, pause: float) -> None:
    """Read at most `size` bytes, pause, and repeat. Raises HungUp."""
    while True:
        await client.heard(size)
        await trio.sleep(pause)


async def _dribble(client: Client, data: bytes) -> None:
    for value in data:
        await client.say(bytes([value]))
        await trio.sleep(1)


# Connections that break off.


async def halves(attacked: Attacked, number: int) -> None:
    """Close the sending side in the middle of a message, and continue to read."""
    port = (*DIALECTS, "web")[number % 4]
    async with attacked.connected(port) as client:
        data = b"NAME half\nJOIN " if port == "droidcon" else b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
        if port in WEBSOCKETS and number % 8 < 4:
            await client.shake("x", "/")
            data = frame(b"connect half\r\n") + frame(b"x" * 100)
        await client.say(data[: attacked.lot.randrange(len(data)) + 1])
        await client.leave()
        await client.drain()


async def hellos(attacked: Attacked, number: int) -> None:
    """Send the start of a TLS handshake, whole, cut off or followed by junk, 200 times a second."""
    outgoing, lot = ssl.MemoryBIO(), attacked.lot
    with suppress(ssl.SSLWantReadError):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)  # quick: it loads no certificates
        context.wrap_bio(ssl.MemoryBIO(), outgoing, server_hostname="x").do_handshake()
    hello = outgoing.read()
    async with attacked.connected((*DIALECTS, "web")[number % 4]) as client:
        await client.say(hello[: len(hello) if lot.random() < 0.8 else lot.randrange(1, len(hello))])
        with trio.move_on_after(_HEARD):
            await client.heard()
        await client.say(
            lot.choice((b"", b"\x16\x03\x03\xff\xff", b"\x15\x03\x03\0\x02\x02\x28", bytes(600)))
        )
        if lot.random() < 0.3:
            client.tear()


async def resets(attacked: Attacked, number: int) -> None:
    """Play in pairs, and reset the connection at a different point of the game each time."""
    pair, port = number // 2, DIALECTS[number % 3]
    attacked.counts["lives"] += 1
    table = f"{attacked.token}r{pair}"
    script, wish = script_of(PLAIN[port]), Wish(f"{table}p{number % 2}", table=table)
    resource = script.resource(wish)
    steps = [] if resource is None else [Handshake("x", resource).request]
    steps += [script.opening(wish), *map(script.move, "3434")]
    torn = [half for step in steps for half in (step[: len(step) // 2], step[len(step) // 2 :])]
    last = (attacked.counts["lives"] + pair) % (len(torn) + 1)
    async with attacked.connected(port, drains=True) as client:
        for half in torn[:last]:
            await client.say(half)
            await trio.sleep(_STEP)
        client.tear()


# The web's port.


async def http2(attacked: Attacked, number: int) -> None:
    """Speak HTTP/2 without negotiation: open streams and reset them at once."""

    def sent(kind: int, flags: int, stream: int, payload: bytes) -> bytes:  # RFC 9113 4.1
        return struct.pack("!I", len(payload))[1:] + struct.pack("!BBI", kind, flags, stream) + payload

    get = b"\x82\x86\x84\x41\x01x"  # RFC 7541: GET, http, `/`, and the authority `x`
    async with attacked.connected("web", drains=True) as client:
        await client.say(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + sent(4, 0, 0, b""))
        for first in range(1, 2**20, 200):
            both = (
                sent(1, 5, at, get) + sent(3, 0, at, struct.pack("!I", 8))
                for at in range(first, first + 200, 2)
            )
            await client.say(b"".join(both))
            await trio.sleep(0.02)


_UPGRADE = (
    b"GET /api/games HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\n%s\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
)
_HEADS = (
    _UPGRADE % b"Upgrade: websocket",
    _UPGRADE % b"Upgrade: h2c\r\nHTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA",
    b"POST /api/clear HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    b"GET /api/games?limit=1000 HTTP/1.1\r\nHost: x\r\n\r\n" * 20,
    b"GET /api/players/" + b"%F0%9F%98%80" * 5_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999\r\n\r\n",
)


async def upgrades(attacked: Attacked, number: int) -> None:
    """Request a protocol upgrade and then send junk, or send something that is not an HTTP request."""
    async with attacked.connected("web", drains=True) as client:
        await client.say(attacked.lot.choice(_HEADS) + attacked.lot.randbytes(500))
        await trio.sleep(0.1)


LONG_PATHS = (
    "/api/games?limit=1000",
    "/api/games?limit=1000&player=nobody",
    "/api/players?limit=1000",
    "/api/standings",
    "/api/games-vg",
)
EVENTS, EXPORT = "/api/live/events", "/api/export.jsonl"
PATHS = (
    *LONG_PATHS,
    *("/", "/board", "/standings", "/standings?form=cross", "/board/standings", "/play", "/search?name=a"),
    *("/player/nobody", "/api/players/nobody", "/game/1", "/game/1.pgn", "/api/games/1"),
    *("/api/games/1/perfect", EXPORT, "/api/openapi.json", "/api/live", EVENTS, "/healthz"),
)
"""The paths of all pages and of the API."""


async def pages(attacked: Attacked, number: int) -> None:
    """Request pages and the export; read fast, slowly or not at all; or send a request byte by byte."""
    path = PATHS[(number // 8 + attacked.counts["connections"]) % len(PATHS)]
    async with attacked.connected("web") as client:
        match number % 8:
            case 0 | 1:
                await client.say(_request(LONG_PATHS[number // 8 % len(LONG_PATHS)]))
            case 2 | 3 | 4:
                await client.say(_request(EXPORT))
                if number % 40 == 4:
                    await _read_slowly(client, 100, 2.0)
            case 5:
                await client.say(_request(path))
            case 6:
                await client.say(_request(path))
                await _read_slowly(client, 100, 2.0)
            case _ if number % 16 == 7:
                await client.say(_request(path) * 50)
                await trio.sleep(2)
            case _:
                await client.say(b"POST /api/clear HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n")
                await _dribble(client, b"token=" * 20)
        await client.drain()


def _request(path: str) -> bytes:
    return f"GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode()


_STAY = 0.3
"""Seconds for which a client with strange names or moves stays connected."""
_GUESSING = 2.0
"""Seconds for which a client waits for an answer to its guess."""
_MANY = 50
"""The number of messages in one write."""


def _opened(attacked: Attacked, dialect: str, resource: str = "/") -> AbstractAsyncContextManager[Attacker]:
    """Connect as a client of a dialect; read and drop all that arrives."""
    return attacked.connected(dialect, None if dialect == "droidcon" else resource, drains=True)


async def _say(client: Attacker, dialect: str, *texts: bytes) -> None:
    """Send texts of any length, framed as the dialect requires."""
    for text in texts:
        await client.say(text + b"\n" if dialect == "droidcon" else encode(Opcode.TEXT, text))


async def house(attacked: Attacked, number: int) -> None:
    """Ask for a house player that thinks for a long time, and answer each of its moves at once."""
    async with attacked.connected("droidcon") as client:
        await client.say(f"NAME {attacked.token}hog{number}\n".encode())
        try:
            await HouseGames().play(client, "aima10")
        except Refusal:
            attacked.counts["refused"] += 1
            await trio.sleep(1)
            raise HungUp from None


_MOVES: Mapping[str, tuple[bytes, ...]] = {
    "droidcon": (b"PUT 9", b"PUT x", b"PUT 3\nPUT 3", b"PUT 18446744073709551618", b"JOIN x\nPUT", b""),
    "nac4": (b"playmove 9", b"playmove 3", b"playmove -1", b"genmove", b"connect me", b""),
    "arena": (
        b'{"type":"move","move":9}',
        b'{"type":"move","move":3}',
        b'{"type":"move","move":1e400}',
        b'{"type":"state_request"}',
        b'{:type "move", :move 3N}',
        b"",
    ),
}


async def impostors(attacked: Attacked, number: int) -> None:
    """Break the rules: move out of turn or outside the board, use a house player's name, leave early."""
    lot, dialect = attacked.lot, DIALECTS[number // 2 % 3]
    name, table = lot.choice(("aima", "Random", "AIMA10", "TEST", "me")), f"{attacked.token}i{number // 2}"
    entering = {
        "droidcon": (f"PUT 3\nNAME {name}\nJOIN {table}",),
        "nac4": (f"connect {name}{lot.randint(0, 99)}\r\n",),
        "arena": tuple(f'{{"type":"start","id":"{who}"}}' for who in (name, f"x{name}")),
    }[dialect]
    async with _opened(attacked, dialect, f"/?table={table}") as client:
        await _say(client, dialect, *(text.encode() for text in entering))
        await trio.sleep(_STAY * lot.random())
        await _say(client, dialect, *(lot.choice(_MOVES[dialect]) for _ in range(3)))
        await trio.sleep(_STAY * lot.random())


async def guesses(attacked: Attacked, number: int) -> None:
    """Use other players' names, and guess their tokens: in first messages, names and URLs."""
    dialect = DIALECTS[number % 3]
    name, token = f"late{attacked.lot.randint(2, 9)}", attacked.lot.randbytes(16).hex()
    texts = {
        "droidcon": [f"NAME {name} {token}\nNAME {name}\nJOIN {token}"],
        "nac4": [f"connect {name}\r\n", f"connect {name} {token}\r\n"],
        "arena": [json.dumps({"type": "start", "id": name, "token": token})] * 10,
    }[dialect]
    async with _opened(attacked, dialect, f"/?token={token}") as client:
        await _say(client, dialect, *(text.encode() for text in texts))
        await trio.sleep(_GUESSING)


# Attacks at full speed. Clients read the answers, so only the server limits the speed.


async def flood(attacked: Attacked, number: int) -> None:
    """Send empty lines, as fast as the server takes them."""
    async with attacked.connected("droidcon", drains=True) as client:
        while True:
            await client.say(b"\n" * 4_096)


async def _pour(attacked: Attacked, dialect: str, message: Callable[[int], bytes]) -> None:
    """Send messages endlessly. `message` returns the message with a given number."""
    async with _opened(attacked, dialect) as client:
        for first in count(step=_MANY):
            texts = map(message, range(first, first + _MANY))
            wrapped = (text + b"\n" if dialect == "droidcon" else frame(text) for text in texts)
            await client.say(b"".join(wrapped))
            attacked.counts["messages"] += _MANY - 1


async def commands(attacked: Attacked, number: int) -> None:
    """Send commands that the server refuses. One client in three sends random bytes as messages."""
    dialect, name = DIALECTS[number // 3 % 3], f"{attacked.token}c{number}"
    texts = {
        "droidcon": [f"NAME {name}", "PUT 3", f"JOIN @{name}nobody"],
        "nac4": [f"connect {name}", "playmove 3"],
        "arena": ['{"type":"state_request"}', '{"type":"move","move":3}', '{:type "move", :move 3}'],
    }[dialect]
    some = [text.encode() for text in texts]
    if number % 3 == 0:
        some = [attacked.lot.randbytes(40).replace(b"\n", b"").replace(b"\r", b"") for _ in range(_MANY)]
    await _pour(attacked, dialect, lambda turn: some[turn % len(some)])


async def maps(attacked: Attacked, number: int) -> None:
    """Send short EDN maps full of brackets, all different.

    Of all messages, these cost the server the most work per byte.
    """
    await _pour(attacked, "arena", lambda turn: b"{:a%d [%b]}" % (turn, b"[]" * 24))


async def million(attacked: Attacked, number: int) -> None:
    """Send new names, tables and wishes all the time, millions of them if the server accepts them."""
    dialect = DIALECTS[number % 3]

    def message(turn: int) -> bytes:
        new = f"{attacked.token}m{number}x{turn}"
        if dialect == "droidcon":
            return (f"NAME {new}", f"JOIN {new}", f"JOIN @{new}")[turn % 3].encode()
        if dialect == "nac4":
            return f"connect {new}".encode()
        place = {"table": new} if turn % 2 else {"against": new}
        return json.dumps({"type": "start", "id": new, **place}).encode()

    await _pour(attacked, dialect, message)


async def storm(attacked: Attacked, number: int) -> None:
    """Connect and leave at once, about 2,000 times a second. Half of them first send a handshake."""
    port = (*DIALECTS, "web")[number % 4]
    async with attacked.connected(port) as client:
        if number % 8 < 4:
            await client.say(b"NAME gone\nJOIN gone\n" if port == "droidcon" else b"GET / HTTP/1.1\r\n")
    await trio.lowlevel.checkpoint()


# Names.


async def names(attacked: Attacked, number: int) -> None:
    """Take, change and give up names that many clients share, and ask for players who do not exist."""
    dialect, name = DIALECTS[number % 3], f"{attacked.token}{attacked.lot.randint(0, 9)}"
    resource = {"nac4": "/?against=nobody", "arena": f"/?table={name}{number}"}.get(dialect, "/")
    async with _opened(attacked, dialect, resource) as client:
        match dialect:
            case "droidcon":
                texts = [
                    f"NAME {name}\nJOIN @nobody{number}",
                    *(f"NAME {name}{at}" for at in "abcdefgh" * 20),
                ]
            case "nac4":
                texts = [f"connect {name}\r\n"]
            case _:
                texts = [
                    json.dumps({"type": "start", "id": f"{name}{life}", "against": f"nobody{life}"})
                    for life in range(20)
                ]
        for text in texts:
            await _say(client, dialect, text.encode())
            await trio.sleep(0.1 / len(texts))


async def long_names(attacked: Attacked, number: int) -> None:
    """Use names and tables of up to 64 KB, or with special characters for a log, a page or a terminal.

    Clients come in pairs, and play if the server accepts their names, so that the names are stored.
    """
    pair, dialect = number // 2, DIALECTS[number // 2 % 3]
    attacked.counts["lives"] += 1
    name = NAMES[(attacked.counts["lives"] // 2 + number // 6) % len(NAMES)]
    short = name[:30_000]
    resource = f"/?table={quote(name[:5_000])}"
    starts: list[Mapping[str, str | None]] = [
        *({"table": table} for table in (None, f"{name}{pair}"[:30_000], f"{attacked.token}a{pair}")),
        {"against": short, "table": short},
    ]
    texts, moves = {
        "droidcon": (
            [f"NAME {name}\nJOIN {name}{pair}", f"NAME x\nNAME {name}\nJOIN {attacked.token}{pair}"],
            ["PUT 0\nPUT 1"],
        ),
        "nac4": ([f"connect {name}\r\n"], ["playmove 0\r\n", "playmove 99999999999999999999\r\n"]),
        "arena": (
            [json.dumps({"type": "start", "id": short, **start}) for start in starts],
            ['{"type":"move","move":0}', '{"type":"state_request"}'],
        ),
    }[dialect]
    if dialect == "nac4":
        resource += f"{pair}&against={quote(name[:1_000])}"
    async with _opened(attacked, dialect, resource) as client:
        await _say(client, dialect, *(text.encode() for text in texts))
        await trio.sleep(_STAY / 2)
        await _say(client, dialect, *(move.encode() for move in moves))
        await trio.sleep(_STAY / 2)


_ALL: Sequence[Attack] = (
    Attack("texts", 25, texts),
    Attack("unread", 60, unread, pause=1.0),
    Attack("frames", 30, frames),
    Attack("fragments", 40, fragments),
    Attack("junk", 16, junk, pause=0.01),
    Attack("slow", 160, slow),
    Attack("halves", 40, halves),
    Attack("hellos", 40, hellos),
    Attack("resets", 36, resets, pause=0.05),
    Attack("files", 1_200, files, pause=1.0, coming=3.0, may_log=True, is_alone=True),
    Attack("http2", 4, http2),
    Attack("upgrades", 10, upgrades),
    Attack("pages", 80, pages, pause=0.05, reads=True),
    Attack("house", 200, house),
    Attack("impostors", 48, impostors),
    Attack("guesses", 30, guesses),
    Attack("flood", 64, flood),
    Attack("commands", 45, commands),
    Attack("maps", 12, maps),
    Attack("million", 24, million),
    Attack("storm", 40, storm, pause=0.02),
    Attack("names", 30, names, pause=0.05),
    Attack("long-names", 24, long_names),
)
ATTACKS: Mapping[str, Attack] = {attack.name: attack for attack in _ALL}
"""All attacks, by name."""


def at_once(names: Sequence[str]) -> list[Attack]:
    """Return the attacks with these names, without those that must run alone.

    If each attack must run alone, return every one.
    """
    attacks = [ATTACKS[name] for name in names]
    return [attack for attack in attacks if not attack.is_alone] or attacks

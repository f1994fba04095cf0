"""Attacks by what a player may say: wishes, moves that are not theirs, names, all of it at full speed."""

import json
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from itertools import count
from urllib.parse import quote

import trio

from conformance.dialects.frames import frame
from conformance.frames import Opcode, encode
from conformance.lab.abuse.attackers import Attacked, Attacker
from conformance.lab.abuse.wire import DIALECTS
from conformance.lab.client import HouseGames, HungUp, Refusal
from conformance.lab.texts import NAMES

_STAY = 0.3
"""Seconds for which a client with a strange name, or strange moves, is there."""
_GUESSING = 2.0
"""Seconds for which somebody who guesses waits for an answer."""
_MANY = 50
"""Messages that are sent in one go."""


def _opened(attacked: Attacked, dialect: str, resource: str = "/") -> AbstractAsyncContextManager[Attacker]:
    """Connect as a dialect does; all that comes is read."""
    if dialect == "droidcon":
        return attacked.connected(dialect, drains=True)
    return attacked.websocket(dialect, resource, drains=True)


async def _say(client: Attacker, dialect: str, *texts: bytes) -> None:
    """Send texts as a dialect has them, whatever their length."""
    for text in texts:
        await client.say(text + b"\n" if dialect == "droidcon" else encode(Opcode.TEXT, text))


async def house(attacked: Attacked, number: int) -> None:
    """Wish for a house player that thinks long, and answer each of its moves at once."""
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
    """Play against every rule: out of turn, outside the board, as a house player, leaving early."""
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
    """Take the names of others, and guess their tokens: in first messages, names and URLs."""
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


# At full speed. Answers are read, so what is slow is the server alone.


async def flood(attacked: Attacked, number: int) -> None:
    """Send lines of nothing, as fast as the server takes them."""
    async with attacked.connected("droidcon", drains=True) as client:
        while True:
            await client.say(b"\n" * 4_096)


async def _pour(attacked: Attacked, dialect: str, message: Callable[[int], bytes]) -> None:
    """Send messages without end; `message` makes one by its number."""
    async with _opened(attacked, dialect) as client:
        for first in count(step=_MANY):
            texts = map(message, range(first, first + _MANY))
            wrapped = (text + b"\n" if dialect == "droidcon" else frame(text) for text in texts)
            await client.say(b"".join(wrapped))
            attacked.counts["messages"] += _MANY - 1


async def commands(attacked: Attacked, number: int) -> None:
    """Send commands that are all refused, and every third client random bytes as messages."""
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
    """Send short maps of EDN that are all brackets, each of them another one: most work for a byte."""
    await _pour(attacked, "arena", lambda turn: b"{:a%d [%b]}" % (turn, b"[]" * 24))


async def million(attacked: Attacked, number: int) -> None:
    """Send names, tables and wishes, each of them another one, by the million if the server takes them."""
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
    """Connect and go at once, half of the clients in the middle of a handshake: some 2,000 a second."""
    port = (*DIALECTS, "web")[number % 4]
    async with attacked.connected(port) as client:
        if number % 8 < 4:
            await client.say(b"NAME gone\nJOIN gone\n" if port == "droidcon" else b"GET / HTTP/1.1\r\n")
    await trio.lowlevel.checkpoint()


# Names.


async def names(attacked: Attacked, number: int) -> None:
    """Take names, change and leave them, the same ones by many clients, with wishes for nobody."""
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
    """Take names and tables of up to 64 KB, or that mean something to a log, a page or a terminal.

    Clients come in twos, and play where they are let in, so that the names are stored.
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

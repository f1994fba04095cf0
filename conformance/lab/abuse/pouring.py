"""Attacks at full speed: whatever a client may say, said as often as the server takes it.

Answers are read, so what is slow here is the server alone.
"""

import json
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from itertools import count

from conformance.dialects.frames import frame
from conformance.lab.abuse.ground import Attack, Attacker, Ground, drained

_KINDS = ("droidcon", "nac4", "arena")
_MANY = 50
"""Messages that are sent in one go."""


class Commands(Attack):
    """Messages that mean something, without end: names, moves and questions that are all refused."""

    name = "commands"
    what = "30 clients that send commands of their dialect as fast as the server takes them"
    clients = 30

    async def live(self, ground: Ground, number: int) -> None:
        name = f"{ground.token}c{number}"
        texts = {
            "droidcon": (f"NAME {name}", "PUT 3", f"JOIN @{name}nobody"),
            "nac4": (f"connect {name}", "playmove 3"),
            "arena": ('{"type":"state_request"}', '{"type":"move","move":3}', '{:type "move", :move 3}'),
        }
        await _pour(ground, number, lambda kind, turn: texts[kind][turn % len(texts[kind])].encode())


class Garbage(Attack):
    """Messages that mean nothing, without end."""

    name = "garbage"
    what = "30 clients that send random bytes as messages as fast as the server takes them"
    clients = 30

    async def live(self, ground: Ground, number: int) -> None:
        some = [ground.lot.randbytes(40).replace(b"\n", b"").replace(b"\r", b"") for _ in range(_MANY)]
        await _pour(ground, number, lambda _, turn: some[turn % _MANY])


class Maps(Attack):
    """Short maps of EDN that are all brackets, each of them another one: most work for a byte."""

    name = "maps"
    what = "12 clients that send short EDN maps, 64 in a packet, as fast as the server takes them"
    clients = 12

    async def live(self, ground: Ground, number: int) -> None:
        await _pour(ground, _KINDS.index("arena"), lambda _, turn: b"{:a%d [%b]}" % (turn, b"[]" * 24))


class Million(Attack):
    """Names, tables and wishes, each of them another one, by the million if the server takes them."""

    name = "million"
    what = "24 clients that take a new name, table and wish with each message, at full speed"
    clients = 24

    async def live(self, ground: Ground, number: int) -> None:
        def message(kind: str, turn: int) -> bytes:
            new = f"{ground.token}m{number}x{turn}"
            match kind:
                case "droidcon":
                    return (f"NAME {new}", f"JOIN {new}", f"JOIN @{new}")[turn % 3].encode()
                case "nac4":
                    return f"connect {new}".encode()
                case _:
                    place = {"table": new} if turn % 2 else {"against": new}
                    return json.dumps({"type": "start", "id": new, **place}).encode()

        await _pour(ground, number, message)


async def _pour(ground: Ground, number: int, message: Callable[[str, int], bytes]) -> None:
    """Send messages without end; `message` makes one for a dialect, by its number."""
    kind = _KINDS[number % len(_KINDS)]
    wrap = _line if kind == "droidcon" else frame
    async with _opened(ground, kind) as client, drained(client):
        for first in count(step=_MANY):
            await client.say(b"".join(wrap(message(kind, turn)) for turn in range(first, first + _MANY)))
            ground.counts["messages"] += _MANY - 1


def _opened(ground: Ground, kind: str) -> AbstractAsyncContextManager[Attacker]:
    return ground.connected(kind) if kind == "droidcon" else ground.websocket(kind)


def _line(text: bytes) -> bytes:
    return text + b"\n"

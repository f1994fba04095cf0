"""Attacks by players: wishes by the hundred, moves that are not theirs, games left at once."""

from collections.abc import AsyncIterator

import trio

from conformance.lab.attacks.ground import Attack, Client, Ground, HungUp, drained
from conformance.lab.bench.frames import frame

_STAY = 0.3
"""Seconds for which an impostor is there."""
_PUTS = (b"PUT 9\n", b"PUT x\n", b"PUT 3\nPUT 3\n", b"PUT 18446744073709551618\n", b"JOIN x\nPUT\n", b"")
_PLAYS = (b"playmove 9", b"playmove 3", b"playmove -1", b"genmove", b"connect me", b"")
_MOVES = (
    b'{"type":"move","move":9}',
    b'{"type":"move","move":3}',
    b'{"type":"move","move":1e400}',
    b'{"type":"state_request"}',
    b'{:type "move", :move 3N}',
    b"",
)
_NAMES = ("aima", "Random", "AIMA10", "TEST", "me")


class HouseHog(Attack):
    """Wishes for a house player that thinks long, and moves made at once."""

    name = "house"
    what = "200 wishes for @aima10, each of whose moves is answered at once"
    clients = 200
    more_ms = 4.0

    async def live(self, ground: Ground, number: int) -> None:
        async with ground.connected("droidcon") as client:
            await client.say(f"NAME {ground.token}hog{number}\nJOIN @aima10\n".encode())
            room = [6] * 7
            async for line in _lines(client):
                if line == b"NEW_GAME":
                    ground.counts["games"] += 1
                    room = [6] * 7
                elif line == b"YOUR_MOVE":
                    column = max(range(7), key=room.__getitem__)
                    room[column] -= 1
                    await client.say(b"PUT %d\n" % column)
                elif line.startswith(b"PUT "):
                    room[int(line[4:])] -= 1
                elif line.startswith(b"Error"):
                    ground.counts["refused"] += 1
                    await trio.sleep(1)
                    raise HungUp


class Impostors(Attack):
    """Pairs that play against every rule: out of turn, outside the board, as somebody else, not at all."""

    name = "impostors"
    what = "illegal moves, moves out of turn, house names, games left at the first move: 200 a second"
    clients = 60
    more_ms = 4.0

    async def live(self, ground: Ground, number: int) -> None:
        lives = (self._droidcon, self._nac4, self._arena)
        name, table = ground.lot.choice(_NAMES), f"{ground.token}i{number // 2}"
        await lives[number // 2 % 3](ground, name, table)

    async def _droidcon(self, ground: Ground, name: str, table: str) -> None:
        async with ground.connected("droidcon") as client, drained(client):
            await client.say(f"PUT 3\nNAME {name}\nJOIN {table}\n".encode())
            await trio.sleep(_STAY * ground.lot.random())
            await client.say(ground.lot.choice(_PUTS))
            await trio.sleep(_STAY * ground.lot.random())

    async def _nac4(self, ground: Ground, name: str, table: str) -> None:
        async with ground.websocket("nac4", f"/?table={table}") as client, drained(client):
            await client.say(frame(f"connect {name}{ground.lot.randint(0, 99)}\r\n".encode()))
            await trio.sleep(_STAY * ground.lot.random())
            for _ in range(3):
                await client.say(frame(ground.lot.choice(_PLAYS)))
            await trio.sleep(_STAY * ground.lot.random())

    async def _arena(self, ground: Ground, name: str, table: str) -> None:
        async with ground.websocket("arena", f"/?table={table}") as client, drained(client):
            for who in (name, f"x{name}"):
                await client.say(frame(b'{"type":"start","id":"%s"}' % who.encode()))
            await trio.sleep(_STAY * ground.lot.random())
            for _ in range(3):
                await client.say(frame(ground.lot.choice(_MOVES)))
            await trio.sleep(_STAY * ground.lot.random())


async def _lines(client: Client) -> AsyncIterator[bytes]:
    """Yield what is said, line by line. Raises HungUp."""
    rest = b""
    while True:
        *lines, rest = (rest + await client.heard()).split(b"\n")
        for line in lines:
            yield line

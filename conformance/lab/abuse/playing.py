"""Attacks by players: wishes by the hundred, moves that are not theirs, games left at once."""

import trio

from conformance.dialects.frames import frame
from conformance.lab.abuse.ground import Attack, Ground, drained
from conformance.lab.client import HungUp
from conformance.lab.house import HouseGames, Refusal

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
_GUESSING = 2.0
"""Seconds for which somebody who guesses waits for an answer."""
_NAMES = ("aima", "Random", "AIMA10", "TEST", "me")


class HouseHog(Attack):
    """Wishes for a house player that thinks long, and moves made at once."""

    name = "house"
    what = "200 wishes for @aima10, each of whose moves is answered at once"
    clients = 200

    async def live(self, ground: Ground, number: int) -> None:
        async with ground.connected("droidcon") as client:
            await client.say(f"NAME {ground.token}hog{number}\n".encode())
            try:
                await HouseGames(lambda: ground.counts.update(games=1)).play(client, "aima10")
            except Refusal:
                ground.counts["refused"] += 1
                await trio.sleep(1)
                raise HungUp from None


class Guesses(Attack):
    """Clients with the names of others, who guess their tokens."""

    name = "guesses"
    what = "tokens guessed, where names are protected: in first messages, names and URLs"
    clients = 30

    async def live(self, ground: Ground, number: int) -> None:
        name, token = f"late{ground.lot.randint(2, 9)}", ground.lot.randbytes(16).hex()
        start = frame(b'{"type":"start","id":"%b","token":"%b"}' % (name.encode(), token.encode()))
        match number % 3:
            case 0:
                async with ground.connected("droidcon") as client, drained(client):
                    await client.say(f"NAME {name} {token}\nNAME {name}\nJOIN {token}\n".encode())
                    await trio.sleep(_GUESSING)
            case 1:
                async with ground.websocket("nac4", f"/?token={token}") as client, drained(client):
                    await client.say(frame(f"connect {name}\r\n".encode()))
                    await client.say(frame(f"connect {name} {token}\r\n".encode()))
                    await trio.sleep(_GUESSING)
            case _:
                async with ground.websocket("arena", f"/?token={token}") as client, drained(client):
                    await client.say(start * 10)
                    await trio.sleep(_GUESSING)


class Impostors(Attack):
    """Pairs that play against every rule: out of turn, outside the board, as somebody else, not at all."""

    name = "impostors"
    what = "illegal moves, moves out of turn, house names, games left at the first move: 200 a second"
    clients = 48

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

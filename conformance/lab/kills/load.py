"""Pairs of clients that play without end, until the server is killed; then they read on to the end.

Knows sockets and whether the server is still meant to live. The rule it keeps: whatever has reached a
client's socket counts as told, also what it had not read yet when the server died.
"""

from collections.abc import Mapping, Sequence
from itertools import combinations_with_replacement

import trio

from conformance.frames import FrameError, Handshake
from conformance.lab.bench.script import OutOfStep
from conformance.lab.kills.games import Game, course
from conformance.lab.kills.players import PLAYERS, Droidcon, Player
from conformance.targets import Address

COUPLES: Sequence[tuple[type[Player], type[Player]]] = tuple(combinations_with_replacement(PLAYERS, 2))
"""Who meets whom: every dialect every other, and itself. Dealt round to the pairs."""
_CHUNK = 4096
_HEAD_END = b"\r\n\r\n"


class Load:
    """All clients of one run of the server."""

    def __init__(self, name: str, seed: str, addresses: Mapping[str, Address], enough: int = 1) -> None:
        """`name`, of letters and digits, is what all clients' names begin with; no other load has it."""
        self.players: list[Player] = []
        """All who have played, with what they were told."""
        self.games: dict[str, tuple[Game, ...]] = {}
        """What was to be played, by the name of the table; the two players have one more letter."""
        self.is_over = False
        """To be set before the server is killed: from here on connections may end."""
        self.told = trio.Event()
        """Set when `enough` results were told."""
        self._name = name
        self._seed = seed
        self._addresses = addresses
        self._enough = enough

    @property
    def results(self) -> int:
        """How many results were told until now."""
        return sum(len(player.results) for player in self.players)

    async def run(self, pairs: int) -> None:
        """Play until `is_over`, and on to the end of all connections. Raises OutOfStep, wrapped."""
        async with trio.open_nursery() as nursery:
            for number in range(pairs):
                for side in (0, 1):
                    nursery.start_soon(self._sit, number, side)

    async def _sit(self, pair: int, side: int) -> None:
        """Play as one side of a pair, under other names and at another table for each course of games."""
        kinds, number = COUPLES[pair % len(COUPLES)], 0
        while not self.is_over:
            key = f"p{pair}g{number}"
            table = self._name + key
            games = course(f"{self._seed} {key}", is_left=Droidcon not in kinds)
            self.games[table] = games
            names = [table + letter for letter in "ab"]
            player = kinds[side](names[side], names[1 - side], table, games)
            self.players.append(player)
            await self._play(player)
            number += 1

    async def _play(self, player: Player) -> None:
        """Play a course of games, or as much of it as the server lives to see."""
        try:
            await self._converse(player, self._addresses[player.dialect])
        except trio.BrokenResourceError as error:
            if not self.is_over:
                raise OutOfStep(f"{player} was hung up on: {error}") from None
        except (OSError, FrameError) as error:
            if not self.is_over:
                raise OutOfStep(f"{player} cannot connect: {error}") from None

    async def _converse(self, player: Player, address: Address) -> None:
        """Say and hear what there is.

        Raises OSError, FrameError, OutOfStep, or BrokenResourceError at an end.
        """
        async with await trio.open_tcp_stream(address.host, address.port) as stream:
            rest = await _shaken(stream, address, player.resource)
            answer = player.opening
            while not player.has_all:
                await _say(stream, answer, is_leaving=player.is_leaving)
                rest += (data := await _heard(stream))
                if not data:
                    if player.is_leaving:
                        return
                    raise trio.BrokenResourceError("the end of the stream")
                cut = player.cut(rest)
                rest = cut.rest
                answer = b"".join([cut.answer, *map(player.hear, cut.messages)])
                self._note()

    def _note(self) -> None:
        """Look whether enough results were told, as long as they were not."""
        if not self.told.is_set() and self.results >= self._enough:
            self.told.set()


async def _say(stream: trio.SocketStream, data: bytes, *, is_leaving: bool) -> None:
    """Send, as far as anybody takes it: whether the server is there still is seen when reading."""
    try:
        if data:
            await stream.send_all(data)
        if is_leaving:
            await stream.send_eof()
    except trio.BrokenResourceError:
        pass


async def _heard(stream: trio.SocketStream) -> bytes:
    """Return what comes; nothing at the end. A reset comes behind what was received before it."""
    try:
        return await stream.receive_some(_CHUNK)
    except trio.BrokenResourceError:
        return b""


async def _shaken(stream: trio.SocketStream, address: Address, resource: str | None) -> bytes:
    """Shake hands, where there are to be any; return what came behind."""
    if resource is None:
        return b""
    handshake = Handshake(address.authority, address.resource(resource))
    await _say(stream, handshake.request, is_leaving=False)
    head = b""
    while _HEAD_END not in head:
        if not (data := await _heard(stream)):
            raise trio.BrokenResourceError("the end of the stream within the handshake")
        head += data
    head, _, rest = head.partition(_HEAD_END)
    handshake.accept(head)
    return rest

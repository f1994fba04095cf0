"""Pairs of clients that play without end, until the server is killed; then they read on to the end.

A client knows what comes next, and whatever else a server says raises OutOfStep: so a result that was noted
is the one that was to be told. The rule the load keeps: whatever has reached a client's socket counts as
told, also what the client had not read yet when the server died.
"""

import ssl
from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import combinations_with_replacement

import trio

from conformance.dialects.script import Closed, Cut, Game, OutOfStep, Phase, Step, Wish
from conformance.lab.bots import PLAIN, script_of, shown
from conformance.lab.client import Client, HungUp, connected
from conformance.lab.kills.games import Result, course
from conformance.targets import Address

COUPLES: Sequence[tuple[str, str]] = tuple(combinations_with_replacement(sorted(PLAIN), 2))
"""The dialects of the pairs: every dialect meets every other, and itself. Dealt round to the pairs."""
_SERIES_END = {dialect for dialect, kind in PLAIN.items() if script_of(kind).may_hang_up}
"""Dialects in which a server ends a course by hanging up; in the others somebody has to leave."""


class Player:
    """One client that plays a course of games and notes the results that it is told. Bytes in, bytes out."""

    def __init__(self, dialect: str, wish: Wish, partner: str, games: Sequence[Game]) -> None:
        self.dialect = dialect
        self.wish = wish
        self.results: list[Result] = []
        """What it was told, one for each game."""
        self.is_leaving = False
        """Whether it is time to leave, as the game that is on demands."""
        self._partner = partner
        self._games = games
        self._script = script_of(PLAIN[dialect], games[0])
        self._place = self._script.start

    def __str__(self) -> str:
        return f"{self.dialect} player {self.wish.name}"

    @property
    def has_all(self) -> bool:
        """Whether it was told of the last game. Nothing comes after that."""
        return len(self.results) == len(self._games)

    @property
    def is_playing(self) -> bool:
        """Whether it was told of a game, and not of its result."""
        return self._place.phase is Phase.PLAYING

    @property
    def is_hurt(self) -> bool:
        """Whether it was told of a game, and not of its result, and did not leave it."""
        return self.is_playing and not self.is_leaving

    @property
    def resource(self) -> str | None:
        """The path that a websocket asks for; None for plain TCP."""
        return self._script.resource(self.wish)

    @property
    def opening(self) -> bytes:
        """The first bytes to send."""
        return self._script.opening(self.wish)

    def cut(self, data: bytes) -> Cut:
        """Cut what was received into messages. Raises OutOfStep."""
        return self._script.cut(data)

    def hear(self, message: bytes) -> bytes:
        """Take in a message; return what is to be sent. Raises OutOfStep."""
        step = self._script.advance(self._place, message, self.wish.name)
        if step is None or not self._belongs(step):
            number = len(self.results) + 1
            raise OutOfStep(f"{self} was told {shown(message)} when it was {self._place}, game {number}")
        opens, self._place = self._place.opens, step.place
        self.is_leaving = self.is_leaving or step.leaves
        if step.outcome is not None:
            self._note(opens=bool(opens))
        return self.opening if step.again and not self.has_all else step.move

    def _belongs(self, step: Step) -> bool:
        return step.opponent in (None, self._partner) and not (step.begun and self.has_all)

    def _note(self, *, opens: bool) -> None:
        """Note the result of the game that was on; the next one is on from here."""
        names = (self.wish.name, self._partner)
        self.results.append(Result(*(names if opens else names[::-1]), self._script.game))
        if not self.has_all:
            self._script.game = self._games[len(self.results)]


class Load:
    """All clients of one run of the server."""

    pause = 0.0
    """Seconds that a client thinks before it says something."""

    def __init__(self, name: str, seed: str, addresses: Mapping[str, Address], enough: int = 1) -> None:
        """`name`, of letters and digits, is what all clients' names begin with; no other load has it."""
        self.players: list[Player] = []
        """All who have played, with what they were told."""
        self.games: dict[str, tuple[Game, ...]] = {}
        """The games to play, by the name of the table; the two players' names have one more letter."""
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

    async def tells(self, more: int) -> None:
        """Wait until so many more results are told."""
        self._enough, self.told = self.results + more, trio.Event()
        await self.told.wait()

    async def _sit(self, pair: int, side: int) -> None:
        """Play as one side of a pair, under other names and at another table for each course of games."""
        dialects, number = COUPLES[pair % len(COUPLES)], 0
        while not self.is_over:
            key = f"p{pair}g{number}"
            table = self._name + key
            games = course(f"{self._seed} {key}", is_left=not _SERIES_END & {*dialects})
            self.games[table] = games
            names = [table + letter for letter in "ab"]
            wish = Wish(names[side], table=table, token=self.token_of(names[side]))
            player = Player(dialects[side], wish, names[1 - side], games)
            self.players.append(player)
            await self.play(player)
            number += 1

    def token_of(self, name: str) -> str | None:
        """Return the token of a player's name, if it has one."""
        return None

    def tls_of(self, player: Player) -> ssl.SSLContext | None:
        """Return how a player's connection is encrypted, if it is."""
        return None

    async def play(self, player: Player) -> None:
        """Play a course of games, or as much of it as the server lives to see. Raises OutOfStep."""
        address = self._addresses[player.dialect]
        try:
            async with connected(address, tls=self.tls_of(player)) as client:
                await self._converse(player, address, client)
        except (HungUp, Closed) as error:
            if not (self.is_over or player.is_leaving):
                raise OutOfStep(f"{player}: {error}") from None

    async def _converse(self, player: Player, address: Address, client: Client) -> None:
        """Say and hear what there is. Raises HungUp or Closed at an end, OutOfStep."""
        resource, rest = player.resource, b""
        if resource is not None:
            rest = await client.shake(address.authority, address.resource(resource))
        answer = player.opening
        while not player.has_all:
            with suppress(HungUp):  # whether the server is there still is seen when reading
                if answer:
                    await trio.sleep(self.pause)
                    await client.say(answer)
                if player.is_leaving:
                    await client.leave()
            rest += await client.heard()
            cut = player.cut(rest)
            rest = cut.rest
            answer = b"".join([cut.answer, *map(player.hear, cut.messages)])
            self._note()
            player.cut(rest)  # a good-bye may have come with the last message

    def _note(self) -> None:
        """Look whether enough results were told, as long as they were not."""
        if not self.told.is_set() and self.results >= self._enough:
            self.told.set()

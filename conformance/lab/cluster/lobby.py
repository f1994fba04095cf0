"""One lobby of all dialects on several nodes: who met whom, and whether all agree on how that went.

A player notes what it is told; whatever else a server says raises OutOfStep. Once there were enough games
everybody falls silent, so that no more of them end. The database says who played whom. Does not know how
players are paired.
"""

import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from itertools import product
from typing import TypeAlias

import trio

from conformance.dialects.script import DRAWN, SHORT, Game, Outcome, OutOfStep, Phase, Wish
from conformance.lab.bots import PLAIN, script_of, shown
from conformance.lab.client import Client, HungUp, connected
from conformance.lab.cluster.nodes import together
from conformance.lab.jobs import LoadError
from conformance.lab.kills.database import stored_in
from conformance.lab.kills.games import Result
from conformance.launch import COMMAND
from conformance.targets import Address

GAMES: Sequence[Game] = (SHORT, Game("03031303", 2, "four"), DRAWN)
"""One for each time that a lobby fills: won by the first mover, won by the second, and drawn."""
OPTIONS = ("--rounds", "2", "--games-per-pair", "0", "--house-after", "1000000")
"""Short series, without end, and no house players among those who meet."""
NODES = "abc"
EACH = 2
"""Players of a dialect on a node."""
QUIET = 1.0
"""Seconds in which nobody is told anything, once all have stopped, after which there is nothing to come."""
LIMIT = 60.0
"""Seconds in which everybody has to have played enough."""
_OUTCOMES = {
    0: (Outcome.DRAWN, Outcome.DRAWN),
    1: (Outcome.WON, Outcome.LOST),
    2: (Outcome.LOST, Outcome.WON),
}
"""By the winner, how a game ended for its first mover and for the other."""


Place: TypeAlias = tuple[str, int]
"""A dialect, and the number of a node."""
Meeting: TypeAlias = tuple[Place, Place]


@dataclass(frozen=True, slots=True)
class Told:
    """What a player was told of a game that is over."""

    name: str
    opens: bool
    outcome: Outcome
    opponent: str | None
    """None where its dialect does not tell."""


class Visitor:
    """A player that meets anyone, over and over, and always plays the same game."""

    def __init__(self, place: Place, name: str, game: Game, enough: int) -> None:
        self.place = place
        self.wish = Wish(name)
        self.told: list[Told] = []
        self.has_enough = trio.Event()
        """Set when it was told of so many results as were wanted."""
        self.is_over = False
        """To be set when there were enough games: it says nothing any more."""
        self._client: Client | None = None
        self._leaves = False
        self.game = game
        self._enough = enough
        self._begin()

    def __str__(self) -> str:
        return f"{self.place[0]} player {self.wish.name}"

    def _begin(self) -> None:
        self._script = script_of(PLAIN[self.place[0]], self.game)
        self._at = self._script.start
        self._opponent: str | None = None

    async def play(self, address: Address) -> None:
        """Play until `leave`, and then until the server has noticed. Raises OutOfStep."""
        while not self.is_over:
            try:
                async with connected(address) as self._client:
                    if self._leaves:
                        return
                    await self._converse(self._client, address)
            except HungUp as error:
                if self._leaves:
                    return
                if not (self._script.may_hang_up and self._at.phase is Phase.WAITING and self.told):
                    raise OutOfStep(f"{self} was hung up on when it was {self._at}: {error}") from None
                self._begin()

    async def leave(self) -> None:
        """Leave the lobby, whatever is told meanwhile."""
        self._leaves = True
        if self._client is not None:
            with suppress(HungUp):
                await self._client.leave()

    async def _converse(self, client: Client, address: Address) -> None:
        resource, rest = self._script.resource(self.wish), b""
        if resource is not None:
            rest = await client.shake(address.authority, address.resource(resource))
        answer = self._script.opening(self.wish)
        while True:
            if answer:
                await client.say(answer)
            rest += await client.heard()
            cut = self._script.cut(rest)
            rest = cut.rest
            answer = b"".join([cut.answer, *map(self._hear, cut.messages)])

    def _hear(self, message: bytes) -> bytes:
        if self._leaves:
            return b""
        step = self._script.advance(self._at, message, self.wish.name)
        if step is None:
            raise OutOfStep(f"{self} was told {shown(message)} when it was {self._at}")
        opens = self._at.opens
        self._at = step.place
        if step.outcome is not None:
            self.told.append(Told(self.wish.name, bool(opens), step.outcome, self._opponent))
            if len(self.told) == self._enough:
                self.has_enough.set()
        if step.opponent is not None:
            self._opponent = step.opponent
        if self.is_over:
            return b""
        return self._script.opening(self.wish) if step.again else step.move


def visitors(token: str, game: Game, enough: int) -> list[Visitor]:
    """Return players of all dialects for all nodes, whose names begin with `token`."""
    places = list(product(PLAIN, range(len(NODES)))) * EACH
    return [Visitor(place, f"{token}p{number}", game, enough) for number, place in enumerate(places)]


@asynccontextmanager
async def played(players: Sequence[Visitor], nodes: Sequence[Mapping[str, Address]]) -> AsyncIterator[None]:
    """Let everybody play until it was told of enough results; all are still there in the block, silent.

    Behind the block the servers know that all have left, so none of them meets anybody who comes then.
    Raises LoadError if they do not come about, OutOfStep where a server says what does not belong; wrapped.
    """
    async with trio.open_nursery() as nursery:
        for player in players:
            dialect, node = player.place
            nursery.start_soon(player.play, nodes[node][dialect])
        with trio.move_on_after(LIMIT) as scope:
            for player in players:
                await player.has_enough.wait()
        if scope.cancelled_caught:
            poorest = min(players, key=lambda player: len(player.told))
            raise LoadError(f"{poorest} was told of {len(poorest.told)} games within {LIMIT:g} s")
        await _silence(players)
        yield
        for player in players:
            await player.leave()
        nursery.cancel_scope.deadline = trio.current_time() + LIMIT
    if nursery.cancel_scope.cancelled_caught:
        raise LoadError(f"not all who left were hung up on within {LIMIT:g} s")


async def _silence(players: Sequence[Visitor]) -> None:
    """Let nobody say anything any more, and wait until nobody is told of results any more."""
    for player in players:
        player.is_over = True
    before, told = -1, 0
    while before < told:
        before = told
        await trio.sleep(QUIET)
        told = sum(len(player.told) for player in players)


@dataclass(frozen=True, slots=True)
class Agreement:
    """What the players of one or more lobbies were told, beside what is stored."""

    games: int = 0
    differences: Sequence[str] = ()
    """What a player was told and the database does not say, or says and the player was not told."""
    met: frozenset[Meeting] = frozenset()
    """Who met, the first mover first."""

    def __add__(self, other: "Agreement") -> "Agreement":
        differences = [*self.differences, *other.differences]
        return Agreement(self.games + other.games, differences, self.met | other.met)

    def unmet(self, part: int) -> int:
        """Return how many ordered pairs have not met: of dialects (0), or of nodes (1)."""
        met = {(one[part], other[part]) for one, other in self.met}
        return (len(PLAIN), len(NODES))[part] ** 2 - len(met)


def agreement(players: Sequence[Visitor], stored: Sequence[Result]) -> Agreement:
    """Compare. `stored` has all games of these players."""
    found = {player.wish.name: player for player in players}
    told = Counter(each for player in players for each in player.told)
    kept = Counter(each for result in stored for each in _told_of(result, found))
    return Agreement(
        games=len(stored),
        differences=[
            *(f"told, not stored: {each}" for each in (told - kept).elements()),
            *(f"stored, not told: {each}" for each in (kept - told).elements()),
            *(f"never played: {each}" for each in stored if each.game != found[each.first].game),
        ],
        met=frozenset((found[each.first].place, found[each.second].place) for each in stored),
    )


def _told_of(result: Result, players: Mapping[str, Visitor]) -> Iterator[Told]:
    """Yield what both were to be told of a game."""
    names = result.first, result.second
    for side, outcome in enumerate(_OUTCOMES[result.game.winner]):
        hears = any(each.opponent for each in players[names[side]].told)
        yield Told(names[side], side == 0, outcome, names[1 - side] if hears else None)


async def meetings(where: str, enough: int, command: Sequence[str] = COMMAND) -> Agreement:
    """Let a lobby fill on all nodes for each of the games; everybody is told of `enough` results, or more.

    `where` is the URL of a database that nodes can share. Raises LoadError, ServerError, OutOfStep, wrapped.
    """
    token, found = f"m{time.time_ns() % 10**9}", Agreement()
    async with together(NODES, [*OPTIONS, "--db", where], command) as cluster:
        addresses = [node.addresses for node in cluster.nodes]
        for letter, game in zip("xyz", GAMES, strict=True):
            players = visitors(token + letter, game, enough)
            async with played(players, addresses):
                found += agreement(players, await stored_in(where, token + letter))
    return found

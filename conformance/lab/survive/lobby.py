"""`survive lobby`: do players of all dialects meet in one lobby of three nodes, and agree on what was?

A player notes what it is told; whatever else a server says raises OutOfStep. Once there were enough games
everybody falls silent, so that no more of them end. The database says who played whom.
"""

from collections import Counter
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from itertools import product
from time import time_ns

import trio

from conformance.arguments import Parser
from conformance.dialects.script import DRAWN, SHORT, Game, Outcome, OutOfStep, Phase, Wish
from conformance.lab.bots import PLAIN, script_of, shown
from conformance.lab.client import Client, HungUp, Scripted, connected, converse
from conformance.lab.report import counted, finish, some
from conformance.lab.servers import cluster, postgres, until
from conformance.lab.survive.players import Result
from conformance.lab.survive.verdict import stored_in
from conformance.lab.workers import LoadError
from conformance.launch import COMMAND
from conformance.targets import Address

TEXT = "do players of all dialects meet in one lobby of three nodes, and agree with the database?"
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

Origin = tuple[str, int]
"""A dialect, and the number of a node."""


@dataclass(frozen=True, slots=True)
class Told:
    """What a player was told of a game that is over."""

    name: str
    opens: bool
    outcome: Outcome
    opponent: str | None
    """None where its dialect does not tell."""


class Visitor(Scripted):
    """A player that meets anyone, over and over, and always plays the same game."""

    def __init__(self, origin: Origin, name: str, game: Game) -> None:
        super().__init__(script_of(PLAIN[origin[0]], game), Wish(name))
        self.origin = origin
        self.game = game
        self.told: list[Told] = []
        self.is_silent = False
        """To be set when there were enough games: it says nothing any more."""
        self._opponent: str | None = None
        self._client: Client | None = None

    def __str__(self) -> str:
        return f"{self.origin[0]} player {self.wish.name}"

    async def play(self, address: Address) -> None:
        """Play until `leave`, and then until the server has noticed. Raises OutOfStep."""
        while not self.is_silent:
            try:
                async with connected(address) as self._client:
                    if self.is_leaving:
                        return
                    async for _ in converse(self._client, self, address):
                        pass
            except HungUp as error:
                if self.is_leaving:
                    return
                if not (self._script.may_hang_up and self._place.phase is Phase.WAITING and self.told):
                    raise OutOfStep(f"{self} was hung up on when it was {self._place}: {error}") from None
                self._place, self._opponent = self._script.start, None

    async def leave(self) -> None:
        """Leave the lobby, whatever is told meanwhile."""
        self.is_leaving = True
        if self._client is not None:
            with suppress(HungUp):
                await self._client.leave()

    def hear(self, message: bytes) -> bytes:
        if self.is_leaving:
            return b""
        step = self._script.advance(self._place, message, self.wish.name)
        if step is None:
            raise OutOfStep(f"{self} was told {shown(message)} when it was {self._place}")
        opens, self._place = self._place.opens, step.place
        if step.outcome is not None:
            self.told.append(Told(self.wish.name, bool(opens), step.outcome, self._opponent))
        if step.opponent is not None:
            self._opponent = step.opponent
        if self.is_silent:
            return b""
        return self.opening if step.again else step.move


@asynccontextmanager
async def played(
    players: Sequence[Visitor], nodes: Sequence[Mapping[str, Address]], enough: int
) -> AsyncIterator[None]:
    """Let everybody play until it was told of `enough` results; all are still there in the block, silent.

    Behind the block the servers know that all have left, so none of them meets anybody who comes then.
    Raises LoadError if they do not come about, OutOfStep where a server says what does not belong; wrapped.
    """
    async with trio.open_nursery() as nursery:
        for player in players:
            dialect, node = player.origin
            nursery.start_soon(player.play, nodes[node][dialect])
        if not await until(lambda: all(len(player.told) >= enough for player in players), LIMIT):
            poorest = min(players, key=lambda player: len(player.told))
            raise LoadError(f"{poorest} was told of {len(poorest.told)} games within {LIMIT:g} s")
        for player in players:
            player.is_silent = True
        before, told = -1, 0
        while before < told:
            before = told
            await trio.sleep(QUIET)
            told = sum(len(player.told) for player in players)
        yield
        for player in players:
            await player.leave()
        nursery.cancel_scope.deadline = trio.current_time() + LIMIT
    if nursery.cancel_scope.cancelled_caught:
        raise LoadError(f"not all who left were hung up on within {LIMIT:g} s")


@dataclass(frozen=True, slots=True)
class Agreement:
    """What the players of one or more lobbies were told, beside what is stored."""

    games: int = 0
    differences: Sequence[str] = ()
    """What a player was told and the database does not say, or says and the player was not told."""
    met: frozenset[tuple[Origin, Origin]] = frozenset()
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
    by_name = {player.wish.name: player for player in players}
    told = Counter(each for player in players for each in player.told)
    kept = Counter(each for result in stored for each in _told_of(result, by_name))
    return Agreement(
        games=len(stored),
        differences=[
            *(f"told, not stored: {each}" for each in (told - kept).elements()),
            *(f"stored, not told: {each}" for each in (kept - told).elements()),
            *(f"never played: {each}" for each in stored if each.game != by_name[each.first].game),
        ],
        met=frozenset((by_name[each.first].origin, by_name[each.second].origin) for each in stored),
    )


def _told_of(result: Result, players: Mapping[str, Visitor]) -> Iterator[Told]:
    """Yield what both were to be told of a game."""
    names = result.first, result.second
    for side, outcome in enumerate(_OUTCOMES[result.game.winner]):
        hears = any(each.opponent for each in players[names[side]].told)
        yield Told(names[side], side == 0, outcome, names[1 - side] if hears else None)


async def meetings(place: str, enough: int, command: Sequence[str] = COMMAND) -> Agreement:
    """Let a lobby fill on all nodes for each of the games; everybody is told of `enough` results, or more.

    `place` is the URL of a database that nodes can share. Raises LoadError, ServerError, OutOfStep, wrapped.
    """
    token, found = f"m{time_ns() % 10**9}", Agreement()
    async with cluster(NODES, [*OPTIONS, "--db", place], command) as nodes:
        addresses = [node.addresses for node in nodes.nodes]
        for letter, game in zip("xyz", GAMES, strict=True):
            origins = list(product(PLAIN, range(len(NODES)))) * EACH
            names = (f"{token}{letter}p{number}" for number in range(len(origins)))
            players = [Visitor(origin, name, game) for origin, name in zip(origins, names, strict=False)]
            async with played(players, addresses, enough):
                found += agreement(players, await stored_in(place, token + letter))
    return found


async def _meetings(enough: int) -> Agreement:
    async with postgres() as database:
        return await meetings(database.url, enough)


def main(parser: Parser, argv: Sequence[str]) -> int:
    """Run the command line; returns the exit status."""
    parser.count("--each", 24, "games that everybody plays at least, three times")
    parser.report()
    options = parser.parse_args(argv)
    found = trio.run(_meetings, options.each)
    rows = [
        counted("lobby", "games", found.games),
        counted("lobby", "told otherwise than stored", len(found.differences), 0),
        counted("lobby", "ordered pairs of dialects that did not meet", found.unmet(0), 0),
        counted("lobby", "ordered pairs of nodes that did not meet", found.unmet(1), 0),
    ]
    return finish("survive lobby", rows, options, some("lobby", found.differences))

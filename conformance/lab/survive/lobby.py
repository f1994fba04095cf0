"""Players of all dialects meet in the lobby of three nodes, and play the same game over and over.

There are two players of each dialect on each node, plug-ins included, and they accept any opponent. A player
whose dialect has one game on a connection connects again. Each player records the results that it receives.
Any message out of place ends the run. After enough games all players stop sending, so that no more games end.
The results that they received are then compared with the database, which also shows who played whom. Any two
dialects have to meet with the first move of either, unless the other one always has it.
"""

import socket
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import product
from time import time_ns

import trio

from conformance.arguments import Parser
from conformance.dialects import DIALECTS, dialects
from conformance.dialects.script import DRAWN, SHORT, Game, Outcome, Place, Wish
from conformance.lab.bots import Bot, BotLoop, Reading, Readings
from conformance.lab.load import Addresses
from conformance.lab.report import Row, counted, finish, some
from conformance.lab.servers import cluster, postgres
from conformance.lab.survive.players import Result
from conformance.lab.survive.verdict import stored_in
from conformance.lab.workers import received, reply, worker
from conformance.launch import COMMAND
from conformance.targets import Address

TEXT = "do players of all dialects meet in the lobby of three nodes, and do they receive what is stored?"
GAMES: Sequence[Game] = (SHORT, Game("03031303", 2, "four"), DRAWN)
"""The game of each of the three lobbies: won by the first mover, won by the second, and drawn."""
OPTIONS = ("--rounds", "2", "--games-per-pair", "0", "--connects-per-second", "0", "--house", "none")
"""Options for any number of short series and of connections, and for no house players."""
NODES = "abc"
EACH = 2
"""The number of players of each dialect on each node."""
QUIET = 1.0
"""After all players have stopped sending, the laboratory waits until no result has come for this many
seconds."""
LIMIT = 60.0
"""Seconds within which at least one of the players must receive something."""
_OUTCOMES = {
    0: (Outcome.DRAWN, Outcome.DRAWN),
    1: (Outcome.WON, Outcome.LOST),
    2: (Outcome.LOST, Outcome.WON),
}
"""For each winner, the outcomes of a game for its first mover and for the other player."""

Origin = tuple[str, int]
"""A dialect, and the number of a node."""


@dataclass(frozen=True, slots=True)
class Told:
    """A result that a player received."""

    name: str
    opens: bool
    outcome: Outcome
    opponent: str | None
    """The opponent's name; None if the dialect does not give it."""


@dataclass(frozen=True, slots=True)
class Visit:
    """All results that a player received."""

    origin: Origin
    told: Sequence[Told]


@dataclass(frozen=True, slots=True)
class Agreement:
    """The comparison of the results that players of one or more lobbies received with the stored games."""

    games: int = 0
    differences: Sequence[str] = ()
    """Results that a player received and the database does not have, or the reverse."""
    met: Counter[tuple[Origin, Origin]] = field(default_factory=Counter)
    """How many games players of these origins had. The first mover's origin comes first."""

    def __add__(self, other: "Agreement") -> "Agreement":
        differences = [*self.differences, *other.differences]
        return Agreement(self.games + other.games, differences, self.met + other.met)

    def by_dialect(self) -> Counter[tuple[str, str]]:
        """Return how many games each ordered pair of dialects had, 0 if it is possible and has not met."""
        found = Counter(dict.fromkeys(possible_pairs(), 0))
        for (one, other), games in self.met.items():
            found[one[0], other[0]] += games
        return found

    def unmet_nodes(self) -> int:
        """Return how many ordered pairs of nodes have not met."""
        return len(NODES) ** 2 - len({(one[1], other[1]) for one, other in self.met})


def possible_pairs() -> list[tuple[str, str]]:
    """Return all ordered pairs of dialects of which the first can move first, plug-ins included."""
    found = {name: dialect for name, dialect in dialects().items() if dialect.bots}
    return [(one, other) for one, other in product(found, found) if not found[other].always_opens]


def agreement(visits: Mapping[str, Visit], stored: Sequence[Result], game: Game) -> Agreement:
    """Compare the results that players received, by name, with the stored games, which must equal `game`."""
    told = Counter(each for visit in visits.values() for each in visit.told)
    kept = Counter(each for result in stored for each in _told_of(result, visits))
    return Agreement(
        games=len(stored),
        differences=[
            *(f"told, not stored: {each}" for each in (told - kept).elements()),
            *(f"stored, not told: {each}" for each in (kept - told).elements()),
            *(f"never played: {each}" for each in stored if each.game != game),
        ],
        met=Counter((visits[each.first].origin, visits[each.second].origin) for each in stored),
    )


def _told_of(result: Result, visits: Mapping[str, Visit]) -> Iterator[Told]:
    """Yield the results that both players of a stored game should have received."""
    names = result.first, result.second
    for side, outcome in enumerate(_OUTCOMES[result.game.winner]):
        hears = any(each.opponent for each in visits[names[side]].told)
        yield Told(names[side], side == 0, outcome, names[1 - side] if hears else None)


async def meetings(place: str, enough: int, command: Sequence[str] = COMMAND) -> Agreement:
    """Play in a lobby on all nodes, once for each of `GAMES`, until each player has `enough` results.

    `place`: the URL of a database that nodes can share. Raises LoadError or ServerError, which may be in an
    ExceptionGroup.
    """
    token, found = f"m{time_ns() % 10**9}", Agreement()
    plugins = [word for name in dialects().keys() - DIALECTS for word in dialects()[name].port]
    async with cluster(NODES, [*OPTIONS, *plugins, "--db", place], command) as nodes:
        addresses = [node.addresses for node in nodes.nodes]
        for letter, game in zip("xyz", GAMES, strict=True):
            async with worker(visit, addresses, token + letter, game, enough) as players:
                visits = await players.receive()
                found += agreement(visits, await stored_in(place, token + letter), game)
                await players.finish()
    return found


async def _meetings(enough: int) -> Agreement:
    async with postgres() as database:
        return await meetings(database.url, enough)


def main(parser: Parser, argv: Sequence[str]) -> int:
    """Run the command line; return the exit status."""
    parser.count("--each", 24, "games that each player plays at least, three times")
    parser.report()
    options = parser.parse_args(argv)
    found = trio.run(_meetings, options.each)
    pairs = found.by_dialect()
    unmet = [f"{one} first, {other}" for (one, other), games in pairs.items() if not games]
    rows = [
        counted("lobby", "games", found.games),
        counted("lobby", "told otherwise than stored", len(found.differences), 0),
        counted("lobby", "ordered pairs of dialects that met", len(pairs) - len(unmet)),
        counted("lobby", "ordered pairs of dialects that did not meet", len(unmet), 0),
        counted("lobby", "ordered pairs of nodes that did not meet", found.unmet_nodes(), 0),
    ]
    table = [Row(f"{one} first", other, games, form=".0f") for (one, other), games in sorted(pairs.items())]
    notes = some("lobby", found.differences) + some("did not meet", unmet)
    return finish("survive lobby", rows, options, notes, wide=table)


# In the process of players.


class Lobby(BotLoop["Visitor"]):
    """The loop of all players."""

    is_silent = False
    """Set this after enough games. After that no player sends anything."""


class Visitor(Bot):
    """A player that accepts any opponent, and plays the same game over and over."""

    def __init__(self, readings: Readings, name: str, address: Address, lobby: Lobby, origin: Origin) -> None:
        super().__init__(readings, Wish(name), address)
        self.origin = origin
        self.told: list[Told] = []
        self._lobby = lobby
        self._opponent: str | None = None
        self._is_leaving = False

    def take(self, reading: Reading, before: Place) -> None:
        if reading.outcome is not None:
            self.has_played = True
            self.told.append(Told(self.wish.name, bool(before.opens), reading.outcome, self._opponent))
        self._opponent = reading.opponent or self._opponent
        if reading.move and not self._lobby.is_silent:
            self.say(reading.move)
        elif reading.again and not self._lobby.is_silent:
            self.say(self.readings.script.asking(self.wish))

    def come_back(self) -> None:
        self._lobby.remove(self)
        if not self._lobby.is_silent:
            self._opponent = None
            self._lobby.add(self)

    def leave(self) -> None:
        """End the sending side, and ignore everything that arrives until the server hangs up."""
        self._is_leaving = True
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_WR)

    def ready(self) -> None:
        if not self._is_leaving:
            super().ready()
            return
        try:
            is_over = not self._socket.recv(4096)
        except BlockingIOError:
            return
        except OSError:  # a reset
            is_over = True
        if is_over:
            self._lobby.remove(self)


def visit(nodes: Sequence[Addresses], token: str, game: Game, enough: int) -> None:
    """Play until each player has received `enough` results; reply with all results, by name.

    Then all players stay connected without sending, until stdin ends. Finally they leave, and wait until the
    servers have closed all connections.
    """
    lobby = Lobby()
    kinds = {name: next(iter(dialect.bots.items())) for name, dialect in dialects().items() if dialect.bots}
    readings = {name: Readings(kind, make(game)) for name, (kind, make) in kinds.items()}
    players = [
        Visitor(readings[dialect], f"{token}p{number}", nodes[node][dialect], lobby, (dialect, node))
        for number, (dialect, node) in enumerate([*product(readings, range(len(nodes)))] * EACH)
    ]
    for player in players:
        lobby.add(player)
    lobby.run(lambda: all(len(player.told) >= enough for player in players), LIMIT)
    lobby.is_silent = True
    before, told = -1, 0
    while before < told:
        before = told
        lobby.run_for(QUIET)
        told = sum(len(player.told) for player in players)
    reply({player.wish.name: Visit(player.origin, player.told) for player in players})
    with suppress(EOFError):
        received()
    for player in players:
        player.leave()
    lobby.run(lambda: len(lobby) == 0, LIMIT)

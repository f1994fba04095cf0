"""Two players of each dialect on each of three nodes take anyone, and always play the same known game.

Each player records the results that it receives; any message that does not belong there ends the run. Once
there were enough games all players fall silent, so that no more games end. What they received is then
compared with the database, which says who played whom.
"""

import socket
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import product
from time import time_ns

import trio

from conformance.arguments import Parser
from conformance.dialects.script import DRAWN, SHORT, Game, Outcome, Place, Wish
from conformance.lab.bots import PLAIN, Bot, BotLoop, Reading, Readings, readings_of
from conformance.lab.load import Addresses
from conformance.lab.report import counted, finish, some
from conformance.lab.servers import cluster, postgres
from conformance.lab.survive.players import Result
from conformance.lab.survive.verdict import stored_in
from conformance.lab.workers import received, reply, worker
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
"""Seconds without a result, once all players are silent, after which there is nothing to come."""
LIMIT = 60.0
"""Seconds in which something has to come to one of the players."""
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
    """The result of a game that a player received."""

    name: str
    opens: bool
    outcome: Outcome
    opponent: str | None
    """None where its dialect does not name the opponent."""


@dataclass(frozen=True, slots=True)
class Visit:
    """What a player received in all."""

    origin: Origin
    told: Sequence[Told]


@dataclass(frozen=True, slots=True)
class Agreement:
    """What the players of one or more lobbies received, beside what is stored."""

    games: int = 0
    differences: Sequence[str] = ()
    """What a player received and the database does not say, or the other way round."""
    met: frozenset[tuple[Origin, Origin]] = frozenset()
    """Who met, the first mover first."""

    def __add__(self, other: "Agreement") -> "Agreement":
        differences = [*self.differences, *other.differences]
        return Agreement(self.games + other.games, differences, self.met | other.met)

    def unmet(self, part: int) -> int:
        """Return how many ordered pairs have not met: of dialects (0), or of nodes (1)."""
        met = {(one[part], other[part]) for one, other in self.met}
        return (len(PLAIN), len(NODES))[part] ** 2 - len(met)


def agreement(visits: Mapping[str, Visit], stored: Sequence[Result], game: Game) -> Agreement:
    """Compare what players received, by name, with all games of theirs that are stored, each like `game`."""
    told = Counter(each for visit in visits.values() for each in visit.told)
    kept = Counter(each for result in stored for each in _told_of(result, visits))
    return Agreement(
        games=len(stored),
        differences=[
            *(f"told, not stored: {each}" for each in (told - kept).elements()),
            *(f"stored, not told: {each}" for each in (kept - told).elements()),
            *(f"never played: {each}" for each in stored if each.game != game),
        ],
        met=frozenset((visits[each.first].origin, visits[each.second].origin) for each in stored),
    )


def _told_of(result: Result, visits: Mapping[str, Visit]) -> Iterator[Told]:
    """Yield what both players of a stored game should have received."""
    names = result.first, result.second
    for side, outcome in enumerate(_OUTCOMES[result.game.winner]):
        hears = any(each.opponent for each in visits[names[side]].told)
        yield Told(names[side], side == 0, outcome, names[1 - side] if hears else None)


async def meetings(place: str, enough: int, command: Sequence[str] = COMMAND) -> Agreement:
    """Fill a lobby on all nodes for each of the games; all players receive `enough` results, or more.

    `place` is the URL of a database that nodes can share. Raises LoadError, ServerError, wrapped.
    """
    token, found = f"m{time_ns() % 10**9}", Agreement()
    async with cluster(NODES, [*OPTIONS, "--db", place], command) as nodes:
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
    rows = [
        counted("lobby", "games", found.games),
        counted("lobby", "told otherwise than stored", len(found.differences), 0),
        counted("lobby", "ordered pairs of dialects that did not meet", found.unmet(0), 0),
        counted("lobby", "ordered pairs of nodes that did not meet", found.unmet(1), 0),
    ]
    return finish("survive lobby", rows, options, some("lobby", found.differences))


# In the process of players.


class Lobby(BotLoop["Visitor"]):
    """All players."""

    is_silent = False
    """To be set when there were enough games: from then on no player sends anything."""


class Visitor(Bot):
    """A player that meets anyone, over and over, and always plays the same game."""

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
            self.say(self.readings.script.opening(self.wish))

    def come_back(self) -> None:
        self._lobby.remove(self)
        if not self._lobby.is_silent:
            self._opponent = None
            self._lobby.add(self)

    def leave(self) -> None:
        """Send no more. What comes from now on is ignored, until the server hangs up."""
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
    """Play until each player has received `enough` results, and reply what all have received, by name.

    Then all are there, silent, until no more orders come; at the end the servers know that all have left.
    """
    lobby, readings = Lobby(), readings_of(PLAIN, [game])
    players = [
        Visitor(readings[dialect], f"{token}p{number}", nodes[node][dialect], lobby, (dialect, node))
        for number, (dialect, node) in enumerate([*product(PLAIN, range(len(nodes)))] * EACH)
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

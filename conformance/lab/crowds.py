"""Crowds of fast bots that connect, wait and play short games, in a separate process.

There are three jobs. `come` measures how long it takes until all of many players are in a game. `wait`
measures the CPU time of a short game while other players wait. `last` measures the memory of a server after
given numbers of games.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, cycle, product
from time import perf_counter

from conformance.dialects.script import SHORT, Place, Wish
from conformance.lab import meters
from conformance.lab.bots import PLAIN, Bot, BotLoop, Reading, Readings, couple, readings_of, renamed_table
from conformance.lab.load import Addresses
from conformance.lab.meters import cpu_seconds
from conformance.lab.workers import run, say, settle_on
from conformance.launch import Server
from conformance.targets import Address

COMING = 60.0
"""Seconds within which at least one of the bots must receive something."""
SHORT_SERIES = ("--rounds", "100", "--games-per-pair", "0", "--clock", "1000000", "--idle", "1000000")
"""Options of a gateway with short series and no losses on time."""
PAIRS = 20
"""The number of pairs of each kind that play short games."""
NAMES = 50
"""The number of names that a player uses in turn, if its dialect makes it ask for each game."""
TABLE, ANYONE, WISH = "table", "anyone", "wish"
"""How a player gets its opponent: at a common table, in the lobby, or by name on another node."""
_WAVE = 200
"""Bots that connect at once: no more than the server's queue of unaccepted connections holds."""
_LONG = 86_400.0
_MOST_WARM_UP = 0.5


@dataclass(slots=True)
class Counts:
    """Counts of what all players together have received."""

    entered: int = 0
    begun: int = 0
    """Players that received the start of a game."""
    ended: int = 0
    """Players that received the end of a game."""


class FastBot(Bot):
    """A bot that answers every request at once, or never if `moves` is false.

    A bot that has to ask for each game uses the next of its names. A bot that the server hangs up on after a
    series connects again and joins another table. This exercises all data that a server keeps by name, by
    table and by connection.
    """

    def __init__(
        self, readings: Readings, wish: Wish, address: Address, counts: Counts, *, moves: bool = True
    ) -> None:
        super().__init__(readings, renamed(wish, 0) if moves else wish, address)
        self.first_wish = wish
        self.loop: BotLoop[FastBot] | None = None
        """The loop in which the bot reconnects after a series; None: a hang-up is an error."""
        self._counts = counts
        self._moves = moves
        self._games = 0

    def take(self, reading: Reading, before: Place) -> None:
        counts = self._counts
        counts.entered += reading.entered
        if reading.outcome is not None:
            counts.ended += 1
            self._games += 1
            self.has_played = True
        counts.begun += reading.begun
        if not self._moves:
            return
        if reading.move:
            self.say(reading.move)
        elif reading.again:
            self.wish = renamed(self.first_wish, self._games % NAMES)
            self.say(self.readings.script.asking(self.wish))

    def come_back(self) -> None:
        if self.loop is None:
            super().come_back()
            return
        self.wish = replace(self.wish, table=renamed_table(self.wish.table))
        self.loop.remove(self)
        self.loop.add(self)


def renamed(wish: Wish, number: int) -> Wish:
    """Return `wish` with a hyphen and `number` appended to the names of the player and of the opponent.

    A wish without an opponent's name is returned unchanged.
    """
    if wish.against is None:
        return wish
    return replace(wish, name=f"{wish.name}-{number}", against=f"{wish.against}-{number}")


@dataclass(frozen=True, slots=True)
class Site:
    """The server or servers that a crowd connects to."""

    addresses: Sequence[Addresses]
    pids: Sequence[int]
    cores: tuple[int, int] | None
    """One core for the servers, and one for the crowd; None: do not pin."""


def site(*servers: Server) -> Site:
    """Return the site of these servers. It uses two cores if the machine has two."""
    pids = [server.process.pid for server in servers]
    return Site([server.addresses for server in servers], pids, meters.two_cores())


async def fill(server: Server, games: int) -> None:
    """Play `games` short games to fill the server's database. Raises LoadError."""
    say(f"playing {games} games ...")
    await run(last, site(server), [games])


# In the process of bots.


class _Crowd:
    """Creates fast bots with common counts."""

    def __init__(self, site: Site) -> None:
        self.counts = Counts()
        self._servers = site.addresses
        self._readings = readings_of(PLAIN, [SHORT])

    def bot(self, dialect: str, wish: Wish, server: int = 0, *, moves: bool = True) -> FastBot:
        address = self._servers[server][dialect]
        return FastBot(self._readings[dialect], wish, address, self.counts, moves=moves)


def come(site: Site, pairs: int, whom: str) -> float:
    """Connect `pairs` pairs at once; return the seconds until all players are in a game.

    Players in the lobby or with a wish make no move, so that none of them is paired twice.
    """
    loop, crowd = BotLoop[FastBot](), _Crowd(site)
    settle_on(site.cores, *site.pids)
    players = list(_coming(crowd, len(site.addresses), pairs, whom))
    begun = perf_counter()
    for player in players:
        loop.add(player)
    loop.run(lambda: crowd.counts.begun >= len(players), COMING)
    seconds = perf_counter() - begun
    loop.close()
    return seconds


def _coming(crowd: _Crowd, servers: int, pairs: int, whom: str) -> Iterator[FastBot]:
    if whom == TABLE:
        for number, dialects in zip(range(pairs), cycle(product(PLAIN, PLAIN)), strict=False):
            for dialect, wish in zip(dialects, couple(f"c{number}", at_table=True), strict=True):
                yield crowd.bot(dialect, wish)
        return
    places = cycle(product(PLAIN, range(servers)))  # the two players of a pair are at different servers
    for number in range(pairs):
        for wish in couple(f"p{number}", at_table=False):
            dialect, server = next(places)
            if whom == WISH:
                yield crowd.bot("arena", wish, server, moves=False)
            else:
                yield crowd.bot(dialect, Wish(wish.name), server, moves=False)


def wait(site: Site, waiting: int, seconds: float) -> dict[str, float]:
    """Measure the server's CPU time while `waiting` players wait.

    Returns the CPU seconds of an idle second, of a game by wish and of a game in the lobby.
    """
    loop, crowd, pid = BotLoop[FastBot](), _Crowd(site), site.pids[0]
    settle_on(site.cores, pid)
    for at in range(waiting):
        loop.add(crowd.bot("droidcon", Wish(f"w{at}", against=f"absent{at}")))
        if at % _WAVE == 0 or at == waiting - 1:
            loop.run(_reaches(crowd.counts, at + 1), COMING)
    warm_up = min(_MOST_WARM_UP, seconds)
    loop.run_for(warm_up)
    before, begun = cpu_seconds(pid), perf_counter()
    loop.run_for(seconds)
    found = {"idle": (cpu_seconds(pid) - before) / (perf_counter() - begun)}
    for kind, playing in (("wish", _by_wish), ("lobby", _in_lobby)):
        crowd = _Crowd(site)
        players, counts = list(playing(crowd, PAIRS)), crowd.counts
        for bot in players:
            loop.add(bot)
        loop.run(lambda counts=counts, players=players: counts.ended >= len(players), COMING)  # type: ignore[misc]
        loop.run_for(warm_up)
        before, ended = cpu_seconds(pid), counts.ended
        loop.run_for(seconds)
        # On a busy machine a short time may pass without the end of a game.
        loop.run(lambda counts=counts, ended=ended: counts.ended >= ended + 2, COMING)  # type: ignore[misc]
        found[kind] = (cpu_seconds(pid) - before) / ((counts.ended - ended) / 2)
        loop.close(players)
    loop.close()
    return found


def _reaches(counts: Counts, number: int) -> Callable[[], bool]:
    return lambda: counts.entered >= number


def last(site: Site, points: Sequence[int]) -> list[tuple[int, float, int]]:
    """Play games; return games, seconds and server memory after each number of games in `points`."""
    loop, crowd, pid = BotLoop[FastBot](), _Crowd(site), site.pids[0]
    settle_on(site.cores, pid)
    at_tables = [
        crowd.bot("droidcon", wish) for at in range(PAIRS) for wish in couple(f"d{at}", at_table=True)
    ]
    for bot in at_tables:
        bot.loop = loop
    for bot in chain(at_tables, _by_wish(crowd, PAIRS), _in_lobby(crowd, PAIRS)):
        loop.add(bot)
    begun, found = perf_counter(), []
    for games in points:
        loop.run(lambda games=games: crowd.counts.ended >= 2 * games, _LONG)  # type: ignore[misc]
        ended, seconds, memory = crowd.counts.ended // 2, perf_counter() - begun, meters.rss_bytes(pid)
        say(f"  {ended} games in {seconds:.0f} s: {memory / 2**20:.1f} MB")
        found.append((ended, seconds, memory))
    return found


def _by_wish(crowd: _Crowd, pairs: int) -> Iterator[FastBot]:
    for at in range(pairs):
        for wish in couple(f"a{at}", at_table=False):
            yield crowd.bot("arena", wish)


def _in_lobby(crowd: _Crowd, pairs: int) -> Iterator[FastBot]:
    for at in range(2 * pairs):
        yield crowd.bot("nac4", Wish(f"n{at}"))

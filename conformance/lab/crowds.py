"""Crowds of fast bots that come, wait and play short games, in a process of their own, and are counted.

Three jobs measure how long it takes until all of many players play, what a short game costs while others
wait, and how much memory a server uses after given numbers of games.
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
"""Seconds in which one of the bots has to receive something."""
SHORT_SERIES = ("--rounds", "100", "--games-per-pair", "0", "--clock", "1000000", "--idle", "1000000")
"""Options of a gateway with which series end now and then, and no game is lost on time."""
PAIRS = 20
"""Pairs that play short games, of each kind."""
NAMES = 50
"""The number of names that a player uses in turn, if it has to ask for each game."""
TABLE, ANYONE, WISH = "table", "anyone", "wish"
"""Whom a crowd comes for: one at a table, whoever is there, or one by name on another node."""
_WAVE = 200
"""The length of the queue of connections that the server has not accepted yet."""
_LONG = 86_400.0
_MOST_WARM_UP = 0.5


@dataclass(slots=True)
class Counts:
    """What all players together have received."""

    entered: int = 0
    begun: int = 0
    """Players that received the start of a game."""
    ended: int = 0
    """Players that received the end of a game."""


class FastBot(Bot):
    """Answers every request at once, or never if `moves` is false.

    A bot that has to ask for each game does so under the next of its names. One that the server hangs up on
    after a series connects again and joins another table. So all that a server keeps by name, by table
    and by connection is used.
    """

    def __init__(
        self, readings: Readings, wish: Wish, address: Address, counts: Counts, *, moves: bool = True
    ) -> None:
        super().__init__(readings, renamed(wish, 0) if moves else wish, address)
        self.first_wish = wish
        self.loop: BotLoop[FastBot] | None = None
        """Where it comes back after a series; without one a hang-up is an error."""
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
            self.say(self.readings.script.opening(self.wish))

    def come_back(self) -> None:
        if self.loop is None:
            super().come_back()
            return
        self.wish = replace(self.wish, table=renamed_table(self.wish.table))
        self.loop.remove(self)
        self.loop.add(self)


def renamed(wish: Wish, number: int) -> Wish:
    """Return a wish for an opponent under another name of both; any other wish as it is."""
    if wish.against is None:
        return wish
    return replace(wish, name=f"{wish.name}-{number}", against=f"{wish.against}-{number}")


@dataclass(frozen=True, slots=True)
class Site:
    """Where a crowd comes: to one server or to several."""

    addresses: Sequence[Addresses]
    pids: Sequence[int]
    cores: tuple[int, int] | None
    """Where to pin servers and crowd."""


def site(*servers: Server) -> Site:
    """Return where these servers are, and two cores where there are two."""
    pids = [server.process.pid for server in servers]
    return Site([server.addresses for server in servers], pids, meters.two_cores())


async def fill(server: Server, games: int) -> None:
    """Play so many short games, so that there is something to read. Raises LoadError."""
    say(f"playing {games} games ...")
    await run(last, site(server), [games])


# In the process of bots.


class _Crowd:
    """Makes fast bots of one loop that count together."""

    def __init__(self, site: Site) -> None:
        self.counts = Counts()
        self._servers = site.addresses
        self._readings = readings_of(PLAIN, [SHORT])

    def bot(self, dialect: str, wish: Wish, server: int = 0, *, moves: bool = True) -> FastBot:
        address = self._servers[server][dialect]
        return FastBot(self._readings[dialect], wish, address, self.counts, moves=moves)


def come(site: Site, pairs: int, whom: str) -> float:
    """Connect so many pairs at once; return the seconds until all play.

    Players who take anyone make no move, so that none is paired twice.
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
    places = cycle(product(PLAIN, range(servers)))  # the two of a pair are at different servers
    for number in range(pairs):
        for wish in couple(f"p{number}", at_table=False):
            dialect, server = next(places)
            if whom == WISH:
                yield crowd.bot("arena", wish, server, moves=False)
            else:
                yield crowd.bot(dialect, Wish(wish.name), server, moves=False)


def wait(site: Site, waiting: int, seconds: float) -> dict[str, float]:
    """Return the server's CPU time for an idle second and for a game, while so many players wait."""
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
        found[kind] = (cpu_seconds(pid) - before) / ((counts.ended - ended) / 2)
        loop.close(players)
    loop.close()
    return found


def _reaches(counts: Counts, number: int) -> Callable[[], bool]:
    return lambda: counts.entered >= number


def last(site: Site, points: Sequence[int]) -> list[tuple[int, float, int]]:
    """Play without end; at each of these numbers of games, return games, seconds and the server's memory."""
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

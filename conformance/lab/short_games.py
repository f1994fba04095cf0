"""The process of short games: bots connect, wait and play as fast as they can, and count.

`python -m conformance.lab.short_games` takes one of three jobs from stdin: how long many need to come in,
what a short game costs beside those who wait, and what memory the server holds after so and so many games.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, product
from time import perf_counter
from typing import Any

from conformance.dialects.script import SHORT, Place, Wish
from conformance.lab import meters
from conformance.lab.book import Book, Turn
from conformance.lab.bots import PLAIN, Bot, script_of
from conformance.lab.group import Group
from conformance.lab.jobs import as_words, done, from_words, say, serve, settle_on
from conformance.lab.meters import cpu_seconds
from conformance.launch import Server
from conformance.targets import Address

COMING_IN = 60.0
"""Seconds that all together may take to come in."""
WARM_UP = 0.5
"""Seconds at most."""
_WAVE = 200
"""The length of the queue of connections that the server has not accepted yet."""
_LONG = 86_400.0

SHORT_SERIES = ("--rounds", "100", "--games-per-pair", "0", "--clock", "1000000", "--idle", "1000000")
"""Options of a gateway, at which series end now and then, and no clock cuts."""
PAIRS = 20
"""Pairs that play short games, of each kind."""
NAMES = 50
"""Names that each player that asks for each game by itself has, in turn."""


@dataclass(slots=True)
class Counts:
    """What all players together have heard."""

    entered: int = 0
    begun: int = 0
    """Players that heard of the start of a game."""
    ended: int = 0
    """Players that heard of the end of a game."""


class FastBot(Bot):
    """Answers every request at once.

    A bot that asks for each game by itself comes back under the next of its names, and one that the server
    hangs up on after a series comes back to another table, so that whatever a server remembers by name, by
    table or by connection is put to use.
    """

    def __init__(self, book: Book, wish: Wish, address: Address, counts: Counts) -> None:
        super().__init__(book, renamed(wish, 0), address)
        self.first_wish = wish
        self.group: Group[FastBot] | None = None
        """Where it comes back after a series; without one a hang-up is an error."""
        self._counts = counts
        self._games = 0

    def take(self, turn: Turn, before: Place) -> None:
        counts = self._counts
        counts.entered += turn.entered
        if turn.outcome is not None:
            counts.ended += 1
            self._games += 1
            self.has_played = True
        counts.begun += turn.begun
        if turn.move:
            self.say(turn.move)
        elif turn.again:
            self.wish = renamed(self.first_wish, self._games % NAMES)
            self.say(self.book.script.opening(self.wish))

    def come_back(self) -> None:
        if self.group is None:
            super().come_back()
            return
        table, _, series = (self.wish.table or "").partition("-")
        self.wish = replace(self.wish, table=f"{table}-{int(series or 0) + 1}")
        self.group.dismiss(self)
        self.group.admit(self)


class Makes:
    """Makes fast bots that count together."""

    def __init__(self, words: Any) -> None:
        self.counts = Counts()
        self._addresses = from_words(words["addresses"])
        self._books = {dialect: Book(dialect, script_of(kind, SHORT)) for dialect, kind in PLAIN.items()}

    def __call__(self, dialect: str, wish: Wish) -> FastBot:
        return FastBot(self._books[dialect], wish, self._addresses[dialect], self.counts)


def renamed(wish: Wish, number: int) -> Wish:
    """Return a wish for somebody by name of the same two players under others of their names."""
    if wish.against is None:
        return wish
    return replace(wish, name=f"{wish.name}-{number}", against=f"{wish.against}-{number}")


def couple(name: str, *, at_table: bool) -> tuple[Wish, Wish]:
    """Return the wishes of two who want to meet: at a table of their own, or by name."""
    one, two = f"{name}a", f"{name}b"
    if at_table:
        return Wish(one, table=name), Wish(two, table=name)
    return Wish(one, against=two), Wish(two, against=one)


async def job_at(server: Server, words: Mapping[str, object]) -> Any:
    """Have a job of short games done at a gateway. Raises LoadError."""
    place = {"addresses": as_words(server.addresses), "pid": server.process.pid, "cores": meters.two_cores()}
    return await done("conformance.lab.short_games", {**words, **place})


async def fill(server: Server, games: int) -> None:
    """Have so many short games played, so that there is something to read. Raises LoadError."""
    say(f"playing {games} games ...")
    await job_at(server, {"job": "last", "pairs": PAIRS, "points": [games]})


def main() -> None:
    """Do one job."""
    jobs: dict[str, Callable[[Any], object]] = {"connect": connect, "wait": wait, "last": last}
    serve(lambda words: jobs[words["job"]](words))


def connect(words: Any) -> object:
    """Return how many seconds pass until so many pairs, who all come at once, are in their games."""
    crowd, make = Group[FastBot](), Makes(words)
    settle_on(words["cores"], words["pid"])
    players = list(_pairs(make, words["pairs"]))
    begun = perf_counter()
    for player in players:
        crowd.admit(player)
    crowd.run(lambda: make.counts.begun >= len(players), COMING_IN)
    seconds = perf_counter() - begun
    crowd.close()
    return seconds


def wait(words: Any) -> object:
    """Return the server's CPU time for an idle second and for a game, beside so many who wait for nobody."""
    crowd, make = Group[FastBot](), Makes(words)
    settle_on(words["cores"], words["pid"])
    _let_wait(crowd, make, words["waiting"])
    found = {"idle": _cost_of_idling(crowd, words), "wish": None, "lobby": None}
    for kind, players in (("wish", _by_wish), ("lobby", _in_lobby)):
        make = Makes(words)
        found[kind] = _cost_of_games(crowd, make.counts, list(players(make, words["pairs"])), words)
    crowd.close()
    return found


def last(words: Any) -> object:
    """Return, after each of so many games, the memory that the server holds and how long that took."""
    crowd, make = Group[FastBot](), Makes(words)
    settle_on(words["cores"], words["pid"])

    pairs = words["pairs"]
    at_tables = list(_at_tables(make, pairs))
    for bot in at_tables:
        bot.group = crowd
    for bot in chain(at_tables, _by_wish(make, pairs), _in_lobby(make, pairs)):
        crowd.admit(bot)
    begun = perf_counter()
    return [_point(crowd, make.counts, games, words["pid"], begun) for games in words["points"]]


def _point(crowd: Group[FastBot], counts: Counts, games: int, pid: int, begun: float) -> object:
    crowd.run(lambda: counts.ended >= 2 * games, _LONG)
    seconds, memory = perf_counter() - begun, meters.rss_bytes(pid) or 0
    say(f"  {counts.ended // 2} games in {seconds:.0f} s: {memory / 2**20:.1f} MB")
    return {"games": counts.ended // 2, "seconds": seconds, "rss": memory}


def _pairs(make: Makes, number: int) -> Iterator[FastBot]:
    """Yield so many pairs at tables, every dialect meeting every other."""
    meetings = list(product(PLAIN, PLAIN))
    for at in range(number):
        yield from map(make, meetings[at % len(meetings)], couple(f"c{at}", at_table=True))


def _let_wait(crowd: Group[FastBot], make: Makes, number: int) -> None:
    """Let so many in, some at a time, who wish for somebody who never comes."""
    for at in range(number):
        crowd.admit(make("droidcon", Wish(f"w{at}", against=f"absent{at}")))
        if at % _WAVE == 0 or at == number - 1:
            crowd.run(partial(_has_entered, make.counts, at + 1), COMING_IN)


def _has_entered(counts: Counts, number: int) -> bool:
    return counts.entered >= number


def _at_tables(make: Makes, pairs: int) -> Iterator[FastBot]:
    for at in range(pairs):
        yield from map(partial(make, "droidcon"), couple(f"d{at}", at_table=True))


def _by_wish(make: Makes, pairs: int) -> Iterator[FastBot]:
    for at in range(pairs):
        yield from map(partial(make, "arena"), couple(f"a{at}", at_table=False))


def _in_lobby(make: Makes, pairs: int) -> Iterator[FastBot]:
    for at in range(2 * pairs):
        yield make("nac4", Wish(f"n{at}"))


def _cost_of_idling(crowd: Group[FastBot], words: Any) -> float | None:
    """Return the share of a core that the server uses while nobody says anything."""
    crowd.run_for(min(WARM_UP, words["seconds"]))
    before, begun = cpu_seconds(words["pid"]), perf_counter()
    crowd.run_for(words["seconds"])
    after = cpu_seconds(words["pid"])
    return None if before is None or after is None else (after - before) / (perf_counter() - begun)


def _cost_of_games(
    crowd: Group[FastBot], counts: Counts, players: Sequence[FastBot], words: Any
) -> float | None:
    """Return the server's CPU seconds for a game of these players, who then go."""
    for bot in players:
        crowd.admit(bot)
    crowd.run(lambda: counts.ended >= len(players), COMING_IN)
    crowd.run_for(min(WARM_UP, words["seconds"]))
    before, ended = cpu_seconds(words["pid"]), counts.ended
    crowd.run_for(words["seconds"])
    after, games = cpu_seconds(words["pid"]), (counts.ended - ended) / 2
    crowd.close(players)
    return None if before is None or after is None else (after - before) / games


if __name__ == "__main__":
    main()

"""The data that the API and the page show: stored games, live games, and the addresses for players."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

import trio

from adapters.web.live.evaluations import Evaluations
from adapters.web.live.live import Live
from adapters.web.perfect import Perfect
from gateway.game.facts import GameStarted
from gateway.game.ids import GameId
from gateway.server.acts import Notice
from gateway.store import NotKeptError, analyses, tournaments
from gateway.store.analyses import Analysis
from gateway.store.database import Database, Transaction
from gateway.store.games import one
from gateway.store.records import GameRecord

THREADS = 3
"""The most threads that wait for the database at once."""

T = TypeVar("T")


async def in_thread(work: Callable[[], T], threads: trio.CapacityLimiter) -> T:
    """Run `work` in a thread as soon as `threads` permits, and return its result.

    If the caller is cancelled, the thread still finishes the work, and stays busy until then.
    """
    return await trio.to_thread.run_sync(work, limiter=threads, abandon_on_cancel=True)


@dataclass(frozen=True, slots=True)
class Front:
    """A dialect, as the page describes it to people."""

    name: str
    """The dialect's name, as in `Participant.kind`."""
    title: str
    mark: str
    """The letter that stands for the dialect."""
    scheme: str
    """The scheme of its URLs, such as ``ws``; empty if an address is only host and port."""
    port: int | None
    """The port on which the server listens for the dialect; None if it does not listen for it."""
    is_shared: bool = False
    """Whether the dialect shares the page's port. Its URLs then have the path ``/`` and `name`."""


@dataclass(slots=True, eq=False)
class Site:
    """The data and settings that the API and the page of one server use."""

    database: Database | None
    """The database of results; None if they are not kept."""
    live: Live
    fronts: tuple[Front, ...] = ()
    """All dialects, in the order in which they are listed."""
    house: tuple[str, ...] = ()
    """The house players that people can choose."""
    idle: float = 300.0
    """Seconds that a player has for a move in games without a clock."""
    perfect: Perfect = field(kw_only=True)
    evaluations: Evaluations | None = field(kw_only=True)
    """Who is winning the games that are on; None if the operator keeps that from everybody."""
    notice: Notice = field(default=Notice(), kw_only=True)
    """The operator's notice, shown on every view. No other field changes while the server runs."""
    threads: trio.CapacityLimiter = field(default_factory=lambda: trio.CapacityLimiter(THREADS), kw_only=True)

    @property
    def evaluates(self) -> bool:
        """Whether viewers may know who is winning a game that is on."""
        return self.evaluations is not None and self.evaluations.is_possible

    async def do(self, work: Callable[[], T]) -> T:
        """Run `work`, which may wait for the database, in a thread; return its result."""
        return await in_thread(work, self.threads)

    def reading(self) -> Transaction:
        """Return a context manager for a connection, as `Database.reading` does.

        Raises NotKeptError if results are not kept.
        """
        if self.database is None:
            raise NotKeptError
        return self.database.reading()

    def game(self, game: GameId) -> GameRecord:
        """Return a stored game. Raises NoGameError, and NotKeptError if results are not kept."""
        with self.reading() as connection:
            return one(connection, game)

    def analysed(self, game: GameId) -> tuple[GameRecord, Analysis | None]:
        """Return a stored game and its analysis, if it has one. Raises as `game`."""
        with self.reading() as connection:
            return one(connection, game), analyses.of(connection, [game]).get(game)

    def hides_winning(self, started: GameStarted) -> bool:
        """Whether the tournament of a game that is on keeps it from everybody who is winning."""
        if started.table is None or self.database is None:
            return False
        created = None if started.scheduled is None else started.scheduled.created
        with self.reading() as connection:
            return tournaments.hides_winning(connection, started.table.casefold(), created)
